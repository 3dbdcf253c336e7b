//! The one engine: how components are compiled, and where their memories come from.

use std::sync::{Arc, OnceLock};

use wasmtime::component::Linker;
use wasmtime::{Config, Engine, InstanceAllocationStrategy, PoolingAllocationConfig};

use crate::guest::Guest;
use crate::link;
use crate::ticker::Ticker;

#[cfg(test)]
mod tests;

/// What every component runs on.
pub(crate) struct WasmMachine {
    pub(crate) engine: Engine,
    /// Everything that a guest can import.
    pub(crate) linker: Linker<Guest>,
    pub(crate) ticker: Ticker,
}

impl WasmMachine {
    /// The one of this process, which is made when it is first asked for. Its pool of memories takes a lot of
    /// address space: one is enough.
    ///
    /// # Errors
    ///
    /// If this machine can run no Wasm.
    pub(crate) fn shared() -> Result<Arc<Self>, EngineError> {
        static MACHINE: OnceLock<Result<Arc<WasmMachine>, EngineError>> = OnceLock::new();
        MACHINE
            .get_or_init(|| Self::on(engine()?).map(Arc::new))
            .clone()
    }

    pub(crate) fn on(engine: Engine) -> Result<Self, EngineError> {
        let linker = link::linker(&engine).map_err(EngineError::setup)?;
        let ticker = Ticker::new(&engine).map_err(EngineError::setup)?;
        Ok(Self {
            engine,
            linker,
            ticker,
        })
    }
}

/// An engine, with a pool of memories where there is enough address space for one.
fn engine() -> Result<Engine, EngineError> {
    let pools = [AddressSpace::POOL, AddressSpace::SMALL_POOL].into_iter();
    let mut pooled = pools.filter_map(|room| Engine::new(&room.config()).ok());
    match pooled.next() {
        Some(engine) => Ok(engine),
        None => Engine::new(&AddressSpace::NO_POOL.config()).map_err(EngineError::setup),
    }
}

/// Why there is no engine.
#[derive(Debug, Clone, thiserror::Error)]
#[error("this machine cannot run Wasm components: {0}")]
pub struct EngineError(String);

impl EngineError {
    pub(crate) fn setup(error: impl Into<wasmtime::Error>) -> Self {
        let error: wasmtime::Error = error.into();
        Self(format!("{error:#}"))
    }
}

/// The most bytes that one memory of a component can have.
///
/// Nothing is taken by that but address space.
pub(crate) const MEMORY_BYTES: usize = 1 << 30;

/// How much address space is taken ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressSpace {
    /// How many components can run beside each other; without a pool, as many as there is memory for.
    pool: Option<u32>,
}

impl AddressSpace {
    /// The usual one.
    const POOL: Self = Self { pool: Some(1000) };
    /// For a machine with a limit.
    const SMALL_POOL: Self = Self { pool: Some(16) };
    /// For one with a low limit (`ulimit -v`).
    const NO_POOL: Self = Self { pool: None };
    /// All of them, the best first.
    #[cfg(test)]
    const ALL: [Self; 3] = [Self::POOL, Self::SMALL_POOL, Self::NO_POOL];

    fn config(self) -> Config {
        let mut config = Config::new();
        config.wasm_component_model(true);
        config.epoch_interruption(true);
        config.max_wasm_stack(STACK_BYTES);
        config.memory_guard_size(GUARD_BYTES);
        config.memory_init_cow(true);
        match self.pool {
            Some(count) => {
                config.memory_reservation(MEMORY_BYTES as u64);
                config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(count)));
            }
            None => {
                config.memory_reservation(0);
                config.memory_reservation_for_growth(GROWTH_BYTES);
            }
        }
        config
    }
}

fn pool(count: u32) -> PoolingAllocationConfig {
    let mut pool = PoolingAllocationConfig::new();
    pool.max_memory_size(MEMORY_BYTES)
        .table_elements(TABLE_ELEMENTS)
        .total_component_instances(count)
        .total_core_instances(count * CORE_INSTANCES)
        .total_memories(count)
        .total_tables(count * TABLES)
        .max_tables_per_module(TABLES)
        .max_memories_per_module(MEMORIES)
        .max_unused_warm_slots(WARM_SLOTS)
        .linear_memory_keep_resident(KEPT_BYTES)
        .table_keep_resident(KEPT_BYTES);
    pool
}

/// The stack of a guest. Unbounded recursion would otherwise overflow the stack of the thread, which has
/// 2 MiB: that must leave room for the host functions.
const STACK_BYTES: usize = 512 << 10;

/// What follows each memory and is never there, so that most accesses need no check of their own.
const GUARD_BYTES: u64 = 64 << 10;

/// By how much a memory grows at once that is in no pool.
const GROWTH_BYTES: u64 = 16 << 20;

/// The most elements of one table. A guest with many functions has one of some ten thousands.
pub(crate) const TABLE_ELEMENTS: usize = 60_000;

/// How many core modules a component consists of, on average: those for Python have some dozens.
const CORE_INSTANCES: u32 = 40;

/// The most memories of a component. Nearly all have one.
pub(crate) const MEMORIES: u32 = 8;

/// How many tables a component has, on average, and a module at most.
const TABLES: u32 = 4;

/// How many memories keep what they have mapped for a component that might be called again.
const WARM_SLOTS: u32 = 16;

/// How much of a memory stays resident between two calls. It is cleared: that is quicker than to have the
/// kernel map it anew, for so little.
const KEPT_BYTES: usize = 64 << 10;
