//! What a guest, a tool that is a component, asks for in other ways than by requests.

use camino::Utf8Path;
use jiff::Timestamp;
use jig_policy::{EnvUse, RuleKind};
use jig_proto::vfs::{ErrorKind, ErrorReply, Method};
use jig_proto::visible_line_to;

use crate::audit::{AuditDecision, AuditEntry};
use crate::broker::Broker;
use crate::denial::{self, MAX_TARGET};
use crate::requests::judge::Judge;

#[cfg(test)]
mod tests;

impl Broker {
    /// Where the workspace is for whoever calls tools. It may be no path of this machine.
    pub fn display_root(&self) -> &Utf8Path {
        self.inner.files.display_root()
    }

    /// The variables of the host that rules let the tool read, in the order of their names.
    ///
    /// That is all the environment that a guest has: the small set that confined programs get besides speaks
    /// of directories which a guest does not see. Their values are for its use and not for transcripts: from
    /// now on they are [`secrets`](Self::secrets), except for those that are the same for every program.
    pub fn give_variables(&self) -> Vec<(String, String)> {
        let policy = &self.inner.policy;
        let variables = self.inner.env.iter().filter(|(name, value)| {
            policy.decide_env(EnvUse::Read, name).is_allowed() && !value.contains('\0')
        });
        let mut given: Vec<(String, String)> = Vec::new();
        for (name, value) in variables {
            self.given(name, value);
            given.push((name.to_owned(), value.to_owned()));
        }
        given.sort_unstable();
        given
    }

    /// Says that the tool was given a variable of the host: its value is a secret from now on, unless every
    /// program has such a variable.
    pub fn given(&self, name: &str, value: &str) {
        if !ORDINARY.contains(&name) {
            self.inner.secrets.remember(value);
        }
    }

    /// Refuses something that no rule is asked about, because the guest does not see that part of the workspace
    /// or sees it read-only: in the audit log and for the error of the call it is a denial like any other.
    pub fn refuse(&self, method: Method, path: &str, error: ErrorReply) -> ErrorReply {
        let inner = &self.inner;
        let path = visible_line_to(path, MAX_TARGET);
        let mut judge = Judge::new(inner, method, &[]);
        judge.note(path.clone(), &error.message);
        judge.record(AuditDecision::Deny, Timestamp::now()).write();
        let error = denial::completed(error, &inner.policy, method, &path);
        let error = inner.scrub_error(error);
        inner.note_refusal(&error);
        error
    }

    /// Notes that a guest was refused a socket or the look-up of a name, for the audit log and for the error
    /// of the call: no rule opens those, but another way has rules.
    pub fn refuse_socket(&self, operation: &str, target: &str) {
        let inner = &self.inner;
        let target = visible_line_to(target, MAX_TARGET);
        inner.audit(AuditEntry {
            time: Timestamp::now(),
            tool: inner.tool.clone(),
            call: inner.call.clone(),
            handle: inner.handle.clone(),
            operation: format!("socket.{operation}"),
            target: target.clone(),
            decision: AuditDecision::Deny,
            reason: NO_SOCKETS.to_owned(),
            rule: None,
            origin: None,
            hint: None,
            outcome: None,
            duration_us: None,
        });
        let why = format!("{operation} on `{target}`: {NO_SOCKETS}");
        let grants = denial::grants(&inner.policy, RuleKind::Net);
        let error = ErrorReply::denied(ErrorKind::Protected, why)
            .with_wanted(operation, target)
            .with_grants(grants);
        inner.note_refusal(&inner.scrub_error(error));
    }
}

/// Why, and what to do instead.
const NO_SOCKETS: &str = "a Wasm tool has no sockets; it reaches servers with `jp:host/http` or `wasi:http`, \
                          as far as `access.net` allows it";

/// Variables that every program has, and that are no secret, also where a broad rule grants them.
const ORDINARY: [&str; 5] = ["PATH", "HOME", "USER", "LANG", "TERM"];
