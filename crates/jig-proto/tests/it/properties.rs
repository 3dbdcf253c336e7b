//! Properties of the codecs: what we write reads back equal, and nothing that a tool sends can make
//! reading panic.

use indexmap::IndexMap;
use jig_proto::json::{self, JsonLimits};
use jig_proto::{
    Access, Action, Actions, Block, CommandRule, Content, Context, EnvRule, ErrorDetails, FsGrants,
    FsRule, HandleId, HandleReport, Invocation, NetRule, Outcome, ProjectPath, Question, Resource,
    ResourceData, Response, StateName, Text, ToolError, ToolState, read_printed,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::Value;

/// Text with what breaks careless code: quotes, fences, escapes, NUL, other scripts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-z ]{0,12}",
        1 => "[\"\\\\`{}\\[\\],:\n\r\t\u{0}\u{1b}\u{7f}\u{85}\u{202e}é😀]{0,12}",
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON has finite numbers", |number| number.is_finite())
            .prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// A value that is present: `null` is how the wire says that there is none.
fn present() -> impl Strategy<Value = Value> {
    value().prop_filter("`null` is absent", |value| !value.is_null())
}

fn question() -> impl Strategy<Value = Question> {
    let schema = prop_oneof![
        any::<bool>().prop_map(Value::from),
        vec((text(), value()), 0..4)
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        Just(serde_json::json!({"type": "string", "enum": ["a"]})),
    ];
    (
        text(),
        text(),
        option::of(text()),
        schema,
        option::of(present()),
    )
        .prop_map(|(id, text, context, schema, default)| {
            let mut question = Question::new(id, text, schema);
            question.context = context;
            question.default = default;
            question
        })
}

fn resource() -> impl Strategy<Value = Resource> {
    let data = prop_oneof![
        text().prop_map(ResourceData::Text),
        "[A-Za-z0-9+/]{0,8}=?".prop_map(ResourceData::Blob),
    ];
    let names = (option::of(text()), option::of(text()), option::of(text()));
    (
        text(),
        option::of(text()),
        data,
        option::of(text()),
        names,
        option::of(present()),
    )
        .prop_map(
            |(uri, mime_type, data, formatted, (name, title, description), annotations)| Resource {
                uri,
                mime_type,
                data,
                formatted,
                name,
                title,
                description,
                annotations,
            },
        )
}

fn content() -> impl Strategy<Value = Content> {
    let block = prop_oneof![
        (text(), option::of(text()), option::of(present())).prop_map(
            |(text, mime_type, annotations)| {
                Block::Text(Text {
                    text,
                    mime_type,
                    annotations,
                })
            }
        ),
        resource().prop_map(Block::Resource),
        question().prop_map(Block::Question),
    ];
    prop_oneof![
        text().prop_map(Content::from),
        vec(block, 0..4).prop_map(Content::from)
    ]
}

fn tool_error() -> impl Strategy<Value = ToolError> {
    (text(), vec(text(), 0..3), any::<bool>()).prop_map(|(message, trace, transient)| ToolError {
        message,
        trace,
        transient,
        denials: Vec::new(),
        content: Content::EMPTY,
    })
}

fn state() -> impl Strategy<Value = ToolState> {
    let result = prop_oneof![content().prop_map(Ok), tool_error().prop_map(Err)];
    prop_oneof![
        content().prop_map(|content| ToolState::Running { content }),
        (content(), question())
            .prop_map(|(content, question)| ToolState::Waiting { content, question }),
        (content(), result).prop_map(|(content, result)| ToolState::Stopped { content, result }),
    ]
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        content().prop_map(|content| Outcome::Success { content }),
        tool_error().prop_map(Outcome::Error),
        question().prop_map(|question| Outcome::NeedsInput { question }),
    ]
}

fn response() -> impl Strategy<Value = Response> {
    let status = prop_oneof![
        Just(StateName::Running),
        Just(StateName::Waiting),
        Just(StateName::Stopped)
    ];
    let details = (any::<bool>(), vec(text(), 0..3))
        .prop_map(|(transient, trace)| ErrorDetails { transient, trace });
    let meta = vec((text(), value()), 0..3);
    (
        content(),
        any::<bool>(),
        option::of(status),
        option::of(details),
        meta,
    )
        .prop_map(|(content, is_error, status, error, meta)| Response {
            content,
            is_error,
            status,
            error,
            meta: meta.into_iter().collect(),
        })
}

fn access() -> impl Strategy<Value = Access> {
    let fs =
        (text(), any::<[bool; 5]>()).prop_map(|(path, [read, create, update, delete, execute])| {
            FsRule::new(
                path,
                FsGrants {
                    read,
                    create,
                    update,
                    delete,
                    execute,
                },
            )
        });
    let net = (
        text(),
        option::of(text()),
        option::of(any::<u16>()),
        option::of(text()),
        option::of(vec(text(), 0..3)),
        any::<bool>(),
    )
        .prop_map(
            |(host, scheme, port, path_prefix, methods, allow)| NetRule {
                host,
                scheme,
                port,
                path_prefix,
                methods,
                allow,
            },
        );
    let env = (text(), any::<bool>(), any::<bool>()).prop_map(|(name, read, header)| EnvRule {
        name,
        read,
        header,
    });
    let command = (option::of(vec(vec(text(), 0..3), 0..3)), vec(text(), 0..3))
        .prop_map(|(args, envs)| CommandRule { args, envs });
    let commands = vec((text(), command), 0..3).prop_map(IndexMap::from_iter);
    (
        vec(fs, 0..3),
        vec(net, 0..3),
        vec(env, 0..3),
        option::of(commands),
    )
        .prop_map(|(fs, net, env, commands)| Access {
            fs,
            net,
            env,
            commands,
        })
}

fn context() -> impl Strategy<Value = Context> {
    let action = prop_oneof![Just(Action::Run), Just(Action::FormatArguments)];
    (text(), action, option::of(access()), text(), text()).prop_map(
        |(root, action, access, workspace, conversation)| {
            let mut context = Context::new(root, action).with_ids(workspace, conversation);
            context.access = access;
            context
        },
    )
}

/// A valid message of any kind, as bytes.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let bytes = |message: Result<Vec<u8>, serde_json::Error>| message.expect("it can be written");
    prop_oneof![
        state().prop_map(move |state| bytes(serde_json::to_vec(&state))),
        outcome().prop_map(move |outcome| bytes(serde_json::to_vec(&outcome))),
        response().prop_map(move |response| bytes(serde_json::to_vec(&response))),
        context().prop_map(move |context| bytes(serde_json::to_vec(&context))),
    ]
}

/// Puts `input` through everything that reads bytes. The property is that this returns.
fn read_everything(input: &[u8]) {
    let _ = read_printed(input, &JsonLimits::MESSAGE);
    let _ = json::from_slice::<Context>(input, &JsonLimits::MESSAGE);
    let _ = json::from_slice::<Access>(input, &JsonLimits::MESSAGE);
    let _ = json::from_slice::<Question>(input, &JsonLimits::MESSAGE);
    let _ = json::from_slice::<ToolError>(input, &JsonLimits::MESSAGE);
    if let Ok(value) = json::value(input, &JsonLimits::MESSAGE) {
        let _ = Content::read(value.clone()).map(|read| read.value.to_text());
        let _ = Response::read(value.clone());
        let _ = HandleReport::read(value.clone());
        if let Value::Object(args) = value {
            let _ = Invocation::parse(args, Actions::ALL);
        }
    }
    if let Ok(text) = std::str::from_utf8(input) {
        let _ = Question::from_wit("q", "t", text, Some(text));
        let _ = text.parse::<HandleId>();
        let _ = ProjectPath::normalize(text);
    }
}

/// One change to a message: at a place, remove some bytes and insert others.
fn mutation() -> impl Strategy<Value = (prop::sample::Index, usize, Vec<u8>)> {
    let inserted = prop_oneof![
        vec(any::<u8>(), 0..4),
        prop::sample::select(vec![
            "null",
            "\"\"",
            "{}",
            "[]",
            "[[[[",
            "1e999",
            "-",
            "\\ud800",
            "\"type\":",
            ",",
            "}",
            "\0",
            "\u{feff}",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    (any::<prop::sample::Index>(), 0..4_usize, inserted)
}

fn mutate(mut message: Vec<u8>, changes: Vec<(prop::sample::Index, usize, Vec<u8>)>) -> Vec<u8> {
    for (place, removed, inserted) in changes {
        let start = place.index(message.len() + 1);
        let end = (start + removed).min(message.len());
        message.splice(start..end, inserted);
    }
    message
}

proptest! {
    #[test]
    fn a_state_reads_back_equal(state in state()) {
        let written = serde_json::to_vec(&state).unwrap();
        let read = read_printed(&written, &JsonLimits::MESSAGE).unwrap();
        prop_assert!(read.warnings.is_empty());
        prop_assert_eq!(read.value, state.asking());
    }

    #[test]
    fn an_outcome_reads_back_as_its_state(outcome in outcome()) {
        let written = serde_json::to_vec(&outcome).unwrap();
        let read = read_printed(&written, &JsonLimits::MESSAGE).unwrap();
        prop_assert!(read.warnings.is_empty());
        prop_assert_eq!(read.value, ToolState::from(outcome).asking());
    }

    #[test]
    fn a_response_reads_back_equal(response in response()) {
        let written = serde_json::to_vec(&response).unwrap();
        let read = Response::read(json::value(&written, &JsonLimits::MESSAGE).unwrap()).unwrap();
        prop_assert!(read.warnings.is_empty());
        prop_assert_eq!(read.value, response);
    }

    #[test]
    fn a_context_reads_back_equal(context in context()) {
        let written = serde_json::to_vec(&context).unwrap();
        prop_assert_eq!(json::from_slice::<Context>(&written, &JsonLimits::MESSAGE).unwrap(), context);
    }

    #[test]
    fn a_report_of_text_reads_back_equal(number: u64, shown in text(), result in text()) {
        for state in [ToolState::running(shown.as_str()), ToolState::succeeded(result.as_str())] {
            let report = HandleReport::new(HandleId::numbered(number), state);
            let value = json::value(report.to_string().as_bytes(), &JsonLimits::MESSAGE).unwrap();
            prop_assert_eq!(HandleReport::read(value).unwrap().value, report);
        }
    }

    #[test]
    fn a_resource_can_not_end_its_own_fence(text in "[`a\n]{0,30}", mime_type in text()) {
        let resource = Resource::text("u:x", text).with_mime_type(mime_type);
        let rendered = Content::from(vec![Block::Resource(resource)]).to_text();
        let fence: String = rendered.chars().take_while(|&one| one == '`').collect();
        let closing: Vec<&str> = rendered.lines().skip(1).filter(|line| line.starts_with(&fence)).collect();
        prop_assert_eq!(closing, [fence.as_str()]);
        prop_assert!(rendered.ends_with(&fence));
    }

    #[test]
    fn random_bytes_never_panic(input in vec(any::<u8>(), 0..200)) {
        read_everything(&input);
    }

    #[test]
    fn random_json_never_panics(input in value()) {
        read_everything(input.to_string().as_bytes());
    }

    #[test]
    fn mutated_messages_never_panic(message in message(), changes in vec(mutation(), 1..4)) {
        read_everything(&mutate(message, changes));
    }

    #[test]
    fn truncated_messages_are_not_states(state in state(), end in any::<prop::sample::Index>()) {
        let written = serde_json::to_vec(&state).unwrap();
        let cut = &written[..end.index(written.len())];
        prop_assert!(read_printed(cut, &JsonLimits::MESSAGE).is_err());
    }

    /// The scan agrees with the parser about what a message holds.
    #[test]
    fn the_limits_are_exact(input in value()) {
        fn count(value: &Value) -> (usize, usize) {
            let children: Vec<&Value> = match value {
                Value::Array(elements) => elements.iter().collect(),
                Value::Object(members) => members.values().collect(),
                _ => return (1, 0),
            };
            children.into_iter().map(count).fold((1, 1), |(values, depth), (more, below)| {
                (values + more, depth.max(below + 1))
            })
        }
        let written = input.to_string();
        let (values, depth) = count(&input);
        let exact = JsonLimits::MESSAGE.with_bytes(written.len()).with_depth(depth).with_values(values);
        prop_assert_eq!(&json::value(written.as_bytes(), &exact).unwrap(), &input);
        for tighter in [
            exact.with_bytes(written.len() - 1),
            exact.with_values(values - 1),
        ] {
            prop_assert!(json::value(written.as_bytes(), &tighter).is_err());
        }
        if depth > 0 {
            prop_assert!(json::value(written.as_bytes(), &exact.with_depth(depth - 1)).is_err());
        }
    }

    #[test]
    fn a_normal_path_stays_normal(input in "[a./\u{0}é]{0,12}") {
        if let Ok(path) = ProjectPath::normalize(&input) {
            prop_assert_eq!(&ProjectPath::normalize(&path.to_string()).unwrap(), &path);
            prop_assert!(path.components().all(|name| !matches!(name, "" | "." | "..")));
            prop_assert!(path.starts_with(&path.parent().unwrap_or_default()));
        }
    }
}
