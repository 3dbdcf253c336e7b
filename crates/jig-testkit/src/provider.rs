//! A provider of language models on the loopback interface.
//!
//! It speaks HTTP/1.1 and the chat-completions protocol, streams included, and does as it is told: answer, refuse,
//! be slow, fall silent, hang up, send too much, talk nonsense. What it was asked can be looked at afterwards.
//!
//! ```
//! use jig_testkit::provider::{Answer, Provider};
//!
//! let provider = Provider::start();
//! // The first request is refused, the second answered; all others get the same answer again.
//! provider.script([Answer::error(503, "busy"), Answer::text("Hello.")]);
//! provider.always(Answer::text("Hello.").usage(12, 4, 3));
//! println!("base_url = \"{}\"", provider.url());
//! assert!(provider.requests().is_empty());
//! ```

mod answer;
mod gate;

use std::collections::VecDeque;
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

pub use answer::Answer;
pub use gate::Gate;

/// The server. It stops when it is dropped: all connections are closed and all its threads are gone then.
#[derive(Debug)]
pub struct Provider {
    address: SocketAddr,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Such as `POST`.
    pub method: String,
    /// Such as `/v1/chat/completions`.
    pub path: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl Recorded {
    /// The first header of this name, in any case.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(one, _)| one.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is none.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }

    /// Whether a stream was asked for.
    pub fn wants_stream(&self) -> bool {
        self.json()["stream"] == true
    }
}

impl Provider {
    /// Starts a server that answers everything with the text `Hello.`, in the form that was asked for.
    ///
    /// # Panics
    ///
    /// If the loopback interface has no port left.
    #[must_use]
    pub fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port of the machine");
        let address = listener.local_addr().expect("the address of a listener");
        let shared = Arc::new(Shared::default());
        let serving = Arc::clone(&shared);
        let acceptor = thread::spawn(move || serving.accept(&listener));
        Self {
            address,
            shared,
            acceptor: Some(acceptor),
        }
    }

    /// The base URL, such as `http://127.0.0.1:40123/v1`.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Gives these answers to the next requests, one each, before any that is given [`always`](Self::always).
    pub fn script(&self, answers: impl IntoIterator<Item = Answer>) {
        self.shared.state().script.extend(answers);
    }

    /// Gives this answer whenever the script is over.
    pub fn always(&self, answer: Answer) {
        self.shared.state().always = answer;
    }

    /// The requests that have come so far, whole ones only.
    pub fn requests(&self) -> Vec<Recorded> {
        self.shared.state().requests.clone()
    }

    /// Waits until this many requests have come, and gives all that have.
    ///
    /// # Panics
    ///
    /// If they have not come within a minute.
    pub fn wait_for_requests(&self, count: usize) -> Vec<Recorded> {
        let state = self.shared.state();
        let too_few = |state: &mut State| state.requests.len() < count;
        let (state, waited) = self
            .shared
            .came
            .wait_timeout_while(state, PATIENCE, too_few)
            .unwrap_or_else(PoisonError::into_inner);
        let come = state.requests.len();
        assert!(
            !waited.timed_out(),
            "{come} of {count} requests have come after {PATIENCE:?}"
        );
        state.requests.clone()
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(self.address);
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

#[derive(Debug, Default)]
struct Shared {
    over: AtomicBool,
    state: Mutex<State>,
    came: Condvar,
}

#[derive(Debug)]
struct State {
    script: VecDeque<Answer>,
    always: Answer,
    requests: Vec<Recorded>,
}

impl Default for State {
    fn default() -> Self {
        Self {
            script: VecDeque::new(),
            always: Answer::text("Hello."),
            requests: Vec::new(),
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Serves until the end, and ends what it has begun.
    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        let mut open: Vec<(TcpStream, JoinHandle<()>)> = Vec::new();
        for stream in listener.incoming() {
            if self.over.load(Ordering::SeqCst) {
                break;
            }
            open.retain(|(_, thread)| !thread.is_finished());
            let Ok(stream) = stream else { continue };
            let Ok(ours) = stream.try_clone() else {
                continue;
            };
            let shared = Arc::clone(self);
            let serving = thread::spawn(move || {
                // Whatever goes wrong is the client's doing, and its test says so.
                let _ = shared.serve(&stream);
                let _ = stream.shutdown(Shutdown::Both);
            });
            open.push((ours, serving));
        }
        for (stream, thread) in open {
            let _ = stream.shutdown(Shutdown::Both);
            let _ = thread.join();
        }
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let request = read_request(stream)?;
        let answer = {
            let mut state = self.state();
            state.requests.push(request.clone());
            let next = state.script.pop_front();
            next.unwrap_or_else(|| state.always.clone())
        };
        self.came.notify_all();
        answer.give(stream, &request, &self.over)
    }
}

fn read_request(mut stream: &TcpStream) -> io::Result<Recorded> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            let mut request = read_head(&bytes[..end]);
            let length = request.header("content-length");
            let length = length.and_then(|length| length.parse().ok()).unwrap_or(0);
            let mut body = bytes.split_off(end + 4);
            while body.len() < length {
                let count = stream.read(&mut buffer)?;
                if count == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                body.extend_from_slice(&buffer[..count]);
            }
            request.body = String::from_utf8_lossy(&body).into_owned();
            return Ok(request);
        }
        let count = stream.read(&mut buffer)?;
        if count == 0 || bytes.len() > MAX_HEAD {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        bytes.extend_from_slice(&buffer[..count]);
    }
}

fn read_head(head: &[u8]) -> Recorded {
    let head = String::from_utf8_lossy(head);
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let mut word = || words.next().unwrap_or_default().to_owned();
    let (method, path) = (word(), word());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers.map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()));
    Recorded {
        method,
        path,
        headers: headers.collect(),
        body: String::new(),
    }
}

/// How long a test waits for what must happen: long, since a machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

const MAX_HEAD: usize = 1024 * 1024;

#[cfg(test)]
mod tests;
