//! The `git` tool: what git asks for at a terminal, as a conversation.
//!
//! [`run`] does one call. A caller that drives the tool sees what git prints and answers with `apply`;
//! where git would open an editor, the tool waits with the text as a question. Called without `action`,
//! the tool asks its person about every hunk. git itself is started by the host, under the tool's rules.

mod arguments;
mod commit;
mod conversation;
mod editor;

use jig_tool::vfs::Host;
use jig_tool::{Content, ToolError};

use self::arguments::GitArguments;

/// The names of the tools.
pub const NAMES: [&str; 1] = ["git"];

/// Does the call of `host` with the tool of this name; `None` if it is not one of [`NAMES`].
///
/// If the host only wants to show the call to a person, nothing is run, and what comes back is the command
/// that would be.
pub fn run(name: &str, host: &mut Host) -> Option<Result<Content, ToolError>> {
    if !NAMES.contains(&name) {
        return None;
    }
    let arguments = match host.arguments::<GitArguments>() {
        Ok(arguments) => arguments,
        Err(error) => return Some(Err(ToolError::new(error.to_string()))),
    };
    if let Err(refused) = arguments.check() {
        return Some(Err(refused));
    }
    Some(match host.only_shows() {
        true => Ok(Content::text(arguments.shown())),
        false => conversation::run(host, &arguments),
    })
}
