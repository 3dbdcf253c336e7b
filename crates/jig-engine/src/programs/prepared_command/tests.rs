use std::path::PathBuf;
use std::sync::Arc;

use jig_broker::ProgramReach;
use jig_config::Sources;
use jig_files::DiskFiles;

use crate::{Engine, Preparation};

/// F-090: a command that asks for every file sees nothing of the workspace by itself, whatever the policy
/// grants.
#[cfg(target_os = "linux")]
#[test]
fn f090_how_much_a_command_reaches() {
    let folder = tempfile::tempdir().unwrap();
    let root = camino::Utf8Path::from_path(folder.path()).unwrap();
    let mut sources = Sources::new(root);
    sources.sets = ["source=\"local\"", "command=\"true\"", "runtime=\"vfs\""]
        .map(|set| format!("tools.all.{set}"))
        .to_vec();
    sources
        .sets
        .push("tools.all.access.fs=[{ path = \".\", read = true, write = true }]".to_owned());
    let config = jig_config::load(&sources).unwrap().config;
    let files = DiskFiles::open(root).unwrap();
    let engine = Engine::new(Arc::new(config), Arc::new(files));
    let seen = |reach: ProgramReach| {
        let preparation = Preparation {
            reach,
            ..Preparation::default()
        };
        let command = ["true".to_owned()];
        let prepared = engine.prepare("all", &command, preparation).unwrap();
        let real = PathBuf::from(&prepared.root);
        let rules = &prepared.confined.profile.paths;
        let inside = rules.iter().any(|rule| rule.path.starts_with(&real));
        assert_eq!(prepared.confined.cwd == real, inside);
        inside
    };
    assert!(seen(Preparation::default().reach));
    assert!(seen(ProgramReach::Workspace));
    assert!(!seen(ProgramReach::OwnProgramOnly));
}
