//! MCP servers as programs: real processes in real sandboxes. They speak a protocol of one line each here, since
//! what they say is nothing to whoever starts them.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

mod confined;
mod ends;
mod left;
mod packages;
mod secrets;

use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{AuditEntry, AuditSink};
use jig_config::Sources;
use jig_engine::{CallError, Confinement, Engine, ServerProcess};
use jig_files::DiskFiles;
use jig_proto::Denial;
use jig_sandbox::{Interest, poll, set_nonblocking};
use jig_testkit::until;

/// A workspace with a home beside it, and a server `srv` that the user's file declares.
struct World {
    kept: Arc<tempfile::TempDir>,
    folder: Utf8PathBuf,
    env: Vec<(String, String)>,
    audit: Arc<Log>,
    /// Whether what its server makes is supervised.
    is_supervised: bool,
}

impl World {
    /// `settings` are those of the server. Its program is `server.py`, unless they say otherwise.
    fn new(settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let path = path.canonicalize_utf8().unwrap();
        for directory in ["ws", "home/bin", "state", "other"] {
            std::fs::create_dir_all(path.join(directory)).unwrap();
        }
        let world = Self {
            kept: Arc::new(folder),
            folder: path,
            env: Vec::new(),
            audit: Arc::default(),
            is_supervised: true,
        };
        world.file("server.py", SERVER);
        let command = match settings.starts_with("command = ") || settings.starts_with("url = ") {
            true => String::new(),
            false => format!(
                "command = 'python3'\nargs = ['{}/server.py']\n",
                world.folder
            ),
        };
        world.file(
            "user.toml",
            &format!("[mcp.servers.srv]\n{command}{settings}"),
        );
        world
    }

    fn file(&self, path: &str, content: &str) -> &Self {
        let path = self.folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    /// A file that can be run.
    fn program(&self, path: &str, content: &str) -> &Self {
        self.file(path, content);
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.folder.join(path), mode).unwrap();
        self
    }

    /// A variable of the host.
    fn variable(mut self, name: &str, value: &str) -> Self {
        self.env.push((name.to_owned(), value.to_owned()));
        self
    }

    fn engine(&self) -> Engine {
        let root = self.folder.join("ws");
        let sources = Sources {
            user_config: Some(self.folder.join("user.toml")),
            home: Some(self.folder.join("home")),
            ..Sources::new(root.clone())
        };
        let loaded = jig_config::load(&sources);
        let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
        let disk = DiskFiles::open(&root).unwrap();
        let mut engine = Engine::new(Arc::new(loaded.config), Arc::new(disk));
        let mut path = engine.confine.search_path.clone();
        path.push(format!(":{}/home/bin", self.folder));
        let host = [("PATH".to_owned(), path.clone().into_string().unwrap())];
        engine.env = self.env.iter().cloned().chain(host).collect();
        engine.confine = Confinement {
            home: Some(PathBuf::from(self.folder.join("home"))),
            state: Some(PathBuf::from(self.folder.join("state"))),
            search_path: path,
            ..engine.confine.clone()
        };
        engine.confine.layers.supervisor = self.is_supervised;
        engine.audit = Arc::clone(&self.audit) as Arc<dyn AuditSink>;
        engine
    }

    fn try_start(&self) -> Result<Talk, CallError> {
        let engine = self.engine();
        let process = engine.start_server(engine.config().server("srv").unwrap())?;
        Ok(Talk {
            _folder: Some(Arc::clone(&self.kept)),
            ..Talk::new(process)
        })
    }

    fn start(&self) -> Talk {
        self.try_start().unwrap_or_else(|error| panic!("{error}"))
    }

    /// Pastes a rule into the user's file, as a person would.
    fn paste(&self, hint: &str) {
        let path = self.folder.join("user.toml");
        let mut config: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let hint: toml::Table = hint
            .parse()
            .unwrap_or_else(|error| panic!("{hint}: {error}"));
        merge(&mut config, hint, false);
        std::fs::write(path, toml::to_string(&config).unwrap()).unwrap();
    }

    /// Asks a server for something that is refused; pastes the rule that is offered first; and asks a new server
    /// for the same, which then works. `ROOT` stands for the folder.
    #[track_caller]
    fn helps(&self, line: &str, operation: &str, target: &str) -> Denial {
        let line = line.replace("ROOT", self.folder.as_str());
        let mut talk = self.start();
        let mark = talk.process.mark();
        let answer = talk.ask(&line);
        assert!(answer.starts_with("error "), "`{line}` works: {answer}");
        let denials = talk.process.refused_since(&mark);
        let told = |denial: &Denial| denial.target.replace(self.folder.as_str(), "ROOT");
        let denial = denials
            .iter()
            .find(|denial| denial.operation == operation && told(denial) == target);
        let denial = denial.unwrap_or_else(|| panic!("`{line}`: {answer}\n{denials:#?}"));
        let hint = denial.hint.as_deref();
        let hint = hint.unwrap_or_else(|| panic!("`{line}` has no hint: {denials:#?}"));
        assert!(hint.contains("mcp.servers.srv."), "{hint}");
        drop(talk);
        self.paste(hint);
        let mut talk = self.start();
        let answer = talk.ask(&line);
        assert!(
            answer.starts_with("ok "),
            "`{line}` still fails with\n{hint}\n{answer}"
        );
        denial.clone()
    }
}

/// Rules are added behind those that exist; of all else the new one counts.
fn merge(into: &mut toml::Table, from: toml::Table, are_rules: bool) {
    for (key, value) in from {
        let are_rules = are_rules || key == "access";
        match (into.get_mut(&key), value) {
            (Some(toml::Value::Table(into)), toml::Value::Table(from)) => {
                merge(into, from, are_rules);
            }
            (Some(toml::Value::Array(into)), toml::Value::Array(from)) if are_rules => {
                into.extend(from);
            }
            (_, value) => {
                into.insert(key, value);
            }
        }
    }
}

/// Somebody who talks to a server.
struct Talk {
    stdin: Option<PipeWriter>,
    stdout: BufReader<PipeReader>,
    process: ServerProcess,
    /// It works there.
    _folder: Option<Arc<tempfile::TempDir>>,
}

impl Talk {
    fn new(process: ServerProcess) -> Self {
        let (stdin, stdout) = process.take_streams().unwrap();
        assert!(process.take_streams().is_none());
        set_nonblocking(stdin.as_fd(), false).unwrap();
        set_nonblocking(stdout.as_fd(), false).unwrap();
        Self {
            stdin: Some(stdin.into()),
            stdout: BufReader::new(stdout.into()),
            process,
            _folder: None,
        }
    }

    /// Says a line, and gives the line that it is answered with; empty if it ends instead.
    fn ask(&mut self, line: &str) -> String {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(format!("{line}\n").as_bytes()).unwrap();
        let interest = [Interest::Readable(self.stdout.get_ref().as_fd())];
        let ready = poll(&interest, Some(PATIENCE)).unwrap();
        assert!(
            !ready.is_empty(),
            "`{line}` is not answered: {}",
            self.process.last_words()
        );
        let mut answer = String::new();
        self.stdout.read_line(&mut answer).unwrap();
        answer.truncate(answer.trim_end_matches('\n').len());
        answer
    }
}

/// The lines of an audit log.
#[derive(Debug, Default)]
struct Log(Mutex<Vec<AuditEntry>>);

impl AuditSink for Log {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

impl Log {
    fn lines(&self) -> Vec<String> {
        let entries = self.0.lock().unwrap();
        let shown =
            |entry: &AuditEntry| format!("{} {} {}", entry.tool, entry.operation, entry.target);
        entries.iter().map(shown).collect()
    }
}

/// A loaded machine is slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// Does what it is told, one line each, and says `ok` or `error`.
const SERVER: &str = r#"
import os, signal, socket, subprocess, sys, threading, time

def flood():
    while True:
        os.write(2, b"x" * 65536 + b"\n")

def do(what, rest):
    if what == "echo":
        return rest
    if what == "read":
        return open(rest).read()
    if what == "write":
        open(rest, "w").write("written"); return rest
    if what == "append":
        open(rest, "a").write("written"); return rest
    if what == "mkdir":
        os.mkdir(rest); return rest
    if what == "list":
        return " ".join(sorted(os.listdir(rest)))
    if what == "connect":
        host, port = rest.split()
        with socket.create_connection((host, int(port)), 10) as stream:
            return stream.recv(100)
    if what == "lookup":
        return socket.getaddrinfo(rest, 443)
    if what == "variable":
        return os.environ[rest]
    if what == "complain":
        os.write(2, (rest + "\n").encode())
        raise Exception("it went wrong")
    if what == "say":
        os.write(2, rest.encode()); return ""
    if what == "variables":
        return " ".join(sorted(os.environ))
    if what == "run":
        return subprocess.run(rest.split(), check=True, capture_output=True, text=True).stdout
    if what == "flood":
        threading.Thread(target=flood, daemon=True).start(); return ""
    if what == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN); return ""
    if what == "daemon":
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("sleep", ["sleep", rest])
            os._exit(0)
        os.wait()
        return ""
    if what == "eat":
        for _ in range(8):
            if os.fork() == 0:
                eaten = bytearray(int(rest)); time.sleep(1000)
        os.wait()
    if what == "exit":
        sys.stderr.write("these are my last words\n"); sys.stderr.flush(); os._exit(int(rest))
    raise Exception("what?")

for line in sys.stdin:
    what, _, rest = line.rstrip("\n").partition(" ")
    try:
        answer = "ok " + str(do(what, rest)).replace("\n", " ")
    except Exception as error:
        answer = "error " + repr(error)
    sys.stdout.write(answer + "\n")
    sys.stdout.flush()
while os.environ.get("STAYS"):
    time.sleep(1)
"#;
