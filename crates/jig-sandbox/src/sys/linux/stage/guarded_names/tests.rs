#![expect(unsafe_code, reason = "orders are blocks of bytes")]

use super::*;
use crate::sys::linux::stage::order::{OrderHeader, OrderSpan};

/// Asks a list of entries: base, pattern and flags. With a `!` a pattern has the name of directories below which it does
/// not hold.
fn with<T>(entries: &[(&str, &str, u32)], ask: impl FnOnce(GuardedNames<'_>) -> T) -> T {
    let size = size_of::<OrderHeader>();
    let mut texts = Vec::new();
    let mut put = |text: &str| {
        let at = (size + texts.len()) as u32;
        texts.extend_from_slice(text.as_bytes());
        texts.push(0);
        at
    };
    let entries: Vec<[u32; 4]> = entries
        .iter()
        .map(|(base, pattern, flags)| {
            let (pattern, not_below) = pattern.split_once('!').unwrap_or((pattern, ""));
            [put(base), put(pattern), put(not_below), *flags]
        })
        .collect();
    let mut bytes = vec![0; size];
    bytes.extend(texts);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let at = bytes.len() as u32;
    bytes.extend(
        entries
            .as_flattened()
            .iter()
            .flat_map(|word| word.to_ne_bytes()),
    );
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let mut header = OrderHeader {
        length: bytes.len() as u64,
        names: OrderSpan {
            at,
            count: entries.len() as u32,
        },
        ..OrderHeader::default()
    };
    // SAFETY: a header consists of integers, and there is room for one.
    unsafe {
        let from = (&raw mut header).cast::<u8>();
        std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr(), size);
    }
    let mut words: Vec<u64> = bytes
        .chunks_exact(8)
        .map(|word| u64::from_ne_bytes(word.try_into().expect("it is a word")))
        .collect();
    // SAFETY: the words live on, and nobody else uses them meanwhile.
    let order = unsafe { OrderBlock::new(words.as_mut_ptr().cast(), bytes.len()) };
    ask(GuardedNames(&order.expect("it is whole")))
}

const ENTRIES: &[(&str, &str, u32)] = &[
    ("/w", "own/.env", order::NAME_FREE),
    ("/w", ".env*", order::NAME_AT_ANY_DEPTH),
    ("/w", ".git/config", order::NAME_AT_ANY_DEPTH),
    ("/w", "deep/*/name", 0),
    ("/", "top", 0),
    ("/w", ".hg", order::NAME_AT_ANY_DEPTH | order::NAME_ITSELF),
    ("/w", ".vscode!node_modules", order::NAME_AT_ANY_DEPTH),
];

#[test]
fn paths_are_judged() {
    use NameVerdict::*;
    for (path, expected) in [
        ("/w/.env", Guarded(1)),
        ("/w/.environment", Guarded(1)),
        ("/w/a/b/.env", Guarded(1)),
        ("/w/own/.env", Free),
        ("/w/own/.env/below", Free),
        ("/w/own/.env2", Guarded(1)),
        ("/w/a/own/.env", Guarded(1)),
        ("/x/.env", Free),
        ("/wide/.env", Free),
        ("/w/env", Free),
        ("/w/.git", Above(2)),
        ("/w/a/.git", Above(2)),
        ("/w/a/.git/config", Guarded(2)),
        ("/w/.git/config.lock", Free),
        ("/w/.git/a/config", Free),
        ("/w/deep", Above(3)),
        ("/w/deep/x", Above(3)),
        ("/w/deep/x/name", Guarded(3)),
        ("/w/a/deep/x/name", Free),
        ("/w/deep/x/y/name", Free),
        ("/top", Guarded(4)),
        ("/a/top", Free),
        // Whatever lies in something that is guarded is guarded with it.
        ("/w/.env/below", Guarded(1)),
        ("/w/.git/config/below", Guarded(2)),
        ("/w/.hg", Guarded(5)),
        ("/w/a/.hg", Guarded(5)),
        ("/w/.hg/below", Free),
        ("/w/.vscode", Guarded(6)),
        ("/w/.vscode/x", Guarded(6)),
        ("/w/node_modules/a/.vscode", Free),
        ("/w/a/node_modules/.vscode", Free),
        ("/w/.vscode/node_modules/x", Guarded(6)),
        ("/w/Node_Modules/a/.vscode", Free),
        ("/w/node_modules2/a/.vscode", Guarded(6)),
        // As the loosest file system compares names; what is free is meant to the letter.
        ("/w/.ENV", Guarded(1)),
        ("/w/.GIT./Config ", Guarded(2)),
        ("/w/.g\u{200d}it/config", Guarded(2)),
        ("/w/own/.Env", Guarded(1)),
        ("/w/*/.env", Guarded(1)),
        ("/W/.env", Free),
    ] {
        let verdict = with(ENTRIES, |names| names.judge(path.as_bytes(), |_| false));
        assert_eq!(verdict, expected, "{path}");
    }
}

#[test]
fn names_that_no_entry_mentions_are_passed_over() {
    for (name, expected) in [
        (".env", true),
        (".git", true),
        ("config", true),
        ("deep", true),
        ("name", true),
        ("top", true),
        (".VSCODE", true),
        ("other", false),
    ] {
        let mentions = with(ENTRIES, |names| names.mentions(name.as_bytes()));
        assert_eq!(mentions, expected, "{name}");
        let mentions = with(&ENTRIES[..3], |names| names.mentions(name.as_bytes()));
        assert_eq!(
            mentions,
            expected && !["deep", "name", "top", ".VSCODE"].contains(&name),
            "{name}"
        );
    }
}

#[test]
fn what_would_be_below_is_known() {
    for (path, expected) in [
        ("/w/.git", &["config"][..]),
        ("/w/a/.git", &["config"]),
        ("/w/deep", &["*/name"]),
        ("/w/deep/x", &["name"]),
        ("/w/own", &[]),
        ("/w/x", &[]),
    ] {
        let mut found = Vec::new();
        with(ENTRIES, |names| {
            names.below(path.as_bytes(), |rest| {
                found.push(String::from_utf8_lossy(rest).into_owned());
                false
            })
        });
        assert_eq!(found, expected, "{path}");
    }
}

const BARE: &[(&str, &str, u32)] = &[
    ("/w", "own", order::NAME_FREE),
    ("/w", "", order::NAME_BARE),
];

#[test]
fn a_bare_repository_is_not_completed() {
    use NameVerdict::*;
    for (path, there, expected) in [
        ("/w/HEAD", &["objects", "refs"][..], Guarded(1)),
        ("/w/a/refs", &["objects", "HEAD"], Guarded(1)),
        ("/w/a/Refs", &["objects", "HEAD"], Guarded(1)),
        ("/w/a/objects", &["refs", "HEAD"], Guarded(1)),
        ("/w/a/commondir", &["HEAD"], Guarded(1)),
        ("/w/a/HEAD", &["commondir"], Guarded(1)),
        ("/w/HEAD", &[], Free),
        ("/w/refs", &["objects"], Free),
        ("/w/commondir", &["objects", "refs"], Free),
        // It is one already, and stays one.
        ("/w/HEAD", &["HEAD", "objects", "refs"], Free),
        ("/w/commondir", &["HEAD", "objects", "refs"], Free),
        ("/w/.git/HEAD", &["objects", "refs"], Free),
        ("/w/a/.git/worktrees/x/HEAD", &["commondir"], Free),
        ("/w/a/.git/modules/x/HEAD", &["objects", "refs"], Free),
        // No repository of git's own.
        ("/w/a/.git/x/HEAD", &["objects", "refs"], Guarded(1)),
        ("/w/.git/x/y/commondir", &["HEAD"], Guarded(1)),
        ("/w/own/HEAD", &["objects", "refs"], Free),
        ("/x/HEAD", &["objects", "refs"], Free),
        ("/w/other", &["HEAD", "objects"], Free),
    ] {
        let has = |name: &CStr| there.iter().any(|one| one.as_bytes() == name.to_bytes());
        let verdict = with(BARE, |names| names.judge(path.as_bytes(), has));
        assert_eq!(verdict, expected, "{path} beside {there:?}");
    }
    for (name, expected) in [("HEAD", true), ("Refs", true), ("index", false)] {
        let mentions = with(BARE, |names| names.mentions(name.as_bytes()));
        assert_eq!(mentions, expected, "{name}");
    }
}

#[test]
fn a_directory_may_hold_what_may_not_be_elsewhere() {
    for (from, to, there, expected) in [
        ("/w/node_modules", "/w/kept", "", true),
        ("/w/node_modules/a", "/w/a", "", true),
        ("/w/node_modules/a", "/w/node_modules/b", "", false),
        ("/w/a", "/w/node_modules/a", "", false),
        ("/w/own", "/w/b", ".env", true),
        ("/w/own", "/w/b", "x", false),
        ("/w/own/.env", "/w/own/b", "", true),
        ("/w/own/.env/a", "/w/own/.env/b", "", false),
        ("/w/a", "/w/b", ".env", false),
    ] {
        let found = |rest: &[u8]| rest == there.as_bytes();
        let is_freer = with(ENTRIES, |names| {
            names.is_freer(from.as_bytes(), to.as_bytes(), found)
        });
        assert_eq!(is_freer, expected, "{from} to {to} with {there:?}");
    }
}

#[test]
fn stars_stand_for_any_run() {
    for (glob, name, expected) in [
        ("a", "a", true),
        ("a", "", false),
        ("*", "", true),
        ("*", "x", true),
        ("a*", "a", true),
        ("a*c", "abcbc", true),
        ("a*c", "abcb", false),
        ("*a*b*", "xxaxxbxx", true),
        ("*a*b*", "xxbxxaxx", false),
        ("a**b", "ab", true),
        ("a*a", "a", false),
    ] {
        assert_eq!(
            glob_matches(glob.as_bytes(), name.as_bytes()),
            expected,
            "{glob} {name}"
        );
    }
}
