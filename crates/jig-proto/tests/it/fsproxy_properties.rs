//! Properties of the FS Proxy's codecs: what one side writes the other reads equal, however the stream
//! is cut, and nothing that either side sends can make reading panic or take more than its limit.

use std::borrow::Cow;

use jig_proto::fsproxy::legacy::{self, CommandBuffer, LegacyCommand};
use jig_proto::fsproxy::{
    Data, FrameBuffer, ListParams, LlmCmd, LlmMessage, LlmReply, LlmRole, MAX_FRAME, MAX_ID, Op,
    OpenMode, OpenParams, ProxyError, ProxyErrorCode, ProxyRequest, QuotaReport, ReadParams,
    TokenUsage, WriteParams, read_request, read_response, write_answer, write_data, write_done,
    write_error, write_handle, write_refusal, write_request, write_result, write_written,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// Text with what breaks careless code: quotes, escapes, line ends, NUL, other scripts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z/. ]{0,12}",
        1 => "[\"\\\\`{}\\[\\],:\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{2028}\u{202e}\u{feff}é😀]{0,12}",
    ]
}

/// A number that is as often small as of any size.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0..10_000_u64, any::<u64>()]
}

/// A number that JSON writes and reads again as it is.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0..100_000_u32).prop_map(|quarters| f64::from(quarters) / 4.0),
        any::<f64>().prop_filter("JSON has no others", |float| float.is_finite()),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![vec(any::<u8>(), 0..40), vec(any::<u8>(), 4096)]
}

fn llm_cmd() -> impl Strategy<Value = LlmCmd> {
    let role = prop_oneof![
        Just(LlmRole::System),
        Just(LlmRole::User),
        Just(LlmRole::Assistant)
    ];
    let message = (role, text()).prop_map(|(role, content)| LlmMessage::new(role, content));
    let inputs = (
        option::of(text()),
        vec(message, 0..4),
        option::of(text()),
        vec(number(), 0..4),
        vec(text(), 0..4),
    );
    let streams = (
        option::of(number()),
        option::of(number()),
        option::of(number()),
        any::<bool>(),
    );
    let options = (
        option::of(number()),
        option::of(float()),
        any::<Option<bool>>(),
    );
    (inputs, streams, options).prop_map(|(inputs, streams, options)| LlmCmd {
        prompt: inputs.0,
        messages: inputs.1,
        input: inputs.2,
        files: inputs.3,
        paths: inputs.4,
        stdin: streams.0,
        stdout: streams.1,
        stderr: streams.2,
        stream: streams.3,
        max_tokens: options.0,
        temperature: options.1,
        is_top_level: options.2,
    })
}

fn op() -> impl Strategy<Value = Op<'static>> {
    let mode = prop::sample::select(OpenMode::ALL.to_vec());
    let path = text().prop_filter("a path is not empty", |path| !path.is_empty());
    let data = prop_oneof![
        4 => bytes().prop_map(|bytes| Data::encode(&bytes)),
        1 => text().prop_map(Data::from_text),
    ];
    prop_oneof![
        (path, mode, any::<Option<bool>>()).prop_map(|(path, mode, is_top_level)| {
            Op::Open(OpenParams {
                path: Cow::Owned(path),
                mode,
                is_top_level,
            })
        }),
        (number(), number()).prop_map(|(handle, max)| Op::Read(ReadParams { handle, max })),
        (number(), data, any::<bool>()).prop_map(|(handle, data, last)| Op::Write(WriteParams {
            handle,
            data,
            last
        })),
        number().prop_map(|handle| Op::Close { handle }),
        (text(), option::of(text())).prop_map(|(path, after)| {
            Op::List(ListParams {
                path: Cow::Owned(format!("p{path}")),
                after: after.map(Cow::Owned),
            })
        }),
        Just(Op::Quota),
        llm_cmd().prop_map(|command| Op::LlmCmd(Box::new(command))),
    ]
}

fn quota() -> impl Strategy<Value = QuotaReport> {
    let counts = (number(), number(), number(), number());
    let amounts = (float(), float(), float());
    (amounts, option::of(float()), option::of(float()), counts).prop_map(
        |(amounts, remaining, percent, counts)| QuotaReport {
            used: amounts.0,
            reserved: amounts.1,
            limit: amounts.2,
            remaining,
            percent,
            calls: counts.0,
            input_tokens: counts.1,
            cached_tokens: counts.2,
            output_tokens: counts.3,
        },
    )
}

fn reply() -> impl Strategy<Value = LlmReply> {
    let usage = (number(), number(), number(), float()).prop_map(
        |(input_tokens, cached_tokens, output_tokens, weighted)| TokenUsage {
            input_tokens,
            cached_tokens,
            output_tokens,
            weighted,
        },
    );
    let texts = (option::of(text()), text(), text());
    (texts, option::of(number()), usage, quota()).prop_map(|(texts, written, usage, quota)| {
        LlmReply {
            content: texts.0,
            written,
            model: texts.1,
            finish_reason: texts.2,
            usage,
            quota,
        }
    })
}

/// What a server may answer.
#[derive(Debug, Clone)]
enum Given {
    Handle(u64),
    Data(Vec<u8>, bool),
    Written(u64),
    Done,
    Quota(QuotaReport),
    Reply(Box<LlmReply>),
    Error(ProxyError),
}

fn given() -> impl Strategy<Value = Given> {
    let code = prop::sample::select(ProxyErrorCode::ALL.to_vec());
    prop_oneof![
        number().prop_map(Given::Handle),
        (bytes(), any::<bool>()).prop_map(|(bytes, eof)| Given::Data(bytes, eof)),
        number().prop_map(Given::Written),
        Just(Given::Done),
        quota().prop_map(Given::Quota),
        reply().prop_map(|reply| Given::Reply(Box::new(reply))),
        (code, text()).prop_map(|(code, message)| Given::Error(ProxyError::new(code, message))),
    ]
}

impl Given {
    fn write(&self, out: &mut Vec<u8>, id: &str) {
        match self {
            Given::Handle(handle) => write_handle(out, id, *handle),
            Given::Data(bytes, eof) => write_data(out, id, bytes, *eof),
            Given::Written(count) => write_written(out, id, *count),
            Given::Done => write_done(out, id),
            Given::Quota(report) => write_result(out, id, report),
            Given::Reply(reply) => write_result(out, id, reply),
            Given::Error(error) => write_error(out, id, error),
        }
    }

    /// Reads a frame as the answer that this is, and compares.
    fn check(&self, frame: &[u8], id: &str) {
        let response = read_response(frame).expect("it is a response");
        assert_eq!(response.id, id);
        let answer = match (self, &response.result) {
            (Given::Error(error), found) => {
                assert_eq!(found.as_ref(), Err(error));
                return;
            }
            (_, found) => found.as_ref().expect("it is a success"),
        };
        match self {
            Given::Handle(handle) => assert_eq!(answer.handle().as_ref(), Ok(handle)),
            Given::Data(bytes, eof) => {
                let mut found = Vec::new();
                assert_eq!(answer.data_into(&mut found).as_ref(), Ok(eof));
                assert_eq!(found, *bytes);
            }
            Given::Written(count) => assert_eq!(answer.written().as_ref(), Ok(count)),
            Given::Done => assert_eq!(answer.raw(), None),
            Given::Quota(report) => assert_eq!(answer.value().as_ref(), Ok(report)),
            Given::Reply(reply) => assert_eq!(answer.value().as_ref(), Ok(&**reply)),
            Given::Error(_) => unreachable!("it was compared above"),
        }
        assert_eq!(response.clone().into_owned(), response);
        // A process in the middle passes it on under another id.
        let mut out = Vec::new();
        write_answer(&mut out, "another", answer);
        let passed_on = read_response(&out[4..]).expect("it is a response");
        assert_eq!(passed_on.id, "another");
        assert_eq!(passed_on.result, response.result);
    }
}

/// A command of an older client, with its content.
#[derive(Debug, Clone)]
enum Sent {
    Open(String, legacy::LegacyOpenMode, bool),
    Read(u64, u64),
    Write(u64, Vec<u8>),
    Close(u64),
    Chat(bool, [u64; 3], String, String),
    Quota,
}

fn sent() -> impl Strategy<Value = Sent> {
    let mode = prop::sample::select(legacy::LegacyOpenMode::ALL.to_vec());
    prop_oneof![
        ("[a-z/.é]{1,12}", mode, any::<bool>()).prop_map(|(path, mode, is_top_level)| Sent::Open(
            path,
            mode,
            is_top_level
        )),
        (number(), 1..u64::MAX).prop_map(|(handle, size)| Sent::Read(handle, size)),
        (number(), bytes()).prop_map(|(handle, data)| Sent::Write(handle, data)),
        number().prop_map(Sent::Close),
        (
            any::<bool>(),
            [number(), number(), number()],
            text(),
            text()
        )
            .prop_map(|(is_top_level, streams, files, prompt)| {
                Sent::Chat(is_top_level, streams, files, prompt)
            }),
        Just(Sent::Quota),
    ]
}

impl Sent {
    fn command(&self) -> LegacyCommand<'_> {
        match self {
            Sent::Open(path, mode, is_top_level) => LegacyCommand::Open {
                path,
                mode: *mode,
                is_top_level: *is_top_level,
            },
            Sent::Read(handle, size) => LegacyCommand::Read {
                handle: *handle,
                size: *size,
            },
            Sent::Write(handle, data) => LegacyCommand::Write {
                handle: *handle,
                data,
            },
            Sent::Close(handle) => LegacyCommand::Close { handle: *handle },
            Sent::Chat(is_top_level, [stdin, stdout, stderr], files, prompt) => {
                LegacyCommand::LlmChat {
                    is_top_level: *is_top_level,
                    stdin: *stdin,
                    stdout: *stdout,
                    stderr: *stderr,
                    files,
                    prompt,
                }
            }
            Sent::Quota => LegacyCommand::LlmQuota,
        }
    }
}

/// Cuts `stream` into pieces of these lengths, again and again.
fn pieces<'a>(mut stream: &'a [u8], lengths: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for length in lengths.iter().cycle() {
        if stream.is_empty() {
            break;
        }
        let (piece, rest) = stream.split_at((*length).min(stream.len()));
        pieces.push(piece);
        stream = rest;
    }
    pieces
}

/// The frames of a stream that arrives in these pieces, up to one that is too long.
fn frames(pieces: &[&[u8]], limit: usize) -> Vec<Vec<u8>> {
    let mut buffer = FrameBuffer::new(limit);
    let mut found = Vec::new();
    for piece in pieces {
        let mut piece = *piece;
        while !piece.is_empty() {
            let space = buffer.space();
            let count = space.len().min(piece.len());
            space[..count].copy_from_slice(&piece[..count]);
            buffer.filled(count);
            piece = &piece[count..];
            loop {
                match buffer.next() {
                    Ok(Some(frame)) => found.push(frame.to_vec()),
                    Ok(None) => break,
                    Err(_) => return found,
                }
            }
            assert!(buffer.memory() <= limit + 4);
        }
    }
    found
}

fn lengths() -> impl Strategy<Value = Vec<usize>> {
    prop_oneof![
        Just(vec![1]),
        vec(1..20_usize, 1..8),
        vec(1..10_000_usize, 1..8),
        Just(vec![usize::MAX]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn f006_requests_are_read_as_they_were_written(
        requests in vec((text(), op()), 0..12),
        lengths in lengths(),
    ) {
        let mut stream = Vec::new();
        for (id, op) in &requests {
            write_request(&mut stream, id, op);
        }
        let frames = frames(&pieces(&stream, &lengths), MAX_FRAME);
        prop_assert_eq!(frames.len(), requests.len());
        for (frame, (id, op)) in frames.iter().zip(requests) {
            let expected = ProxyRequest { id: Cow::Owned(id), op };
            prop_assert_eq!(read_request(frame), Ok(expected));
        }
    }

    #[test]
    fn f005_responses_are_read_as_they_were_written(
        responses in vec((text(), given()), 0..12),
        lengths in lengths(),
    ) {
        let mut stream = Vec::new();
        for (id, given) in &responses {
            given.write(&mut stream, id);
        }
        let frames = frames(&pieces(&stream, &lengths), MAX_FRAME);
        prop_assert_eq!(frames.len(), responses.len());
        for (frame, (id, given)) in frames.iter().zip(responses) {
            given.check(frame, &id);
        }
    }

    #[test]
    fn f061_commands_are_read_as_they_were_written(
        commands in vec(sent(), 0..12),
        lengths in lengths(),
    ) {
        let mut stream = Vec::new();
        for sent in &commands {
            legacy::write_command(&mut stream, &sent.command());
        }
        let mut buffer = CommandBuffer::new(MAX_FRAME);
        let mut expected = commands.iter();
        for piece in pieces(&stream, &lengths) {
            buffer.feed(piece);
            while let Some(command) = buffer.next().expect("they are commands") {
                let sent = expected.next().expect("no more than were written");
                prop_assert_eq!(command, sent.command());
            }
        }
        prop_assert!(expected.next().is_none());
        prop_assert!(buffer.is_empty());
        prop_assert_eq!(buffer.finish(), None);
    }

    #[test]
    fn x35_bytes_of_any_kind_are_cut_the_same_way(
        stream in vec(prop_oneof![Just(0), any::<u8>()], 0..400),
        lengths in lengths(),
        limit in 0..300_usize,
    ) {
        let whole = frames(&[&stream], limit);
        prop_assert!(whole.iter().all(|frame| frame.len() <= limit));
        prop_assert_eq!(frames(&pieces(&stream, &lengths), limit), whole);
    }

    /// What is not JSON, what is JSON of another form, and what is nearly a request.
    #[test]
    fn x33_bytes_of_any_kind_are_a_request_or_refused(
        frame in prop_oneof![
            vec(any::<u8>(), 0..60),
            "[{}\\[\\]\":,0-9a-z\\\\. ]{0,60}".prop_map(String::into_bytes),
            (op(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(op, at, byte)| {
                let mut out = Vec::new();
                write_request(&mut out, "1", &op);
                let mut frame = out.split_off(4);
                let at = at.index(frame.len());
                frame[at] = byte;
                frame
            }),
        ],
    ) {
        match read_request(&frame) {
            Ok(request) => {
                let mut out = Vec::new();
                write_request(&mut out, &request.id, &request.op);
                prop_assert_eq!(read_request(&out[4..]), Ok(request));
            }
            Err(refusal) => {
                let mut out = Vec::new();
                write_refusal(&mut out, &refusal);
                let answer: serde_json::Value = serde_json::from_slice(&out[4..]).unwrap();
                prop_assert_eq!(&answer["error"]["code"], refusal.error.code.name());
                prop_assert!(out.len() < 4 * MAX_ID);
            }
        }
        let _ = read_response(&frame);
    }
}
