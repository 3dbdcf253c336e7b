#![expect(unsafe_code, reason = "orders are blocks of bytes")]

use super::*;
use crate::sys::linux::stage::order::{OrderHeader, OrderSpan};

/// Asks a list of entries: base, pattern and flags.
fn with<T>(entries: &[(&str, &str, u32)], ask: impl FnOnce(GuardedNames<'_>) -> T) -> T {
    let size = size_of::<OrderHeader>();
    let mut texts = Vec::new();
    let mut put = |text: &str| {
        let at = (size + texts.len()) as u32;
        texts.extend_from_slice(text.as_bytes());
        texts.push(0);
        at
    };
    let entries: Vec<[u32; 3]> = entries
        .iter()
        .map(|(base, pattern, flags)| [put(base), put(pattern), *flags])
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
    ] {
        let verdict = with(ENTRIES, |names| names.judge(path.as_bytes()));
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
        // A part that is open mentions every name.
        ("other", true),
    ] {
        let mentions = with(ENTRIES, |names| names.mentions(name.as_bytes()));
        assert_eq!(mentions, expected, "{name}");
        let mentions = with(&ENTRIES[..3], |names| names.mentions(name.as_bytes()));
        assert_eq!(
            mentions,
            expected && !["deep", "name", "top", "other"].contains(&name),
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
