//! [`Transport`]: how a [`Host`](super::Host) is reached.

use std::io;
use std::time::Duration;

use jig_proto::vfs::{ErrorKind, ErrorReply, Ready, VfsReply, VfsRequest};
use jig_proto::{Response, ToolError, ToolState};
use serde_json::Value;

use super::opened::StdFile;

/// The way to the host.
///
/// [`Pipes`](super::Pipes) speaks the protocol over standard input and output. A host that runs a
/// tool inside of itself implements this instead, and skips the wire; the tool can't tell the
/// difference.
///
/// ```
/// use jig_tool::vfs::{
///     ErrorReply, Host, Init, Notification, VfsReply, VfsRequest, RequestError, ToolInput, Transport,
/// };
/// use serde_json::Value;
///
/// /// A host with one file.
/// struct OneFile;
///
/// impl Transport for OneFile {
///     fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
///         match request {
///             VfsRequest::FsRead(read) if read.path == "greeting" => Ok(VfsReply::read("hello")),
///             VfsRequest::FsRead(read) => {
///                 Err(RequestError::Refused(ErrorReply::not_found(&read.path)))
///             }
///             other => {
///                 let name = other.method().name();
///                 Err(RequestError::Refused(ErrorReply::method_not_found(name)))
///             }
///         }
///     }
///
///     fn notify(&mut self, _: &Notification<'_>) -> Result<(), RequestError> {
///         Ok(())
///     }
///
///     fn wait_apply(&mut self) -> Result<Value, RequestError> {
///         Err(RequestError::Cancelled)
///     }
///
///     fn is_cancelled(&self) -> bool {
///         false
///     }
/// }
///
/// let mut host = Host::over(Init::new(ToolInput::default()), OneFile)?;
/// assert_eq!(host.read("a/../greeting")?, "hello");
/// assert!(host.read("farewell").unwrap_err().is_not_found());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Transport: Send {
    /// Sends a request and blocks until it is answered.
    ///
    /// # Errors
    ///
    /// If the host did not do it, or can't be asked.
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError>;

    /// Sends a request and blocks until it is answered, perhaps with an open file.
    ///
    /// # Errors
    ///
    /// As [`Transport::request`].
    fn open(&mut self, request: &VfsRequest<'_>) -> Result<HostAnswer, RequestError> {
        self.request(request).map(HostAnswer::from)
    }

    /// Whether open files can come this way; where not, `fd_pass` is not taken up.
    fn receives_files(&self) -> bool {
        false
    }

    /// Sends requests, several at once if that was agreed upon, and hands on each answer with the
    /// index of its request, in whatever order they arrive.
    ///
    /// # Errors
    ///
    /// If the host can't be asked any more; requests that were not answered by then never are.
    fn request_each<'r>(
        &mut self,
        requests: &mut dyn Iterator<Item = VfsRequest<'r>>,
        answer: &mut dyn FnMut(usize, Result<HostAnswer, ErrorReply>),
    ) -> Result<(), RequestError> {
        for (index, request) in requests.enumerate() {
            match self.request(&request) {
                Ok(reply) => answer(index, Ok(reply.into())),
                Err(RequestError::Refused(error)) => answer(index, Err(error)),
                Err(lost) => return Err(lost),
            }
        }
        Ok(())
    }

    /// Sends what is not answered.
    ///
    /// # Errors
    ///
    /// If it can't be sent.
    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError>;

    /// Blocks until the host sends input, or the answer to the tool's question.
    ///
    /// Where the caller drives the tool, only the answer counts while a question is open, which is from
    /// [`Notification::State`] with it until its answer is taken: what was sent before the question must
    /// not answer it.
    ///
    /// # Errors
    ///
    /// If the host cancels the call instead, or is gone.
    fn wait_apply(&mut self) -> Result<Value, RequestError>;

    /// Blocks until the host sends the answer to the question of this id, which was put last. Whatever else
    /// it sends, or has sent before, stays for [`Transport::wait_apply`].
    ///
    /// The default takes what [`Transport::wait_apply`] gives. It is for transports that never bring
    /// input, or that keep it back by themselves while a question is open.
    ///
    /// # Errors
    ///
    /// If no question of this id is open, the host cancels the call instead, or is gone.
    fn wait_answer(&mut self, question: &str) -> Result<Value, RequestError> {
        let _ = question;
        self.wait_apply()
    }

    /// Blocks as [`Transport::wait_apply`] does, but no longer than `limit`; `None` if nothing came. No
    /// time at all is a look at what is there.
    ///
    /// # Errors
    ///
    /// As [`Transport::wait_apply`], and on a transport that can't do it, which is the default.
    fn wait_apply_for(&mut self, limit: Duration) -> Result<Option<Value>, RequestError> {
        let _ = limit;
        Err(RequestError::Refused(ErrorReply::internal(
            "input can't be waited for with a limit here",
        )))
    }

    /// Whether the host has cancelled the call, as far as is known without waiting.
    fn is_cancelled(&self) -> bool;
}

/// What the host answers, and what came with it.
#[derive(Debug)]
pub struct HostAnswer {
    /// The answer.
    pub reply: VfsReply<'static>,
    /// The file that the host has opened, beside [`VfsReply::Descriptor`].
    pub file: Option<StdFile>,
}

impl From<VfsReply<'static>> for HostAnswer {
    fn from(reply: VfsReply<'static>) -> Self {
        Self { reply, file: None }
    }
}

/// What a tool tells its host.
///
/// Exhaustive: a transport must be able to send each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Notification<'a> {
    /// The tool picks from what the host offers. Sent first, at most once.
    Ready(&'a Ready),
    /// The tool is done.
    Result(&'a Response),
    /// The tool failed.
    Error(&'a ToolError),
    /// Where the tool stands.
    State(&'a ToolState),
}

/// Why there is no answer to a request that says that it was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// The host did not do it, and says why.
    #[error(transparent)]
    Refused(ErrorReply),
    /// The host cancelled the call. Whether the request was done is not known.
    #[error("the host cancelled the call")]
    Cancelled,
    /// The host is gone.
    #[error("the connection to the host is lost")]
    Disconnected(#[source] io::Error),
    /// The host sent something that is not of the protocol.
    #[error("the host sent what can't be understood")]
    Misunderstood(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl RequestError {
    /// No question of this id was put, or it is answered: to wait for its answer would be to wait for ever.
    pub fn question_not_open(id: &str) -> Self {
        let message = format!("the question `{id}` is not open");
        Self::Refused(ErrorReply::new(ErrorKind::InvalidParams, message))
    }
}
