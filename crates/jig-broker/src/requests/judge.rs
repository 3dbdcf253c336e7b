//! [`Judge`]: one request on its way through the policy.

use std::sync::Arc;

use jiff::Timestamp;
use jig_policy::{Permit, Verdict};
use jig_proto::ProjectPath;
use jig_proto::vfs::{ErrorReply, Method};

use crate::audit::AuditDecision;
use crate::broker::BrokerCore;
use crate::denial::{self, DenialContext};
use crate::requests::approvals::{ApprovableTarget, ApprovalKey};
use crate::requests::inquiry::ApprovalRequest;
use crate::requests::work::AuditRecord;

/// One request on its way through the policy.
///
/// It asks about every target of the request and collects what the audit line and a question will
/// say. A denial ends it at once, also after something that somebody could have approved.
#[derive(Debug)]
pub(crate) struct Judge<'b> {
    pub(crate) inner: &'b Arc<BrokerCore>,
    method: Method,
    /// What was approved for this one request.
    once: &'b [ApprovalKey],
    /// The directory that every file of the request must be in, also after links.
    beneath: Option<Arc<ProjectPath>>,
    asks: Vec<ApprovalRequest>,
    note: Option<DecisionNote>,
}

/// What is known about the decision.
#[derive(Debug, Clone)]
pub(crate) struct DecisionNote {
    pub(crate) target: String,
    pub(crate) reason: String,
    pub(crate) rule: Option<String>,
    pub(crate) origin: Option<String>,
    /// The smallest rule that would allow what was refused.
    pub(crate) hint: Option<String>,
}

impl<'b> Judge<'b> {
    pub(crate) fn new(inner: &'b Arc<BrokerCore>, method: Method, once: &'b [ApprovalKey]) -> Self {
        Self {
            inner,
            method,
            once,
            beneath: None,
            asks: Vec::new(),
            note: None,
        }
    }

    /// The same for files in a directory only.
    pub(crate) fn with_beneath(self, beneath: Option<Arc<ProjectPath>>) -> Self {
        Self { beneath, ..self }
    }

    /// The directory that every file of the request must be in, if it is not the workspace.
    pub(crate) fn beneath(&self) -> Option<&Arc<ProjectPath>> {
        self.beneath.as_ref()
    }

    /// Checks that a canonical path lies where the files of the request may be; `text` is the path as the
    /// tool wrote it.
    pub(crate) fn expect_beneath(&self, path: &ProjectPath, text: &str) -> Result<(), ErrorReply> {
        match &self.beneath {
            Some(directory) if !path.starts_with(directory) => Err(ErrorReply::escape(text)),
            _ => Ok(()),
        }
    }

    /// What is asked for.
    pub(crate) fn method(&self) -> Method {
        self.method
    }

    /// What was approved for this one request.
    pub(crate) fn once(&self) -> &'b [ApprovalKey] {
        self.once
    }

    /// The permit for a target; `None` if somebody has to be asked first. `path` is the path as the
    /// tool wrote it, if it is about one.
    pub(crate) fn permit<T: ApprovableTarget>(
        &mut self,
        target: T,
        path: Option<&str>,
    ) -> Result<Option<Permit<T>>, ErrorReply> {
        let policy = &self.inner.policy;
        let decision = target.decide(policy);
        let kind = denial::kind_of(decision.verdict, &decision.reason);
        let mut note = DecisionNote {
            target: target.shown(),
            reason: decision.why(target.operation()),
            rule: decision.rule.map(|rule| rule.to_string()),
            origin: decision.rule.map(|rule| rule.origin().to_string()),
            hint: None,
        };
        let refused = match policy.permit(target) {
            Ok(permit) => {
                self.note.get_or_insert(note);
                return Ok(Some(permit));
            }
            Err(refused) => refused,
        };
        let target = refused.target();
        let around = DenialContext {
            policy,
            table: &self.inner.table,
            root: self.inner.files.display_root().as_str(),
            resource: target.resource(),
            target: &note.target,
        };
        let reply = denial::error_reply(kind, &refused.refusal, &around, path);
        note.hint = reply.data.hint.clone();
        if refused.refusal.verdict != Verdict::Uncovered {
            self.note = Some(note);
            return Err(reply);
        }
        let key = ApprovalKey::of(&self.inner.tool, target);
        let approved = if self.once.contains(&key) {
            Some("approved once")
        } else if self.inner.approvals.has(&key) {
            Some("approved for this turn")
        } else {
            None
        };
        let Some(approved) = approved else {
            if self.asks.iter().all(|ask| ask.key != key) {
                let rule = refused.refusal.suggestion.as_ref();
                let ask = ApprovalRequest {
                    operation: refused.refusal.operation,
                    target: note.target.clone(),
                    why: refused.refusal.why.clone(),
                    rule: rule
                        .map(|rule| jig_proto::offered_rule(rule.to_toml_in(&self.inner.table))),
                    reply,
                    key,
                };
                // The line in the log is about what is missing, not about what is granted.
                if self.asks.is_empty() {
                    self.note = Some(note);
                }
                self.asks.push(ask);
            }
            return Ok(None);
        };
        let why = format!("{approved}: {}", note.reason);
        match refused.approve() {
            Ok(permit) => {
                note.hint = None;
                match &mut self.note {
                    Some(main) => {
                        let more =
                            format!("; {} on {} {why}", permit.target().operation(), note.target);
                        main.reason.push_str(&more);
                    }
                    None => {
                        note.reason = why;
                        self.note = Some(note);
                    }
                }
                Ok(Some(permit))
            }
            Err(_) => {
                self.note = Some(note);
                Err(reply)
            }
        }
    }

    /// Whether somebody has to be asked.
    pub(crate) fn must_ask(&self) -> bool {
        !self.asks.is_empty()
    }

    pub(crate) fn take_asks(&mut self) -> Vec<ApprovalRequest> {
        std::mem::take(&mut self.asks)
    }

    /// Says what the request is about, where no single target does.
    pub(crate) fn note(&mut self, target: String, reason: &str) {
        self.note.get_or_insert(DecisionNote {
            target,
            reason: reason.to_owned(),
            rule: None,
            origin: None,
            hint: None,
        });
    }

    /// Adds to what the audit line names as the target.
    pub(crate) fn extend_target(&mut self, more: &str) {
        if let Some(note) = &mut self.note {
            note.target.push_str(more);
        }
    }

    /// Whether anything was decided yet.
    pub(crate) fn has_decided(&self) -> bool {
        self.note.is_some()
    }

    /// The audit record of the request.
    pub(crate) fn record(&self, decision: AuditDecision, time: Timestamp) -> AuditRecord {
        AuditRecord::new(self.inner, self.method, decision, time, self.note.clone())
    }
}
