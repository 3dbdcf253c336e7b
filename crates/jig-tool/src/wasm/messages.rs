//! [`ComponentMessages`]: the protocol by the calls of `jig:tool/vfs`.

use std::time::Duration;

use jig_proto::vfs::tool::{self, HostLine};
use jig_proto::vfs::{Id, Init, Method, Reading, VfsReply, VfsRequest};
use serde_json::Value;

use super::bindings::sdk::jig::tool::vfs::{self, Message};
use crate::vfs::{ConnectError, Notification, RequestError, Transport};

/// The host of a component, message by message.
#[derive(Debug)]
pub(super) struct ComponentMessages {
    reading: Reading,
    last_id: u64,
}

impl ComponentMessages {
    pub(super) fn new() -> Self {
        Self {
            reading: Reading::PLAIN,
            last_id: 0,
        }
    }

    /// What the host says first.
    pub(super) fn init(&self) -> Result<Init, ConnectError> {
        match tool::read_line(vfs::init().as_bytes(), &self.reading)? {
            HostLine::Init(init) => Ok(*init),
            _ => Err(ConnectError::NotInit),
        }
    }

    fn write(&mut self, request: &VfsRequest<'_>) -> Message {
        self.last_id += 1;
        let id = Id::from(self.last_id);
        let mut line = Vec::new();
        let blob = match request.payload() {
            Some(_) if self.reading.blobs => {
                Some(tool::write_request_with_blob(&mut line, &id, request).to_vec())
            }
            _ => {
                tool::write_request(&mut line, &id, request);
                None
            }
        };
        Message {
            text: text(line),
            blob,
        }
    }

    fn read(&self, answer: Message, method: Method) -> Result<VfsReply<'static>, RequestError> {
        let line = tool::read_line(answer.text.as_bytes(), &self.reading).map_err(misunderstood)?;
        match (line, answer.blob) {
            (HostLine::Reply { id, result }, None) if self.is_last(&id) => {
                let reply = result.read(method).map_err(misunderstood)?;
                Ok(reply.into_owned())
            }
            (HostLine::ReplyWithBlob { id, result, .. }, Some(blob)) if self.is_last(&id) => {
                let reply = result.read_with_blob(method, blob).map_err(misunderstood)?;
                Ok(reply.into_owned())
            }
            (HostLine::Error { error, .. }, _) => Err(RequestError::Refused(error)),
            _ => Err(misunderstood("something else than the answer")),
        }
    }

    fn is_last(&self, id: &Id<'_>) -> bool {
        id.as_u64() == Some(self.last_id)
    }

    fn wait(
        &mut self,
        question: Option<&str>,
        limit: Option<Duration>,
    ) -> Result<Option<Value>, RequestError> {
        let limit = limit.map(|limit| u64::try_from(limit.as_millis()).unwrap_or(u64::MAX));
        match vfs::wait(question, limit) {
            Ok(Some(input)) => serde_json::from_str(&input)
                .map(Some)
                .map_err(misunderstood),
            Ok(None) => Ok(None),
            Err(error) => Err(match tool::read_line(error.as_bytes(), &self.reading) {
                Ok(HostLine::Error { error, .. }) => RequestError::Refused(error),
                Ok(_) => misunderstood("something else than an error"),
                Err(bad) => misunderstood(bad),
            }),
        }
    }
}

impl Transport for ComponentMessages {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        let message = self.write(request);
        let answer = vfs::request(&message);
        self.read(answer, request.method())
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        let mut line = Vec::new();
        match notification {
            Notification::Ready(ready) => {
                tool::write_ready(&mut line, ready);
                self.reading = self.reading.with_blobs(ready.capabilities.blobs);
            }
            Notification::Result(response) => tool::write_result(&mut line, response),
            Notification::Error(error) => tool::write_error(&mut line, error),
            Notification::State(state) => tool::write_state(&mut line, state),
        }
        vfs::notify(&text(line));
        Ok(())
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        // Without a limit it comes, or the call ends.
        self.wait(None, None)?.ok_or(RequestError::Cancelled)
    }

    fn wait_answer(&mut self, question: &str) -> Result<Value, RequestError> {
        self.wait(Some(question), None)?
            .ok_or(RequestError::Cancelled)
    }

    fn wait_apply_for(&mut self, limit: Duration) -> Result<Option<Value>, RequestError> {
        self.wait(None, Some(limit))
    }

    /// A component whose call is given up does not go on.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// A line as the text of a message: without its end.
fn text(mut line: Vec<u8>) -> String {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    String::from_utf8(line).unwrap_or_else(|odd| String::from_utf8_lossy(odd.as_bytes()).into())
}

fn misunderstood(what: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> RequestError {
    RequestError::Misunderstood(what.into())
}
