//! Golden transcripts of the VFS protocol: every example of its document, byte for byte where we
//! write it, and as it stands there where we read it.

mod process;

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use jig_proto::vfs::host::{self, ToolLine};
use jig_proto::vfs::tool::{self, BadHostLine, HostLine};
use jig_proto::vfs::{
    Capabilities, DescriptorReply, DoneReply, Edit, Entry, EntryKind, ErrorKind, FileMatches,
    FsAppend, FsDelete, FsGrep, FsListDir, FsPatch, FsPath, FsRead, FsRename, FsWrite, GrepReply,
    Header, HttpGet, HttpPost, HttpReply, Id, Init, ListReply, MatchedLine, MetadataReply, Method,
    Payload, ProcessOutput, ProcessRead, ProcessReply, ProcessRun, ProcessStart, ProcessStop,
    ProcessWrite, ReadReply, Reading, Ready, SessionLimits, StartedProcess, TerminalSize,
    ToolInput, VfsReply, VfsRequest,
};
use jig_proto::{
    Access, Action, Block, Content, Context, CutReport, Fetch, FsGrants, FsRule, Question,
    Response, TerminalReport, ToolError, ToolState, View,
};
use serde_json::{Value, json};

fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut out = Vec::new();
    write(&mut out);
    let line = String::from_utf8(out).expect("a line is UTF-8");
    let line = line.strip_suffix('\n').expect("a line has an end");
    assert!(!line.contains('\n'), "one line: {line}");
    line.to_owned()
}

/// The tool writes exactly this, and the host reads the same request.
fn check_request(request: VfsRequest<'_>, params: &str) {
    let method = request.method();
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
    let id = Id::from(1);
    assert_eq!(written(|out| tool::write_request(out, &id, &request)), line);
    let read = host::read_line(line.as_bytes(), &Reading::PLAIN).expect("it is a request");
    assert_eq!(read, ToolLine::Request { id, request });
}

/// The host writes exactly this, and the tool reads the same reply.
fn check_reply(method: Method, reply: &VfsReply<'_>, result: &str) {
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#);
    let id = Id::from(1);
    assert_eq!(written(|out| host::write_reply(out, &id, reply)), line);
    let read = tool::read_line(line.as_bytes(), &Reading::PLAIN).expect("it is a reply");
    let HostLine::Reply {
        id: read_id,
        result,
    } = read
    else {
        panic!("{read:?}");
    };
    assert_eq!(read_id, id);
    assert_eq!(&result.read(method).expect("it answers the method"), reply);
}

fn tool_line(line: &str) -> ToolLine<'_> {
    host::read_line(line.as_bytes(), &Reading::PLAIN).expect("the host reads it")
}

fn host_line(line: &str) -> HostLine<'_> {
    tool::read_line(line.as_bytes(), &Reading::PLAIN).expect("the tool reads it")
}

fn texts(list: &[&'static str]) -> Vec<Cow<'static, str>> {
    list.iter().map(|&text| Cow::Borrowed(text)).collect()
}

#[test]
fn v018_x07_the_bare_name_is_answered_with_the_right_one() {
    let line = r#"{"jsonrpc":"2.0","id":1,"method":"read","params":{"path":"src/main.rs"}}"#;
    let fault = host::read_line(line.as_bytes(), &Reading::PLAIN).expect_err("no such method");
    let host::ToolLineFault::Answer { id, error, .. } = fault else {
        panic!("{fault}");
    };
    assert_eq!(
        written(|out| host::write_error(out, id.as_ref(), &error)),
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"there is no method \"read\": it is called `fs.read`","data":{"kind":"method_not_found","retryable":false}}}"#
    );
}

#[test]
fn v022_v023_responses() {
    let line = r#"{"jsonrpc":"2.0","id":1,"result":{"content":"fn main() {}"}}"#;
    let HostLine::Reply { id, result } = host_line(line) else {
        panic!("it is a reply");
    };
    assert_eq!(id, Id::from(1));
    assert_eq!(
        result.read(Method::FsRead),
        Ok(VfsReply::read("fn main() {}"))
    );

    let line = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Access denied: path '.env' is in the sensitive paths list"}}"#;
    let HostLine::Error { id, error } = host_line(line) else {
        panic!("it is an error");
    };
    assert_eq!(id, Some(Id::from(1)));
    assert_eq!(error.code(), -32001);
    assert!(error.kind().is_denial());
    assert_eq!(
        error.message,
        "Access denied: path '.env' is in the sensitive paths list"
    );

    let line = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
    let HostLine::Error { id: None, error } = host_line(line) else {
        panic!("it is an error without id");
    };
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
}

#[test]
fn v025_v028_final_result() {
    let done = Response {
        content: Content::from("Modified 2 files."),
        ..Response::default()
    };
    let line = r#"{"jsonrpc":"2.0","method":"result","params":{"content":[{"type":"text","text":"Modified 2 files."}]}}"#;
    assert_eq!(written(|out| tool::write_result(out, &done)), line);
    let plain = r#"{"jsonrpc":"2.0","method":"result","params":{"content":"Modified 2 files."}}"#;
    for line in [line, plain] {
        let ToolLine::Result(read) = tool_line(line) else {
            panic!("it is a result");
        };
        assert!(read.warnings.is_empty());
        assert_eq!(read.value, done);
    }
    // V-027: a block that can't be read is skipped, and the others are kept.
    let mixed = r#"{"jsonrpc":"2.0","method":"result","params":{"content":[{"type":"video"},{"type":"text","text":"a"}]}}"#;
    let ToolLine::Result(read) = tool_line(mixed) else {
        panic!("it is a result");
    };
    assert_eq!(read.value.content.blocks(), [Block::text("a")]);
    assert_eq!(read.warnings.iter().count(), 1);
}

#[test]
fn v029_v030_error_result() {
    let error = ToolError {
        message: "Failed to parse input".to_owned(),
        trace: vec!["...".to_owned()],
        transient: false,
        denials: Vec::new(),
        content: Content::EMPTY,
    };
    let line = r#"{"jsonrpc":"2.0","method":"error","params":{"message":"Failed to parse input","trace":["..."],"transient":false}}"#;
    assert_eq!(written(|out| tool::write_error(out, &error)), line);
    assert_eq!(tool_line(line), ToolLine::Error(error));
}

#[test]
fn v044_to_v049_x55_read() {
    check_request(
        VfsRequest::FsRead(FsRead::new("src/main.rs")),
        r#"{"path":"src/main.rs"}"#,
    );
    check_reply(
        Method::FsRead,
        &VfsReply::Read(ReadReply {
            content: Payload::from("fn main() {}"),
            size: 13,
            etag: None,
        }),
        r#"{"content":"fn main() {}","size":13}"#,
    );
    check_reply(
        Method::FsRead,
        &VfsReply::Read(ReadReply {
            content: Payload::from(&b"\x89PNG\r\n\x1a\n"[..]),
            size: 1234,
            etag: None,
        }),
        r#"{"content":"iVBORw0KGgo=","encoding":"base64","size":1234}"#,
    );
}

#[test]
fn x24_ranges_etags_blobs_and_descriptors() {
    check_request(
        VfsRequest::FsRead(FsRead {
            offset: Some(10_000_000),
            length: Some(65_536),
            blob: true,
            fd: true,
            ..FsRead::new("a")
        }),
        r#"{"path":"a","offset":10000000,"length":65536,"blob":true,"fd":true}"#,
    );
    check_reply(
        Method::FsRead,
        &VfsReply::Read(ReadReply {
            content: Payload::from("part"),
            size: 20_000_000,
            etag: Some("\"x\"".into()),
        }),
        r#"{"content":"part","size":20000000,"etag":"\"x\""}"#,
    );
    check_reply(
        Method::FsRead,
        &VfsReply::Descriptor(DescriptorReply {
            size: 3,
            etag: Some("x".into()),
        }),
        r#"{"fd":true,"size":3,"etag":"x"}"#,
    );
}

#[test]
fn v050_v051_x57_write() {
    check_request(
        VfsRequest::FsWrite(FsWrite::new(
            "src/main.rs",
            "fn main() { println!(\"hello\"); }",
        )),
        r#"{"path":"src/main.rs","content":"fn main() { println!(\"hello\"); }"}"#,
    );
    check_request(
        VfsRequest::FsWrite(FsWrite::new("image.png", &b"\x89PNG\r\n\x1a\n"[..])),
        r#"{"path":"image.png","content":"iVBORw0KGgo=","encoding":"base64"}"#,
    );
    check_request(
        VfsRequest::FsWrite(FsWrite {
            exclusive: true,
            if_match: Some("x".into()),
            ..FsWrite::new("a", "")
        }),
        r#"{"path":"a","content":"","exclusive":true,"if_match":"x"}"#,
    );
    check_reply(Method::FsWrite, &VfsReply::DONE, "{}");
    check_reply(
        Method::FsWrite,
        &VfsReply::Done(DoneReply {
            etag: Some("y".into()),
        }),
        r#"{"etag":"y"}"#,
    );
}

#[test]
fn append_patch_and_mkdir() {
    check_request(
        VfsRequest::FsAppend(FsAppend {
            if_match: Some("x".into()),
            ..FsAppend::new("log", "line\n")
        }),
        r#"{"path":"log","content":"line\n","if_match":"x"}"#,
    );
    check_request(
        VfsRequest::FsPatch(FsPatch {
            if_match: Some("x".into()),
            ..FsPatch::new(
                "a",
                vec![
                    Edit {
                        old: "one".into(),
                        new: "two".into(),
                        all: false,
                    },
                    Edit {
                        old: "\t".into(),
                        new: "".into(),
                        all: true,
                    },
                ],
            )
        }),
        r#"{"path":"a","edits":[{"old":"one","new":"two"},{"old":"\t","new":"","all":true}],"if_match":"x"}"#,
    );
    check_request(VfsRequest::FsMkdir(FsPath::new("a/b")), r#"{"path":"a/b"}"#);
    for method in [Method::FsAppend, Method::FsPatch, Method::FsMkdir] {
        check_reply(method, &VfsReply::DONE, "{}");
    }
}

#[test]
fn v052_v057_exists_and_metadata() {
    check_request(
        VfsRequest::FsExists(FsPath::new("src/main.rs")),
        r#"{"path":"src/main.rs"}"#,
    );
    check_reply(
        Method::FsExists,
        &VfsReply::Exists(true),
        r#"{"exists":true}"#,
    );
    check_reply(
        Method::FsExists,
        &VfsReply::Exists(false),
        r#"{"exists":false}"#,
    );
    check_request(
        VfsRequest::FsMetadata(FsPath::new("src/main.rs")),
        r#"{"path":"src/main.rs"}"#,
    );
    check_reply(
        Method::FsMetadata,
        &VfsReply::Metadata(MetadataReply {
            kind: EntryKind::File,
            size: 1234,
            etag: None,
        }),
        r#"{"kind":"file","size":1234}"#,
    );
}

#[test]
fn v053_to_v056_list_dir() {
    let entry = |path: &'static str, kind| Entry {
        path: path.into(),
        kind,
    };
    let entries = vec![
        entry("main.rs", EntryKind::File),
        entry("lib.rs", EntryKind::File),
        entry("cmd", EntryKind::Dir),
    ];
    check_request(
        VfsRequest::FsListDir(FsListDir::new("src")),
        r#"{"path":"src"}"#,
    );
    check_reply(
        Method::FsListDir,
        &VfsReply::List(ListReply {
            entries,
            next_cursor: None,
        }),
        r#"{"entries":[{"path":"main.rs","kind":"file"},{"path":"lib.rs","kind":"file"},{"path":"cmd","kind":"dir"}]}"#,
    );
    check_request(
        VfsRequest::FsListDir(FsListDir {
            cursor: Some("c1".into()),
            limit: Some(100),
            ..FsListDir::new(".")
        }),
        r#"{"path":".","cursor":"c1","limit":100}"#,
    );
    check_reply(
        Method::FsListDir,
        &VfsReply::List(ListReply {
            entries: vec![entry("pipe", EntryKind::Other)],
            next_cursor: Some("c2".into()),
        }),
        r#"{"entries":[{"path":"pipe","kind":"other"}],"next_cursor":"c2"}"#,
    );
}

#[test]
fn v058_v059_x49_x57_delete_and_rename() {
    check_request(
        VfsRequest::FsDelete(FsDelete::new("tmp/scratch.txt")),
        r#"{"path":"tmp/scratch.txt"}"#,
    );
    check_request(
        VfsRequest::FsDelete(FsDelete {
            recursive: true,
            if_match: Some("x".into()),
            ..FsDelete::new("tmp")
        }),
        r#"{"path":"tmp","recursive":true,"if_match":"x"}"#,
    );
    check_request(
        VfsRequest::FsRename(FsRename::new("old.rs", "new.rs")),
        r#"{"from":"old.rs","to":"new.rs"}"#,
    );
    check_request(
        VfsRequest::FsRename(FsRename {
            overwrite: false,
            ..FsRename::new("a", "b")
        }),
        r#"{"from":"a","to":"b","overwrite":false}"#,
    );
    check_reply(Method::FsDelete, &VfsReply::DONE, "{}");
    check_reply(Method::FsRename, &VfsReply::DONE, "{}");
}

#[test]
fn v060_to_v064_x52_grep() {
    check_request(
        VfsRequest::FsGrep(FsGrep {
            paths: Some(texts(&["src"])),
            extensions: Some(texts(&["rs"])),
            context: 2,
            ..FsGrep::new("fn main")
        }),
        r#"{"pattern":"fn main","paths":["src"],"extensions":["rs"],"context":2}"#,
    );
    // V-061: what is omitted, and what is empty, are two things.
    check_request(VfsRequest::FsGrep(FsGrep::new("a")), r#"{"pattern":"a"}"#);
    check_request(
        VfsRequest::FsGrep(FsGrep {
            paths: Some(Vec::new()),
            literal: true,
            ignore_case: true,
            ..FsGrep::new("a")
        }),
        r#"{"pattern":"a","paths":[],"literal":true,"ignore_case":true}"#,
    );
    check_request(
        VfsRequest::FsGrep(FsGrep {
            all: true,
            ..FsGrep::new("a")
        }),
        r#"{"pattern":"a","all":true}"#,
    );
    let line = |line_number, content: &'static str, is_match| MatchedLine {
        line_number,
        content: content.into(),
        is_match,
    };
    let matches = vec![FileMatches {
        path: "src/main.rs".into(),
        lines: vec![
            line(1, "fn main() {", true),
            line(2, "    println!(\"hello\");", false),
            line(3, "}", false),
        ],
    }];
    check_reply(
        Method::FsGrep,
        &VfsReply::Grep(GrepReply {
            matches,
            ..GrepReply::default()
        }),
        r#"{"matches":[{"path":"src/main.rs","lines":[{"line_number":1,"content":"fn main() {","is_match":true},{"line_number":2,"content":"    println!(\"hello\");","is_match":false},{"line_number":3,"content":"}","is_match":false}]}]}"#,
    );
    check_reply(
        Method::FsGrep,
        &VfsReply::Grep(GrepReply {
            matches: Vec::new(),
            skipped: 3,
            ignored: 2,
            truncated: true,
        }),
        r#"{"matches":[],"skipped":3,"ignored":2,"truncated":true}"#,
    );
}

#[test]
fn v070_to_v076_http() {
    let header = |name: &'static str, value: &'static str| Header {
        name: name.into(),
        value: value.into(),
    };
    check_request(
        VfsRequest::HttpGet(HttpGet {
            url: "https://api.github.com/repos/owner/repo".into(),
            headers: vec![header("Authorization", "Bearer ${GITHUB_TOKEN}")],
        }),
        r#"{"url":"https://api.github.com/repos/owner/repo","headers":[{"name":"Authorization","value":"Bearer ${GITHUB_TOKEN}"}]}"#,
    );
    check_reply(
        Method::HttpGet,
        &VfsReply::Http(HttpReply {
            status: 200,
            body: Payload::from("{\"id\": 123, ...}"),
        }),
        r#"{"status":200,"body":"{\"id\": 123, ...}"}"#,
    );
    check_request(
        VfsRequest::HttpPost(HttpPost {
            url: "https://api.example.com/data".into(),
            headers: vec![header("Content-Type", "application/json")],
            body: Payload::from("{\"key\": \"value\"}"),
        }),
        r#"{"url":"https://api.example.com/data","headers":[{"name":"Content-Type","value":"application/json"}],"body":"{\"key\": \"value\"}"}"#,
    );
    check_request(
        VfsRequest::HttpPost(HttpPost {
            url: "u".into(),
            headers: Vec::new(),
            body: Payload::from(&b"\xff"[..]),
        }),
        r#"{"url":"u","headers":[],"body":"/w==","encoding":"base64"}"#,
    );
    check_reply(
        Method::HttpPost,
        &VfsReply::Http(HttpReply {
            status: 201,
            body: Payload::from("{\"id\": 456}"),
        }),
        r#"{"status":201,"body":"{\"id\": 456}"}"#,
    );
    check_reply(
        Method::HttpGet,
        &VfsReply::Http(HttpReply {
            status: 200,
            body: Payload::from(&b"\xff"[..]),
        }),
        r#"{"status":200,"body":"/w==","encoding":"base64"}"#,
    );
}

fn object(value: Value) -> serde_json::Map<String, Value> {
    match value {
        Value::Object(members) => members,
        other => panic!("{other}"),
    }
}

#[test]
fn v090_to_v094_init() {
    let tool = ToolInput {
        name: "fs_modify_file".to_owned(),
        arguments: object(json!({"path": "src/main.rs", "patterns": [1]})),
        answers: object(json!({})),
        options: object(json!({"confirmation_mode": true})),
    };
    let line = r#"{"jsonrpc":"2.0","method":"init","params":{"tool":{"name":"fs_modify_file","arguments":{"path":"src/main.rs","patterns":[1]},"answers":{},"options":{"confirmation_mode":true}},"protocol_version":"0.1.0"}}"#;
    let plain = Init::new(tool);
    assert_eq!(written(|out| host::write_init(out, &plain)), line);
    assert_eq!(host_line(line), HostLine::Init(Box::new(plain.clone())));

    let rule = FsRule::new(
        ".",
        FsGrants {
            read: true,
            ..FsGrants::default()
        },
    );
    let access = Access {
        fs: vec![rule],
        ..Access::default()
    };
    let full = Init {
        supported: vec!["0.1.0".to_owned()],
        methods: Some(vec![Method::FsRead, Method::FsGrep]),
        limits: Some(SessionLimits::default()),
        capabilities: Capabilities {
            concurrency: NonZeroU32::new(32),
            ranges: true,
            ..Capabilities::PLAIN
        },
        context: Some(Context::new("/ws", Action::Run).with_access(access)),
        stateful: true,
        ..plain
    };
    let line = written(|out| host::write_init(out, &full));
    assert_eq!(host_line(&line), HostLine::Init(Box::new(full)));
    let additions = line
        .split_once(r#""protocol_version":"0.1.0","#)
        .expect("it comes first")
        .1;
    assert_eq!(
        additions,
        r#""supported":["0.1.0"],"methods":["fs.read","fs.grep"],"limits":{"message_bytes":16777216,"file_bytes":10000000,"silence_ms":60000,"response_ms":30000,"cancel_grace_ms":5000},"capabilities":{"concurrency":{"max_in_flight":32},"ranges":{}},"context":{"root":"/ws","action":"run","access":{"fs":[{"path":".","lexical_path":".","external":false,"approved_target":null,"read":true,"create":false,"update":false,"delete":false,"execute":false}],"net":[],"env":[]},"workspace_id":"jig","conversation_id":"jig"},"stateful":true}}"#
    );
}

#[test]
fn v171_v172_a_tool_passes_over_what_is_new() {
    let line = r#"{"jsonrpc":"2.0","method":"init","params":{"tool":{"name":"t","mood":"good"},"protocol_version":"0.9.0","methods":["fs.read","fs.teleport"],"limits":{"file_bytes":5,"planets":9},"moon":{}}}"#;
    let HostLine::Init(init) = host_line(line) else {
        panic!("it is init");
    };
    assert_eq!(
        (init.tool.name.as_str(), init.protocol_version.as_str()),
        ("t", "0.9.0")
    );
    assert_eq!(init.methods, Some(vec![Method::FsRead]));
    let limits = init.limits.expect("there are limits");
    assert_eq!((limits.file_bytes, limits.message_bytes), (5, 16_777_216));

    let line = r#"{"jsonrpc":"2.0","id":1,"result":{"content":"a","size":1,"mood":[{}],"mtime":7},"trace":1}"#;
    let HostLine::Reply { result, .. } = host_line(line) else {
        panic!("it is a reply");
    };
    assert_eq!(result.read(Method::FsRead), Ok(VfsReply::read("a")));

    let line = r#"{"jsonrpc":"2.0","method":"weather","params":{"sky":"blue"}}"#;
    assert_eq!(
        host_line(line),
        HostLine::Unknown {
            method: "\"weather\"".to_owned()
        }
    );
}

#[test]
fn v110_v122_v174_notifications_of_the_host() {
    let line = r#"{"jsonrpc":"2.0","method":"cancel"}"#;
    assert_eq!(written(host::write_cancel), line);
    assert_eq!(host_line(line), HostLine::Cancel);

    let apply = |line: &str, input: Value, question: Option<&str>| {
        assert_eq!(
            written(|out| host::write_apply(out, &input, question)),
            line
        );
        let question = question.map(str::to_owned);
        assert_eq!(host_line(line), HostLine::Apply { input, question });
    };
    let line = r#"{"jsonrpc":"2.0","method":"apply","params":{"input":"y"}}"#;
    apply(line, json!("y"), None);
    let line = r#"{"jsonrpc":"2.0","method":"apply","params":{"input":true,"question":"sure"}}"#;
    apply(line, json!(true), Some("sure"));
    let line = r#"{"jsonrpc":"2.0","method":"apply","params":{"input":null,"question":""}}"#;
    apply(line, json!(null), Some(""));
    // What should name a question and does not is neither an answer nor input.
    for question in ["7", "true", "[]", "{}"] {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"apply","params":{{"input":1,"question":{question}}}}}"#
        );
        let error = tool::read_line(line.as_bytes(), &Reading::PLAIN).unwrap_err();
        let BadHostLine::Field(error) = error else {
            panic!("{error:?}");
        };
        assert_eq!(error.at(), "question", "{line}");
    }

    let line = r#"{"jsonrpc":"2.0","method":"pending","params":{"request_id":1,"reason":"awaiting user approval"}}"#;
    assert_eq!(
        written(|out| host::write_pending(out, &Id::from(1), "awaiting user approval")),
        line
    );
    assert_eq!(
        host_line(line),
        HostLine::Pending {
            request_id: Id::from(1),
            reason: "awaiting user approval".into()
        }
    );
}

#[test]
fn v123_to_v125_states() {
    let check = |line: &str, expected: ToolState, is_canonical: bool| {
        let ToolLine::State(read) = tool_line(line) else {
            panic!("it is a state");
        };
        assert_eq!(read.value, expected);
        if is_canonical {
            assert_eq!(written(|out| tool::write_state(out, &expected)), line);
        }
    };
    check(
        r#"{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"Next hunk: ..."}}"#,
        ToolState::running("Next hunk: ..."),
        true,
    );
    let question = Question::yes_no("ok", "Really?");
    check(
        r#"{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","content":"Confirm?","question":{"id":"ok","text":"Really?","schema":{"type":"boolean"}}}}"#,
        ToolState::Waiting {
            content: Content::from("Confirm?"),
            question,
        },
        true,
    );
    check(
        r#"{"jsonrpc":"2.0","method":"state","params":{"type":"stopped","result":"Staged 3 hunks."}}"#,
        ToolState::succeeded("Staged 3 hunks."),
        true,
    );
    // X-01: the other spelling of the same.
    check(
        r#"{"jsonrpc":"2.0","method":"state","params":{"type":"stopped","result":{"Ok":"Staged 3 hunks."}}}"#,
        ToolState::succeeded("Staged 3 hunks."),
        false,
    );
}

#[test]
fn v143_x56_a_tool_gives_up_a_request() {
    let line = r#"{"jsonrpc":"2.0","method":"cancel","params":{"request_id":7}}"#;
    assert_eq!(written(|out| tool::write_cancel(out, &Id::from(7))), line);
    assert_eq!(
        tool_line(line),
        ToolLine::Cancel {
            request_id: Some(Id::from(7))
        }
    );
    for line in [
        r#"{"jsonrpc":"2.0","method":"cancel"}"#,
        r#"{"jsonrpc":"2.0","method":"cancel","params":{}}"#,
    ] {
        assert_eq!(tool_line(line), ToolLine::Cancel { request_id: None });
    }
}

#[test]
fn a_tool_picks_capabilities() {
    let ready = Ready {
        protocol_version: None,
        capabilities: Capabilities {
            concurrency: NonZeroU32::new(4),
            blobs: true,
            ..Capabilities::PLAIN
        },
    };
    let line = r#"{"jsonrpc":"2.0","method":"ready","params":{"capabilities":{"concurrency":{"max_in_flight":4},"blobs":{}}}}"#;
    assert_eq!(written(|out| tool::write_ready(out, &ready)), line);
    assert_eq!(tool_line(line), ToolLine::Ready(ready));
    for line in [
        r#"{"jsonrpc":"2.0","method":"ready"}"#,
        r#"{"jsonrpc":"2.0","method":"ready","params":{"capabilities":{"teleport":{}}}}"#,
    ] {
        assert_eq!(tool_line(line), ToolLine::Ready(Ready::default()));
    }
}

#[test]
fn blobs_follow_their_lines() {
    let request = VfsRequest::FsWrite(FsWrite::new("a", &b"\xff\n"[..]));
    let mut out = Vec::new();
    let blob = tool::write_request_with_blob(&mut out, &Id::from(1), &request);
    assert_eq!(
        String::from_utf8(out).expect("the line is UTF-8"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.write\",\"params\":{\"path\":\"a\"},\"blob\":2}\n"
    );
    assert_eq!(blob, b"\xff\n");

    let reply = VfsReply::read("text");
    let mut out = Vec::new();
    let blob = host::write_reply_with_blob(&mut out, &Id::from(1), &reply);
    assert_eq!(
        String::from_utf8(out).expect("the line is UTF-8"),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"size\":4},\"blob\":4}\n"
    );
    assert_eq!(blob, b"text");
    // What has no content has no blob.
    let mut out = Vec::new();
    assert_eq!(
        host::write_reply_with_blob(&mut out, &Id::from(1), &VfsReply::DONE),
        b""
    );
    assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
}

#[test]
fn a_tool_refuses_what_is_not_an_answer() {
    let check = |line: &str, expected: &str| {
        let error = tool::read_line(line.as_bytes(), &Reading::PLAIN).expect_err(line);
        assert_eq!(error.to_string(), expected, "{line}");
    };
    let neither = "the host's response is malformed: it has not either `result` or `error`";
    check(r#"{"jsonrpc":"2.0","id":1}"#, neither);
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1}}"#,
        neither,
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        "the host's response is malformed: `id` must be a number or a string",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"message":"x"}}"#,
        "the host's response is malformed: missing field `code`",
    );
    check(
        r#"{"id":1,"result":{}}"#,
        "the host's line is not a message",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"pending","params":{"reason":"x"}}"#,
        "the host's notification is malformed: `request_id` is missing",
    );
    let HostLine::Reply { result, .. } =
        host_line(r#"{"jsonrpc":"2.0","id":1,"result":{"entries":[1]}}"#)
    else {
        panic!("it is a reply");
    };
    assert_eq!(
        result
            .read(Method::FsListDir)
            .expect_err("it has no entries")
            .to_string(),
        "the host's answer to `fs.list_dir` is malformed: invalid type: integer `1`, expected an object"
    );
}
