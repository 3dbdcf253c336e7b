//! The one linker: everything that a guest can import.

use jig_proto::hint;
use wasmtime::Engine;
use wasmtime::component::{Component, Linker};

use crate::bindings::GuestPre;
use crate::bindings::jp::tool::types;
use crate::guest::Guest;
use crate::inspect;
use crate::text::short;
use crate::{ComponentError, host, wasi};

/// A linker with everything. What a guest imports beyond that has no place to come from.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    wasi::io::link(&mut linker)?;
    wasi::clocks::link(&mut linker)?;
    wasi::random::link(&mut linker)?;
    wasi::cli::link(&mut linker)?;
    wasi::filesystem::link(&mut linker)?;
    wasi::sockets::link(&mut linker)?;
    wasi::http::link(&mut linker)?;
    host::filesystem::link(&mut linker)?;
    host::http::link(&mut linker)?;
    host::process::link(&mut linker)?;
    host::vfs::link(&mut linker)?;
    types::add_to_linker::<Guest, wasmtime::component::HasSelf<Guest>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

impl types::Host for Guest {}

/// A component with everything that it imports, so that a call has nothing left to look up.
///
/// # Errors
///
/// If it imports what there is not, or is no tool. The text names it.
pub(crate) fn prepare(
    linker: &Linker<Guest>,
    component: &Component,
) -> Result<GuestPre<Guest>, ComponentError> {
    let refuse = |why: String| ComponentError::Instantiate(why);
    let unknown = inspect::unknown(component);
    if !unknown.is_empty() {
        return Err(refuse(unprovided(&unknown)));
    }
    if !inspect::is_tool(component) {
        return Err(refuse(no_tool(component)));
    }
    let told = |error: wasmtime::Error| refuse(short(&format!("{error:#}")));
    let pre = linker.instantiate_pre(component).map_err(told)?;
    GuestPre::new(pre).map_err(|error| {
        let contract = "its `run` is not that of the world `jp:tool/tool@0.1.0`";
        refuse(short(&format!("{contract}: {error:#}")))
    })
}

fn unprovided(unknown: &[String]) -> String {
    let named: Vec<String> = unknown.iter().map(|name| format!("`{name}`")).collect();
    let hint = match unknown.iter().any(|name| name.contains("@0.3.")) {
        true => hint!("build it for WASI 0.2 (`wasm32-wasip2`): WASI 0.3 is not supported"),
        false => hint!("a tool can import WASI 0.2, `jp:host` and `jig:tool/vfs`"),
    };
    let text = format!(
        "it imports {}, which jig does not have\n{hint}",
        named.join(", ")
    );
    short(&text)
}

fn no_tool(component: &Component) -> String {
    let exports = inspect::exports(component);
    let exports = match exports.is_empty() {
        true => "nothing".to_owned(),
        false => exports.join(", "),
    };
    let text = format!(
        "it does not export the function `run` of the world `jp:tool/tool@0.1.0`; it exports {exports}\n{}",
        hint!("`jig wasm new` makes a tool that does")
    );
    short(&text)
}
