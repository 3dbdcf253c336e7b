//! `jig wasm`: tools that are Wasm components.

#[cfg(feature = "wasm-tools")]
mod bench;
#[cfg(feature = "wasm-tools")]
mod inspect;
mod new;

use crate::args::{GlobalArgs, WasmCommand};
use crate::exit::Done;
use crate::output::CliOutput;

pub(crate) fn run(
    command: &WasmCommand,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    match command {
        WasmCommand::New(args) => new::run(args, global, out),
        #[cfg(feature = "wasm-tools")]
        WasmCommand::Inspect(args) => inspect::run(args, out),
        #[cfg(feature = "wasm-tools")]
        WasmCommand::Bench(args) => bench::run(args, global, out),
        #[cfg(not(feature = "wasm-tools"))]
        WasmCommand::Inspect(_) | WasmCommand::Bench(_) => Err(anyhow::anyhow!(jig_proto::hint!(
            "install it with the feature `wasm-tools`, which is there by default"
        ))
        .context("this jig was built without components")),
    }
}
