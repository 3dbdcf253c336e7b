//! `jig wasm bench`: how long a component takes to compile, to load and to be called.

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context;
use camino::Utf8Path;
use jig_project::component_bench::{self, Bench, BenchFigures, Measured};
use jig_project::{component_file, locate};
use jig_proto::visible_line;

use crate::args::{GlobalArgs, WasmBenchArgs};
use crate::exit::Done;
use crate::interrupt;
use crate::limits;
use crate::output::{BOLD, CliOutput, DIM, YELLOW, field};

pub(crate) fn run(
    args: &WasmBenchArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let component = component_file::opened(&args.file)?;
    let root = locate::root(global.workspace.as_deref())?;
    // The cache of this command alone: a measurement changes nothing of the user's.
    let scratch = tempfile::Builder::new()
        .prefix("jig-bench-")
        .tempdir()
        .context("cannot make a folder for compiled code")?;
    let measured = Measured {
        tool: args.tool.as_deref(),
        input: args.input.as_deref(),
        arguments: &args.arguments,
        calls: args.calls,
    };
    let progress = BenchProgress::new();
    let bench = Bench {
        component,
        scratch: scratch.path(),
        cancel: interrupt::tokens()?.cancel,
        say: &|text| progress.say(text),
    };
    let figures = bench.measured(&measured, &root)?;
    progress.clear();
    match out.is_json() {
        true => out.json(&figures.to_json())?,
        false => out.text(&shown(&args.file, &figures))?,
    }
    Ok(Done::Ok)
}

fn shown(file: &Utf8Path, figures: &BenchFigures) -> String {
    let time = component_bench::time;
    let mut text = format!("{BOLD}{}{BOLD:#}\n", visible_line(file.as_str()));
    let (cold, disk, calls) = (&figures.cold, &figures.disk, &figures.calls);
    let mut line = |label: &str, value: String, remark: String| {
        let remark = format!("{DIM}{remark}{DIM:#}");
        text.push_str(&field(label, format_args!("{value:<10}  {remark}")));
    };
    line(
        "compile",
        time(cold.median),
        format!("nothing is kept from before; {}", times(cold.count)),
    );
    line(
        "load",
        time(disk.median),
        format!(
            "compiled code from the disk, as a new process finds it; {}x faster",
            component_bench::ratio(cold.median, disk.median)
        ),
    );
    line(
        "call",
        time(calls.median),
        format!(
            "the median of {}: start, run, end; 99 % take at most {}",
            times(calls.count),
            time(calls.p99)
        ),
    );
    let share = figures.instantiate.median.as_secs_f64() / calls.median.as_secs_f64();
    line(
        "instance",
        time(figures.instantiate.median),
        format!(
            "of every call, to make a fresh instance: {:.0} %",
            share * 100.0
        ),
    );
    line(
        "memory",
        limits::size(figures.memory),
        "that an instance begins with; given back after the call".to_owned(),
    );
    if figures.noise > NOISY {
        text.push_str(&format!(
            "{YELLOW}note:{YELLOW:#} the medians of ten parts of the run differ by {:.0} %: something else was \
             busy on this machine, and these figures are worth less\n",
            figures.noise * 100.0
        ));
    }
    text
}

fn times(count: usize) -> String {
    match count {
        1 => "one run".to_owned(),
        count => format!("{count} runs"),
    }
}

/// What is done now, on a line of the terminal that is gone afterwards.
struct BenchProgress {
    is_shown: bool,
}

impl BenchProgress {
    fn new() -> Self {
        Self {
            is_shown: io::stderr().is_terminal(),
        }
    }

    fn say(&self, text: &str) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[2K{DIM}{text} …{DIM:#}");
        }
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

impl Drop for BenchProgress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// From here on the difference between parts of one run is told.
const NOISY: f64 = 0.25;
