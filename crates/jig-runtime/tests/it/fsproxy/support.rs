//! A workspace with a manager, and a client that speaks the protocol by hand.

use std::io::{Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, MemoryFiles, ProjectFiles, WriteOptions};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, Guards, Policy, RuleOrigin,
    Workspace,
};
use jig_proto::ProjectPath;
use jig_runtime::fsproxy::{ClientOptions, ClientPaths, Manager, ManagerOptions, ProxyClient};
pub(crate) use jig_testkit::until;
use serde_json::{Value, json};

/// How long anything may take. Generous: the machine may be busy with other things.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Where the files of a workspace are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Backend {
    Disk,
    Memory,
}

/// Runs a test over both kinds of files.
pub(crate) fn on_both(test: impl Fn(World)) {
    for backend in [Backend::Disk, Backend::Memory] {
        test(World::new(backend, ManagerOptions::default()));
    }
}

/// A workspace and its manager. The rules: `in` is read, `out` is read and written, `drop` is written only,
/// `in/secret` is denied; nothing speaks of the rest.
pub(crate) struct World {
    pub(crate) backend: Backend,
    pub(crate) manager: Manager,
    pub(crate) files: Arc<dyn ProjectFiles>,
    /// The root as clients spell it.
    pub(crate) root: Utf8PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl World {
    pub(crate) fn new(backend: Backend, options: ManagerOptions) -> Self {
        let (files, folder): (Arc<dyn ProjectFiles>, _) = match backend {
            Backend::Memory => (Arc::new(MemoryFiles::new()), None),
            Backend::Disk => {
                let folder = tempfile::tempdir().unwrap();
                let root = Utf8Path::from_path(folder.path()).unwrap();
                (Arc::new(DiskFiles::open(root).unwrap()), Some(folder))
            }
        };
        let root = files.display_root().to_owned();
        for (path, content) in FIXTURES {
            put(&*files, path, content.as_bytes());
        }
        let names = ClientPaths::new(root.clone(), ProjectPath::root());
        let options = ManagerOptions { names, ..options };
        let manager = Manager::new(broker(&files), options);
        Self {
            backend,
            manager,
            files,
            root,
            _folder: folder,
        }
    }

    pub(crate) fn connect(&self) -> (ProxyClient, Raw) {
        self.connect_as(ClientOptions::default())
    }

    pub(crate) fn connect_as(&self, options: ClientOptions) -> (ProxyClient, Raw) {
        let (client, socket) = self.manager.connect(options).unwrap();
        (client, Raw::new(socket))
    }

    pub(crate) fn raw(&self) -> Raw {
        self.connect().1
    }

    /// What a real file holds now; `None` if there is none.
    pub(crate) fn content(&self, path: &str) -> Option<Vec<u8>> {
        let place = self.files.locate(&ProjectPath::normalize(path).unwrap());
        let place = place.unwrap();
        let exists = place.exists();
        exists.then(|| self.files.read(&place, 1 << 30).unwrap().to_vec())
    }

    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        put(&*self.files, path, content);
    }

    /// Waits until nobody is connected and nothing is open.
    pub(crate) fn expect_empty(&self) {
        until("both tables are empty", || {
            self.manager.clients().is_empty() && self.manager.files().is_empty()
        });
    }
}

const FIXTURES: [(&str, &str); 7] = [
    ("in/a.txt", "hello"),
    ("in/secret/key.txt", "geheim"),
    ("in/.env", "TOKEN=1"),
    ("out/old.txt", "old content"),
    ("drop/box.txt", "dropped"),
    ("hidden.txt", "unseen"),
    ("in/empty.txt", ""),
];

fn put(files: &dyn ProjectFiles, path: &str, content: &[u8]) {
    let place = files.locate(&ProjectPath::normalize(path).unwrap());
    let written = files.write(&place.unwrap(), content, &WriteOptions::default());
    written.unwrap();
}

/// The door to files under the rules of these tests.
pub(crate) fn broker(files: &Arc<dyn ProjectFiles>) -> Broker {
    use Capability::{Create, Read, Update};

    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(files)));
    let rule = |line, path: &str, capabilities: &[Capability]| DeclaredFsRule {
        path: path.to_owned(),
        capabilities: capabilities.iter().copied().collect(),
        origin: RuleOrigin::line("jig.toml", line),
    };
    let access = DeclaredAccess {
        fs: vec![
            rule(1, "in", &[Read]),
            rule(2, "out", &[Read, Create, Update]),
            rule(3, "drop", &[Create, Update]),
            rule(4, "in/secret", &[]),
        ],
        ..DeclaredAccess::default()
    };
    let default = DefaultAccess::READ_ONLY;
    let policy = Policy::compile(&access, default, &Guards::of_workspace(), &workspace);
    let policy = Arc::new(policy.unwrap());
    Broker::new(BrokerParts::new("shell", "c1", Arc::clone(files), policy))
}

/// A client that writes frames by hand.
pub(crate) struct Raw {
    pub(crate) socket: UnixStream,
    last: u64,
}

/// What an answer says if it is no error.
pub(crate) type Answer<T> = Result<T, (String, String)>;

impl Raw {
    pub(crate) fn new(socket: OwnedFd) -> Self {
        let socket = UnixStream::from(socket);
        socket.set_read_timeout(Some(LONG)).unwrap();
        Self { socket, last: 0 }
    }

    pub(crate) fn send(&mut self, message: &Value) {
        self.send_bytes(&frame(message));
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).unwrap();
    }

    /// The text of the next answer.
    pub(crate) fn receive_text(&mut self) -> String {
        let mut length = [0; 4];
        self.socket.read_exact(&mut length).unwrap();
        let mut text = vec![0; u32::from_be_bytes(length) as usize];
        self.socket.read_exact(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    pub(crate) fn receive(&mut self) -> Value {
        serde_json::from_str(&self.receive_text()).unwrap()
    }

    /// Whether there is nothing more to come.
    pub(crate) fn is_over(&mut self) -> bool {
        match self.socket.read(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    /// Asks, and gives the result of the answer, which must be the one to this question.
    pub(crate) fn ask(&mut self, op: &str, params: Value) -> Answer<Value> {
        self.last += 1;
        let id = self.last.to_string();
        self.send(&json!({ "id": id, "op": op, "params": params }));
        let mut answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        match answer["ok"].as_bool().unwrap() {
            true => Ok(answer["result"].take()),
            false => {
                let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
                Err((text("code"), text("message")))
            }
        }
    }

    pub(crate) fn open(&mut self, path: &str, mode: &str) -> Answer<u64> {
        let opened = self.ask("open", json!({ "path": path, "mode": mode }))?;
        Ok(opened["handle"].as_u64().unwrap())
    }

    /// The code of the error that opening is.
    pub(crate) fn open_code(&mut self, path: &str, mode: &str) -> String {
        match self.open(path, mode) {
            Ok(handle) => format!("handle {handle}"),
            Err((code, _)) => code,
        }
    }

    pub(crate) fn read(&mut self, handle: u64, max: u64) -> Answer<(Vec<u8>, bool)> {
        let read = self.ask("read", json!({ "h": handle, "max": max }))?;
        let data = decode(read["data"].as_str().unwrap());
        Ok((data, read["eof"].as_bool().unwrap()))
    }

    /// Reads to the end.
    pub(crate) fn read_all(&mut self, handle: u64) -> Vec<u8> {
        let mut content = Vec::new();
        loop {
            let (data, is_end) = self.read(handle, 4096).unwrap();
            content.extend(data);
            if is_end {
                return content;
            }
        }
    }

    pub(crate) fn write(&mut self, handle: u64, bytes: &[u8]) -> Answer<u64> {
        let written = self.ask("write", json!({ "h": handle, "data": encode(bytes) }))?;
        Ok(written["written"].as_u64().unwrap())
    }

    pub(crate) fn close(&mut self, handle: u64) -> Answer<()> {
        self.ask("close", json!({ "h": handle })).map(|_| ())
    }

    /// Opens, writes and closes.
    pub(crate) fn put(&mut self, path: &str, mode: &str, bytes: &[u8]) {
        let handle = self.open(path, mode).unwrap();
        assert_eq!(self.write(handle, bytes), Ok(bytes.len() as u64));
        self.close(handle).unwrap();
    }

    /// Opens, reads to the end and closes.
    pub(crate) fn content(&mut self, path: &str) -> Answer<Vec<u8>> {
        let handle = self.open(path, "r")?;
        let content = self.read_all(handle);
        self.close(handle)?;
        Ok(content)
    }
}

/// A message with its length.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    frame_of(message.to_string().as_bytes())
}

/// Bytes with their length.
pub(crate) fn frame_of(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).unwrap();
    [&length.to_be_bytes()[..], bytes].concat()
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..4 {
            let index = (bits >> (18 - 6 * place)) & 63;
            text.push(match place <= chunk.len() {
                true => char::from(ALPHABET[index as usize]),
                false => '=',
            });
        }
    }
    text
}

pub(crate) fn decode(text: &str) -> Vec<u8> {
    assert_eq!(text.len() % 4, 0, "{text}");
    let mut bytes = Vec::new();
    for group in text.as_bytes().chunks(4) {
        let padding = group.iter().filter(|c| **c == b'=').count();
        let bits = group.iter().fold(0_u32, |bits, c| {
            let index = ALPHABET.iter().position(|known| known == c).unwrap_or(0);
            bits << 6 | u32::try_from(index).unwrap()
        });
        bytes.extend_from_slice(&bits.to_be_bytes()[1..4 - padding]);
    }
    bytes
}
