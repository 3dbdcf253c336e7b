//! Where the tools of the tests work, and what can be seen of them from outside.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context};
use jig_runtime::{CommandLine, Plan, Runtime as _, Session, StdioRuntime, Timing};
pub(crate) use jig_testkit::until;

/// A workspace.
pub(crate) struct World {
    folder: tempfile::TempDir,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A plan for a stateful tool that gives its tools little time to end.
    pub(crate) fn plan(&self, tool: &str) -> Plan {
        let files = self.files();
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let guards = Guards::of_workspace();
        let default = DefaultAccess::READ_ONLY;
        let policy =
            Policy::compile(&DeclaredAccess::default(), default, &guards, &workspace).unwrap();
        let parts = BrokerParts::new(tool, "c1", Arc::clone(&files), Arc::new(policy));
        let input = ToolInput {
            name: tool.to_owned(),
            ..ToolInput::default()
        };
        let context = Context::new(files.display_root(), Action::Run);
        let mut plan = Plan {
            stateful: true,
            timing: Timing {
                cancel_grace: Duration::from_millis(200),
                kill_grace: Duration::from_millis(200),
                ..Timing::default()
            },
            ..Plan::new(input, context, Broker::new(parts))
        };
        plan.limits.time = None;
        plan
    }

    /// Starts a script of the shell, confined.
    pub(crate) fn script(&self, mut plan: Plan, script: &str) -> Session {
        let view = Arc::new(self.files().materialize().unwrap());
        let home = Path::new("/nonexistent");
        plan.command = Some(CommandLine::literal("/bin/sh", ["-c", script], view, home));
        StdioRuntime.start(plan).unwrap()
    }

    /// Waits until no process works in here.
    pub(crate) fn is_left(&self) {
        until("nothing works in the workspace", || {
            jig_testkit::working_in(self.path()).is_empty()
        });
    }

    fn files(&self) -> Arc<dyn ProjectFiles> {
        let root = Utf8Path::from_path(self.path()).unwrap();
        Arc::new(DiskFiles::open(root).unwrap())
    }
}

/// When a process started, in the kernel's words; `None` if there is none, or nothing left of it.
pub(crate) fn started(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let is_dead = fields.next()? == "Z";
    (!is_dead).then(|| fields.nth(18).map(str::to_owned))?
}

/// Longer than anything takes, also on a machine that is busy.
pub(crate) const LONG: Duration = Duration::from_secs(120);
