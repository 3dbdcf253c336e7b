//! Generated files: the JSON Schema of the configuration, and in the docs the list of its keys and the table of guards.

#![expect(clippy::disallowed_methods, reason = "generated files are written")]

use std::fmt::Write as _;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value as Json;

pub(crate) fn run() -> Result<(), String> {
    let schema = schema()?;
    write(&crate::root().join("schema/jig.schema.json"), &schema)?;
    let schema: Json = serde_json::from_slice(&schema).map_err(|error| error.to_string())?;
    replace("docs/configuration.md", "keys", &keys(&schema))?;
    let guards = output(&["--package", "jig-policy", "--example", "guards"])?;
    let guards = String::from_utf8(guards).map_err(|error| error.to_string())?;
    let python = output(&["--package", "jig-policy", "--example", "guards", "python"])?;
    let module = crate::root().join("sdk/python/src/jig_tool/_guard_table.py");
    write(&module, &python)?;
    replace("docs/policy.md", "guards", &guards)
}

/// Puts a text between the marks of a name in a page.
fn replace(page: &str, name: &str, content: &str) -> Result<(), String> {
    let path = crate::root().join(page);
    let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
    let (begin, end) = (
        format!("<!-- {name}:begin -->"),
        format!("<!-- {name}:end -->"),
    );
    let (head, rest) = text
        .split_once(&begin)
        .ok_or("the docs have no begin mark")?;
    let (_, tail) = rest.split_once(&end).ok_or("the docs have no end mark")?;
    let text = format!("{head}{begin}\n{content}{end}{tail}");
    write(&path, text.as_bytes())
}

fn schema() -> Result<Vec<u8>, String> {
    output(&["--package", "jig-cli", "--", "config", "schema"])
}

/// What a program of this workspace prints.
fn output(program: &[&str]) -> Result<Vec<u8>, String> {
    let args = [&["run", "--quiet"], program].concat();
    let output = crate::cargo_command(&args)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {}` failed", args.join(" ")));
    }
    Ok(output.stdout)
}

fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    std::fs::write(path, content)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// A table for each kind of object, tools first.
fn keys(schema: &Json) -> String {
    let mut text = String::new();
    for (definition, title) in TABLES {
        let Some(properties) = schema["$defs"][definition]["properties"].as_object() else {
            continue;
        };
        let _ = writeln!(text, "\n### {title}\n\n| key | value | default | |");
        let _ = writeln!(text, "| --- | --- | --- | --- |");
        for (key, property) in properties {
            let about = property["description"].as_str().unwrap_or_default();
            let about = about
                .split('\n')
                .next()
                .unwrap_or_default()
                .replace('|', "\\|");
            let default = match &property["default"] {
                Json::Null => String::new(),
                default => format!("`{default}`"),
            };
            let _ = writeln!(
                text,
                "| `{key}` | {} | {default} | {about} |",
                value(property)
            );
        }
    }
    text.push('\n');
    text
}

/// The kind of value, in a few words.
fn value(property: &Json) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    if let Some(name) = property["$ref"].as_str() {
        let name = name.rsplit('/').next().unwrap_or(name);
        return format!("table ({})", name.replace('_', " "));
    }
    if let Some(ways) = property["anyOf"].as_array() {
        let mut ways: Vec<String> = ways.iter().map(value).collect();
        ways.dedup();
        return ways.join(" or ");
    }
    match property["type"].as_str() {
        Some("array") => match value(&property["items"]) {
            items if items == "any value" => "list".to_owned(),
            items => format!("list of {items}"),
        },
        Some("object") => match property["additionalProperties"]["$ref"].as_str() {
            Some(_) => format!("by name: {}", value(&property["additionalProperties"])),
            None => "table".to_owned(),
        },
        Some(kind) => kind.to_owned(),
        None => "any value".to_owned(),
    }
}

const TABLES: [(&str, &str); 30] = [
    ("extended_file", "`[[extends]]`, as a table"),
    ("tool", "`[tools.NAME]`"),
    ("parameter", "`[tools.NAME.parameters.NAME]`"),
    ("command", "`[tools.NAME.command]`, as a table"),
    ("terminal_of_a_tool", "`[tools.NAME.terminal]`, as a table"),
    ("approval_of_actions", "`[tools.NAME.run]`, as a table"),
    ("run_rule", "`[[tools.NAME.run]]`, as a list of rules"),
    (
        "condition_of_a_run_rule",
        "`[[tools.NAME.run.all]]`, in a rule",
    ),
    ("question", "`[tools.NAME.questions.ID]`"),
    ("rules_of_a_tool", "`[tools.NAME.access]`"),
    ("rule_on_files", "`[[tools.NAME.access.fs]]`"),
    ("rule_on_hosts", "`[[tools.NAME.access.net]]`"),
    ("rule_on_variables", "`[[tools.NAME.access.env]]`"),
    (
        "rule_on_a_program",
        "`[tools.NAME.access.commands.PROGRAM]`",
    ),
    ("sandbox_of_a_tool", "`[tools.NAME.sandbox]`"),
    (
        "file_access_of_a_sandbox",
        "`[tools.NAME.sandbox.filesystem]`, another spelling of `access.fs`",
    ),
    (
        "network_access_of_a_sandbox",
        "`[tools.NAME.sandbox.network]`, another spelling of `access.net`",
    ),
    (
        "path_outside_the_workspace",
        "`[[tools.NAME.sandbox.system]]`",
    ),
    ("limits_of_a_tool", "`[tools.NAME.sandbox.limits]`"),
    ("state_of_a_tool", "`[tools.NAME.enable]`, as a table"),
    ("network_of_all_tools", "`[network]`"),
    ("log", "`[log]`"),
    ("knowledge_base", "`[kb]`"),
    ("topic", "`[kb.topic.NAME]`"),
    ("LLM", "`[llm]`"),
    ("weights_of_tokens", "`[llm.weights]`"),
    ("model_of_the_LLM", "`[llm.models.NAME]`"),
    ("MCP_server", "`[mcp]`"),
    (
        "server",
        "`[mcp.servers.NAME]`, also spelled `[providers.mcp.NAME]`",
    ),
    (
        "value_from_a_command",
        "A value of `env`, `headers` or `args` of a server, as a table",
    ),
];
