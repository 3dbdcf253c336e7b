//! A call that is given up ends at once, wherever it is, and leaves nothing behind.

#![cfg(unix)]
#![expect(
    clippy::disallowed_methods,
    reason = "the threads of the process are listed by the system"
)]

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::{Broker, CancelToken, Chat, LlmError, Resolver};
use jig_testkit::provider::Answer;
use jig_testkit::until;

use crate::llm::world::{World, most, question, streamed, used};

/// At once, on a machine that is busy with other things.
const PROMPTLY: Duration = Duration::from_secs(6);

/// Gives a call up when `ready` returns, and expects it to end at once.
fn give_up(broker: &Broker, chat: &Chat, ready: impl FnOnce()) {
    let cancel = CancelToken::new();
    let (result, time) = thread::scope(|scope| {
        let call = scope.spawn(|| broker.chat(chat, &cancel, &mut |_| {}));
        ready();
        let start = Instant::now();
        cancel.cancel();
        (call.join().unwrap(), start.elapsed())
    });
    assert_eq!(result, Err(LlmError::Cancelled));
    assert!(time < PROMPTLY, "{time:?}");
}

/// Waits until no thread of a call is left.
fn no_thread_is_left() {
    if cfg!(target_os = "linux") {
        until("no thread is left", || threads() == 0);
    }
}

fn threads() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").unwrap();
    let names =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("comm")).ok());
    names.filter(|name| name.trim() == "jig-llm").count()
}

#[test]
fn while_the_provider_is_silent() {
    let world = World::new().always(Answer::silence());
    for chat in [question("x"), streamed("x")] {
        let broker = world.broker();
        let before = world.provider.requests().len();
        give_up(&broker, &chat, || {
            world.provider.wait_for_requests(before + 1);
        });
        assert_eq!(used(&broker), most("x", 100));
    }
    no_thread_is_left();
}

#[test]
fn in_the_middle_of_an_answer() {
    let word = r#"{"choices":[{"delta":{"content":"word "}}]}"#;
    let length = format!("data: {word}\n\n").len();
    let world = World::new().always(Answer::events([word, word]).hanging_after(length));
    let broker = world.broker();
    let cancel = CancelToken::new();
    let (came, comes) = mpsc::channel();
    let result = thread::scope(|scope| {
        let call = scope.spawn(|| {
            broker.chat(&streamed("x"), &cancel, &mut |text| {
                came.send(text.to_owned()).unwrap();
            })
        });
        assert_eq!(
            comes.recv_timeout(Duration::from_secs(60)).unwrap(),
            "word "
        );
        let start = Instant::now();
        cancel.cancel();
        let result = call.join().unwrap();
        assert!(start.elapsed() < PROMPTLY);
        result
    });
    assert_eq!(result, Err(LlmError::Cancelled));
    assert_eq!(used(&broker), most("x", 100));
    no_thread_is_left();
}

/// A body without a length is complete when its connection ends, and giving up ends it: still no answer.
#[test]
fn an_answer_that_was_cut_by_giving_up_is_none() {
    let whole = r#"{"choices":[{"message":{"content":"hi"}}]}"#;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    let world = World::new();
    world
        .provider
        .always(Answer::raw(format!("{head}{whole}")).hanging_after(10_000));
    let broker = world.broker();
    give_up(&broker, &question("x"), || {
        world.provider.wait_for_requests(1);
    });
    no_thread_is_left();
}

#[test]
fn between_two_attempts() {
    let world = World::new().with(|s| {
        s.backoff = Duration::from_secs(40);
        s.total_time = Duration::from_secs(600);
    });
    world.provider.always(Answer::error(503, "busy"));
    let broker = world.broker();
    give_up(&broker, &question("x"), || {
        world.provider.wait_for_requests(1);
        // The wait has begun when the thread of the attempt is gone.
        no_thread_is_left();
    });
    assert_eq!(used(&broker), 0.0);
}

#[test]
fn before_it_begins() {
    let world = World::new();
    let broker = world.broker();
    let cancel = CancelToken::new();
    cancel.cancel();
    let result = broker.chat(&question("x"), &cancel, &mut |_| {});
    assert_eq!(result, Err(LlmError::Cancelled));
    assert!(world.provider.requests().is_empty());
    assert_eq!(used(&broker), 0.0);
}

/// A listener whose queue is full: the system drops what comes, and connecting takes for ever.
fn full_listener() -> (SocketAddr, OwnedFd, Vec<TcpStream>) {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, 0).unwrap();
    let listener = std::net::TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(300)) {
        waiting.push(stream);
        assert!(waiting.len() < 100, "the queue does not fill");
    }
    (address, listener.into(), waiting)
}

#[test]
fn while_connecting() {
    let (address, _listener, _waiting) = full_listener();
    let world = World::new().with(|s| {
        s.base_url = format!("http://{address}/v1").parse().unwrap();
        s.connect_time = PROMPTLY + Duration::from_secs(1);
    });
    let broker = world.broker();
    give_up(&broker, &question("x"), || {
        if cfg!(target_os = "linux") {
            until("the call has begun", || threads() > 0);
        }
    });
    // Nothing was sent, so nothing is counted.
    assert_eq!(used(&broker), 0.0);
    no_thread_is_left();
    // Without giving up, the time for connecting ends it.
    let broker = world
        .with(|s| s.connect_time = Duration::from_millis(200))
        .broker();
    let result = broker.chat(&question("x"), &CancelToken::new(), &mut |_| {});
    assert_eq!(result, Err(LlmError::Timeout));
    assert_eq!(used(&broker), 0.0);
}

/// A resolver that answers when it is told to.
#[derive(Debug)]
struct Waiting {
    asked: Mutex<mpsc::Sender<()>>,
    go_on: Mutex<mpsc::Receiver<()>>,
}

impl Resolver for Waiting {
    fn resolve(&self, _: &str) -> io::Result<Vec<IpAddr>> {
        self.asked.lock().unwrap().send(()).unwrap();
        let _ = self.go_on.lock().unwrap().recv();
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn while_the_name_is_looked_up() {
    let (asked, is_asked) = mpsc::channel();
    let (end, go_on) = mpsc::channel();
    let mut world = World::new();
    world.settings.base_url = "https://provider.test/v1".parse().unwrap();
    world.resolver = Arc::new(Waiting {
        asked: Mutex::new(asked),
        go_on: Mutex::new(go_on),
    });
    let broker = world.broker();
    give_up(&broker, &question("x"), || is_asked.recv().unwrap());
    assert_eq!(used(&broker), 0.0);
    // Nothing interrupts a look-up; its thread ends with it.
    drop(end);
    no_thread_is_left();
}
