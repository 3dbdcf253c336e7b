//! A tool's calls become requests, over a transport that is written down beforehand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use jig_proto::vfs::{
    Capabilities, Edit, Entry, EntryKind, ErrorKind, ErrorReply, FsDelete, FsRename, FsWrite,
    GrepReply, HttpReply, Id, Init, ListReply, MetadataReply, Payload, ProcessReply, ReadReply,
    ToolInput, VfsReply, VfsRequest, tool,
};
use jig_proto::{Action, Context, Question, ToolState};
use serde_json::{Value, json};

use super::{Host, wanted};
use crate::vfs::{ConnectError, HostError, Notification, RequestError, Transport};

/// Answers what it was told to answer, and keeps what it was sent.
#[derive(Default)]
struct Script {
    replies: VecDeque<Result<VfsReply<'static>, RequestError>>,
    applies: VecDeque<Value>,
    sent: Sent,
}

/// The lines that were sent.
#[derive(Clone, Default)]
struct Sent(Arc<Mutex<Vec<String>>>);

impl Sent {
    fn line(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut line = Vec::new();
        write(&mut line);
        let line = String::from_utf8(line).unwrap();
        self.0.lock().unwrap().push(line.trim_end().to_owned());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl Transport for Script {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        self.sent
            .line(|line| tool::write_request(line, &Id::from(1), request));
        self.replies.pop_front().unwrap_or(Ok(VfsReply::DONE))
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        self.sent.line(|line| match notification {
            Notification::Ready(ready) => tool::write_ready(line, ready),
            Notification::Result(response) => tool::write_result(line, response),
            Notification::Error(error) => tool::write_error(line, error),
            Notification::State(state) => tool::write_state(line, state),
        });
        Ok(())
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        self.applies.pop_front().ok_or(RequestError::Cancelled)
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn init() -> Init {
    Init::new(ToolInput {
        name: "editor".to_owned(),
        ..ToolInput::default()
    })
}

/// A host that answers so, and what it is sent after the beginning.
fn host(
    init: Init,
    replies: impl IntoIterator<Item = Result<VfsReply<'static>, RequestError>>,
    applies: impl IntoIterator<Item = Value>,
) -> (Host, Sent) {
    let sent = Sent::default();
    let script = Script {
        replies: replies.into_iter().collect(),
        applies: applies.into_iter().collect(),
        sent: sent.clone(),
    };
    let host = Host::over(init, script).unwrap();
    sent.take();
    (host, sent)
}

/// What `ask` sends, as the params of its one request.
fn check<T>(
    reply: VfsReply<'static>,
    ask: impl FnOnce(&mut Host) -> Result<T, HostError>,
    expected: &str,
) {
    let (mut host, sent) = host(init(), [Ok(reply)], []);
    assert!(ask(&mut host).is_ok(), "{expected}");
    let start = r#"{"jsonrpc":"2.0","id":1,"method":"#;
    assert_eq!(sent.take(), [format!("{start}{expected}}}")]);
}

#[test]
fn v166_every_method_has_its_call() {
    let done = || VfsReply::DONE;
    let read = || VfsReply::read("text");
    check(
        read(),
        |host| host.read("a"),
        r#""fs.read","params":{"path":"a"}"#,
    );
    check(
        read(),
        |host| host.read_bytes("a"),
        r#""fs.read","params":{"path":"a"}"#,
    );
    check(
        done(),
        |host| host.write("a", "b"),
        r#""fs.write","params":{"path":"a","content":"b"}"#,
    );
    check(
        done(),
        |host| host.write_bytes("a", b"\xff"),
        r#""fs.write","params":{"path":"a","content":"/w==","encoding":"base64"}"#,
    );
    check(
        done(),
        |host| {
            host.write_with(FsWrite {
                exclusive: true,
                ..FsWrite::new("a", "b")
            })
        },
        r#""fs.write","params":{"path":"a","content":"b","exclusive":true}"#,
    );
    check(
        done(),
        |host| host.append("a", "b"),
        r#""fs.append","params":{"path":"a","content":"b"}"#,
    );
    check(
        done(),
        |host| {
            let edit = Edit {
                old: "x".into(),
                new: "y".into(),
                all: false,
            };
            host.patch("a", vec![edit])
        },
        r#""fs.patch","params":{"path":"a","edits":[{"old":"x","new":"y"}]}"#,
    );
    check(
        VfsReply::Exists(true),
        |host| host.exists("a"),
        r#""fs.exists","params":{"path":"a"}"#,
    );
    check(
        VfsReply::List(ListReply::default()),
        |host| host.list_dir("a"),
        r#""fs.list_dir","params":{"path":"a"}"#,
    );
    let metadata = MetadataReply {
        kind: EntryKind::File,
        size: 1,
        etag: None,
    };
    check(
        VfsReply::Metadata(metadata),
        |host| host.metadata("a"),
        r#""fs.metadata","params":{"path":"a"}"#,
    );
    check(
        done(),
        |host| host.mkdir("a"),
        r#""fs.mkdir","params":{"path":"a"}"#,
    );
    check(
        done(),
        |host| host.delete("a"),
        r#""fs.delete","params":{"path":"a"}"#,
    );
    check(
        done(),
        |host| {
            host.delete_with(FsDelete {
                recursive: true,
                ..FsDelete::new("a")
            })
        },
        r#""fs.delete","params":{"path":"a","recursive":true}"#,
    );
    check(
        done(),
        |host| host.rename("a", "b"),
        r#""fs.rename","params":{"from":"a","to":"b"}"#,
    );
    check(
        done(),
        |host| {
            host.rename_with(FsRename {
                overwrite: false,
                ..FsRename::new("a", "b")
            })
        },
        r#""fs.rename","params":{"from":"a","to":"b","overwrite":false}"#,
    );
    check(
        VfsReply::Grep(GrepReply::default()),
        |host| {
            let grep = host.grep("x").path("a").path("b").extension("rs");
            grep.context(2).literal().ignore_case().all().search()
        },
        r#""fs.grep","params":{"pattern":"x","paths":["a","b"],"extensions":["rs"],"context":2,"literal":true,"ignore_case":true,"all":true}"#,
    );
    let answer = || {
        VfsReply::Http(HttpReply {
            status: 200,
            body: Payload::EMPTY,
        })
    };
    check(
        answer(),
        |host| host.http_get("https://a.example").send(),
        r#""http.get","params":{"url":"https://a.example","headers":[]}"#,
    );
    check(
        answer(),
        |host| {
            let post = host.http_post("https://a.example", "body");
            post.header("X-Key", "${KEY}").send()
        },
        r#""http.post","params":{"url":"https://a.example","headers":[{"name":"X-Key","value":"${KEY}"}],"body":"body"}"#,
    );
    check(
        VfsReply::Process(ProcessReply::default()),
        |host| {
            let run = host.run("cargo").arg("check").args(["-p", "x"]);
            run.env("TERM").output()
        },
        r#""process.run","params":{"program":"cargo","args":["check","-p","x"],"envs":["TERM"]}"#,
    );
    check(
        VfsReply::Process(ProcessReply::default()),
        |host| host.run("make").in_dir("a/../docs").output(),
        r#""process.run","params":{"program":"make","args":[],"envs":[],"cwd":"docs"}"#,
    );
}

#[test]
fn x11_paths_are_normal_when_they_are_sent() {
    let check = |path: &str, expected: &str| {
        let mut init = init();
        init.context = Some(Context::new("/home/me/project", Action::Run));
        let (host, _) = host(init, [], []);
        assert_eq!(host.wire_path(path), expected, "{path}");
    };
    check("src/main.rs", "src/main.rs");
    check("src/../README.md", "README.md");
    check("./a/./b/../c", "a/c");
    check("src/..", ".");
    check("..hidden/a..b", "..hidden/a..b");
    check("/home/me/project/src/../a", "a");
    check("/home/me/project", ".");
    check("/home/me/project/", ".");
    // These are for the host to refuse, as they were written.
    check("../secrets", "../secrets");
    check("src/../../secrets", "src/../../secrets");
    check("/home/me/projects/a", "/home/me/projects/a");
    check("/etc/passwd", "/etc/passwd");
    check("/home/me/project/../other", "/home/me/project/../other");
    check("", "");
}

/// X-42: a component has a root of its own, and whoever calls it another.
#[test]
fn x42_a_path_below_either_root_is_one_of_the_workspace() {
    let init = Init {
        context: Some(Context::new("/workspace", Action::Run)),
        ..init()
    };
    let (mut host, sent) = host(init, [], []);
    host.also_strip("/home/me/project/".into());
    for (path, expected) in [
        ("/workspace/a/b", "a/b"),
        ("/home/me/project/a/../b", "b"),
        ("/home/me/project", "."),
        ("/home/me/projects/a", "/home/me/projects/a"),
        ("/home/me/project/../x", "/home/me/project/../x"),
        ("/etc/passwd", "/etc/passwd"),
    ] {
        host.mkdir(path).unwrap();
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"fs.mkdir","params":{{"path":"{expected}"}}}}"#
        );
        assert_eq!(sent.take(), [expected], "{path}");
    }
}

#[test]
fn x11_every_call_with_a_path_folds_it() {
    let folded = |ask: &dyn Fn(&mut Host)| {
        let (mut host, sent) = host(init(), [], []);
        ask(&mut host);
        let sent = sent.take().concat();
        assert!(sent.contains(r#""b"#) && !sent.contains(".."), "{sent}");
    };
    folded(&|host| drop(host.read("a/../b")));
    folded(&|host| drop(host.read_range("a/../b", 0, 1)));
    folded(&|host| drop(host.read_each(&["a/../b"], |_, _| ())));
    folded(&|host| drop(host.write("a/../b", "")));
    folded(&|host| drop(host.append("a/../b", "")));
    folded(&|host| drop(host.patch("a/../b", Vec::new())));
    folded(&|host| drop(host.exists("a/../b")));
    folded(&|host| drop(host.list_dir("a/../b")));
    folded(&|host| drop(host.metadata("a/../b")));
    folded(&|host| drop(host.mkdir("a/../b")));
    folded(&|host| drop(host.delete("a/../b")));
    folded(&|host| drop(host.rename("a/../b", "c/../d")));
    folded(&|host| drop(host.grep("b").path("a/../b").search()));
}

#[test]
fn only_what_is_offered_is_taken_up() {
    let check = |offered: Capabilities, expected: &[&str]| {
        let sent = Sent::default();
        let script = Script {
            sent: sent.clone(),
            ..Script::default()
        };
        let init = Init {
            capabilities: offered,
            ..init()
        };
        let host = Host::over(init, script).unwrap();
        assert_eq!(sent.take(), expected);
        assert_eq!(
            host.capabilities(),
            offered.common(&wanted(&Script::default()))
        );
    };
    check(Capabilities::PLAIN, &[]);
    let ready = r#"{"jsonrpc":"2.0","method":"ready","params":{"capabilities":"#;
    check(
        Capabilities {
            ranges: true,
            etag: true,
            ..Capabilities::PLAIN
        },
        &[&format!(r#"{ready}{{"ranges":{{}},"etag":{{}}}}}}}}"#)],
    );
    check(
        Capabilities {
            fd_pass: true,
            pending: true,
            ..Capabilities::PLAIN
        },
        &[&format!("{ready}{{}}}}}}")],
    );
}

#[test]
fn v172_a_version_is_chosen_by_its_first_number() {
    let check = |chosen: &str, supported: &[&str], expected: Result<Option<&str>, &str>| {
        let init = Init {
            protocol_version: chosen.to_owned(),
            supported: supported.iter().map(|&one| one.to_owned()).collect(),
            ..init()
        };
        let found = super::choose_version(&init);
        let found = found.map_err(|error| error.to_string());
        let expected = expected.map(|version| version.map(str::to_owned));
        assert_eq!(found, expected.map_err(str::to_owned), "{chosen}");
    };
    check("0.1.0", &[], Ok(None));
    check("0.9.2", &["1.0.0"], Ok(None));
    check("1.0.0", &["1.0.0", "0.3.0"], Ok(Some("0.3.0")));
    check(
        "1.0.0",
        &["1.0.0"],
        Err("the host speaks version 1.0.0 of the protocol, this tool version 0.1.0"),
    );
    let init = Init {
        protocol_version: "7".to_owned(),
        ..init()
    };
    assert!(matches!(
        Host::over(init, Script::default()),
        Err(ConnectError::Version { .. })
    ));
}

#[test]
fn without_ranges_the_part_is_cut_here() {
    let check = |offset, length, expected: &str| {
        let (mut host, sent) = host(init(), [Ok(VfsReply::read("0123456789"))], []);
        let part = host.read_range("a", offset, length).unwrap();
        assert_eq!(part.content.as_text(), Some(expected));
        assert_eq!(part.size, 10);
        assert!(!sent.take().concat().contains("offset"));
    };
    check(0, 4, "0123");
    check(8, 4, "89");
    check(10, 4, "");
    check(99, 1, "");
    check(3, u64::MAX, "3456789");
    check(0, 0, "");
}

#[test]
fn with_capabilities_requests_use_them() {
    let init = Init {
        capabilities: Capabilities {
            ranges: true,
            blobs: true,
            etag: true,
            ..Capabilities::PLAIN
        },
        ..init()
    };
    let (mut host, sent) = host(init, [Ok(VfsReply::read("a"))], []);
    host.read_range("a", 5, 1).unwrap();
    host.write_with(FsWrite {
        if_match: Some("v1".into()),
        ..FsWrite::new("a", "b")
    })
    .unwrap();
    let sent = sent.take();
    assert!(
        sent[0].contains(r#"{"path":"a","offset":5,"length":1,"blob":true}"#),
        "{sent:?}"
    );
    assert!(sent[1].contains(r#""if_match":"v1""#), "{sent:?}");
}

#[test]
fn without_etag_no_version_is_sent() {
    let (mut host, sent) = host(init(), [], []);
    host.write_with(FsWrite {
        if_match: Some("v1".into()),
        ..FsWrite::new("a", "b")
    })
    .unwrap();
    assert!(!sent.take().concat().contains("if_match"));
}

fn page(
    names: &[&'static str],
    next: Option<&'static str>,
) -> Result<VfsReply<'static>, RequestError> {
    Ok(VfsReply::List(ListReply {
        entries: names
            .iter()
            .map(|&name| Entry {
                path: name.into(),
                kind: EntryKind::File,
            })
            .collect(),
        next_cursor: next.map(Into::into),
    }))
}

#[test]
fn list_dir_reads_all_pages() {
    let pages = [page(&["a", "b"], Some("2")), page(&["c"], None)];
    let (mut host, sent) = host(init(), pages, []);
    let entries = host.list_dir(".").unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry.path.as_ref()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    assert!(sent.take()[1].contains(r#""cursor":"2""#));
}

#[test]
fn a_host_that_repeats_a_page_is_not_asked_for_ever() {
    let pages = [page(&["a"], Some("2")), page(&["a"], Some("2"))];
    let (mut host, _) = host(init(), pages, []);
    let error = host.list_dir(".").unwrap_err();
    assert_eq!(error.kind, ErrorKind::Internal);
}

#[test]
fn bytes_are_not_text() {
    let bytes = VfsReply::Read(ReadReply {
        content: Payload::of_bytes(&b"\xff\xfe"[..]),
        size: 2,
        etag: None,
    });
    let (mut host, _) = host(init(), [Ok(bytes)], []);
    let error = host.read("logo.png").unwrap_err();
    assert_eq!(error.message, "`logo.png` is not UTF-8 text (2 bytes)");
}

#[test]
fn an_answer_of_another_form_is_an_error_and_no_panic() {
    let (mut host, _) = host(init(), [Ok(VfsReply::Exists(true)), Ok(VfsReply::DONE)], []);
    assert_eq!(host.read("a").unwrap_err().kind, ErrorKind::Internal);
    assert_eq!(host.exists("a").unwrap_err().kind, ErrorKind::Internal);
}

#[test]
fn x22_a_question_waits_for_its_answer_and_is_asked_once() {
    let (mut host, sent) = host(init(), [], [json!(true)]);
    let question = || Question::yes_no("overwrite", "Overwrite it?");
    assert_eq!(host.ask(question()).unwrap(), json!(true));
    assert_eq!(
        sent.take(),
        [
            r#"{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","question":{"id":"overwrite","text":"Overwrite it?","schema":{"type":"boolean"}}}}"#
        ]
    );
    assert_eq!(host.ask(question()).unwrap(), json!(true));
    assert!(sent.take().is_empty());
}

#[test]
fn x22_a_known_answer_is_not_asked_for() {
    let check = |answer: Value, expected: Option<bool>| {
        let mut init = init();
        init.tool.answers.insert("sure".to_owned(), answer);
        let (mut host, sent) = host(init, [], []);
        let said = host.confirm(Question::yes_no("sure", "Sure?"));
        assert_eq!(said.ok(), expected);
        assert!(sent.take().is_empty());
    };
    check(json!(true), Some(true));
    check(json!(false), Some(false));
    check(json!("y"), Some(true));
    check(json!(" Yes "), Some(true));
    check(json!("no"), Some(false));
    check(json!("perhaps"), None);
    check(json!(1), None);
    check(json!(null), None);
}

#[test]
fn v111_a_cancelled_call_stays_cancelled_unless_one_asks_anyway() {
    let (mut host, sent) = host(init(), [Err(RequestError::Cancelled)], []);
    assert!(!host.is_cancelled());
    assert!(host.read("a").unwrap_err().is_cancelled());
    assert!(host.is_cancelled());
    sent.take();
    assert!(host.read("b").unwrap_err().is_cancelled());
    assert!(host.wait_apply().unwrap_err().is_cancelled());
    assert!(sent.take().is_empty(), "the host is not asked again");
    host.clean_up(|host| host.delete("a.tmp")).unwrap();
    assert_eq!(sent.take().len(), 1);
    assert!(host.delete("a.tmp").unwrap_err().is_cancelled());
}

#[test]
fn a_request_that_was_cancelled_alone_does_not_end_the_call() {
    let refused = Err(RequestError::Refused(ErrorReply::cancelled()));
    let (mut host, _) = host(init(), [refused], []);
    assert!(host.delete("a").unwrap_err().is_cancelled());
    assert!(!host.is_cancelled());
    host.delete("a").unwrap();
}

#[test]
fn a_tool_knows_whether_it_is_driven() {
    for stateful in [false, true] {
        let init = Init { stateful, ..init() };
        let (host, _) = host(init, [], []);
        assert_eq!(host.is_stateful(), stateful);
    }
}

/// A host that does not know better says so, and does not pretend that nothing came.
#[test]
fn a_transport_without_limits_says_so() {
    let (mut host, _) = host(init(), [], []);
    let error = host.try_apply().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the host failed: input can't be waited for with a limit here"
    );
}

#[test]
fn v125_states_and_results_are_sent() {
    let (mut host, sent) = host(init(), [], []);
    host.state(ToolState::running("half way")).unwrap();
    host.result("done").unwrap();
    assert_eq!(
        sent.take(),
        [
            r#"{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"half way"}}"#,
            r#"{"jsonrpc":"2.0","method":"result","params":{"content":[{"type":"text","text":"done"}]}}"#
        ]
    );
}

#[test]
fn arguments_have_a_type() {
    #[derive(serde::Deserialize, Debug, PartialEq)]
    struct Arguments {
        path: String,
        #[serde(default)]
        limit: u32,
    }
    let read = |arguments: Value| {
        let mut init = init();
        init.tool.arguments = arguments.as_object().cloned().unwrap();
        let (host, _) = host(init, [], []);
        host.arguments::<Arguments>()
            .map_err(|error| error.to_string())
    };
    let expected = Arguments {
        path: "a".to_owned(),
        limit: 0,
    };
    assert_eq!(read(json!({"path": "a"})), Ok(expected));
    assert_eq!(
        read(json!({})),
        Err("the arguments of `editor` can't be used: missing field `path`".to_owned())
    );
}
