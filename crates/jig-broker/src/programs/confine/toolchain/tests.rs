use std::collections::HashMap;
use std::path::Path;

use jig_policy::Sensitive;
use jig_sandbox::PrivateContent;

use super::super::host_files;
use super::super::program::ProgramSurroundings;
use super::super::shown_paths::ShownRules;
use super::super::testing::TestTree;
use super::super::{ConfineError, Preset, git};
use super::{PresetAdditions, VirtualEnvironment, show};

struct Machine {
    tree: TestTree,
    variables: HashMap<&'static str, String>,
}

impl Machine {
    fn new(entries: &[&str]) -> Self {
        let tree = TestTree::new(&["home/", "ws/"]);
        entries.iter().for_each(|entry| tree.put(entry));
        Self {
            tree,
            variables: HashMap::new(),
        }
    }

    /// Rules, links, variables and directories, as text.
    fn show(&self, preset: Preset, path: &str) -> Result<Vec<String>, ConfineError> {
        let root = self.tree.root();
        let home = root.join("home");
        let host_path = root.join(path);
        let sensitive = Sensitive::default();
        let variable = |name: &str| self.variables.get(name).cloned();
        let mut around = ProgramSurroundings {
            root: &root.join("ws"),
            given_root: &root.join("ws"),
            home: Some(&home),
            private_home: Path::new("/home/jig"),
            search_path: &host_files::search_path(host_path.as_os_str()),
            readable: &|_| false,
            sensitive: &sensitive,
            variable: &variable,
            start: &root.join("ws"),
            toolchain: None,
            online: false,
            virtual_environment: None,
        };
        around.virtual_environment = VirtualEnvironment::active(&around);
        let mut shown = ShownRules::default();
        let mut added = PresetAdditions::default();
        show(preset, &around, None, &mut shown, &mut added)?;
        let short = |path: &Path| {
            path.strip_prefix(&root)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        let mut lines = Vec::new();
        for rule in shown.into_rules() {
            lines.push(format!("{}: {}", short(&rule.path), rule.rights));
        }
        for file in &added.files {
            let path = short(&file.path);
            lines.push(match &file.content {
                PrivateContent::Link(target) => format!("{path} -> {}", short(target)),
                PrivateContent::Text(text) => {
                    format!("{path}: {}", String::from_utf8_lossy(text).escape_debug())
                }
                other => panic!("{other:?}"),
            });
        }
        for (name, value) in &added.variables {
            lines.push(format!("{name}={}", short(Path::new(value))));
        }
        for directory in &added.directories {
            lines.push(format!("PATH {}", short(directory)));
        }
        for directory in &added.unlisted {
            lines.push(format!("not PATH {}", short(directory)));
        }
        Ok(lines)
    }

    fn check(&self, preset: Preset, path: &str, expected: &[&str]) {
        assert_eq!(self.show(preset, path).unwrap(), expected, "{preset}");
    }
}

#[test]
fn rust_is_shown_without_credentials_and_without_the_programs_of_rustup() {
    let machine = Machine::new(&[
        "home/.cargo/bin/rustup! = ELF",
        "home/.cargo/bin/cargo -> rustup",
        "home/.cargo/bin/rustc -> rustup",
        "home/.cargo/bin/cargo-nextest! = other",
        "home/.cargo/registry/cache/x",
        "home/.cargo/config.toml = [build]\njobs = 2\n[registry]\ntoken = \"abc\"\n",
        "home/.cargo/credentials.toml = token",
        "home/.rustup/settings.toml = default_toolchain = \"stable-x\"",
        "home/.rustup/toolchains/stable-x/bin/cargo!",
    ]);
    machine.check(
        Preset::Rust,
        "none",
        &[
            "home/.cargo/bin: read, execute",
            "home/.cargo/registry: read",
            "home/.rustup/settings.toml: read",
            "home/.rustup/toolchains: read, execute",
            "/home/jig/.cargo/bin/cargo-nextest -> home/.cargo/bin/cargo-nextest",
            "/home/jig/.cargo/bin/rustup -> home/.cargo/bin/rustup",
            "/home/jig/.cargo/registry -> home/.cargo/registry",
            "/home/jig/.cargo/config.toml: [build]\\njobs = 2\\n\\n[registry]\\n",
            "RUSTUP_HOME=home/.rustup",
            "RUSTUP_AUTO_INSTALL=0",
            "RUSTUP_TOOLCHAIN=stable-x",
            "CARGO_HOME=/home/jig/.cargo",
            "CARGO_NET_OFFLINE=true",
            "PATH home/.rustup/toolchains/stable-x/bin",
            "PATH /home/jig/.cargo/bin",
            "not PATH home/.cargo/bin",
        ],
    );
}

/// What is set by a variable may have been set by whoever made the workspace.
#[test]
fn a_hostile_variable_shows_no_more() {
    let entries = [
        "home/toolchains/x/bin/cargo! = ELF",
        "home/registry/secret",
        "home/bin/mine!",
        "ws/registry -> ../home/.ssh",
        "home/.ssh/id",
        "bin/cargo! = ELF",
    ];
    for hostile in ["home", "", "ws", "home/.ssh"] {
        let mut machine = Machine::new(&entries);
        for name in ["CARGO_HOME", "RUSTUP_HOME"] {
            let value = machine.tree.root().join(hostile);
            machine.variables.insert(name, value.display().to_string());
        }
        let lines = machine.show(Preset::Rust, "bin").unwrap();
        let mut rules = lines.iter().filter(|line| line.contains(": "));
        assert!(
            rules.all(|rule| rule.starts_with("bin/cargo: ")),
            "{hostile}: {lines:?}"
        );
    }
}

/// A variable that names a folder of somebody's own in the home shows nothing of it; one that names a cache, that.
#[test]
fn a_variable_shows_a_cache_and_no_other_folder() {
    let entries = [
        "bin/cargo! = ELF",
        "bin/go! = ELF",
        // Somebody's documents, with folders of names that toolchains know.
        "home/mine/letter.txt",
        "home/mine/bin/program!",
        "home/mine/cache/",
        "home/mine/config.toml = [secret]\n",
        "home/mine/git/diary/",
        "home/mine/pkg/mod/cache/",
        "home/mine/pkg/mod/letter.txt",
        "home/mine/registry/index/",
        "home/mine/registry/wedding/",
        "home/mine/toolchains/x/bin/cargo!",
        "home/mine/versions/node/v1/diary",
        // Homes of Cargo, rustup and Go in other places.
        "home/data/cargo/.crates.toml",
        "home/data/cargo/bin/tool!",
        "home/data/cargo/git/db/",
        "home/data/cargo/registry/CACHEDIR.TAG",
        "home/data/cargo/registry/index/",
        "home/data/rustup/settings.toml = default_toolchain = \"x\"",
        "home/data/rustup/toolchains/x/bin/cargo!",
        "home/data/mod/cache/download/",
        "home/data/mod/golang.org/",
        "home/data/nvm/versions/node/v2/bin/node!",
        // A home of Cargo in which somebody keeps more.
        "home/both/.crates.toml",
        "home/both/git/db/",
        "home/both/git/diary/",
        "home/both/registry/src/",
    ];
    let rules = |preset: Preset, variables: &[(&'static str, &str)]| {
        let mut machine = Machine::new(&entries);
        for (name, value) in variables {
            let value = machine.tree.root().join(value);
            machine.variables.insert(name, value.display().to_string());
        }
        let lines = match machine.show(preset, "bin") {
            Ok(lines) => lines,
            Err(ConfineError::PresetNotInstalled { .. }) => Vec::new(),
            Err(error) => panic!("{error}"),
        };
        let at_home = |line: &String| line.contains("home/mine") || line.starts_with("home/");
        lines.into_iter().filter(at_home).collect::<Vec<String>>()
    };
    let nothing: [&str; 0] = [];
    let mine = [("CARGO_HOME", "home/mine"), ("RUSTUP_HOME", "home/mine")];
    assert_eq!(rules(Preset::Rust, &mine), nothing);
    assert_eq!(rules(Preset::Go, &[("GOMODCACHE", "home/mine")]), nothing);
    assert_eq!(rules(Preset::Go, &[("GOPATH", "home/mine")]), nothing);
    assert_eq!(rules(Preset::Node, &[("NVM_DIR", "home/mine")]), nothing);
    let data = [
        ("CARGO_HOME", "home/data/cargo"),
        ("RUSTUP_HOME", "home/data/rustup"),
    ];
    let expected = [
        "home/data/cargo/bin: read, execute",
        "home/data/cargo/git: read",
        "home/data/cargo/registry: read",
        "home/data/rustup/settings.toml: read",
        "home/data/rustup/toolchains: read, execute",
    ];
    assert_eq!(rules(Preset::Rust, &data), expected);
    let modules = rules(Preset::Go, &[("GOMODCACHE", "home/data/mod")]);
    assert_eq!(modules, ["home/data/mod: read"]);
    let node = rules(Preset::Node, &[("NVM_DIR", "home/data/nvm")]);
    assert_eq!(node, ["home/data/nvm/versions/node/v2: read, execute"]);
    let both = rules(Preset::Rust, &[("CARGO_HOME", "home/both")]);
    assert_eq!(both, ["home/both/registry: read"]);
}

#[test]
fn the_toolchain_is_the_one_that_is_active_outside() {
    let entries = [
        "home/.rustup/settings.toml = default_toolchain = \"stable-x\"\n[overrides]\n",
        "home/.rustup/toolchains/stable-x/bin/cargo!",
        "home/.rustup/toolchains/nightly-x/bin/cargo!",
        "home/.rustup/toolchains/1.80.0-x/bin/cargo!",
    ];
    let active = |variable: Option<&str>, more: &[&str]| {
        let mut machine = Machine::new(&entries);
        more.iter().for_each(|entry| machine.tree.put(entry));
        if let Some(value) = variable {
            machine
                .variables
                .insert("RUSTUP_TOOLCHAIN", value.to_owned());
        }
        let lines = machine.show(Preset::Rust, "none").unwrap();
        let mut lines = lines.into_iter();
        lines.find_map(|line| Some(line.strip_prefix("RUSTUP_TOOLCHAIN=")?.to_owned()))
    };
    let is = |name: &str| Some(name.to_owned());
    assert_eq!(active(None, &[]), is("stable-x"));
    assert_eq!(active(Some("nightly"), &[]), is("nightly-x"));
    let file = "ws/rust-toolchain.toml = [toolchain]\nchannel = \"1.80.0\"\n";
    assert_eq!(active(None, &[file]), is("1.80.0-x"));
    assert_eq!(active(Some("nightly"), &[file]), is("nightly-x"));
    // Above the workspace it counts as well.
    assert_eq!(
        active(None, &["rust-toolchain = nightly\n"]),
        is("nightly-x")
    );
    // One that is not installed would be downloaded.
    assert_eq!(
        active(None, &["ws/rust-toolchain = 1.60\n"]),
        is("stable-x")
    );
}

#[test]
fn node_is_found_on_the_search_path_or_where_nvm_keeps_it() {
    let machine = Machine::new(&[
        "home/node/bin/node! = ELF",
        "home/node/lib/node_modules/npm/x",
        "home/node/include/node/node.h",
        "home/.nvm/alias/default = 18\n",
        "home/.nvm/versions/node/v18.2.0/bin/node!",
        "home/.nvm/versions/node/v18.19.1/bin/node!",
        "home/.nvm/versions/node/v20.1.0/bin/node!",
        "home/.npmrc = registry=https://r.test/\n//r.test/:_authToken=abc\n",
        "home/.npm-global/bin/pnpm -> ../lib/node_modules/pnpm/bin/pnpm.cjs",
        "home/.npm-global/lib/node_modules/pnpm/bin/pnpm.cjs! = #!/usr/bin/env node\n",
        "home/.npm-global/lib/node_modules/other/x",
    ]);
    let program = "read, execute";
    let npmrc = "/home/jig/.npmrc: registry=https://r.test/\\n";
    let store = "/home/jig/.local/share/pnpm/store";
    let rc = &format!("/home/jig/.config/pnpm/rc: store-dir={store}\\n");
    let store = &format!("pnpm_config_store_dir={store}");
    let variables = [
        "YARN_PREFERRED_CACHE_FOLDER=/home/jig/.cache/yarn",
        "npm_config_update_notifier=false",
        "npm_config_fetch_retries=0",
    ];
    machine.check(
        Preset::Node,
        "home/node/bin",
        &[
            &format!("home/node: {program}"),
            npmrc,
            rc,
            "npm_package_config_node_gyp_nodedir=home/node",
            store,
            variables[0],
            variables[1],
            variables[2],
            "PATH home/node/bin",
        ],
    );
    let found = |version: &str| {
        let nvm = format!("home/.nvm/versions/node/{version}");
        let expected = [
            &format!("{nvm}: {program}"),
            npmrc,
            rc,
            store,
            variables[0],
            variables[1],
            variables[2],
            &format!("PATH {nvm}/bin"),
        ];
        machine.check(Preset::Node, "none", &expected);
    };
    found("v18.19.1");
    machine.tree.put("home/.nvm/alias/default = node");
    found("v20.1.0");
    // A package manager below a prefix of npm is shown as a whole, and nothing else of that prefix.
    machine.tree.put("both/node -> ../home/node/bin/node");
    machine.tree.put("both/env! = ELF");
    machine
        .tree
        .put("both/pnpm -> ../home/.npm-global/bin/pnpm");
    let lines = machine.show(Preset::Node, "both").unwrap();
    let package = format!("home/.npm-global/lib/node_modules/pnpm: {program}");
    assert!(lines.contains(&package), "{lines:?}");
    assert!(
        !lines.iter().any(|line| line.contains("other")),
        "{lines:?}"
    );
}

#[test]
fn python_and_go_are_shown_where_they_are_installed() {
    let machine = Machine::new(&[
        "home/py/bin/python3! = ELF",
        "home/py/lib/",
        "home/sdk/go/bin/go! = ELF",
        "home/sdk/go/pkg/",
        "home/go/bin/go -> ../sdk/go/bin/go",
        "home/go/pkg/mod/cache/",
        "home/.config/pip/pip.conf = [global]\nindex-url = https://i.test\n",
        "home/.pypirc = password",
        "home/.netrc = password",
    ]);
    machine.check(
        Preset::Python,
        "home/py/bin",
        &[
            "home/py: read, execute",
            "/home/jig/.config/pip/pip.conf: [global]\\nindex-url = https://i.test\\n",
            "UV_LINK_MODE=copy",
            "PIP_RETRIES=0",
            "UV_HTTP_RETRIES=0",
            "UV_PYTHON_DOWNLOADS=never",
            "PATH home/py/bin",
        ],
    );
    machine.tree.put("bin/go -> ../home/sdk/go/bin/go");
    machine.check(
        Preset::Go,
        "bin",
        &[
            "home/go/pkg/mod: read",
            "home/sdk/go: read, execute",
            "/home/jig/go/pkg/mod -> home/go/pkg/mod",
            "GOPATH=/home/jig/go",
            "GOMODCACHE=home/go/pkg/mod",
            "GOCACHE=/home/jig/.cache/go-build",
            "GOTOOLCHAIN=local",
            "GOPROXY=off",
            "PATH home/sdk/go/bin",
        ],
    );
}

/// A virtual environment brings the Python that it was made with, and a link in one that is in the workspace
/// brings nothing else.
#[test]
fn a_virtual_environment_is_shown_with_its_python() {
    let mut machine = Machine::new(&[
        "home/.pyenv/versions/3.11.7/bin/python3.11! = ELF",
        "home/.pyenv/versions/3.11.7/lib/python3.11/os.py",
        "home/.venvs/x/pyvenv.cfg",
        "home/.venvs/x/bin/python3 -> ../../../.pyenv/versions/3.11.7/bin/python3.11",
        "ws/.venv/pyvenv.cfg",
        "ws/.venv/bin/python3 -> ../../../home/.pyenv/versions/3.11.7/bin/python3.11",
        "ws/odd/pyvenv.cfg",
        "ws/odd/bin/python3 -> ../../../home/private/bin/python3",
        "home/private/bin/python3! = ELF",
        "home/private/lib/diary",
    ]);
    let mut rules = |active: &str| {
        let path = machine.tree.root().join(active).display().to_string();
        machine.variables.insert("VIRTUAL_ENV", path);
        let lines = machine
            .show(Preset::Python, &format!("{active}/bin"))
            .unwrap();
        let told = ["home", "VIRTUAL_ENV", "PATH"];
        let is_told = |line: &String| told.iter().any(|start| line.starts_with(start));
        lines.into_iter().filter(is_told).collect::<Vec<String>>()
    };
    assert_eq!(
        rules("home/.venvs/x"),
        [
            "home/.pyenv/versions/3.11.7: read, execute",
            "home/.venvs/x: read, execute",
            "VIRTUAL_ENV=home/.venvs/x",
            "PATH home/.venvs/x/bin",
            "PATH home/.venvs/x/bin",
        ]
    );
    assert_eq!(
        rules("ws/.venv"),
        [
            "home/.pyenv/versions/3.11.7: read, execute",
            "VIRTUAL_ENV=ws/.venv",
            "PATH ws/.venv/bin",
            // Nothing of the workspace is shown here, so that it takes a link to start it.
            "PATH /home/jig/.jig/bin",
        ]
    );
    assert_eq!(rules("ws/odd"), ["VIRTUAL_ENV=ws/odd", "PATH ws/odd/bin"]);
}

#[test]
fn git_is_configured_as_the_user_has_it_without_passwords() {
    let machine = Machine::new(&[
        "dotfiles/gitconfig",
        "home/.gitconfig -> ../dotfiles/gitconfig",
        "home/.config/git/ignore",
        "home/.config/git/credentials",
        "home/.git-credentials",
    ]);
    let system = git::of_system();
    let system = format!("/home/jig/.jig/gitconfig: {}", system.escape_debug());
    machine.check(
        Preset::Git,
        "none",
        &[
            "dotfiles/gitconfig: read",
            "home/.config/git: read",
            "home/.config/git/credentials: nothing",
            "/home/jig/.gitconfig -> dotfiles/gitconfig",
            &system,
            "/home/jig/.config/git -> home/.config/git",
            "GIT_CONFIG_SYSTEM=/home/jig/.jig/gitconfig",
        ],
    );
    // Whoever has no configuration of git has nothing to show.
    Machine::new(&[]).check(Preset::Git, "none", &[]);
}

#[test]
fn a_preset_that_finds_nothing_says_where_it_looked() {
    let machine = Machine::new(&["bin/"]);
    let root = machine.tree.root();
    let check = |preset, looked: &[&str]| {
        let error = machine.show(preset, "bin").unwrap_err().to_string();
        let places: Vec<String> = looked
            .iter()
            .map(|place| format!("`{}`", root.join(place).display()))
            .collect();
        let expected = format!(
            "the preset `{preset}` finds nothing installed: looked at {}",
            places.join(", ")
        );
        assert_eq!(error, expected);
    };
    check(Preset::Python, &["bin"]);
    check(Preset::Node, &["bin", "home/.nvm/versions/node"]);
    check(Preset::Go, &["bin"]);
    check(Preset::Rust, &["home/.rustup", "home/.cargo", "bin"]);
}

#[test]
fn presets_have_names() {
    for preset in Preset::ALL {
        assert_eq!(Preset::parse(preset.name()), Some(preset));
    }
    assert_eq!(Preset::parse("ruby"), None);
}
