//! The other side of a connection: one that the test plays itself, and one that keeps files in memory.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use jig_proto::fsproxy::{
    self, FrameBuffer, ListedEntry, ListedKind, MAX_FRAME, MAX_READ, Op, OpenMode, ProxyError,
    ProxyListReply, QuotaReport,
};
use jig_tool::proxy::Client;
use serde_json::{Value, json};

/// How long anything may take on a machine that is busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Runs `work` on a thread of its own and fails the test if it does not come to an end.
pub(crate) fn in_time<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = thread::spawn(move || {
        let result = work();
        // The test may have given up.
        let _ = sender.send(());
        result
    });
    match receiver.recv_timeout(LIMIT) {
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("it hangs"),
        _ => thread.join().unwrap(),
    }
}

/// One side of a connection, frame by frame. It speaks both parts.
pub(crate) struct Peer {
    pub(crate) socket: UnixStream,
    buffer: FrameBuffer,
}

impl Peer {
    pub(crate) fn new(socket: impl Into<OwnedFd>) -> Self {
        let socket = UnixStream::from(socket.into());
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        Self {
            socket,
            buffer: FrameBuffer::new(2 * MAX_FRAME),
        }
    }

    /// A client, and its parent.
    pub(crate) fn with_client() -> (Self, Client) {
        let (ours, theirs) = UnixStream::pair().unwrap();
        (Self::new(ours), Client::from_socket(theirs.into()).unwrap())
    }

    /// The next frame; `None` at the end of the connection.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            if let Some(frame) = self.buffer.next().unwrap() {
                return Some(serde_json::from_slice(frame).unwrap());
            }
            let count = match self.socket.read(self.buffer.space()) {
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => 0,
                other => other.expect("there is another frame, or the end"),
            };
            if count == 0 {
                return None;
            }
            self.buffer.filled(count);
        }
    }

    /// The next request; its id, and all but the id.
    pub(crate) fn request(&mut self) -> (String, Value) {
        let mut frame = self.next().expect("there is a request");
        let id = frame.as_object_mut().unwrap().remove("id").unwrap();
        (id.as_str().unwrap().to_owned(), frame)
    }

    /// Expects a request and answers it.
    pub(crate) fn answer(&mut self, expected: Value, result: Value) {
        let (id, request) = self.request();
        assert_eq!(request, expected);
        self.reply(&id, result);
    }

    pub(crate) fn reply(&mut self, id: &str, result: Value) {
        self.send(&json!({"id": id, "ok": true, "result": result}));
    }

    pub(crate) fn refuse(&mut self, id: &str, code: &str, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(&json!({"id": id, "ok": false, "error": error}));
    }

    pub(crate) fn send(&mut self, frame: &Value) {
        self.send_bytes(frame.to_string().as_bytes());
    }

    pub(crate) fn send_bytes(&mut self, frame: &[u8]) {
        let length = u32::try_from(frame.len()).unwrap();
        self.socket.write_all(&length.to_be_bytes()).unwrap();
        self.socket.write_all(frame).unwrap();
    }

    /// Sends a request of a child and gives its answer.
    pub(crate) fn ask(&mut self, op: &str, params: Value) -> Value {
        self.send(&json!({"id": "q", "op": op, "params": params}));
        let mut answer = self.next().expect("there is an answer");
        assert_eq!(answer["id"], "q");
        answer.as_object_mut().unwrap().remove("id");
        answer
    }
}

pub(crate) fn done(result: Value) -> Value {
    json!({"ok": true, "result": result})
}

pub(crate) fn refused(code: &str, message: &str) -> Value {
    json!({"ok": false, "error": {"code": code, "message": message}})
}

/// A parent whose files are in memory, and which reads one request at a time and writes one answer at
/// a time: the least patient that there is.
pub(crate) struct Memory {
    files: BTreeMap<String, Vec<u8>>,
    open: BTreeMap<u64, (String, usize, OpenMode)>,
    last: u64,
    /// Every request, as it came.
    pub(crate) log: Vec<Value>,
}

impl Memory {
    /// Serves a client until its connection ends, and gives what is left.
    pub(crate) fn start() -> (Client, thread::JoinHandle<Self>) {
        let (mut peer, client) = Peer::with_client();
        let server = thread::spawn(move || {
            let mut memory = Self {
                files: BTreeMap::new(),
                open: BTreeMap::new(),
                last: 2,
                log: Vec::new(),
            };
            while let Some(frame) = peer.next() {
                let mut out = Vec::new();
                memory.serve(&frame, &mut out);
                memory.log.push(frame);
                // Whoever asked may be gone. What it has asked is done all the same.
                let _ = peer.socket.write_all(&out);
            }
            memory
        });
        (client, server)
    }

    /// What is still open.
    pub(crate) fn open(&self) -> Vec<&str> {
        self.open.values().map(|(path, ..)| path.as_str()).collect()
    }

    /// The operations of this name, without their ids.
    pub(crate) fn logged(&self, op: &str) -> Vec<&Value> {
        let of_op = self.log.iter().filter(|frame| frame["op"] == op);
        of_op.map(|frame| &frame["params"]).collect()
    }

    fn serve(&mut self, frame: &Value, out: &mut Vec<u8>) {
        let text = frame.to_string();
        let request = fsproxy::read_request(text.as_bytes()).unwrap();
        let id = &*request.id;
        if let Err(error) = self.serve_op(id, &request.op, out) {
            fsproxy::write_error(out, id, &error);
        }
    }

    fn serve_op(&mut self, id: &str, op: &Op<'_>, out: &mut Vec<u8>) -> Result<(), ProxyError> {
        match op {
            Op::Open(open) => {
                let path = open.path.clone().into_owned();
                if open.mode == OpenMode::Read && !self.files.contains_key(&path) {
                    return Err(ProxyError::no_ent("there is no such file"));
                }
                let file = self.files.entry(path.clone()).or_default();
                if open.mode == OpenMode::Write {
                    file.clear();
                }
                let position = if open.mode == OpenMode::Append {
                    file.len()
                } else {
                    0
                };
                self.last += 1;
                self.open.insert(self.last, (path, position, open.mode));
                fsproxy::write_handle(out, id, self.last);
            }
            Op::Read(read) => {
                let max = read.chunk(MAX_READ, false)?;
                let (path, position, _) = self.find(read.handle)?;
                let rest = &self.files[&path][position..];
                let some = &rest[..rest.len().min(max)];
                fsproxy::write_data(out, id, some, some.len() == rest.len());
                self.open.get_mut(&read.handle).unwrap().1 += some.len();
            }
            Op::Write(write) => {
                let (path, position, mode) = self.find(write.handle)?;
                if mode == OpenMode::Read {
                    return Err(ProxyError::perm("the handle can only be read"));
                }
                let mut bytes = Vec::new();
                write.data.decode_into(&mut bytes)?;
                let file = self.files.get_mut(&path).unwrap();
                file.resize(file.len().max(position + bytes.len()), 0);
                file[position..position + bytes.len()].copy_from_slice(&bytes);
                self.open.get_mut(&write.handle).unwrap().1 += bytes.len();
                fsproxy::write_written(out, id, bytes.len() as u64);
            }
            Op::Close { handle } => {
                self.find(*handle)?;
                self.open.remove(handle);
                fsproxy::write_done(out, id);
            }
            Op::List(list) => {
                let names = self.files.keys().filter(|name| {
                    list.after
                        .as_deref()
                        .is_none_or(|after| name.as_str() > after)
                });
                let mut names: Vec<String> = names.cloned().collect();
                names.sort();
                let more = names.len() > 2;
                names.truncate(2);
                let entries = names.into_iter().map(|name| ListedEntry {
                    name,
                    kind: ListedKind::File,
                });
                let entries = entries.collect();
                fsproxy::write_result(out, id, &ProxyListReply { entries, more });
            }
            Op::Quota => fsproxy::write_result(out, id, &QuotaReport::default()),
            Op::LlmCmd(_) => return Err(ProxyError::unsupported("LLM not available")),
        }
        Ok(())
    }

    fn find(&self, handle: u64) -> Result<(String, usize, OpenMode), ProxyError> {
        let file = self.open.get(&handle).cloned();
        file.ok_or_else(|| ProxyError::closed(handle))
    }
}
