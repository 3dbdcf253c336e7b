//! [`Attendance`]: what is with a program while it runs, and tells at its end what it was refused.

use std::fmt;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::Denial;
use jig_proto::vfs::ErrorReply;
use jig_sandbox::{Child, Observer};

use super::run::told;
use crate::broker::Inner;
use crate::confine::{Confined, Intruder};
use crate::explain::{self, Made};
use crate::gateway::Gateway;
use crate::work::Record;

/// What is with a program while it runs.
#[derive(Debug)]
pub(super) struct Attendance {
    confined: Option<Confined>,
    /// Where its connections arrive.
    gateway: Option<Gateway>,
    /// Who watches what it asks for.
    observer: Option<Observer>,
    /// Where its workspace is.
    root: Utf8PathBuf,
}

/// What is to be said of a program that has ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    /// What whoever started it should know.
    pub(super) notes: Vec<String>,
    /// What it was refused, if it failed.
    pub(super) denials: Vec<Denial>,
    /// What was moved away.
    pub(super) intruders: Vec<Intruder>,
}

impl Attendance {
    /// Begins it for a child that was just started in the workspace at `root`.
    pub(super) fn begin(
        inner: &Arc<Inner>,
        child: &mut Child,
        confined: Option<Confined>,
        root: &Utf8Path,
    ) -> Result<Self, ErrorReply> {
        let gateway = child.gateway.take();
        let gateway = gateway.map(|sockets| Gateway::serve(inner, sockets));
        let gateway = gateway
            .transpose()
            .map_err(|_| ErrorReply::internal("the network of a program could not be served"))?;
        Ok(Self {
            confined,
            gateway,
            observer: child.observer.take(),
            root: root.to_owned(),
        })
    }

    /// Ends the child, with all that it started, and looks at what it leaves behind. Whether it failed is
    /// for whoever watched it to say; limits that ended it are told in any case.
    pub(super) fn end(
        self,
        inner: &Inner,
        child: Child,
        failed: bool,
        record: &mut Record,
    ) -> Ended {
        let limits = limits(inner, &child);
        // It and all that it started are gone before anybody looks at what is left behind.
        drop(child);
        let observation = self.observer.map(Observer::finish);
        let mut denials = match (self.gateway, &observation) {
            (Some(gateway), Some(observation)) => gateway.close_watched(observation),
            (Some(gateway), None) => gateway.close(),
            (None, _) => Vec::new(),
        };
        let mut notes = Vec::new();
        match failed {
            true => {
                let mut seen = limits;
                if let (Some(observation), Some(confined)) = (&observation, &self.confined) {
                    seen.extend(inner.explained(
                        observation,
                        confined,
                        &self.root,
                        &mut Made::default(),
                    ));
                }
                seen.iter().for_each(|denial| inner.audit_denial(denial));
                denials.splice(..0, seen);
            }
            false => {
                notes.extend(limits.into_iter().map(|limit| limit.why));
                denials.clear();
            }
        }
        let intruders = self.confined.map(Confined::finish).unwrap_or_default();
        notes.extend(told(&intruders, record));
        Ended {
            notes,
            denials,
            intruders,
        }
    }
}

impl Ended {
    /// All that is to be said, each in words of its own.
    pub(super) fn words(self) -> Vec<String> {
        let denials = self.denials.iter().map(|denial| Words(denial).to_string());
        denials.chain(self.notes).collect()
    }
}

/// A denial as a line or more, after `jig: `.
struct Words<'a>(&'a Denial);

impl fmt::Display for Words<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied: {}", self.0)
    }
}

/// The limits that a child came up against.
fn limits(inner: &Inner, child: &Child) -> Vec<Denial> {
    let settings = inner.process.confine.as_ref();
    let limits = settings.map_or(inner.process.limits, |settings| settings.limits);
    let reached = child.reached().into_iter();
    reached
        .map(|limit| explain::of_tree(&inner.table, limit, limits.height(limit).unwrap_or(0)))
        .collect()
}
