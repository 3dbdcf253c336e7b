//! From the bytes of a component to code, with words for what people give us instead.

use jig_proto::hint;
use wasmparser::{FunctionBody, Parser, Payload};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::ComponentError;
use crate::text::short;

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
        ComponentFileKind::Component => {}
        ComponentFileKind::Empty => return refuse("the file is empty"),
        ComponentFileKind::Module => return refuse(&module()),
        ComponentFileKind::Text => return refuse(&text()),
        ComponentFileKind::Other => {
            return refuse("it is no Wasm: it does not begin with `\\0asm`");
        }
    }
    look_over(bytes).map_err(ComponentError::Compile)?;
    // The text of an error is the compiler's, and quotes the component.
    Component::from_binary(engine, bytes).map_err(|error| {
        let told = format!("{error:#}");
        let hint = match told.contains("async") {
            true => is_async(),
            false => String::new(),
        };
        ComponentError::Compile(format!("{}{hint}", short(&told)))
    })
}

/// How many locals a function declares, or none if that cannot be read, which the compiler cannot either.
fn locals(body: &FunctionBody<'_>) -> u64 {
    let Ok(declared) = body.get_locals_reader() else {
        return 0;
    };
    let counts = declared.into_iter().map_while(Result::ok);
    counts.map(|(count, _)| u64::from(count)).sum()
}

/// What a file seems to be, by how it begins.
#[derive(Debug, PartialEq, Eq)]
enum ComponentFileKind {
    Component,
    Module,
    Text,
    Empty,
    Other,
}

fn kind(bytes: &[u8]) -> ComponentFileKind {
    match bytes {
        [] => ComponentFileKind::Empty,
        [0, b'a', b's', b'm', _, _, 0, 0, ..] => ComponentFileKind::Module,
        [0, b'a', b's', b'm', ..] => ComponentFileKind::Component,
        _ if bytes.trim_ascii_start().starts_with(b"(") => ComponentFileKind::Text,
        _ => ComponentFileKind::Other,
    }
}

/// What the compiler must not see: it calls itself for each level of a nested type until the stack is used up,
/// which would end the process, and the time and memory that it takes for a function grow faster than that.
///
/// Whatever is wrong otherwise is for the compiler to say.
fn look_over(bytes: &[u8]) -> Result<(), String> {
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload {
            Ok(Payload::ComponentTypeSection(types)) => {
                let section = bytes.get(types.range()).unwrap_or_default();
                // Every type that is declared inside of another one begins like that. So do a few other things:
                // there are at most so many levels.
                let levels = section
                    .windows(2)
                    .filter(|pair| matches!(pair, [0x01, 0x41 | 0x42]));
                if levels.count() > MAX_NESTED_TYPES {
                    return Err("its types are nested too deeply".to_owned());
                }
            }
            Ok(Payload::CodeSectionEntry(body)) => {
                let (size, locals) = (body.range().len(), locals(&body));
                if size > MAX_FUNCTION || size as u64 * locals > MAX_LOCALS_BYTES {
                    return Err(format!(
                        "one of its functions is too large: it has {size} bytes and {locals} locals"
                    ));
                }
            }
            Ok(Payload::ComponentSection { .. } | Payload::ModuleSection { .. }) => {
                depth += 1;
                if depth > MAX_NESTED_COMPONENTS {
                    return Err("its components are nested too deeply".to_owned());
                }
            }
            Ok(Payload::End(_)) => depth = depth.saturating_sub(1),
            Ok(_) => {}
            Err(_) => return Ok(()),
        }
    }
    Ok(())
}

fn module() -> String {
    let hint = hint!(
        "build for `wasm32-wasip2`, which makes components, or turn it into one with `wasm-tools component new`"
    );
    format!("it is a core module, not a component\n{hint}")
}

fn text() -> String {
    let hint = hint!("`wasm-tools parse` makes a binary of it");
    format!("it is the text of a module, not its binary\n{hint}")
}

fn is_async() -> String {
    let hint = hint!(
        "functions that are `async`, and WASI 0.3, are not supported: build for WASI 0.2 (`wasm32-wasip2`)"
    );
    format!("\n{hint}")
}

/// What the size of a function may be, times the number of its locals. The compiler keeps track of each local
/// at each branch: 128 KiB with 10,000 of them take 3 GB and more than a minute. The largest seen in a component
/// that people have is 25 million.
const MAX_LOCALS_BYTES: u64 = 64 << 20;

/// How deep types may lie in types. Those that interface files are made into have a level or two.
const MAX_NESTED_TYPES: usize = 200;

/// How deep components may lie in components.
const MAX_NESTED_COMPONENTS: usize = 100;

/// The largest function. The loop of an interpreter has half a million bytes.
const MAX_FUNCTION: usize = 2 << 20;
