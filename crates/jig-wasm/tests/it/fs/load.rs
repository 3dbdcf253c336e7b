//! Much of everything: it is bounded, told, and nothing of it stays.

use std::fs;

use jig_proto::ProjectPath;
use serde_json::{Value, json};

use crate::common::{Done, On, Tried};
use crate::fs::{check, check_raw, hostile};

#[track_caller]
fn act(tried: Tried, arguments: Value) -> Done {
    tried.arguments(arguments).run()
}

#[test]
fn a_hundred_thousand_open_files_end_the_call_and_leave_no_descriptor() {
    if !jig_testkit::is_alone() {
        return;
    }
    for on in On::ALL {
        let many =
            |count: u64| json!({"action": "fs_many", "path": "/workspace/a", "count": count});
        // What is opened once for all calls is opened by this one.
        let done = act(hostile(on).file("a", "x"), many(50));
        assert_eq!(done.text(), "50 files");
        drop(done);
        let before = descriptors();
        let done = act(hostile(on).file("a", "x"), many(100_000));
        // How many it is depends on how many this process can have.
        let message = &done.error().message;
        assert!(message.contains(" more than "), "{message}");
        drop(done);
        // The thread of the call lets go of the workspace a moment after everybody has heard of the end.
        jig_testkit::until("no descriptor is left", || descriptors() <= before);
    }
}

#[test]
fn a_limit_of_descriptors_holds_for_files() {
    for on in On::ALL {
        let tried = || {
            let tried = hostile(on).file("a", "x");
            tried.limits(|limits| limits.tree.descriptors = Some(40))
        };
        let many =
            |count: u64| json!({"action": "fs_many", "path": "/workspace/a", "count": count});
        assert_eq!(act(tried(), many(20)).text(), "20 files");
        let done = act(tried(), many(60));
        let error = done.error();
        assert!(error.message.contains("more than 40 files"), "{error:?}");
        assert_eq!(error.denials.len(), 1, "{error:?}");
    }
}

/// How many descriptors this process has.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn ten_thousand_levels_of_directories_end_with_an_error() {
    for on in On::ALL {
        let done = act(hostile(on), json!({"action": "fs_deep", "levels": 10_000}));
        let text = done.text().to_owned();
        let (levels, why) = text.split_once(" levels, then ").expect(&text);
        assert!(levels.parse::<u32>().unwrap() > 100, "{text}");
        assert!(["name-too-long", "file-too-large"].contains(&why), "{text}");
        if on == On::Disk {
            remove_deep(done.tried.folder());
        }
    }
}

/// Removes directories in directories, however deep, without going down.
fn remove_deep(folder: &std::path::Path) {
    let (top, next) = (folder.join("d"), folder.join("next"));
    while fs::rename(top.join("d"), &next).is_ok() {
        fs::remove_dir(&top).unwrap();
        fs::rename(&next, &top).unwrap();
    }
    fs::remove_dir(&top).unwrap();
}

#[test]
fn a_large_directory_is_listed_whole_and_once() {
    let count = 12_000;
    for on in On::ALL {
        let mut tried = hostile(on);
        for number in 0..count {
            tried = tried.file(&format!("many/{number:05}"), "");
        }
        tried = tried
            .file("many/denied", "")
            .rules("fs = [{ path = '.', read = true }, { path = 'many/denied' }]");
        let (answers, done) = crate::fs::answers(tried, &json!([["list", "many"]]));
        let names: Vec<&str> = answers[0].split(' ').collect();
        let expected: Vec<String> = (0..count).map(|number| format!("{number:05}")).collect();
        assert_eq!(names, expected);
        // In pages, and not one for each entry.
        assert!(done.audit.len() < 20, "{}", done.audit.len());
    }
}

#[test]
fn listings_that_are_begun_and_not_ended_are_bounded() {
    for on in On::ALL {
        let tried = hostile(on).file("a", "").file("b", "");
        let done = act(tried, json!({"action": "fs_listings", "count": 1000}));
        assert_eq!(done.text(), "128 listings, then insufficient-memory");
    }
}

#[test]
fn files_that_would_be_huge_are_refused_by_the_limit() {
    let at = "/workspace";
    for on in On::ALL {
        let tried = hostile(on)
            .file("a", "abc")
            .limits(|limits| limits.tree.file_size = Some(1000));
        let too_large = "error: file-too-large";
        let done = check_raw(
            tried,
            &[
                (json!(["open", at, "a", "frw", "a"]), "ok"),
                (json!(["set_size", "a", 1u64 << 40]), too_large),
                (json!(["set_size", "a", u64::MAX]), too_large),
                (json!(["set_size", "a", 1001]), too_large),
                (json!(["write", "a", "xy", 999]), too_large),
                (json!(["write", "a", "x", 1u64 << 40]), too_large),
                (json!(["write", "a", "x", u64::MAX]), too_large),
                (json!(["stat", "a"]), "file of 3"),
                (json!(["set_size", "a", 1000]), "ok"),
                (json!(["write", "a", "z", 999]), "1"),
                (json!(["stat", "a"]), "file of 1000"),
                (json!(["read", "a", 9, 999]), "z"),
                (json!(["read", "a", 9, 1u64 << 40]), "|"),
            ],
        );
        assert_eq!(done.read("a").unwrap().len(), 1000);
    }
}

#[test]
fn positions_beyond_everything_do_no_harm() {
    let at = "/workspace";
    for on in On::ALL {
        let tried = hostile(on).file("a", "abc");
        let steps = json!([
            ["open", at, "a", "frw", "a"],
            ["write", "a", "x", u64::MAX],
            ["write", "a", "xyz", u64::MAX - 1],
            ["write", "a", "x", i64::MAX as u64],
            ["stream_write", "a", "x", u64::MAX],
            ["set_size", "a", u64::MAX],
            ["set_size", "a", i64::MAX as u64 + 1],
            ["read", "a", 9, i64::MAX as u64 + 1],
            ["stream", "a", u64::MAX, 9],
            ["read", "a", 9, 0],
        ]);
        let (answers, done) = crate::fs::raw_answers(tried, &steps);
        assert_eq!(answers[0], "ok");
        for answer in &answers[1..7] {
            assert!(
                answer.to_lowercase().contains("error") || answer.contains("Failed"),
                "{answers:?}"
            );
        }
        assert_eq!(answers[9], "abc", "{answers:?}");
        assert_eq!(done.read("a").unwrap(), b"abc");
    }
}

#[test]
fn memory_is_no_place_for_a_sparse_bomb() {
    let at = "/workspace";
    let tried = hostile(On::Memory)
        .file("a", "abc")
        .limits(|limits| limits.tree.file_size = None);
    let done = check_raw(
        tried,
        &[
            (json!(["open", at, "a", "frw", "a"]), "ok"),
            (
                json!(["set_size", "a", 1u64 << 44]),
                "error: file-too-large",
            ),
            (
                json!(["write", "a", "x", 1u64 << 44]),
                "error: file-too-large",
            ),
            (json!(["read", "a", 9, 0]), "abc"),
        ],
    );
    assert_eq!(done.read("a").unwrap(), b"abc");
}

#[test]
fn what_was_written_is_there_after_the_call_and_nothing_else() {
    for on in On::ALL {
        let done = check(
            hostile(on),
            &[
                (json!(["write", "a", "first"]), "ok"),
                (json!(["append", "a", " second"]), "ok"),
            ],
        );
        assert_eq!(done.read("a").unwrap(), b"first second");
        let files = done.tried.files();
        let root = files.locate(&ProjectPath::root()).unwrap();
        assert_eq!(files.list_dir(&root).unwrap().entries.len(), 1);
    }
}
