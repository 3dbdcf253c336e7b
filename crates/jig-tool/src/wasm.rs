//! Tools that are Wasm components.
//!
//! [`wasm_tool!`](crate::wasm_tool) makes a component of the function that [`vfs::run`](crate::vfs::run) makes
//! a program of. Nothing else of this module is there but on Wasm, and nothing of it is for a tool to call.

#[cfg(target_family = "wasm")]
mod bindings;
#[cfg(target_family = "wasm")]
mod messages;
#[cfg(target_family = "wasm")]
mod run;

use serde_json::Value;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use bindings::{describing, sdk};
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub use run::{described, run};

/// What a component says about a tool of its own, so that a configuration need not.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// The name by which the component knows the tool.
    pub name: String,
    /// What the tool is for, as a model reads it.
    pub description: String,
    /// The JSON Schema of the arguments: an object with `properties`.
    pub parameters: Value,
}

impl Description {
    /// The description of a tool.
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        parameters: impl Into<Value>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters: parameters.into(),
        }
    }
}

/// Makes a component of a tool.
///
/// It takes the function that [`vfs::run`](crate::vfs::run) takes: `fn(&mut Host) -> Result<Content,
/// ToolError>`, or a closure that captures nothing. It stands once in a crate of the type `cdylib` that is
/// built for `wasm32-wasip2`; for every other target it only checks the types, so that the same crate can be
/// the library of a program of the runtime `vfs`.
///
/// ```
/// use jig_tool::vfs::Host;
/// use jig_tool::{Content, ToolError};
///
/// fn count(host: &mut Host) -> Result<Content, ToolError> {
///     let text = host.read("CHANGELOG.md")?;
///     let released = text.lines().filter(|line| line.starts_with("## ")).count();
///     Ok(format!("{released} releases").into())
/// }
///
/// jig_tool::wasm_tool!(count);
/// ```
///
/// One component can hold several tools: [`Host::tool`](crate::vfs::Host::tool) has the name of the one that
/// is called. `describe` is a function that describes them all, so that a configuration needs neither their
/// descriptions nor their parameters:
///
/// ```
/// use jig_tool::wasm::Description;
/// use serde_json::json;
///
/// jig_tool::wasm_tool!(
///     |host| Ok(host.read("CHANGELOG.md")?.into()),
///     describe = || vec![Description::new("changes", "Reads the log of changes.", json!({}))],
/// );
/// ```
#[macro_export]
macro_rules! wasm_tool {
    ($tool:expr $(, describe = $describe:expr)? $(,)?) => {
        const _: () = {
            const TOOL: fn(
                &mut $crate::vfs::Host,
            ) -> ::core::result::Result<$crate::Content, $crate::ToolError> = $tool;

            $crate::__wasm_export!(TOOL);
        };
        $(
            const _: () = {
                const DESCRIBE: fn() -> ::std::vec::Vec<$crate::wasm::Description> = $describe;

                $crate::__wasm_export_description!(DESCRIBE);
            };
        )?
    };
}

/// Exports a tool, on Wasm.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __wasm_export {
    ($tool:ident) => {
        struct ExportedTool;

        impl $crate::wasm::sdk::Guest for ExportedTool {
            fn run(
                context: $crate::wasm::sdk::Context,
                name: ::std::string::String,
                arguments: ::std::string::String,
                answers: ::std::string::String,
            ) -> $crate::wasm::sdk::Outcome {
                $crate::wasm::run(context, name, &arguments, &answers, $tool)
            }
        }

        $crate::wasm::sdk::__export_tool!(ExportedTool with_types_in $crate::wasm::sdk);
    };
}

/// Exports the description of tools, on Wasm.
#[cfg(target_family = "wasm")]
#[doc(hidden)]
#[macro_export]
macro_rules! __wasm_export_description {
    ($describe:ident) => {
        struct ExportedDescription;

        impl $crate::wasm::describing::exports::jig::tool::describe::Guest for ExportedDescription {
            fn describe()
            -> ::std::vec::Vec<$crate::wasm::describing::exports::jig::tool::describe::Description>
            {
                $crate::wasm::described($describe)
            }
        }

        $crate::wasm::describing::__export_description!(
            ExportedDescription with_types_in $crate::wasm::describing
        );
    };
}

/// Elsewhere there is nobody to export to; the constant is all, and it has been checked.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __wasm_export {
    ($checked:ident) => {
        const _: fn() = || {
            let _ = $checked;
        };
    };
}

/// Elsewhere there is nobody to export to; the constant is all, and it has been checked.
#[cfg(not(target_family = "wasm"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __wasm_export_description {
    ($checked:ident) => {
        $crate::__wasm_export!($checked);
    };
}
