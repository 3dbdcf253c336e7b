//! Properties of the VFS codec: what one side writes the other reads equal, however the stream is
//! cut, and nothing that either side sends can make reading panic.

use std::borrow::Cow;
use std::num::NonZeroU32;
use std::time::Duration;

use jig_proto::json::JsonLimits;
use jig_proto::vfs::host::{self, ToolLine, ToolLineFault};
use jig_proto::vfs::tool::{self, HostLine};
use jig_proto::vfs::{
    Capabilities, DescriptorReply, DoneReply, Edit, Entry, EntryKind, ErrorKind, ErrorReply,
    FileMatches, Frame, FsAppend, FsDelete, FsGrep, FsListDir, FsPatch, FsPath, FsRead, FsRename,
    FsWrite, GrepReply, Header, HttpGet, HttpPost, HttpReply, Id, Init, LineBuffer, ListReply,
    MatchedLine, MetadataReply, Method, Payload, ProcessOutput, ProcessRead, ProcessReply,
    ProcessRun, ProcessStart, ProcessStop, ProcessWrite, ReadReply, Reading, Ready, SessionLimits,
    StartedProcess, TerminalSize, ToolInput, VfsReply, VfsRequest,
};
use jig_proto::{CutReport, Fetch, TerminalReport, View};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Text with what breaks careless code: quotes, escapes, line ends, NUL, other scripts.
fn text() -> impl Strategy<Value = Cow<'static, str>> {
    prop_oneof![
        4 => "[a-z/. ]{0,12}",
        1 => "[\"\\\\`{}\\[\\],:\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{2028}\u{202e}\u{feff}é😀]{0,12}",
    ]
    .prop_map(Cow::Owned)
}

fn texts() -> impl Strategy<Value = Vec<Cow<'static, str>>> {
    vec(text(), 0..4)
}

/// Content in the form that its bytes have.
fn payload() -> impl Strategy<Value = Payload<'static>> {
    prop_oneof![
        text().prop_map(Payload::Text),
        vec(any::<u8>(), 0..40).prop_map(Payload::from),
    ]
}

fn id() -> impl Strategy<Value = Id<'static>> {
    prop_oneof![
        any::<u64>().prop_map(Id::from),
        text().prop_map(|text| Id::from(text.as_ref()).into_owned()),
    ]
}

fn header() -> impl Strategy<Value = Header<'static>> {
    (text(), text()).prop_map(|(name, value)| Header { name, value })
}

fn edit() -> impl Strategy<Value = Edit<'static>> {
    (text(), text(), any::<bool>()).prop_map(|(old, new, all)| Edit { old, new, all })
}

fn fs_request() -> impl Strategy<Value = VfsRequest<'static>> {
    let etag = || option::of(text());
    let path = || text().prop_map(|path| FsPath { path });
    prop_oneof![
        (
            text(),
            any::<Option<u64>>(),
            any::<Option<u64>>(),
            any::<bool>(),
            any::<bool>()
        )
            .prop_map(|(path, offset, length, blob, fd)| {
                VfsRequest::FsRead(FsRead {
                    path,
                    offset,
                    length,
                    blob,
                    fd,
                })
            }),
        (text(), payload(), any::<bool>(), etag()).prop_map(
            |(path, content, exclusive, if_match)| {
                VfsRequest::FsWrite(FsWrite {
                    path,
                    content,
                    exclusive,
                    if_match,
                })
            }
        ),
        (text(), payload(), etag()).prop_map(|(path, content, if_match)| {
            VfsRequest::FsAppend(FsAppend {
                path,
                content,
                if_match,
            })
        }),
        (text(), vec(edit(), 0..4), etag()).prop_map(|(path, edits, if_match)| {
            VfsRequest::FsPatch(FsPatch {
                path,
                edits,
                if_match,
            })
        }),
        path().prop_map(VfsRequest::FsExists),
        path().prop_map(VfsRequest::FsMetadata),
        path().prop_map(VfsRequest::FsMkdir),
        (text(), option::of(text()), any::<Option<u32>>()).prop_map(|(path, cursor, limit)| {
            VfsRequest::FsListDir(FsListDir {
                path,
                cursor,
                limit,
            })
        }),
        (text(), any::<bool>(), etag()).prop_map(|(path, recursive, if_match)| {
            VfsRequest::FsDelete(FsDelete {
                path,
                recursive,
                if_match,
            })
        }),
        (text(), text(), any::<bool>()).prop_map(|(from, to, overwrite)| {
            VfsRequest::FsRename(FsRename {
                from,
                to,
                overwrite,
            })
        }),
        (
            text(),
            option::of(texts()),
            option::of(texts()),
            any::<(u32, bool, bool, bool)>()
        )
            .prop_map(
                |(pattern, paths, extensions, (context, literal, ignore_case, all))| {
                    VfsRequest::FsGrep(FsGrep {
                        pattern,
                        paths,
                        extensions,
                        context,
                        literal,
                        ignore_case,
                        all,
                    })
                }
            ),
    ]
}

fn request() -> impl Strategy<Value = VfsRequest<'static>> {
    prop_oneof![
        11 => fs_request(),
        1 => (text(), vec(header(), 0..3))
            .prop_map(|(url, headers)| VfsRequest::HttpGet(HttpGet { url, headers })),
        1 => (text(), vec(header(), 0..3), payload()).prop_map(|(url, headers, body)| {
            VfsRequest::HttpPost(HttpPost { url, headers, body })
        }),
        1 => (text(), texts(), texts(), option::of(text())).prop_map(|(program, args, envs, cwd)| {
            VfsRequest::ProcessRun(ProcessRun { program, args, envs, cwd })
        }),
        4 => process_request(),
    ]
}

fn process_request() -> impl Strategy<Value = VfsRequest<'static>> {
    let terminal = any::<(u16, u16)>().prop_map(|(rows, cols)| TerminalSize { rows, cols });
    let start = (
        text(),
        texts(),
        texts(),
        option::of(text()),
        option::of(terminal),
    )
        .prop_map(|(program, args, envs, cwd, terminal)| {
            VfsRequest::ProcessStart(ProcessStart {
                program,
                args,
                envs,
                cwd,
                terminal,
            })
        });
    let view = prop::sample::select(View::ALL.to_vec());
    let wait = (0_u64..=600_000).prop_map(Duration::from_millis);
    let numbers = any::<(u64, Option<u64>, Option<usize>, bool)>();
    let read = (view, option::of(wait), numbers).prop_map(
        |(view, wait, (process, after_seq, max_bytes, settle))| {
            VfsRequest::ProcessRead(ProcessRead {
                process,
                fetch: Fetch {
                    view,
                    after_seq,
                    max_bytes,
                    wait,
                },
                settle,
            })
        },
    );
    let write = (any::<u64>(), value())
        .prop_map(|(process, input)| VfsRequest::ProcessWrite(ProcessWrite { process, input }));
    let stop = any::<u64>().prop_map(|process| VfsRequest::ProcessStop(ProcessStop { process }));
    prop_oneof![start, read, write, stop]
}

fn process_output() -> impl Strategy<Value = ProcessOutput<'static>> {
    let cut = (any::<u64>(), text()).prop_map(|(bytes, hint)| CutReport {
        bytes,
        hint: hint.into_owned(),
    });
    let terminal =
        any::<([u16; 4], bool)>().prop_map(|([rows, cols, row, col], alternate)| TerminalReport {
            rows,
            cols,
            cursor: [row, col],
            alternate,
        });
    let plain = any::<(bool, u64, Option<i32>, Option<i32>)>();
    (text(), option::of(cut), option::of(terminal), plain).prop_map(
        |(content, cut, terminal, (running, seq, exit_code, signal))| ProcessOutput {
            running,
            content,
            seq,
            cut,
            terminal,
            exit_code,
            signal,
        },
    )
}

fn kind() -> impl Strategy<Value = EntryKind> {
    prop_oneof![
        Just(EntryKind::File),
        Just(EntryKind::Dir),
        Just(EntryKind::Other)
    ]
}

fn file_matches() -> impl Strategy<Value = FileMatches<'static>> {
    let line =
        (any::<u64>(), text(), any::<bool>()).prop_map(|(line_number, content, is_match)| {
            MatchedLine {
                line_number,
                content,
                is_match,
            }
        });
    (text(), vec(line, 0..4)).prop_map(|(path, lines)| FileMatches { path, lines })
}

/// A reply, and a method that it may answer.
fn reply() -> impl Strategy<Value = (Method, VfsReply<'static>)> {
    let etag = || option::of(text());
    let change = prop::sample::select(vec![
        Method::FsWrite,
        Method::FsAppend,
        Method::FsPatch,
        Method::FsMkdir,
        Method::FsDelete,
        Method::FsRename,
        Method::ProcessWrite,
    ]);
    let output = prop::sample::select(vec![Method::ProcessRead, Method::ProcessStop]);
    let http = prop::sample::select(vec![Method::HttpGet, Method::HttpPost]);
    let entry = (text(), kind()).prop_map(|(path, kind)| Entry { path, kind });
    prop_oneof![
        (payload(), any::<u64>(), etag()).prop_map(|(content, size, etag)| {
            (
                Method::FsRead,
                VfsReply::Read(ReadReply {
                    content,
                    size,
                    etag,
                }),
            )
        }),
        (any::<u64>(), etag()).prop_map(|(size, etag)| {
            (
                Method::FsRead,
                VfsReply::Descriptor(DescriptorReply { size, etag }),
            )
        }),
        (change, etag()).prop_map(|(method, etag)| (method, VfsReply::Done(DoneReply { etag }))),
        any::<bool>().prop_map(|exists| (Method::FsExists, VfsReply::Exists(exists))),
        any::<u64>().prop_map(|process| (
            Method::ProcessStart,
            VfsReply::Started(StartedProcess { process })
        )),
        (output, process_output()).prop_map(|(method, output)| (method, VfsReply::Output(output))),
        (vec(entry, 0..4), etag()).prop_map(|(entries, next_cursor)| {
            (
                Method::FsListDir,
                VfsReply::List(ListReply {
                    entries,
                    next_cursor,
                }),
            )
        }),
        (kind(), any::<u64>(), etag()).prop_map(|(kind, size, etag)| {
            (
                Method::FsMetadata,
                VfsReply::Metadata(MetadataReply { kind, size, etag }),
            )
        }),
        (
            vec(file_matches(), 0..3),
            any::<(u64, u64)>(),
            any::<bool>()
        )
            .prop_map(|(matches, (skipped, ignored), truncated)| {
                (
                    Method::FsGrep,
                    VfsReply::Grep(GrepReply {
                        matches,
                        skipped,
                        ignored,
                        truncated,
                    }),
                )
            }),
        (http, any::<u16>(), payload()).prop_map(|(method, status, body)| {
            (method, VfsReply::Http(HttpReply { status, body }))
        }),
        (text(), text(), any::<i32>(), any::<bool>()).prop_map(
            |(stdout, stderr, exit_code, truncated)| {
                let reply = ProcessReply {
                    stdout,
                    stderr,
                    exit_code,
                    truncated,
                };
                (Method::ProcessRun, VfsReply::Process(reply))
            }
        ),
    ]
}

fn error() -> impl Strategy<Value = ErrorReply> {
    let owned = || option::of(text().prop_map(Cow::into_owned));
    let kind = prop::sample::select(ErrorKind::ALL.to_vec());
    (kind, text(), owned(), owned(), owned(), any::<bool>()).prop_map(
        |(kind, message, path, rule, hint, retryable)| {
            let mut error = ErrorReply::new(kind, message).with_retryable(retryable);
            (error.data.path, error.data.rule, error.data.hint) = (path, rule, hint);
            error
        },
    )
}

fn capabilities() -> impl Strategy<Value = Capabilities> {
    (any::<u32>(), any::<[bool; 6]>()).prop_map(
        |(most, [pending, pages, ranges, etag, blobs, fd_pass])| Capabilities {
            concurrency: NonZeroU32::new(most),
            pending,
            pages,
            ranges,
            etag,
            blobs,
            fd_pass,
        },
    )
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has finite numbers", |number| number.is_finite())
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            members(inner).prop_map(Value::Object),
        ]
    })
}

fn members(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    vec((text(), value), 0..4).prop_map(|members| {
        members
            .into_iter()
            .map(|(key, value)| (key.into_owned(), value))
            .collect()
    })
}

fn init() -> impl Strategy<Value = Init> {
    let tool = (text(), members(value()), members(value()), members(value())).prop_map(
        |(name, arguments, answers, options)| ToolInput {
            name: name.into_owned(),
            arguments,
            answers,
            options,
        },
    );
    let owned = || text().prop_map(Cow::into_owned);
    let limits = any::<(u64, u64, u32)>().prop_map(|(message, file, millis)| {
        let mut limits = SessionLimits::default();
        limits.message_bytes = message;
        limits.file_bytes = file;
        limits.silence = Duration::from_millis(millis.into());
        limits
    });
    let methods = prop::sample::subsequence(Method::ALL.to_vec(), 0..=Method::ALL.len());
    (
        tool,
        owned(),
        vec(owned(), 0..3),
        option::of(methods),
        option::of(limits),
        capabilities(),
        any::<bool>(),
    )
        .prop_map(
            |(tool, protocol_version, supported, methods, limits, capabilities, stateful)| Init {
                stateful,
                protocol_version,
                supported,
                methods,
                limits,
                capabilities,
                ..Init::new(tool)
            },
        )
}

/// What a line is made of when it is broken.
fn mutation() -> impl Strategy<Value = (prop::sample::Index, u8, u8)> {
    (any::<prop::sample::Index>(), any::<u8>(), 0_u8..3)
}

fn mutate(mut line: Vec<u8>, changes: Vec<(prop::sample::Index, u8, u8)>) -> Vec<u8> {
    for (index, byte, change) in changes {
        if line.is_empty() {
            break;
        }
        let at = index.index(line.len());
        match change {
            0 => line[at] = byte,
            1 => line.insert(at, byte),
            _ => {
                line.remove(at);
            }
        }
    }
    line
}

const BLOBS: fn() -> Reading = || Reading::PLAIN.with_blobs(true);

/// Puts a line through everything that reads lines. The property is that this returns.
fn read_everything(line: &[u8]) {
    for reading in [
        Reading::PLAIN,
        BLOBS(),
        Reading::PLAIN.with_limits(JsonLimits::SHORT),
    ] {
        match host::read_line(line, &reading) {
            Ok(ToolLine::Request { request, .. }) => drop(request.into_owned()),
            Ok(ToolLine::RequestWithBlob { request, .. }) => {
                drop(request.into_owned().with_content(line));
            }
            Ok(other) => drop(other),
            Err(ToolLineFault::Answer { id, error, .. }) => {
                let mut out = Vec::new();
                host::write_error(&mut out, id.as_ref(), &error);
                assert!(out.len() < 4_096, "an error is short: {}", out.len());
                assert!(tool::read_line(&out, &reading).is_ok());
            }
            Err(other) => drop(other.to_string()),
        }
        match tool::read_line(line, &reading) {
            Ok(HostLine::Reply { result, .. }) => {
                for method in Method::ALL {
                    let _ = result.read(method).map(VfsReply::into_owned);
                }
            }
            Ok(HostLine::ReplyWithBlob { result, .. }) => {
                for method in Method::ALL {
                    let _ = result.clone().into_owned().read_with_blob(method, line);
                }
            }
            _ => {}
        }
    }
}

/// Hands `stream` to a buffer in pieces of these sizes.
fn lines_of(stream: &[u8], sizes: &[usize], mut each: impl FnMut(&[u8])) {
    let mut buffer = LineBuffer::new(1 << 20);
    let mut rest = stream;
    let mut sizes = sizes.iter().cycle();
    while !rest.is_empty() {
        let size = sizes
            .next()
            .map_or(rest.len(), |&size| size.clamp(1, rest.len()));
        let (mut input, behind) = rest.split_at(size);
        rest = behind;
        while let Some(frame) = buffer.next(&mut input) {
            match frame {
                Frame::Line(line) => each(line),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(buffer.finish(), None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn v190_a_request_reads_back_equal(id in id(), request in request()) {
        let mut line = Vec::new();
        tool::write_request(&mut line, &id, &request);
        prop_assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        for reading in [Reading::PLAIN, BLOBS()] {
            let read = host::read_line(&line, &reading).unwrap();
            let expected = ToolLine::Request { id: id.clone(), request: request.clone() };
            prop_assert_eq!(&read, &expected);
            let ToolLine::Request { request: owned, .. } = read else { unreachable!() };
            prop_assert_eq!(owned.into_owned(), request.clone());
        }
    }

    #[test]
    fn v190_a_reply_reads_back_equal(id in id(), (method, reply) in reply()) {
        let mut line = Vec::new();
        host::write_reply(&mut line, &id, &reply);
        prop_assert_eq!(line.iter().filter(|&&byte| byte == b'\n').count(), 1);
        let HostLine::Reply { id: read_id, result } = tool::read_line(&line, &BLOBS()).unwrap() else {
            panic!("it is a reply");
        };
        prop_assert_eq!(read_id, id);
        let read = result.read(method).unwrap();
        prop_assert_eq!(&read, &reply);
        prop_assert_eq!(read.into_owned(), reply);
    }

    #[test]
    fn a_request_with_a_blob_reads_back_equal(id in id(), request in request(), sizes in vec(1_usize..20, 1..4)) {
        let mut stream = Vec::new();
        let blob = tool::write_request_with_blob(&mut stream, &id, &request);
        stream.extend_from_slice(blob);
        stream.extend_from_slice(b"{}\n");
        let (mut buffer, mut read, mut after) = (LineBuffer::new(1 << 20), None, 0);
        let mut waiting = None;
        let mut rest = stream.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break }
            let (mut input, behind) = rest.split_at(rest.len().min(*size));
            rest = behind;
            while let Some(frame) = buffer.next(&mut input) {
                let mut expected = None;
                match frame {
                    Frame::Line(b"{}") => after += 1,
                    Frame::Line(line) => match host::read_line(line, &BLOBS()).unwrap() {
                        ToolLine::Request { request, .. } => read = Some(request.into_owned()),
                        ToolLine::RequestWithBlob { request, length, .. } => {
                            waiting = Some(request.into_owned());
                            expected = Some(length);
                        }
                        other => panic!("{other:?}"),
                    },
                    Frame::Blob(bytes) => {
                        let request = waiting.take().expect("a request waits");
                        read = Some(request.with_content(bytes.into_owned()));
                    }
                    other => panic!("{other:?}"),
                }
                if let Some(length) = expected {
                    buffer.expect_blob(length);
                }
            }
        }
        prop_assert_eq!(read, Some(request));
        prop_assert_eq!(after, 1);
    }

    #[test]
    fn a_reply_with_a_blob_reads_back_equal(id in id(), (method, reply) in reply()) {
        let mut line = Vec::new();
        let blob = host::write_reply_with_blob(&mut line, &id, &reply).to_vec();
        match tool::read_line(&line, &BLOBS()).unwrap() {
            HostLine::Reply { result, .. } => prop_assert_eq!(result.read(method).unwrap(), reply),
            HostLine::ReplyWithBlob { result, length, .. } => {
                prop_assert_eq!(length, blob.len() as u64);
                prop_assert_eq!(result.read_with_blob(method, blob).unwrap(), reply);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_error_reads_back_equal(id in option::of(id()), error in error()) {
        let mut line = Vec::new();
        host::write_error(&mut line, id.as_ref(), &error);
        prop_assert_eq!(tool::read_line(&line, &Reading::PLAIN).unwrap(), HostLine::Error { id, error });
    }

    #[test]
    fn notifications_read_back_equal(id in id(), reason in text(), input in value(), question in option::of(text()), init in init(), capabilities in capabilities()) {
        let mut out = Vec::new();
        host::write_init(&mut out, &init);
        host::write_pending(&mut out, &id, &reason);
        host::write_apply(&mut out, &input, question.as_deref());
        let mut expected = vec![
            HostLine::Init(Box::new(init)),
            HostLine::Pending { request_id: id.clone(), reason },
            HostLine::Apply { input, question: question.map(Cow::into_owned) },
        ]
        .into_iter();
        lines_of(&out, &[7], |line| {
            assert_eq!(Some(tool::read_line(line, &Reading::PLAIN).unwrap()), expected.next());
        });

        let mut out = Vec::new();
        let ready = Ready { protocol_version: None, capabilities };
        tool::write_ready(&mut out, &ready);
        tool::write_cancel(&mut out, &id);
        let mut expected =
            vec![ToolLine::Ready(ready), ToolLine::Cancel { request_id: Some(id) }].into_iter();
        lines_of(&out, &[7], |line| {
            assert_eq!(Some(host::read_line(line, &Reading::PLAIN).unwrap()), expected.next());
        });
    }

    #[test]
    fn v190_a_stream_may_be_cut_anywhere(requests in vec(request(), 0..5), sizes in vec(1_usize..100, 1..5)) {
        let mut stream = Vec::new();
        for (number, request) in requests.iter().enumerate() {
            tool::write_request(&mut stream, &Id::from(number as u64), request);
        }
        let mut found = Vec::new();
        lines_of(&stream, &sizes, |line| match host::read_line(line, &Reading::PLAIN).unwrap() {
            ToolLine::Request { id, request } => found.push((id.as_u64(), request.into_owned())),
            other => panic!("{other:?}"),
        });
        let expected: Vec<_> = (0..).map(Some).zip(requests).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn half_a_line_is_never_a_message(id in id(), request in request(), end in any::<prop::sample::Index>()) {
        let mut line = Vec::new();
        tool::write_request(&mut line, &id, &request);
        let cut = &line[..end.index(line.len() - 1)];
        let fault = host::read_line(cut, &Reading::PLAIN).unwrap_err();
        let is_malformed = matches!(fault, ToolLineFault::Answer { id: None, error, .. } if error.code() == -32600);
        prop_assert!(is_malformed);
    }

    #[test]
    fn random_bytes_never_panic(line in vec(any::<u8>(), 0..200)) {
        read_everything(&line);
    }

    #[test]
    fn random_messages_never_panic(method in prop_oneof![
        prop::sample::select(Method::ALL.map(Method::name).to_vec()),
        prop::sample::select(vec!["result", "error", "state", "cancel", "ready", "init", "apply", "pending", "x"]),
    ], id in value(), params in value(), result in value(), blob in value()) {
        for message in [
            serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params, "blob": blob}),
            serde_json::json!({"jsonrpc": "2.0", "method": method, "params": params}),
            serde_json::json!({"jsonrpc": "2.0", "id": id, "result": result, "blob": blob}),
            serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": result}),
            serde_json::json!({"jsonrpc": "2.0", "id": 1, "error": result}),
        ] {
            read_everything(message.to_string().as_bytes());
        }
    }

    #[test]
    fn mutated_messages_never_panic(request in request(), (_, reply) in reply(), init in init(), changes in vec(mutation(), 1..4)) {
        let mut line = Vec::new();
        tool::write_request(&mut line, &Id::from(1), &request);
        read_everything(&mutate(line, changes.clone()));
        let mut line = Vec::new();
        host::write_reply(&mut line, &Id::from(1), &reply);
        read_everything(&mutate(line, changes.clone()));
        let mut line = Vec::new();
        host::write_init(&mut line, &init);
        read_everything(&mutate(line, changes));
    }

    /// Whatever arrives, in whatever pieces, the buffer stays within its limit and says the same.
    #[test]
    fn the_buffer_is_bounded_and_indifferent_to_pieces(
        stream in vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b' '), any::<u8>()], 0..200),
        sizes in vec(1_usize..40, 1..5),
        limit in 0_usize..20,
    ) {
        let run = |sizes: &[usize]| {
            let mut buffer = LineBuffer::new(limit);
            let mut found = Vec::new();
            let mut rest = stream.as_slice();
            for size in sizes.iter().cycle() {
                if rest.is_empty() { break }
                let (mut input, behind) = rest.split_at(rest.len().min(*size));
                rest = behind;
                while let Some(frame) = buffer.next(&mut input) {
                    found.push(format!("{frame:?}"));
                }
                assert!(buffer.memory() <= limit + 1);
            }
            found.extend(buffer.finish().map(|frame| format!("{frame:?}")));
            found
        };
        prop_assert_eq!(run(&sizes), run(&[1000]));
    }
}
