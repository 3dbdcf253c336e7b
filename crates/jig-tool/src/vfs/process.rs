//! [`Run`]: a program that the host runs for a tool.

use std::borrow::Cow;

use jig_proto::vfs::{Method, ProcessReply, ProcessRun, VfsReply, VfsRequest};

use super::{Host, HostError};

/// A program, made by [`Host::run`] and run by [`Run::output`].
///
/// It starts in the workspace, unless told otherwise, with nothing of the host's environment.
#[must_use = "nothing is run before `output` is called"]
pub struct Run<'h, 'a> {
    host: &'h mut Host,
    run: ProcessRun<'a>,
}

impl Host {
    /// A program, by its name.
    pub fn run<'a>(&mut self, program: impl Into<Cow<'a, str>>) -> Run<'_, 'a> {
        Run {
            host: self,
            run: ProcessRun {
                program: program.into(),
                args: Vec::new(),
                envs: Vec::new(),
                cwd: None,
            },
        }
    }
}

impl<'a> Run<'_, 'a> {
    /// Adds an argument.
    pub fn arg(mut self, arg: impl Into<Cow<'a, str>>) -> Self {
        self.run.args.push(arg.into());
        self
    }

    /// Adds arguments.
    pub fn args<T: Into<Cow<'a, str>>>(mut self, args: impl IntoIterator<Item = T>) -> Self {
        self.run.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Lets the program see this variable of the host, if the policy allows it.
    pub fn env(mut self, name: impl Into<Cow<'a, str>>) -> Self {
        self.run.envs.push(name.into());
        self
    }

    /// Starts it in this directory of the workspace.
    pub fn in_dir(mut self, path: &str) -> Self {
        self.run.cwd = Some(Cow::Owned(self.host.wire_path(path).into_owned()));
        self
    }

    /// Runs it to its end. A program that fails is an answer like any other.
    ///
    /// # Errors
    ///
    /// If it may not be run, or can't.
    pub fn output(self) -> Result<ProcessReply<'static>, HostError> {
        match self.host.request(&VfsRequest::ProcessRun(self.run))? {
            VfsReply::Process(reply) => Ok(reply),
            _ => Err(HostError::other_form(Method::ProcessRun)),
        }
    }
}
