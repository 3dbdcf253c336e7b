//! The shim: what it says at the door, and how it ends.
#![expect(
    clippy::disallowed_methods,
    reason = "these are tests of the sandbox alone"
)]

use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;

use jig_sandbox::{
    Child, DOOR, Exit, Launch, PathRule, Pool, PrivateContent, PrivateDirectory, PrivateFile,
    Profile, Program, Rights, RuleSource, SpawnRequest, shim, spawn,
};

/// A sandbox in which there is nothing but the shim, under the name `thing`.
fn profile() -> Profile {
    let shim = shim().expect("the launcher is built in").to_vec();
    let file = |path: &str, content| PrivateFile {
        path: path.into(),
        content,
    };
    let mut profile = Profile::closed();
    profile.paths.push(PathRule {
        path: "/usr".into(),
        rights: Rights::READ.with(Rights::EXECUTE),
        source: RuleSource::System,
    });
    profile.private.push(PrivateDirectory {
        path: "/run/jig".into(),
        size: 1 << 20,
        executable: true,
    });
    profile.files = vec![
        file("/run/jig/shim", PrivateContent::Program(shim)),
        file("/run/jig/bin/thing", PrivateContent::Link("../shim".into())),
    ];
    profile.door = Some(DOOR.into());
    profile.sealed.push("/run/jig".into());
    profile
}

/// The shim, and what it has said.
fn started(launch: &Launch, args: &[&str]) -> (Child, UnixStream, Vec<u8>) {
    let program = Program::parse("/run/jig/bin/thing").expect("it is absolute");
    let mut request = SpawnRequest::new(program, "/usr");
    request.args = args.iter().map(Into::into).collect();
    request.profile = Some(Arc::new(profile()));
    request.launch = launch.clone();
    let mut child = spawn(request).expect("it starts");
    let door = UnixListener::from(child.door.take().expect("it has a door"));
    let (mut stream, _) = door.accept().expect("it comes");
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("it speaks");
    let mut said = vec![0; u32::from_le_bytes(length) as usize];
    stream.read_exact(&mut said).expect("it speaks");
    (child, stream, said)
}

fn errors(child: &mut Child) -> String {
    let mut text = String::new();
    let mut pipe = child.stderr.take().expect("it is piped");
    pipe.read_to_string(&mut text).expect("it is text");
    text
}

#[test]
fn it_says_what_it_was_called_with_and_ends_as_it_is_told() {
    let pool = Pool::new(1).expect("the launcher is built in");
    for launch in [Launch::Direct, Launch::Launcher, Launch::Pool(pool)] {
        let check = |answer: &[u8], text: &str, expected: fn(Exit) -> bool| {
            let (mut child, mut stream, said) = started(&launch, &["one", "", "three 3"]);
            assert_eq!(said, b"/usr\0thing\0one\0\0three 3\0");
            stream.write_all(answer).expect("it listens");
            let exit = child.wait().expect("it can be waited for");
            assert!(expected(exit), "{launch:?}: {exit}");
            assert_eq!(errors(&mut child), text);
        };
        check(b"\0\0\0\0\0\0", "", |exit| exit.is_success());
        check(b"\0\x07\x03\0\0\0why", "why", |exit| {
            matches!(exit, Exit::Exited { code: 7 })
        });
        check(b"\x01\x0f\0\0\0\0", "", |exit| {
            matches!(exit, Exit::Killed { signal: 15, .. })
        });
        check(b"\x01\x09\0\0\0\0", "", |exit| {
            matches!(exit, Exit::Killed { signal: 9, .. })
        });
        // One that ends nobody, and one that does not exist.
        check(b"\x01\x11\0\0\0\0", "", |exit| {
            matches!(exit, Exit::Exited { code: 145 })
        });
        check(b"\x01\xff\0\0\0\0", "", |exit| {
            matches!(exit, Exit::Exited { .. })
        });
    }
}

#[test]
fn it_says_when_nobody_answers() {
    let (mut child, stream, _) = started(&Launch::Direct, &[]);
    drop(stream);
    let exit = child.wait().expect("it can be waited for");
    assert!(matches!(exit, Exit::Exited { code: 126 }), "{exit}");
    assert_eq!(errors(&mut child), "jig: thing: the host hung up\n");
}

#[test]
fn the_line_ends_with_it() {
    let (child, mut stream, _) = started(&Launch::Direct, &[]);
    child.kill();
    assert_eq!(stream.read(&mut [0]).expect("it is over"), 0);
    assert!(rustix::fs::access(DOOR, rustix::fs::Access::EXISTS).is_err());
}
