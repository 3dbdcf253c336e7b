//! The MCP servers whose tools are jig's, too.

use super::access::ACCESS;
use super::run::RUN;
use super::sandbox::SANDBOX;
use super::settings::{FORMAT, ON_UNCOVERED, QUESTIONS, RESULT, SIZE_THRESHOLD};
use crate::shape::quantity::{AmountUnit, DAY, Quantity, SECOND};
use crate::shape::text::{ANY, ENV_EXACT, HEADER_NAME, SERVER_NAME, TOOL_PATTERN, TOOL_PREFIX};
use crate::shape::{ListMerge, ListShape, MapShape, ShapeWord, TableShape, ValueShape, key};

/// `[mcp.servers]`, and `[providers.mcp]`.
pub(super) static SERVERS: MapShape = MapShape {
    what: "a server",
    name: &SERVER_NAME,
    value: ValueShape::Table(&SERVER),
    special: &[],
};

/// `[providers]`, the section in which JP has its servers.
pub(super) static PROVIDERS: TableShape = TableShape {
    what: "the providers",
    keys: &[key!(
        "mcp",
        ValueShape::Map(&SERVERS),
        "The MCP servers, by name; the same as `mcp.servers`."
    )],
    foreign: &[("llm", "write `[llm]`")],
    short: None,
};

/// `[mcp.servers.NAME]`.
pub(crate) static SERVER: TableShape = TableShape {
    what: "a server",
    keys: &[
        key!(
            "enable",
            ValueShape::Bool,
            "Whether its tools are there.",
            default = "true"
        ),
        key!(
            "type",
            ValueShape::Text(&ANY),
            "How it is reached, `\"stdio\"` or `\"http\"`: known without it, by `command` or `url`."
        ),
        key!(
            "command",
            ValueShape::Any(&[ValueShape::Text(&ANY), WORDS]),
            "The program that jig starts in its sandbox: alone, if there are `args`; a line that is split into words; or a list. May hold `${VARIABLE}`."
        ),
        key!("args", WORDS, "The arguments of the program, word by word."),
        key!("arguments", WORDS, "The same as `args`, as JP spells it."),
        key!(
            "env",
            ValueShape::Map(&MapShape {
                what: "a variable",
                name: &ENV_EXACT,
                value: FILLED,
                special: &[],
            }),
            "Variables of the program's environment, besides those that `access.env` lets through. A value may hold `${VARIABLE}` of the host."
        ),
        key!(
            "variables",
            ValueShape::List(&ListShape {
                item: ValueShape::Text(&ENV_EXACT),
                merge: ListMerge::Append,
            }),
            "Variables of the host that the program gets, by name, as JP spells it: the same as rules in `access.env`."
        ),
        key!(
            "url",
            FILLED,
            "Where a server that runs elsewhere is reached over Streamable HTTP: `https`, or `http` on this machine."
        ),
        key!(
            "headers",
            ValueShape::Map(&MapShape {
                what: "a header",
                name: &HEADER_NAME,
                value: FILLED,
                special: &[],
            }),
            "Headers of every request to `url`, such as `Authorization`. A value may hold `${VARIABLE}`."
        ),
        key!(
            "tools",
            PATTERNS,
            "The tools that are offered: names on the server, or patterns with `*` and `?`. All, if nothing is said."
        ),
        key!(
            "hide",
            PATTERNS,
            "The tools that are not offered: names or patterns. Wins over `tools`; a tool that is declared by its source is there all the same."
        ),
        key!(
            "prefix",
            ValueShape::Text(&TOOL_PREFIX),
            "What the names of its tools begin with: the server's name and `_`, if nothing is said."
        ),
        key!(
            "definitions",
            ValueShape::Word(&[
                ShapeWord {
                    name: "hold",
                    doc: "A tool whose description has changed is held until a person accepts it."
                },
                ShapeWord {
                    name: "follow",
                    doc: "Changed descriptions are taken as they come."
                },
            ]),
            "What happens when the server describes a tool in another way than before.",
            default = "\"hold\""
        ),
        key!(
            "start",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: SECOND,
                max: DAY,
                liftable: false,
            }),
            "How long it may take to start and to list its tools.",
            default = "\"60s\""
        ),
        key!(
            "startup_timeout_secs",
            ValueShape::Int {
                min: 0,
                max: 86_400
            },
            "The same as `start`, in seconds, as JP spells it; 0 for a day."
        ),
        key!(
            "idle",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: SECOND,
                max: 30 * DAY,
                liftable: true,
            }),
            "How long it goes on without a call before it is stopped; `false` for as long as jig runs.",
            default = "\"10m\""
        ),
        key!(
            "time",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: SECOND,
                max: 30 * DAY,
                liftable: false,
            }),
            "The longest that one call may take.",
            default = "\"10m\""
        ),
        key!(
            "optional",
            ValueShape::Bool,
            "Of JP, and without effect here: a server that does not start never keeps the others from it."
        ),
        key!(
            "checksum",
            ValueShape::Whole,
            "Of JP, and not checked by jig, which confines the program instead."
        ),
        RUN,
        RESULT,
        SIZE_THRESHOLD,
        FORMAT,
        QUESTIONS,
        ON_UNCOVERED,
        ACCESS,
        SANDBOX,
    ],
    foreign: &[
        ("enabled", "write `enable`"),
        ("disabled", "write `enable = false`"),
        ("transport", "remove it: `command` or `url` says it"),
        ("transportType", "remove it: `command` or `url` says it"),
        ("httpUrl", "write `url`"),
        ("http_url", "write `url`"),
        ("serverUrl", "write `url`"),
        ("endpoint", "write `url`"),
        ("environment", "write `env`"),
        ("envs", "write `env`"),
        (
            "env_vars",
            "write rules: `[[mcp.servers.NAME.access.env]]` with `name = \"…\"` and `read = true`",
        ),
        (
            "envFile",
            "write the variables in `env`, such as `TOKEN = \"${TOKEN}\"`, and load the file before jig starts",
        ),
        (
            "env_file",
            "write the variables in `env`, such as `TOKEN = \"${TOKEN}\"`, and load the file before jig starts",
        ),
        ("http_headers", "write `headers`"),
        (
            "env_http_headers",
            "write `headers`, with the variable in the value: `X-Key = \"${KEY}\"`",
        ),
        (
            "bearer_token_env_var",
            "write `headers.Authorization = \"Bearer ${VARIABLE}\"`",
        ),
        (
            "bearer_token",
            "write `headers.Authorization = \"Bearer ${VARIABLE}\"`",
        ),
        (
            "auth",
            "write `headers.Authorization = \"Bearer ${VARIABLE}\"`",
        ),
        (
            "token",
            "write `headers.Authorization = \"Bearer ${VARIABLE}\"`, or a variable in `env`",
        ),
        (
            "oauth",
            "get a token yourself, and write `headers.Authorization = \"Bearer ${VARIABLE}\"`",
        ),
        ("cwd", "remove it: a server runs in the workspace's root"),
        (
            "working_directory",
            "remove it: a server runs in the workspace's root",
        ),
        ("enabled_tools", "write `tools`"),
        ("includeTools", "write `tools`"),
        ("disabled_tools", "write `hide`"),
        ("excludeTools", "write `hide`"),
        ("exclude", "write `hide`"),
        ("hidden", "write `hide`"),
        ("startup_timeout_sec", "write `start`, such as `\"60s\"`"),
        ("startup_timeout_ms", "write `start`, such as `\"60s\"`"),
        ("tool_timeout_sec", "write `time`, such as `\"10m\"`"),
        (
            "timeout",
            "write `start` for how long it may take to start, `time` for a call",
        ),
        ("idle_timeout", "write `idle`"),
        (
            "alwaysAllow",
            "write `run = \"unattended\"`, or say it of a tool: `[tools.NAME]` with `source = \"mcp.SERVER.TOOL\"`",
        ),
        (
            "autoApprove",
            "write `run = \"unattended\"`, or say it of a tool: `[tools.NAME]` with `source = \"mcp.SERVER.TOOL\"`",
        ),
        (
            "trust",
            "write `run = \"unattended\"` if no call has to be asked for",
        ),
        (
            "description",
            "describe its tools: `[tools.NAME]` with `source = \"mcp.SERVER.TOOL\"` and `description`",
        ),
        ("name", "remove it: the name stands in the table's header"),
        ("fs", "write `access.fs`"),
        ("net", "write `access.net`"),
        ("network", "write `access.net`"),
        ("permissions", "write `access`"),
        ("presets", "write `sandbox.presets`"),
        ("limits", "write `sandbox.limits`"),
        ("observe", "write `sandbox.observe`"),
        (
            "runtime",
            "remove it: a server is reached by `command` or `url`",
        ),
        (
            "source",
            "remove it: tools have a source, `source = \"mcp.SERVER.TOOL\"`",
        ),
    ],
    short: None,
};

/// The keys of a server that its tools have from it.
pub(crate) const OF_TOOLS: [&str; 6] = [
    "run",
    "result",
    "size_threshold",
    "format",
    "questions",
    "on_uncovered",
];

const FILLED: ValueShape =
    ValueShape::Any(&[ValueShape::Text(&ANY), ValueShape::Table(&FROM_COMMAND)]);

const WORDS: ValueShape = ValueShape::List(&ListShape {
    item: FILLED,
    merge: ListMerge::Replace,
});

const PATTERNS: ValueShape = ValueShape::List(&ListShape {
    item: ValueShape::Text(&TOOL_PATTERN),
    merge: ListMerge::Append,
});

/// A value that a command prints.
static FROM_COMMAND: TableShape = TableShape {
    what: "a value from a command",
    keys: &[key!(
        "command",
        ValueShape::List(&ListShape {
            item: ValueShape::Text(&ANY),
            merge: ListMerge::Replace,
        }),
        "The program and its arguments, word by word; run with your own rights when the server starts. Not in files of a workspace.",
        required
    )],
    foreign: &[
        ("cmd", "write `command`"),
        ("env", "write the value as a text: `\"${VARIABLE}\"`"),
        ("file", "write `{ command = [\"cat\", \"FILE\"] }`"),
        ("value", "write the value itself"),
    ],
    short: None,
};
