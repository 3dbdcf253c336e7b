//! Presets that nobody names: the toolchain of the command and of the project, and the virtual environment that
//! is active.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};

use super::workspace_user::{Desk, Ran, for_each_user};

/// A script that can be run.
fn program(path: &Utf8Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// A home with rustup, whose own programs only say that they would download.
fn rustup(desk: &Desk) -> Utf8PathBuf {
    let home = desk.workspace.home.clone();
    let cargo = home.join(".cargo");
    program(
        &cargo.join("bin/rustup"),
        "#!/bin/sh\necho downloading; exit 9\n",
    );
    for name in ["cargo", "rustc", "cargo-fmt"] {
        symlink("rustup", cargo.join("bin").join(name)).unwrap();
    }
    program(&cargo.join("bin/cargo-extra"), "#!/bin/sh\necho extra\n");
    fs::create_dir_all(cargo.join("registry")).unwrap();
    fs::write(cargo.join("registry/theirs"), "theirs\n").unwrap();
    fs::write(cargo.join("credentials.toml"), "token = 'secret'\n").unwrap();
    let config =
        "[registry]\ntoken = 'secret'\n[registries.own]\nindex = 'sparse+https://own.test/'\n";
    fs::write(cargo.join("config.toml"), config).unwrap();
    let toolchain = home.join(".rustup/toolchains/stable-x");
    for name in ["cargo", "rustc"] {
        let text = format!(
            "#!/bin/sh\nif [ $# = 0 ]; then echo the {name} of stable; else exec sh -c \"$1\"; fi\n"
        );
        program(&toolchain.join("bin").join(name), &text);
    }
    let settings = "default_toolchain = \"stable-x\"\n";
    fs::write(home.join(".rustup/settings.toml"), settings).unwrap();
    home
}

/// `jig run ARGS -- cargo SCRIPT` with that home.
fn cargo(desk: &Desk, args: &[&str], script: &str) -> Ran {
    let home = &desk.workspace.home;
    let mut command = desk.jig(&[&["run"], args, &["--", "cargo", script]].concat());
    let path = std::env::var("PATH").unwrap();
    command
        .env("PATH", format!("{home}/.cargo/bin:{path}"))
        .env("CARGO_HOME", home.join(".cargo"))
        .env("RUSTUP_HOME", home.join(".rustup"));
    Ran::of(command.output().unwrap())
}

#[test]
fn cargo_runs_with_the_toolchain_that_is_active_outside() {
    for_each_user(|desk| {
        rustup(desk);
        // What a dependency says about toolchains is not heard.
        desk.workspace.write(
            "dep/rust-toolchain.toml",
            "[toolchain]\nchannel = \"1.0\"\n",
        );
        let ran = cargo(
            desk,
            &[],
            "cd dep; rustc; cargo; cargo-extra; ! command -v cargo-fmt",
        );
        let line = "jig: preset rust (toolchain stable-x); --no-preset leaves it out\n";
        assert_eq!(ran.err, line, "{ran:?}");
        let told = "the rustc of stable\nthe cargo of stable\nextra\n";
        assert_eq!(ran.out, told, "{ran:?}");
        // Offline only where no host is allowed.
        let offline = "echo \"<$CARGO_NET_OFFLINE>\"";
        assert_eq!(cargo(desk, &[], offline).out, "<true>\n");
        assert_eq!(cargo(desk, &["--net", "own.test"], offline).out, "<>\n");
        // By its name it is the same, and says nothing.
        let named = cargo(desk, &["--preset", "rust"], "rustc");
        assert_eq!(
            (named.out.as_str(), named.err.as_str()),
            ("the rustc of stable\n", "")
        );
        let without = cargo(desk, &["--no-preset"], "echo \"<$CARGO_HOME>\"");
        assert_eq!((without.out.as_str(), without.err.as_str()), ("<>\n", ""));
    });
}

#[test]
fn downloads_survive_apart_from_the_users_own() {
    for_each_user(|desk| {
        let home = rustup(desk);
        let get = "cat $CARGO_HOME/registry/theirs; echo ours > $CARGO_HOME/registry/ours;
            echo changed > $CARGO_HOME/registry/theirs; mkdir -p $CARGO_HOME/git; echo g > $CARGO_HOME/git/g";
        assert_eq!(cargo(desk, &[], get).out, "theirs\n");
        let again = cargo(desk, &[], "cat $CARGO_HOME/registry/* $CARGO_HOME/git/g");
        assert_eq!(again.out, "ours\nchanged\ng\n", "{again:?}");
        // A run whose changes are only tried leaves nothing behind for one that counts.
        let layered = cargo(
            desk,
            &["--overlay", "--discard"],
            "cat $CARGO_HOME/registry/theirs; echo evil > $CARGO_HOME/registry/evil",
        );
        assert_eq!(layered.out, "theirs\n", "{layered:?}");
        assert!(!layered.err.contains("registry"), "{layered:?}");
        // Nor does one that was given a variable, for one that was not.
        let given = cargo(
            desk,
            &["--env", "PATH_TO_SECRET"],
            "echo secret > $CARGO_HOME/registry/secret",
        );
        assert_eq!(given.code, Some(0), "{given:?}");
        let listed = cargo(desk, &[], "ls $CARGO_HOME/registry");
        assert_eq!(listed.out, "ours\ntheirs\n", "{listed:?}");
        // The user's own is as it was.
        let registry = home.join(".cargo/registry");
        assert_eq!(
            fs::read_to_string(registry.join("theirs")).unwrap(),
            "theirs\n"
        );
        assert_eq!(fs::read_dir(&registry).unwrap().count(), 1);
        assert!(!home.join(".cargo/git").exists());
    });
}

#[test]
fn no_preset_shows_credentials() {
    for_each_user(|desk| {
        rustup(desk);
        let home = &desk.workspace.home;
        for name in [".npmrc", ".pypirc", ".netrc", ".git-credentials"] {
            fs::write(
                home.join(name),
                "//r.test/:_authToken=secret\npassword secret\n",
            )
            .unwrap();
        }
        let script = format!(
            "cat $CARGO_HOME/credentials.toml {home}/.cargo/credentials.toml {home}/.cargo/config.toml; \
             cat ~/.npmrc ~/.pypirc ~/.netrc {home}/.npmrc {home}/.pypirc; cat $CARGO_HOME/config.toml; env"
        );
        desk.workspace.write("package.json", "{}");
        let ran = cargo(desk, &["--preset", "git", "--no-observe"], &script);
        assert!(!ran.out.contains("secret"), "{ran:?}");
        assert!(ran.out.contains("sparse+https://own.test/"), "{ran:?}");
    });
}

/// The user's Python in a virtual environment, with a program that says where it is.
fn environment(desk: &Desk, path: &Utf8Path) -> bool {
    if !desk.has(&["python3", "-m", "venv", "--help"]) {
        return false;
    }
    desk.unconfined(&["python3", "-m", "venv", "--without-pip", path.as_str()]);
    let text = format!("#!{path}/bin/python\nimport sys\nprint(sys.prefix)\n");
    program(&path.join("bin/greet"), &text);
    true
}

/// `jig run ARGS` in a shell in which an environment is active.
fn activated(desk: &Desk, path: &Utf8Path, args: &[&str]) -> Command {
    let mut command = desk.jig(&[&["run"], args].concat());
    let before = std::env::var("PATH").unwrap();
    command
        .env("PATH", format!("{path}/bin:{before}"))
        .env("VIRTUAL_ENV", path);
    command
}

#[test]
fn an_active_virtual_environment_just_works() {
    for_each_user(|desk| {
        let home = &desk.workspace.home;
        let inside = desk.path(".venv");
        for (path, shown) in [(inside, ".venv"), (home.join(".venvs/x"), "~/.venvs/x")] {
            if !environment(desk, &path) {
                return;
            }
            for command in [
                &["greet"][..],
                &["python", "-c", "import sys; print(sys.prefix)"],
                &["sh", "-c", "greet; test \"$VIRTUAL_ENV\""],
            ] {
                let args = [&["--"], command].concat();
                let ran = Ran::of(activated(desk, &path, &args).output().unwrap());
                assert_eq!(ran.out, format!("{path}\n"), "{ran:?}");
                let line =
                    format!("jig: preset python (virtualenv {shown}); --no-preset leaves it out\n");
                assert_eq!(ran.err, line);
            }
        }
    });
}

/// Whoever made a workspace may have had the variable set.
#[test]
fn a_hostile_virtual_environment_shows_nothing() {
    let desk = Desk::new();
    let home = desk.workspace.home.clone();
    fs::create_dir_all(home.join(".ssh/bin")).unwrap();
    for marked in [
        home.join("pyvenv.cfg"),
        home.join(".ssh/pyvenv.cfg"),
        desk.path("pyvenv.cfg"),
    ] {
        fs::write(marked, "").unwrap();
    }
    fs::create_dir_all(home.join("bin")).unwrap();
    fs::write(home.join(".ssh/id"), "secret").unwrap();
    fs::write(home.join("diary"), "secret").unwrap();
    symlink(home.join(".ssh"), desk.path("link")).unwrap();
    let script = format!("cat {home}/diary {home}/.ssh/id; echo \"<$VIRTUAL_ENV>\"");
    let hostile = [
        home.clone(),
        home.join(".ssh"),
        desk.path("link"),
        "/".into(),
        desk.path(""),
    ];
    for path in hostile {
        let args = ["--no-observe", "--", "sh", "-c", &script];
        let ran = Ran::of(activated(&desk, &path, &args).output().unwrap());
        assert_eq!(ran.out, "<>\n", "{path}: {ran:?}");
        assert!(!ran.err.contains("virtualenv"), "{ran:?}");
    }
}
