//! Each line of the table of guards at the doors of this crate: the tools inside jig, and layers. The other doors, and
//! more variants, are tried in `guards` of jig-broker.

use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_engine::{Call, may_apply};
use jig_files::{ChangeLayer, DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, GuardDepth, GuardLine,
    GuardLines, Guards, Policy, RuleOrigin, Workspace,
};
use serde_json::json;

use super::{Person, World};

/// Paths of each line, which have room beside each other: at the top, in a folder, and in capitals.
fn paths(has_room: impl Fn(&str) -> bool) -> Vec<String> {
    let mut paths = Vec::new();
    for (number, line) in GuardLine::all().iter().enumerate() {
        let path = line.pattern().trim_start_matches('/').replace('*', "x");
        if has_room(&path) {
            paths.push(path.clone());
        }
        if line.depth() == GuardDepth::Any {
            paths.push(format!("r{number}/deep/{path}"));
            if path.to_uppercase() != path {
                paths.push(format!("r{number}/{}", path.to_uppercase()));
            }
        }
    }
    paths
}

/// Whether no other line has a path below this one.
fn holds_no_other(path: &str) -> bool {
    let mut lines = GuardLine::all().iter();
    !lines.any(|line| line.pattern().starts_with(&format!("{path}/")))
}

#[test]
fn each_line_holds_for_tools_inside_jig() {
    let world = World::new(&[("plain", "x")]);
    let engine = world.engine(
        "[tools.fs_create_file]\nrun = 'unattended'\n\
         access.fs = [{ path = '.', read = true, write = true }]\n\
         [tools.fs_move_file]\nrun = 'unattended'\n\
         access.fs = [{ path = '.', read = true, write = true }]\n",
    );
    for path in paths(|_| true) {
        let create = Call::new("fs_create_file", json!({"path": path, "content": "x"}));
        let moved = json!({"from": "plain", "to": path});
        for call in [create, Call::new("fs_move_file", moved)] {
            let what = format!("{path}: {:?}", engine.call(call, &mut Person::default()));
            let there = std::fs::symlink_metadata(world.root.join(&path)).is_ok();
            assert!(!there || path == "jig.toml", "{what}");
            assert!(world.root.join("plain").exists(), "{what}");
        }
    }
    // The twins.
    let create = Call::new("fs_create_file", json!({"path": "a/b", "content": "x"}));
    engine.call(create, &mut Person::default()).unwrap();
    let moved = json!({"from": "plain", "to": "a/c"});
    engine
        .call(Call::new("fs_move_file", moved), &mut Person::default())
        .unwrap();
    assert!(world.root.join("a/b").exists() && world.root.join("a/c").exists());
}

#[test]
#[cfg(target_os = "linux")]
fn each_line_holds_for_what_a_layer_brings() {
    let landed = |guards: &Guards| {
        let world = World::new(&[("a", "x")]);
        let state = world.outside().join("state");
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(&world.root).unwrap());
        let workspace = Workspace::new(world.root.clone(), FilesLookup(files));
        let rule = DeclaredFsRule {
            path: ".".to_owned(),
            capabilities: FileCapabilities::ALL,
            origin: RuleOrigin::line("jig.toml", 1),
        };
        let access = DeclaredAccess {
            fs: vec![rule],
            ..DeclaredAccess::default()
        };
        let policy = Policy::compile(&access, DefaultAccess::STDIO, guards, &workspace).unwrap();
        let layer = ChangeLayer::create(state.as_std_path(), world.root.as_std_path()).unwrap();
        let upper = Utf8PathBuf::from_path_buf(layer.upper().to_owned()).unwrap();
        let all = paths(holds_no_other);
        // What a program changed lies there.
        for path in all.iter().map(|path| upper.join(path)) {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if !path.is_dir() {
                std::fs::write(path, "evil").unwrap();
            }
        }
        layer.apply(&|change| may_apply(&policy, change)).unwrap();
        let there = all.iter().filter(|path| world.root.join(path).is_file());
        let there: Vec<String> = there.cloned().collect();
        (all, there)
    };
    let (_, there) = landed(&Guards::of_workspace());
    assert!(there.is_empty(), "{there:#?}");
    // The twin, without the table.
    let (all, there) = landed(&Guards::with_lines(GuardLines::default()));
    assert_eq!(all, there);
}
