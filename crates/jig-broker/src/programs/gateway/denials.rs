//! [`Denials`]: what was refused, for people, models and the log.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use jig_policy::{ConnectionTarget, OwnedSpeaks, RefusedTarget, RuleKind, Target};
use jig_proto::Denial;
use jig_proto::visible_line_to;

use super::GatewayState;
use crate::audit::{AuditDecision, AuditEntry};
use crate::broker::BrokerCore;
use crate::denial::{self, DenialContext, MAX_TARGET};

/// What was refused so far, each once.
#[derive(Debug, Default)]
pub(super) struct Denials {
    kept: Mutex<KeptDenials>,
}

#[derive(Debug, Default)]
struct KeptDenials {
    denials: Vec<Denial>,
    /// How many refused lookups, and how many refused connections, were to be logged.
    lookups: usize,
    connections: usize,
    /// Since when they are counted.
    since: Option<Instant>,
}

impl Denials {
    /// What was refused so far.
    pub(super) fn all(&self) -> Vec<Denial> {
        self.kept().denials.clone()
    }

    /// The same, and begins anew.
    pub(super) fn take(&self) -> Vec<Denial> {
        std::mem::take(&mut self.kept().denials)
    }

    /// Keeps a denial, or counts one that is kept already; says whether it is new.
    fn keep(&self, denial: &Denial, counts: bool) -> bool {
        let mut kept = self.kept();
        if let Some(same) = kept.denials.iter_mut().find(|same| same.is_same(denial)) {
            same.count = same
                .count
                .saturating_add(if counts { denial.count } else { 0 });
            return false;
        }
        if kept.denials.len() < MAX_DENIALS {
            kept.denials.push(denial.clone());
        }
        true
    }

    /// How one more refusal is logged. A program can be refused as often as it likes, and what the log had before
    /// must not go for that.
    fn logged(&self, count: impl FnOnce(&mut KeptDenials) -> &mut usize) -> DenialLogging {
        let mut kept = self.kept();
        let since = *kept.since.get_or_insert_with(Instant::now);
        if since.elapsed() > LOGGED_ANEW {
            *kept = KeptDenials {
                denials: std::mem::take(&mut kept.denials),
                ..KeptDenials::default()
            };
        }
        let count = count(&mut kept);
        *count = count.saturating_add(1);
        match *count {
            ..MAX_LOGGED => DenialLogging::Fully,
            MAX_LOGGED => DenialLogging::AsTheLast,
            _ => DenialLogging::Not,
        }
    }

    fn kept(&self) -> MutexGuard<'_, KeptDenials> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How something is logged.
enum DenialLogging {
    Fully,
    AsTheLast,
    Not,
}

/// What the log says about a decision.
#[derive(Debug, Clone)]
pub(super) struct GatewayAuditNote {
    pub(super) target: String,
    reason: String,
    rule: Option<String>,
    origin: Option<String>,
    hint: Option<String>,
}

impl GatewayAuditNote {
    /// What the policy says of a target.
    pub(super) fn of(inner: &BrokerCore, target: &impl Target) -> Self {
        let decision = target.decide(&inner.policy);
        Self {
            target: target.to_string(),
            reason: decision.why(target.operation()),
            rule: decision.rule.map(|rule| rule.to_string()),
            origin: decision.rule.map(|rule| rule.origin().to_string()),
            hint: None,
        }
    }

    fn of_denial(denial: &Denial) -> Self {
        Self {
            target: denial.target.clone(),
            reason: denial.why.clone(),
            rule: denial.rule.clone(),
            origin: None,
            hint: denial.hint.clone(),
        }
    }
}

impl GatewayState {
    /// Keeps and logs that a connection was refused by the policy.
    pub(super) fn refuse<T: Target>(&self, refused: &RefusedTarget<T>) -> Box<Denial> {
        self.refuse_often(refused, 1)
    }

    /// The same for what was refused so often.
    pub(super) fn refuse_often<T: Target>(
        &self,
        refused: &RefusedTarget<T>,
        count: u64,
    ) -> Box<Denial> {
        let mut denial = self.denial_of(CONNECT, refused);
        denial.count = count;
        let mut note = GatewayAuditNote::of(&self.inner, refused.target());
        note.hint.clone_from(&denial.hint);
        self.keep_connection(denial, note)
    }

    /// Keeps and logs that a connection was refused for another reason than a rule.
    pub(super) fn refuse_because(&self, denial: Denial) -> Box<Denial> {
        let denial = self.clean(denial);
        let note = GatewayAuditNote::of_denial(&denial);
        self.keep_connection(denial, note)
    }

    fn keep_connection(&self, denial: Denial, note: GatewayAuditNote) -> Box<Denial> {
        if self.denials.keep(&denial, true) {
            self.refused.wake();
        }
        let logged = self.denials.logged(|kept| &mut kept.connections);
        self.log_refusal("net.connect", note, &logged);
        Box::new(denial)
    }

    /// Keeps and logs that a name was not looked up. `counts` is whether it is a lookup of its own: programs
    /// ask for both kinds of addresses.
    pub(super) fn refuse_lookup(&self, name: &str, counts: bool) {
        // A policy that allows something on a host has it looked up.
        let denial = lookup_refused(&self.inner, name, 443).unwrap_or_else(|| {
            Denial::new(
                LOOK_UP,
                visible_line_to(name, MAX_TARGET),
                "it cannot be a host",
            )
        });
        let denial = self.clean(denial);
        let is_new = self.denials.keep(&denial, counts);
        if is_new {
            self.refused.wake();
            let note = GatewayAuditNote::of_denial(&denial);
            let logged = self.denials.logged(|kept| &mut kept.lookups);
            self.log_refusal("net.lookup", note, &logged);
        }
    }

    fn log_refusal(&self, operation: &str, mut note: GatewayAuditNote, logged: &DenialLogging) {
        match logged {
            DenialLogging::Fully => {}
            DenialLogging::AsTheLast => note.reason.push_str("; further refusals are not written"),
            DenialLogging::Not => return,
        }
        self.log(operation, AuditDecision::Deny, note, None);
    }

    /// Logs how a permitted connection came about.
    pub(super) fn log_connection(&self, note: GatewayAuditNote, outcome: &str, took: Duration) {
        let ended = Some((outcome, took));
        self.log("net.connect", AuditDecision::Allow, note, ended);
    }

    fn log(
        &self,
        operation: &str,
        decision: AuditDecision,
        note: GatewayAuditNote,
        ended: Option<(&str, Duration)>,
    ) {
        let inner = &self.inner;
        inner.audit(AuditEntry {
            time: Timestamp::now(),
            tool: inner.tool.clone(),
            call: inner.call.clone(),
            handle: inner.handle.clone(),
            operation: operation.to_owned(),
            target: note.target,
            decision,
            reason: note.reason,
            rule: note.rule,
            origin: note.origin,
            outcome: ended.map(|(outcome, _)| outcome.to_owned()),
            duration_us: ended.map(|(_, took)| took.as_micros().try_into().unwrap_or(u64::MAX)),
            hint: note.hint,
        });
    }

    fn denial_of<T: Target>(&self, operation: &str, refused: &RefusedTarget<T>) -> Denial {
        self.clean(denial_of(&self.inner, operation, refused))
    }

    /// The denial without secrets and of bounded size: a program chooses what it asks for.
    fn clean(&self, denial: Denial) -> Denial {
        let mut denial = denial.bounded();
        if let Some(scrubber) = self.inner.secrets.scrubber() {
            denial.target = scrubber.text(denial.target);
            denial.why = scrubber.text(denial.why);
            denial.hint = denial.hint.map(|hint| scrubber.text(hint));
        }
        denial
    }
}

/// What is to be said of a name that is not looked up, and is wanted for this port; `None` if a rule allows it.
pub(crate) fn lookup_refused(inner: &BrokerCore, name: &str, port: u16) -> Option<Denial> {
    let target = ConnectionTarget {
        host: name.to_owned(),
        port,
        speaks: match port {
            443 => OwnedSpeaks::Tls,
            _ => OwnedSpeaks::Other,
        },
    };
    let refused = inner.policy.permit(target).err()?;
    Some(Denial {
        target: visible_line_to(name, MAX_TARGET),
        ..denial_of(inner, LOOK_UP, &refused)
    })
}

fn denial_of<T: Target>(inner: &BrokerCore, operation: &str, refused: &RefusedTarget<T>) -> Denial {
    let around = DenialContext {
        policy: &inner.policy,
        table: &inner.table,
        root: inner.files.display_root().as_str(),
        resource: RuleKind::Net,
        target: &refused.refusal.target,
    };
    Denial {
        operation: operation.to_owned(),
        ..denial::denial(&refused.refusal, &around)
    }
}

pub(super) const CONNECT: &str = "connect";
pub(crate) const LOOK_UP: &str = "look up";

/// How many denials are kept. A program can be refused any number of things.
const MAX_DENIALS: usize = 100;

/// After that time there is room in the log again: a program that stays is refused things for days.
const LOGGED_ANEW: Duration = Duration::from_secs(3600);

/// How many refused lookups, and how many refused connections, one gateway writes to the log in that time.
const MAX_LOGGED: usize = 1000;
