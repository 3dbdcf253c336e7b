//! That every crate that jig is built from has a licence, a source and a name that `deny.toml` accepts.
//!
//! `cargo deny check` reads the same file and knows the advisories as well; CI runs it. It takes minutes to compile, so
//! `cargo xtask test` checks these three on its own.

#![expect(
    clippy::disallowed_methods,
    reason = "`deny.toml` is read, and cargo is asked what it would build"
)]

use std::process::Command;

use serde_json::Value as Json;

use crate::root;

/// The parts of `deny.toml` that are checked here.
struct DenyToml {
    licences: Vec<String>,
    banned: Vec<String>,
}

impl DenyToml {
    fn read() -> Self {
        let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
        let file: toml::Table = text.parse().unwrap();
        let texts = |values: &toml::Value, key: &str| {
            let values = values.as_array().unwrap().iter();
            let texts = values.map(|value| value.get(key).unwrap_or(value).as_str().unwrap());
            texts.map(ToOwned::to_owned).collect::<Vec<_>>()
        };
        Self {
            licences: texts(&file["licenses"]["allow"], ""),
            banned: texts(&file["bans"]["deny"], "crate"),
        }
    }

    /// Whether an SPDX expression leaves a choice that consists of accepted licences.
    fn allows(&self, expression: &str) -> bool {
        // Old manifests write `MIT/Apache-2.0`.
        let spaced = expression
            .replace('/', " OR ")
            .replace('(', " ( ")
            .replace(')', " ) ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let mut rest = words.as_slice();
        self.any_of(&mut rest) && rest.is_empty()
    }

    fn any_of(&self, rest: &mut &[&str]) -> bool {
        let mut allowed = self.all_of(rest);
        while let Some((&"OR", after)) = rest.split_first() {
            *rest = after;
            allowed |= self.all_of(rest);
        }
        allowed
    }

    fn all_of(&self, rest: &mut &[&str]) -> bool {
        let mut allowed = self.one(rest);
        while let Some((&"AND", after)) = rest.split_first() {
            *rest = after;
            allowed &= self.one(rest);
        }
        allowed
    }

    fn one(&self, rest: &mut &[&str]) -> bool {
        match **rest {
            ["(", ref inner @ ..] => {
                *rest = inner;
                let allowed = self.any_of(rest);
                match rest.split_first() {
                    Some((&")", after)) => *rest = after,
                    _ => return false,
                }
                allowed
            }
            [licence, "WITH", exception, ref after @ ..] => {
                *rest = after;
                self.licences
                    .contains(&format!("{licence} WITH {exception}"))
            }
            [licence, ref after @ ..] => {
                *rest = after;
                self.licences.iter().any(|allowed| allowed == licence)
            }
            [] => false,
        }
    }

    /// One line for each thing about a package that is not accepted.
    fn problems(&self, package: &Json) -> Vec<String> {
        let name = package["name"].as_str().unwrap_or_default();
        let named = |what: String| format!("{name} {}: {what}", package["version"]);
        let mut problems = Vec::new();
        let licence = package["license"].as_str().unwrap_or_default();
        if !self.allows(licence) {
            problems.push(named(format!("the licence `{licence}` is not accepted")));
        }
        match package["source"].as_str() {
            None | Some(CRATES_IO) => {}
            Some(other) => problems.push(named(format!("it comes from {other}"))),
        }
        if self.banned.iter().any(|banned| banned == name) {
            problems.push(named("it is banned".to_owned()));
        }
        problems
    }
}

/// Every package of the workspace that this manifest belongs to, for all systems.
fn packages(manifest: &str) -> Vec<Json> {
    let output = Command::new("cargo")
        .args(["metadata", "--locked", "--format-version", "1"])
        .args(["--all-features", "--manifest-path", manifest])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let metadata: Json = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn every_dependency_is_accepted() {
    let accepted = DenyToml::read();
    for manifest in ["Cargo.toml", "guests/Cargo.toml"] {
        let packages = packages(manifest);
        assert!(packages.len() > 5, "{manifest}: {}", packages.len());
        let problems: Vec<String> = packages
            .iter()
            .flat_map(|package| accepted.problems(package))
            .collect();
        assert!(problems.is_empty(), "{manifest}:\n{}", problems.join("\n"));
    }
}

#[test]
fn a_licence_a_source_and_a_banned_crate_are_seen() {
    let accepted = DenyToml::read();
    let check = |name: &str, licence: &str, source: &str, expected: &[&str]| {
        let package = serde_json::json!({
            "name": name, "version": "1.0.0", "license": licence, "source": source,
        });
        assert_eq!(accepted.problems(&package), expected, "{name} {licence}");
    };
    check("a", "MIT OR GPL-3.0", CRATES_IO, &[]);
    check("a", "MIT/Apache-2.0", CRATES_IO, &[]);
    check("a", "(MIT OR GPL-3.0) AND Unicode-3.0", CRATES_IO, &[]);
    check("a", "Apache-2.0 WITH LLVM-exception", CRATES_IO, &[]);
    for licence in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "(MIT",
        "MIT)",
        "MIT WITH LLVM-exception",
    ] {
        let told = format!("a \"1.0.0\": the licence `{licence}` is not accepted");
        check("a", licence, CRATES_IO, &[told.as_str()]);
    }
    let git = "git+https://example.com/a";
    check(
        "a",
        "MIT",
        git,
        &["a \"1.0.0\": it comes from git+https://example.com/a"],
    );
    check(
        "openssl",
        "MIT",
        CRATES_IO,
        &["openssl \"1.0.0\": it is banned"],
    );
}

const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
