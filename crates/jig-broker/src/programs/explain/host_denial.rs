//! Denials outside the workspace: what `sandbox.system` or a preset would show.

use std::path::{Path, PathBuf};

use jig_proto::{Denial, Hint, hint};
use jig_sandbox::Rights;

use super::context::{ExplainedPathKind, RunSurroundings, canonical, stands};
use super::missing::{MissingAccess, MissingReason};
use super::sandbox_toml::{self, SystemPathEntry};
use crate::programs::confine::{ConfinedPaths, Preset, is_opened_by_preset, preset_showing};

/// What is to be said about a path of the host.
pub(super) fn denial(around: &RunSurroundings<'_>, one: &MissingAccess, path: &Path) -> Denial {
    let operation = operation(one.rights);
    let mut shown = around.shown(path);
    if one.paths > 1 {
        shown.push('/');
    }
    let denial = Denial {
        grants: grants(around),
        ..Denial::new(operation, shown, why(around, one, path))
    };
    if one.because == MissingReason::Own && one.rights.has(Rights::EXECUTE) && one.asked == *path {
        return no_programs(denial);
    }
    // By a link the same thing has an innocent name.
    let real = canonical(path).unwrap_or_else(|| path.to_owned());
    if around.is_ours(path) || around.is_ours(&real) {
        return advise(
            denial,
            hint!("it is a file of jig's own, which no tool is shown"),
        );
    }
    if let Some(pattern) = around.sensitive(path).or_else(|| around.sensitive(&real)) {
        return sensitive(around, denial, path, pattern);
    }
    if one.because == MissingReason::Withheld {
        let advice = hint!("not everybody on this machine may read it, so no rule is offered");
        return advise(denial, advice);
    }
    if let Some(preset) = preset(around, one, path) {
        let hint = Some(sandbox_toml::presets(around, preset));
        return Denial { hint, ..denial };
    }
    opened(around, one, path, denial)
}

/// A program that the host would find, and the sandbox does not show.
pub(super) fn program(around: &RunSurroundings<'_>, name: &str, path: &Path) -> Denial {
    let shown = around.shown(path);
    let why = format!("it is installed as `{shown}`, which the sandbox does not show");
    let denial = Denial {
        grants: grants(around),
        ..Denial::new("run", name, why)
    };
    let file = canonical(path).unwrap_or_else(|| path.to_owned());
    let rights = Rights::READ.with(Rights::EXECUTE);
    if let Some(preset) = showing(around, &file, path, rights) {
        let hint = Some(sandbox_toml::presets(around, preset));
        return Denial { hint, ..denial };
    }
    // A program is found by its name only if the directory can be searched.
    let Some(directory) = path.parent() else {
        return denial;
    };
    if around.is_broad(directory) || around.holds_what_is_withheld(directory) {
        let advice = hint!(
            "its directory holds more than programs, so no rule is offered that opens it: put the program \
                      into the workspace, below a path whose rule has `execute = true`"
        );
        return advise(denial, advice);
    }
    let hint = sandbox_toml::system(
        around,
        &SystemPathEntry {
            path: directory,
            write: false,
            execute: true,
        },
    );
    Denial { hint, ..denial }
}

/// A socket behind which somebody listens who has the rights of the user, or more.
pub(super) fn socket(around: &RunSurroundings<'_>, path: &Path) -> Denial {
    let shown = around.shown(path);
    let why = "it is a socket of the host, and the sandbox shows none";
    let advice = hint!(
        "whoever listens there does not act with the tool's rights but with its own, so no rule is offered; if \
         that is meant, add \"{shown}\" to `sandbox.system`"
    );
    advise(Denial::new("connect", shown, why), advice)
}

fn why(around: &RunSurroundings<'_>, one: &MissingAccess, path: &Path) -> String {
    let many = match one.paths {
        1 => String::new(),
        paths => format!("{paths} paths in it: "),
    };
    let makes = one.rights.has(Rights::CREATE);
    let why = match one.because {
        MissingReason::Withheld => "it is a secret of the system".to_owned(),
        MissingReason::Own if makes => {
            "the tool has a directory of its own there, in which nothing leads to it".to_owned()
        }
        MissingReason::Own if one.asked.starts_with(around.private_home) => {
            "it is there, but the tool has a home of its own, without it".to_owned()
        }
        MissingReason::Own if one.asked == *path && one.rights == Rights::EXECUTE => {
            "the directories of the tool's own hold no programs, since no rule grants `execute`"
                .to_owned()
        }
        MissingReason::Own => {
            "it is there, but the tool has a directory of its own for temporary files".to_owned()
        }
        MissingReason::Hidden if makes => "the sandbox does not show where it would be".to_owned(),
        MissingReason::Hidden => "it is there, but the sandbox does not show it".to_owned(),
        MissingReason::Restricted if one.rights.has_any(Rights::WRITE) => {
            "the sandbox shows it for reading only".to_owned()
        }
        MissingReason::Restricted if one.rights.has(Rights::EXECUTE) => {
            "the sandbox shows it, but lets no program there be run".to_owned()
        }
        MissingReason::Restricted => "the sandbox does not let it be read".to_owned(),
    };
    format!("{many}{why}")
}

fn no_programs(denial: Denial) -> Denial {
    let advice =
        hint!("put the program into the workspace, below a path whose rule has `execute = true`");
    advise(denial, advice)
}

fn sensitive(around: &RunSurroundings<'_>, denial: Denial, path: &Path, pattern: &str) -> Denial {
    let shown = around.shown(path);
    let why = format!("it is a sensitive path (`{pattern}`), which the sandbox does not show");
    let advice = hint!(
        "whoever reads it may act as you, so no rule is offered; if that is meant, add \"{shown}\" to \
         `sandbox.system`"
    );
    advise(Denial { why, ..denial }, advice)
}

fn advise(denial: Denial, advice: Hint) -> Denial {
    Denial {
        advice: Some(advice.into()),
        ..denial
    }
}

/// The preset that stands for the path.
fn preset(around: &RunSurroundings<'_>, one: &MissingAccess, path: &Path) -> Option<Preset> {
    let is_missing = !around.settings.presets.contains(&Preset::Git);
    let policy = &around.inner.policy;
    if is_missing && is_opened_by_preset(&around.root, policy, path, one.rights) {
        return Some(Preset::Git);
    }
    if one.rights.has_any(Rights::WRITE) {
        return None;
    }
    let file = canonical(path)?;
    showing(around, &file, &one.asked, one.rights)
}

fn showing(
    around: &RunSurroundings<'_>,
    file: &Path,
    asked: &Path,
    rights: Rights,
) -> Option<Preset> {
    let places = ConfinedPaths {
        root: &around.root,
        private_home: around.private_home,
        found: around.found,
    };
    preset_showing(around.inner, around.settings, &places, file, asked, rights)
}

/// The denial with the entry of `sandbox.system` that would open the path.
fn opened(
    around: &RunSurroundings<'_>,
    one: &MissingAccess,
    path: &Path,
    denial: Denial,
) -> Denial {
    let write = one.rights.has_any(Rights::WRITE);
    if write && around.is_system(path) {
        let advice = hint!(
            "it belongs to the system: write into the workspace, or to the tool's own `/tmp`"
        );
        return advise(denial, advice);
    }
    let (place, is_there) = match one.paths {
        1 => place(around, one, path),
        _ => (path.to_owned(), true),
    };
    if !is_there && is_for_once(&place) {
        let folder = place.parent().unwrap_or(&place);
        let advice = hint!(
            "it has a name for once, which no rule can tell beforehand, and `{}` holds too much to be opened: have \
             the program write to the workspace, or to a folder of its own that `sandbox.system` names with \
             `write = true`",
            around.shown(folder)
        );
        return advise(denial, advice);
    }
    if around.holds_what_is_withheld(&place) {
        let shown = around.shown(&place);
        let advice = hint!(
            "the folder `{shown}` holds what no tool is meant to see, and an entry opens all of it, so no rule is \
             offered; name only what is needed in `sandbox.system`, or put it elsewhere"
        );
        return advise(denial, advice);
    }
    let hint = sandbox_toml::system(
        around,
        &SystemPathEntry {
            path: &place,
            write,
            execute: one.rights.has(Rights::EXECUTE),
        },
    );
    let advice = match (&hint, is_there) {
        (None, _) => Some(hint!("its name is no text, so that no rule can name it")),
        (Some(_), true) => None,
        (Some(_), false) => {
            let shown = around.shown(&place);
            Some(hint!(
                "make it first: what does not exist cannot be shown (`{shown}`)"
            ))
        }
    };
    Denial {
        hint,
        advice: advice.map(String::from),
        ..denial
    }
}

/// What has to be opened, and whether it exists. What is made or removed is an entry of its directory, unless
/// that holds too much else.
fn place(around: &RunSurroundings<'_>, one: &MissingAccess, path: &Path) -> (PathBuf, bool) {
    let is_entry = one.rights.has_any(Rights::CREATE.with(Rights::DELETE));
    if stands(path) == ExplainedPathKind::Directory && one.rights.has(Rights::CREATE) {
        return (path.to_owned(), true);
    }
    match path.parent() {
        Some(parent) if is_entry && !around.is_broad(parent) => (parent.to_owned(), true),
        _ => (path.to_owned(), stands(path) != ExplainedPathKind::Nothing),
    }
}

/// Whether a file has a name that programs make up anew each time: to be written and then renamed, say.
fn is_for_once(path: &Path) -> bool {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
        return false;
    };
    let ends = [".tmp", ".temp", ".part", ".swp", ".swx", "~"];
    // Letters alone may be a word, and digits alone a date.
    let is_random = |part: &str| {
        part.len() >= 8
            && part.bytes().all(|byte| byte.is_ascii_hexdigit())
            && part.bytes().any(|byte| byte.is_ascii_digit())
            && part.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    ends.iter().any(|end| name.ends_with(end)) || name.split(['.', '-', '_']).any(is_random)
}

/// What the tool has outside the workspace besides the system.
fn grants(around: &RunSurroundings<'_>) -> Vec<String> {
    let presets = around.settings.presets.iter();
    let presets = presets.map(|preset| format!("the preset `{preset}`"));
    let system = around.settings.system.iter().map(|access| {
        let mut rights = "read".to_owned();
        rights.push_str(if access.write { ", write" } else { "" });
        rights.push_str(if access.execute { ", execute" } else { "" });
        format!("{rights} on `{}`", around.shown(&access.path))
    });
    presets.chain(system).take(Denial::MAX_GRANTS).collect()
}

/// The word for what was wanted, the most telling if it was several things.
fn operation(rights: Rights) -> &'static str {
    let words = [
        (Rights::CREATE, "create"),
        (Rights::UPDATE, "update"),
        (Rights::DELETE, "delete"),
        (Rights::EXECUTE, "execute"),
    ];
    let word = words.into_iter().find(|(right, _)| rights.has(*right));
    word.map_or("read", |(_, word)| word)
}
