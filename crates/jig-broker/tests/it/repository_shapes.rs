//! Bare repositories through requests: no folder becomes one, and what git obeys in one stays as it is.

use jig_broker::{Broker, JudgedRequest, OpenRequest};
use jig_proto::vfs::{ErrorKind, FsPath, FsRename, VfsRequest};

use crate::world::{World, ask, both, kind, write};

fn rename<'a>(from: &'a str, to: &'a str) -> VfsRequest<'a> {
    VfsRequest::FsRename(FsRename {
        overwrite: true,
        ..FsRename::new(from, to)
    })
}

fn mkdir(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsMkdir(FsPath::new(path))
}

/// A folder that lacks only `HEAD`, and a whole bare repository.
fn repositories(world: World) -> World {
    world
        .with("x/H", "ref: refs/heads/main\n")
        .with("x/objects/a", "")
        .with("x/refs/a", "")
        .with("y/HEAD", "ref: refs/heads/main\n")
        .with("y/refs/a", "")
        .with("y/o/a", "")
        .with("bare/HEAD", "ref: refs/heads/main\n")
        .with("bare/objects/a", "")
        .with("bare/refs/a", "")
        .with("bare/config", "[core]\n")
        .with("hostile/post-receive", "#!/bin/sh\n")
        .with("hostile.config", "[core]\nfsmonitor = touch OWNED\n")
}

#[test]
fn no_rename_completes_a_bare_repository_or_changes_one() {
    both(|world| {
        let world = repositories(world).allow(".", "rcud");
        let attacks = [
            ("x/H", "x/HEAD"),
            ("x/H", "x/head"),
            ("y/o", "y/objects"),
            ("y/o/a", "y/objects/ab/a"),
            ("hostile", "bare/hooks"),
            ("hostile/post-receive", "bare/hooks/post-receive"),
            ("hostile.config", "bare/config"),
            ("hostile.config", "bare/commondir"),
        ];
        for (from, to) in attacks {
            let broker = world.broker();
            let refused = kind(ask(&broker, &rename(from, to)));
            assert_eq!(refused, Err(ErrorKind::ApprovalUnavailable), "{from} {to}");
            // As an operating system does it: the door of the FS proxy.
            let is_ready = matches!(broker.judge_rename(from, to), JudgedRequest::Ready(_));
            assert!(!is_ready, "{from} {to}");
        }
        assert_eq!(world.content("bare/config").as_deref(), Some("[core]\n"));
        // Ordinary moves, also of what only looks like a part.
        for (from, to) in [
            ("y/o", "src/objects"),
            ("hostile", "src/hooks"),
            ("x/H", "x/H2"),
            ("bare", "moved"),
        ] {
            ask(&world.broker(), &rename(from, to)).unwrap();
        }
    });
}

#[test]
fn a_rule_that_names_the_part_opens_it_for_a_rename() {
    both(|world| {
        let world = repositories(world)
            .allow(".", "rcud")
            .allow("x/HEAD", "rcud");
        ask(&world.broker(), &rename("x/H", "x/HEAD")).unwrap();
        assert!(world.content("x/HEAD").is_some());
    });
}

/// Two tools add one of the last two parts each. Both are judged before either acts.
#[test]
fn parts_that_two_tools_add_at_once_make_no_repository() {
    type Act = fn(&Broker) -> JudgedRequest;
    let acts: [(&str, Act); 5] = [
        ("write", |broker| {
            broker.judge(&write("x/HEAD", "ref: refs/heads/main\n"))
        }),
        ("rename", |broker| {
            broker.judge(&rename("head.txt", "x/HEAD"))
        }),
        ("proxy's rename", |broker| {
            broker.judge_rename("head.txt", "x/HEAD")
        }),
        ("mkdir", |broker| broker.judge(&mkdir("x/HEAD"))),
        ("proxy's open", |broker| {
            broker.judge_open(&OpenRequest {
                write: true,
                create: true,
                ..OpenRequest::new("x/HEAD")
            })
        }),
    ];
    let perform = |judged: JudgedRequest, name: &str| match judged {
        JudgedRequest::Ready(work) if name == "proxy's open" => work.open().map(|_| ()),
        JudgedRequest::Ready(work) => work.perform().map(|_| ()),
        other => panic!("{name}: {other:?}"),
    };
    for (name, act) in acts {
        both(|world| {
            let world = world
                .with("x/config", "[core]\nfsmonitor = touch OWNED\n")
                .with("x/refs/a", "")
                .with("head.txt", "ref: refs/heads/main\n")
                .allow(".", "rcud");
            let (one, other) = (world.broker(), world.broker());
            let first = one.judge(&write("x/objects/ab/c", ""));
            let second = act(&other);
            perform(first, "write").unwrap();
            let refused = perform(second, name).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Protected, "{name}");
            let gone = world.files.locate_entry(&crate::world::project("x/HEAD"));
            assert!(!gone.unwrap().exists(), "{name}");
            // What was moved is back where it was.
            assert!(world.content("head.txt").is_some(), "{name}");
            // In the other order the directory goes.
            let first = one.judge(&write("x/refs/new", ""));
            perform(first, "write").unwrap();
        });
    }
}
