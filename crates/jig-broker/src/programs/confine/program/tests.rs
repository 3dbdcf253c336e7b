use std::collections::HashMap;
use std::ffi::OsString;
use std::path::Path;

use jig_policy::Sensitive;
use jig_sandbox::{PrivateContent, Rights, RuleSource};

use super::super::ConfineError;
use super::super::host_files;
use super::super::shown_paths::ShownRules;
use super::super::testing::TestTree;
use super::{OwnProgram, ProgramSurroundings, show};

/// A machine: `sys` is shown to everybody, `home` is hidden, `ws` is the workspace.
struct Machine {
    tree: TestTree,
    variables: HashMap<&'static str, &'static str>,
    workspace: Rights,
}

impl Machine {
    fn new(entries: &[&str]) -> Self {
        let tree = TestTree::new(&["sys/bin/sh! = ELF", "sys/bin/env! = ELF", "home/", "ws/"]);
        entries.iter().for_each(|entry| tree.put(entry));
        Self {
            tree,
            variables: HashMap::new(),
            workspace: Rights::NONE,
        }
    }

    fn show(&self, path: &str, command: &str) -> Result<(OwnProgram, Vec<String>), ConfineError> {
        let root = self.tree.root();
        let home = root.join("home");
        let workspace = root.join("ws");
        let entries = path.split(':').map(|entry| root.join(entry));
        let host_path = std::env::join_paths(entries).unwrap();
        let sensitive = Sensitive::default();
        let variable = |name: &str| self.variables.get(name).map(|value| (*value).to_owned());
        let around = ProgramSurroundings {
            root: &workspace,
            given_root: &root.join("alias"),
            home: Some(&home),
            private_home: Path::new("/home/jig"),
            search_path: &host_files::search_path(&host_path),
            readable: &|path| path.starts_with("readable"),
            sensitive: &sensitive,
            variable: &variable,
            start: &root.join("ws"),
            toolchain: None,
            online: false,
            virtual_environment: None,
        };
        let mut shown = ShownRules::default();
        let program = Rights::READ.with(Rights::EXECUTE);
        shown.add(root.join("sys"), program, RuleSource::System);
        shown.add("/usr", program, RuleSource::System);
        if self.workspace != Rights::NONE {
            shown.add(&workspace, self.workspace, RuleSource::Declared);
        }
        let words: Vec<OsString> = command.split(' ').map(Into::into).collect();
        let own = show(&around, &words[0], &words[1..], &mut shown)?;
        let added = shown.into_rules().into_iter().filter_map(|rule| {
            let path = rule.path.strip_prefix(&root).unwrap_or(&rule.path);
            let path = path.to_str()?.to_owned();
            let is_new =
                path != "sys" && path != "/usr" && (path != "ws" || rule.rights != self.workspace);
            is_new.then(|| format!("{path}: {}", rule.rights))
        });
        Ok((own, added.collect()))
    }

    /// What is started, and what is shown for it.
    fn check(&self, path: &str, command: &str, program: &str, added: &[&str]) {
        let (own, rules) = self.show(path, command).unwrap();
        let started = own.program.strip_prefix(self.tree.root());
        assert_eq!(started, Ok(Path::new(program)), "{command}");
        assert_eq!(rules, added, "{command}");
    }
}

#[test]
fn what_the_system_has_needs_nothing() {
    let machine = Machine::new(&["sys/bin/real! = ELF", "sys/bin/alias -> real"]);
    machine.check("sys/bin", "sh", "sys/bin/sh", &[]);
    // Programs look at the name that they are called by.
    machine.check("sys/bin", "alias", "sys/bin/alias", &[]);
    machine.check("none:sys/bin", "sh -c true", "sys/bin/sh", &[]);
}

#[test]
fn a_hidden_program_is_shown_with_what_was_installed_with_it() {
    let machine = Machine::new(&[
        "home/tool/bin/tool! = ELF",
        "home/tool/lib/tool.so",
        "home/bin/alone! = ELF",
        "home/bin/alias -> alone",
        "home/.local/bin/script! = #!/nothing",
        "home/.local/bin/short! = ELF",
        "home/.local/lib/python3/x.py",
        "home/.local/share/keyrings/login",
        "home/keys/bin/x! = ELF",
        "home/keys/lib/",
        "home/keys/.ssh/id",
    ]);
    let program = "read, execute";
    machine.check(
        "home/tool/bin",
        "tool",
        "home/tool/bin/tool",
        &[&format!("home/tool: {program}")],
    );
    // Where no libraries are beside it, it is alone: `home` itself is never shown.
    machine.check(
        "home/bin",
        "alone",
        "home/bin/alone",
        &[&format!("home/bin/alone: {program}")],
    );
    machine.check(
        "home/.local/bin",
        "short",
        "home/.local/bin/short",
        &[
            &format!("home/.local/bin: {program}"),
            &format!("home/.local/lib: {program}"),
        ],
    );
    // Nothing that holds credentials is shown as a whole.
    machine.check(
        "home/keys/bin",
        "x",
        "home/keys/bin/x",
        &[&format!("home/keys/bin/x: {program}")],
    );
    // A link that cannot be seen gets a stand-in of the same name.
    let (own, rules) = machine.show("home/bin", "alias").unwrap();
    assert_eq!(own.program, Path::new("/home/jig/.jig/bin/alias"));
    assert_eq!(rules, [format!("home/bin/alone: {program}")]);
    let target = machine.tree.root().join("home/bin/alone");
    assert_eq!(own.links[0].content, PrivateContent::Link(target));
}

#[test]
fn scripts_bring_their_interpreters_along() {
    let machine = Machine::new(&[
        "home/py/bin/python3.11! = ELF",
        "home/py/bin/python3 -> python3.11",
        "home/py/lib/x",
        "ws/tool.py! = #!/usr/bin/env python3\nprint()",
        "home/bin/split! = #!/usr/bin/env -S python3 -u\n",
        "home/bin/missing! = #!/usr/bin/env no-such-thing\n",
    ]);
    let path = "home/py/bin:home/bin:sys/bin";
    let program = "read, execute";
    let py = format!("home/py: {program}");
    // `/usr/bin/env` is this machine's; it adds itself to what has to be seen.
    let (own, rules) = machine.show(path, "./tool.py").unwrap();
    assert_eq!(own.program, machine.tree.root().join("ws/tool.py"));
    assert!(rules.contains(&py), "{rules:?}");
    assert!(
        rules.contains(&format!("ws/tool.py: {program}")),
        "{rules:?}"
    );
    let bin = machine.tree.root().join("home/py/bin");
    assert!(own.directories.contains(&bin), "{:?}", own.directories);
    assert!(!own.directories.contains(&machine.tree.root().join("ws")));
    let (_, rules) = machine.show(path, "split").unwrap();
    assert!(rules.contains(&py), "{rules:?}");
    let missing = machine.show(path, "missing").unwrap_err();
    assert!(missing.to_string().contains("no-such-thing"), "{missing}");
    // What `env` is told to start is the tool's program, too.
    let (_, rules) = machine.show(path, "env A=b python3 tool.py").unwrap();
    assert!(rules.contains(&py), "{rules:?}");
    assert!(rules.contains(&"ws/tool.py: read".to_owned()), "{rules:?}");
}

#[test]
fn what_the_command_names_literally_is_readable() {
    let machine = Machine::new(&[
        "ws/tools/a.py = x",
        "ws/data/",
        "ws/.env = secret",
        "ws/out -> ../home/secret",
        "ws/in -> tools/a.py",
        "ws/to -> readable/b.py",
        "ws/readable/b.py",
        "home/secret = x",
        "home/.ssh/id = x",
        "sdk/src/mod.py",
        "home/.netrc",
    ]);
    let check = |command: &str, added: &[&str]| {
        machine.check("sys/bin", &format!("sh {command}"), "sys/bin/sh", added);
    };
    check("tools/a.py", &["ws/tools/a.py: read"]);
    check("./tools/../tools/a.py", &["ws/tools/a.py: read"]);
    // A link may lead to what the tool may read in any case, and to nothing else.
    check("to", &["ws/readable/b.py: read"]);
    check("in", &[]);
    check("--config=tools/a.py", &["ws/tools/a.py: read"]);
    // Directories only outside: `ls data` is not about the tool's own program.
    check("data", &[]);
    check("../sdk/src", &["sdk/src: read"]);
    check("PYTHONPATH=../sdk/src", &["sdk/src: read"]);
    // Never what holds the workspace, a home, or credentials.
    for refused in [
        "..",
        ".",
        "/",
        "../home",
        ".env",
        "../home/.ssh/id",
        "../home/.ssh",
        "../home/.netrc",
    ] {
        check(refused, &[]);
    }
    // The tool could have made the link itself.
    let (own, rules) = machine.show("sys/bin", "sh out").unwrap();
    assert_eq!(rules, [""; 0]);
    let told =
        "`out` of the command is, or lies behind, a link to something that the tool may not read";
    assert_eq!(own.warnings, [told]);
}

#[test]
fn a_program_in_the_workspace_opens_nothing_outside() {
    let mut machine = Machine::new(&[
        "home/secret! = x",
        "ws/planted -> ../home/secret",
        "ws/venv/bin/python3 -> ../../../sys/bin/sh",
        "ws/venv/lib/x.py",
        "ws/venv/pyvenv.cfg",
        "ws/bin/sh! = planted",
        "ws/hidden/secret",
        "ws/run -> hidden/secret",
        "ws/script! = #!hidden/secret\n",
        "ws/readable/tool!",
        "ws/link -> readable/tool",
    ]);
    let leaves = machine.show("sys/bin", "./planted").unwrap_err();
    assert!(
        matches!(leaves, ConfineError::ProgramLeaves { .. }),
        "{leaves}"
    );
    // Nor anything inside that the tool may not read.
    for hidden in ["./run", "./script"] {
        let leaves = machine.show("sys/bin", hidden).unwrap_err();
        assert!(
            matches!(leaves, ConfineError::ProgramLeaves { .. }),
            "{leaves}"
        );
    }
    let program = "ws/readable/tool";
    let (own, rules) = machine.show("sys/bin", "./link").unwrap();
    assert_eq!(own.program, Path::new("/home/jig/.jig/bin/link"));
    assert_eq!(rules, [format!("{program}: read, execute")]);
    // What everybody sees may be linked to, and a virtual environment is seen as a whole.
    machine.check(
        "sys/bin",
        "venv/bin/python3",
        "ws/venv/bin/python3",
        &["ws/venv: read, execute"],
    );
    machine.workspace = Rights::READ.with(Rights::EXECUTE);
    machine.check("sys/bin", "venv/bin/python3", "ws/venv/bin/python3", &[]);
    // A directory of the workspace on the search path is passed over.
    machine.check("ws/bin:sys/bin", "sh", "sys/bin/sh", &[]);
    let nowhere = machine.show("ws/bin", "sh").unwrap_err();
    assert!(
        matches!(nowhere, ConfineError::ProgramNotFound { .. }),
        "{nowhere}"
    );
}

#[test]
fn shims_are_replaced_by_the_program_behind_them() {
    let entries = [
        "home/.pyenv/shims/python3! = #!/usr/bin/env bash",
        "home/.pyenv/version = 3.11.7\n",
        "home/.pyenv/versions/3.11.7/bin/python3! = ELF",
        "home/.pyenv/versions/3.11.7/lib/",
        "home/.pyenv/versions/3.9.2/bin/python3! = ELF",
        "home/.pyenv/versions/3.10.1/bin/python3! = ELF",
        "home/.pyenv/versions/3.10.12/bin/python3! = ELF",
        "sys/bin/python3! = ELF",
    ];
    let versions = "home/.pyenv/versions";
    let path = "home/.pyenv/shims:sys/bin";
    let mut machine = Machine::new(&entries);
    machine.check(
        path,
        "python3",
        &format!("{versions}/3.11.7/bin/python3"),
        &[&format!("{versions}/3.11.7: read, execute")],
    );
    machine.variables.insert("PYENV_VERSION", "3.9.2");
    let old = format!("{versions}/3.9.2/bin/python3");
    machine.check(path, "python3", &old, &[&format!("{old}: read, execute")]);
    machine.variables.insert("PYENV_VERSION", "3.10");
    let latest = format!("{versions}/3.10.12/bin/python3");
    machine.check(
        path,
        "python3",
        &latest,
        &[&format!("{latest}: read, execute")],
    );
    // Whatever the workspace says, only what is installed can be chosen.
    for chosen in ["system", "../../../home", "4.0", ""] {
        machine.variables.insert("PYENV_VERSION", chosen);
        machine.check(path, "python3", "sys/bin/python3", &[]);
    }
    machine.variables.clear();
    machine.tree.put("ws/.python-version = 3.9.2\n");
    machine.check(path, "python3", &old, &[&format!("{old}: read, execute")]);
}

#[test]
fn proxies_of_rustup_are_replaced_by_the_toolchain() {
    let toolchain = "home/.rustup/toolchains/stable-x86_64-unknown-linux-gnu";
    let nightly = "home/.rustup/toolchains/nightly-x86_64-unknown-linux-gnu";
    let mut machine = Machine::new(&[
        "home/.cargo/bin/rustup! = ELF",
        "home/.cargo/bin/cargo -> rustup",
        "home/.cargo/bin/other! = ELF",
        "home/.rustup/settings.toml = version = \"12\"\ndefault_toolchain = \"stable-x86_64-unknown-linux-gnu\"\n",
        &format!("{toolchain}/bin/cargo! = ELF"),
        &format!("{toolchain}/lib/"),
        &format!("{nightly}/bin/cargo! = ELF"),
        &format!("{nightly}/lib/"),
        "home/.rustup/toolchains/1.95.0-x -> stable-x86_64-unknown-linux-gnu",
    ]);
    let path = "home/.cargo/bin";
    let check = |machine: &Machine, toolchain: &str| {
        machine.check(
            path,
            "cargo build",
            &format!("{toolchain}/bin/cargo"),
            &[&format!("{toolchain}: read, execute")],
        );
    };
    check(&machine, toolchain);
    machine.check(
        path,
        "other",
        "home/.cargo/bin/other",
        &["home/.cargo/bin/other: read, execute"],
    );
    machine
        .tree
        .put("ws/rust-toolchain.toml = [toolchain]\nchannel = \"nightly\"  # newest\n");
    check(&machine, nightly);
    for chosen in ["stable", "1.95.0"] {
        machine.variables.insert("RUSTUP_TOOLCHAIN", chosen);
        check(&machine, toolchain);
    }
}

#[test]
fn an_error_says_where_was_looked() {
    let machine = Machine::new(&[]);
    let error = machine.show("sys/bin", "nothing").unwrap_err();
    let place = machine.tree.root().join("sys/bin");
    assert_eq!(
        error.to_string(),
        format!(
            "the program `nothing` was not found: looked at `{}`",
            place.display()
        )
    );
    assert!(machine.show("sys/bin", "./nothing").is_err());
    assert!(machine.show("sys/bin", "").is_err());
}

/// A tool that can change the workspace could point its own program, or what its command names, to any file
/// of the user's: what it gets to see must not depend on that.
#[test]
fn what_is_written_in_the_workspace_opens_nothing_outside_either() {
    let entries = [
        "home/secret! = x",
        "home/private/bin/run! = ELF",
        "home/private/lib/keys",
        "home/private/data.json",
        "home/py/bin/python3! = ELF",
        "home/py/lib/",
        "home/.pyenv/shims/python3!",
        "home/.pyenv/version = 3.11",
        "home/.pyenv/versions/3.11/bin/python3! = ELF",
        "home/.pyenv/versions/3.11/lib/",
    ];
    let check = |planted: &[&str], command: &str, path: &str| {
        let machine = Machine::new(&entries);
        let home = machine.tree.root().join("home");
        for entry in planted {
            machine
                .tree
                .put(&entry.replace("HOME", home.to_str().unwrap()));
        }
        let shown = machine.show(path, command).map(|(_, rules)| rules);
        let shown = shown.unwrap_or_default();
        let opened = shown.iter().any(|rule| rule.contains("home/"));
        assert!(!opened, "{planted:?}: {shown:?}");
    };
    // The directory of the program is a link by now.
    check(&["ws/tools -> ../home/private/bin"], "tools/run", "sys/bin");
    check(
        &["ws/tools -> ../home/private"],
        "./tools/bin/run",
        "sys/bin",
    );
    check(
        &["ws/conf -> ../home/private"],
        "sh conf/data.json",
        "sys/bin",
    );
    check(
        &["ws/conf -> ../home/private"],
        "sh --file=conf/data.json",
        "sys/bin",
    );
    check(&["ws/conf -> ../home/private"], "sh conf/lib", "sys/bin");
    // The script names a secret as its interpreter.
    check(&["ws/run! = #!HOME/secret\n"], "./run", "sys/bin");
    check(
        &["ws/run! = #!/usr/bin/env -S HOME/secret\n"],
        "./run",
        "sys/bin",
    );
    check(&["ws/run! = #!HOME/private/bin/run\n"], "./run", "sys/bin");
    check(&["ws/run! = #!../home/secret\n"], "./run", "sys/bin");
    // A script that names another one, which names a secret.
    check(
        &["ws/run! = #!./two\n", "ws/two! = #!HOME/secret\n"],
        "./run",
        "sys/bin",
    );
    // What the user has on the search path is shown to whoever calls it by name, so it may be linked to.
    let machine = Machine::new(&entries);
    machine
        .tree
        .put("ws/venv/bin/python3 -> ../../../home/.pyenv/versions/3.11/bin/python3");
    machine.tree.put("ws/venv/lib/x.py");
    machine.tree.put("ws/venv/pyvenv.cfg");
    machine.check(
        "home/.pyenv/shims",
        "venv/bin/python3",
        "ws/venv/bin/python3",
        &[
            "home/.pyenv/versions/3.11: read, execute",
            "ws/venv: read, execute",
        ],
    );
    let other = machine.show("home/py/bin", "venv/bin/python3").unwrap_err();
    assert!(
        matches!(other, ConfineError::ProgramLeaves { .. }),
        "{other}"
    );
}

/// The workspace may be known by a path that goes through links.
#[test]
fn the_workspace_is_the_workspace_by_any_name() {
    let machine = Machine::new(&[
        "home/private/bin/run! = ELF",
        "home/private/lib/x",
        "alias -> ws",
    ]);
    machine.tree.put("ws/tools -> ../home/private/bin");
    let root = machine.tree.root().join("alias");
    let error = machine.show("sys/bin", &format!("{}/tools/run", root.display()));
    assert!(
        matches!(error, Err(ConfineError::ProgramLeaves { .. })),
        "{error:?}"
    );
}
