//! Whether a run mode, or a list of run rules, lets more calls through.

use std::ops::Range;

use crate::model::{NO_MATCH, RunMode, RunRule, RunRules};
use crate::origin::Origin;

/// A way in which calls are let through that were not.
pub(super) struct LooserRun<'a> {
    pub(super) what: String,
    /// The rule that does it, if it is one that was added or changed.
    pub(super) at: Option<&'a Origin>,
}

/// A rule, or the word that holds for every call.
struct RunRuleStep<'a> {
    rule: Option<&'a RunRule>,
    mode: RunMode,
}

impl RunRuleStep<'_> {
    fn strictness(&self) -> u8 {
        self.mode.strictness()
    }

    /// Whether both are about the same calls.
    fn is_about_the_same(&self, other: &RunRuleStep<'_>) -> bool {
        let conditions = |step: &RunRuleStep<'_>| step.rule.map_or(0, |rule| rule.conditions.len());
        match (self.rule, other.rule) {
            (Some(one), Some(other)) => one.conditions == other.conditions,
            _ => conditions(self) == 0 && conditions(other) == 0,
        }
    }
}

/// What lets more calls through in `new` than in `old`.
///
/// A list that came about by these steps alone lets none: a rule was taken out after which nothing looser came, a
/// rule was added before rules that are all no stricter, a mode was made stricter in its place. Each of them
/// makes the answer to no call less strict, whatever its arguments are. Anything else is taken for looser.
pub(super) fn looser<'a>(old: &RunRules, new: &'a RunRules) -> Vec<LooserRun<'a>> {
    let before = steps(old);
    let mut found = Vec::new();
    let mut next = 0;
    for step in steps(new) {
        let at = step.rule.map(RunRule::origin);
        let same = before[next..]
            .iter()
            .position(|other| other.is_about_the_same(&step));
        let Some(offset) = same else {
            let rest = &before[next..];
            if rest
                .iter()
                .any(|other| other.strictness() > step.strictness())
            {
                let what = format!("has a new run rule: {}", shown(&step));
                found.push(LooserRun { what, at });
            }
            continue;
        };
        found.extend(taken_out(&before, next..next + offset));
        next += offset + 1;
        let other = &before[next - 1];
        if step.strictness() < other.strictness() {
            let what = format!("now runs so: {} (before: {})", shown(&step), other.mode);
            found.push(LooserRun { what, at });
        }
    }
    found.extend(taken_out(&before, next..before.len()));
    found
}

/// The rules that are not there any more, without those after which nothing looser came.
fn taken_out<'a>(before: &[RunRuleStep<'_>], places: Range<usize>) -> Vec<LooserRun<'a>> {
    let is_looser = |place: &usize| {
        let rest = &before[place + 1..];
        let step = &before[*place];
        rest.iter()
            .any(|other| other.strictness() < step.strictness())
    };
    let told = places.filter(is_looser).map(|place| LooserRun {
        what: format!(
            "has a run rule less, or in another place: {}",
            shown(&before[place])
        ),
        at: None,
    });
    told.collect()
}

fn shown(step: &RunRuleStep<'_>) -> String {
    match step.rule {
        Some(rule) => rule.to_string(),
        None => step.mode.to_string(),
    }
}

/// All rules up to the one that is for every call, which may be nobody's.
fn steps(rules: &RunRules) -> Vec<RunRuleStep<'_>> {
    let every = |mode: RunMode| RunRuleStep { rule: None, mode };
    let list = match rules {
        RunRules::Always(mode) => return vec![every(*mode)],
        RunRules::ByArguments(list) => list,
    };
    let mut steps = Vec::with_capacity(list.len() + 1);
    for rule in list {
        steps.push(RunRuleStep {
            rule: Some(rule),
            mode: rule.mode,
        });
        if rule.conditions.is_empty() {
            return steps;
        }
    }
    steps.push(every(NO_MATCH));
    steps
}
