//! From the bytes of a component to code, with words for what people give us instead.

use wasmtime::Engine;
use wasmtime::component::Component;

use crate::ComponentError;

#[cfg(test)]
mod tests;

/// Compiles a component.
///
/// # Errors
///
/// If it is none, or one that we cannot run; the text says what to do where that is known.
pub(crate) fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, ComponentError> {
    let refuse = |why: &str| Err(ComponentError::Compile(why.to_owned()));
    match kind(bytes) {
        Kind::Component => {}
        Kind::Empty => return refuse("the file is empty"),
        Kind::Module => return refuse(MODULE),
        Kind::Text => return refuse(TEXT),
        Kind::Other => return refuse("it is no Wasm: it does not begin with `\\0asm`"),
    }
    // The text of an error is the compiler's, and quotes the component.
    Component::from_binary(engine, bytes).map_err(|error| {
        let told = format!("{error:#}");
        let hint = match told.contains("async") {
            true => ASYNC,
            false => "",
        };
        ComponentError::Compile(format!("{}{hint}", short(&told)))
    })
}

/// What a file seems to be, by how it begins.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Component,
    Module,
    Text,
    Empty,
    Other,
}

fn kind(bytes: &[u8]) -> Kind {
    match bytes {
        [] => Kind::Empty,
        [0, b'a', b's', b'm', _, _, 0, 0, ..] => Kind::Module,
        [0, b'a', b's', b'm', ..] => Kind::Component,
        _ if bytes.trim_ascii_start().starts_with(b"(") => Kind::Text,
        _ => Kind::Other,
    }
}

/// As much of a text as people read.
pub(crate) fn short(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

const MODULE: &str = "it is a core module, not a component\nhint: build for `wasm32-wasip2`, which makes \
                      components, or turn it into one with `wasm-tools component new`";

const TEXT: &str =
    "it is the text of a module, not its binary\nhint: `wasm-tools parse` makes a binary of it";

const ASYNC: &str = "\nhint: functions that are `async`, and WASI 0.3, are not supported: build for WASI 0.2 \
                     (`wasm32-wasip2`)";

/// The longest text of the compiler that is passed on. It may quote names of the component, which can be as
/// long as that is.
const MAX_TEXT: usize = 2000;
