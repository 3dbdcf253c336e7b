//! Streams that are a person's terminal.

use std::io::ErrorKind;

use jig_pty::{Pty, Size};
use jig_runtime::fsproxy::{ClientOptions, ParentStream, ParentStreams};
use jig_testkit::provider::{Answer, Provider};
use serde_json::json;

use crate::fsproxy_llm::calls::sent;
use crate::fsproxy_llm::world::{Framed, World, in_llm_context, until};

/// What a model says does not control the terminal that it is shown on, and nobody has to type something for a
/// call that only names standard input.
#[test]
fn f073_a_terminal_is_not_read_and_gets_plain_text() {
    let provider = Provider::start();
    let world = World::with_llm(&provider.url(), |_| {});
    let (pty, program) = Pty::open(Size::default()).unwrap();
    let terminal = ParentStream::new(program);
    let options = ClientOptions {
        streams: ParentStreams {
            stdin: Some(terminal.clone()),
            stdout: Some(terminal.clone()),
            stderr: Some(terminal),
        },
        ..in_llm_context()
    };
    let mut client = Framed(world.connect(options).1);
    let hostile = "a\u{1b}]0;owned\u{7}b \u{1b}[2Jc \u{9b}31md\u{8} e \u{1b}P1 end";
    for stream in [false, true] {
        provider.script([Answer::text(hostile)]);
        let params =
            json!({ "prompt": "x", "stdin": 0, "stdout": 1, "stderr": 2, "stream": stream });
        let reply = client.ask("LLMCMD", params).unwrap();
        let shown = shown(&pty, reply["written"].as_u64().unwrap() as usize);
        assert!(shown.starts_with("ab c d e"), "{shown:?}");
        assert!(
            !shown.contains(['\u{1b}', '\u{9b}', '\u{7}', '\u{8}']),
            "{shown:?}"
        );
        assert_eq!(
            sent(&provider).pop().unwrap()["messages"][0]["content"],
            "x"
        );
    }
    provider.script([Answer::error(500, "\u{1b}[31m\nred")]);
    let params = json!({ "prompt": "x", "stderr": 2 });
    let (_, message) = client.ask("LLMCMD", params).unwrap_err();
    let line = shown(&pty, "llm: ".len() + message.len());
    assert!(
        line.starts_with("llm: OpenAI API call failed: "),
        "{line:?}"
    );
    assert!(!line.contains('\u{1b}'), "{line:?}");
}

/// So many bytes of what was printed.
fn shown(pty: &Pty, count: usize) -> String {
    let mut all = Vec::new();
    until("it is printed", || {
        let mut buffer = [0; 1024];
        match pty.read(&mut buffer) {
            Ok(read) => all.extend_from_slice(&buffer[..read]),
            Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
        }
        all.len() >= count
    });
    String::from_utf8(all).unwrap()
}
