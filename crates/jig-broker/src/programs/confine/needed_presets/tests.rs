use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use jig_policy::Sensitive;

use super::super::program::ProgramSurroundings;
use super::super::testing::TestTree;
use super::super::{Discover, host_files};
use super::{presets, virtual_environment};

/// The presets for a program, by name. `variables` are paths in the tree.
fn found(
    discover: Discover,
    entries: &[&str],
    path: &str,
    variables: &[(&'static str, &str)],
    program: &str,
) -> Vec<&'static str> {
    let tree = TestTree::new(&["home/", "ws/"]);
    entries.iter().for_each(|entry| tree.put(entry));
    let root = tree.root();
    let variables: HashMap<&str, String> = variables
        .iter()
        .map(|(name, value)| (*name, root.join(value).display().to_string()))
        .collect();
    let host_path = path.split(':').map(|entry| root.join(entry));
    let host_path = std::env::join_paths(host_path).unwrap();
    let sensitive = Sensitive::default();
    let (home, workspace) = (root.join("home"), root.join("ws"));
    let mut around = ProgramSurroundings {
        root: &workspace,
        given_root: &workspace,
        home: Some(&home),
        private_home: Path::new("/home/jig"),
        search_path: &host_files::search_path(&host_path),
        readable: &|_| true,
        sensitive: &sensitive,
        variable: &|name| variables.get(name).cloned(),
        start: &workspace,
        toolchain: None,
        online: false,
        virtual_environment: None,
    };
    around.virtual_environment = virtual_environment(discover, &around);
    let presets = presets(discover, OsStr::new(program), &around);
    presets.into_iter().map(|preset| preset.name()).collect()
}

#[test]
fn the_program_says_which_toolchain_it_belongs_to() {
    let of = |program: &str| {
        let entries = [
            "bin/ours! = #!/usr/bin/env python3\n",
            "bin/plain! = ELF",
            "ws/own! = #!/usr/bin/env python3\n",
            "ws/tools/cargo! = #!/bin/sh\n",
        ];
        found(Discover::OfProgram, &entries, "bin", &[], program)
    };
    for (program, expected) in [
        ("cargo", &["rust"][..]),
        ("/x/cargo-nextest", &["rust"]),
        ("pnpm", &["node"]),
        ("python3.12", &["python"]),
        ("pip3", &["python"]),
        ("go", &["go"]),
        ("ours", &["python"]),
        ("plain", &[]),
        // A script of the workspace may say anything.
        ("own", &[]),
        ("./own", &[]),
        ("tools/cargo", &[]),
        ("./tools/cargo", &[]),
        ("sh", &[]),
    ] {
        assert_eq!(of(program), expected, "{program}");
    }
}

#[test]
fn a_project_says_more_to_programs_that_run_others() {
    let entries = [
        "ws/Cargo.toml",
        "ws/package.json",
        "ws/build.sh! = #!/bin/sh\n",
        "bin/ls! = ELF",
    ];
    let of = |discover, program: &str| found(discover, &entries, "bin", &[], program);
    for program in ["make", "sh", "./build.sh", "/bin/bash"] {
        assert_eq!(
            of(Discover::OfProject, program),
            ["rust", "node"],
            "{program}"
        );
        assert!(of(Discover::OfProgram, program).is_empty(), "{program}");
    }
    assert_eq!(of(Discover::OfProject, "npm"), ["node", "rust"]);
    assert!(of(Discover::OfProject, "ls").is_empty());
    assert!(of(Discover::Nothing, "cargo").is_empty());
}

#[test]
fn an_active_virtual_environment_counts_if_it_is_one() {
    let entries = [
        "home/.venvs/x/pyvenv.cfg",
        "home/.venvs/x/bin/linter! = ELF",
        "home/.ssh/id = secret",
        "home/.ssh/bin/linter! = ELF",
        "home/bin/linter! = ELF",
        "home/pyvenv.cfg",
        "pyvenv.cfg",
        "bin/linter! = ELF",
        "ws/.venv/pyvenv.cfg",
        "ws/.venv/bin/linter! = ELF",
        "ws/pyvenv.cfg",
        "ws/bin/linter! = ELF",
        "ws/link -> ../home/.ssh",
        "home/.ssh/pyvenv.cfg",
        "home/.venvs/odd/pyvenv.cfg",
        "home/.venvs/odd/bin -> ../../.ssh",
    ];
    let of = |discover, active: &str| {
        let path = format!("{active}/bin:bin");
        found(
            discover,
            &entries,
            &path,
            &[("VIRTUAL_ENV", active)],
            "linter",
        )
    };
    assert_eq!(of(Discover::OfProject, "home/.venvs/x"), ["python"]);
    assert_eq!(of(Discover::OfProgram, "home/.venvs/x"), ["python"]);
    assert_eq!(of(Discover::OfProject, "ws/.venv"), ["python"]);
    // A tool could plant programs there, for other tools.
    assert!(of(Discover::OfProgram, "ws/.venv").is_empty());
    for hostile in ["home", "", "home/.ssh", "ws", "ws/link", "home/.venvs/odd"] {
        assert!(of(Discover::OfProject, hostile).is_empty(), "{hostile}");
    }
}
