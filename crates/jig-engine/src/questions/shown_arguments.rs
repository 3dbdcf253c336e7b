//! Arguments as a tool shows them to the person who decides about a call (J-010).

use std::time::Duration;

use jig_config::{Command, RuntimeKind, Tool};
use jig_proto::Action;
use jig_runtime::{NO_OUTPUT, Runtime as _, StdioRuntime};
use serde_json::{Map, Value};

use crate::calls::call::{Call, CallError};
use crate::engine::Engine;
use crate::questions::asker::Nobody;
use crate::questions::audit::QuestionOwner;
use crate::results::size_limit::bound;

impl Engine {
    /// The arguments of a call as the tool itself shows them, by the command in its
    /// `style.parameters`; `None` if there is none, or if it prints nothing.
    ///
    /// The command is run like the tool, under the tool's policy, with the action `format_arguments`.
    /// It asks nobody, and it has ten seconds. A component is asked itself, without access to anything: one
    /// that does not know the action must not do what nobody has agreed to yet.
    pub fn format_arguments(&self, call: &Call) -> Result<Option<String>, CallError> {
        let tool = &*self.whole_tool(&call.tool)?;
        #[cfg(feature = "wasm-tools")]
        if let Some(component) = self.component(tool)? {
            return self.formatted_by(tool, component, call);
        }
        let Some(command) = formatter(tool) else {
            return Ok(None);
        };
        let arguments = self.arguments(tool, call.arguments.clone())?;
        let call = Call {
            arguments,
            ..call.clone()
        };
        let mut plan = self.plan(tool, call, Action::FormatArguments, Some(&command))?;
        let time = plan.limits.time.unwrap_or(FORMAT_TIME);
        plan.limits.time = Some(time.min(FORMAT_TIME));
        let session = StdioRuntime.start(plan);
        let session = session.map_err(|error| self.not_started(tool, error))?;
        let of = QuestionOwner::of_call(tool.name.as_str(), None);
        let formatted = self.drive(of, tool, &session, Map::new(), &mut Nobody);
        let formatted = formatted.map_err(CallError::Tool)?;
        let formatted = bound(formatted, self.most(tool)).to_text();
        // One that prints nothing shows nothing of the arguments, which somebody has to see.
        Ok((!formatted.starts_with(NO_OUTPUT)).then_some(formatted))
    }
}

/// The command that formats the arguments of a tool that is a program, if it has one. The words that
/// name a way of display are none.
fn formatter(tool: &Tool) -> Option<Command> {
    if !matches!(tool.runtime, RuntimeKind::Stdio | RuntimeKind::Vfs) {
        return None;
    }
    match tool.style.get("parameters")? {
        Value::String(word) if DISPLAYS.contains(&word.as_str()) => None,
        Value::String(line) => Command::parse(line).ok(),
        Value::Object(table) => {
            let args = table.get("args").and_then(Value::as_array);
            let args = args.into_iter().flatten();
            let args: Option<Vec<String>> =
                args.map(|arg| arg.as_str().map(str::to_owned)).collect();
            Some(Command {
                program: table.get("program")?.as_str()?.to_owned(),
                args: args?,
                shell: table.get("shell").is_some_and(|shell| shell == true),
            })
        }
        _ => None,
    }
}

/// The ways of display that need no program.
const DISPLAYS: [&str; 3] = ["json", "function_call", "off"];

/// How long formatting may take. Somebody waits for the question.
pub(crate) const FORMAT_TIME: Duration = Duration::from_secs(10);
