//! How a server is reached, and what must not stand beside it.

use indexmap::IndexMap;
use jig_programs::{SplitError, split_line};
use jig_proto::{Hint, hint};

use super::super::filled::{FilledError, ServerSettingText};
use super::super::url::{ServerUrlError, server_url};
use super::super::{ServerReach, secret};
use super::ServerReader;
use crate::model::build;
use crate::origin::Layer;
use crate::problem::Problem;
use crate::quoting::{clean, quote};
use crate::value::{ConfigNode, TableEntry, Value};

impl ServerReader<'_> {
    /// The program, or the URL.
    pub(super) fn reach(&mut self, star: &build::SharedSettings) -> Option<ServerReach> {
        let command = self.node.entry("command");
        let url = self.node.entry("url");
        match (command, url) {
            (Some(command), Some(url)) => {
                let problem = self.problem(
                    "url",
                    "has both a `command` and a `url`",
                    hint!(
                        "keep `command` for a program that jig starts, or `url` for a server that runs elsewhere"
                    ),
                );
                let problem = problem.at(&url.key, "").and(&command.key, "the program");
                self.errors.push(problem);
                None
            }
            (None, None) => {
                let problem = self.problem(
                    "command",
                    "has neither a `command` nor a `url`, so there is nothing to reach",
                    hint!(
                        "add `command = \"PROGRAM\"` and `args = [\"…\"]` to `[{0}]`, or `url = \"https://…\"`",
                        self.merged.key
                    ),
                );
                self.errors.push(problem.at(&self.node.origin, ""));
                None
            }
            (Some(command), None) => {
                self.kind(true);
                self.not_of_a_program();
                let words = self.command(command);
                let policy = build::policy_of_server(
                    self.name,
                    self.merged,
                    words.as_deref().unwrap_or_default(),
                    star,
                    &mut self.errors,
                    &mut self.warnings,
                );
                Some(ServerReach::Program {
                    command: words?,
                    policy: Box::new(policy?),
                })
            }
            (None, Some(url)) => {
                self.kind(false);
                self.only_of_a_program();
                let url = self.url(url);
                let headers = self.all_filled("headers");
                Some(ServerReach::Remote { url: url?, headers })
            }
        }
    }

    /// `type`, which may only say what is known without it.
    fn kind(&mut self, is_program: bool) {
        let Some(entry) = self.node.entry("type") else {
            return;
        };
        let word = entry.node.text().unwrap_or_default();
        let folded = word.to_ascii_lowercase().replace('_', "-");
        let (what, help) = match (folded.as_str(), is_program) {
            ("stdio" | "local", true) | ("http" | "streamable-http" | "remote", false) => return,
            ("sse", _) => (
                "is of the type `sse`, an old transport that jig does not speak".to_owned(),
                hint!(
                    "write the server's URL for Streamable HTTP, which most have at `/mcp`, and remove `type`"
                ),
            ),
            ("stdio" | "local", false) => (
                "is of the type `stdio`, but has a `url`".to_owned(),
                hint!("write `command` for a program that jig starts, or remove `type`"),
            ),
            ("http" | "streamable-http" | "remote", true) => (
                format!("is of the type {}, but has a `command`", quote(word)),
                hint!("write `url` for a server that runs elsewhere, or remove `type`"),
            ),
            _ => (
                format!(
                    "has {} for its `type`, which jig does not know",
                    quote(word)
                ),
                hint!("remove `type`: `command` or `url` says how the server is reached"),
            ),
        };
        let problem = self.problem("type", &what, help);
        self.errors.push(problem.at(&entry.node.origin, ""));
    }

    fn not_of_a_program(&mut self) {
        if let Some(entry) = self.node.entry("headers") {
            let problem = self.problem(
                "headers",
                "has `headers`, but it is a program, which gets none",
                hint!(
                    "remove `headers`; a program gets a secret by `env`, such as `env = {{ TOKEN = \"${{TOKEN}}\" }}`"
                ),
            );
            self.errors.push(problem.at(&entry.key, "").without_text());
        }
    }

    /// What holds a program to rules cannot hold a server elsewhere to them: written there, it would
    /// give false confidence.
    fn only_of_a_program(&mut self) {
        let useless = [
            ("args", "a program has arguments"),
            ("env", "a program has an environment"),
            ("variables", "a program has an environment"),
            ("access", "jig cannot confine it"),
            ("sandbox", "jig cannot confine it"),
        ];
        for (key, why) in useless {
            let Some(entry) = self.node.entry(key) else {
                continue;
            };
            let help = match key {
                "env" | "variables" => {
                    hint!(
                        "remove it; a server elsewhere gets a secret by `headers`, such as `headers.Authorization = \
                         \"Bearer ${{TOKEN}}\"`"
                    )
                }
                "args" => hint!("remove it, or put it into the `url`"),
                _ => {
                    hint!(
                        "remove it; what its tools may be called with is for `run` to say, and which of them there \
                         are, for `tools` and `hide`"
                    )
                }
            };
            let what = format!("has `{key}`, but it runs elsewhere: {why}");
            let problem = self.problem(key, &what, help);
            self.errors.push(problem.at(&entry.key, "").without_text());
        }
    }

    /// The program and its arguments.
    fn command(&mut self, entry: &TableEntry) -> Option<Vec<ServerSettingText>> {
        let before = self.errors.len();
        let args = self.node.entry("args");
        let mut words = Vec::new();
        match &entry.node.value {
            Value::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    words.extend(self.filled(&format!("command[{index}]"), None, item));
                }
            }
            // A path may hold spaces, if the arguments stand apart.
            Value::Text(line) if args.is_some() => {
                words.extend(self.parsed("command", line, &entry.node));
            }
            Value::Text(line) => match split_line(line) {
                Ok(split) => {
                    for word in split {
                        words.extend(self.parsed("command", &word, &entry.node));
                    }
                }
                Err(error) => self.unreadable_command(entry, &error),
            },
            _ => {}
        }
        if self.errors.len() == before
            && words.first().is_none_or(|word| {
                word.command().is_some() || word.plain().is_some_and(|word| word.trim().is_empty())
            })
        {
            let problem = self.problem(
                "command",
                "has a `command` without a program",
                hint!("name the program first: a name on the search path, or a path"),
            );
            self.errors
                .push(problem.at(&entry.node.origin, "").without_text());
        }
        let items = args.and_then(|entry| entry.node.list()).unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            words.extend(self.filled(&format!("args[{index}]"), None, item));
        }
        (self.errors.len() == before).then_some(words)
    }

    fn unreadable_command(&mut self, entry: &TableEntry, error: &SplitError) {
        let problem = self.problem(
            "command",
            &format!("has a `command` that cannot be split into words: {error}"),
            hint!(
                "close it, or write the words apart: `command = \"PROGRAM\"` and `args = [\"…\"]`"
            ),
        );
        self.errors
            .push(problem.at(&entry.node.origin, "").without_text());
    }

    fn url(&mut self, entry: &TableEntry) -> Option<ServerSettingText> {
        let url = self.filled("url", None, &entry.node)?;
        // What is filled in later is checked again then.
        let Some(Err(error)) = url.plain().map(server_url) else {
            return Some(url);
        };
        let help = match error {
            ServerUrlError::Plain => {
                hint!(
                    "write `https://`; `http://` is for `localhost` and addresses of this machine"
                )
            }
            ServerUrlError::User => {
                hint!("write a header instead: `headers.Authorization = \"Bearer ${{TOKEN}}\"`")
            }
            ServerUrlError::Fragment => hint!("remove `#` and what is behind it"),
            _ => hint!(
                "write the server's URL for Streamable HTTP, such as `https://example.com/mcp`"
            ),
        };
        let problem = self.problem("url", &format!("has no usable `url`: {error}"), help);
        self.errors
            .push(problem.at(&entry.node.origin, "").without_text());
        None
    }

    /// All values below a key of names.
    pub(super) fn all_filled(&mut self, key: &str) -> IndexMap<String, ServerSettingText> {
        let entries = self.node.get(key).and_then(ConfigNode::table);
        let mut all = IndexMap::new();
        for (name, entry) in entries.into_iter().flatten() {
            let place = format!("{key}.{}", crate::quoting::key(name));
            if let Some(value) = self.filled(&place, Some(name), &entry.node) {
                all.insert(name.clone(), value);
            }
        }
        all
    }

    /// A checked value, with what is wrong with it reported; `name` is the variable or header that it is for.
    fn filled(
        &mut self,
        key: &str,
        name: Option<&str>,
        node: &ConfigNode,
    ) -> Option<ServerSettingText> {
        let value = match node.text() {
            Some(text) => self.parsed_for(key, name, text, node)?,
            None => ServerSettingText::read(node).ok()?,
        };
        let Some(words) = value.command() else {
            return Some(value);
        };
        let is_of_workspace = node.origin.layer() == Layer::Workspace
            || node
                .get("command")
                .is_some_and(|node| node.origin.layer() == Layer::Workspace);
        let (what, help) = if words.first().is_none_or(|word| word.trim().is_empty()) {
            (
                "gets a value from a command without a program".to_owned(),
                hint!(
                    "name the program and its arguments: `{{ command = [\"gh\", \"auth\", \"token\"] }}`"
                ),
            )
        } else if is_of_workspace {
            (
                format!(
                    "gets `{}` from a command, and a file of the workspace cannot say so: the command \
                     runs with your own rights, and whoever writes the project's files would choose it",
                    clean(key)
                ),
                hint!(
                    "write a variable, `\"${{NAME}}\"`, and set it before jig starts; or declare the server in your \
                     own file, or pass `--config FILE`"
                ),
            )
        } else {
            return Some(value);
        };
        let problem = self.problem(key, &what, help);
        self.errors.push(problem.at(&node.origin, ""));
        None
    }

    fn parsed(&mut self, key: &str, text: &str, node: &ConfigNode) -> Option<ServerSettingText> {
        self.parsed_for(key, None, text, node)
    }

    /// A text with its variables. A secret in it is refused in a file that is shared, and told of in any other.
    fn parsed_for(
        &mut self,
        key: &str,
        name: Option<&str>,
        text: &str,
        node: &ConfigNode,
    ) -> Option<ServerSettingText> {
        let value = match ServerSettingText::parse(text) {
            Ok(value) => value,
            Err(error) => {
                let what = format!(
                    "has a value in `{}` that cannot be read: {error}",
                    clean(key)
                );
                let problem = self.problem(key, &what, filled_help(error));
                self.errors
                    .push(problem.at(&node.origin, "").without_text());
                return None;
            }
        };
        let is_secret = secret::is_written_out(name, &value);
        let before = secret::before_secret(text);
        let of_env = name.filter(|_| key.starts_with("env."));
        // An argument may be for a shell, which fills it in.
        if let Some(name) = name
            && let Some(variable) = ServerSettingText::bare_variable(text)
            && let is_whole = text == format!("{before}${variable}")
            // `$UPERSECRET` is a password as well.
            && (!is_secret || is_whole && (variable == name || variable.contains('_')))
        {
            let problem = if is_secret || secret::is_name_of_secret(name) {
                // A password may look like a variable.
                let what = format!(
                    "gets a variable without braces in `{}` as it stands: only `${{…}}` is filled in",
                    clean(key)
                );
                let variable = clean(of_env.unwrap_or("TOKEN"));
                let help = hint!(
                    "write a variable, such as `${{{variable}}}`, or `$$` for a `$` if none is meant"
                );
                self.problem(key, &what, help).without_text()
            } else {
                let variable = clean(variable);
                let what = format!(
                    "gets `${variable}` in `{}` as it stands: only `${{…}}` is filled in",
                    clean(key)
                );
                let help =
                    hint!("write `${{{variable}}}`, or `$${variable}` if no variable is meant");
                self.problem(key, &what, help)
            };
            self.warnings.push(problem.at(&node.origin, "").softened());
            return Some(value);
        }
        if !is_secret {
            return Some(value);
        }
        let is_of_workspace = node.origin.layer() == Layer::Workspace;
        let variable = of_env.unwrap_or("TOKEN");
        let what = format!(
            "has what looks like a secret written out in `{}`{}",
            clean(key),
            match is_of_workspace {
                true => ", in a file that is shared with the project",
                false => "",
            }
        );
        let (before, variable) = (clean(before), clean(variable));
        let help = match is_of_workspace {
            true => hint!(
                "write a variable, such as `\"{before}${{{variable}}}\"`, and set it before jig starts"
            ),
            false => hint!(
                "write a variable, such as `\"{before}${{{variable}}}\"`, and set it before jig starts, or a command \
                 that prints it: `{{ command = [\"gh\", \"auth\", \"token\"] }}`"
            ),
        };
        let problem = self.problem(key, &what, help);
        let problem = problem.at(&node.origin, "").without_text();
        match is_of_workspace {
            true => self.errors.push(problem),
            false => self.warnings.push(problem.softened()),
        }
        (!is_of_workspace).then_some(value)
    }

    fn problem(&self, key: &str, what: &str, help: Hint) -> Problem {
        Problem::error(format!("the server {} {what}", quote(self.name)), help)
            .key(format!("{}.{key}", self.merged.key))
    }
}

/// What to do about a value that cannot be read.
fn filled_help(error: FilledError) -> Hint {
    match error {
        FilledError::Open => hint!("close it; for a `$` that means nothing write `$$`"),
        FilledError::Foreign => hint!(
            "write a variable of the environment, `${{NAME}}`; the workspace itself is where the server runs, so that \
             `.` names it"
        ),
        FilledError::Nested => hint!("write a text without variables behind `:-`"),
        FilledError::Nul => hint!("remove it"),
        FilledError::Name => hint!(
            "write `${{NAME}}` or `${{NAME:-text}}`, with letters, digits and `_` in the name; for a `$` that means \
             nothing write `$$`"
        ),
    }
}
