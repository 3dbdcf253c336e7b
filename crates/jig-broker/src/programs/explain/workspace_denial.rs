//! Denials inside the workspace, in the words of the policy.

use std::path::Path;

use jig_policy::{
    Capability, FileCapabilities, FileTarget, Protected, Reason, Refusal, ResolvedPath, Suggestion,
};
use jig_proto::visible_line_to;
use jig_proto::{Denial, ProjectPath};
use jig_sandbox::Rights;

use super::context::{ExplainedPathKind, RunSurroundings, stands};
use super::missing::MissingAccess;
use super::sandbox_toml;
use crate::denial::{self, DenialContext};
use crate::programs::confine::Preset;

/// What the policy says about it.
pub(super) fn denial(
    around: &RunSurroundings<'_>,
    one: &MissingAccess,
    path: &ProjectPath,
) -> Denial {
    let shown = match one.paths {
        1 => path.to_string(),
        // What is told of a directory is about what is in it.
        _ => format!("{path}/"),
    };
    if let Some(directory) = unchangeable(around, one)
        && wanted(one.rights).all(|capability| refusal(around, capability, path).is_none())
    {
        return beside_something_withheld(around, one, &shown, directory);
    }
    let mut main: Option<Refusal> = None;
    let mut suggested: Option<Suggestion> = None;
    let mut granted = None;
    for capability in wanted(one.rights) {
        let place = place(around, one, capability, path);
        let (refused, needed) = match (refusal(around, capability, path), &place) {
            (Some(refused), Some(place))
                if is_entry(capability) && !is_named_only(around, path) =>
            {
                // What no rule can open on the path itself is not opened by one on its directory, and a rule
                // on the path counts for more than that.
                let itself = refused.suggestion.clone();
                let needed = match (itself, entries(around, capability, place)) {
                    (None, _) => None,
                    (Some(itself), Some(entries)) if has_rule(around, path) => {
                        Some(entries.and(itself))
                    }
                    (Some(itself), entries) => entries.or(Some(itself)),
                };
                (refused, needed)
            }
            (Some(refused), _) => (refused.clone(), refused.suggestion),
            // A rule names the file, which is made and removed in its directory.
            (None, Some(place)) if *place != *path => {
                let Some(above) = refusal(around, capability, place) else {
                    continue;
                };
                granted.get_or_insert((capability, place.clone()));
                (above, entries(around, capability, place))
            }
            (None, _) => continue,
        };
        main.get_or_insert(refused);
        suggested = both(suggested, needed);
    }
    let Some(mut refusal) = main else {
        return held_back(around, one, &shown);
    };
    let inner = around.inner;
    let full = around.root.join(path.as_str());
    let is_made_first = is_named_only(around, path) && stands(&full) == ExplainedPathKind::Nothing;
    // Nothing around a sensitive file says anything about it.
    if is_made_first && suggested.is_some() && inner.policy.sensitive().find(path).is_some() {
        suggested = for_changes(around, path).or(suggested);
    }
    refusal.suggestion = suggested;
    let mut told = denial::denial(
        &refusal,
        &DenialContext {
            policy: &inner.policy,
            table: &inner.table,
            root: inner.files.display_root().as_str(),
            resource: jig_policy::RuleKind::Fs,
            target: &shown,
        },
    );
    if let Some((capability, place)) = granted {
        told.why = format!(
            "a rule grants it, but a confined program can {capability} only where it may change the \
             directory, `{place}`"
        );
    }
    // No single rule is enough for git, which makes a lock beside each file that it changes.
    if is_of_git(around, one.rights, path) {
        told.hint = Some(sandbox_toml::presets(around, Preset::Git));
        return told;
    }
    // What nothing opens need not be made.
    if is_made_first && told.hint.is_some() {
        let advice = jig_proto::hint!(
            "a confined program cannot make what only a rule that names it covers: make it first, empty"
        );
        told.advice = Some(advice.into());
    }
    told
}

/// The rule under which a confined program can change a file that a person has made for it. The kernel does not hold
/// one that withholds a part of the changes, or the reading, that is allowed above.
fn for_changes(around: &RunSurroundings<'_>, path: &ProjectPath) -> Option<Suggestion> {
    let policy = &around.inner.policy;
    let above = path.parent().map(|above| policy.granted(&above));
    let changes = match around
        .given
        .is_changed_above(&around.root.join(path.as_str()))
    {
        true => FileCapabilities::WRITE,
        false => Capability::Update.into(),
    };
    let wanted = match above.is_some_and(|above| above.has(Capability::Read)) {
        true => changes.with(Capability::Read.into()),
        false => changes,
    };
    Suggestion::granting(policy, path, wanted)
}

fn both(one: Option<Suggestion>, other: Option<Suggestion>) -> Option<Suggestion> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.and(other)),
        (one, other) => one.or(other),
    }
}

/// Whether it is done to a directory.
fn is_entry(capability: Capability) -> bool {
    matches!(capability, Capability::Create | Capability::Delete)
}

/// The rule under which a confined program can make or remove the entries of a directory. Where changes are
/// allowed above it, the kernel holds a rule only if it grants all of them.
fn entries(
    around: &RunSurroundings<'_>,
    capability: Capability,
    directory: &ProjectPath,
) -> Option<Suggestion> {
    let full = around.root.join(directory.as_str());
    let wanted = match around.given.is_changed_above(&full) {
        true => FileCapabilities::WRITE,
        false => capability.into(),
    };
    Suggestion::granting(&around.inner.policy, directory, wanted)
}

/// The directory that something is wanted in, if no name in it can be made or removed.
fn unchangeable<'a>(around: &RunSurroundings<'_>, one: &'a MissingAccess) -> Option<&'a Path> {
    match one.paths {
        1 => around.unchangeable_above(&one.asked),
        _ => {
            let mut all = around.unchangeable.iter();
            let asked = one.asked.as_path();
            all.any(|other| other == asked).then_some(asked)
        }
    }
}

/// What the policy grants, and what this machine cannot grant without opening something else.
fn beside_something_withheld(
    around: &RunSurroundings<'_>,
    one: &MissingAccess,
    shown: &str,
    directory: &Path,
) -> Denial {
    let directory = around.in_workspace(directory).unwrap_or_default();
    let (holder, there) = match directory.is_root() {
        true => ("the workspace's own folder".to_owned(), "in the workspace"),
        false => (format!("`{directory}`"), "in there"),
    };
    let why = format!(
        "the rules grant it, but {holder} holds something that is withheld, and without user namespaces nothing can \
         be made, removed or renamed beside that"
    );
    let advice = format!(
        "use what exists {there}: write into a folder in it, or make the name yourself first; `jig doctor` says how to \
         get user namespaces, with which this works"
    );
    Denial {
        advice: Some(advice),
        why,
        ..held_back(around, one, shown)
    }
}

/// What the policy grants and the sandbox cannot open.
fn held_back(around: &RunSurroundings<'_>, one: &MissingAccess, shown: &str) -> Denial {
    let operation = wanted(one.rights).next().map_or("use", Capability::name);
    Denial {
        grants: denial::grants(&around.inner.policy, jig_policy::RuleKind::Fs),
        ..Denial::new(
            operation,
            visible_line_to(shown, denial::MAX_TARGET),
            "the rules grant it, but the sandbox of this program does not",
        )
    }
}

/// The path on which a capability has to be granted so that the operating system can hold it: what is made
/// or removed is an entry of its directory.
fn place(
    around: &RunSurroundings<'_>,
    one: &MissingAccess,
    capability: Capability,
    path: &ProjectPath,
) -> Option<ProjectPath> {
    if one.paths > 1 {
        return Some(path.clone());
    }
    match capability {
        capability if is_entry(capability) => {
            let mut above = path.parent()?;
            while stands(&around.root.join(above.as_str())) != ExplainedPathKind::Directory {
                above = above.parent()?;
            }
            Some(above)
        }
        _ => Some(path.clone()),
    }
}

fn refusal(
    around: &RunSurroundings<'_>,
    capability: Capability,
    path: &ProjectPath,
) -> Option<Refusal> {
    let target = FileTarget {
        capability,
        path: ResolvedPath::from_handle(path.clone()),
    };
    let refused = around.inner.policy.permit(target).err()?;
    Some(refused.refusal)
}

/// Whether a declared rule is on exactly this path.
fn has_rule(around: &RunSurroundings<'_>, path: &ProjectPath) -> bool {
    let mut rules = around.inner.policy.fs_rules().iter();
    rules.any(|rule| rule.path() == path)
}

/// Whether only a rule that names the path covers it.
fn is_named_only(around: &RunSurroundings<'_>, path: &ProjectPath) -> bool {
    let policy = &around.inner.policy;
    policy.sensitive().find(path).is_some() || policy.protection(path).is_some()
}

/// Whether something that is wanted is refused only because git obeys what is there, so that the preset `git`
/// allows it.
fn is_of_git(around: &RunSurroundings<'_>, rights: Rights, path: &ProjectPath) -> bool {
    let refused = wanted(rights).filter_map(|capability| {
        let path = ResolvedPath::from_handle(path.clone());
        let decision = around.inner.policy.decide_fs(capability, &path);
        (!decision.is_allowed()).then_some(decision.reason)
    });
    let refused: Vec<Reason<'_>> = refused.collect();
    let is_of_git = |reason: &Reason<'_>| matches!(reason, Reason::NamedOnly(what) if Protected::is_of_git(what));
    !refused.is_empty()
        && refused.iter().all(is_of_git)
        && !around.settings.presets.contains(&Preset::Git)
}

/// What is wanted, the most telling first.
fn wanted(rights: Rights) -> impl Iterator<Item = Capability> {
    let all = [
        (Rights::CREATE, Capability::Create),
        (Rights::UPDATE, Capability::Update),
        (Rights::DELETE, Capability::Delete),
        (Rights::EXECUTE, Capability::Execute),
        (Rights::READ, Capability::Read),
    ];
    all.into_iter()
        .filter(move |(right, _)| rights.has(*right))
        .map(|(_, capability)| capability)
}
