//! `std::fs` in a guest does what it does everywhere: the same scripts run natively, and answer the same.

use serde_json::{Value, json};

use crate::common::On;
use crate::fs::{answers, hostile, script};

/// Runs a script in a guest, on disk and in memory, and natively in an empty directory.
#[track_caller]
fn compare(steps: &Value) {
    let folder = tempfile::tempdir().unwrap();
    let natural = script::run(folder.path().to_str().unwrap(), steps);
    for on in On::ALL {
        let (answers, _done) = answers(hostile(on), steps);
        let steps = steps.as_array().unwrap();
        for ((step, natural), answer) in steps.iter().zip(&natural).zip(answers) {
            assert_eq!(&answer, natural, "{on:?} {step}");
        }
    }
    let failed = natural
        .iter()
        .filter(|answer| answer.starts_with("there is no"));
    assert_eq!(failed.count(), 0, "{natural:?}");
}

#[test]
fn reading_and_writing() {
    compare(&json!([
        ["read", "a"],
        ["write", "a", "one"],
        ["read", "a"],
        ["write", "a", "longer than before"],
        ["read", "a"],
        ["write", "a", "short"],
        ["read", "a"],
        ["append", "a", " and more"],
        ["append", "a", "!"],
        ["read", "a"],
        ["append", "missing", "x"],
        ["write", "a", ""],
        ["read", "a"],
        ["stat", "a"],
        ["write", "no/such", "x"],
        ["write", "a/b", "x"],
        ["write", "a b ü 名", "names"],
        ["read", "a b ü 名"],
        ["recent", "a"],
        ["sync", "a"],
    ]));
}

#[test]
fn large_files() {
    let large = "0123456789abcdef".repeat(40_000);
    compare(&json!([
        ["write", "large", large],
        ["stat", "large"],
        ["read", "large"],
        ["slice", "large", 300_000, 40],
        ["slice", "large", -7, 100],
        ["patch", "large", 639_990, "0123456789abcdef"],
        ["stat", "large"],
        ["slice", "large", 639_980, 100],
        ["copy", "large", "copy"],
        ["read", "copy"],
    ]));
}

#[test]
fn every_combination_of_options() {
    for options in all_options() {
        // The library of this target reads a file that was opened for appending from its end on, wherever
        // it was told to go.
        if options.contains('r') && options.contains('a') {
            continue;
        }
        let on = |path: &str, content: &str| json!(["open", path, options, content]);
        compare(&json!([
            ["write", "a", "content"],
            on("a", ""),
            ["read", "a"],
            on("a", "XY"),
            ["read", "a"],
            on("missing", ""),
            ["exists", "missing"],
            on("missing2", "XY"),
            ["exists", "missing2"],
            ["mkdir", "directory"],
            ["list", "directory"],
        ]));
    }
}

/// Every subset of the letters that `open` of a script knows.
fn all_options() -> Vec<String> {
    let letters = ['r', 'w', 'a', 't', 'c', 'n'];
    let subsets = 1_u32..1 << letters.len();
    let subset = |number: u32| {
        let picked = letters.iter().enumerate();
        let picked = picked.filter(|(index, _)| number & (1 << index) != 0);
        picked.map(|(_, letter)| letter).collect::<String>()
    };
    subsets.map(subset).collect()
}

#[test]
fn opening_directories_as_files() {
    compare(&json!([
        ["mkdir", "d"],
        ["write", "d", "x"],
        ["append", "d", "x"],
        ["open", "d", "wc", ""],
        ["open", "d", "wn", ""],
        ["open", "d", "rw", ""],
        ["open", "d", "wt", ""],
        ["set_len", "d", 0],
        ["write", "f", ""],
        ["list", "f"],
        ["list", "none"],
    ]));
}

#[test]
fn seeking_and_lengths() {
    compare(&json!([
        ["write", "a", "0123456789"],
        ["slice", "a", 0, 4],
        ["slice", "a", 4, 4],
        ["slice", "a", 8, 4],
        ["slice", "a", 10, 4],
        ["slice", "a", 99, 4],
        ["slice", "a", -3, 9],
        ["slice", "a", -11, 9],
        ["patch", "a", 2, "xx"],
        ["patch", "a", 9, "yy"],
        ["read", "a"],
        ["patch", "a", 14, "z"],
        ["read", "a"],
        ["set_len", "a", 3],
        ["read", "a"],
        ["set_len", "a", 6],
        ["read", "a"],
        ["set_len", "a", 0],
        ["stat", "a"],
        ["set_len", "missing", 0],
        ["set_len", "a", -1],
    ]));
}

#[test]
fn directories() {
    compare(&json!([
        ["mkdir", "a"],
        ["mkdir", "a"],
        ["mkdir", "a/b/c"],
        ["mkdirs", "a/b/c"],
        ["mkdirs", "a/b/c"],
        ["mkdirs", "a/./b//c"],
        ["write", "a/file", "x"],
        ["mkdir", "a/file"],
        ["mkdirs", "a/file/x"],
        ["mkdir", "a/file/x"],
        ["list", "."],
        ["list", "a"],
        ["list", "a/"],
        ["list", "a/b/"],
        ["stat", "a"],
        ["stat", "a/"],
        ["stat", "a/file"],
        ["stat", "a/file/"],
        ["stat", "a/none"],
        ["exists", "a/none"],
        ["exists", "a/file"],
        ["rmdir", "a"],
        ["rmdir", "a/file"],
        ["rmdir", "none"],
        ["rmdir", "a/b/c"],
        ["rmdir", "a/b/"],
        ["remove", "a"],
        ["remove", "a/file/"],
        ["remove", "a/file"],
        ["remove", "a/file"],
        ["rmdir", "a"],
        ["list", "."],
    ]));
}

#[test]
fn whole_trees_are_removed() {
    compare(&json!([
        ["mkdirs", "t/a/b/c"],
        ["mkdirs", "t/d"],
        ["write", "t/1", ""],
        ["write", "t/a/2", ""],
        ["write", "t/a/b/3", ""],
        ["write", "t/a/b/c/4", ""],
        ["rmtree", "t/a"],
        ["list", "t"],
        ["rmtree", "t/1"],
        ["rmtree", "t"],
        ["rmtree", "t"],
        ["list", "."],
    ]));
}

#[test]
fn renaming() {
    compare(&json!([
        ["write", "a", "a"],
        ["write", "b", "b"],
        ["mkdir", "d"],
        ["mkdir", "e"],
        ["write", "e/x", "x"],
        ["rename", "none", "c"],
        ["rename", "a", "c"],
        ["read", "a"],
        ["read", "c"],
        ["rename", "c", "b"],
        ["read", "b"],
        ["rename", "b", "b"],
        ["rename", "b", "d"],
        ["rename", "d", "b"],
        ["rename", "d", "e"],
        ["rename", "e", "d"],
        ["read", "d/x"],
        ["rename", "d", "d/sub"],
        ["rename", "d", "d"],
        ["rename", "b", "none/b"],
        ["rename", "b", "d/y"],
        ["rename", "d/y", "d/x"],
        ["read", "d/x"],
        ["rename", "d/", "f/"],
        ["rename", "f/x/", "g"],
        ["list", "."],
        ["list", "f"],
    ]));
}

#[test]
fn what_is_open_stays_open() {
    compare(&json!([
        ["write", "a", "before"],
        ["shared", "a", "AFTER"],
        ["keep", "a", "b"],
        ["read", "a"],
        ["read", "b"],
        ["keep", "b", ""],
        ["exists", "b"],
        ["write", "c", "c"],
        ["copy", "c", "d"],
        ["copy", "c", "d"],
        ["copy", "none", "d"],
        ["copy", "c", "none/d"],
        ["read", "d"],
    ]));
}
