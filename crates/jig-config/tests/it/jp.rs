//! A workspace of the shape of JP's own: a file for each tool, personas, a server, and much that only JP knows.

use std::fmt::Write as _;

use jig_config::RuntimeKind;

use crate::workspace::Workspace;

/// The groups of tools and how many files each has: 63 in all.
const GROUPS: [(&str, usize); 12] = [
    ("cargo", 6),
    ("debug", 3),
    ("fs", 9),
    ("git", 13),
    ("github", 12),
    ("markdown", 1),
    ("rfd", 7),
    ("rust", 5),
    ("swift", 3),
    ("ticket", 2),
    ("unix", 1),
    ("web", 1),
];

fn workspace() -> Workspace {
    let mut workspace = Workspace::new()
        .file(".jp/config.toml", MAIN)
        .file(".jp/config/personas/default.toml", PERSONA)
        .file(".jp/config/personas/dev.toml", PERSONA)
        .file(
            ".jp/config/skill/coding.toml",
            "[conversation.tools.fs_1]\nenable = true\n",
        );
    for (group, count) in GROUPS {
        for index in 1..=count {
            let name = match (group, index) {
                ("fs", 1) => "fs_read_file".to_owned(),
                ("fs", 2) => "fs_create_file".to_owned(),
                _ => format!("{group}_{index}"),
            };
            let path = format!(".jp/mcp/tools/{group}/{index}.toml");
            workspace = workspace.file(&path, tool_file(group, &name, index));
        }
    }
    // One tool is spread over two files (J-025).
    workspace.file(
        ".jp/mcp/tools/plan.toml",
        "[conversation.tools.github_2.parameters.repository]\ntype = \"string\"\n",
    )
}

fn tool_file(group: &str, name: &str, index: usize) -> String {
    let table = format!("conversation.tools.{name}");
    let mut text = format!("[{table}]\nenable = false\nrun = \"unattended\"\n");
    let source = match group {
        "rust" => format!("source = \"mcp.bookworm.item_{index}\"\n"),
        "rfd" => "source = \"local\"\ncommand = \"just rfd {{tool.arguments.nnn}} {{tool.arguments.mmm | \
                  default('')}}\"\n"
            .to_owned(),
        _ => "source = \"local\"\ncommand = \"just serve-tools {{context}} {{tool}}\"\n\
              options.suppress = [\".git/\", \"**/target/\"]\ncancellation_response = \"No.\"\n"
            .to_owned(),
    };
    text.push_str(&source);
    text.push_str("summary = \"Does something.\"\ndescription = \"\"\"\nIn more words.\n\"\"\"\n");
    text.push_str("examples = \"\"\"\n```json\n{\"path\": \"x\"}\n```\n\"\"\"\n");
    let _ = write!(
        text,
        "\n[{table}.style]\ninline_results = \"full\"\nresults_file_link = \"off\"\nparameters = \"function_call\"\n"
    );
    let parameters: &[(&str, &str)] = match group {
        "rfd" => &[
            ("nnn", "required = true\ntype = \"string\""),
            ("mmm", "type = \"string\""),
        ],
        "rust" => &[("crate_name", "summary = \"Its name.\"")],
        _ => &[
            ("path", "type = \"string\"\nrequired = true"),
            ("args", "type = \"array\"\nitems.type = \"string\""),
            (
                "mode",
                "type = [\"string\", \"null\"]\nenum = [\"a\", \"b\"]\ndefault = \"a\"",
            ),
        ],
    };
    for (parameter, lines) in parameters {
        let _ = write!(text, "\n[{table}.parameters.{parameter}]\n{lines}\n");
    }
    if name == "fs_create_file" {
        let _ = write!(
            text,
            "\n[{table}.questions.overwrite_file]\ntarget = {{ model = {{ id = \"haiku\" }} }}\n"
        );
    }
    text
}

/// X-70, J-025: all of it loads, every tool is there, and nothing is ignored without a word.
#[test]
fn a_workspace_of_jp_works_unchanged() {
    let workspace = workspace();
    let loaded = workspace.load().unwrap_or_else(|errors| panic!("{errors}"));
    let config = &loaded.config;
    let declared = config.tools.values();
    let declared = declared.filter(|tool| tool.declared_at().name().starts_with(".jp/mcp/tools/"));
    assert_eq!(
        declared.count(),
        GROUPS.iter().map(|(_, count)| count).sum::<usize>()
    );
    let extended = config.files.iter().filter(|file| file.is_extended);
    assert_eq!(extended.count(), 63 + 1 + 1);
    let tool = |name: &str| config.tool(name).unwrap_or_else(|| panic!("no {name}"));

    // A predefined name with a command of its own is that command.
    let read = tool("fs_read_file");
    assert_eq!(read.runtime, RuntimeKind::Stdio);
    assert_eq!(read.command.as_ref().expect("a command").program, "just");
    assert_eq!(read.implementation(), None);
    assert_eq!(read.declared_at().to_string(), ".jp/mcp/tools/fs/1.toml:1");
    assert!(
        !read.parameters.contains_key("start_line"),
        "nothing of ours is merged into it"
    );

    let renumber = tool("rfd_3").command.as_ref().expect("a command");
    assert_eq!(
        renumber.args,
        [
            "rfd",
            "{{tool.arguments.nnn}}",
            "{{tool.arguments.mmm | default('')}}"
        ]
    );
    assert_eq!(tool("rust_2").on_server(), Some(("bookworm", "item_2")));
    assert!(tool("github_2").parameters.contains_key("repository"));
    assert!(!tool("git_1").enable.on);
    assert_eq!(tool("git_1").run.spawn.name(), "unattended");

    let mut keys: Vec<&str> = loaded.warnings.iter().map(|one| one.key_path()).collect();
    keys.sort_unstable();
    let expected = [
        "assistant",
        "cancellation_response",
        "config_load_paths",
        "conversation.attachments",
        "conversation.inquiry",
        "conversation.labels",
        "conversation.title",
        "plugins",
        "providers.llm",
        "questions.ID.target",
        "style",
    ];
    for key in expected {
        assert!(keys.contains(&key), "{key} is not named: {keys:?}");
    }
    assert!(keys.iter().any(|key| key.ends_with(".style")), "{keys:?}");
    let told = loaded
        .warnings
        .iter()
        .find(|one| one.key_path() == "cancellation_response");
    let told = told.expect("a warning").message();
    assert!(told.contains("here and in 51 more places"), "{told}");
}

/// JP's folder for files that nobody needs to name.
#[test]
fn the_folder_that_jp_extends_by_itself_is_named() {
    let workspace = Workspace::new().file(".jp/config.toml", "").file(
        ".jp/config.d/x.toml",
        "[conversation.tools.a]\nsource = \"local\"\ncommand = \"make\"\n",
    );
    let loaded = workspace.load().unwrap_or_else(|errors| panic!("{errors}"));
    let told: Vec<&str> = loaded.warnings.iter().map(|one| one.help()).collect();
    assert_eq!(
        told,
        ["write `extends = [\"config.d/**/*.toml\"]` in `.jp/config.toml`"]
    );
    let workspace = workspace.file(".jp/config.toml", "extends = [\"config.d/**/*.toml\"]\n");
    let loaded = workspace.load().unwrap_or_else(|errors| panic!("{errors}"));
    assert!(loaded.config.tool("a").is_some());
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

const MAIN: &str = r#"
extends = [
    "config/personas/default.toml",
    "mcp/tools/**/*.toml",
]

config_load_paths = [".jp/config", ".jp/config/personas"]

[providers.llm]
anthropic.beta_headers = ["x"]

[providers.llm.aliases]
sonnet = "anthropic/claude-sonnet-5"

[providers.mcp.bookworm]
type = "stdio"
command = "just"
arguments = ["serve-bookworm"]

[plugins.command.ticket]
run = "unattended"

[conversation.inquiry.assistant.model]
id = "haiku"

[conversation.title.generate.model]
id = "haiku"

[style.code]
copy_link = "osc8"

[conversation.tools.'*']
run = "ask"
cancellation_response = "Rejected."

[conversation.labels.branch]
value.cmd = "git branch --show-current"
run = "unattended"
"#;

const PERSONA: &str = r#"
[assistant.model]
id = "sonnet"
parameters.reasoning.effort = "auto"

[conversation]
attachments = ["cmd:date?description=Current Date"]

[style]
typewriter.max_latency = "200ms"

[[assistant.system_prompt_sections]]
position = -101
tag = "x"
content = """
Words.
"""
"#;
