//! The table of all keys.

mod access;
mod knowledge;
mod llm;
mod log;
mod mcp;
mod network;
mod parameters;
mod run;
mod sandbox;
mod servers;
mod settings;
mod stateful;

use access::{ACCESS, TEXTS};
pub(crate) use knowledge::KNOWLEDGE;
pub(crate) use llm::LLM;
pub(crate) use log::LOG;
pub(crate) use mcp::MCP;
pub(crate) use network::NETWORK;
use parameters::PARAMETERS;
use run::RUN;
pub(crate) use sandbox::LIMITS_TABLE;
use sandbox::SANDBOX;
use servers::PROVIDERS;
pub(crate) use servers::{OF_TOOLS, SERVER};
use settings::{
    COMMAND_TABLE, ENABLE, EXAMPLES, FORMAT, INPUT, ON_UNCOVERED, OPTIONS, OVERLAY, QUESTIONS,
    REPEATABLE, RESULT, RUNTIME, SIZE_THRESHOLD, STYLE,
};
use stateful::{NOTICES, STATEFUL, TERMINAL};

use super::text::{ANY, COMMAND, EXTENDED, PROJECT_FILE, SOURCE, TITLE, TOOL_NAME};
use super::{ListMerge, ListShape, MapShape, ShapeWord, TableShape, ValueShape, key};

/// A whole file.
pub(crate) static ROOT: ValueShape = ValueShape::Table(&TableShape {
    what: "the configuration",
    keys: &[
        key!(
            "extends",
            ValueShape::Any(&[ValueShape::Text(&EXTENDED), ValueShape::List(&EXTENDS)]),
            "Files that this one builds on, relative to it: paths, and patterns with `*`, `**` and `?`. They come before it, in order."
        ),
        key!("tools", ValueShape::Map(&TOOLS), "The tools, by name."),
        key!(
            "conversation",
            ValueShape::Table(&TableShape {
                what: "the section of JP",
                keys: &[key!(
                    "tools",
                    ValueShape::Map(&TOOLS),
                    "The tools, by name; the same as `tools` at the top."
                )],
                foreign: &[],
                short: None,
            }),
            "The place in which files written for JP have their tools."
        ),
        key!(
            "network",
            ValueShape::Table(&NETWORK),
            "What all tools share of the network; the hosts that a tool may reach are its own."
        ),
        key!(
            "log",
            ValueShape::Table(&LOG),
            "The log of what tools did, which `jig log` shows."
        ),
        key!(
            "kb",
            ValueShape::Table(&KNOWLEDGE),
            "The knowledge base: what the tool `learn` and a system prompt are made of."
        ),
        key!(
            "llm",
            ValueShape::Table(&LLM),
            "The LLM that answers questions for the assistant, and that the processes of `jig proxy --llm` may ask; and how much."
        ),
        key!(
            "mcp",
            ValueShape::Table(&MCP),
            "How `jig mcp` serves the tools, and the MCP servers whose tools are served with them."
        ),
        key!(
            "providers",
            ValueShape::Table(&PROVIDERS),
            "The place in which files written for JP have their MCP servers."
        ),
    ],
    foreign: &[
        ("tool", "write `[tools.NAME]`"),
        ("extend", "write `extends = [\"FILE\"]`"),
        ("include", "write `extends = [\"FILE\"]`"),
        ("includes", "write `extends = [\"FILE\"]`"),
        ("import", "write `extends = [\"FILE\"]`"),
        ("imports", "write `extends = [\"FILE\"]`"),
        ("topic", "write `[kb.topic.NAME]`"),
        ("topics", "write `[kb.topic.NAME]`"),
        ("knowledge", "write `[kb.topic.NAME]`"),
        (
            "mcpServers",
            "write `[mcp.servers.NAME]` with `command` and `args`, or `url`; `jig import` turns the files of other programs into that",
        ),
        (
            "mcp_servers",
            "write `[mcp.servers.NAME]` with `command` and `args`, or `url`; `jig import` turns the files of other programs into that",
        ),
        (
            "servers",
            "write `[mcp.servers.NAME]` with `command` and `args`, or `url`; `jig import` turns the files of other programs into that",
        ),
        (
            "permissions",
            "write the rules of a tool: `[[tools.NAME.access.fs]]`",
        ),
        (
            "sandbox",
            "the sandbox belongs to a tool; for all tools write `[tools.'*'.sandbox]`",
        ),
        (
            "access",
            "rules belong to a tool; for all tools write `[[tools.'*'.access.fs]]`",
        ),
        ("defaults", "defaults for every tool are in `[tools.'*']`"),
        ("openai", "write `[llm]`"),
        ("model", "write `llm.model`"),
        ("quota", "write `llm.quota`"),
        ("dns", "write `network.resolver`"),
        ("resolver", "write `network.resolver`"),
        (
            "net",
            "rules on hosts belong to a tool: `[[tools.NAME.access.net]]`",
        ),
    ],
    short: None,
});

/// `extends`.
static EXTENDS: ListShape = ListShape {
    item: ValueShape::Any(&[
        ValueShape::Text(&EXTENDED),
        ValueShape::Table(&TableShape {
            what: "an extended file",
            keys: &[
                key!(
                    "path",
                    ValueShape::Text(&EXTENDED),
                    "The path or pattern, relative to the file in which it stands.",
                    required
                ),
                key!(
                    "strategy",
                    ValueShape::Word(&[
                        ShapeWord {
                            name: "before",
                            doc: "The extending file wins.",
                        },
                        ShapeWord {
                            name: "after",
                            doc: "The extended file wins.",
                        },
                    ]),
                    "Which of both wins where they say different things.",
                    default = "\"before\""
                ),
            ],
            foreign: &[
                ("file", "write `path`"),
                (
                    "root",
                    "write a path relative to this file; jig knows no other root",
                ),
            ],
            short: None,
        }),
    ]),
    merge: ListMerge::Replace,
};

static TOOLS: MapShape = MapShape {
    what: "a tool",
    name: &TOOL_NAME,
    value: ValueShape::Table(&TOOL),
    special: &[("*", ValueShape::Table(&STAR))],
};

/// `[tools.NAME]`.
pub(crate) static TOOL: TableShape = TableShape {
    what: "a tool",
    keys: &[
        key!(
            "source",
            ValueShape::Text(&SOURCE),
            "Where the definition comes from: `local`, `mcp.SERVER[.TOOL]` or `builtin[.NAME]`."
        ),
        ENABLE,
        key!(
            "command",
            ValueShape::Any(&[
                ValueShape::Text(&COMMAND),
                TEXTS,
                ValueShape::Table(&COMMAND_TABLE)
            ]),
            "What a local tool starts: a line that is split into words, or a list of words, the program first. Each word is a template."
        ),
        key!(
            "wasm",
            ValueShape::Text(&PROJECT_FILE),
            "A Wasm component to run instead of a command, relative to the workspace."
        ),
        RUNTIME,
        INPUT,
        STATEFUL,
        TERMINAL,
        NOTICES,
        REPEATABLE,
        OVERLAY,
        key!(
            "title",
            ValueShape::Text(&TITLE),
            "What people know the tool by, where its name is not enough."
        ),
        key!(
            "summary",
            ValueShape::Text(&ANY),
            "One line about the tool."
        ),
        key!(
            "description",
            ValueShape::Text(&ANY),
            "What the model is told about the tool."
        ),
        key!("examples", EXAMPLES, "Examples of its use."),
        key!(
            "parameters",
            ValueShape::Map(&PARAMETERS),
            "The parameters, by name."
        ),
        key!(
            "output",
            ValueShape::Whole,
            "The JSON Schema of the result, for a tool that always returns an object of JSON. A result that does not fit is an error of the tool."
        ),
        RUN,
        RESULT,
        SIZE_THRESHOLD,
        FORMAT,
        QUESTIONS,
        OPTIONS,
        STYLE,
        ON_UNCOVERED,
        ACCESS,
        SANDBOX,
    ],
    foreign: FOREIGN_TOOL_KEYS,
    short: None,
};

/// `[tools.'*']`: what every tool can have in common.
static STAR: TableShape = TableShape {
    what: "the defaults of all tools",
    keys: &[
        ENABLE,
        NOTICES,
        RUN,
        RESULT,
        SIZE_THRESHOLD,
        FORMAT,
        QUESTIONS,
        OPTIONS,
        STYLE,
        ON_UNCOVERED,
        ACCESS,
        SANDBOX,
    ],
    foreign: &[
        (
            "source",
            "give every tool its own `source`; `'*'` holds only what tools have in common",
        ),
        (
            "command",
            "give every tool its own `command`; `'*'` holds only what tools have in common",
        ),
        (
            "wasm",
            "give every tool its own `wasm`; `'*'` holds only what tools have in common",
        ),
        (
            "runtime",
            "give every tool its own `runtime`; `'*'` holds only what tools have in common",
        ),
        (
            "input",
            "give every tool its own `input`; `'*'` holds only what tools have in common",
        ),
        (
            "stateful",
            "give every tool its own `stateful`; `'*'` holds only what tools have in common",
        ),
        (
            "terminal",
            "give every tool its own `terminal`; `'*'` holds only what tools have in common",
        ),
        (
            "overlay",
            "give every tool its own `overlay`; `'*'` holds only what tools have in common",
        ),
        (
            "repeatable",
            "say it of every tool apart; `'*'` holds only what tools have in common",
        ),
        (
            "description",
            "describe every tool apart; `'*'` holds only what tools have in common",
        ),
        (
            "title",
            "give every tool its own `title`; `'*'` holds only what tools have in common",
        ),
        (
            "output",
            "give every tool its own `output`; `'*'` holds only what tools have in common",
        ),
        (
            "parameters",
            "give every tool its own `parameters`; `'*'` holds only what tools have in common",
        ),
        ("enabled", "write `enable`"),
        ("disabled", "write `enable = false`"),
    ],
    short: None,
};

const FOREIGN_TOOL_KEYS: &[(&str, &str)] = &[
    ("enabled", "write `enable`"),
    ("disabled", "write `enable = false`"),
    ("cmd", "write `command`"),
    ("exec", "write `command`"),
    ("program", "write `command = { program = \"…\" }`"),
    (
        "args",
        "write `command = { program = \"…\", args = [\"…\"] }`, or parameters if the model gives them",
    ),
    (
        "shell",
        "write `command = { program = \"…\", shell = true }`",
    ),
    (
        "type",
        "write `source` for where the tool comes from, `runtime` for how it runs",
    ),
    (
        "kind",
        "write `source` for where the tool comes from, `runtime` for how it runs",
    ),
    ("params", "write `parameters`"),
    ("arguments", "write `parameters`"),
    ("schema", "write `parameters`, one table per parameter"),
    (
        "input_schema",
        "write `parameters`, one table per parameter",
    ),
    ("inputSchema", "write `parameters`, one table per parameter"),
    ("outputSchema", "write `output`, with the JSON Schema"),
    ("output_schema", "write `output`, with the JSON Schema"),
    ("returns", "write `output`, with the JSON Schema"),
    ("display_name", "write `title`"),
    ("permissions", "write `access`"),
    (
        "allow",
        "write rules: `[[tools.NAME.access.fs]]`, `.net`, `.env` or `access.commands`",
    ),
    (
        "deny",
        "a rule without capabilities denies: `access.fs = [{ path = \"secrets\" }]`",
    ),
    ("fs", "write `access.fs`"),
    ("net", "write `access.net`"),
    ("network", "write `access.net`"),
    (
        "env",
        "write `access.env`: the variables of the host that the tool may read",
    ),
    ("commands", "write `access.commands`"),
    ("mode", "write `run`"),
    (
        "stdin",
        "write `input = \"stdin\"` to hand the call over there",
    ),
    (
        "timeout",
        "write `sandbox.limits.time`, such as `sandbox.limits.time = \"10m\"`",
    ),
    (
        "limits",
        "write `sandbox.limits`: how much a tool may use is part of its sandbox",
    ),
    ("presets", "write `sandbox.presets`"),
    ("observe", "write `sandbox.observe`"),
    ("observed", "write `sandbox.observe`"),
    ("proxy", "write `sandbox.proxy`"),
    ("idempotent", "write `repeatable`"),
    (
        "retry",
        "write `repeatable = true`: a failed call is then run again to say why",
    ),
    (
        "dry_run",
        "write `overlay = \"discard\"`: what the tool changes is then forgotten",
    ),
    ("copy_on_write", "write `overlay`"),
    ("layer", "write `overlay`"),
    (
        "max_output",
        "write `size_threshold` for the result, `sandbox.limits.output` for what is printed",
    ),
    (
        "approval",
        "write `run = \"ask\"` or `run = \"unattended\"`",
    ),
    (
        "interactive",
        "write `stateful = true` if the model sends it input while it runs, and `terminal = true` if \
         it needs a terminal; whether somebody approves is `run`",
    ),
    (
        "actions",
        "write `stateful`: `true` for all actions, or `[\"spawn\", \"fetch\", \"abort\"]`",
    ),
    (
        "background",
        "write `stateful = true`: a tool that is spawned goes on between calls",
    ),
    (
        "async",
        "write `stateful = [\"spawn\", \"fetch\", \"abort\"]`: a tool that is spawned goes on between calls",
    ),
    (
        "daemon",
        "write `stateful = true`: a tool that is spawned goes on between calls",
    ),
    ("pty", "write `terminal = true`"),
    ("tty", "write `terminal = true`"),
    ("rows", "write `terminal = { rows = 24, cols = 80 }`"),
    ("cols", "write `terminal = { rows = 24, cols = 80 }`"),
    ("notify", "write `notices`"),
    ("notifications", "write `notices`"),
    ("module", "write `wasm`"),
    ("server", "write `source = \"mcp.SERVER\"`"),
    (
        "url",
        "declare the server and write `source = \"mcp.SERVER\"`",
    ),
];
