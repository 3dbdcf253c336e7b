//! The `fs_*` tools as a component: the very code that runs inside jig, told apart by name (W-017).

use jig_tool::vfs::Host;
use jig_tool::wasm::Description;
use jig_tool::{Content, ToolError};

fn run(host: &mut Host) -> Result<Content, ToolError> {
    let name = host.tool().name.clone();
    jig_fs_tools::run(&name, host).unwrap_or_else(|| {
        let known = jig_fs_tools::NAMES.join("`, `");
        let message = format!("there is no tool `{name}` in this component: it has `{known}`");
        Err(ToolError::new(message))
    })
}

fn describe() -> Vec<Description> {
    let described = DESCRIBED.iter().map(|(name, description, parameters)| {
        // Written by our build script, and a schema that can't be read is one that allows everything.
        let parameters: serde_json::Value = serde_json::from_str(parameters).unwrap_or_default();
        Description::new(*name, *description, parameters)
    });
    described.collect()
}

jig_tool::wasm_tool!(run, describe = describe);

// `DESCRIBED`: name, description and schema of each tool.
include!(concat!(env!("OUT_DIR"), "/described.rs"));
