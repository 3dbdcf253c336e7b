use std::collections::HashMap;
use std::path::Path;

use jig_policy::Sensitive;
use jig_sandbox::PrivateContent;

use super::super::host;
use super::super::program::Surroundings;
use super::super::shown::Shown;
use super::super::testing::Tree;
use super::super::{ConfineError, Preset};
use super::{Added, show};

struct Machine {
    tree: Tree,
    variables: HashMap<&'static str, String>,
}

impl Machine {
    fn new(entries: &[&str]) -> Self {
        let tree = Tree::new(&["home/", "ws/"]);
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
        let around = Surroundings {
            root: &root.join("ws"),
            given_root: &root.join("ws"),
            home: Some(&home),
            private_home: Path::new("/home/jig"),
            search_path: &host::search_path(host_path.as_os_str()),
            readable: &|_| false,
            sensitive: &sensitive,
            variable: &variable,
        };
        let mut shown = Shown::default();
        let mut added = Added::default();
        show(preset, &around, &mut shown, &mut added)?;
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
            let PrivateContent::Link(target) = &file.content else {
                panic!("{file:?}");
            };
            lines.push(format!("{} -> {}", short(&file.path), short(target)));
        }
        for (name, value) in &added.variables {
            lines.push(format!("{name}={}", short(Path::new(value))));
        }
        for directory in &added.directories {
            lines.push(format!("PATH {}", short(directory)));
        }
        Ok(lines)
    }

    fn check(&self, preset: Preset, path: &str, expected: &[&str]) {
        assert_eq!(self.show(preset, path).unwrap(), expected, "{preset}");
    }
}

#[test]
fn rust_is_shown_without_credentials() {
    let machine = Machine::new(&[
        "home/.cargo/bin/rustup!",
        "home/.cargo/registry/cache/x",
        "home/.cargo/config.toml",
        "home/.cargo/credentials.toml = token",
        "home/.rustup/settings.toml = default_toolchain = \"stable-x\"",
        "home/.rustup/toolchains/stable-x/bin/cargo!",
    ]);
    machine.check(
        Preset::Rust,
        "none",
        &[
            "home/.cargo/bin: read, execute",
            "home/.cargo/config.toml: read",
            "home/.cargo/registry: read",
            "home/.rustup: read, execute",
            "/home/jig/.cargo/bin -> home/.cargo/bin",
            "/home/jig/.cargo/registry -> home/.cargo/registry",
            "/home/jig/.cargo/config.toml -> home/.cargo/config.toml",
            "RUSTUP_HOME=home/.rustup",
            "CARGO_HOME=/home/jig/.cargo",
            "CARGO_NET_OFFLINE=true",
            "PATH /home/jig/.cargo/bin",
            "PATH home/.rustup/toolchains/stable-x/bin",
        ],
    );
}

#[test]
fn node_is_found_on_the_search_path_or_where_nvm_keeps_it() {
    let machine = Machine::new(&[
        "home/node/bin/node! = ELF",
        "home/node/lib/node_modules/npm/x",
        "home/.nvm/alias/default = 18\n",
        "home/.nvm/versions/node/v18.2.0/bin/node!",
        "home/.nvm/versions/node/v18.19.1/bin/node!",
        "home/.nvm/versions/node/v20.1.0/bin/node!",
    ]);
    let program = "read, execute";
    machine.check(
        Preset::Node,
        "home/node/bin",
        &[&format!("home/node: {program}"), "PATH home/node/bin"],
    );
    let nvm = "home/.nvm/versions/node/v18.19.1";
    machine.check(
        Preset::Node,
        "none",
        &[&format!("{nvm}: {program}"), &format!("PATH {nvm}/bin")],
    );
    machine.tree.put("home/.nvm/alias/default = node");
    let latest = "home/.nvm/versions/node/v20.1.0";
    machine.check(
        Preset::Node,
        "none",
        &[
            &format!("{latest}: {program}"),
            &format!("PATH {latest}/bin"),
        ],
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
    ]);
    machine.check(
        Preset::Python,
        "home/py/bin",
        &["home/py: read, execute", "PATH home/py/bin"],
    );
    machine.tree.put("bin/go -> ../home/sdk/go/bin/go");
    machine.check(
        Preset::Go,
        "bin",
        &[
            "home/go/pkg/mod: read",
            "home/sdk/go: read, execute",
            "GOMODCACHE=home/go/pkg/mod",
            "GOPROXY=off",
            "PATH home/sdk/go/bin",
        ],
    );
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
    machine.check(
        Preset::Git,
        "none",
        &[
            "dotfiles/gitconfig: read",
            "home/.config/git: read",
            "home/.config/git/credentials: nothing",
            "/home/jig/.gitconfig -> dotfiles/gitconfig",
            "/home/jig/.config/git -> home/.config/git",
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
