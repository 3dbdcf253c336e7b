//! The wire: what the host has written beforehand is read while the tool asks.

use std::io::{self, Cursor, Read, Write};
use std::sync::{Arc, Mutex};

use jig_proto::vfs::{Capabilities, ErrorKind, FsRead, FsWrite, Ready, VfsReply, VfsRequest};
use serde_json::json;

use super::Pipes;
use crate::vfs::{ConnectError, Notification, RequestError, Transport};

const INIT: &str = r#"{"jsonrpc":"2.0","method":"init","params":{"tool":{"name":"t"},"protocol_version":"0.1.0"}}"#;

/// What the tool has written.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<Vec<u8>>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().push(bytes.to_vec());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Written {
    /// One text per write.
    fn take(&self) -> Vec<String> {
        let writes = std::mem::take(&mut *self.0.lock().unwrap());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        writes.into_iter().map(text).collect()
    }
}

/// Gives its bytes in pieces of `size`.
struct Pieces {
    bytes: Cursor<Vec<u8>>,
    size: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.size.min(buffer.len());
        self.bytes.read(&mut buffer[..size])
    }
}

type Ends = (Pipes<Pieces, Written>, Written);

/// A tool whose host has sent `init` and these lines.
fn pipes_in_pieces(lines: &str, size: usize) -> Ends {
    let bytes = Cursor::new(format!("{INIT}\n{lines}").into_bytes());
    let written = Written::default();
    let (_, pipes) = Pipes::open(Pieces { bytes, size }, written.clone()).unwrap();
    (pipes, written)
}

fn pipes(lines: &str) -> Ends {
    pipes_in_pieces(lines, usize::MAX)
}

fn agree(pipes: &mut Pipes<Pieces, Written>, capabilities: Capabilities) {
    let ready = Ready {
        capabilities,
        ..Ready::default()
    };
    pipes.notify(&Notification::Ready(&ready)).unwrap();
}

fn read(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsRead(FsRead::new(path))
}

fn reply(id: u64, content: &str) -> String {
    let size = content.len();
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":"{content}","size":{size}}}}}"#)
        + "\n"
}

#[test]
fn v165_the_first_line_must_be_init() {
    let check = |lines: &str, expected: &str| {
        let opened = Pipes::open(Cursor::new(lines.to_owned()), io::sink());
        let found = match opened {
            Ok((init, _)) => init.tool.name,
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected, "{lines}");
    };
    check(&format!("{INIT}\n"), "t");
    check(INIT, "t");
    check(&format!("\n\r\n{INIT}\r\n"), "t");
    let new = r#"{"jsonrpc":"2.0","method":"hello"}"#;
    check(&format!("{new}\n{INIT}\n"), "t");
    let no_host = ConnectError::NoHost.to_string();
    check("", &no_host);
    check("\n\n", &no_host);
    check("what?\n", "the first line of the host can't be read");
    check(
        r#"{"jsonrpc":"2.0","method":"init","params":{}}"#,
        "the first line of the host can't be read",
    );
    let cancel = r#"{"jsonrpc":"2.0","method":"cancel"}"#;
    check(cancel, "the first line of the host is not `init`");
}

#[test]
fn a_request_is_one_write_and_its_answer_may_come_in_pieces() {
    for size in [1, 2, 7, 64, usize::MAX] {
        let lines = reply(1, "one") + &reply(2, "two");
        let (mut pipes, written) = pipes_in_pieces(&lines, size);
        assert_eq!(pipes.request(&read("a")).unwrap(), VfsReply::read("one"));
        assert_eq!(pipes.request(&read("b")).unwrap(), VfsReply::read("two"));
        let line = |id: u32, path: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"fs.read","params":{{"path":"{path}"}}}}"#
            ) + "\n"
        };
        assert_eq!(written.take(), [line(1, "a"), line(2, "b")]);
    }
}

#[test]
fn v171_what_is_new_is_passed_over() {
    let lines = [
        r#"{"jsonrpc":"2.0","method":"pending","params":{"request_id":1,"reason":"r"}}"#,
        r#"{"jsonrpc":"2.0","method":"progress","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":99,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":{"code":-32001}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":"a","size":1,"colour":"red"},"more":1}"#,
    ];
    let (mut pipes, _) = pipes(&lines.join("\n"));
    assert_eq!(pipes.request(&read("a")).unwrap(), VfsReply::read("a"));
}

#[test]
fn an_error_is_the_answer_to_its_request() {
    let check = |line: &str, expected: ErrorKind| {
        let (mut pipes, _) = pipes(&format!("{line}\n{}", reply(2, "b")));
        match pipes.request(&read("a")) {
            Err(RequestError::Refused(error)) => assert_eq!(error.kind(), expected),
            other => panic!("{other:?}"),
        }
        assert_eq!(pipes.request(&read("b")).unwrap(), VfsReply::read("b"));
    };
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"no"}}"#,
        ErrorKind::NotFound,
    );
    // The host could not read the request, so it could not say which.
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no","data":{"kind":"line_too_long"}}}"#,
        ErrorKind::LineTooLong,
    );
}

#[test]
fn a_host_in_disorder_is_an_error_and_no_panic() {
    let check = |lines: &str, expected: &str| {
        let (mut pipes, _) = pipes(lines);
        let error = pipes.request(&read("a")).unwrap_err();
        assert_eq!(error.to_string(), expected, "{lines}");
    };
    let nonsense = "the host sent what can't be understood";
    let lost = "the connection to the host is lost";
    check("", lost);
    check(r#"{"jsonrpc":"2.0","id":1,"resul"#, nonsense);
    check("nonsense\n", nonsense);
    check("[]\n", nonsense);
    check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, nonsense);
    check(r#"{"jsonrpc":"2.0","id":1}"#, nonsense);
}

#[test]
fn v110_a_cancel_ends_the_wait_and_a_late_answer_is_passed_over() {
    let cancel = r#"{"jsonrpc":"2.0","method":"cancel"}"#;
    let (mut pipes, _) = pipes(&format!(
        "{cancel}\n{}{}",
        reply(1, "late"),
        reply(2, "two")
    ));
    assert!(!pipes.is_cancelled());
    let cancelled = pipes.request(&read("a"));
    assert!(matches!(cancelled, Err(RequestError::Cancelled)));
    assert!(pipes.is_cancelled());
    // Cleaning up still works.
    assert_eq!(pipes.request(&read("b")).unwrap(), VfsReply::read("two"));
}

#[test]
fn v122_input_that_comes_early_is_kept() {
    let apply = |input: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"apply","params":{{"input":{input}}}}}"#) + "\n"
    };
    let lines = apply("\"y\"") + &reply(1, "a") + &apply("null") + &apply("[1]");
    let (mut pipes, _) = pipes(&lines);
    assert_eq!(pipes.request(&read("a")).unwrap(), VfsReply::read("a"));
    assert_eq!(pipes.wait_apply().unwrap(), json!("y"));
    assert_eq!(pipes.wait_apply().unwrap(), json!(null));
    assert_eq!(pipes.wait_apply().unwrap(), json!([1]));
    assert!(matches!(
        pipes.wait_apply(),
        Err(RequestError::Disconnected(_))
    ));
}

const BLOBS: Capabilities = Capabilities {
    blobs: true,
    ..Capabilities::PLAIN
};

#[test]
fn content_may_follow_as_raw_bytes() {
    let blob = |id: u64, content: &str| {
        let size = content.len();
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"size":{size}}},"blob":{size}}}"#)
            + "\n"
            + content
    };
    for size in [1, 5, usize::MAX] {
        let lines = blob(1, "a\nb") + &blob(2, "") + &blob(77, "not\nours") + &reply(3, "c");
        let (mut pipes, written) = pipes_in_pieces(&lines, size);
        agree(&mut pipes, BLOBS);
        assert_eq!(pipes.request(&read("a")).unwrap(), VfsReply::read("a\nb"));
        assert_eq!(pipes.request(&read("b")).unwrap(), VfsReply::read(""));
        assert_eq!(pipes.request(&read("c")).unwrap(), VfsReply::read("c"));
        written.take();
    }
}

#[test]
fn content_is_sent_as_raw_bytes_where_that_was_agreed_upon() {
    let done = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let large = "x".repeat(super::CHUNK_BYTES + 1);
    for content in ["", "a\nb", &large] {
        let (mut pipes, written) = pipes(done);
        agree(&mut pipes, BLOBS);
        written.take();
        let write = VfsRequest::FsWrite(FsWrite::new("a", content));
        assert_eq!(pipes.request(&write).unwrap(), VfsReply::DONE);
        let length = content.len();
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{{"path":"a"}},"blob":{length}}}"#
        );
        let writes = written.take();
        assert_eq!(writes.concat(), format!("{line}\n{content}"));
        assert_eq!(writes.len(), 1 + usize::from(length > super::CHUNK_BYTES));
    }
}

/// Reads so many files with at most `most` open at once, the answers coming backwards in groups.
fn check_each(count: usize, most: u32) {
    let group = most as usize / 2 + 1;
    let mut ids: Vec<u64> = (1..=count as u64).collect();
    for ids in ids.chunks_mut(group) {
        ids.reverse();
    }
    let lines: String = ids.iter().map(|id| reply(*id, &format!("c{id}"))).collect();
    let (mut pipes, written) = pipes(&lines);
    agree(
        &mut pipes,
        Capabilities {
            concurrency: std::num::NonZeroU32::new(most),
            ..Capabilities::PLAIN
        },
    );
    written.take();
    let names: Vec<String> = (0..count).map(|index| format!("f{index}")).collect();
    let mut found = vec![None; count];
    let mut requests = names.iter().map(|name| read(name));
    let ended = pipes.request_each(&mut requests, &mut |index, answer| {
        assert!(found[index].replace(answer.unwrap().reply).is_none());
    });
    ended.unwrap();
    for (index, reply) in found.iter().enumerate() {
        let content = format!("c{}", index + 1);
        assert_eq!(reply.as_ref(), Some(&VfsReply::read(content.as_str())));
    }
    let open_at_once = written
        .take()
        .iter()
        .map(|write| write.lines().count())
        .max();
    assert!(open_at_once.unwrap_or(0) <= most as usize);
}

#[test]
fn many_files_are_read_with_several_requests_open() {
    for (count, most) in [(0, 1), (1, 1), (5, 1), (7, 2), (100, 8), (100, 64), (3, 64)] {
        check_each(count, most);
    }
}

#[test]
fn v173_without_concurrency_one_request_is_open_at_a_time() {
    let lines = reply(1, "a") + &reply(2, "b");
    let (mut pipes, written) = pipes(&lines);
    let mut requests = [read("a"), read("b")].into_iter();
    pipes.request_each(&mut requests, &mut |_, _| ()).unwrap();
    let writes = written.take();
    assert_eq!(writes.len(), 2, "{writes:?}");
}

#[test]
fn a_cancel_among_many_answers_ends_it() {
    let cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n";
    let (mut pipes, _) = pipes(&(reply(1, "a") + cancel));
    let mut answered = 0;
    let mut requests = [read("a"), read("b"), read("c")].into_iter();
    let ended = pipes.request_each(&mut requests, &mut |_, _| answered += 1);
    assert!(matches!(ended, Err(RequestError::Cancelled)));
    assert_eq!(answered, 1);
}

#[cfg(target_os = "linux")]
mod files {
    use std::io::IoSlice;
    use std::mem::MaybeUninit;
    use std::os::fd::{AsFd as _, OwnedFd};
    use std::os::unix::net::UnixStream;

    use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

    use super::*;
    use crate::vfs::Descriptors;

    /// Passes a pipe that holds `content` and its end, as if it were a file.
    fn pass(socket: &UnixStream, content: &str) {
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(content.as_bytes()).unwrap();
        let files = [reader.as_fd()];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        assert!(control.push(SendAncillaryMessage::ScmRights(&files)));
        let byte = [IoSlice::new(&[0])];
        sendmsg(socket, &byte, &mut control, SendFlags::empty()).unwrap();
    }

    fn passed(id: u64) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"fd":true,"size":1}}}}"#) + "\n"
    }

    fn open(pipes: &mut Pipes<Pieces, Written>) -> String {
        let mut content = String::new();
        let mut file = pipes.open(&read("a")).unwrap().file.unwrap();
        file.read_to_string(&mut content).unwrap();
        content
    }

    #[test]
    fn a_file_whose_request_was_given_up_does_not_become_another_ones() {
        let cancel = "{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n";
        let lines = passed(1) + cancel + &passed(2) + &passed(3);
        let (host, socket) = UnixStream::pair().unwrap();
        let (pipes, _) = pipes(&lines);
        let mut pipes = pipes.with_descriptors(Descriptors::from(OwnedFd::from(socket)));
        assert!(pipes.receives_files());
        for content in ["one", "two", "three"] {
            pass(&host, content);
        }
        assert_eq!(open(&mut pipes), "one");
        assert!(matches!(
            pipes.request(&read("a")),
            Err(RequestError::Cancelled)
        ));
        assert_eq!(open(&mut pipes), "three");
    }

    #[test]
    fn a_file_that_is_told_of_but_not_there_is_an_error_and_no_wait() {
        let (host, socket) = UnixStream::pair().unwrap();
        let (with_socket, _) = pipes(&passed(1));
        let with_socket = with_socket.with_descriptors(Descriptors::from(OwnedFd::from(socket)));
        let (without, _) = pipes(&passed(1));
        assert!(!without.receives_files());
        for mut pipes in [with_socket, without] {
            let answer = pipes.open(&read("a"));
            assert!(
                matches!(answer, Err(RequestError::Misunderstood(_))),
                "{answer:?}"
            );
        }
        drop(host);
    }
}

#[cfg(unix)]
mod limited {
    use std::os::unix::net::UnixStream;
    use std::time::{Duration, Instant};

    use jig_proto::{Question, ToolState};

    use super::*;
    use crate::vfs::readiness;

    const LONG: Duration = Duration::from_secs(60);

    /// A tool on a socket, and the host's end of it.
    fn on_a_socket() -> (Pipes<UnixStream, io::Sink>, UnixStream) {
        let (mut host, tool) = UnixStream::pair().unwrap();
        host.write_all(format!("{INIT}\n").as_bytes()).unwrap();
        let polled = tool.try_clone().unwrap();
        let (_, pipes) = Pipes::open(tool, io::sink()).unwrap();
        let pipes = pipes.with_readiness(move |limit| readiness::of(&polled, limit));
        (pipes, host)
    }

    fn apply(input: &str) -> Vec<u8> {
        let line = format!(r#"{{"jsonrpc":"2.0","method":"apply","params":{{"input":{input}}}}}"#);
        (line + "\n").into_bytes()
    }

    #[test]
    fn input_is_looked_for_without_blocking() {
        let (mut pipes, mut host) = on_a_socket();
        assert_eq!(pipes.wait_apply_for(Duration::ZERO).unwrap(), None);
        // Half a line is nothing yet.
        let line = apply("\"y\"");
        host.write_all(&line[..20]).unwrap();
        assert_eq!(pipes.wait_apply_for(Duration::ZERO).unwrap(), None);
        host.write_all(&line[20..]).unwrap();
        host.write_all(&apply("null")).unwrap();
        assert_eq!(
            pipes.wait_apply_for(Duration::ZERO).unwrap(),
            Some(json!("y"))
        );
        assert_eq!(
            pipes.wait_apply_for(Duration::ZERO).unwrap(),
            Some(json!(null))
        );
        assert_eq!(pipes.wait_apply_for(Duration::ZERO).unwrap(), None);
        assert!(!pipes.is_cancelled());
    }

    #[test]
    fn input_is_waited_for_no_longer_than_the_limit() {
        let (mut pipes, mut host) = on_a_socket();
        let limit = Duration::from_millis(50);
        let start = Instant::now();
        assert_eq!(pipes.wait_apply_for(limit).unwrap(), None);
        assert!(start.elapsed() >= limit);

        let sender = std::thread::spawn(move || {
            host.write_all(&apply("1")).unwrap();
            host
        });
        assert_eq!(pipes.wait_apply_for(LONG).unwrap(), Some(json!(1)));
        let mut host = sender.join().unwrap();
        assert!(start.elapsed() < LONG);

        host.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n")
            .unwrap();
        let cancelled = pipes.wait_apply_for(Duration::MAX);
        assert!(matches!(cancelled, Err(RequestError::Cancelled)));
        assert!(pipes.is_cancelled());

        drop(host);
        let lost = pipes.wait_apply_for(Duration::ZERO);
        assert!(matches!(lost, Err(RequestError::Disconnected(_))));
    }

    /// The host that does not say what it answers (one-shot calls, and hosts of before).
    #[test]
    fn s034_what_has_come_when_a_question_is_put_is_no_answer() {
        let (mut pipes, mut host) = on_a_socket();
        host.write_all(&apply("\"early\"")).unwrap();
        let question = ToolState::waiting(Question::yes_no("sure", "Sure?"));
        pipes.notify(&Notification::State(&question)).unwrap();
        host.write_all(&apply("true")).unwrap();
        assert_eq!(pipes.wait_answer("sure").unwrap(), json!(true));
        assert_eq!(pipes.wait_apply().unwrap(), json!("early"));

        host.write_all(b"{\"jsonrpc\":\"2.0\",\"method\":\"cancel\"}\n")
            .unwrap();
        let cancelled = pipes.notify(&Notification::State(&question));
        assert!(matches!(cancelled, Err(RequestError::Cancelled)));
        assert!(pipes.is_cancelled());
    }

    /// Where nobody can wait with a limit, what came during a request is found all the same.
    #[test]
    fn without_readiness_nothing_blocks() {
        let lines = String::from_utf8(apply("1")).unwrap() + &reply(1, "a");
        let (mut pipes, _) = pipes(&lines);
        pipes.request(&read("a")).unwrap();
        assert_eq!(pipes.wait_apply_for(LONG).unwrap(), Some(json!(1)));
        assert_eq!(pipes.wait_apply_for(Duration::ZERO).unwrap(), None);
        let refused = pipes.wait_apply_for(LONG);
        assert!(matches!(refused, Err(RequestError::Refused(_))));
    }
}
