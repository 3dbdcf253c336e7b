//! Files that are opened once and then read and written in parts, on the disk and in memory.

use jig_broker::{
    ApprovalScope, AuditDecision, Broker, JudgedRequest, OpenFile, OpenRequest, PathStat,
    Unapproved,
};
use jig_files::PlaceKind;
use jig_proto::vfs::{ErrorKind, ErrorReply, FsGrep, FsListDir, Payload, VfsReply, VfsRequest};

use crate::world::{World, ask, both, delete, kind, project, read, write};

/// An open as letters: read, write, create, exclusive (`x`), truncate.
fn wanted<'a>(path: &'a str, flags: &str) -> OpenRequest<'a> {
    OpenRequest {
        read: flags.contains('r'),
        write: flags.contains('w'),
        create: flags.contains('c'),
        exclusive: flags.contains('x'),
        truncate: flags.contains('t'),
        ..OpenRequest::new(path)
    }
}

fn done<T>(
    judged: JudgedRequest,
    act: impl FnOnce(jig_broker::Work) -> Result<T, ErrorReply>,
) -> Result<T, ErrorReply> {
    match judged {
        JudgedRequest::Ready(work) => act(work),
        JudgedRequest::Uncovered(inquiry) => Err(inquiry.deny(Unapproved::Unavailable)),
        JudgedRequest::Refused(error) => Err(error),
    }
}

fn open(broker: &Broker, open: &OpenRequest<'_>) -> Result<OpenFile, ErrorReply> {
    done(broker.judge_open(open), jig_broker::Work::open)
}

fn look(broker: &Broker, path: &str, follow: bool) -> Result<PathStat, ErrorReply> {
    done(broker.judge_look(path, follow), jig_broker::Work::look)
}

fn perform(judged: JudgedRequest) -> Result<VfsReply<'static>, ErrorKind> {
    kind(done(judged, jig_broker::Work::perform))
}

/// Reads a file in pieces of this size.
fn in_pieces(file: &OpenFile, size: usize) -> Vec<u8> {
    let mut content = Vec::new();
    loop {
        let piece = file.read_at(content.len() as u64, size).unwrap();
        if piece.is_empty() {
            return content;
        }
        content.extend_from_slice(&piece);
    }
}

#[test]
fn each_open_takes_the_capabilities_of_what_it_can_do() {
    let check = |flags: &str, there: bool, letters: &str, expected: Result<(), ErrorKind>| {
        both(|world| {
            let mut world = world.allow(".", letters);
            if there {
                world.put("f", "old");
            }
            let opened = open(&world.broker(), &wanted("f", flags));
            let case = format!("{flags} on {there} with {letters}");
            assert_eq!(opened.map(drop).map_err(|e| e.kind()), expected, "{case}");
            let content = world.content("f");
            let before = there.then_some("old".to_owned());
            match expected {
                Err(_) => assert_eq!(content, before, "{case}"),
                Ok(()) if flags.contains('t') => assert_eq!(content.unwrap(), "", "{case}"),
                Ok(()) => assert_eq!(content, before.or(Some(String::new())), "{case}"),
            }
        });
    };
    let denied = Err(ErrorKind::DeniedByRule);
    let missing = Err(ErrorKind::NotFound);
    check("r", true, "r", Ok(()));
    check("r", true, "cud", denied);
    check("r", false, "r", missing);
    check("r", false, "cud", denied);
    check("", true, "r", Ok(()));
    check("", true, "cud", denied);
    check("w", true, "u", Ok(()));
    check("w", true, "rcd", denied);
    check("w", false, "u", missing);
    check("w", false, "rcd", denied);
    check("rw", true, "ru", Ok(()));
    check("rw", true, "rc", denied);
    check("rw", true, "cu", denied);
    check("wc", false, "c", Ok(()));
    check("wc", false, "rud", denied);
    check("wc", true, "u", Ok(()));
    check("wc", true, "rcd", denied);
    check("rwc", false, "rc", Ok(()));
    check("rwc", false, "cu", denied);
    check("rwc", false, "ru", denied);
    check("rc", true, "r", Ok(()));
    check("rc", false, "r", denied);
    check("rc", false, "rc", Ok(()));
    check("c", false, "c", Ok(()));
    check("wcx", false, "c", Ok(()));
    check("wcx", false, "u", denied);
    check("wcx", true, "u", Err(ErrorKind::AlreadyExists));
    // As for an exclusive `fs.write`: who may not touch what is there is told that.
    check("wcx", true, "c", denied);
    check("wt", true, "u", Ok(()));
    check("rt", true, "r", denied);
    check("rt", true, "ru", Ok(()));
    check("t", true, "u", Ok(()));
    check("t", true, "rcd", denied);
    check("wct", false, "c", Ok(()));
    check("wct", true, "c", denied);
}

#[test]
fn it_is_read_and_written_in_place() {
    both(|world| {
        let world = world.with("f", "hello").allow(".", "rcu");
        let broker = world.broker();
        let file = open(&broker, &wanted("f", "rw")).unwrap();
        assert_eq!(file.path(), &project("f"));
        file.write_at(1, b"EY").unwrap();
        file.append(b"!").unwrap();
        assert_eq!(file.read_at(0, 99).unwrap(), "hEYlo!");
        assert_eq!(file.read_at(6, 99).unwrap(), "");
        assert_eq!(world.content("f").unwrap(), "hEYlo!");
        file.set_size(2).unwrap();
        file.sync().unwrap();
        assert_eq!(file.size().unwrap(), 2);
        assert!(file.modified().is_some());
        let other = open(&broker, &wanted("f", "r")).unwrap();
        assert!(file.is_same(&other));
        let now = file.look().unwrap();
        assert_eq!(
            (now.path, now.kind, now.size),
            (project("f"), PlaceKind::File, 2)
        );
        assert_eq!(now.modified, file.modified());
        let error = other.write_at(0, b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
        assert_eq!(world.content("f").unwrap(), "hE");
        let error = open(&broker, &wanted("f", "w"))
            .unwrap()
            .read_at(0, 1)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
    });
}

#[test]
fn one_line_for_an_open_and_none_for_what_follows() {
    both(|world| {
        let world = world
            .with("f", "hello")
            .with("secret", "x")
            .allow(".", "rcu")
            .allow("secret", "");
        let broker = world.broker();
        let file = open(&broker, &wanted("f", "rw")).unwrap();
        for _ in 0..10 {
            file.write_at(0, b"J").unwrap();
            file.read_at(0, 9).unwrap();
        }
        open(&broker, &wanted("f", "r")).unwrap();
        open(&broker, &wanted("new", "wcx")).unwrap();
        open(&broker, &wanted("none", "r")).unwrap_err();
        open(&broker, &wanted("secret", "r")).unwrap_err();
        open(&broker, &wanted("secret", "wt")).unwrap_err();
        open(&broker, &wanted("../x", "r")).unwrap_err();
        drop(broker.judge_open(&wanted("f", "wt")));
        look(&broker, "f", true).unwrap();
        let lines: Vec<_> = world
            .log
            .entries()
            .into_iter()
            .map(|entry| {
                let outcome = entry.outcome.unwrap_or_default();
                (entry.operation, entry.target, entry.decision, outcome)
            })
            .collect();
        let expected = [
            ("fs.write", "f", AuditDecision::Allow, "ok"),
            ("fs.read", "f", AuditDecision::Allow, "ok"),
            ("fs.write", "new", AuditDecision::Allow, "ok"),
            ("fs.read", "none", AuditDecision::Allow, "not_found"),
            ("fs.read", "secret", AuditDecision::Deny, ""),
            ("fs.write", "secret", AuditDecision::Deny, ""),
            ("fs.read", "../x", AuditDecision::Deny, ""),
            ("fs.write", "f", AuditDecision::Allow, "abandoned"),
            ("fs.metadata", "f", AuditDecision::Allow, "ok"),
        ];
        let expected = expected.map(|(operation, target, decision, outcome)| {
            let own = str::to_owned;
            (own(operation), own(target), decision, own(outcome))
        });
        assert_eq!(lines, expected);
        assert_eq!(
            world.content("f").unwrap(),
            "Jello",
            "abandoned means undone"
        );
    });
}

#[test]
fn v133_what_nothing_covers_is_asked_and_then_opened() {
    both(|world| {
        let broker = world.broker();
        let JudgedRequest::Uncovered(inquiry) = broker.judge_open(&wanted("a", "wc")) else {
            panic!("nothing speaks of creating");
        };
        assert_eq!(inquiry.text(), "Allow `editor` to create `a`?");
        assert!(inquiry.context().starts_with("editor asks by `fs.write`."));
        assert_eq!(world.content("a"), None, "asking does nothing");
        let file = done(inquiry.approve(ApprovalScope::Once), jig_broker::Work::open).unwrap();
        file.write_at(0, b"1").unwrap();
        assert_eq!(world.content("a").as_deref(), Some("1"));

        // It exists now, which is something else; for the turn it also covers `fs.write`.
        let JudgedRequest::Uncovered(inquiry) = broker.judge_open(&wanted("a", "rw")) else {
            panic!("nothing speaks of updating");
        };
        assert_eq!(inquiry.text(), "Allow `editor` to update `a`?");
        done(inquiry.answer("turn"), jig_broker::Work::open).unwrap();
        assert!(ask(&broker, &write("a", "2")).is_ok());
        assert!(open(&broker, &wanted("a", "wt")).is_ok());

        let JudgedRequest::Uncovered(inquiry) = broker.judge_open(&wanted("b", "wc")) else {
            panic!("nothing speaks of creating");
        };
        let error = done(inquiry.answer("no: never"), jig_broker::Work::open).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ApprovalDenied);
        assert_eq!(world.content("b"), None);
    });
}

#[test]
fn one_question_asks_for_all_that_an_open_takes() {
    both(|world| {
        let world = world.with(".env", "KEY=1");
        let broker = world.broker();
        let JudgedRequest::Uncovered(inquiry) = broker.judge_open(&wanted(".env", "rw")) else {
            panic!("a sensitive path is asked for");
        };
        let asks: Vec<_> = inquiry.asks().iter().map(|ask| ask.operation()).collect();
        assert_eq!(asks, ["update", "read"]);
        let file = done(inquiry.approve(ApprovalScope::Once), jig_broker::Work::open).unwrap();
        file.write_at(4, b"2").unwrap();
        assert_eq!(file.read_at(0, 9).unwrap(), "KEY=2");
    });
}

#[test]
fn x66_guarded_paths_are_guarded_here_too() {
    both(|world| {
        let world = world
            .with(".env", "KEY=1")
            .with(".jig/jig.toml", "x")
            .allow(".", "rcud");
        let broker = world.broker();
        for (path, flags) in [
            (".env", "r"),
            (".env", "wt"),
            (".jig/jig.toml", "w"),
            (".jig/jig.toml", "t"),
            (".jig/new", "wc"),
        ] {
            let opened = open(&broker, &wanted(path, flags));
            assert!(opened.unwrap_err().kind().is_denial(), "{path} {flags}");
        }
        assert_eq!(world.content(".jig/jig.toml").unwrap(), "x");
        assert_eq!(world.content(".env").unwrap(), "KEY=1");
        assert_eq!(world.content(".jig/new"), None);
    });
}

#[test]
fn what_changed_since_it_was_judged_is_judged_again() {
    // (letters, flags, whether it is there when it is judged, outcome if that is turned around)
    let check = |letters: &str, flags: &str, there: bool, expected: Result<&str, ErrorKind>| {
        both(|world| {
            let mut world = world.allow(".", letters);
            if there {
                world.put("f", "old");
            }
            let broker = world.broker();
            let JudgedRequest::Ready(work) = broker.judge_open(&wanted("f", flags)) else {
                panic!("{letters} allow {flags}");
            };
            match there {
                true => {
                    let place = world.files.locate(&project("f")).unwrap();
                    world.files.delete(&place).unwrap();
                }
                false => world.put("f", "theirs"),
            }
            let opened = work.open().map_err(|error| error.kind());
            let case = format!("{letters} {flags} {there}");
            assert_eq!(
                opened.as_ref().map(drop),
                expected.map(drop).as_ref().copied(),
                "{case}"
            );
            if let Ok(content) = expected {
                assert_eq!(world.content("f").unwrap(), content, "{case}");
            } else if !there {
                assert_eq!(world.content("f").unwrap(), "theirs", "{case}");
            }
        });
    };
    let denied = Err(ErrorKind::DeniedByRule);
    check("cu", "wc", false, Ok("theirs"));
    check("cu", "wct", false, Ok(""));
    check("c", "wc", false, denied);
    check("c", "wct", false, denied);
    check("c", "wcx", false, Err(ErrorKind::AlreadyExists));
    check("cu", "wc", true, Ok(""));
    check("u", "wc", true, denied);
    check("u", "w", true, Err(ErrorKind::NotFound));
}

#[test]
fn nobody_approved_what_stands_there_now() {
    both(|mut world| {
        let broker = world.broker();
        let JudgedRequest::Uncovered(inquiry) = broker.judge_open(&wanted("a", "wct")) else {
            panic!("nothing speaks of creating");
        };
        let JudgedRequest::Ready(work) = inquiry.approve(ApprovalScope::Once) else {
            panic!("it was approved");
        };
        world.put("a", "theirs");
        assert_eq!(work.open().unwrap_err().kind(), ErrorKind::Stale);
        assert_eq!(world.content("a").unwrap(), "theirs");
    });
}

#[test]
fn x19_a_door_to_a_directory_is_not_left_by_links() {
    both(|world| {
        let world = world
            .with("docs/a", "needle a")
            .with("other/b", "needle b")
            .with_link("docs/out", "../other/b")
            .with_link("docs/away", "../other")
            .with_link("docs/in", "a")
            .with_link("sealed/dangling", "nowhere")
            .allow(".", "rcud")
            .allow("sealed", "");
        let door = world.broker().beneath(&project("docs"));
        let check = |path: &str, flags: &str, expected: Result<&str, ErrorKind>| {
            let opened = open(&door, &wanted(path, flags));
            let path_of = |file: OpenFile| file.path().to_string();
            let opened = opened.map(path_of).map_err(|error| error.kind());
            assert_eq!(opened, expected.map(str::to_owned), "{path}");
        };
        let escape = Err(ErrorKind::Escape);
        check("docs/a", "r", Ok("docs/a"));
        check("docs/in", "rw", Ok("docs/a"));
        check("docs/new", "wc", Ok("docs/new"));
        check("docs/out", "r", escape);
        check("docs/out", "wt", escape);
        check("docs/away/b", "r", escape);
        check("docs/away/new", "wc", escape);
        check("docs/away/b/below", "r", escape);
        check("other/b", "r", escape);
        check("other/none/x", "r", escape);
        check("sealed/dangling", "r", escape);
        check("docsx", "wc", escape);
        check(".", "r", escape);

        let did = |judged: JudgedRequest| perform(judged).map(drop);
        let escape = Err(ErrorKind::Escape);
        assert_eq!(did(door.judge(&read("docs/out"))), escape);
        assert_eq!(did(door.judge(&write("docs/away/new", "x"))), escape);
        assert_eq!(did(door.judge(&write("docs/fine", "x"))), Ok(()));
        assert_eq!(did(door.judge(&delete("docs/away/b", false))), escape);
        assert_eq!(did(door.judge_look("docs/away", true)), escape);
        assert_eq!(did(door.judge_look("docs/away", false)), Ok(()));
        assert_eq!(did(door.judge_make_dir("docs/away/d")), escape);
        assert_eq!(did(door.judge_remove_dir("other")), escape);
        assert_eq!(did(door.judge_rename("docs/fine", "other/fine")), escape);
        assert_eq!(did(door.judge_rename("other/b", "docs/b")), escape);
        assert_eq!(did(door.judge_rename("docs/fine", "docs/moved")), Ok(()));
        let list = VfsRequest::FsListDir(FsListDir::new("docs/away"));
        assert_eq!(did(door.judge(&list)), escape);

        // A link that leads out is not even told of.
        let list = VfsRequest::FsListDir(FsListDir::new("docs"));
        let entries = done(door.judge(&list), jig_broker::Work::entries).unwrap();
        let told: Vec<_> = entries
            .iter()
            .map(|entry| (entry.name.as_str(), entry.link))
            .collect();
        let expected = [("a", false), ("in", true), ("moved", false), ("new", false)];
        assert_eq!(told, expected);
        let everything = done(world.broker().judge(&list), jig_broker::Work::entries).unwrap();
        assert_eq!(everything.len(), 6);
        let grep = VfsRequest::FsGrep(FsGrep::new("needle"));
        let Ok(VfsReply::Grep(found)) = perform(door.judge(&grep)) else {
            panic!("what is in the directory may be searched");
        };
        let paths: Vec<_> = found
            .matches
            .iter()
            .map(|file| file.path.as_ref())
            .collect();
        assert_eq!(paths, ["docs/a"]);
        assert_eq!(world.content("other/new"), None);
        assert_eq!(world.content("other/b").unwrap(), "needle b");
        // Elsewhere, and by another door, the rules decide.
        assert!(open(&world.broker(), &wanted("docs/out", "r")).is_ok());
        let whole = door.beneath(&project("."));
        assert!(open(&whole, &wanted("docs/out", "r")).is_ok());
    });
}

#[test]
fn x19_what_is_elsewhere_is_not_asked_about_and_an_approval_does_not_lead_there() {
    let world = World::on_disk()
        .with("docs/a", "a")
        .with("other/b", "b")
        .with_link("docs/out", "../other/b");
    let door = world.broker().beneath(&project("docs"));
    let judged = door.judge_open(&wanted("docs/out", "w"));
    assert!(matches!(judged, JudgedRequest::Refused(error) if error.kind() == ErrorKind::Escape));
    let JudgedRequest::Uncovered(inquiry) = door.judge_open(&wanted("docs/a", "wt")) else {
        panic!("nothing speaks of updating");
    };
    let JudgedRequest::Uncovered(second) = door.judge_open(&wanted("docs/a", "wt")) else {
        panic!("nothing speaks of updating");
    };
    // While somebody thinks about it, the file becomes a link.
    let ws = world.outside().join("ws");
    std::fs::remove_file(ws.join("docs/a")).unwrap();
    std::os::unix::fs::symlink("../other/b", ws.join("docs/a")).unwrap();
    let error = done(inquiry.approve(ApprovalScope::Once), jig_broker::Work::open).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Escape);
    // And again between the answer and the act.
    std::fs::remove_file(ws.join("docs/a")).unwrap();
    std::fs::write(ws.join("docs/a"), "a").unwrap();
    let JudgedRequest::Ready(work) = second.approve(ApprovalScope::Once) else {
        panic!("it was approved");
    };
    std::fs::remove_file(ws.join("docs/a")).unwrap();
    std::os::unix::fs::symlink("../other/b", ws.join("docs/a")).unwrap();
    assert_eq!(work.open().unwrap_err().kind(), ErrorKind::Escape);
    assert_eq!(world.content("other/b").unwrap(), "b");
}

#[test]
fn a_link_at_the_end_is_followed_only_if_asked() {
    both(|world| {
        let world = world
            .with("f", "hello")
            .with_link("l", "f")
            .allow(".", "rcu");
        let broker = world.broker();
        let itself = |flags: &str| OpenRequest {
            follow: false,
            ..wanted("l", flags)
        };
        for flags in ["r", "w", "wt", "wc"] {
            let error = open(&broker, &itself(flags)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidParams, "{flags}");
        }
        for follow in [true, false] {
            let exclusive = OpenRequest {
                follow,
                ..wanted("l", "wcx")
            };
            let error = open(&broker, &exclusive).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::AlreadyExists);
        }
        assert_eq!(world.content("f").unwrap(), "hello");
        let link = look(&broker, "l", false).unwrap();
        assert_eq!(
            (link.path, link.kind),
            (project("l"), PlaceKind::Link("f".to_owned()))
        );
        let file = look(&broker, "l", true).unwrap();
        assert_eq!(
            (file.path, file.kind, file.size),
            (project("f"), PlaceKind::File, 5)
        );
        assert!(file.modified.is_some());
    });
}

#[test]
fn a_file_becomes_no_larger_than_it_may() {
    both(|world| {
        let world = world.with("f", "0123456789").allow(".", "rcu");
        let broker = world.broker();
        let small = |path| OpenRequest {
            most: Some(4),
            ..wanted(path, "rwc")
        };
        let file = open(&broker, &small("new")).unwrap();
        let too_large = |result: Result<(), ErrorReply>| {
            let error = result.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooLarge);
            assert!(error.message.contains("the limit is 4"), "{error}");
        };
        file.write_at(1, b"abc").unwrap();
        too_large(file.append(b"d"));
        too_large(file.write_at(2, b"abc"));
        too_large(file.write_at(u64::MAX, b"abc"));
        too_large(file.write_at(1 << 50, b"x"));
        too_large(file.set_size(5));
        too_large(file.set_size(u64::MAX));
        file.write_at(u64::MAX, b"").unwrap();
        assert_eq!(file.size().unwrap(), 4);
        // One that is larger already may be changed and cut.
        let file = open(&broker, &small("f")).unwrap();
        file.write_at(0, b"abcd").unwrap();
        too_large(file.append(b"x"));
        file.set_size(3).unwrap();
        assert_eq!(world.content("f").unwrap(), "abc");
    });
}

#[test]
fn x40_a_file_that_is_read_is_what_fs_read_gives() {
    let secret = "s3cr3t-value";
    let contents = [
        "plain".to_owned(),
        format!("key={secret}"),
        format!("{secret}{secret} and {secret}"),
        format!("{}{secret}{}", "a".repeat(100), "b".repeat(100)),
    ];
    for content in contents {
        both(|world| {
            let world = world.with("f", &content).allow(".", "ru");
            world.secrets.remember(secret);
            let broker = world.broker();
            let Ok(VfsReply::Read(reply)) = ask(&broker, &read("f")) else {
                panic!("it may be read");
            };
            let Payload::Text(expected) = reply.content else {
                panic!("it is text");
            };
            let file = open(&broker, &wanted("f", "r")).unwrap();
            assert_eq!(file.size().unwrap(), expected.len() as u64);
            for size in [1, 3, 7, 11, 1000] {
                assert_eq!(in_pieces(&file, size), expected.as_bytes(), "{size}");
            }
            // Who writes it as well has offsets that hold.
            let file = open(&broker, &wanted("f", "rw")).unwrap();
            let masked = content.replace(secret, &"*".repeat(secret.len()));
            assert_eq!(file.size().unwrap(), content.len() as u64);
            for size in [1, 3, 7, 11, 1000] {
                assert_eq!(in_pieces(&file, size), masked.as_bytes(), "{size}");
            }
        });
    }
}

#[test]
fn x40_a_secret_that_is_learned_later_is_taken_out_as_well() {
    both(|world| {
        let mut world = world.with("f", "key=s3cr3t-value").allow(".", "ru");
        let broker = world.broker();
        let reader = open(&broker, &wanted("f", "r")).unwrap();
        let writer = open(&broker, &wanted("f", "rw")).unwrap();
        assert_eq!(reader.read_at(0, 99).unwrap(), "key=s3cr3t-value");
        world.secrets.remember("s3cr3t-value");
        assert_eq!(reader.read_at(0, 99).unwrap(), "key=[REDACTED]");
        assert_eq!(writer.read_at(0, 99).unwrap(), "key=************");
        assert_eq!(writer.read_at(8, 4).unwrap(), "****");
        world.secrets.remember("key=");
        assert_eq!(reader.read_at(0, 99).unwrap(), "[REDACTED][REDACTED]");
        // What is written meanwhile is seen, without the secret.
        writer.set_size(0).unwrap();
        writer.append(b"now s3cr3t-value!").unwrap();
        assert_eq!(reader.read_at(0, 99).unwrap(), "now [REDACTED]!");
        world.put("f", "other");
        assert_eq!(reader.read_at(0, 3).unwrap(), "now", "it is the file");
    });
}

#[test]
fn x40_a_file_too_large_for_a_copy_keeps_its_offsets() {
    both(|world| {
        let secret = "s3cr3t-value";
        let content = format!("{}{secret}{}", "a".repeat(95), "b".repeat(95));
        let mut world = world.with("f", &content).allow(".", "r");
        world.limits.file_bytes = 100;
        world.secrets.remember(secret);
        let file = open(&world.broker(), &wanted("f", "r")).unwrap();
        let expected = content.replace(secret, &"*".repeat(secret.len()));
        assert_eq!(file.size().unwrap(), content.len() as u64);
        for size in [1, 5, 12, 64, 1000] {
            assert_eq!(in_pieces(&file, size), expected.as_bytes(), "{size}");
        }
    });
}

#[test]
fn errors_hold_no_secret_and_no_path_of_the_host() {
    let world = World::on_disk().allow(".", "rcu");
    world.secrets.remember("s3cr3t-value");
    let small = OpenRequest {
        most: Some(1),
        ..wanted("s3cr3t-value", "wc")
    };
    let file = open(&world.broker(), &small).unwrap();
    let errors = [
        file.set_size(9).unwrap_err(),
        file.read_at(0, 1).unwrap_err(),
        open(&world.broker(), &wanted("s3cr3t-value/x", "r")).unwrap_err(),
    ];
    for error in errors {
        let whole = format!("{error:?}");
        assert!(!whole.contains("s3cr3t"), "{whole}");
        let root = world.files.display_root().as_str();
        assert!(!whole.contains(root), "{whole}");
    }
}

#[test]
fn a_work_is_done_in_its_own_way_only() {
    both(|world| {
        let world = world.with("f", "hello").allow(".", "rcu");
        let broker = world.broker();
        let error = perform(broker.judge_open(&wanted("f", "wt"))).unwrap_err();
        assert_eq!(error, ErrorKind::Internal);
        let error = done(broker.judge(&write("f", "x")), jig_broker::Work::open).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        let error = done(broker.judge(&write("f", "x")), jig_broker::Work::look).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Internal);
        assert_eq!(world.content("f").unwrap(), "hello");
        // A look is an `fs.metadata`.
        let looked = perform(broker.judge_look("f", true));
        assert!(matches!(looked, Ok(VfsReply::Metadata(reply)) if reply.size == 5));

        let JudgedRequest::Ready(work) = broker.judge_open(&wanted("new", "wc")) else {
            panic!("it may be created");
        };
        work.cancel_token().cancel();
        assert_eq!(work.open().unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(world.content("new"), None);
    });
}

#[test]
fn directories_are_looked_at_and_not_opened() {
    both(|world| {
        let world = world.with("d/f", "x").allow(".", "rcu").allow("d/f", "");
        let broker = world.broker();
        for (path, flags) in [("d", "r"), ("d", "wc"), (".", "r"), ("d", "wt")] {
            let error = open(&broker, &wanted(path, flags)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::IsDir, "{path} {flags}");
        }
        assert_eq!(look(&broker, "d", true).unwrap().kind, PlaceKind::Directory);
        assert_eq!(look(&broker, ".", false).unwrap().path, project("."));
        let kind_of = |path| look(&broker, path, true).unwrap_err().kind();
        assert_eq!(kind_of("none"), ErrorKind::NotFound);
        assert_eq!(kind_of("d/f"), ErrorKind::DeniedByRule);
        assert_eq!(kind_of("../x"), ErrorKind::Escape);
        assert_eq!(kind_of("/etc/passwd"), ErrorKind::Escape);
    });
}

#[test]
fn directories_are_made_and_removed_as_an_operating_system_does() {
    both(|world| {
        let world = world
            .with("full/f", "x")
            .with("kept/f", "x")
            .with_link("l", "full")
            .allow(".", "rcud")
            .allow("kept", "r");
        let broker = world.broker();
        let make = |path| perform(broker.judge_make_dir(path)).map(drop);
        let remove = |path| perform(broker.judge_remove_dir(path)).map(drop);
        assert_eq!(make("new"), Ok(()));
        assert_eq!(
            look(&broker, "new", true).unwrap().kind,
            PlaceKind::Directory
        );
        assert_eq!(make("new"), Err(ErrorKind::AlreadyExists));
        assert_eq!(make("l"), Err(ErrorKind::AlreadyExists));
        assert_eq!(make("none/below"), Err(ErrorKind::NotFound));
        assert_eq!(make("kept/below"), Err(ErrorKind::DeniedByRule));
        assert_eq!(remove("full"), Err(ErrorKind::AlreadyExists));
        assert_eq!(remove("full/f"), Err(ErrorKind::NotDir));
        assert_eq!(remove("l"), Err(ErrorKind::NotDir));
        assert_eq!(remove("none"), Err(ErrorKind::NotFound));
        assert_eq!(remove("."), Err(ErrorKind::Protected));
        assert_eq!(remove("kept"), Err(ErrorKind::DeniedByRule));
        assert_eq!(remove("new"), Ok(()));
        assert_eq!(world.content("full/f").unwrap(), "x");
        let operations: Vec<_> = world
            .log
            .entries()
            .into_iter()
            .map(|entry| entry.operation)
            .collect();
        assert_eq!(operations.first().unwrap(), "fs.mkdir");
        assert_eq!(operations.last().unwrap(), "fs.delete");
    });
}

#[test]
fn a_rename_replaces_and_makes_no_directories() {
    both(|world| {
        let world = world
            .with("a", "a")
            .with("b", "b")
            .with("kept", "x")
            .allow(".", "rcud")
            .allow("kept", "r");
        let broker = world.broker();
        let rename = |from, to| perform(broker.judge_rename(from, to)).map(drop);
        assert_eq!(rename("a", "none/a"), Err(ErrorKind::NotFound));
        assert_eq!(rename("a", "kept"), Err(ErrorKind::DeniedByRule));
        assert_eq!(rename("kept", "a"), Err(ErrorKind::DeniedByRule));
        assert_eq!(rename("none", "a"), Err(ErrorKind::NotFound));
        assert_eq!(world.content("a").unwrap(), "a");
        assert_eq!(rename("a", "b"), Ok(()));
        assert_eq!(world.content("a"), None);
        assert_eq!(world.content("b").unwrap(), "a");
        assert_eq!(world.content("kept").unwrap(), "x");
    });
}
