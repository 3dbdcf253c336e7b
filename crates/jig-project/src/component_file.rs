//! A component that a person names on the command line.

use std::sync::Arc;

use anyhow::{Context, anyhow};
use camino::Utf8Path;
use jig_runtime::{Component, ComponentSource};
use jig_wasm::ComponentError;

/// Opens a file as a component that sees nothing. Nothing but a regular file is opened: a pipe would have us
/// wait.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a person names the file, which need not be part of a workspace"
)]
pub fn opened(path: &Utf8Path) -> anyhow::Result<Component> {
    let about = match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Err(anyhow!("Wasm binary not found: {path}"));
        }
        about => about.with_context(|| format!("cannot look at `{path}`"))?,
    };
    if !about.is_file() {
        return Err(anyhow!("`{path}` is not a file"));
    }
    let file = std::fs::File::open(path).with_context(|| format!("cannot open `{path}`"))?;
    Ok(Component {
        shown: path.to_string(),
        source: ComponentSource::File(Arc::new(file)),
        mounts: Vec::new(),
    })
}

/// An error of a component, its advice apart, so that it is printed as one.
pub fn explained(error: &ComponentError) -> anyhow::Error {
    let text = error.to_string();
    match text.split_once("\nhint: ") {
        Some((text, hint)) => anyhow!("hint: {hint}").context(text.to_owned()),
        None => anyhow!(text),
    }
}
