//! The builtin runtime: code of jig's own, on the SDK that every tool uses.

use jig_proto::{Content, ToolError};
use jig_tool::vfs::Host;

use crate::in_process::{InProcess, in_process};
use crate::{Plan, Runtime, Session, StartError};

/// The code of the tools that are part of jig: does the call of the host with the tool of this name;
/// `None` if there is none.
pub type Builtin = fn(&str, &mut Host) -> Option<Result<Content, ToolError>>;

/// Runs tools inside this process, on the broker of their plan.
///
/// The code is ours: it is not confined, and one that hangs cannot be killed. What it does still
/// goes through the broker, request by request.
#[derive(Debug, Clone, Copy)]
pub struct BuiltinRuntime {
    /// The names of the tools.
    pub names: &'static [&'static str],
    /// Their code.
    pub run: Builtin,
}

impl BuiltinRuntime {
    fn name(&self, plan: &Plan) -> Result<String, StartError> {
        let name = plan.implementation.as_ref().unwrap_or(&plan.input.name);
        match self.names.contains(&name.as_str()) {
            true => Ok(name.clone()),
            false => Err(StartError::UnknownBuiltin(name.clone())),
        }
    }
}

impl Runtime for BuiltinRuntime {
    fn start(&self, plan: Plan) -> Result<Session, StartError> {
        let name = self.name(&plan)?;
        let tool = self.run;
        in_process(plan, move |door| run(tool, &name, door))
    }
}

fn run(tool: Builtin, name: &str, door: InProcess) -> Result<Content, ToolError> {
    let init = door.init();
    match Host::over(init, door) {
        Ok(mut host) => tool(name, &mut host)
            .unwrap_or_else(|| Err(ToolError::new(format!("there is no code for `{name}`")))),
        Err(error) => Err(ToolError::new(error.to_string())),
    }
}
