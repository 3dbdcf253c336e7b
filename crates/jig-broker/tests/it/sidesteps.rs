//! Ways round a rule in two steps, each of which looks harmless: none of them leads anywhere.

use jig_broker::{JudgedRequest, Unapproved};
use jig_proto::vfs::{ErrorKind, ErrorReply, FsRename, VfsReply, VfsRequest};

use crate::world::{World, ask, both, kind, read};

fn done(judged: JudgedRequest) -> Result<VfsReply<'static>, ErrorReply> {
    match judged {
        JudgedRequest::Ready(work) => work.perform(),
        JudgedRequest::Uncovered(inquiry) => Err(inquiry.deny(Unapproved::Unavailable)),
        JudgedRequest::Refused(error) => Err(error),
    }
}

/// Moves by the protocol and as a guest does it.
fn moves(world: &World, from: &str, to: &str) -> [Result<(), ErrorKind>; 2] {
    let broker = world.broker();
    let request = VfsRequest::FsRename(FsRename::new(from, to));
    [
        done(broker.judge_rename(from, to)),
        done(broker.judge(&request)),
    ]
    .map(|moved| moved.map(drop).map_err(|error| error.kind()))
}

#[test]
fn x65_what_may_not_be_read_is_not_moved_to_where_it_may_be() {
    let check = |from: &str, to: &str, expected: Result<(), ErrorKind>| {
        both(|world| {
            let world = world
                .with("inbox/letter", "secret")
                .with("whole/inbox/letter", "secret")
                .with("whole/open", "open")
                .allow(".", "rcud")
                // What is put there may be replaced and removed, but not read.
                .allow("inbox", "cud")
                .allow("whole/inbox", "cud");
            let [first, second] = moves(&world, from, to);
            assert_eq!(first, expected, "{from} to {to}");
            if expected.is_err() {
                assert_eq!(second, expected, "{from} to {to}");
                let broker = world.broker();
                for path in ["mine", "mine/letter", "mine/inbox/letter"] {
                    assert!(kind(ask(&broker, &read(path))).is_err(), "{path}");
                }
            }
        });
    };
    let denied = Err(ErrorKind::DeniedByRule);
    check("inbox/letter", "mine", denied);
    check("inbox", "mine", denied);
    // What is in it counts as well.
    check("whole", "mine", denied);
    check("whole/open", "mine", Ok(()));
    // Where it cannot be read either, nothing is gained.
    check("inbox/letter", "inbox/other", Ok(()));
    check("inbox/letter", "whole/inbox/other", Ok(()));
    check("whole/open", "inbox/other", Ok(()));
}

#[test]
fn x11_a_link_does_not_tell_what_stands_where_nothing_may_be_read() {
    let check = |link: &str, expected: ErrorKind| {
        both(|world| {
            let world = world
                .with("denied/there", "x")
                .with("denied/folder/x", "x")
                .with_link("to-there", "denied/there")
                .with_link("to-nothing", "denied/nothing")
                .with_link("below-nothing", "denied/nothing/at/all")
                .with_link("below-there", "denied/there/x")
                .with_link("dangles", "nothing")
                .allow(".", "rcud")
                .allow("denied", "");
            let broker = world.broker();
            assert_eq!(kind(ask(&broker, &read(link))), Err(expected), "{link}");
            let look = match broker.judge_look(link, true) {
                JudgedRequest::Refused(error) => error.kind(),
                other => panic!("{link}: {other:?}"),
            };
            assert_eq!(look, expected, "{link}");
        });
    };
    check("to-there", ErrorKind::DeniedByRule);
    check("to-nothing", ErrorKind::DeniedByRule);
    check("below-nothing", ErrorKind::DeniedByRule);
    check("below-there", ErrorKind::DeniedByRule);
    // Where looking is allowed, that there is nothing is no secret.
    check("dangles", ErrorKind::Escape);
}
