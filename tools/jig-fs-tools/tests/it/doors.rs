//! One call through every door: in the process of the host, and over real pipes with whatever both
//! sides may agree upon. All must give the same.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::thread;

use jig_proto::vfs::host::{self, ToolLine};
use jig_proto::vfs::{
    Capabilities, Frame, Init, LineBuffer, Method, Reading, ToolInput, VfsRequest,
};
use jig_proto::{Action, Context};
use jig_tool::vfs::{Host, Pipes, serve};
use jig_tool::{Content, ToolError};
use serde_json::{Map, Value};

use crate::fake::{InProcess, Workspace};

/// A call and the workspace that it meets.
#[derive(Clone, Default)]
pub(crate) struct Call {
    tool: String,
    arguments: Map<String, Value>,
    known_answers: Map<String, Value>,
    options: Map<String, Value>,
    only_shows: bool,
    workspace: Workspace,
}

/// What came of it.
pub(crate) struct Outcome {
    /// The result as text, or `error: ` and the message.
    pub(crate) text: String,
    pub(crate) workspace: Workspace,
}

impl Call {
    pub(crate) fn new(tool: &str, arguments: Value) -> Self {
        Self {
            tool: tool.to_owned(),
            arguments: arguments.as_object().cloned().unwrap(),
            ..Self::default()
        }
    }

    pub(crate) fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref().to_vec();
        self.workspace.files.insert(path.to_owned(), content);
        self
    }

    pub(crate) fn directory(mut self, path: &str) -> Self {
        self.workspace.directories.insert(path.to_owned());
        self
    }

    pub(crate) fn deny(mut self, method: Method, path: &str) -> Self {
        self.workspace.denied.push((method, path.to_owned()));
        self
    }

    pub(crate) fn answer(mut self, answer: impl Into<Value>) -> Self {
        self.workspace.answers.push_back(answer.into());
        self
    }

    pub(crate) fn known_answer(mut self, id: &str, answer: impl Into<Value>) -> Self {
        self.known_answers.insert(id.to_owned(), answer.into());
        self
    }

    pub(crate) fn option(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.options.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn meanwhile(mut self, path: &str, content: &str) -> Self {
        self.workspace.meanwhile = Some((path.to_owned(), content.to_owned()));
        self
    }

    pub(crate) fn only_shows(mut self) -> Self {
        self.only_shows = true;
        self
    }

    /// Makes the call through every door, with nothing offered and with everything.
    pub(crate) fn run(self) -> Outcome {
        let mut outcomes = vec![self.in_process(FULL)];
        outcomes.push(self.over_pipes(FULL));
        let plain = [
            self.in_process(Capabilities::PLAIN),
            self.over_pipes(Capabilities::PLAIN),
        ];
        // Without versions a change in the meantime can't be noticed.
        if self.workspace.meanwhile.is_none() {
            outcomes.extend(plain);
        }
        let first = outcomes.swap_remove(0);
        for other in &outcomes {
            assert_eq!(first.text, other.text, "the doors differ");
            assert_eq!(first.workspace.files, other.workspace.files);
            assert_eq!(first.workspace.asked, other.workspace.asked);
            assert_eq!(first.workspace.changes, other.workspace.changes);
        }
        first
    }

    fn init(&self, capabilities: Capabilities) -> Init {
        let action = match self.only_shows {
            true => Action::FormatArguments,
            false => Action::Run,
        };
        Init {
            capabilities,
            context: Some(Context::new("/project", action)),
            ..Init::new(ToolInput {
                name: self.tool.clone(),
                arguments: self.arguments.clone(),
                answers: self.known_answers.clone(),
                options: self.options.clone(),
            })
        }
    }

    pub(crate) fn in_process(&self, capabilities: Capabilities) -> Outcome {
        let workspace = Arc::new(Mutex::new(self.workspace.clone()));
        let transport = InProcess {
            workspace: Arc::clone(&workspace),
            applied: VecDeque::new(),
        };
        let mut host = Host::over(self.init(capabilities), transport).unwrap();
        let ended = jig_fs_tools::run(&self.tool, &mut host).expect("one of our tools");
        drop(host);
        let workspace = workspace.lock().unwrap().clone();
        outcome(ended, workspace)
    }

    pub(crate) fn over_pipes(&self, capabilities: Capabilities) -> Outcome {
        let (from_host, to_tool) = pipe().unwrap();
        let (from_tool, to_host) = pipe().unwrap();
        let name = self.tool.clone();
        let tool = thread::spawn(move || {
            let (init, pipes) = Pipes::open(from_host, to_host).unwrap();
            let host = Host::over(init, pipes).unwrap();
            serve(host, |host| {
                jig_fs_tools::run(&name, host).expect("one of our tools")
            })
        });
        let mut workspace = self.workspace.clone();
        let init = self.init(capabilities);
        let ended = drive(&init, &mut workspace, from_tool, to_tool);
        let exit = tool.join().unwrap();
        assert_eq!(exit == ExitCode::SUCCESS, ended.is_ok());
        outcome(ended, workspace)
    }
}

fn outcome(ended: Result<Content, ToolError>, workspace: Workspace) -> Outcome {
    let text = match ended {
        Ok(content) => content.to_text(),
        Err(error) => format!("error: {}", error.message),
    };
    Outcome { text, workspace }
}

/// The host's side, until the tool is done.
fn drive(
    init: &Init,
    workspace: &mut Workspace,
    mut from_tool: PipeReader,
    mut to_tool: PipeWriter,
) -> Result<Content, ToolError> {
    let mut out = Vec::new();
    host::write_init(&mut out, init);
    let mut lines = LineBuffer::new(16 * 1024 * 1024);
    let mut reading = Reading::PLAIN;
    let mut partial = None;
    let mut chunk = vec![0; 64 * 1024];
    loop {
        to_tool.write_all(&out).unwrap();
        out.clear();
        let length = from_tool.read(&mut chunk).unwrap();
        assert!(length > 0, "the tool ended without a word");
        let mut input = &chunk[..length];
        while let Some(frame) = lines.next(&mut input) {
            let mut blob = None;
            match frame {
                Frame::Line(line) => match host::read_line(line, &reading).unwrap() {
                    ToolLine::Request { id, request } => {
                        answer(&mut out, workspace, &id, &request, &reading);
                    }
                    ToolLine::RequestWithBlob {
                        id,
                        request,
                        length,
                    } => {
                        partial = Some((id.into_owned(), request.into_owned()));
                        blob = Some(length);
                    }
                    ToolLine::Ready(ready) => {
                        workspace.capabilities = ready.capabilities.common(&init.capabilities);
                        reading = reading.with_blobs(workspace.capabilities.blobs);
                    }
                    ToolLine::State(state) => {
                        if let Some(answer) = workspace.hear(&state.value) {
                            host::write_apply(&mut out, &answer, None);
                        }
                    }
                    ToolLine::Result(response) => return Ok(response.value.content),
                    ToolLine::Error(error) => return Err(error),
                    other => panic!("{other:?}"),
                },
                Frame::Blob(content) => {
                    let (id, request) = partial.take().unwrap();
                    let request = request.with_content(content);
                    answer(&mut out, workspace, &id, &request, &reading);
                }
                other => panic!("{other:?}"),
            }
            if let Some(length) = blob {
                lines.expect_blob(length);
            }
        }
    }
}

fn answer(
    out: &mut Vec<u8>,
    workspace: &mut Workspace,
    id: &jig_proto::vfs::Id<'_>,
    request: &VfsRequest<'_>,
    reading: &Reading,
) {
    let as_blob = matches!(request, VfsRequest::FsRead(read) if read.blob);
    assert!(reading.blobs || !as_blob, "blobs were not agreed upon");
    match workspace.answer(request) {
        Ok(reply) if as_blob => {
            let content = host::write_reply_with_blob(out, id, &reply);
            out.extend_from_slice(content);
        }
        Ok(reply) => host::write_reply(out, id, &reply),
        Err(error) => host::write_error(out, Some(id), &error),
    }
}

pub(crate) const FULL: Capabilities = Capabilities {
    concurrency: NonZeroU32::new(8),
    pending: true,
    pages: true,
    ranges: true,
    etag: true,
    blobs: true,
    fd_pass: true,
};
