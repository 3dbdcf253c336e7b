//! A tool and its host on two real pipes, each on a thread of its own.
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::thread;

use jig_proto::vfs::host::{self, ToolLine};
use jig_proto::vfs::{
    Capabilities, ErrorKind, ErrorReply, Frame, Init, LineBuffer, Reading, ToolInput, VfsReply,
    VfsRequest,
};
use jig_proto::{Content, Question, StateName, ToolError, ToolState};
use jig_tool::vfs::{Host, HostError, Pipes, serve};
use serde_json::{Value, json};

/// A host that answers every line before it reads the next one, which is the least patient that a
/// tool can meet.
struct PlainHost {
    from_tool: PipeReader,
    to_tool: PipeWriter,
    lines: LineBuffer,
    chunk: Vec<u8>,
    unread: Vec<u8>,
    reading: Reading,
}

impl PlainHost {
    /// Starts `work` as a tool, and gives its host.
    fn start(
        capabilities: Capabilities,
        work: impl FnOnce(&mut Host) -> Result<Content, ToolError> + Send + 'static,
    ) -> (Self, thread::JoinHandle<ExitCode>) {
        let init = Init {
            capabilities,
            ..Init::new(ToolInput {
                name: "t".to_owned(),
                ..ToolInput::default()
            })
        };
        Self::start_with(init, work)
    }

    /// The same, for a tool that its caller drives.
    fn start_driven(
        work: impl FnOnce(&mut Host) -> Result<Content, ToolError> + Send + 'static,
    ) -> (Self, thread::JoinHandle<ExitCode>) {
        let init = Init {
            stateful: true,
            ..Init::new(ToolInput::default())
        };
        Self::start_with(init, work)
    }

    fn start_with(
        init: Init,
        work: impl FnOnce(&mut Host) -> Result<Content, ToolError> + Send + 'static,
    ) -> (Self, thread::JoinHandle<ExitCode>) {
        let (from_host, to_tool) = pipe().unwrap();
        let (from_tool, to_host) = pipe().unwrap();
        let tool = thread::spawn(move || {
            let (init, pipes) = Pipes::open(from_host, to_host).unwrap();
            serve(Host::over(init, pipes).unwrap(), work)
        });
        let mut this = Self {
            from_tool,
            to_tool,
            lines: LineBuffer::new(16 * 1024 * 1024),
            chunk: vec![0; 4096],
            unread: Vec::new(),
            reading: Reading::PLAIN,
        };
        this.send(|line| host::write_init(line, &init));
        (this, tool)
    }

    fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut line = Vec::new();
        write(&mut line);
        self.to_tool.write_all(&line).unwrap();
    }

    /// The next line of the tool, handed to `hear` with this host.
    fn next<T>(&mut self, hear: impl FnOnce(&mut Self, ToolLine<'_>) -> T) -> T {
        let line = loop {
            let mut input = self.unread.as_slice();
            let line = match self.lines.next(&mut input) {
                Some(Frame::Line(line)) => Some(line.to_vec()),
                Some(other) => panic!("{other:?}"),
                None => None,
            };
            self.unread = input.to_vec();
            if let Some(line) = line {
                break line;
            }
            let length = self.from_tool.read(&mut self.chunk).unwrap();
            assert!(length > 0, "the tool ended without a word");
            self.unread.extend_from_slice(&self.chunk[..length]);
        };
        let reading = self.reading;
        hear(self, host::read_line(&line, &reading).unwrap())
    }

    /// Answers reads with `content` of the path, until the tool is done.
    fn serve_reads(&mut self, content: impl Fn(&str) -> String) -> Result<Content, ToolError> {
        loop {
            let ended = self.next(|host, line| match line {
                ToolLine::Ready(ready) => {
                    host.reading = host.reading.with_blobs(ready.capabilities.blobs);
                    None
                }
                ToolLine::Request { id, request } => {
                    let VfsRequest::FsRead(read) = &request else {
                        panic!("{request:?}");
                    };
                    let reply = VfsReply::read(content(&read.path));
                    host.send(|line| {
                        if read.blob {
                            let blob = host::write_reply_with_blob(line, &id, &reply);
                            line.extend_from_slice(blob);
                        } else {
                            host::write_reply(line, &id, &reply);
                        }
                    });
                    None
                }
                ToolLine::Result(response) => Some(Ok(response.value.content)),
                ToolLine::Error(error) => Some(Err(error)),
                other => panic!("{other:?}"),
            });
            if let Some(ended) = ended {
                return ended;
            }
        }
    }
}

const COUNT: usize = 1_000;

/// Reads a thousand files whose paths and contents together fill every pipe.
fn check_many(capabilities: Capabilities) {
    let (mut host, tool) = PlainHost::start(capabilities, |host| {
        let long = "d".repeat(2_000);
        let paths: Vec<String> = (0..COUNT).map(|index| format!("{long}/{index}")).collect();
        let mut sizes = vec![0; COUNT];
        host.read_each(&paths, |index, file| {
            let file = file.expect("it can be read");
            let (number, _) = file.content.as_text().unwrap().split_once('\n').unwrap();
            assert_eq!(number, index.to_string());
            sizes[index] = file.size;
        })?;
        Ok(sizes
            .iter()
            .filter(|size| **size > 0)
            .count()
            .to_string()
            .into())
    });
    let ended = host.serve_reads(|path| {
        let (_, number) = path.rsplit_once('/').unwrap();
        format!("{number}\n{}", "c".repeat(4_096))
    });
    assert_eq!(ended, Ok(COUNT.to_string().into()));
    assert_eq!(tool.join().unwrap(), ExitCode::SUCCESS);
}

#[test]
fn a_thousand_files_are_read_without_a_standstill() {
    check_many(Capabilities::PLAIN);
    check_many(Capabilities {
        concurrency: NonZeroU32::new(64),
        ..Capabilities::PLAIN
    });
    check_many(Capabilities {
        concurrency: NonZeroU32::new(u32::MAX),
        blobs: true,
        ..Capabilities::PLAIN
    });
}

#[test]
fn v110_a_cancel_reaches_a_tool_that_waits() {
    let (mut host, tool) = PlainHost::start(Capabilities::PLAIN, |host| {
        let error = host.read("slow").expect_err("it is cancelled");
        assert!(error.is_cancelled() && host.is_cancelled());
        Err(error.into())
    });
    host.next(|host, line| {
        assert!(matches!(line, ToolLine::Request { .. }));
        host.send(host::write_cancel);
    });
    host.next(|_, line| match line {
        ToolLine::Error(error) => assert_eq!(error.message, "the host cancelled the call"),
        other => panic!("{other:?}"),
    });
    assert_eq!(tool.join().unwrap(), ExitCode::FAILURE);
}

#[test]
fn s034_input_that_came_before_a_question_is_no_answer() {
    let (mut host, tool) = PlainHost::start(Capabilities::PLAIN, |host| {
        assert!(host.exists("a")?);
        let sure = host.confirm(Question::yes_no("sure", "Sure?"))?;
        let inputs = [host.wait_apply()?, host.wait_apply()?];
        assert_eq!(host.try_apply()?, None);
        Ok(format!("{sure} {inputs:?}").into())
    });
    host.next(|host, line| {
        let ToolLine::Request { id, .. } = line else {
            panic!("{line:?}");
        };
        host.send(|line| {
            host::write_apply(line, &json!("first"), None);
            host::write_apply(line, &json!(false), None);
            host::write_reply(line, &id, &VfsReply::Exists(true));
        });
    });
    host.next(|host, line| {
        assert!(matches!(line, ToolLine::State(_)), "{line:?}");
        host.send(|line| host::write_apply(line, &json!(true), None));
    });
    let ended = host.serve_reads(|_| String::new());
    let expected = r#"true [String("first"), Bool(false)]"#;
    assert_eq!(ended, Ok(expected.into()));
    assert_eq!(tool.join().unwrap(), ExitCode::SUCCESS);
}

/// Neither input that the tool had not read when it asked, nor such that crossed the question.
#[test]
fn v122_a_driven_tool_takes_only_what_names_its_question() {
    type Way = fn(&mut Host) -> Result<Value, HostError>;
    fn put(host: &mut Host) -> Result<(), HostError> {
        host.state(ToolState::waiting(Question::yes_no("sure", "Sure?")))
    }
    let ways: [Way; 5] = [
        |host| host.ask(Question::yes_no("sure", "Sure?")),
        |host| Ok(host.confirm(Question::yes_no("sure", "Sure?"))?.into()),
        |host| put(host).and_then(|()| host.wait_answer("sure")),
        |host| {
            put(host)?;
            host.state(ToolState::running("It goes on meanwhile."))?;
            host.wait_answer("sure")
        },
        |host| put(host).and_then(|()| host.wait_apply()),
    ];
    for (index, way) in ways.into_iter().enumerate() {
        let (mut host, tool) = PlainHost::start_driven(move |host| {
            host.state(ToolState::running("begun"))?;
            let mut taken = vec![way(host)?];
            for _ in 0..4 {
                taken.push(host.wait_apply()?);
            }
            Ok(Value::from(taken).to_string().into())
        });
        host.next(|host, line| {
            assert!(matches!(line, ToolLine::State(_)), "{line:?}");
            host.send(|line| host::write_apply(line, &json!(true), None));
        });
        host.next(|host, line| {
            let ToolLine::State(state) = line else {
                panic!("{line:?}");
            };
            assert_eq!(state.value.status(), StateName::Waiting);
            host.send(|line| {
                host::write_apply(line, &json!("crossed"), None);
                host::write_apply(line, &json!("other"), Some("color"));
                host::write_apply(line, &json!(false), Some("sure"));
                host::write_apply(line, &json!("later"), None);
            });
        });
        let result = loop {
            let result = host.next(|_, line| match line {
                ToolLine::State(_) => None,
                ToolLine::Result(response) => Some(response.value.content.to_text()),
                other => panic!("way {index}: {other:?}"),
            });
            if let Some(result) = result {
                break result;
            }
        };
        let expected = r#"[false,true,"crossed","other","later"]"#;
        assert_eq!(result, expected, "way {index}");
        assert_eq!(tool.join().unwrap(), ExitCode::SUCCESS);
    }
}

#[test]
fn an_answer_is_waited_for_only_if_its_question_is_open() {
    let (mut host, tool) = PlainHost::start_driven(|host| {
        let error = host.wait_answer("sure").unwrap_err();
        assert_eq!(error.kind, ErrorKind::InvalidParams);
        host.state(ToolState::waiting(Question::yes_no("sure", "Sure?")))?;
        assert!(host.wait_answer("other").is_err());
        host.wait_answer("sure")?;
        Err(host.wait_answer("sure").unwrap_err().into())
    });
    host.next(|host, line| {
        assert!(matches!(line, ToolLine::State(_)), "{line:?}");
        host.send(|line| host::write_apply(line, &json!(true), Some("sure")));
    });
    let ended = host.serve_reads(|_| String::new());
    assert_eq!(
        ended.unwrap_err().message,
        "the question `sure` is not open"
    );
    assert_eq!(tool.join().unwrap(), ExitCode::FAILURE);
}

#[test]
fn v121_a_stateful_tool_goes_from_state_to_state() {
    let (mut host, tool) = PlainHost::start(Capabilities::PLAIN, |host| {
        host.state(ToolState::running("hunk 1"))?;
        let input = host.wait_apply()?;
        assert_eq!(input, json!("y"));
        let sure = host.confirm(Question::yes_no("sure", "Sure?"))?;
        Ok(format!("sure: {sure}").into())
    });
    let mut expect_state = |expected: ToolState, answer: Value| {
        host.next(|host, line| {
            let ToolLine::State(state) = line else {
                panic!("{line:?}");
            };
            assert_eq!(state.value, expected);
            host.send(|line| host::write_apply(line, &answer, None));
        });
    };
    expect_state(ToolState::running("hunk 1"), json!("y"));
    let question = Question::yes_no("sure", "Sure?");
    expect_state(ToolState::waiting(question), json!(true));
    assert_eq!(host.serve_reads(|_| String::new()), Ok("sure: true".into()));
    assert_eq!(tool.join().unwrap(), ExitCode::SUCCESS);
}

#[test]
fn a_denial_of_one_file_is_no_end_of_the_others() {
    let capabilities = Capabilities {
        concurrency: NonZeroU32::new(2),
        ..Capabilities::PLAIN
    };
    let (mut host, tool) = PlainHost::start(capabilities, |host| {
        let mut seen = vec![String::new(); 3];
        host.read_each(&["a", "b", "c"], |index, file| {
            seen[index] = match file {
                Ok(file) => file.content.as_text().unwrap().to_owned(),
                Err(error) => error.kind.to_string(),
            };
        })?;
        Ok(seen.join(" ").into())
    });
    host.next(|_, line| assert!(matches!(line, ToolLine::Ready(_))));
    for _ in 0..3 {
        host.next(|host, line| match line {
            ToolLine::Request {
                id,
                request: VfsRequest::FsRead(read),
            } => match read.path.as_ref() {
                "b" => {
                    let error = ErrorReply::sensitive("b");
                    host.send(|line| host::write_error(line, Some(&id), &error));
                }
                path => {
                    let reply = VfsReply::read(path.to_uppercase());
                    host.send(|line| host::write_reply(line, &id, &reply));
                }
            },
            other => panic!("{other:?}"),
        });
    }
    assert_eq!(
        host.serve_reads(|_| String::new()),
        Ok("A sensitive C".into())
    );
    assert_eq!(tool.join().unwrap(), ExitCode::SUCCESS);
}

#[test]
fn a_host_that_is_gone_is_an_error_of_the_tool() {
    let (host, tool) = PlainHost::start(Capabilities::PLAIN, |host| {
        let error = host.read("a").expect_err("nobody is there");
        assert_eq!(error.message, "the connection to the host is lost");
        Err(error.into())
    });
    drop(host);
    assert_eq!(tool.join().unwrap(), ExitCode::FAILURE);
}
