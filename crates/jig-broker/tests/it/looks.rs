//! A tool that only looks: whatever its rules grant, nothing is changed, sent or run for it.

use jig_broker::{Broker, BrokerParts, Judged, Open};
use jig_policy::Guards;
use jig_proto::vfs::{
    ErrorKind, FsAppend, FsGrep, FsListDir, FsPath, FsRename, HttpGet, ProcessRead, ProcessRun,
    ProcessStart, Request,
};

use crate::world::{World, ask, both, delete, exists, kind, read, write};

/// A broker for whom nothing is protected, as for a tool that only looks.
fn broker(world: &World, only_looks: bool) -> Broker {
    Broker::new(BrokerParts {
        only_looks,
        ..world.parts()
    })
}

fn looks() -> Vec<Request<'static>> {
    vec![
        read("a.txt"),
        exists("a.txt"),
        Request::FsMetadata(FsPath::new("a.txt")),
        Request::FsListDir(FsListDir::new(".")),
        Request::FsGrep(FsGrep::new("a")),
    ]
}

fn others() -> Vec<Request<'static>> {
    vec![
        write("new.txt", ""),
        write("jig.toml", "[tools]"),
        Request::FsAppend(FsAppend::new("a.txt", "more")),
        Request::FsMkdir(FsPath::new("folder")),
        Request::FsRename(FsRename::new("b.txt", "c.txt")),
        delete("a.txt", false),
        Request::HttpGet(HttpGet {
            url: "http://127.0.0.1:9/".into(),
            headers: Vec::new(),
        }),
        Request::ProcessRun(ProcessRun {
            program: "true".into(),
            args: Vec::new(),
            envs: Vec::new(),
            cwd: None,
        }),
        Request::ProcessStart(ProcessStart::new("true")),
        Request::ProcessRead(ProcessRead::new(1)),
    ]
}

#[test]
fn a_broker_that_only_looks_does_nothing_else_whatever_the_rules_grant() {
    both(|mut world| {
        world.guards = Guards::default();
        let world = world
            .with("a.txt", "a")
            .with("b.txt", "b")
            .allow(".", "rcudx")
            .net("127.0.0.1", 9, true)
            .command("true", None, &[]);
        let looking = broker(&world, true);
        for request in looks() {
            let done = kind(ask(&looking, &request));
            assert!(done.is_ok(), "{request:?}: {done:?}");
        }
        for request in others() {
            let done = kind(ask(&looking, &request));
            assert_eq!(done.map(drop), Err(ErrorKind::Internal), "{request:?}");
        }
        let new = Open {
            write: true,
            create: true,
            ..Open::new("new.txt")
        };
        assert!(matches!(looking.judge_open(&new), Judged::Refused(_)));
        assert!(matches!(
            looking.judge_make_dir("folder"),
            Judged::Refused(_)
        ));
        assert!(matches!(
            looking.judge_rename("a.txt", "c.txt"),
            Judged::Refused(_)
        ));
        assert_eq!(world.content("a.txt").as_deref(), Some("a"));
        assert_eq!(world.content("new.txt"), None);
        // The same rules do grant it: without the restriction the configuration itself is written.
        let free = broker(&world, false);
        assert!(kind(ask(&free, &write("jig.toml", "[tools]"))).is_ok());
        assert!(kind(ask(&free, &delete("a.txt", false))).is_ok());
    });
}
