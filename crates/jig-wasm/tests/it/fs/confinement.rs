//! There is no way out by a path (W-025, W-026, W-070).

use serde_json::{Value, json};

use crate::common::{Done, On};
use crate::fs::{check, check_raw, hostile, raw_answers};

/// Paths that lead out by their letters, in every spelling that anybody has thought of.
const OUTSIDE: [&str; 16] = [
    "/",
    "//",
    "/etc/passwd",
    "//etc/passwd",
    "/workspace/a.txt",
    "/proc/self/environ",
    "/dev/zero",
    "..",
    "../",
    "../etc/passwd",
    "../../../../../../etc/passwd",
    "./../x",
    ".//.././x",
    "sub/../../x",
    "sub/./..//../x",
    "../workspace/a.txt",
];

/// Every operation that takes a path, on this one.
fn everything_on(path: &str) -> Vec<Value> {
    let at = "/workspace";
    vec![
        json!(["open", at, path, "fr", "x"]),
        json!(["open", at, path, "r", "x"]),
        json!(["open", at, path, "fw", "x"]),
        json!(["open", at, path, "fcw", "x"]),
        json!(["open", at, path, "fcxw", "x"]),
        json!(["open", at, path, "ftw", "x"]),
        json!(["open", at, path, "frd", "x"]),
        json!(["stat_at", at, path, "f"]),
        json!(["stat_at", at, path, ""]),
        json!(["hash_at", at, path, "f"]),
        json!(["set_times_at", at, path, "now"]),
        json!(["mkdir", at, path]),
        json!(["rmdir", at, path]),
        json!(["unlink", at, path]),
        json!(["read_link", at, path]),
        json!(["rename", at, path, at, "b.txt"]),
        json!(["rename", at, "a.txt", at, path]),
        json!(["link", at, path, at, "b.txt"]),
        json!(["link", at, "a.txt", at, path]),
        json!(["symlink", at, "a.txt", path]),
    ]
}

#[test]
fn w025_nothing_is_reached_by_absolute_paths_and_dots() {
    for on in On::ALL {
        let tried = hostile(on).file("a.txt", "inside").file("sub/b.txt", "");
        let steps: Vec<Value> = OUTSIDE.into_iter().flat_map(everything_on).collect();
        let (answers, done) = raw_answers(tried, &json!(steps));
        assert_eq!(answers.len(), steps.len());
        for (step, answer) in steps.iter().zip(answers) {
            assert_eq!(answer, "error: not-permitted", "{on:?} {step}");
        }
        assert_eq!(done.read("a.txt").unwrap(), b"inside");
        // It is refused by its letters: no rule is asked, and each attempt is written down.
        let decisions = done.decisions();
        assert_eq!(decisions.len(), steps.len(), "{decisions:?}");
        assert!(
            decisions.iter().all(|line| line.ends_with(" deny")),
            "{decisions:?}"
        );
    }
}

#[test]
fn a_directory_leads_to_nothing_above_it() {
    for on in On::ALL {
        let tried = hostile(on).file("a.txt", "above").file("sub/b.txt", "b");
        check_raw(
            tried,
            &[
                (json!(["open", "/workspace", "sub", "frd", "sub"]), "ok"),
                (json!(["open", "sub", "b.txt", "fr", "b"]), "ok"),
                (json!(["read", "b", 9, 0]), "b"),
                (
                    json!(["open", "sub", "../a.txt", "fr", "x"]),
                    "error: not-permitted",
                ),
                (
                    json!(["open", "sub", "../sub/b.txt", "fr", "x"]),
                    "error: not-permitted",
                ),
                (json!(["stat_at", "sub", "..", "f"]), "error: not-permitted"),
                (json!(["stat_at", "sub", ".", "f"]), "directory of 0"),
            ],
        );
    }
}

/// W-026: what the guest is told is that it may not, or that there is nothing.
#[test]
fn w070_the_library_of_a_guest_finds_no_way_out_either() {
    for on in On::ALL {
        let tried = hostile(on).file("a.txt", "inside");
        let denied = "error: PermissionDenied";
        check(
            tried,
            &[
                (json!(["read", "../../etc/passwd"]), denied),
                (json!(["read", "../workspace/a.txt"]), denied),
                (json!(["read", "x/../../a.txt"]), denied),
                (json!(["write", "../out.txt", "x"]), denied),
                (json!(["mkdir", "../out"]), denied),
                (json!(["rename", "a.txt", "../out.txt"]), denied),
                (json!(["remove", "../a.txt"]), denied),
                (json!(["list", ".."]), denied),
                (json!(["read", "x/../a.txt"]), "inside"),
            ],
        );
        // A path that no mount begins is one below the first mount to the library, where there is nothing.
        let absolute = ["/etc/passwd", "/proc/self/environ", "/dev/zero", "/work"];
        for path in absolute {
            let (answers, _) =
                crate::fs::answers(hostile(on), &json!([["read", path], ["list", path]]));
            for answer in answers {
                assert!(answer.starts_with("error: "), "{path}: {answer}");
            }
        }
    }
}

#[test]
fn names_that_no_file_can_have_are_told_as_such() {
    let at = "/workspace";
    let long = "n".repeat(256);
    let path = "d/".repeat(2049);
    for on in On::ALL {
        let illegal = "error: illegal-byte-sequence";
        let too_long = "error: name-too-long";
        check_raw(
            hostile(on).file("a", ""),
            &[
                (json!(["open", at, "a\0", "fr", "x"]), illegal),
                (json!(["open", at, "a\0/../../b", "fr", "x"]), illegal),
                (json!(["mkdir", at, "\0"]), illegal),
                (json!(["open", at, long, "fcw", "x"]), too_long),
                (json!(["mkdir", at, long]), too_long),
                (json!(["rename", at, "a", at, long]), too_long),
                (json!(["stat_at", at, path, "f"]), too_long),
                (json!(["open", at, "", "fr", "x"]), "error: no-entry"),
                (json!(["stat_at", at, "", "f"]), "error: no-entry"),
                (json!(["mkdir", at, ""]), "error: no-entry"),
            ],
        );
    }
}

#[test]
fn w025_a_second_name_for_a_file_cannot_be_made() {
    let at = "/workspace";
    for on in On::ALL {
        let tried = hostile(on)
            .file("a.txt", "a")
            .file("secret.txt", "secret")
            .rules("fs = [{ path = '.', read = true, write = true }, { path = 'secret.txt' }]");
        let refused = "error: not-permitted";
        let done = check_raw(
            tried,
            &[
                (json!(["link", at, "a.txt", at, "b.txt"]), refused),
                (json!(["link", at, "secret.txt", at, "b.txt"]), refused),
                (json!(["symlink", at, "a.txt", "b.txt"]), refused),
                (json!(["symlink", at, "secret.txt", "b.txt"]), refused),
                (json!(["symlink", at, "/etc", "b.txt"]), refused),
                (json!(["symlink", at, "..", "b.txt"]), refused),
                (json!(["stat_at", at, "b.txt", ""]), "error: no-entry"),
            ],
        );
        assert_eq!(names(&done), ["a.txt", "secret.txt"]);
        check(
            hostile(on).file("a.txt", "a"),
            &[(
                json!(["hard_link", "a.txt", "b.txt"]),
                "error: PermissionDenied",
            )],
        );
    }
}

/// The names in the workspace.
fn names(done: &Done) -> Vec<String> {
    let files = done.tried.files();
    let root = files.locate(&jig_proto::ProjectPath::root()).unwrap();
    let listing = files.list_dir(&root).unwrap();
    listing
        .entries
        .into_iter()
        .map(|entry| entry.name)
        .collect()
}
