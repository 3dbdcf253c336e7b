//! Clients of `jig proxy` that know nothing of jig but the protocol: in Python, as a command, and here, on the
//! streams of `jig proxy --stdio`.

use std::io::{Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, ExitStatus, Stdio};

pub(crate) use jig_testkit::ended;
use serde_json::{Value as Json, json};

use super::workspace_user::{Desk, Ran};

impl Desk {
    /// `jig proxy OPTIONS -- python3 -c SCRIPT`, about to start.
    pub(crate) fn proxy(&self, options: &[&str], script: &str) -> std::process::Command {
        let script = format!("{PRELUDE}\n{script}\n");
        let mut words = vec!["proxy"];
        words.extend(options);
        words.extend(["--", PYTHON, "-c", &script]);
        self.jig(&words)
    }

    /// Runs a script as the command of a proxy, to its end.
    pub(crate) fn proxied(&self, options: &[&str], script: &str) -> Ran {
        Ran::of(self.proxy(options, script).output().unwrap())
    }

    /// The same for a script that ends well: what it told, as JSON.
    #[track_caller]
    pub(crate) fn told_by(&self, options: &[&str], script: &str) -> Json {
        let ran = self.proxied(options, script);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
        serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
    }

    /// The proxies that `jig ps` lists here.
    pub(crate) fn proxies(&self) -> Vec<Json> {
        let rows = super::parsed(&self.jig(&["ps", "--json"]).output().unwrap());
        let rows = rows.as_array().unwrap().iter();
        rows.filter(|row| row["kind"] == "proxy").cloned().collect()
    }
}

/// A client on the streams of `jig proxy --stdio`.
pub(crate) struct Foreign {
    jig: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    last: u64,
}

impl Foreign {
    pub(crate) fn new(desk: &Desk, options: &[&str]) -> Self {
        let mut words = vec!["proxy", "--stdio"];
        words.extend(options);
        let mut jig = desk.jig(&words);
        jig.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut jig = jig.spawn().unwrap();
        Self {
            input: jig.stdin.take(),
            output: jig.stdout.take().unwrap(),
            jig,
            last: 0,
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.jig.id()
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    /// Reads exactly so many bytes.
    pub(crate) fn receive(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.output.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Sends one request of the framed protocol, and gives the result or the error that came.
    pub(crate) fn ask(&mut self, op: &str, params: &Json) -> Json {
        self.last += 1;
        let id = self.last.to_string();
        let request = json!({ "id": id, "op": op, "params": params }).to_string();
        let length = u32::try_from(request.len()).unwrap().to_be_bytes();
        self.send(&[&length[..], request.as_bytes()].concat());
        let length = self.receive(4).try_into().unwrap();
        let answer = self.receive(u32::from_be_bytes(length) as usize);
        let mut answer: Json = serde_json::from_slice(&answer).unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        match answer["ok"] == true {
            true => answer["result"].take(),
            false => answer["error"].take(),
        }
    }

    /// Opens a file, which works.
    #[track_caller]
    pub(crate) fn open(&mut self, path: &str, mode: &str) -> u64 {
        let answer = self.ask("open", &json!({ "path": path, "mode": mode }));
        let handle = answer["handle"].as_u64();
        handle.unwrap_or_else(|| panic!("{path} {mode}: {answer}"))
    }

    /// Waits until jig has ended by itself.
    pub(crate) fn wait(&mut self) {
        ended(&mut self.jig);
    }

    /// Closes its side, and gives how jig ended, with what else it wrote on both streams.
    pub(crate) fn end(mut self) -> (ExitStatus, String, String) {
        drop(self.input.take());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest).unwrap();
        let mut notes = String::new();
        let mut stderr = self.jig.stderr.take().unwrap();
        stderr.read_to_string(&mut notes).unwrap();
        let rest = String::from_utf8_lossy(&rest).into_owned();
        (ended(&mut self.jig), rest, notes)
    }
}

/// One that every user can run.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// What every script starts with: the protocol as somebody else would write it.
pub(crate) const PRELUDE: &str = r#"
import base64, json, os, signal, socket, stat, struct, sys, time

class Refused(Exception):
    pass

class Client:
    def __init__(self, fd=None):
        self.socket = socket.socket(fileno=int(os.environ["JIG_PROXY_FD"]) if fd is None else fd)
        self.count = 0

    def send(self, op, **params):
        self.count += 1
        body = json.dumps({"id": str(self.count), "op": op, "params": params}).encode()
        self.socket.sendall(struct.pack(">I", len(body)) + body)
        return str(self.count)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def receive(self):
        return json.loads(self.exactly(struct.unpack(">I", self.exactly(4))[0]))

    def ask(self, op, **params):
        id = self.send(op, **params)
        answer = self.receive()
        assert answer["id"] == id, answer
        if not answer["ok"]:
            raise Refused(answer["error"]["code"], answer["error"]["message"])
        return answer.get("result")

    def open(self, path, mode):
        return self.ask("open", path=path, mode=mode)["handle"]

    def write(self, h, data):
        return self.ask("write", h=h, data=base64.b64encode(data).decode())["written"]

    def close(self, h):
        self.ask("close", h=h)

    def read(self, h):
        data = b""
        while True:
            answer = self.ask("read", h=h, max=4096)
            data += base64.b64decode(answer["data"])
            if answer["eof"]:
                return data.decode()

    def content(self, path):
        h = self.open(path, "r")
        data = self.read(h)
        self.close(h)
        return data

    def put(self, path, data, mode="w"):
        h = self.open(path, mode)
        self.write(h, data.encode())
        self.close(h)

def code(f, *args):
    try:
        return f(*args)
    except Refused as refused:
        return refused.args[0]
    except OSError as error:
        return type(error).__name__

def tell(value):
    print(json.dumps(value), flush=True)

proxy = Client()
"#;
