//! A workspace, its manager, and the process at the top of a chain.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, Guards, Policy, RuleOrigin,
    Workspace,
};
use jig_proto::ProjectPath;
use jig_runtime::fsproxy::{ClientOptions, ClientPaths, Manager, ManagerOptions, ProxyClient};
pub(crate) use jig_testkit::until;

use crate::chain::roles::{self, FOLDER, ROLE};

/// A workspace in which `out` is read and written; nothing speaks of the rest.
pub(crate) struct World {
    pub(crate) manager: Manager,
    folder: tempfile::TempDir,
    top: Option<Child>,
    client: Option<ProxyClient>,
}

impl World {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("out")).unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).unwrap());
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let all = [Capability::Read, Capability::Update, Capability::Create];
        let access = DeclaredAccess {
            fs: vec![DeclaredFsRule {
                path: "out".to_owned(),
                capabilities: all.into_iter().collect(),
                origin: RuleOrigin::line("jig.toml", 1),
            }],
            ..DeclaredAccess::default()
        };
        let default = DefaultAccess::READ_ONLY;
        let policy = Policy::compile(&access, default, &Guards::default(), &workspace).unwrap();
        let names = ClientPaths::new(files.display_root(), ProjectPath::root());
        let broker = Broker::new(BrokerParts::new("shell", "c1", files, Arc::new(policy)));
        let options = ManagerOptions {
            names,
            ..ManagerOptions::default()
        };
        Self {
            manager: Manager::new(broker, options),
            folder,
            top: None,
            client: None,
        }
    }

    /// Starts the process at the top in this role. Its standard output is a pipe.
    pub(crate) fn start(&mut self, role: &str) {
        self.start_by("exec 3<&0 0</dev/null; exec \"$0\" \"$@\"", role);
    }

    /// The same, by a script that has the socket as its standard input and the program as its arguments.
    pub(crate) fn start_by(&mut self, script: &str, role: &str) {
        let (client, socket) = self.manager.connect(ClientOptions::default()).unwrap();
        // A shell gives the descriptor its number, and is then the program itself.
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
            .arg(std::env::current_exe().unwrap())
            .args(roles::ARGS);
        command.env(ROLE, role).env_remove("JIG_PROXY_FD");
        command
            .env("RUST_BACKTRACE", "0")
            .env(FOLDER, self.folder.path());
        command.stdin(socket).stdout(Stdio::piped());
        self.top = Some(command.spawn().unwrap());
        self.client = Some(client);
    }

    pub(crate) fn top(&mut self) -> &mut Child {
        self.top.as_mut().unwrap()
    }

    pub(crate) fn client(&self) -> &ProxyClient {
        self.client.as_ref().unwrap()
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// What a real file holds; empty if there is none.
    pub(crate) fn content(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap_or_default()
    }

    /// The names of all that is open, over all processes.
    pub(crate) fn open_files(&self) -> BTreeSet<String> {
        let files = self.manager.files();
        files.into_iter().map(|file| file.filename).collect()
    }

    pub(crate) fn expect_open(&self, names: &[&str]) {
        let expected: BTreeSet<String> = names.iter().map(|name| (*name).to_owned()).collect();
        until(&format!("{expected:?} are open"), || {
            self.open_files() == expected
        });
    }

    pub(crate) fn expect_empty(&self) {
        until("both tables are empty", || {
            self.manager.clients().is_empty() && self.manager.files().is_empty()
        });
    }
}

/// Nothing is left running: those below the top end when their connection does.
impl Drop for World {
    fn drop(&mut self) {
        if let Some(top) = &mut self.top {
            let _ = top.kill();
            let _ = top.wait();
            // All processes have it: its end is the end of the last of them.
            if let Some(stdout) = &mut top.stdout {
                let _ = stdout.read_to_end(&mut Vec::new());
            }
        }
    }
}
