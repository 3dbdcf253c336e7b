//! The final configuration as text and as JSON, with the origin of every value where asked.

use jig_proto::{ToolAction, is_deceptive};
use serde_json::{Map, Value as Json, json};

use crate::model::{Config, LlmConfig, McpConfig, RuntimeKind, Server, Tool, masked};
use crate::origin::Origin;
use crate::quoting::key;
use crate::shape::keys;
use crate::value::{ConfigNode, TomlValueKind, Value};

/// The final configuration as TOML, which loads as the same tools again.
///
/// With `origin` every value is followed by a comment that says where it was written; values that
/// nobody wrote are shown with `# default`. Variables stand as they were written, and what looks like a secret does
/// not stand there at all.
pub fn show(config: &Config, origin: bool) -> String {
    let mut writer = ConfigWriter {
        text: String::new(),
        origin,
    };
    writer.network(config);
    if let Some(log) = &config.log_values {
        writer.header("[log]");
        writer.values(log);
    }
    for topic in config.topics.values() {
        let path = format!("kb.topic.{}", key(&topic.id));
        writer.header(&format!("[{path}]"));
        writer.values(&topic.values);
    }
    if let Some(llm) = &config.llm {
        writer.llm(llm);
    }
    writer.mcp(&config.mcp);
    for server in config.servers.values() {
        writer.server(server);
    }
    // What a server describes is not configuration.
    for tool in config.tools.values().filter(|tool| !tool.is_added) {
        writer.tool(tool);
    }
    writer.text
}

/// The final configuration as JSON: `tools`, `network`, `kb` if there are topics, `log`, `llm` and `mcp`, with
/// its `servers`, if a layer has them, and with `origin` also `origins`, which maps the dotted key of every value to its `layer`, `file`, `line` and
/// `column`.
pub fn show_json(config: &Config, origin: bool) -> Json {
    let mut tools = Map::new();
    let mut origins = Map::new();
    for tool in config.tools.values().filter(|tool| !tool.is_added) {
        let Json::Object(mut values) = tool.values.to_json() else {
            continue;
        };
        for (name, value) in defaults(tool) {
            values.entry(name).or_insert(value);
        }
        tools.insert(tool.name.to_string(), Json::Object(values));
        if origin {
            let prefix = format!("tools.{}", key(tool.name.as_str()));
            collect_origins(&tool.values, &prefix, &mut origins);
        }
    }
    let written = config.network_values.as_ref();
    let mut network = written.map_or_else(Map::new, ConfigNode::to_json_map);
    network.entry("resolver").or_insert(SYSTEM_RESOLVER.into());
    if let Some(written) = written.filter(|_| origin) {
        collect_origins(written, "network", &mut origins);
    }
    let log = config.log_values.as_ref();
    if let Some(written) = log.filter(|_| origin) {
        collect_origins(written, "log", &mut origins);
    }
    let mut topics = Map::new();
    for topic in config.topics.values() {
        topics.insert(topic.id.clone(), topic.values.to_json());
        if origin {
            let prefix = format!("kb.topic.{}", key(&topic.id));
            collect_origins(&topic.values, &prefix, &mut origins);
        }
    }
    let mut shown = json!({ "tools": tools, "network": network });
    if let Some(written) = log {
        shown["log"] = Json::Object(written.to_json_map());
    }
    if !topics.is_empty() {
        shown["kb"] = json!({ "topic": topics });
    }
    if let Some(llm) = &config.llm {
        let mut values = llm.values.to_json_map();
        for (name, value) in llm.defaults() {
            values.entry(name).or_insert(value);
        }
        shown["llm"] = Json::Object(values);
        if origin {
            collect_origins(&llm.values, "llm", &mut origins);
        }
    }
    if let Some(written) = &config.mcp.values {
        let mut values = written.to_json_map();
        for (name, value) in config.mcp.defaults() {
            values.entry(name).or_insert(value);
        }
        shown["mcp"] = Json::Object(values);
        if origin {
            collect_origins(written, "mcp", &mut origins);
        }
    }
    for server in config.servers.values() {
        let mut values = masked(&server.values).to_json_map();
        for (name, value) in server_defaults(server) {
            values.entry(name).or_insert(value);
        }
        shown["mcp"]["servers"][&server.name] = Json::Object(values);
        if origin {
            collect_origins(&server.values, server.key(), &mut origins);
        }
    }
    if origin {
        shown["origins"] = Json::Object(origins);
    }
    shown
}

/// The settings that hold although nobody wrote them. A value is a string or a list of strings.
fn defaults(tool: &Tool) -> Vec<(&'static str, Json)> {
    let mut defaults: Vec<(&str, Json)> = vec![
        ("run", tool.run.spawn.name().into()),
        ("result", tool.result.name().into()),
        ("format", tool.format.name().into()),
        ("on_uncovered", tool.on_uncovered.name().into()),
    ];
    if tool.source.is_local() {
        defaults.push(("runtime", tool.runtime.name().into()));
    }
    if tool.runtime == RuntimeKind::Stdio {
        defaults.push(("input", tool.input.name().into()));
    }
    if !tool.actions.is_one_shot() {
        let actions: Vec<&str> = tool.actions.iter().map(ToolAction::name).collect();
        defaults.push(("stateful", actions.into()));
        defaults.push(("notices", ["stopped", "waiting"].as_slice().into()));
    }
    defaults.retain(|(name, _)| tool.values.get(name).is_none());
    defaults
}

/// The same of a server.
fn server_defaults(server: &Server) -> Vec<(&'static str, Json)> {
    let mut defaults: Vec<(&str, Json)> = vec![("prefix", server.prefix.as_str().into())];
    let fixed = keys::SERVER.keys.iter().filter_map(|key| {
        let is_own = !keys::OF_TOOLS.contains(&key.name);
        let default = key.default.filter(|_| is_own)?;
        Some((key.name, serde_json::from_str(default).ok()?))
    });
    defaults.extend(fixed);
    defaults.retain(|(name, _)| server.values.get(name).is_none());
    if server.values.get("startup_timeout_secs").is_some() {
        defaults.retain(|(name, _)| *name != "start");
    }
    defaults
}

fn collect_origins(node: &ConfigNode, path: &str, origins: &mut Map<String, Json>) {
    match &node.value {
        Value::Table(table) => {
            for (name, entry) in table {
                collect_origins(&entry.node, &format!("{path}.{}", key(name)), origins);
            }
        }
        Value::List(items) if items.iter().any(|item| item.kind() == TomlValueKind::Table) => {
            for (index, item) in items.iter().enumerate() {
                collect_origins(item, &format!("{path}[{index}]"), origins);
            }
        }
        _ => {
            let origin = &node.origin;
            let place = json!({
                "layer": origin.layer().name(),
                "file": origin.name(),
                "line": origin.line(),
                "column": origin.column(),
            });
            origins.insert(path.to_owned(), place);
        }
    }
}

struct ConfigWriter {
    text: String,
    origin: bool,
}

impl ConfigWriter {
    fn network(&mut self, config: &Config) {
        self.header("[network]");
        let written = config.network_values.as_ref();
        match written.filter(|node| node.get("resolver").is_some()) {
            Some(node) => self.values(node),
            None => self.line("resolver", &basic_string(SYSTEM_RESOLVER), "default"),
        }
    }

    fn llm(&mut self, llm: &LlmConfig) {
        self.header("[llm]");
        self.values(&llm.values);
        for (name, value) in llm.defaults() {
            let value = match value.as_str() {
                Some(text) => basic_string(text),
                None => value.to_string(),
            };
            self.line(name, &value, "default");
        }
        self.tables("llm", &llm.values);
    }

    fn mcp(&mut self, mcp: &McpConfig) {
        let Some(written) = &mcp.values else {
            return;
        };
        self.header("[mcp]");
        self.values(written);
        for (name, value) in mcp.defaults() {
            let value = basic_string(value.as_str().unwrap_or_default());
            self.line(name, &value, "default");
        }
    }

    fn server(&mut self, server: &Server) {
        let path = server.key();
        let values = masked(&server.values);
        self.header(&format!("[{path}]"));
        self.values(&values);
        for (name, value) in server_defaults(server) {
            let value = match value.as_str() {
                Some(text) => basic_string(text),
                None => value.to_string(),
            };
            self.line(name, &value, "default");
        }
        self.tables(path, &values);
    }

    fn tool(&mut self, tool: &Tool) {
        let path = format!("tools.{}", key(tool.name.as_str()));
        self.header(&format!("[{path}]"));
        self.values(&tool.values);
        for (name, value) in defaults(tool) {
            let value = match value {
                Json::Array(items) => {
                    let items = items.iter().filter_map(Json::as_str).map(basic_string);
                    format!("[{}]", items.collect::<Vec<_>>().join(", "))
                }
                value => basic_string(value.as_str().unwrap_or_default()),
            };
            self.line(name, &value, "default");
        }
        self.tables(&path, &tool.values);
    }

    fn header(&mut self, header: &str) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(header);
        self.text.push('\n');
    }

    /// The entries of a table that fit on a line.
    fn values(&mut self, node: &ConfigNode) {
        for (name, entry) in node.table().into_iter().flatten() {
            if !needs_header(&entry.node) {
                let value = inline(&entry.node);
                self.line(&key(name), &value, &place(&entry.node.origin));
            }
        }
    }

    /// The entries of a table that are tables themselves.
    fn tables(&mut self, path: &str, node: &ConfigNode) {
        for (name, entry) in node.table().into_iter().flatten() {
            if !needs_header(&entry.node) {
                continue;
            }
            let path = format!("{path}.{}", key(name));
            if let Some(items) = entry.node.list() {
                for item in items {
                    self.header(&format!("[[{path}]]"));
                    self.values(item);
                    self.tables(&path, item);
                }
                continue;
            }
            let plain = entry.node.table().is_some_and(|table| {
                table.is_empty() || table.values().any(|entry| !needs_header(&entry.node))
            });
            if plain {
                self.header(&format!("[{path}]"));
                self.values(&entry.node);
            }
            self.tables(&path, &entry.node);
        }
    }

    fn line(&mut self, name: &str, value: &str, comment: &str) {
        self.text.push_str(&format!("{name} = {value}"));
        if self.origin {
            self.text.push_str(&format!("  # {comment}"));
        }
        self.text.push('\n');
    }
}

/// Whether a value gets a header of its own: a table, or a list of nothing but tables.
fn needs_header(node: &ConfigNode) -> bool {
    match &node.value {
        Value::Table(_) => true,
        Value::List(items) => {
            !items.is_empty() && items.iter().all(|item| item.kind() == TomlValueKind::Table)
        }
        _ => false,
    }
}

/// What `network.resolver` is when nobody says.
const SYSTEM_RESOLVER: &str = "system";

/// A comment must stay on its line, whatever a file is called.
fn place(origin: &Origin) -> String {
    crate::quoting::clean(&origin.to_string())
}

fn inline(node: &ConfigNode) -> String {
    match &node.value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) if value.is_nan() => "nan".to_owned(),
        Value::Float(value) if value.is_infinite() => {
            if *value > 0.0 { "inf" } else { "-inf" }.to_owned()
        }
        Value::Float(value) => format!("{value:?}"),
        Value::Text(value) => basic_string(value),
        Value::Date(value) => value.clone(),
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(inline).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Table(table) if table.is_empty() => "{}".to_owned(),
        Value::Table(table) => {
            let entries: Vec<String> = table
                .iter()
                .map(|(name, entry)| format!("{} = {}", key(name), inline(&entry.node)))
                .collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

/// `text` as a TOML string in double quotes.
pub(crate) fn basic_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for one in text.chars() {
        match one {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            one if is_deceptive(one) => quoted.push_str(&format!("\\U{:08X}", u32::from(one))),
            one => quoted.push(one),
        }
    }
    quoted.push('"');
    quoted
}
