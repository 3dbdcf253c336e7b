//! Toolchains outside the workspace, as this machine has them. A test is skipped if its program is not installed;
//! the tests beside the code need none.

use std::path::PathBuf;

use jig_broker::{HostEnv, Preset};
use jig_testkit::has_program;

use crate::confined::{output, shell};
use crate::world::World;

fn world() -> World {
    let mut world = World::on_disk()
        .allow(".", "rcudx")
        .command("sh", None, &[])
        .command("python3", None, &[])
        .command("node", None, &[])
        .command("cargo", None, &[])
        .confined();
    let home = std::env::var_os("HOME").map(PathBuf::from);
    world.confine.as_mut().unwrap().home = home;
    let names = [
        "CARGO_HOME",
        "RUSTUP_HOME",
        "RUSTUP_TOOLCHAIN",
        "PYENV_VERSION",
        "GOPATH",
    ];
    let known = names
        .into_iter()
        .filter_map(|name| Some((name, std::env::var(name).ok()?)));
    world.env = known.collect::<HostEnv>();
    world
}

fn run(world: &World, program: &str, args: &[&str]) -> String {
    use jig_proto::vfs::{ProcessRun, VfsReply, VfsRequest};
    let request = VfsRequest::ProcessRun(ProcessRun {
        program: program.into(),
        args: args.iter().map(|arg| (*arg).into()).collect(),
        envs: Vec::new(),
        cwd: None,
    });
    match world.ask(&request) {
        Ok(VfsReply::Process(reply)) if reply.exit_code == 0 => reply.stdout.into_owned(),
        other => panic!("{program} {args:?}: {other:?}"),
    }
}

#[test]
fn python_runs_wherever_it_has_program() {
    if !has_program("python3") {
        return;
    }
    let world = world().with(
        "tool.py",
        "import json, ssl, sqlite3, subprocess, multiprocessing\nprint(json.dumps({'a': 1}))\n",
    );
    assert_eq!(run(&world, "python3", &["tool.py"]), "{\"a\": 1}\n");
    // Also as the interpreter of a script, found by `env`.
    let world = world
        .with("script", "#!/usr/bin/env python3\nprint('hi')\n")
        .command("./script", None, &[]);
    use std::os::unix::fs::PermissionsExt as _;
    let file = world.outside().join("ws/script");
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&world, "./script", &[]), "hi\n");
}

#[test]
fn node_runs_wherever_it_has_program() {
    if has_program("node") {
        assert_eq!(run(&world(), "node", &["-p", "1 + 1"]), "2\n");
    }
}

#[test]
fn cargo_builds_and_tests_without_a_preset_and_with() {
    if !has_program("cargo") {
        return;
    }
    let manifest =
        "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[workspace]\n";
    let make = || {
        world()
            .with("Cargo.toml", manifest)
            .with("src/lib.rs", "#[test]\nfn it_works() {}\n")
    };
    // The toolchain is the program's own.
    let world = make();
    run(&world, "cargo", &["test", "--quiet", "--offline"]);
    // With the preset it is also there for others, and downloaded crates with it.
    let mut world = make();
    world.confine.as_mut().unwrap().presets = vec![Preset::Rust];
    let text = output(
        &world,
        "cargo test --quiet && cargo --version && rustc --version && ls -A $CARGO_HOME",
    );
    assert!(text.contains("1 passed"), "{text}");
    assert!(!text.contains("credentials"), "{text}");
    // Nothing of the user's can be written.
    let home = world.confine.as_ref().unwrap().home.clone().unwrap();
    let attack = format!(
        "touch {0}/.cargo/bin/x || touch {0}/.rustup/toolchains/x || cat {0}/.gitconfig",
        home.display()
    );
    assert_ne!(shell(&world, &attack).exit_code, 0);
    // What is written among the downloads is written elsewhere.
    let registry = home.join(".cargo/registry");
    if registry.is_dir() {
        let mark = format!("jig-test-{}", std::process::id());
        let script = format!("touch $CARGO_HOME/registry/{mark} 2>/dev/null || true");
        assert_eq!(shell(&world, &script).exit_code, 0);
        assert!(!registry.join(mark).exists());
    }
}
