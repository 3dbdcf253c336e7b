//! What of a rule does not follow the links on its path, once more, and plainly.

use jig_policy::{
    Capability, DeclaredFsRule, FileCapabilities, Guards, Planter, Planters, Protected,
    ProtectionLevel,
};

use super::Files;
use super::tree::{Names, Tree, links_on, resolve, written};

/// Somebody who may have left a link.
struct PlainPlanter<'a> {
    places: Vec<PlanterPlace>,
    /// `None`: the tool itself.
    other: Option<&'a Planter>,
}

/// Where a rule of a planter is: once by its text, and once where that leads.
struct PlanterPlace {
    path: Names,
    capabilities: FileCapabilities,
    by_link: bool,
}

fn places(tree: &Tree, rules: &[DeclaredFsRule]) -> Vec<PlanterPlace> {
    let mut places = Vec::new();
    for rule in rules {
        let Ok(text) = written(&rule.path) else {
            continue;
        };
        let real = resolve(tree, &rule.path).map(|(names, _)| names);
        let by_link = real.as_ref() != Ok(&text);
        for path in std::iter::once(text).chain(real.ok().filter(|_| by_link)) {
            places.push(PlanterPlace {
                path,
                capabilities: rule.capabilities,
                by_link,
            });
        }
    }
    places
}

/// What a rule does not decide at the place where its path leads. `files` holds the guards.
pub(crate) fn passed(
    rule: &DeclaredFsRule,
    own: &[DeclaredFsRule],
    guards: &Guards,
    files: &Files,
    tree: &Tree,
) -> FileCapabilities {
    let links = links_on(tree, &rule.path);
    let (Ok(text), Ok((real, _))) = (written(&rule.path), resolve(tree, &rule.path)) else {
        return FileCapabilities::NONE;
    };
    let others = match &guards.planters {
        _ if links.is_empty() => return FileCapabilities::NONE,
        Planters::Anyone => return FileCapabilities::NONE,
        Planters::These(others) => others,
    };
    let mut planters = vec![PlainPlanter {
        places: places(tree, own),
        other: None,
    }];
    for other in others {
        let mut places = places(tree, &other.rules);
        if other.rules.is_empty() {
            places.push(PlanterPlace {
                path: Names::default(),
                capabilities: other.default,
                by_link: false,
            });
        }
        planters.push(PlainPlanter {
            places,
            other: Some(other),
        });
    }
    let passes = |capability: &Capability| {
        let needed = match capability {
            Capability::Execute => Capability::Read,
            other => *other,
        };
        let gains = planters.iter().any(|planter| {
            let plants = links
                .iter()
                .any(|link| may_plant(planter, link, guards, files));
            plants && !holds(planter, needed, &real, guards, files)
        });
        gains || is_unnamed(*capability, &text, &real, guards, files, tree)
    };
    rule.capabilities.iter().filter(passes).collect()
}

/// The guarded parts of a path that count for a capability.
fn guarded(capability: Capability, path: &Names, files: &Files) -> Vec<(Names, bool)> {
    let writes = FileCapabilities::WRITE.has(capability);
    let sensitive = (1..=path.len()).map(|count| path.first(count));
    let sensitive = sensitive.filter(|part| files.is_sensitive(part));
    let mut found: Vec<(Names, bool)> = sensitive.map(|part| (part, false)).collect();
    let obeyed = files.obeyed(path);
    let protected = files.protected.iter().chain(&obeyed);
    let protected = protected.filter(|(guard, _)| writes && path.is_within(guard));
    found.extend(protected.map(|(guard, level)| (guard.clone(), *level == ProtectionLevel::Never)));
    found
}

/// Whether the links lead into something guarded that the text does not name.
fn is_unnamed(
    capability: Capability,
    text: &Names,
    real: &Names,
    guards: &Guards,
    files: &Files,
    tree: &Tree,
) -> bool {
    // What is never to be changed is refused whoever names it.
    let parts = guarded(capability, real, files);
    let is_never = parts.iter().any(|(_, never)| *never);
    parts.iter().any(|(part, never)| {
        // The name of a protected path that is a person's link stands for where it leads.
        let mut names = guards.protected.iter().map(|guard| guard.path.as_str());
        let by_name = names.any(|name| {
            let leads = resolve(tree, name).map(|(names, _)| names);
            leads.as_ref() == Ok(part) && text.is_within(&Names::of(name))
        });
        let named = text.is_within(part) || (by_name && !files.is_sensitive(part));
        !named && (*never || !is_never)
    })
}

fn may_plant(planter: &PlainPlanter<'_>, link: &Names, guards: &Guards, files: &Files) -> bool {
    let is_exempt = |part: &Names| {
        planter.other.is_some_and(|other| {
            let is_git = guards.protected.iter().any(|guard| {
                guard.path.as_str() == part.text() && Protected::is_of_git(&guard.what)
            });
            let is_git = is_git || files.is_of_git(part);
            let own = other.own.iter().any(|own| own.as_str() == part.text());
            own || (other.configures_git && is_git)
        })
    };
    let parts = guarded(Capability::Create, link, files);
    planter.places.iter().any(|place| {
        let writes = !(place.capabilities & FileCapabilities::WRITE).is_empty();
        let above = link != &place.path && link.is_within(&place.path);
        let named = parts
            .iter()
            .all(|(part, never)| is_exempt(part) || (!never && place.path.is_within(part)));
        writes && above && named
    })
}

/// Whether a planter has a capability on all of a place without the help of links.
fn holds(
    planter: &PlainPlanter<'_>,
    capability: Capability,
    real: &Names,
    guards: &Guards,
    files: &Files,
) -> bool {
    let writes = FileCapabilities::WRITE.has(capability);
    if let Some(other) = planter.other {
        let unknown = other
            .sensitive
            .iter()
            .any(|one| !guards.sensitive.patterns().any(|known| known == one));
        let own = guards.own.iter().map(|own| Names::of(own.as_str()));
        let around = own
            .into_iter()
            .any(|own| own.is_within(real) || real.is_within(&own));
        let git = !guards.lines.has_git() && !other.configures_git;
        if unknown || (writes && (around || git)) {
            return false;
        }
    }
    // Of rules by links only what they withhold counts.
    let counts = |place: &&PlanterPlace| !(place.by_link && place.capabilities.has(capability));
    let counting: Vec<&PlanterPlace> = planter.places.iter().filter(counts).collect();
    let all_below = counting
        .iter()
        .filter(|place| place.path != *real && place.path.is_within(real))
        .all(|place| place.capabilities.has(capability));
    let mut on_the_way: Vec<&PlanterPlace> = counting
        .into_iter()
        .filter(|place| real.is_within(&place.path))
        .collect();
    on_the_way.sort_by_key(|place| (place.path.len(), place.by_link));
    let Some(winner) = on_the_way.last() else {
        return false;
    };
    let named = guarded(capability, real, files)
        .iter()
        .all(|(part, _)| winner.path.is_within(part));
    all_below && winner.capabilities.has(capability) && named
}
