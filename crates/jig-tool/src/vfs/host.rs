//! [`Host`]: what a tool asks, tells and was told.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use camino::Utf8PathBuf;
use jig_proto::vfs::{
    Capabilities, ErrorKind, Init, Method, Ready, SessionLimits, ToolInput, VfsReply, VfsRequest,
};
use jig_proto::{Action, Content, Context, ProjectPath, Question, Response, ToolError, ToolState};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::host_connection::HostLink;
use super::{ConnectError, HostAnswer, HostError, Notification, Transport};

/// The host of a tool, and the call that the tool is to do.
///
/// Paths are relative to the workspace. An absolute path below the root that [`Host::context`]
/// names, and a `..` that stays inside, are rewritten before they are sent; everything else is for
/// the host to refuse.
pub struct Host {
    init: Init,
    pub(super) link: HostLink,
    capabilities: Capabilities,
    /// The root by which whoever calls the tool knows the workspace, if that is another one.
    outer_root: Option<Utf8PathBuf>,
}

impl Host {
    /// The host at the other end of `transport`, which has sent `init`.
    ///
    /// What the host offers and this SDK can use is taken up.
    ///
    /// # Errors
    ///
    /// If the host speaks only versions of the protocol that we don't, or is gone.
    pub fn over(init: Init, transport: impl Transport + 'static) -> Result<Self, ConnectError> {
        let protocol_version = choose_version(&init)?;
        let mut host = Self {
            capabilities: wanted(&transport).common(&init.capabilities),
            init,
            link: HostLink::new(transport),
            outer_root: None,
        };
        // A host that offers nothing is of the plain protocol, which does not have `ready`.
        if host.init.capabilities != Capabilities::PLAIN || protocol_version.is_some() {
            let ready = Ready {
                protocol_version,
                capabilities: host.capabilities,
            };
            let sent = host.notify(&Notification::Ready(&ready));
            sent.map_err(ConnectError::Ready)?;
        }
        Ok(host)
    }

    /// The call: the name of the tool, its arguments, answers and options.
    pub fn tool(&self) -> &ToolInput {
        &self.init.tool
    }

    /// The arguments as a type of the tool.
    ///
    /// # Errors
    ///
    /// If they don't fit.
    pub fn arguments<T: DeserializeOwned>(&self) -> Result<T, ArgumentsError> {
        T::deserialize(&self.init.tool.arguments).map_err(|source| ArgumentsError {
            tool: self.init.tool.name.clone(),
            source,
        })
    }

    /// Answers to questions that are known already, by the id of the question.
    pub fn answers(&self) -> &Map<String, Value> {
        &self.init.tool.answers
    }

    /// The options of the tool, from the configuration.
    pub fn options(&self) -> &Map<String, Value> {
        &self.init.tool.options
    }

    /// An option that is on or off; `usual` if the configuration does not say, or says something
    /// else than `true` or `false`.
    pub fn option_is_on(&self, name: &str, usual: bool) -> bool {
        let option = self.init.tool.options.get(name);
        option.and_then(Value::as_bool).unwrap_or(usual)
    }

    /// Where the tool works and what it may do, if the host says so.
    pub fn context(&self) -> Option<&Context> {
        self.init.context.as_ref()
    }

    /// Whether the tool is only to show what it would do, and to do nothing.
    pub fn only_shows(&self) -> bool {
        let action = self.init.context.as_ref().map(|context| context.action);
        action == Some(Action::FormatArguments)
    }

    /// Whether the caller drives the tool: it sends input to a running tool ([`Host::wait_apply`],
    /// [`Host::try_apply`]) and looks at each [`Host::state`]. Otherwise the tool is called for its
    /// result: nobody sees what it says in between, and nobody sends input but answers.
    pub fn is_stateful(&self) -> bool {
        self.init.stateful
    }

    /// What the host holds the tool to; the documented limits if it does not say.
    pub fn limits(&self) -> SessionLimits {
        self.init.limits.unwrap_or_default()
    }

    /// What both sides have agreed upon.
    pub fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    /// Whether the policy leaves a method open. `true` does not mean that every request is allowed;
    /// a host that does not say leaves all of them open.
    pub fn offers(&self, method: Method) -> bool {
        let methods = self.init.methods.as_ref();
        methods.is_none_or(|methods| methods.contains(&method))
    }

    /// Whether the host has cancelled the call, as far as the tool has heard: over pipes that is
    /// noticed during requests. From then on every request fails, without being sent.
    ///
    /// What a tool still does then must not need the host: it can finish what it does by itself, and
    /// tell its result or its error. The host waits for it for [`SessionLimits::cancel_grace`], and
    /// ends the programs that the tool has started.
    pub fn is_cancelled(&self) -> bool {
        self.link.is_cancelled()
    }

    /// Sends the requests of `work` although the call was cancelled.
    ///
    /// It is not a way to clean up: jig answers every request of a cancelled call with
    /// [`ErrorKind::Cancelled`], so work that needs the host must be done before. Only a host of
    /// another make may still do it.
    pub fn clean_up<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.link.set_asks_anyway(true);
        let done = work(self);
        self.link.set_asks_anyway(before);
        done
    }

    /// Sends a request as it is and blocks for the answer. The other methods are easier to use, and
    /// only [`Host::open`] and [`Host::open_each`] give files that the host passes.
    ///
    /// # Errors
    ///
    /// If the host did not do it.
    pub fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, HostError> {
        self.link.ask(|transport| transport.request(request))
    }

    /// The same, for a request that may be answered with an open file.
    pub(super) fn request_file(
        &mut self,
        request: &VfsRequest<'_>,
    ) -> Result<HostAnswer, HostError> {
        self.link.ask(|transport| transport.open(request))
    }

    /// Sends many requests, several at once where both sides can, and hands on the answers as they
    /// arrive, each with the index of its request.
    pub(super) fn request_each<'r>(
        &mut self,
        requests: &mut dyn Iterator<Item = VfsRequest<'r>>,
        mut answer: impl FnMut(usize, Result<HostAnswer, HostError>),
    ) -> Result<(), HostError> {
        let mut answer = |index, result: Result<_, jig_proto::vfs::ErrorReply>| {
            answer(index, result.map_err(HostError::from));
        };
        self.link
            .ask(|transport| transport.request_each(requests, &mut answer))
    }

    /// Asks a question and blocks for the answer, unless it is known already.
    ///
    /// The answer is known from then on: the same question is not asked twice. Input that has come
    /// before is no answer, and stays for [`Host::wait_apply`].
    ///
    /// # Errors
    ///
    /// If the call is cancelled instead.
    pub fn ask(&mut self, question: Question) -> Result<Value, HostError> {
        if let Some(answer) = self.init.tool.answers.get(&question.id) {
            return Ok(answer.clone());
        }
        let id = question.id.clone();
        self.state(ToolState::waiting(question))?;
        let answer = self.wait_answer(&id)?;
        self.init.tool.answers.insert(id, answer.clone());
        Ok(answer)
    }

    /// Asks a question that is answered by yes or no, as [`Host::ask`] does.
    ///
    /// # Errors
    ///
    /// If the call is cancelled instead, or the answer is neither.
    pub fn confirm(&mut self, question: Question) -> Result<bool, HostError> {
        let id = question.id.clone();
        let answer = self.ask(question)?;
        let said = match &answer {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) => match text.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" | "true" => Some(true),
                "n" | "no" | "false" => Some(false),
                _ => None,
            },
            _ => None,
        };
        said.ok_or_else(|| {
            let message = format!("the answer to `{id}` must be `true` or `false`, not {answer}");
            HostError::new(ErrorKind::InvalidParams, message)
        })
    }

    /// Says where the tool stands. [`ToolState::Stopped`] ends the call; after [`ToolState::Waiting`],
    /// [`Host::wait_answer`] gives the answer.
    ///
    /// # Errors
    ///
    /// If the host is gone, or there is no point in asking because it has cancelled the call.
    pub fn state(&mut self, state: ToolState) -> Result<(), HostError> {
        self.notify(&Notification::State(&state))
    }

    /// Blocks for the answer to the question of this id, which was put last by [`Host::state`].
    ///
    /// Input that comes meanwhile, or came before, is no answer, and stays for [`Host::wait_apply`]. The
    /// answer is not kept: the same question can be put again, and [`Host::ask`] does not know of it.
    ///
    /// # Errors
    ///
    /// If no question of this id is open, or the call is cancelled instead.
    pub fn wait_answer(&mut self, question_id: &str) -> Result<Value, HostError> {
        self.link
            .ask(|transport| transport.wait_answer(question_id))
    }

    /// Blocks until the host sends input. While a question that was put by [`Host::state`] is open, it
    /// gives the answer, as [`Host::wait_answer`] does; where nobody drives the tool, whatever the host
    /// sends.
    ///
    /// # Errors
    ///
    /// If the call is cancelled instead.
    pub fn wait_apply(&mut self) -> Result<Value, HostError> {
        self.link.ask(|transport| transport.wait_apply())
    }

    /// Blocks as [`Host::wait_apply`] does, but no longer than `limit`; `None` if nothing came.
    ///
    /// # Errors
    ///
    /// If the call is cancelled instead. Over pipes outside of Unix, always.
    pub fn wait_apply_for(&mut self, limit: Duration) -> Result<Option<Value>, HostError> {
        self.link.ask(|transport| transport.wait_apply_for(limit))
    }

    /// The input that the host has sent, if there is some; asked again, the next. It does not block.
    ///
    /// A tool that waits for a program of [`Host::start_process`] finds its input here, since
    /// [`Process::read`](super::Process::read) returns when there is some.
    ///
    /// # Errors
    ///
    /// If the call is cancelled.
    pub fn try_apply(&mut self) -> Result<Option<Value>, HostError> {
        self.wait_apply_for(Duration::ZERO)
    }

    /// Ends the call with its result.
    ///
    /// # Errors
    ///
    /// If the host is gone.
    pub fn result(mut self, content: impl Into<Content>) -> Result<(), HostError> {
        let response = Response {
            content: content.into(),
            ..Response::default()
        };
        self.notify(&Notification::Result(&response))
    }

    /// Ends the call with an error.
    ///
    /// # Errors
    ///
    /// If the host is gone.
    pub fn error(mut self, error: impl Into<ToolError>) -> Result<(), HostError> {
        self.notify(&Notification::Error(&error.into()))
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), HostError> {
        self.link.tell(|transport| transport.notify(notification))
    }

    /// The path as it is sent. `..` is folded, as resolution folds it, before any link is looked at.
    pub(super) fn wire_path<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let is_absolute = path.starts_with('/');
        if !is_absolute && !path.split('/').any(|component| component == "..") {
            return Cow::Borrowed(path);
        }
        let below_root = if is_absolute {
            self.strip_root(path)
        } else {
            Some(path)
        };
        match below_root.map(ProjectPath::normalize) {
            Some(Ok(normal)) => Cow::Owned(normal.to_string()),
            // The host says what is wrong with it, and remembers that it was tried.
            _ => Cow::Borrowed(path),
        }
    }

    fn strip_root<'p>(&self, absolute: &'p str) -> Option<&'p str> {
        let context = self.init.context.as_ref();
        let roots = context.map(|context| &context.root).into_iter();
        let mut roots = roots.chain(&self.outer_root);
        roots.find_map(|root| below(root.as_str(), absolute))
    }

    /// Takes absolute paths below this root for paths of the workspace, too.
    #[cfg(any(target_family = "wasm", test))]
    pub(crate) fn also_strip(&mut self, root: Utf8PathBuf) {
        self.outer_root = Some(root);
    }
}

/// The path relative to `root`, if it is there or below.
fn below<'p>(root: &str, absolute: &'p str) -> Option<&'p str> {
    let root = root.strip_suffix('/').unwrap_or(root);
    let below = absolute.strip_prefix(root)?;
    match below.trim_start_matches('/') {
        "" => Some("."),
        relative if below.starts_with('/') => Some(relative),
        _ => None,
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host")
            .field("init", &self.init)
            .field("capabilities", &self.capabilities)
            .finish_non_exhaustive()
    }
}

/// The arguments of a call are not what the tool takes.
#[derive(Debug, thiserror::Error)]
#[error("the arguments of `{tool}` can't be used: {source}")]
pub struct ArgumentsError {
    tool: String,
    source: serde_json::Error,
}

impl From<ArgumentsError> for ToolError {
    fn from(error: ArgumentsError) -> Self {
        Self::new(error.to_string())
    }
}

/// The version to ask for, if the one that the host has chosen can't be used.
///
/// Within a major version, methods are only added.
fn choose_version(init: &Init) -> Result<Option<String>, ConnectError> {
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    let ours = major(Init::PROTOCOL_VERSION);
    if major(&init.protocol_version) == ours {
        return Ok(None);
    }
    let mut supported = init.supported.iter();
    match supported.find(|version| major(version) == ours) {
        Some(version) => Ok(Some(version.clone())),
        None => Err(ConnectError::Version {
            theirs: init.protocol_version.clone(),
            ours: Init::PROTOCOL_VERSION,
        }),
    }
}

/// What this SDK can use. It waits for as long as the host takes, so it needs no `pending`.
fn wanted(transport: &impl Transport) -> Capabilities {
    Capabilities {
        concurrency: NonZeroU32::new(64),
        pending: false,
        pages: true,
        ranges: true,
        etag: true,
        blobs: true,
        fd_pass: transport.receives_files(),
    }
}

#[cfg(test)]
mod tests;
