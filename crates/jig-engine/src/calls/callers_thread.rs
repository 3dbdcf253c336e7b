//! Which calls begin on the thread of their caller.

use jig_config::{ResultMode, RunMode, RuntimeKind};
use jig_proto::ToolAction;
use serde_json::{Map, Value};

use crate::engine::Engine;
use crate::tools::effects::only_reads_files;

impl Engine {
    /// Whether the tool of a call may begin on a thread that has other work to do: whatever takes long in such a call is
    /// known, and gives the thread back.
    ///
    /// Such a tool only reads files of this machine, with code of jig's own, or it is on a server. It runs to its end, and
    /// nobody is asked whether it runs, nor whether to pass on its result.
    pub fn begins_on_callers_thread(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let Ok(tool) = self.tool(tool) else {
            return false;
        };
        let is_inside = match tool.runtime {
            RuntimeKind::Builtin => only_reads_files(tool) && self.files_are_local(),
            RuntimeKind::Mcp => true,
            _ => false,
        };
        let run = tool.run.of(ToolAction::Spawn);
        is_inside
            && tool.actions.is_one_shot()
            && tool.overlay.is_none()
            && tool.result == ResultMode::Unattended
            && run.rules().is_empty()
            && self.decided(tool, ToolAction::Spawn, arguments).mode == RunMode::Unattended
    }

    fn files_are_local(&self) -> bool {
        let is_local = || self.files.is_local();
        *self.common.files_are_local.get_or_init(is_local)
    }
}
