//! The entry of a server, as TOML, at the end of a file.

use jig_config::{AddedSystem, Additions};
use jig_policy::{Capability, FileCapabilities, toml_string};
use jig_proto::visible_line;
use serde_json::{Map, Value as Json};

use super::imported_server::{EntryReach, ImportedServer};

/// A server's entry.
pub fn of(server: &ImportedServer, access: &Additions) -> String {
    let key = format!("mcp.servers.{}", server.name);
    let mut block = TomlBlock::default();
    block.comment("", &format!("from `{}`", server.from));
    block.line(&format!("[{key}]"));
    match &server.reach {
        EntryReach::Program { command, .. } => {
            let words: Vec<String> = command.iter().map(|word| word.written()).collect();
            match &words[..] {
                // A text alone is split at its spaces.
                [one] if one.contains(char::is_whitespace) => {
                    block.pair("command", &list(std::slice::from_ref(one)));
                }
                [program, args @ ..] => {
                    block.pair("command", &toml_string(program));
                    if !args.is_empty() {
                        block.pair("args", &list(args));
                    }
                }
                [] => {}
            }
        }
        EntryReach::Remote { url, .. } => block.pair("url", &toml_string(&url.written())),
    }
    if !server.enable {
        block.pair("enable", "false");
    }
    for (name, globs) in [("tools", &server.tools), ("hide", &server.hide)] {
        if !globs.is_empty() {
            block.pair(name, &list(globs));
        }
    }
    for (name, seconds) in [("start", server.start), ("time", server.time)] {
        if let Some(seconds) = seconds {
            block.pair(name, &toml_string(&format!("{seconds}s")));
        }
    }
    let (table, pairs) = match &server.reach {
        EntryReach::Program { env, .. } => ("env", env),
        EntryReach::Remote { headers, .. } => ("headers", headers),
    };
    if !pairs.is_empty() {
        block.line(&format!("\n[{key}.{table}]"));
        for (name, value) in pairs {
            block.pair(&bare(name), &toml_string(&value.written()));
        }
    }
    block.sandbox(&key, access);
    block.rules(&key, access);
    if let EntryReach::Program { passed, .. } = &server.reach {
        for name in passed {
            block.line(&format!("\n[[{key}.access.env]]"));
            block.pair("name", &toml_string(name));
            block.pair("read", "true");
        }
    }
    block.text
}

/// The text of a file with entries at its end; `None` if they would change what it says besides.
pub fn appended(text: &str, blocks: &[String]) -> Option<String> {
    let newline = match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    };
    let mut after = text.to_owned();
    for block in blocks {
        let between = match after.as_str() {
            "" => "",
            text if text.ends_with('\n') => newline,
            _ => "\n\n",
        };
        after.push_str(between);
        after.push_str(&block.replace('\n', newline));
    }
    let value = |text: &str| toml::from_str::<Map<String, Json>>(text).ok();
    let mut expected = value(text)?;
    for block in blocks {
        let mut added = value(block)?;
        let servers = added.get_mut("mcp")?.get_mut("servers")?.as_object_mut()?;
        let mcp = expected
            .entry("mcp")
            .or_insert_with(|| Json::Object(Map::new()));
        let all = mcp.as_object_mut()?;
        let all = all
            .entry("servers")
            .or_insert_with(|| Json::Object(Map::new()));
        all.as_object_mut()?.extend(std::mem::take(servers));
    }
    (value(&after)? == expected).then_some(after)
}

#[derive(Default)]
struct TomlBlock {
    text: String,
}

impl TomlBlock {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn pair(&mut self, key: &str, value: &str) {
        self.line(&format!("{key} = {value}"));
    }

    /// A comment on a line of its own, whatever is in it.
    fn comment(&mut self, indent: &str, text: &str) {
        self.line(&format!("{indent}# {}", visible_line(text)));
    }

    fn sandbox(&mut self, key: &str, access: &Additions) {
        if access.presets.is_empty() && access.system.is_empty() {
            return;
        }
        self.line(&format!("\n[{key}.sandbox]"));
        if !access.presets.is_empty() {
            let names: Vec<String> = access
                .presets
                .iter()
                .map(|one| one.name().to_owned())
                .collect();
            self.pair("presets", &list(&names));
        }
        if !access.system.is_empty() {
            self.line("system = [");
            for added in &access.system {
                for comment in &added.comment {
                    self.comment("    ", comment);
                }
                self.line(&format!("    {},", system(added)));
            }
            self.line("]");
        }
    }

    fn rules(&mut self, key: &str, access: &Additions) {
        for rule in &access.fs {
            self.text.push('\n');
            for comment in &rule.comment {
                self.comment("", comment);
            }
            self.line(&format!("[[{key}.access.fs]]"));
            self.pair("path", &toml_string(&rule.path));
            for name in granted(rule.capabilities) {
                self.pair(name, "true");
            }
        }
        for rule in &access.net {
            self.text.push('\n');
            for comment in &rule.comment {
                self.comment("", comment);
            }
            self.line(&format!("[[{key}.access.net]]"));
            self.pair("host", &toml_string(&rule.host));
            if let Some(scheme) = &rule.scheme {
                self.pair("scheme", &toml_string(scheme));
            }
            if let Some(port) = rule.port {
                self.pair("port", &port.to_string());
            }
            if let Some(prefix) = &rule.path_prefix {
                self.pair("path_prefix", &toml_string(prefix));
            }
            self.pair("allow", "true");
        }
    }
}

fn system(added: &AddedSystem) -> String {
    let path = toml_string(&added.path);
    let mut flags = String::new();
    for (name, is_set) in [("write", added.write), ("execute", added.execute)] {
        if is_set {
            flags.push_str(&format!(", {name} = true"));
        }
    }
    match flags.as_str() {
        "" => path,
        flags => format!("{{ path = {path}{flags} }}"),
    }
}

/// The keys by which capabilities are granted.
fn granted(capabilities: FileCapabilities) -> Vec<&'static str> {
    let writes = capabilities.covers(FileCapabilities::WRITE);
    let names = capabilities.iter().filter_map(|one| match one {
        Capability::Create if writes => Some("write"),
        one if writes && FileCapabilities::WRITE.has(one) => None,
        one => Some(one.name()),
    });
    names.collect()
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| toml_string(text)).collect();
    format!("[{}]", texts.join(", "))
}

/// A key as it is, or in quotes.
fn bare(key: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !key.is_empty() && key.chars().all(is_part) {
        true => key.to_owned(),
        false => toml_string(key),
    }
}

#[cfg(test)]
mod tests;
