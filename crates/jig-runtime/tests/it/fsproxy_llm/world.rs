//! A client tree over a workspace in memory, and raw clients of both variants.

use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use jig_broker::{Broker, BrokerParts, Llm, LlmSettings};
use jig_files::{FilesLookup, MemoryFiles, ProjectFiles, WriteOptions};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Workspace,
};
use jig_proto::ProjectPath;
use jig_runtime::fsproxy::{ClientOptions, Manager, ManagerOptions, ProxyClient};
pub(crate) use jig_testkit::until;
use serde_json::{Value, json};

/// A manager, its files and its broker.
///
/// `data/` may be read, `data/secret.env` may not, `out/` may be written and read, `log/` only written; about
/// everything else the rules say nothing.
pub(crate) struct World {
    pub(crate) manager: Manager,
    pub(crate) broker: Broker,
    files: Arc<dyn ProjectFiles>,
}

impl World {
    /// A world without a provider.
    pub(crate) fn new() -> Self {
        Self::over(None, ManagerOptions::default())
    }

    /// A world whose provider is at `url`.
    pub(crate) fn with_llm(url: &str, change: impl FnOnce(&mut LlmSettings)) -> Self {
        Self::with_options(url, change, ManagerOptions::default())
    }

    pub(crate) fn with_options(
        url: &str,
        change: impl FnOnce(&mut LlmSettings),
        options: ManagerOptions,
    ) -> Self {
        let url = url.parse().unwrap();
        let key = Some(KEY.to_owned());
        let mut settings = LlmSettings::new(url, key, "large").unwrap();
        settings.internal_model = "small".to_owned();
        settings.max_tokens = 100;
        settings.retries = 0;
        settings.total_time = LONG;
        settings.idle_time = LONG;
        change(&mut settings);
        Self::over(Some(Llm::new(settings).unwrap()), options)
    }

    fn over(llm: Option<Llm>, options: ManagerOptions) -> Self {
        let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
        put(&files, "data/notes.txt", b"remember the milk\n");
        put(&files, "data/secret.env", b"TOKEN=hunter2\n");
        put(&files, "data/binary.bin", b"ok\xff\xfe");
        put(&files, "out/old.txt", b"old");
        put(&files, "log/old.txt", b"old");
        let mut access = DeclaredAccess::default();
        for (path, capabilities) in RULES {
            access.fs.push(DeclaredFsRule {
                path: (*path).to_owned(),
                capabilities: capabilities.iter().copied().collect::<FileCapabilities>(),
                origin: RuleOrigin::line("jig.toml", 7),
            });
        }
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let default = DefaultAccess::READ_ONLY;
        let policy = Policy::compile(&access, default, &Guards::default(), &workspace).unwrap();
        let mut parts = BrokerParts::new("agent", "c1", Arc::clone(&files), Arc::new(policy));
        parts.llm = llm;
        let broker = Broker::new(parts);
        let manager = Manager::new(broker.clone(), options);
        Self {
            manager,
            broker,
            files,
        }
    }

    /// The content of a file of the workspace, whatever the rules say.
    pub(crate) fn content(&self, path: &str) -> Option<Vec<u8>> {
        let path = ProjectPath::normalize(path).unwrap();
        let place = self.files.locate(&path).unwrap();
        Some(self.files.read(&place, u64::MAX).ok()?.to_vec())
    }

    /// Puts a file into the workspace.
    pub(crate) fn put(&self, path: &str, content: &[u8]) {
        put(&self.files, path, content);
    }

    pub(crate) fn connect(&self, options: ClientOptions) -> (ProxyClient, UnixStream) {
        let (client, end) = self.manager.connect(options).unwrap();
        let end = UnixStream::from(end);
        end.set_read_timeout(Some(LONG)).unwrap();
        (client, end)
    }

    /// A framed client in an LLM context.
    pub(crate) fn framed(&self) -> Framed {
        Framed(self.connect(in_llm_context()).1)
    }

    /// A client of the text variant in an LLM context.
    pub(crate) fn text(&self) -> Text {
        Text(self.connect(in_llm_context()).1)
    }

    /// Waits until no client is left, and nothing of one.
    pub(crate) fn is_left(&self) {
        until("both tables are empty", || {
            self.manager.clients().is_empty() && self.manager.files().is_empty()
        });
    }
}

const RULES: &[(&str, &[Capability])] = &[
    ("data", &[Capability::Read]),
    ("data/secret.env", &[]),
    (
        "out",
        &[Capability::Read, Capability::Create, Capability::Update],
    ),
    ("log", &[Capability::Create, Capability::Update]),
];

fn put(files: &Arc<dyn ProjectFiles>, path: &str, content: &[u8]) {
    let path = ProjectPath::normalize(path).unwrap();
    let place = files.locate(&path).unwrap();
    files
        .write(&place, content, &WriteOptions::default())
        .unwrap();
}

pub(crate) fn in_llm_context() -> ClientOptions {
    ClientOptions {
        llm: true,
        ..ClientOptions::default()
    }
}

/// A client that speaks frames, written without the codec under test.
pub(crate) struct Framed(pub(crate) UnixStream);

impl Framed {
    pub(crate) fn send(&mut self, op: &str, params: Value) {
        let request = json!({ "id": op, "op": op, "params": params }).to_string();
        let length = u32::try_from(request.len()).unwrap().to_be_bytes();
        let frame = [&length, request.as_bytes()].concat();
        self.0.write_all(&frame).unwrap();
    }

    pub(crate) fn receive(&mut self) -> Value {
        let mut length = [0; 4];
        self.0.read_exact(&mut length).unwrap();
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        self.0.read_exact(&mut frame).unwrap();
        serde_json::from_slice(&frame).unwrap()
    }

    /// The result, or the code and the text of the error.
    pub(crate) fn ask(&mut self, op: &str, params: Value) -> Result<Value, (String, String)> {
        self.send(op, params);
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Result<Value, (String, String)> {
        let mut answer = self.receive();
        if answer["ok"] == true {
            return Ok(answer["result"].take());
        }
        let text = |name: &str| answer["error"][name].as_str().unwrap().to_owned();
        Err((text("code"), text("message")))
    }

    pub(crate) fn open(&mut self, path: &str, mode: &str) -> u64 {
        let opened = self.ask("open", json!({ "path": path, "mode": mode }));
        opened.unwrap()["handle"].as_u64().unwrap()
    }

    /// Reads up to the end.
    pub(crate) fn content(&mut self, handle: u64) -> String {
        let mut all = Vec::new();
        loop {
            let read = self.ask("read", json!({ "h": handle })).unwrap();
            all.extend(decoded(read["data"].as_str().unwrap()));
            if read["eof"] == true {
                return String::from_utf8(all).unwrap();
            }
        }
    }

    /// A virtual file with a content, opened for reading.
    pub(crate) fn virtual_file(&mut self, name: &str, content: &str) -> u64 {
        let handle = self.open(name, "w");
        let data = encoded(content.as_bytes());
        self.ask("write", json!({ "h": handle, "data": data }))
            .unwrap();
        self.ask("close", json!({ "h": handle })).unwrap();
        self.open(name, "r")
    }

    /// The content of a file of the tree by its name.
    pub(crate) fn named(&mut self, name: &str) -> String {
        let handle = self.open(name, "r");
        let content = self.content(handle);
        self.ask("close", json!({ "h": handle })).unwrap();
        content
    }
}

/// A client that speaks lines.
pub(crate) struct Text(pub(crate) UnixStream);

impl Text {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.0.write_all(bytes.as_ref()).unwrap();
    }

    /// Receives exactly these bytes.
    #[track_caller]
    pub(crate) fn expect(&mut self, expected: impl AsRef<[u8]>) {
        let expected = expected.as_ref();
        let mut received = vec![0; expected.len()];
        let mut done = 0;
        while done < received.len() {
            match self.0.read(&mut received[done..]).unwrap() {
                0 => break,
                count => done += count,
            }
            if received[..done] != expected[..done] {
                break;
            }
        }
        let received = String::from_utf8_lossy(&received[..done]);
        assert_eq!(received, String::from_utf8_lossy(expected));
    }

    #[track_caller]
    pub(crate) fn check(&mut self, command: impl AsRef<[u8]>, expected: impl AsRef<[u8]>) {
        self.send(command);
        self.expect(expected);
    }

    /// One line, without its end.
    pub(crate) fn line(&mut self) -> String {
        let mut line = Vec::new();
        let mut byte = [0];
        loop {
            self.0.read_exact(&mut byte).unwrap();
            if byte == *b"\n" {
                return String::from_utf8(line).unwrap();
            }
            line.extend(byte);
        }
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.0.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// What comes until the connection ends.
    pub(crate) fn rest(&mut self) -> String {
        let mut rest = Vec::new();
        self.0.read_to_end(&mut rest).unwrap();
        String::from_utf8(rest).unwrap()
    }
}

/// Both ends of a pipe: the reading one first.
pub(crate) fn pipe() -> (OwnedFd, OwnedFd) {
    let (reader, writer) = io::pipe().unwrap();
    (reader.into(), writer.into())
}

pub(crate) fn encoded(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().enumerate();
        let bits = bits.fold(0, |all, (at, byte)| all | u32::from(*byte) << (16 - 8 * at));
        for at in 0..4 {
            let digit = (bits >> (18 - 6 * at)) as usize & 63;
            let is_padding = at > chunk.len();
            text.push(if is_padding {
                '='
            } else {
                char::from(ALPHABET[digit])
            });
        }
    }
    text
}

pub(crate) fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in text.as_bytes().chunks(4) {
        let digits = chunk.iter().filter(|byte| **byte != b'=');
        let digits = digits.map(|byte| ALPHABET.iter().position(|one| one == byte).unwrap());
        let digits: Vec<usize> = digits.collect();
        let bits = digits.iter().enumerate();
        let bits = bits.fold(0, |all, (at, digit)| all | digit << (18 - 6 * at));
        bytes.extend((0..digits.len() - 1).map(|at| (bits >> (16 - 8 * at)) as u8));
    }
    bytes
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// The key of the provider.
pub(crate) const KEY: &str = "sk-test-1234567890abcdef";

/// Longer than anything takes, also on a machine that is busy.
pub(crate) const LONG: Duration = Duration::from_secs(60);
