//! What a mount holds back, whatever the rules allow.

use jig_runtime::Mount;
use serde_json::{Value, json};

use crate::common::{On, Tried, project_path};
use crate::fs::{check, check_raw, hostile};

fn mount(guest: &str, path: &str, writable: bool) -> Mount {
    Mount {
        guest: guest.to_owned(),
        path: project_path(path),
        writable,
    }
}

/// A workspace with a directory `kb`, out of which links lead to places that the rules allow.
fn with_ways_out_of_kb(on: On) -> Tried {
    hostile(on)
        .file("kb/topic.md", "topic")
        .file("kb/deep/more.md", "more")
        .file("other/secret.md", "secret")
        .link("kb/inside.md", "deep/more.md")
        .link("kb/out.md", "../other/secret.md")
        .link("kb/out", "../other")
        .link("kb/up", "..")
        .link("kb/deep/out", "../../other")
        .rules("fs = [{ path = '.', read = true, write = true }]")
}

/// Ways out of `kb` by those links.
fn ways_out(at: &str, below: &str) -> Vec<Value> {
    let path = |path: &str| format!("{below}{path}");
    vec![
        json!(["open", at, path("out.md"), "fr", "x"]),
        json!(["open", at, path("out/secret.md"), "fr", "x"]),
        json!(["open", at, path("out/secret.md"), "fw", "x"]),
        json!(["open", at, path("out/new.md"), "fcxw", "x"]),
        json!(["open", at, path("out"), "frd", "x"]),
        json!(["open", at, path("up"), "frd", "x"]),
        json!(["open", at, path("deep/out/secret.md"), "fr", "x"]),
        json!(["open", at, path("up/kb/out/secret.md"), "fr", "x"]),
        json!(["stat_at", at, path("out.md"), "f"]),
        json!(["stat_at", at, path("out/"), ""]),
        json!(["stat_at", at, path("out/secret.md"), ""]),
        json!(["hash_at", at, path("out.md"), "f"]),
        json!(["mkdir", at, path("out/made")]),
        json!(["rmdir", at, path("out/made")]),
        json!(["rename", at, path("out/new.md"), at, path("mine.md")]),
        json!(["rename", at, path("mine.md"), at, path("out/theirs.md")]),
        json!(["unlink", at, path("out/secret.md")]),
    ]
}

#[test]
fn w025_x19_links_do_not_lead_out_of_a_mount_even_where_the_rules_allow_it() {
    for on in On::ALL {
        let subjects = vec![mount("/subjects", "kb", true)];
        let steps: Vec<_> = ways_out("/subjects", "")
            .into_iter()
            // What was not made can't be moved: there is no second name that could be found wrong.
            .map(|step| (step, "error: not-permitted"))
            .filter(|(step, _)| step[2] != "mine.md")
            .collect();
        let done = check_raw(with_ways_out_of_kb(on).mounts(subjects), &steps);
        assert_eq!(done.read("other/secret.md").unwrap(), b"secret");
        assert_eq!(done.read("other/new.md"), None);

        // In a mount of the whole workspace the same links are ways that the rules allow.
        let steps = ways_out("/workspace", "kb/");
        let (answers, _) = crate::fs::raw_answers(with_ways_out_of_kb(on), &json!(steps));
        for (step, answer) in steps.iter().zip(answers) {
            assert!(!answer.starts_with("error"), "{on:?} {step} {answer}");
        }
    }
}

#[test]
fn w024_w027_a_mount_shows_its_directory_and_what_is_below() {
    for on in On::ALL {
        let subjects = vec![mount("/subjects", "kb", false)];
        let tried = with_ways_out_of_kb(on).mounts(subjects);
        let steps = [
            (json!(["read", "/subjects/topic.md"]), "topic"),
            (json!(["read", "/subjects/inside.md"]), "more"),
            (json!(["read", "/subjects/deep/../topic.md"]), "topic"),
            (json!(["list", "/subjects"]), "deep/ inside.md topic.md"),
            (json!(["list", "/subjects/deep"]), "more.md"),
            (
                json!(["read", "/subjects/../other/secret.md"]),
                "error: PermissionDenied",
            ),
        ];
        let done = check(tried, &steps);
        let targets = done.audit.iter().map(|entry| entry.target.as_str());
        assert!(targets.clone().any(|target| target == "kb/topic.md"));
        assert!(targets.clone().all(|target| target.starts_with("kb")));
    }
}

#[test]
fn w020_a_mount_that_is_not_writable_refuses_every_change_without_asking_anybody() {
    for on in On::ALL {
        let tried = hostile(on)
            .file("kb/a.md", "a")
            .file("kb/dir/b.md", "b")
            .mounts(vec![mount("/subjects", "kb", false)]);
        let at = "/subjects";
        let read_only = "error: read-only";
        let done = check_raw(
            tried,
            &[
                (json!(["open", at, "a.md", "fw", "x"]), read_only),
                (json!(["open", at, "a.md", "frw", "x"]), read_only),
                (json!(["open", at, "a.md", "frt", "x"]), read_only),
                (json!(["open", at, "new.md", "frc", "x"]), read_only),
                (json!(["open", at, "new.md", "fcxw", "x"]), read_only),
                (json!(["mkdir", at, "new"]), read_only),
                (json!(["rmdir", at, "dir"]), read_only),
                (json!(["unlink", at, "a.md"]), read_only),
                (json!(["rename", at, "a.md", at, "b.md"]), read_only),
                (json!(["link", at, "a.md", at, "b.md"]), read_only),
                (json!(["symlink", at, "a.md", "b.md"]), read_only),
            ],
        );
        assert!(done.asked.is_empty());
        let refused = [
            "fs.write kb/a.md deny",
            "fs.write kb/a.md deny",
            "fs.write kb/a.md deny",
            "fs.write kb/new.md deny",
            "fs.write kb/new.md deny",
            "fs.mkdir kb/new deny",
            "fs.delete kb/dir deny",
            "fs.delete kb/a.md deny",
            "fs.rename kb/a.md deny",
            "fs.write kb/b.md deny",
            "fs.write kb/b.md deny",
        ];
        assert_eq!(done.decisions(), refused);
        let inside = "dir";
        let done = check_raw(
            done.tried,
            &[
                (json!(["open", at, "dir", "frdm", "dir"]), "ok"),
                (json!(["open", inside, "b.md", "fw", "x"]), read_only),
                (json!(["mkdir", inside, "new"]), read_only),
                (json!(["unlink", inside, "b.md"]), read_only),
                (json!(["rename", inside, "b.md", at, "b.md"]), read_only),
                (json!(["open", inside, "b.md", "fr", "b"]), "ok"),
                (json!(["write", "b", "x", 0]), "error: bad-descriptor"),
                (json!(["set_size", "b", 0]), "error: bad-descriptor"),
                (
                    json!(["stream_write", "b", "x", 0]),
                    "error: bad-descriptor",
                ),
                (json!(["stream_append", "b", "x"]), "error: bad-descriptor"),
            ],
        );
        assert_eq!(done.read("kb/a.md").unwrap(), b"a");
        assert_eq!(done.read("kb/dir/b.md").unwrap(), b"b");
    }
}

#[test]
fn nothing_is_moved_from_one_mount_to_another() {
    for on in On::ALL {
        let tried = hostile(on)
            .file("one/a", "a")
            .file("two/b", "b")
            .mounts(vec![mount("/one", "one", true), mount("/two", "two", true)]);
        let done = check_raw(
            tried,
            &[
                (
                    json!(["rename", "/one", "a", "/two", "a"]),
                    "error: cross-device",
                ),
                (json!(["rename", "/two", "b", "/two", "c"]), "ok"),
                (json!(["open", "/one", "a", "fr", "a"]), "ok"),
            ],
        );
        assert_eq!(done.read("two/c").unwrap(), b"b");
    }
}

/// What never comes to a rule is in the log as well: whoever reads it sees what a component has tried.
#[test]
fn ways_out_by_letters_are_written_down() {
    let check = |step: Value, expected: &str| {
        for on in On::ALL {
            let tried = with_ways_out_of_kb(on).mounts(vec![mount("/subjects", "kb", true)]);
            let done = check_raw(tried, &[(step.clone(), "error: not-permitted")]);
            assert_eq!(done.decisions(), [expected], "{step}");
        }
    };
    let at = "/subjects";
    check(
        json!(["open", at, "../other/secret.md", "fr", "x"]),
        "fs.read kb/../other/secret.md deny",
    );
    check(
        json!(["open", at, "/etc/passwd", "frw", "x"]),
        "fs.write /etc/passwd deny",
    );
    check(
        json!(["stat_at", at, "../other", "f"]),
        "fs.metadata kb/../other deny",
    );
    check(json!(["mkdir", at, "../x"]), "fs.mkdir kb/../x deny");
    check(
        json!(["rmdir", at, "../other"]),
        "fs.delete kb/../other deny",
    );
    check(
        json!(["unlink", at, "../other/secret.md"]),
        "fs.delete kb/../other/secret.md deny",
    );
    check(
        json!(["rename", at, "topic.md", at, "../other/x"]),
        "fs.rename kb/../other/x deny",
    );
    check(
        json!(["link", at, "topic.md", at, "x"]),
        "fs.write kb/x deny",
    );
    check(
        json!(["symlink", at, "topic.md", "x"]),
        "fs.write kb/x deny",
    );
}
