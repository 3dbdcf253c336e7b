//! The least that an isolated call of a component can cost: wasmtime with its own WASI, nothing between
//! them and the operating system, and every setting as fast as it goes. No policy, no audit, no cancel.
//!
//! `wasm-floor COMPONENT FOLDER` compiles the component and waits for lines on its input. `run N ARGUMENTS`
//! makes N calls, each in a store and an instance of its own, and answers with the nanoseconds that they took
//! together; `hold N` keeps N instances alive and answers with the KiB that each made the process grow by. So
//! whoever asks can take turns with it.

use std::io::{BufRead as _, Write as _};
use std::time::{Duration, Instant};

use wasmtime::component::{Component, HasSelf, InstancePre, Linker, ResourceTable};
use wasmtime::{
    Config, Engine, Error, InstanceAllocationStrategy, PoolingAllocationConfig, Result, Store,
    StoreLimits, StoreLimitsBuilder, UpdateDeadline,
};
use wasmtime_wasi::p2::pipe::MemoryOutputPipe;
use wasmtime_wasi::{FsPerms, WasiCtx, WasiCtxView, WasiView};

wasmtime::component::bindgen!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

use jp::tool::types;

fn main() -> Result<()> {
    let mut words = std::env::args().skip(1);
    let (Some(component), Some(folder)) = (words.next(), words.next()) else {
        return Err(Error::msg("usage: wasm-floor COMPONENT FOLDER"));
    };
    let floor = Floor::new(&component, folder)?;
    let mut answers = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words = line.splitn(3, ' ');
        let what = words.next();
        let count: usize = words.next().and_then(|word| word.parse().ok()).unwrap_or(1);
        let arguments = words.next().unwrap_or("{}");
        let answer = match what {
            Some("run") => floor.run(count, arguments)?.as_nanos().to_string(),
            Some("hold") => floor.hold(count)?.to_string(),
            _ => return Err(Error::msg(format!("there is no `{line}`"))),
        };
        writeln!(answers, "{answer}")?;
        answers.flush()?;
    }
    Ok(())
}

struct Floor {
    engine: Engine,
    tool: ToolPre<Guest>,
    folder: String,
    context: types::Context,
}

struct Guest {
    wasi: WasiCtx,
    table: ResourceTable,
    limits: StoreLimits,
}

impl WasiView for Guest {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

impl types::Host for Guest {}

impl Floor {
    fn new(component: &str, folder: String) -> Result<Self> {
        let engine = Engine::new(&config())?;
        let component = Component::from_file(&engine, component)?;
        let mut linker = Linker::<Guest>::new(&engine);
        wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
        types::add_to_linker::<_, HasSelf<_>>(&mut linker, |guest| guest)?;
        let pre: InstancePre<Guest> = linker.instantiate_pre(&component)?;
        let ticking = engine.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_millis(10));
                ticking.increment_epoch();
            }
        });
        Ok(Self {
            engine,
            tool: ToolPre::new(pre)?,
            folder,
            context: types::Context {
                root: "/workspace".to_owned(),
                action: types::Action::Run,
            },
        })
    }

    fn run(&self, count: usize, arguments: &str) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..count {
            let mut store = self.store()?;
            let tool = self.tool.instantiate(&mut store)?;
            let outcome = tool.call_run(&mut store, &self.context, "tool", arguments, "{}")?;
            if let types::Outcome::Error(error) = outcome {
                return Err(Error::msg(error.message));
            }
        }
        Ok(start.elapsed())
    }

    fn hold(&self, count: usize) -> Result<u64> {
        let before = resident()?;
        let mut held = Vec::new();
        for _ in 0..count {
            let mut store = self.store()?;
            let tool = self.tool.instantiate(&mut store)?;
            held.push((store, tool));
        }
        let after = resident()?;
        Ok(after.saturating_sub(before) / count.max(1) as u64)
    }

    fn store(&self) -> Result<Store<Guest>> {
        let mut wasi = WasiCtx::builder();
        wasi.stdout(MemoryOutputPipe::new(64 << 10))
            .stderr(MemoryOutputPipe::new(64 << 10))
            .allow_blocking_current_thread(true)
            .preopened_dir(&self.folder, "/workspace", FsPerms::ReadWrite)?;
        let guest = Guest {
            wasi: wasi.build(),
            table: ResourceTable::new(),
            limits: StoreLimitsBuilder::new().memory_size(MEMORY).build(),
        };
        let mut store = Store::new(&self.engine, guest);
        store.limiter(|guest| &mut guest.limits);
        store.set_epoch_deadline(1);
        store.epoch_deadline_callback(|_| Ok(UpdateDeadline::Continue(1)));
        Ok(store)
    }
}

/// As jig has it, where it makes a difference.
fn config() -> Config {
    let mut pool = PoolingAllocationConfig::new();
    pool.max_memory_size(MEMORY)
        .table_elements(60_000)
        .total_component_instances(1000)
        .total_core_instances(40_000)
        .total_memories(1000)
        .total_tables(4000)
        .max_tables_per_module(4)
        .max_unused_warm_slots(16)
        .linear_memory_keep_resident(64 << 10)
        .table_keep_resident(64 << 10);
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        .epoch_interruption(true)
        .memory_reservation(MEMORY as u64)
        .memory_guard_size(64 << 10)
        .allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    config
}

/// The KiB of this process that are in memory.
fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))
        .ok_or_else(|| Error::msg("/proc/self/status has no VmRSS"))?;
    let number = line.trim().trim_end_matches(" kB");
    number.parse().map_err(|_| Error::msg("VmRSS is no number"))
}

const MEMORY: usize = 1 << 30;
