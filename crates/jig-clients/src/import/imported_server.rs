//! [`ImportedServer`]: a server of a client as jig will have it.

use camino::Utf8Path;
use serde_json::{Map, Value as Json};

use super::declared::{ClientFileScope, ImportContext};
use super::filled_text::{self, ImportText, ImportTextPlace, is_variable};
use super::secret::{Export, SecretSearch, SecretVariables};

/// A server as jig will have it, but for its access.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedServer {
    /// Its name in jig.
    pub name: String,
    /// Its name at the client.
    pub original: String,
    /// The file that it comes from, as people are shown it.
    pub from: String,
    /// Whose the file is.
    pub scope: ClientFileScope,
    /// How it is reached.
    pub reach: EntryReach,
    /// Whether the client uses it.
    pub enable: bool,
    /// The tools that are offered; all if it is empty.
    pub tools: Vec<String>,
    /// The tools that are not offered.
    pub hide: Vec<String>,
    /// How long it may take to start, in seconds.
    pub start: Option<u64>,
    /// How long a call may take, in seconds.
    pub time: Option<u64>,
    /// Variables that a person has to set.
    pub exports: Vec<Export>,
    /// What could not be taken over as it was, and what else is to be known.
    pub notes: Vec<String>,
}

/// How a server is reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryReach {
    /// By starting a program.
    Program {
        /// The program and its arguments.
        command: Vec<ImportText>,
        /// The variables that it is started with.
        env: Vec<(String, ImportText)>,
        /// Variables of the user that it gets, if they are set.
        passed: Vec<String>,
    },
    /// At an address.
    Remote {
        /// The address.
        url: ImportText,
        /// The headers that requests carry.
        headers: Vec<(String, ImportText)>,
    },
}

impl ImportedServer {
    /// Puts variables in the place of secrets that were found anywhere.
    pub fn hide(&mut self, secrets: &SecretVariables) {
        let exports = &mut self.exports;
        let mut hide = |text: &mut ImportText| {
            for (variable, value) in secrets.long() {
                if text.hide(value, variable) && !exports.iter().any(|one| one.variable == variable)
                {
                    exports.push(Export {
                        variable: variable.to_owned(),
                        from: "another place".to_owned(),
                    });
                }
            }
        };
        match &mut self.reach {
            EntryReach::Program { command, env, .. } => {
                command.iter_mut().for_each(&mut hide);
                env.iter_mut().for_each(|(_, value)| hide(value));
            }
            EntryReach::Remote { url, headers } => {
                hide(url);
                headers.iter_mut().for_each(|(_, value)| hide(value));
            }
        }
    }
}

/// A server of a client's file.
pub struct DeclaredServer<'a> {
    /// Its name at the client.
    pub original: &'a str,
    /// The name that it gets.
    pub name: String,
    /// What the file says of it.
    pub value: &'a Json,
    /// The file, as people are shown it.
    pub from: &'a str,
    /// Whose the file is.
    pub scope: ClientFileScope,
    /// Whether it is switched off elsewhere.
    pub is_off: bool,
    /// The names in the file that `envFile` leads to, or why they are not known.
    pub names_in: &'a dyn Fn(&str) -> Result<Vec<String>, String>,
}

/// Why a server is not taken over.
#[derive(Debug, PartialEq, Eq)]
pub enum LeftOutReason {
    /// It is jig.
    Itself,
    /// It cannot be.
    Unfit(String),
}

impl From<String> for LeftOutReason {
    fn from(why: String) -> Self {
        Self::Unfit(why)
    }
}

/// Turns a server of a client into one of jig.
pub fn convert(
    declared: &DeclaredServer<'_>,
    context: &ImportContext<'_>,
    secrets: &mut SecretVariables,
) -> Result<ImportedServer, LeftOutReason> {
    let Some(keys) = declared.value.as_object() else {
        return Err(LeftOutReason::Unfit("it is no object".to_owned()));
    };
    if is_jig(keys) {
        return Err(LeftOutReason::Itself);
    }
    let mut reading = EntryReader {
        keys,
        context,
        seen: Vec::new(),
        exports: Vec::new(),
        notes: Vec::new(),
    };
    let reach = reading.reach(declared)?;
    let mut imported = ImportedServer {
        name: declared.name.clone(),
        original: declared.original.to_owned(),
        from: declared.from.to_owned(),
        scope: declared.scope,
        reach,
        enable: reading.is_enabled() && !declared.is_off,
        tools: reading.globs("enabled_tools")?,
        hide: reading.globs("disabled_tools")?,
        start: reading.seconds("startup_timeout_sec", 1.0)?,
        time: reading.seconds("tool_timeout_sec", 1.0)?,
        exports: Vec::new(),
        notes: Vec::new(),
    };
    if let Some(start) = reading.seconds("startup_timeout_ms", 1000.0)? {
        imported.start.get_or_insert(start);
    }
    reading.tell_the_rest();
    imported.notes = reading.notes;
    imported.exports = reading.exports;
    let mut search = SecretSearch {
        secrets,
        server: &declared.name,
        exports: &mut imported.exports,
    };
    match &mut imported.reach {
        EntryReach::Program { command, env, .. } => {
            for (name, value) in env {
                *value = search.variable(name, std::mem::take(value));
            }
            *command = search.words(std::mem::take(command));
        }
        EntryReach::Remote { url, headers } => {
            for (name, value) in headers {
                *value = search.header(name, std::mem::take(value));
            }
            *url = search.address(std::mem::take(url));
        }
    }
    Ok(imported)
}

/// Whether a server is jig: then it has the tools that jig serves, and jig would serve itself.
fn is_jig(keys: &Map<String, Json>) -> bool {
    let command = keys
        .get("command")
        .and_then(Json::as_str)
        .unwrap_or_default();
    let mut words = command.split_whitespace();
    let program = Utf8Path::new(words.next().unwrap_or_default());
    let args = keys
        .get("args")
        .and_then(Json::as_array)
        .into_iter()
        .flatten();
    let mut args = words.chain(args.filter_map(Json::as_str));
    let is_started = program.file_stem() == Some("jig") && args.any(|word| word == "mcp");
    let token = |value: &Json| {
        value
            .as_str()
            .is_some_and(|text| text.contains("JIG_MCP_TOKEN"))
    };
    let headers = keys
        .get("headers")
        .and_then(Json::as_object)
        .into_iter()
        .flatten();
    let mut headers = headers.map(|(_, value)| value);
    is_started || headers.any(token) || keys.get("bearer_token_env_var").is_some_and(token)
}

/// An entry that is being read.
struct EntryReader<'a> {
    keys: &'a Map<String, Json>,
    context: &'a ImportContext<'a>,
    /// The keys that were used.
    seen: Vec<&'static str>,
    exports: Vec<Export>,
    notes: Vec<String>,
}

impl<'a> EntryReader<'a> {
    fn get(&mut self, key: &'static str) -> Option<&'a Json> {
        self.seen.push(key);
        self.keys.get(key).filter(|value| !value.is_null())
    }

    fn string(&mut self, key: &'static str) -> Result<Option<&'a str>, String> {
        match self.get(key) {
            None => Ok(None),
            Some(Json::String(text)) => bounded(key, text).map(Some),
            Some(_) => Err(format!("its `{key}` is no text")),
        }
    }

    fn list(&mut self, key: &'static str) -> Result<Vec<&'a str>, String> {
        let list = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Json::Array(list)) if list.len() <= MAX_ITEMS => list,
            Some(Json::Array(_)) => {
                return Err(format!("its `{key}` has more than {MAX_ITEMS} items"));
            }
            Some(_) => return Err(format!("its `{key}` is no list")),
        };
        let item = |item: &'a Json| match item {
            Json::String(text) => bounded(key, text),
            _ => Err(format!("its `{key}` holds something else than text")),
        };
        list.iter().map(item).collect()
    }

    /// The pairs of an object. Numbers and switches are what they look like.
    fn pairs(&mut self, key: &'static str) -> Result<Vec<(&'a str, String)>, String> {
        let pairs = match self.get(key) {
            None => return Ok(Vec::new()),
            Some(Json::Object(pairs)) if pairs.len() <= MAX_ITEMS => pairs,
            Some(Json::Object(_)) => {
                return Err(format!("its `{key}` has more than {MAX_ITEMS} entries"));
            }
            Some(_) => return Err(format!("its `{key}` is no object")),
        };
        let mut read = Vec::new();
        for (name, value) in pairs {
            bounded(key, name)?;
            match value {
                Json::String(text) => read.push((name.as_str(), bounded(key, text)?.to_owned())),
                Json::Number(_) | Json::Bool(_) => read.push((name.as_str(), value.to_string())),
                // A variable that is taken away: a program gets none that nobody gave it.
                Json::Null => {}
                _ => return Err(format!("its `{key}` holds something else than text")),
            }
        }
        Ok(read)
    }

    fn text(&self, text: &str, place: ImportTextPlace) -> Result<ImportText, String> {
        filled_text::read(text, place, self.context)
    }

    fn reach(&mut self, declared: &DeclaredServer<'_>) -> Result<EntryReach, LeftOutReason> {
        let kind = self.string("type")?.or(self.string("transport")?);
        let url = self.string("url")?;
        match (kind, url) {
            (Some("sse"), _) => Err(LeftOutReason::Unfit(
                "it speaks HTTP with SSE, the transport before Streamable HTTP: most such servers have an \
                 address for the new one, often ending in `/mcp`"
                    .to_owned(),
            )),
            (Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), None) => {
                Err(LeftOutReason::Unfit("it has no `url`".to_owned()))
            }
            (None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), Some(url)) => {
                self.remote(url)
            }
            (None | Some("stdio"), _) => self.program(declared),
            (Some(other), _) => Err(LeftOutReason::Unfit(format!(
                "it is reached by `{}`, which jig does not know",
                short(other)
            ))),
        }
    }

    fn remote(&mut self, url: &str) -> Result<EntryReach, LeftOutReason> {
        let address = self.text(url, ImportTextPlace::Remote)?;
        if let Some(plain) = address.as_plain() {
            jig_config::server_url(plain).map_err(|why| format!("its `url`: {why}"))?;
        }
        let mut headers = Vec::new();
        for key in ["headers", "http_headers"] {
            for (name, value) in self.pairs(key)? {
                is_header(name)?;
                headers.push((name.to_owned(), self.text(&value, ImportTextPlace::Remote)?));
            }
        }
        for (name, variable) in self.pairs("env_http_headers")? {
            is_header(name)?;
            headers.push((name.to_owned(), variable_of(&variable)?));
        }
        if let Some(variable) = self.string("bearer_token_env_var")? {
            let token = variable_of(variable)?;
            let bearer = filled_text::ImportTextPart::Plain("Bearer ".to_owned());
            let value = ImportText::of([&[bearer], token.parts()].concat());
            headers.push(("Authorization".to_owned(), value));
        }
        if let Some(token) = self.string("bearer_token")? {
            headers.push((
                "Authorization".to_owned(),
                self.text(&format!("Bearer {token}"), ImportTextPlace::Remote)?,
            ));
        }
        for key in ["oauth", "auth", "scopes", "headersHelper", "oauth_resource"] {
            if self.get(key).is_some() {
                self.notes.push(format!(
                    "`{key}` is not taken over: jig does not sign in by itself; give it a token by a header"
                ));
            }
        }
        self.inputs(&[&address], headers.iter().map(|(_, value)| value));
        Ok(EntryReach::Remote {
            url: address,
            headers,
        })
    }

    fn program(&mut self, declared: &DeclaredServer<'_>) -> Result<EntryReach, LeftOutReason> {
        let Some(program) = self.string("command")? else {
            return Err(LeftOutReason::Unfit(
                "it has neither `command` nor `url`".to_owned(),
            ));
        };
        let mut words: Vec<&str> = self.list("args")?;
        let is_sentence =
            words.is_empty() && program.contains(' ') && !program.contains(['"', '\'', '\\', '/']);
        match is_sentence {
            // Some clients hand the command to a shell.
            true => words = program.split_whitespace().collect(),
            false => words.insert(0, program),
        }
        if let ["cmd" | "cmd.exe", "/c" | "/C", rest @ ..] = &words[..] {
            words = rest.to_vec();
            self.notes
                .push("`cmd /c`, which starts programs on Windows, is left out".to_owned());
        }
        if words.iter().any(|word| word.contains('\0'))
            || words.first().is_none_or(|word| word.trim().is_empty())
        {
            return Err(LeftOutReason::Unfit(
                "its `command` names no program".to_owned(),
            ));
        }
        let command: Result<Vec<ImportText>, String> = words
            .iter()
            .map(|word| self.text(word, ImportTextPlace::Program))
            .collect();
        let command = command?;
        let mut env = Vec::new();
        for (name, value) in self.pairs("env")? {
            match is_variable(name) && !value.contains('\0') {
                true => env.push((
                    name.to_owned(),
                    self.text(&value, ImportTextPlace::Program)?,
                )),
                false => self
                    .notes
                    .push(format!("`env` has no variable called `{}`", short(name))),
            }
        }
        self.env_file(declared, &mut env)?;
        let passed = self.passed()?;
        self.folder()?;
        if matches!(words.first(), Some(&("docker" | "podman"))) {
            self.notes.push(format!(
                "`{}` starts containers through a service outside of the sandbox, so that jig cannot confine what \
                 runs there, and does not show it the service's socket: start the server without it",
                words[0]
            ));
        }
        self.inputs(
            &command.iter().collect::<Vec<_>>(),
            env.iter().map(|(_, value)| value),
        );
        Ok(EntryReach::Program {
            command,
            env,
            passed,
        })
    }

    /// The variables that a file sets: their names, so that the values stay where they are.
    fn env_file(
        &mut self,
        declared: &DeclaredServer<'_>,
        env: &mut Vec<(String, ImportText)>,
    ) -> Result<(), String> {
        let Some(path) = self.string("envFile")? else {
            return Ok(());
        };
        let read = self.text(path, ImportTextPlace::Program)?;
        let named = read.as_plain().map(declared.names_in);
        let names = named.unwrap_or_else(|| Err("its path holds a variable".to_owned()));
        let shown = short(path);
        match names {
            Err(why) => self
                .notes
                .push(format!("`envFile` is not taken over: `{shown}`: {why}")),
            Ok(names) => {
                for name in names {
                    if !env.iter().any(|(other, _)| *other == name) {
                        env.push((name.clone(), ImportText::variable(&name, None)));
                        self.exports.push(Export {
                            variable: name,
                            from: format!("`{shown}`, which jig does not read: `set -a; . FILE`"),
                        });
                    }
                }
            }
        }
        Ok(())
    }

    /// Variables of the user that Codex hands on.
    fn passed(&mut self) -> Result<Vec<String>, String> {
        let list = match self.get("env_vars") {
            None => return Ok(Vec::new()),
            Some(Json::Array(list)) if list.len() <= MAX_ITEMS => list,
            Some(_) => return Err("its `env_vars` is no list".to_owned()),
        };
        let mut passed = Vec::new();
        for item in list {
            let name = item.as_str().or_else(|| item.get("name")?.as_str());
            match name.filter(|name| is_variable(name)) {
                Some(name) => passed.push(name.to_owned()),
                None => self
                    .notes
                    .push("`env_vars` holds something that names no variable".to_owned()),
            }
        }
        Ok(passed)
    }

    /// Where it is started.
    fn folder(&mut self) -> Result<(), String> {
        let Some(folder) = self.string("cwd")? else {
            return Ok(());
        };
        let read = self.text(folder, ImportTextPlace::Program);
        let is_root = read.is_ok_and(|read| {
            let plain = read
                .as_plain()
                .map(|plain| plain.trim_end_matches('/').to_owned());
            plain.is_some_and(|plain| plain == "." || plain == self.context.root.as_str())
        });
        if !is_root {
            self.notes.push(format!(
                "`cwd` is not taken over: jig starts servers in the workspace, not in `{}`; write paths out",
                short(folder)
            ));
        }
        Ok(())
    }

    /// Tells what takes the place of values that the client asks for.
    fn inputs<'t>(&mut self, first: &[&'t ImportText], more: impl Iterator<Item = &'t ImportText>) {
        let variables = first
            .iter()
            .copied()
            .chain(more)
            .flat_map(ImportText::variables);
        let mut told: Vec<&str> = Vec::new();
        for variable in variables {
            let input = self
                .context
                .inputs
                .iter()
                .find(|input| input.variable == variable);
            let Some(input) = input.filter(|_| !told.contains(&variable)) else {
                continue;
            };
            told.push(variable);
            let asked = match input.described.as_str() {
                "" => String::new(),
                described => format!(" (“{}”)", short(described)),
            };
            self.exports.push(Export {
                variable: variable.to_owned(),
                from: format!("what the client asks for as `{}`{asked}", short(&input.id)),
            });
        }
    }

    fn is_enabled(&mut self) -> bool {
        let switch = |value: Option<&Json>| value.and_then(Json::as_bool);
        let (enabled, disabled) = (switch(self.get("enabled")), switch(self.get("disabled")));
        enabled.unwrap_or(true) && !disabled.unwrap_or(false)
    }

    /// Names of tools, as patterns that mean these very names.
    fn globs(&mut self, key: &'static str) -> Result<Vec<String>, String> {
        let names = self.list(key)?;
        let (plain, odd): (Vec<&str>, Vec<&str>) = names
            .into_iter()
            .partition(|name| !name.contains(['*', '?', '[', ']', '{', '}', '!', '\\']));
        if plain.is_empty() && !odd.is_empty() && key == "enabled_tools" {
            // Without a list, all tools would be offered.
            return Err(format!(
                "its `{key}` names tools only by characters that mean something else in a pattern"
            ));
        }
        if !odd.is_empty() {
            self.notes.push(format!(
                "`{key}` names tools by characters that mean something else in a pattern"
            ));
        }
        Ok(plain.into_iter().map(str::to_owned).collect())
    }

    fn seconds(&mut self, key: &'static str, part: f64) -> Result<Option<u64>, String> {
        match self.get(key).map(Json::as_f64) {
            None => Ok(None),
            Some(Some(number)) if number > 0.0 && number.is_finite() => {
                let seconds = (number / part).ceil().clamp(1.0, MOST_SECONDS);
                Ok(Some(seconds as u64))
            }
            Some(_) => Err(format!("its `{key}` is no time")),
        }
    }

    /// Names the keys that were not read.
    fn tell_the_rest(&mut self) {
        let rest = self
            .keys
            .keys()
            .filter(|key| !self.seen.contains(&key.as_str()));
        let silent = ["name", "description", "gallery", "version", "title", "icon"];
        let rest: Vec<String> = rest
            .filter(|key| !silent.contains(&key.as_str()))
            .map(|key| format!("`{}`", short(key)))
            .collect();
        match &rest[..] {
            [] => {}
            [one] => self
                .notes
                .push(format!("{one} is not taken over: jig has no such setting")),
            several if several.len() <= 8 => {
                self.notes.push(format!(
                    "{} are not taken over: jig has no such settings",
                    several.join(", ")
                ));
            }
            several => self.notes.push(format!(
                "{} and {} more are not taken over: jig has no such settings",
                several[..8].join(", "),
                several.len() - 8
            )),
        }
    }
}

fn is_header(name: &str) -> Result<(), String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    match !name.is_empty() && name.chars().all(is_part) {
        true => Ok(()),
        false => Err(format!("`{}` is no name of a header", short(name))),
    }
}

fn variable_of(name: &str) -> Result<ImportText, String> {
    match is_variable(name) {
        true => Ok(ImportText::variable(name, None)),
        false => Err(format!("`{}` is no name of a variable", short(name))),
    }
}

fn bounded<'a>(key: &str, text: &'a str) -> Result<&'a str, String> {
    match text.len() <= MAX_TEXT {
        true => Ok(text),
        false => Err(format!(
            "its `{key}` holds a text of more than {} KiB",
            MAX_TEXT / 1024
        )),
    }
}

/// The beginning of a name that somebody else chose.
pub fn short(text: &str) -> String {
    let mut shown: String = text.chars().take(MOST_SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// The longest text of an entry. No argument that a person writes is nearly that long.
const MAX_TEXT: usize = 32 * 1024;

/// The most items of a list of an entry.
const MAX_ITEMS: usize = 512;

/// The longest time, a day.
const MOST_SECONDS: f64 = 86_400.0;

const MOST_SHOWN: usize = 80;

#[cfg(test)]
mod tests;
