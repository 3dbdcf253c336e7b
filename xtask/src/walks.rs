//! That the functions which ARCHITECTURE.md names, step by step, are where it says.

#![expect(
    clippy::disallowed_methods,
    reason = "the map and the sources of the repository are read"
)]

use std::path::Path;

use crate::names::sources;
use crate::root;

/// What is wrong with a function that a step names, such as `jig_engine::Engine::call`.
fn problem(named: &str) -> Option<String> {
    let parts: Vec<&str> = named.split("::").collect();
    let (crate_name, function) = (parts[0].replace('_', "-"), parts[parts.len() - 1]);
    let folder = ["crates", "tools"]
        .map(|folder| root().join(folder).join(&crate_name).join("src"))
        .into_iter()
        .find(|folder| folder.is_dir());
    let Some(folder) = folder else {
        return Some(format!("{named}: there is no crate `{crate_name}`"));
    };
    let within = &parts[1..parts.len() - 1];
    let holds = |file: &Path| {
        let text = std::fs::read_to_string(file).unwrap();
        let is_defined =
            text.contains(&format!("fn {function}(")) || text.contains(&format!("fn {function}<"));
        is_defined
            && match within {
                [owner] if owner.starts_with(char::is_uppercase) => is_of(&text, owner),
                modules => file == folder.join(modules.join("/")).with_extension("rs"),
            }
    };
    let mut files = sources(&folder).unwrap().into_iter();
    (!files.any(|file| holds(&file))).then(|| format!("{named}: there is no such function"))
}

/// Whether a text has an `impl` of a type, or is where a trait is defined.
fn is_of(text: &str, owner: &str) -> bool {
    let mut lines = text.lines();
    lines.any(|line| {
        let begins = line.starts_with("impl") || line.contains("trait ");
        let mut words = line.split(|character: char| !character.is_alphanumeric());
        begins && words.any(|word| word == owner)
    })
}

#[test]
fn every_step_names_a_function_that_there_is() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, walks) = map
        .split_once("## Three calls, step by step")
        .expect("the steps");
    let (walks, _) = walks.split_once("\n## ").expect("an end");
    let named: Vec<&str> = walks
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|words| words.starts_with("jig_"))
        .collect();
    assert!(named.len() > 30, "the steps are not found: {named:?}");
    let problems: Vec<String> = named.into_iter().filter_map(problem).collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for walk in walks.split("**").skip(2).step_by(2) {
        assert!(!walk.contains("\n16. "), "at most 15 steps: {walk}");
    }
    let gone = ["jig_engine::Engine::no_such", "jig_none::Engine::call"];
    assert!(gone.into_iter().all(|named| problem(named).is_some()));
}
