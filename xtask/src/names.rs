//! How many names of types stand for more than one thing.
//!
//! A reader who meets `State` must not have to look up which of sixteen it is. `cargo xtask names` lists the names that
//! several types of the product share; a test fails when they become many.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the sources of the repository are read, and the person who asked is told"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::root;

/// Prints the names that several types share, the most used first.
pub(crate) fn run() -> Result<(), String> {
    let names = TypeNames::of_the_product()?;
    let mut shared: Vec<(&String, &Vec<String>)> = names.shared().collect();
    shared.sort_by_key(|(_, places)| std::cmp::Reverse(places.len()));
    for (name, places) in &shared {
        eprintln!("{name}");
        for place in *places {
            eprintln!("    {place}");
        }
    }
    eprintln!("{}", names.summary());
    Ok(())
}

/// Where each name of a type is defined.
struct TypeNames {
    places: BTreeMap<String, Vec<String>>,
}

impl TypeNames {
    /// The names in the sources of the product, without tests, without the code for platforms that stands in for
    /// another (which has the same names by intent), and without what is shipped as text.
    fn of_the_product() -> Result<Self, String> {
        let mut names = Self {
            places: BTreeMap::new(),
        };
        for folder in ["crates", "tools", "xtask"] {
            for file in sources(&root().join(folder))? {
                let shown = file.strip_prefix(root()).unwrap_or(&file);
                if is_product(shown) {
                    let text = fs::read_to_string(&file).map_err(|error| error.to_string())?;
                    names.add(&shown.display().to_string(), &text);
                }
            }
        }
        Ok(names)
    }

    fn add(&mut self, file: &str, text: &str) {
        for (number, line) in text.lines().enumerate() {
            if let Some(name) = defined(line) {
                let places = self.places.entry(name.to_owned()).or_default();
                places.push(format!("{file}:{}", number + 1));
            }
        }
    }

    fn shared(&self) -> impl Iterator<Item = (&String, &Vec<String>)> {
        self.places.iter().filter(|(_, places)| places.len() > 1)
    }

    fn summary(&self) -> String {
        let (shared, all) = (self.shared().count(), self.places.len());
        let permille = shared * 1000 / all.max(1);
        format!(
            "{shared} of {all} names of types are used more than once: {}.{} %",
            permille / 10,
            permille % 10
        )
    }
}

/// All Rust files below a folder.
pub(crate) fn sources(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|error| error.to_string())?.path();
        if path.is_dir() {
            found.extend(sources(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    Ok(found)
}

fn is_product(file: &Path) -> bool {
    let mut parts = file
        .iter()
        .filter_map(|part| part.to_str())
        .map(|part| part.trim_end_matches(".rs"));
    let stands_in = |part: &str| OTHERWISE.contains(&part) || part.starts_with("no_");
    !parts.any(|part| NOT_THE_PRODUCT.contains(&part) || stands_in(part))
        && !SAME_NAMES.iter().any(|end| file.ends_with(end))
}

/// The name of the type that a line begins to define. An associated type is indented, and no name of its own.
fn defined(line: &str) -> Option<&str> {
    let code = line.trim_start();
    let is_indented = code.len() < line.len();
    let code = match code.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(')')?.1.trim_start(),
        Some(rest) => rest.trim_start(),
        None => code,
    };
    let code = code.strip_prefix("unsafe ").unwrap_or(code);
    let (kind, rest) = code.split_once(' ')?;
    if !KINDS.contains(&kind) || (kind == "type" && is_indented) {
        return None;
    }
    let end = rest.find(|character: char| !character.is_alphanumeric() && character != '_');
    let name = &rest[..end.unwrap_or(rest.len())];
    name.starts_with(|first: char| first.is_ascii_uppercase())
        .then_some(name)
}

/// The words that define a type.
const KINDS: [&str; 5] = ["struct", "enum", "trait", "union", "type"];

/// Files and folders that are no product.
const NOT_THE_PRODUCT: [&str; 6] = [
    "tests",
    "examples",
    "benches",
    "target",
    "templates",
    "jig-testkit",
];

/// Files and folders for platforms that only stand in for Linux.
const OTHERWISE: [&str; 3] = ["unsupported", "macos", "windows"];

/// More of these, whose name alone does not tell.
const SAME_NAMES: [&str; 3] = ["door/foreign.rs", "gateway/foreign.rs", "sys/foreign.rs"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_known_by_its_line() {
        let check = |line: &str, name: Option<&str>| assert_eq!(defined(line), name, "{line}");
        check("struct Lane;", Some("Lane"));
        check("pub(crate) enum Way<'a> {", Some("Way"));
        check("    pub(in crate::x) struct Inner(u8);", Some("Inner"));
        check("pub unsafe trait Raw {", Some("Raw"));
        check("type Pair = (u8, u8);", Some("Pair"));
        check("    type Output = u8;", None);
        check("structure Of {", None);
        check("// struct Gone;", None);
    }

    /// A name tells its content without its path. Most are used once; a plain word may be used again where a second
    /// idea of it is far away.
    #[test]
    fn few_names_of_types_are_used_twice() {
        let names = TypeNames::of_the_product().unwrap();
        let (shared, all) = (names.shared().count(), names.places.len());
        assert!(
            all > 1000,
            "{all} names of types: the sources are not found"
        );
        assert!(
            shared * 100 < all * MOST_SHARED,
            "{}\n`cargo xtask names` lists them",
            names.summary()
        );
    }

    /// In a hundred.
    const MOST_SHARED: usize = 8;
}
