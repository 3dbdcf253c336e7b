//! That every rule of `docs/requirements.toml` has a test which names it, and that tests name no other.
//!
//! What counts is the name of a test, the comment above it and comments inside: not what a module says about itself,
//! and not what production code says. A test without the harness counts as a whole.

#![expect(
    clippy::disallowed_methods,
    reason = "the sources of the repository are read, and cargo is asked what it would build"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A rule's number: its letter, and the digits with what follows them.
type Number = String;

/// The numbers of the list: those that need a test, and those that have none.
fn listed(text: &str) -> (BTreeSet<Number>, BTreeSet<Number>) {
    let mut tested = BTreeSet::new();
    let mut untested = BTreeSet::new();
    let mut is_tested = true;
    for line in text.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if line.starts_with('[') {
            is_tested = !matches!(line, "[open]" | "[untested]");
            continue;
        }
        let (number, words) = line.split_once(" = ").expect(line);
        assert_eq!(written(number), [number], "{line}");
        assert!(words.len() > 4 && words.starts_with('"'), "{line}");
        let set = if is_tested {
            &mut tested
        } else {
            &mut untested
        };
        assert!(set.insert(number.to_owned()), "twice: {line}");
    }
    (tested, untested)
}

/// A number in a text, with where it begins and ends there.
struct NumberMatch {
    number: Number,
    start: usize,
    end: usize,
}

/// The numbers as prose writes them: `V-027`, `X-30b`, `V-041 to V-043`, `F-010…F-013`.
fn written(text: &str) -> Vec<Number> {
    let found = text.match_indices('-').filter_map(|(dash, _)| {
        let letter = text[..dash].chars().next_back()?;
        let before = text[..dash - letter.len_utf8()].chars().next_back();
        if !LETTERS.contains(letter) || before.is_some_and(char::is_alphanumeric) {
            return None;
        }
        let digits = digits_of(letter, &text[dash + 1..])?;
        Some(NumberMatch {
            number: format!("{letter}-{digits}"),
            start: dash - 1,
            end: dash + 1 + digits.len(),
        })
    });
    with_ranges(text, &found.collect::<Vec<_>>(), &[" to ", "…"])
}

/// The numbers in the name of a test: `v027_…`, `…_g_079`, `s050_to_s054_…`.
fn named(name: &str) -> Vec<Number> {
    let mut found = Vec::new();
    for (start, part) in parts(name) {
        let letter = part
            .chars()
            .next()
            .map(|letter| letter.to_ascii_uppercase());
        let Some(letter) = letter.filter(|letter| LETTERS.contains(*letter)) else {
            continue;
        };
        // The letter may be a part by itself.
        let rest = &name[start + 1..];
        let skipped = usize::from(part.len() == 1 && rest.starts_with('_'));
        if part.len() == 1 && skipped == 0 {
            continue;
        }
        if let Some(digits) = digits_of(letter, &rest[skipped..]) {
            found.push(NumberMatch {
                number: format!("{letter}-{digits}"),
                start,
                end: start + 1 + skipped + digits.len(),
            });
        }
    }
    with_ranges(name, &found, &["_to_"])
}

/// The parts of a name between underscores, each with its place.
fn parts(name: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    name.split('_').map(move |part| {
        let at = start;
        start += part.len() + 1;
        (at, part)
    })
}

/// As many digits as the numbers of this letter have, if that is all that stands there.
fn digits_of(letter: char, text: &str) -> Option<&str> {
    let count = if letter == 'X' { 2 } else { 3 };
    let digits = text.get(..count)?;
    let rest = &text[count..];
    let has_b = letter == 'X' && rest.starts_with('b');
    let after = rest[usize::from(has_b)..].chars().next();
    let is_all = !after.is_some_and(char::is_alphanumeric);
    (digits.bytes().all(|byte| byte.is_ascii_digit()) && is_all)
        .then(|| &text[..count + usize::from(has_b)])
}

/// The numbers, and those between two that make a range. A long range is an overview, and only its ends are named.
fn with_ranges(text: &str, found: &[NumberMatch], between: &[&str]) -> Vec<Number> {
    let mut numbers: Vec<Number> = found.iter().map(|one| one.number.clone()).collect();
    for two in found.windows(2) {
        let is_range = between.contains(&&text[two[0].end..two[1].start]);
        let count = |one: &NumberMatch| one.number[2..].parse::<u32>().ok();
        if let (true, Some(first), Some(last)) = (is_range, count(&two[0]), count(&two[1])) {
            let letter = &two[0].number[..1];
            let inner = (first + 1..last).filter(|_| last - first <= LONGEST_RANGE);
            numbers.extend(inner.map(|number| format!("{letter}-{number:03}?")));
        }
    }
    numbers
}

/// What the tests of a file name, each with the test.
fn of_file(path: &Path, text: &str) -> Vec<(Number, String)> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("py") => of_python(text),
        _ if text.contains("#[test]") => of_rust(text),
        _ if text.contains("\nfn main()")
            && path.components().any(|part| part.as_os_str() == "tests") =>
        {
            let comments = text.lines().filter_map(comment);
            comments
                .flat_map(written)
                .map(|number| (number, "main".to_owned()))
                .collect()
        }
        _ => Vec::new(),
    }
}

fn of_rust(text: &str) -> Vec<(Number, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        if line.trim() != "#[test]" {
            continue;
        }
        let indent = &line[..line.len() - line.trim_start().len()];
        let is_above =
            |line: &&&str| line.trim().starts_with("//") || line.trim().starts_with("#[");
        let above = lines[..at].iter().rev().take_while(is_above).copied();
        // Formatted code: the brace of a function stands below its beginning.
        let end = format!("{indent}}}");
        let inside = lines[at + 1..]
            .iter()
            .take_while(|line| **line != end)
            .copied();
        let inside: Vec<&str> = inside.collect();
        let name = inside.iter().find_map(|line| {
            let (_, name) = line.trim().split_once("fn ")?;
            name.split(['(', '<']).next()
        });
        let name = name.unwrap_or("?");
        let told = above.chain(inside).filter_map(comment).flat_map(written);
        let numbers = told.chain(named(name));
        all.extend(numbers.map(|number| (number, name.to_owned())));
    }
    all
}

/// The comment in a line of Rust.
fn comment(line: &str) -> Option<&str> {
    let (before, comment) = line.split_once("//")?;
    // As in a URL.
    (!before.ends_with(':')).then_some(comment)
}

fn of_python(text: &str) -> Vec<(Number, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("def test_") else {
            continue;
        };
        let name = rest.split('(').next().unwrap_or_default();
        let indent = line.len() - line.trim_start().len();
        let is_inside =
            |line: &&&str| line.trim().is_empty() || line.len() - line.trim_start().len() > indent;
        let inside = lines[at + 1..].iter().take_while(is_inside);
        let told = inside.filter(|line| line.contains('#') || line.contains("\"\"\""));
        let numbers = told.flat_map(|line| written(line)).chain(named(name));
        all.extend(numbers.map(|number| (number, name.to_owned())));
    }
    all
}

/// The sources that can hold tests.
pub(crate) fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the repository") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !SKIPPED.contains(&&*name) {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            found.push(path);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

const LETTERS: &str = "VFSGWJX";

/// What is built, fetched or foreign.
const SKIPPED: [&str; 3] = ["target", ".git", "node_modules"];

/// How many numbers a range can stand for.
const LONGEST_RANGE: u32 = 12;

#[test]
fn every_rule_has_a_test_and_every_number_a_rule() {
    let root = root();
    let list = std::fs::read_to_string(root.join("docs/requirements.toml")).expect("the list");
    let (tested, untested) = listed(&list);
    let mut paths = Vec::new();
    sources(&root, &mut paths);
    let mut by_number: BTreeMap<Number, Vec<String>> = BTreeMap::new();
    let all = paths.iter().flat_map(|path| {
        let text = std::fs::read_to_string(path).expect("a source");
        of_file(path, &text)
            .into_iter()
            .map(|(number, test)| (number, format!("{}: {test}", path.display())))
            .collect::<Vec<_>>()
    });
    for (number, test) in all {
        by_number.entry(number).or_default().push(test);
    }
    let mut wrong = Vec::new();
    for number in &tested {
        let is_in_range = by_number.contains_key(&format!("{number}?"));
        if !by_number.contains_key(number) && !is_in_range {
            wrong.push(format!("{number}: no test names it"));
        }
    }
    for (number, tests) in &by_number {
        // A range may pass over numbers that do not exist.
        let is_listed = tested.contains(number) || number.ends_with('?');
        if untested.contains(number) {
            wrong.push(format!(
                "{number}: is listed as one without a test, and named by {tests:?}"
            ));
        } else if !is_listed {
            wrong.push(format!("{number}: is no rule, and named by {tests:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_are_read_as_they_are_written() {
    let check = |text: &str, expected: &[&str]| assert_eq!(written(text), expected, "{text}");
    check("V-027, X-30b: so", &["V-027", "X-30b"]);
    check("V-041 to V-043", &["V-041", "V-043", "V-042?"]);
    check("F-010…F-011 (S-001)", &["F-010", "F-011", "S-001"]);
    check("V-1234 UTF-16 AV-027 V-02 X-100 V-027x", &[]);
    let check = |name: &str, expected: &[&str]| assert_eq!(named(name), expected, "{name}");
    check("v027_a_question_x22", &["V-027", "X-22"]);
    check("worked_example_g_079", &["G-079"]);
    check("s050_to_s052_git", &["S-050", "S-052", "S-051?"]);
    check("moves_g_038_x_50_x_65", &["G-038", "X-50", "X-65"]);
    check("f64_v18_x1_s5", &[]);
}

/// W-004: who needs no components builds jig without their engine, and what is released is small.
#[test]
fn w004_jig_can_be_built_without_wasmtime() {
    let needed = |features: &[&str]| {
        let output = Command::new(env!("CARGO"))
            .args(["tree", "--offline", "--locked", "--package", "jig-cli"])
            .args(["--edges", "normal", "--prefix", "none", "--format", "{p}"])
            .args(features)
            .current_dir(root())
            .output()
            .expect("cargo starts");
        assert!(output.status.success(), "{output:?}");
        let tree = String::from_utf8(output.stdout).expect("text");
        tree.lines().any(|line| line.starts_with("wasmtime "))
    };
    assert!(needed(&[]));
    assert!(!needed(&["--no-default-features"]));
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest");
    let release = manifest
        .split_once("[profile.release]")
        .expect("a profile")
        .1;
    let release = release.split("\n[").next().unwrap_or_default();
    assert!(
        release.contains("lto = ") && release.contains("strip = true"),
        "{release}"
    );
}
