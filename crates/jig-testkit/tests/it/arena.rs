//! That the arena notices what it must, and that nothing of it stays.
#![expect(
    clippy::disallowed_methods,
    reason = "the test does damage to an arena, and runs the program of the attacks"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use jig_testkit::{Arena, Host, Stage, attacks};

const HOSTILE: &str = env!("CARGO_BIN_EXE_hostile");

/// Does something in a fresh arena; what the arena says about it.
fn damage(act: fn(&Arena)) -> Vec<String> {
    let stage = Stage::set(Path::new(HOSTILE)).expect("a stage");
    let host = Host::start(&stage.hostile()).expect("a host");
    let arena = host.arena().expect("an arena");
    act(&arena);
    arena.damage()
}

#[test]
fn harm_is_noticed() {
    #[track_caller]
    fn check(act: fn(&Arena), expected: &str) {
        let found = damage(act);
        assert!(
            found.iter().any(|one| one.contains(expected)),
            "{found:?} instead of {expected}"
        );
    }
    check(
        |a| fs::write(a.secret(), "x").unwrap(),
        "outside/secret.txt has changed",
    );
    check(
        |a| fs::remove_file(a.secret()).unwrap(),
        "outside/secret.txt is gone",
    );
    check(
        |a| fs::write(a.outside("new"), "").unwrap(),
        "outside/new is new",
    );
    check(
        |a| fs::set_permissions(a.secret(), fs::Permissions::from_mode(0o600)).unwrap(),
        "outside/secret.txt has changed",
    );
    check(
        |a| fs::hard_link(a.workspace(".env"), a.workspace("other")).unwrap(),
        "workspace/.env has changed",
    );
    check(
        |a| symlink("x", a.workspace("locked/sub/new")).unwrap(),
        "workspace/locked/sub/new is new",
    );
    check(
        |a| fs::rename(a.workspace("nested"), a.workspace("moved")).unwrap(),
        "workspace/nested is gone",
    );
    check(
        |a| {
            let path = a.workspace("src/main.rs");
            fs::set_permissions(path, fs::Permissions::from_mode(0o4755)).unwrap();
        },
        "src/main.rs is new",
    );
}

#[test]
fn ordinary_work_is_no_harm() {
    let found = damage(|a| {
        fs::write(a.workspace("src/main.rs"), "changed").unwrap();
        fs::write(a.workspace("nested/deep/new"), "").unwrap();
        fs::write(a.workspace(".git/index"), "").unwrap();
        fs::read(a.secret()).unwrap();
    });
    assert_eq!(found, Vec::<String>::new());
}

#[test]
fn nothing_stays() {
    let stage = Stage::set(Path::new(HOSTILE)).unwrap();
    let host = Host::start(&stage.hostile()).unwrap();
    let arena = host.arena().unwrap();
    let root = host.root().to_owned();
    let name = root.file_name().unwrap().to_owned();
    assert!(root.exists() && Path::new("/dev/shm").join(&name).exists());
    drop(arena);
    drop(host);
    assert!(!root.exists());
    for place in ["/dev/shm", "/tmp", "/run"] {
        let left = fs::read_dir(place).unwrap().filter(|entry| {
            let found = entry.as_ref().unwrap().file_name();
            found
                .to_string_lossy()
                .starts_with(&*name.to_string_lossy())
        });
        assert_eq!(left.count(), 0, "{place}");
    }
}

#[test]
fn all_attacks_are_listed() {
    let output = Command::new(HOSTILE).arg("--list").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1))
        .collect();
    let names: Vec<&str> = attacks().map(|attack| attack.name).collect();
    assert_eq!(listed, names);
}

#[test]
fn an_unknown_program_is_not_tried() {
    let output = Command::new(HOSTILE)
        .arg("no-such-program")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.starts_with(b"untried: "));
}
