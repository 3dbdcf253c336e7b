//! Profiles are written as lines, `d rcud /w` for a declared rule with all but execute; steps are read as
//! lines, `bind w noexec`.

mod bare;
mod landlock;
mod mounts;
mod network;
mod order_text;
mod overlay;
mod replaced;
mod statuses;
mod terminal;

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use self::order_text::lines;
use super::host_path::{FileIdentity, HostPathState};
use super::*;
use crate::profile::{
    Enforce, Layers, Overlay, PathRule, PrivateContent, PrivateDirectory, PrivateFile, Rights,
    RuleSource,
};

/// A host of these paths: a directory ends with a slash, a link has an arrow.
struct Tree(HashMap<PathBuf, HostPathState>);

impl Tree {
    fn of(paths: &str) -> Self {
        let mut tree = HashMap::from([(PathBuf::from("/"), HostPathState::Directory)]);
        for path in paths.split_whitespace() {
            let (path, found) = match (path.split_once("->"), path.strip_suffix('/')) {
                (Some((path, to)), _) => (path, HostPathState::Link(to.into())),
                (_, Some(directory)) => (directory, HostPathState::Directory),
                _ => (path, HostPathState::File),
            };
            for above in Path::new(path).ancestors().skip(1) {
                tree.entry(above.to_owned())
                    .or_insert(HostPathState::Directory);
            }
            tree.insert(path.into(), found);
        }
        Self(tree)
    }
}

impl HostLookup for Tree {
    fn lookup(&mut self, path: &Path) -> HostPathState {
        self.0.get(path).cloned().unwrap_or(HostPathState::Missing)
    }

    /// As its name says.
    fn has_other_names(&mut self, path: &Path) -> bool {
        path.to_string_lossy().contains("linked")
    }

    /// All files whose names say that they have others are one.
    fn identity(&mut self, path: &Path) -> Option<FileIdentity> {
        self.has_other_names(path).then_some((1, 1))
    }

    /// A directory that is full has more than anybody wants.
    fn names(&mut self, directory: &Path, most: usize) -> Option<Vec<OsString>> {
        if directory.ends_with("full") {
            return None;
        }
        let below = self
            .0
            .keys()
            .filter(|path| path.parent() == Some(directory));
        let mut names: Vec<OsString> = below
            .flat_map(|path| path.file_name())
            .map(Into::into)
            .collect();
        names.sort();
        (names.len() <= most).then_some(names)
    }
}

/// Rules, private directories (`p`), those that are sealed, replaced files, pins and a door, one a line.
fn profile(text: &str) -> Profile {
    let mut profile = Profile::closed();
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["p", path] => profile.private.push(PrivateDirectory {
                path: path.into(),
                size: 1 << 20,
                executable: false,
            }),
            ["px", path] => profile.private.push(PrivateDirectory {
                path: path.into(),
                size: 1 << 20,
                executable: true,
            }),
            ["pin", path] => profile.pins.push(path.into()),
            ["door", path] => profile.door = Some(path.into()),
            ["replace", path] => profile.replaced.push(PrivateFile {
                path: path.into(),
                content: PrivateContent::Text(b"ours".to_vec()),
            }),
            ["layer", path] => profile.overlays.push(Overlay {
                path: path.into(),
                upper: "/state/u".into(),
                work: "/state/w".into(),
                cache: false,
            }),
            ["seal", path] => profile.sealed.push(path.into()),
            [source, granted, path] => profile.paths.push(PathRule {
                path: path.into(),
                rights: rights(granted),
                source: match source {
                    "s" => RuleSource::System,
                    "d" => RuleSource::Declared,
                    "i" => RuleSource::Implied,
                    "g" => RuleSource::Guard,
                    other => panic!("no source `{other}`"),
                },
            }),
            _ => panic!("no line of a profile: `{line}`"),
        }
    }
    profile
}

fn rights(letters: &str) -> Rights {
    letters.chars().fold(Rights::NONE, |all, letter| {
        all.with(match letter {
            'r' => Rights::READ,
            'c' => Rights::CREATE,
            'u' => Rights::UPDATE,
            'd' => Rights::DELETE,
            'x' => Rights::EXECUTE,
            _ => Rights::NONE,
        })
    })
}

fn compiled(
    tree: &str,
    profile: &Profile,
    tier: Tier,
    abi: u32,
) -> Result<ConfinementSteps, ProfileError> {
    let limits = ProcessLimits::default();
    let host = &mut Tree::of(tree);
    compile_on(host, skeleton::before, profile, &limits, tier, abi)
}

#[track_caller]
fn refusal(tree: &str, text: &str, tier: Tier) -> String {
    match compiled(tree, &profile(text), tier, 7) {
        Err(refused) => refused.to_string(),
        Ok(_) => panic!("`{text}` was not refused"),
    }
}

#[test]
fn paths_must_be_in_their_one_form() {
    for path in ["relative", "/a/../b", ""] {
        let mut odd = profile("d r /a");
        odd.paths[0].path = path.into();
        let expected = ProfileError::NotCanonical { path: path.into() };
        assert_eq!(compiled("/a/", &odd, Tier::A, 7), Err(expected));
    }
    let mut odd = profile("d r /a");
    odd.pins.push("/a\0b".into());
    assert!(compiled("/a/", &odd, Tier::B, 7).is_err());
}

#[test]
fn what_is_made_is_made_in_private_directories_only() {
    assert!(compiled("/w/", &profile("p /p\ndoor /p/door"), Tier::A, 7).is_ok());
    for text in [
        "door /door",
        "p /w\nd rcud /w/x\ndoor /w/x/door",
        "d rcud /w\ndoor /w/door",
        "d rcud /w\nseal /w",
        "p /w\nseal /w/x",
    ] {
        assert!(
            refusal("/w/x/", text, Tier::A).contains("private directory"),
            "{text}"
        );
    }
}

/// what cannot be enforced at all is not started, unless that was accepted.
#[test]
fn a_machine_without_means_is_refused_or_accepted() {
    let mut asked = profile("d r /w");
    assert_eq!(
        compiled("/w/", &asked, Tier::None, 0),
        Err(ProfileError::NothingToConfineWith)
    );
    for tier in [Tier::A, Tier::B] {
        assert_eq!(
            compiled("/w/", &asked, tier, 0),
            Err(ProfileError::NothingToConfineWith)
        );
    }
    asked.enforce = Enforce::BestEffort;
    assert!(compiled("/w/", &asked, Tier::A, 0).is_ok());
    let accepted = compiled("/w/", &asked, Tier::None, 0).unwrap();
    assert!(!accepted.namespaces && accepted.landlock.is_none() && accepted.filter.is_empty());
    assert_eq!((accepted.base.len(), accepted.steps.len()), (0, 0));
}

#[test]
fn layers_can_be_left_out() {
    let mut asked = profile("d r /w");
    asked.layers = Layers {
        namespaces: true,
        landlock: 0,
        seccomp: false,
        supervisor: false,
    };
    let without = compiled("/w/", &asked, Tier::A, 7).unwrap();
    assert!(without.landlock.is_none() && without.filter.is_empty() && without.namespaces);
    assert!(
        lines(&without.base)
            .iter()
            .all(|line| !line.starts_with("allow"))
    );
    assert!(
        lines(&without.steps)
            .iter()
            .all(|line| !line.starts_with("allow"))
    );
    asked.layers = Layers::TIER_B;
    let bare = compiled("/w/", &asked, Tier::A, 7).unwrap();
    assert!(!bare.namespaces && !bare.own_network && bare.landlock.is_some());
}
