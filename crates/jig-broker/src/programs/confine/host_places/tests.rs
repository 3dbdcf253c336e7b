#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare folders from outside"
)]

use std::path::{Path, PathBuf};

use jig_policy::Sensitive;
use jig_sandbox::{Rights, RuleSource};

use super::super::shown_paths::ShownRules;
use super::super::testing::TestTree;
use super::super::{ConfineSettings, SystemAccess};
use super::{KeptPlaces, guard, keep_own};

/// What is shown and kept of folders below a tree. The workspace is `ws`, and may be changed.
struct Scene {
    tree: TestTree,
    shown: ShownRules,
    kept: KeptPlaces,
    guarded: bool,
}

impl Scene {
    /// A program may change the folders or files that are named.
    fn new(entries: &[&str], writable: &[&str]) -> Self {
        let tree = TestTree::new(entries);
        tree.put("ws/");
        let mut shown = ShownRules::default();
        let system = writable.iter().map(|path| SystemAccess {
            path: tree.root().join(path),
            write: true,
            execute: false,
        });
        let settings = ConfineSettings {
            system: system.collect(),
            ..ConfineSettings::default()
        };
        let all = Rights::READ.with(Rights::WRITE);
        for access in &settings.system {
            let path = access.path.canonicalize().unwrap();
            shown.add(path, all, RuleSource::Declared);
        }
        shown.add(tree.root().join("ws"), all, RuleSource::Declared);
        let mut kept = KeptPlaces::default();
        let root = tree.root().join("ws");
        let sensitive = Sensitive::default();
        let guarded = guard(&settings, &sensitive, &root, &mut shown, &mut kept).is_some();
        Self {
            tree,
            shown,
            kept,
            guarded,
        }
    }

    fn own(&mut self, path: &str) {
        let place = self.tree.root().join(path);
        keep_own(&place, Rights::READ, &mut self.shown, &mut self.kept);
    }

    /// Whether something at a path can be changed.
    fn can_change(&self, path: &str) -> bool {
        let rights = self.shown.rights(&self.tree.root().join(path));
        rights.has_any(Rights::WRITE)
    }

    /// The names that may not come into being, or not be replaced.
    fn forbidden(&self) -> Vec<PathBuf> {
        let names = self.kept.forbidden.iter().map(|name| {
            let path = name.base.as_deref().unwrap().join(name.path.as_str());
            path.strip_prefix(self.tree.root()).unwrap().to_owned()
        });
        let mut names: Vec<PathBuf> = names.collect();
        names.sort();
        names
    }

    fn is_pinned(&self, path: &str) -> bool {
        self.kept.pins.contains(&self.tree.root().join(path))
    }
}

#[test]
fn guards_hold_outside_the_workspace() {
    let scene = Scene::new(
        &[
            "out/src/main.rs",
            "out/.git/config",
            "out/.git/hooks/x",
            "out/.git/index",
            "out/deep/repo/.git/config",
            "out/deep/tree/.git = gitdir: x",
            "out/bare/HEAD",
            "out/bare/refs/",
            "out/bare/objects/",
            "out/deep/.env = secret",
            "ws/.env = mine",
        ],
        &["out"],
    );
    assert!(scene.guarded);
    for path in [
        "out/.git/hooks/x",
        "out/deep/tree/.git",
        "out/bare/config",
        "out/deep/.env",
    ] {
        assert!(!scene.can_change(path), "{path}");
    }
    for path in [
        "out/src/main.rs",
        "out/.git/index",
        "out/deep/repo/x",
        "ws/.env",
    ] {
        assert!(scene.can_change(path), "{path}");
    }
    // What may be read is read.
    let rights = scene.shown.rights(&scene.tree.root().join("out/deep/.env"));
    assert!(rights.has(Rights::READ));
    assert!(!Scene::new(&["out/.env"], &[]).guarded);
}

/// Configuration of jig in another workspace, and what agents and editors obey there.
#[test]
fn other_workspaces_keep_what_runs_in_them() {
    let entries = [
        "out/jig.toml",
        "out/deep/.jig/config.toml",
        "out/deep/.vscode/tasks.json",
        "out/.mcp.json",
        "out/src/a",
    ];
    let scene = Scene::new(&entries, &["out"]);
    for path in &entries[..4] {
        assert!(!scene.can_change(path), "{path}");
    }
    assert!(scene.can_change("out/src/a") && scene.can_change("out/deep/x"));
    // Whoever names it opens what agents obey, and never what jig loads.
    let scene = Scene::new(
        &entries,
        &["out/jig.toml", "out/deep/.vscode", "out/deep/.jig"],
    );
    assert!(!scene.can_change("out/jig.toml"));
    assert!(scene.can_change("out/deep/.vscode/tasks.json"));
    assert!(!scene.can_change("out/deep/.jig/config.toml"));
}

#[test]
fn what_is_named_is_opened_and_nothing_beside_it() {
    let scene = Scene::new(
        &["out/.env = x", "out/.env.local = x", "out/a"],
        &["out", "out/.env"],
    );
    assert!(scene.can_change("out/.env") && !scene.can_change("out/.env.local"));
}

/// Wherever it lies, whatever leads there, and whether it is there or not.
#[test]
fn no_right_reaches_the_configuration_of_the_person() {
    // It is there.
    let mut scene = Scene::new(
        &["home/.config/jig/config.toml", "home/.config/x"],
        &["home"],
    );
    scene.own("home/.config/jig");
    assert!(!scene.can_change("home/.config/jig/config.toml"));
    assert!(scene.can_change("home/.config/x"));
    assert!(scene.is_pinned("home/.config"));
    assert!(scene.forbidden().is_empty());
    // It was named itself.
    let mut scene = Scene::new(
        &["home/.config/jig/config.toml"],
        &["home/.config/jig", "home/.config/jig/config.toml"],
    );
    scene.own("home/.config/jig");
    assert!(!scene.can_change("home/.config/jig/new"));
    // It is not there, nor is what it would lie in.
    for (entries, base) in [
        (&["home/.config/x"][..], "home/.config"),
        (&["home/"], "home"),
    ] {
        let mut scene = Scene::new(entries, &["home"]);
        scene.own("home/.config/jig");
        assert_eq!(scene.forbidden(), [Path::new("home/.config/jig")]);
        let named = scene.kept.forbidden[0].base.clone().unwrap();
        assert_eq!(named, scene.tree.root().join(base));
    }
    // Nobody can make it.
    let mut scene = Scene::new(&["home/"], &[]);
    scene.own("home/.config/jig");
    assert!(scene.forbidden().is_empty());
}

/// As `stow` does it: the folder, the file, or something above is a link to where a person keeps their settings.
#[test]
fn links_lead_to_the_configuration_of_the_person() {
    let file = "dots/jig/.config/jig/config.toml";
    for link in [
        "home/.config/jig -> ../../dots/jig/.config/jig",
        "home/.config -> ../dots/jig/.config",
        "home/.config/jig/config.toml -> ../../../dots/jig/.config/jig/config.toml",
    ] {
        for writable in [&["dots"][..], &["home", "dots"], &["dots/jig/.config/jig"]] {
            let mut scene = Scene::new(&[file, link], writable);
            scene.own("home/.config/jig");
            assert!(!scene.can_change(file), "{link} {writable:?}");
            let name = link.split_once(" -> ").unwrap().0;
            let is_kept = scene.forbidden().contains(&name.into());
            // What lies in a folder that is kept is kept with it.
            let can_replace = writable.contains(&"home") && !name.ends_with(".toml");
            assert_eq!(is_kept, can_replace, "{link} {writable:?}");
        }
    }
    // The dotfiles are the workspace.
    let mut scene = Scene::new(
        &[
            "ws/jig/config.toml",
            "ws/x",
            "home/.config/jig -> ../../ws/jig",
        ],
        &[],
    );
    scene.own("home/.config/jig");
    assert!(!scene.can_change("ws/jig/config.toml") && scene.can_change("ws/x"));
    // Its folder is kept, and what it lies in can be worked in.
    assert!(!scene.can_change("ws/jig/new"));
}
