use std::io::{Read, pipe};
use std::process::ExitCode;

use jig_proto::vfs::{ErrorReply, Id, Init, ToolInput, host};
use jig_proto::{Content, ToolError};

use super::serve;
use crate::vfs::{Host, Pipes};

/// Runs `work` for a host that has sent `init` and one denial, and gives what was written.
fn check(
    work: impl FnOnce(&mut Host) -> Result<Content, ToolError>,
    exit: ExitCode,
    expected: &str,
) {
    let mut lines = Vec::new();
    host::write_init(&mut lines, &Init::new(ToolInput::default()));
    let denied = ErrorReply::uncovered("read on `a`").with_hint("add a rule");
    host::write_error(&mut lines, Some(&Id::from(1)), &denied);
    let (mut from_tool, to_host) = pipe().unwrap();
    let (init, pipes) = Pipes::open(std::io::Cursor::new(lines), to_host).unwrap();
    assert_eq!(serve(Host::over(init, pipes).unwrap(), work), exit);
    let mut written = String::new();
    from_tool.read_to_string(&mut written).unwrap();
    let last = written.lines().last().unwrap_or_default();
    assert_eq!(last, expected);
}

#[test]
fn v167_what_the_function_returns_is_reported() {
    check(
        |_| Ok("done".into()),
        ExitCode::SUCCESS,
        r#"{"jsonrpc":"2.0","method":"result","params":{"content":[{"type":"text","text":"done"}]}}"#,
    );
    check(
        |_| Err(ToolError::new("no")),
        ExitCode::FAILURE,
        r#"{"jsonrpc":"2.0","method":"error","params":{"message":"no","trace":[],"transient":false}}"#,
    );
    check(
        |host| Ok(host.read("a")?.into()),
        ExitCode::FAILURE,
        r#"{"jsonrpc":"2.0","method":"error","params":{"message":"access denied: read on `a`\nhint: add a rule","trace":[],"transient":false}}"#,
    );
}

#[test]
fn a_panic_is_reported_as_an_error() {
    let error = |message: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"error","params":{{"message":"{message}","trace":[],"transient":false}}}}"#
        )
    };
    check(
        |_| panic!("at the disco"),
        ExitCode::FAILURE,
        &error("the tool panicked: at the disco"),
    );
    let number = 7;
    check(
        |_| panic!("number {number}"),
        ExitCode::FAILURE,
        &error("the tool panicked: number 7"),
    );
}
