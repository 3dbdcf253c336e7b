//! What a tool that only looks is told, against what all of its rules say.

use std::sync::Arc;

use jig_config::Sources;
use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{Capability, Workspace};
use jig_proto::ProjectPath;

use crate::Engine;

fn engine(sets: &[&str]) -> Engine {
    let mut sources = Sources::new("/workspace");
    sources.state = Some("/workspace/kept/state".into());
    sources.sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let config = jig_config::load(&sources).expect("it is valid").config;
    let files = MemoryFiles::new();
    for path in PATHS {
        let path = ProjectPath::normalize(path).expect("a path");
        files.put_file(&path, "", false).expect("there is room");
    }
    Engine::new(Arc::new(config), Arc::new(files))
}

/// Protected, sensitive, and neither.
const PATHS: [&str; 14] = [
    ".env",
    ".git/config",
    ".git/hooks/pre-commit",
    ".git/worktrees/w/commondir",
    ".jig/config.toml",
    ".jig/x",
    ".ssh/id_rsa",
    "jig.toml",
    "kept/state/audit.jsonl",
    "own/secret.pem",
    "private/notes.txt",
    "src/.git/config",
    "src/main.rs",
    "tools/run.sh",
];

/// Protection is against changes: without it every look is judged the same, by the same rule and for the same
/// reason.
#[test]
fn without_protections_every_look_is_judged_the_same() {
    let rules = [
        "",
        "[{path=\".\", read=true}]",
        "[{path=\".\", read=true, write=true}, {path=\"private\", read=false}]",
        "[{path=\"src\", read=true}, {path=\".git\", read=true, write=true}]",
        "[{path=\".env\", read=true}, {path=\"kept\", read=true}, {path=\"jig.toml\", write=true}]",
    ];
    let mut allowed = 0;
    let mut compared = 0;
    for rules in rules {
        let access = format!("tools.fs_read_file.access.fs={rules}");
        let mut sets = vec!["tools.fs_read_file.sandbox.sensitive_paths=[\"own/*.pem\"]"];
        sets.push("tools.other.source=local");
        sets.push("tools.other.command=tools/run.sh");
        if !rules.is_empty() {
            sets.push(&access);
        }
        let engine = engine(&sets);
        let tool = engine.config.tool("fs_read_file").expect("it is there");
        let whole = engine.policy(tool).expect("it compiles");
        let looking = engine.rules(tool).expect("it compiles");
        assert!(looking.only_looks);
        let files: Arc<dyn ProjectFiles> = Arc::clone(&engine.files);
        let workspace = Workspace::new("/workspace", FilesLookup(files));
        for path in PATHS {
            let path = workspace.resolve(path).expect("it is there");
            let one = whole.decide_fs(Capability::Read, &path);
            let other = looking.policy.decide_fs(Capability::Read, &path);
            assert_eq!(format!("{one:?}"), format!("{other:?}"), "{rules} {path:?}");
            allowed += usize::from(one.is_allowed());
            compared += 1;
        }
    }
    assert!(0 < allowed && allowed < compared, "{allowed} of {compared}");
}

/// Every other tool, and the same as a subprocess, has all of its rules.
#[test]
fn only_tools_that_look_inside_of_jig_do_without_protections() {
    let check = |tool: &str, sets: &[&str], only_looks: bool| {
        let engine = engine(sets);
        let found = engine.config.tool(tool).expect("it is there");
        let rules = engine.rules(found).expect("it compiles");
        assert_eq!(rules.only_looks, only_looks, "{tool} {sets:?}");
        assert_eq!(rules.policy.protected().is_empty(), only_looks, "{tool}");
    };
    for tool in ["fs_read_file", "fs_list_files", "fs_grep_files"] {
        check(tool, &[], true);
        let vfs = format!("tools.{tool}.runtime=vfs");
        check(tool, &[&vfs], false);
        let (stdio, command) = (
            format!("tools.{tool}.runtime=stdio"),
            format!("tools.{tool}.command=./t"),
        );
        check(tool, &[&stdio, &command], false);
    }
    for tool in [
        "fs_create_file",
        "fs_modify_file",
        "fs_delete_file",
        "fs_move_file",
        "git",
    ] {
        check(tool, &[], false);
    }
}

#[test]
fn rules_are_kept_until_something_that_they_depend_on_changes() {
    let engine = engine(&["tools.fs_read_file.access.fs=[{path=\"src\", read=true}]"]);
    let tool = engine.config.tool("fs_read_file").expect("it is there");
    let first = engine.rules(tool).expect("it compiles");
    let second = engine.rules(tool).expect("it compiles");
    assert!(Arc::ptr_eq(&first, &second));
    let src = ProjectPath::normalize("src").expect("a path");
    let place = engine.files.locate(&src).expect("it is there");
    let away = ProjectPath::normalize("away").expect("a path");
    let to = engine.files.locate(&away).expect("it can be");
    let options = jig_files::RenameOptions::default();
    engine
        .files
        .rename(&place, &to, &options)
        .expect("it can be moved");
    let third = engine.rules(tool).expect("it compiles");
    assert!(!Arc::ptr_eq(&second, &third));
}
