//! `jig:tool/vfs`: the protocol of mediated tools, message by message.
//!
//! What a line over a pipe is there, a text is here, read and answered by the same codec with the same
//! errors. One request is done at a time: whoever calls waits for the answer. There is no `cancel`: a call that
//! is given up ends the guest, wherever it is.

use std::time::{Duration, Instant};

use jig_proto::json::JsonLimits;
use jig_proto::vfs::host::{self, ToolLine, ToolLineFault};
use jig_proto::vfs::{Capabilities, ErrorReply, Id, Init, Reading, SessionLimits, VfsRequest};
use jig_proto::{Content, ToolError, ToolState};
use jig_runtime::Plan;
use jig_tool::vfs::{Notification, RequestError, Transport as _};
use serde_json::Value;
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::jig::tool::vfs::{self, Host, Message};
use crate::guest::Guest;
use crate::limits::GuestEndReason;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    vfs::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// Where the talk with a guest stands.
#[derive(Debug, Default)]
pub(crate) struct GuestProtocol {
    agreed: Capabilities,
    /// Whether the guest has sent its one `ready`.
    is_ready: bool,
    /// How the guest has said by `result`, `error` or `state` that the call ended.
    last_word: Option<Result<Content, ToolError>>,
}

impl GuestProtocol {
    /// What the guest has said last, if it did so by a message. It counts more than what its `run` returns,
    /// which has no room for content that is more than a text.
    pub(crate) fn take_last_word(&mut self) -> Option<Result<Content, ToolError>> {
        self.last_word.take()
    }

    fn finish(&mut self, result: Result<Content, ToolError>) {
        self.last_word.get_or_insert(result);
    }
}

impl Host for Guest {
    fn init(&mut self) -> wasmtime::Result<String> {
        let init = init(self);
        let mut line = Vec::new();
        host::write_init(&mut line, &init);
        Ok(self.sent(line))
    }

    fn request(&mut self, request: Message) -> wasmtime::Result<Message> {
        self.received(&request.text);
        let Message { text, blob } = request;
        let limit = self.door.plan().message_limit;
        if text.len() > limit {
            return Ok(self.refuse(None, &ErrorReply::line_too_long(limit)));
        }
        let reading = self.reading();
        match host::read_line(text.as_bytes(), &reading) {
            Ok(ToolLine::Request { id, request }) => match blob {
                None => self.answer(&id, &request),
                Some(_) => {
                    let error = ErrorReply::invalid_request("bytes came, and no `blob` says so");
                    Ok(self.refuse(Some(&id), &error))
                }
            },
            Ok(ToolLine::RequestWithBlob {
                id,
                request,
                length,
            }) => match blob {
                Some(blob) if blob.len() > limit => {
                    Ok(self.refuse(Some(&id), &ErrorReply::line_too_long(limit)))
                }
                Some(blob) if blob.len() as u64 == length => {
                    self.answer(&id, &request.with_content(blob))
                }
                _ => {
                    let why = format!("`blob` says {length} bytes, and others came");
                    Ok(self.refuse(Some(&id), &ErrorReply::invalid_request(why)))
                }
            },
            Ok(_) => {
                let why = "this is a notification: it goes to `notify`";
                Ok(self.refuse(None, &ErrorReply::invalid_request(why)))
            }
            Err(ToolLineFault::Answer { id, error, .. }) => Ok(self.refuse(id.as_ref(), &error)),
            Err(other) => Ok(self.refuse(None, &ErrorReply::invalid_request(other))),
        }
    }

    fn notify(&mut self, notification: String) -> wasmtime::Result<()> {
        self.received(&notification);
        let limit = self.door.plan().message_limit;
        if notification.len() > limit {
            let what = format!("the tool sent a message of more than {limit} bytes");
            self.vfs.finish(Err(ToolError::new(what)));
            return Ok(());
        }
        let reading = self.reading();
        match host::read_line(notification.as_bytes(), &reading) {
            Ok(ToolLine::Ready(ready)) => {
                if !std::mem::replace(&mut self.vfs.is_ready, true) {
                    let offer = offer(self.door.plan());
                    self.vfs.agreed = offer.common(&ready.capabilities);
                }
            }
            Ok(ToolLine::Result(response)) => self.vfs.finish(response.value.into_result()),
            Ok(ToolLine::Error(error)) => self.vfs.finish(Err(error)),
            Ok(ToolLine::State(state)) => return self.state(state.value),
            Err(ToolLineFault::BrokenNotification { name, error })
                if matches!(name, "result" | "error" | "state") =>
            {
                let what = format!("the tool sent a `{name}` that cannot be read");
                let mut broken = ToolError::new(what);
                broken.trace.push(error.to_string());
                self.vfs.finish(Err(broken));
            }
            // What is not understood and cannot be answered is passed over. Nothing is open that could be
            // cancelled.
            Ok(_) | Err(_) => {}
        }
        Ok(())
    }

    fn wait(
        &mut self,
        question: Option<String>,
        limit: Option<u64>,
    ) -> wasmtime::Result<Result<Option<String>, String>> {
        let given = match (question, limit) {
            (Some(_), Some(_)) => {
                let why = "an answer is waited for without a limit";
                return Ok(Err(self.error_text(&ErrorReply::invalid_request(why))));
            }
            (Some(question), None) => self.door.wait_answer(&question).map(Some),
            (None, limit) => self.wait_apply(limit.map(Duration::from_millis))?,
        };
        match given {
            Ok(given) => Ok(Ok(given.map(|given| given.to_string()))),
            Err(RequestError::Refused(error)) => Ok(Err(self.error_text(&error))),
            Err(RequestError::Cancelled) => Err(GuestEndReason::Cancelled.into()),
            Err(error) => Err(wasmtime::Error::new(error)),
        }
    }
}

impl Guest {
    /// Waits for input, or for the answer to the question that is open; never longer than the guest has.
    fn wait_apply(
        &mut self,
        limit: Option<Duration>,
    ) -> Result<Result<Option<Value>, RequestError>, GuestEndReason> {
        // A limit that no clock can show is none.
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            let next = match (until, self.deadline()) {
                (Some(until), Some(deadline)) => Some(until.min(deadline)),
                (until, deadline) => until.or(deadline),
            };
            let given = match next {
                None => self.door.wait_apply().map(Some),
                Some(next) => {
                    let left = next.saturating_duration_since(Instant::now());
                    self.door.wait_apply_for(left)
                }
            };
            let is_over = until.is_some_and(|until| until <= Instant::now());
            match given {
                Ok(None) => self.check()?,
                given => return Ok(given),
            }
            if is_over {
                return Ok(Ok(None));
            }
        }
    }

    fn reading(&self) -> Reading {
        let limits = JsonLimits::for_bytes(self.door.plan().message_limit);
        let reading = Reading::PLAIN.with_limits(limits);
        reading.with_blobs(self.vfs.agreed.blobs)
    }

    fn answer(&mut self, id: &Id<'_>, request: &VfsRequest<'_>) -> wasmtime::Result<Message> {
        if self.vfs.last_word.is_some() {
            return Ok(self.refuse(Some(id), &ErrorReply::cancelled()));
        }
        let reply = match self.ask_within(request)? {
            Ok(reply) if self.vfs.agreed.etag => reply,
            Ok(reply) => reply.without_etag(),
            Err(error) => return Ok(self.refuse(Some(id), &error)),
        };
        let mut line = Vec::new();
        if matches!(request, VfsRequest::FsRead(read) if read.blob) && self.vfs.agreed.blobs {
            let has_content = reply.payload().is_some();
            let blob = host::write_reply_with_blob(&mut line, id, &reply).to_vec();
            return Ok(Message {
                text: self.sent(line),
                blob: has_content.then_some(blob),
            });
        }
        let limit = self.door.plan().message_limit;
        match host::write_reply_within(&mut line, id, &reply, limit) {
            Ok(()) => Ok(Message {
                text: self.sent(line),
                blob: None,
            }),
            Err(error) => Ok(self.refuse(Some(id), &error)),
        }
    }

    fn refuse(&self, id: Option<&Id<'_>>, error: &ErrorReply) -> Message {
        let mut line = Vec::new();
        host::write_error(&mut line, id, error);
        Message {
            text: self.sent(line),
            blob: None,
        }
    }

    fn error_text(&self, error: &ErrorReply) -> String {
        self.refuse(None, error).text
    }

    fn state(&mut self, state: ToolState) -> wasmtime::Result<()> {
        // Whoever has said the last word asks nobody any more.
        if self.vfs.last_word.is_some() {
            return Ok(());
        }
        match state {
            ToolState::Stopped { result, .. } => {
                self.vfs.finish(result);
                Ok(())
            }
            other => self
                .door
                .notify(&Notification::State(&other))
                .map_err(wasmtime::Error::new),
        }
    }

    /// A line as the text of a message, shown to whoever watches the exchange.
    fn sent(&self, line: Vec<u8>) -> String {
        let line = line.trim_ascii_end();
        if let Some(tracer) = &self.door.plan().tracer {
            tracer.sent(line);
        }
        // Our own lines are JSON.
        String::from_utf8_lossy(line).into_owned()
    }

    fn received(&self, text: &str) {
        if let Some(tracer) = &self.door.plan().tracer {
            tracer.received(text.as_bytes());
        }
    }
}

/// The call, as the program of a mediated tool is told of it: also where the workspace is for whoever calls, so
/// that an absolute path of theirs can be understood. Where it is for the guest, `run` says.
fn init(guest: &Guest) -> Init {
    let plan = guest.door.plan();
    let mut init = guest.door.init();
    if let Some(context) = &mut init.context {
        context.root = plan.broker.display_root().to_owned();
    }
    let mut limits = SessionLimits::default();
    limits.message_bytes = plan.message_limit as u64;
    limits.file_bytes = plan.broker.limits().file_bytes;
    limits.response = plan.timing.response;
    Init {
        supported: Init::SUPPORTED_VERSIONS.map(str::to_owned).to_vec(),
        methods: (!plan.methods.is_empty()).then(|| plan.methods.clone()),
        limits: Some(limits),
        capabilities: offer(plan),
        ..init
    }
}

/// What is offered: no open files, which a guest could not take, and one request at a time.
fn offer(plan: &Plan) -> Capabilities {
    Capabilities {
        concurrency: None,
        pending: false,
        fd_pass: false,
        ..plan.offer
    }
}
