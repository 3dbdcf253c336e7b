//! How files and directories are opened: every combination of flags, one line of the audit log for each.

use serde_json::json;

use crate::common::{On, Tried};
use crate::fs::{check, check_raw, hostile};

const AT: &str = "/workspace";

fn workspace(on: On) -> Tried {
    hostile(on).file("a.txt", "abc").file("dir/b.txt", "b")
}

#[test]
fn flags_mean_what_they_mean_everywhere() {
    for on in On::ALL {
        check_raw(
            workspace(on),
            &[
                (json!(["open", AT, "a.txt", "fr", "r"]), "ok"),
                (json!(["read", "r", 99, 0]), "abc"),
                (json!(["read", "r", 99, 1]), "bc"),
                (json!(["read", "r", 99, 3]), "|"),
                (json!(["read", "r", 0, 0]), ""),
                (json!(["read", "r", u64::MAX, 1]), "bc"),
                (json!(["read", "r", u64::MAX, u64::MAX]), "|"),
                (json!(["stream", "r", 1, 99]), "bc"),
                (json!(["write", "r", "x", 0]), "error: bad-descriptor"),
                (json!(["set_size", "r", 0]), "error: bad-descriptor"),
                (
                    json!(["stream_write", "r", "x", 0]),
                    "error: bad-descriptor",
                ),
                (json!(["stream_append", "r", "x"]), "error: bad-descriptor"),
                (json!(["flags", "r"]), "r"),
                (json!(["open", AT, "a.txt", "fw", "w"]), "ok"),
                (json!(["read", "w", 9, 0]), "error: bad-descriptor"),
                (json!(["stream", "w", 0, 9]), "error: bad-descriptor"),
                (json!(["write", "w", "X", 1]), "1"),
                (json!(["flags", "w"]), "w"),
                (json!(["read", "r", 9, 0]), "aXc"),
                (json!(["stream_write", "w", "YZ", 2]), "ok"),
                (json!(["stream_append", "w", "!"]), "ok"),
                (json!(["read", "r", 9, 0]), "aXYZ!"),
                (json!(["set_size", "w", 2]), "ok"),
                (json!(["write", "w", "-", 4]), "1"),
                (json!(["read", "r", 9, 0]), "aX\0\0-"),
                (json!(["stat", "r"]), "file of 5"),
                (json!(["open", AT, "a.txt", "frws", "rw"]), "ok"),
                (json!(["flags", "rw"]), "rws"),
                (json!(["write", "rw", "q", 0]), "1"),
                (json!(["stream_append", "rw", "e"]), "ok"),
                (json!(["read", "rw", 9, 0]), "qX\0\0-e"),
                (json!(["sync", "rw"]), "ok"),
                (json!(["advise", "rw"]), "ok"),
                (json!(["same", "r", "rw"]), "true"),
                (json!(["same", "r", AT]), "false"),
            ],
        );
    }
}

#[test]
fn creating_and_emptying() {
    for on in On::ALL {
        let done = check_raw(
            workspace(on),
            &[
                (json!(["open", AT, "a.txt", "fcr", "x"]), "ok"),
                (json!(["read", "x", 9, 0]), "abc"),
                (json!(["open", AT, "a.txt", "fcxw", "x"]), "error: exist"),
                (json!(["open", AT, "dir", "fcxw", "x"]), "error: exist"),
                // Without `create` there is nothing to be exclusive about.
                (json!(["open", AT, "a.txt", "fxr", "x"]), "ok"),
                (json!(["open", AT, "new.txt", "fr", "x"]), "error: no-entry"),
                (json!(["open", AT, "new.txt", "fw", "x"]), "error: no-entry"),
                (
                    json!(["open", AT, "new.txt", "ftw", "x"]),
                    "error: no-entry",
                ),
                (json!(["open", AT, "new.txt", "fcr", "x"]), "ok"),
                (json!(["stat_at", AT, "new.txt", ""]), "file of 0"),
                (json!(["open", AT, "new2.txt", "fcxrw", "x"]), "ok"),
                (json!(["write", "x", "two", 0]), "3"),
                (json!(["open", AT, "new2.txt", "fcw", "x"]), "ok"),
                (json!(["stat", "x"]), "file of 3"),
                // Emptied by somebody who only wants to read.
                (json!(["open", AT, "new2.txt", "ftr", "x"]), "ok"),
                (json!(["stat", "x"]), "file of 0"),
                (
                    json!(["open", AT, "no/such.txt", "fcw", "x"]),
                    "error: no-entry",
                ),
                (
                    json!(["open", AT, "a.txt/x", "fcw", "x"]),
                    "error: not-directory",
                ),
                (
                    json!(["open", AT, "new3/", "fcw", "x"]),
                    "error: is-directory",
                ),
                // For nothing: it can be looked at.
                (json!(["open", AT, "a.txt", "f", "x"]), "ok"),
                (json!(["stat", "x"]), "file of 3"),
                (json!(["read", "x", 9, 0]), "error: bad-descriptor"),
            ],
        );
        assert_eq!(done.read("a.txt").unwrap(), b"abc");
        assert_eq!(done.read("new3"), None);
    }
}

#[test]
fn directories_are_opened_as_such_or_by_whoever_does_not_know() {
    for on in On::ALL {
        check_raw(
            workspace(on),
            &[
                (json!(["open", AT, "dir", "frd", "d"]), "ok"),
                (json!(["open", AT, "dir", "fr", "e"]), "ok"),
                (json!(["open", AT, "dir/", "fr", "e"]), "ok"),
                (json!(["type", "d"]), "directory"),
                (json!(["type", "e"]), "directory"),
                (json!(["same", "d", "e"]), "true"),
                (json!(["same", "d", AT]), "false"),
                (json!(["list", "d"]), "b.txt"),
                (json!(["stat", "d"]), "directory of 0"),
                (json!(["open", AT, ".", "frd", "x"]), "ok"),
                (json!(["same", "x", AT]), "true"),
                (json!(["list", AT]), "a.txt dir"),
                (
                    json!(["open", AT, "a.txt", "frd", "x"]),
                    "error: not-directory",
                ),
                (
                    json!(["open", AT, "a.txt/", "fr", "x"]),
                    "error: not-directory",
                ),
                (
                    json!(["open", AT, "a.txt/.", "fr", "x"]),
                    "error: not-directory",
                ),
                (json!(["open", AT, "none", "frd", "x"]), "error: no-entry"),
                (json!(["open", AT, "none/", "fr", "x"]), "error: no-entry"),
                (json!(["open", AT, "dir", "fcd", "x"]), "error: invalid"),
                (json!(["open", AT, "dir", "fxd", "x"]), "error: invalid"),
                (json!(["open", AT, "dir", "ftd", "x"]), "error: invalid"),
                (
                    json!(["open", AT, "dir", "fwd", "x"]),
                    "error: is-directory",
                ),
                (json!(["open", AT, "dir", "fw", "x"]), "error: is-directory"),
                (
                    json!(["open", AT, "dir", "frt", "x"]),
                    "error: is-directory",
                ),
                (
                    json!(["open", AT, "dir", "fcw", "x"]),
                    "error: is-directory",
                ),
                (json!(["read", "d", 9, 0]), "error: is-directory"),
                (json!(["write", "d", "x", 0]), "error: is-directory"),
                (json!(["stream", "d", 0, 9]), "error: is-directory"),
                (json!(["set_size", "d", 0]), "error: is-directory"),
                (json!(["sync", "d"]), "ok"),
                (json!(["open", AT, "a.txt", "fr", "a"]), "ok"),
                (json!(["list", "a"]), "error: not-directory"),
                (json!(["open", "a", "x", "fr", "x"]), "error: not-directory"),
                (json!(["stat_at", "a", "x", "f"]), "error: not-directory"),
                (json!(["mkdir", "a", "x"]), "error: not-directory"),
            ],
        );
    }
}

#[test]
fn names_are_made_moved_and_removed() {
    for on in On::ALL {
        check_raw(
            workspace(on),
            &[
                (json!(["mkdir", AT, "made"]), "ok"),
                (json!(["mkdir", AT, "made"]), "error: exist"),
                (json!(["mkdir", AT, "a.txt"]), "error: exist"),
                (json!(["mkdir", AT, "."]), "error: exist"),
                (json!(["mkdir", AT, "no/such"]), "error: no-entry"),
                (json!(["mkdir", AT, "slash/"]), "ok"),
                (json!(["rmdir", AT, "slash/"]), "ok"),
                (json!(["rmdir", AT, "dir"]), "error: not-empty"),
                (json!(["rmdir", AT, "a.txt"]), "error: not-directory"),
                (json!(["rmdir", AT, "none"]), "error: no-entry"),
                (json!(["rmdir", AT, "."]), "error: invalid"),
                (json!(["unlink", AT, "dir"]), "error: is-directory"),
                (json!(["unlink", AT, "dir/"]), "error: is-directory"),
                (json!(["unlink", AT, "a.txt/"]), "error: not-directory"),
                (json!(["unlink", AT, "none"]), "error: no-entry"),
                (json!(["rename", AT, ".", AT, "x"]), "error: invalid"),
                (json!(["rename", AT, "made", AT, "."]), "error: invalid"),
                (json!(["rename", AT, "none", AT, "x"]), "error: no-entry"),
                (
                    json!(["rename", AT, "a.txt", AT, "no/such"]),
                    "error: no-entry",
                ),
                (
                    json!(["rename", AT, "a.txt", AT, "dir"]),
                    "error: is-directory",
                ),
                (
                    json!(["rename", AT, "made", AT, "a.txt"]),
                    "error: not-directory",
                ),
                (json!(["rename", AT, "made", AT, "dir"]), "error: not-empty"),
                (
                    json!(["rename", AT, "dir", AT, "dir/sub"]),
                    "error: invalid",
                ),
                (
                    json!(["rename", AT, "a.txt/", AT, "x"]),
                    "error: not-directory",
                ),
                (
                    json!(["rename", AT, "a.txt", AT, "x/"]),
                    "error: not-directory",
                ),
                (json!(["rename", AT, "a.txt", AT, "a.txt"]), "ok"),
                (json!(["rename", AT, "dir/", AT, "moved/"]), "ok"),
                (json!(["rename", AT, "moved", AT, "made"]), "ok"),
                (json!(["open", AT, "made", "frd", "made"]), "ok"),
                (json!(["rename", AT, "a.txt", "made", "b.txt"]), "ok"),
                (json!(["open", "made", "b.txt", "fr", "b"]), "ok"),
                (json!(["read", "b", 9, 0]), "abc"),
                (json!(["unlink", "made", "b.txt"]), "ok"),
                (json!(["rmdir", AT, "made"]), "ok"),
                // What is open stays; a directory is a name, and the name is gone.
                (json!(["read", "b", 9, 0]), "abc"),
                (json!(["stat", "made"]), "error: no-entry"),
                (json!(["list", AT]), ""),
            ],
        );
    }
}

#[test]
fn times_are_told_and_cannot_be_set() {
    for on in On::ALL {
        check_raw(
            workspace(on),
            &[
                (json!(["open", AT, "a.txt", "frw", "x"]), "ok"),
                (json!(["set_times", "x", "now"]), "error: unsupported"),
                (json!(["set_times", "x", "same"]), "ok"),
                (
                    json!(["set_times_at", AT, "a.txt", "now"]),
                    "error: unsupported",
                ),
                (json!(["set_times_at", AT, "a.txt", "same"]), "ok"),
            ],
        );
        let done = check(
            workspace(on),
            &[
                (json!(["recent", "a.txt"]), "true"),
                (json!(["append", "a.txt", "d"]), "ok"),
                (json!(["recent", "a.txt"]), "true"),
            ],
        );
        assert_eq!(done.read("a.txt").unwrap(), b"abcd");
    }
    // Directories in memory have no times.
    check(workspace(On::Disk), &[(json!(["recent", "dir"]), "true")]);
}

#[test]
fn a_file_has_one_hash_and_no_two_files_have_the_same() {
    for on in On::ALL {
        let tried = workspace(on).link("link", "a.txt").file("copy.txt", "abc");
        let steps = json!([
            ["open", AT, "a.txt", "frw", "a"],
            ["hash", "a"],
            ["hash_at", AT, "a.txt", "f"],
            ["hash_at", AT, "./dir/../a.txt", ""],
            ["hash_at", AT, "link", "f"],
            ["write", "a", "changed", 0],
            ["hash", "a"],
            ["hash_at", AT, "link", ""],
            ["hash_at", AT, "copy.txt", "f"],
            ["hash_at", AT, "dir", "f"],
            ["hash_at", AT, "dir/b.txt", "f"],
            ["hash", AT],
        ]);
        let (mut hashes, _) = crate::fs::raw_answers(tried, &steps);
        let same: Vec<String> = hashes.drain(1..5).collect();
        assert!(same.iter().all(|hash| *hash == same[0]), "{same:?}");
        assert_eq!(hashes[2], same[0], "it was written meanwhile");
        let mut others = hashes.split_off(3);
        others.push(same[0].clone());
        others.sort_unstable();
        let count = others.len();
        others.dedup();
        assert_eq!(others.len(), count);
        assert!(others.iter().all(|hash| hash.contains('-')), "{others:?}");
    }
}

#[test]
fn there_is_one_line_in_the_audit_log_for_each_opening() {
    for on in On::ALL {
        let check = |steps: serde_json::Value, expected: &[&str]| {
            let (answers, done) = crate::fs::answers(workspace(on), &steps);
            assert_eq!(done.decisions(), expected, "{on:?} {steps} {answers:?}");
        };
        check(json!([["read", "a.txt"]]), &["fs.read a.txt allow"]);
        check(json!([["slice", "a.txt", -1, 9]]), &["fs.read a.txt allow"]);
        check(json!([["append", "a.txt", "x"]]), &["fs.write a.txt allow"]);
        check(json!([["write", "new", "x"]]), &["fs.write new allow"]);
        check(
            json!([["open", "a.txt", "rw", "x"]]),
            &["fs.write a.txt allow"],
        );
        check(json!([["set_len", "a.txt", 1]]), &["fs.write a.txt allow"]);
        check(json!([["stat", "a.txt"]]), &["fs.metadata a.txt allow"]);
        check(json!([["mkdir", "new"]]), &["fs.mkdir new allow"]);
        check(json!([["remove", "a.txt"]]), &["fs.delete a.txt allow"]);
        // Opened, then read: the entries are not asked about one by one.
        check(
            json!([["list", "dir"]]),
            &["fs.metadata dir allow", "fs.list_dir dir allow"],
        );
        check(
            json!([["rename", "a.txt", "b.txt"]]),
            &["fs.rename a.txt to b.txt allow"],
        );
    }
}
