//! [`FilledServer`]: the texts of a server with their variables filled in.

use std::fmt;
use std::io;
use std::time::Instant;

use jig_broker::{AuditDecision, AuditEntry, AuditNote};
use jig_config::{FillError, Server, ServerReach, ServerSettingText, looks_secret, server_url};
use jig_proto::hint;

use super::command_value::printed_by;
use crate::calls::call::CallError;
use crate::engine::Engine;

/// The texts of a server as they are used. Nothing of it is for logs.
pub struct FilledServer {
    /// The program, and then its arguments; empty for a remote server.
    pub command: Vec<String>,
    /// The variables that its program gets besides those that its rules let through.
    pub env: Vec<(String, String)>,
    /// Where it is, if it is remote.
    pub url: Option<String>,
    /// What every request to a remote server says.
    pub headers: Vec<(String, String)>,
    /// The values that were filled in and are to be kept out of everything that is shown.
    pub secrets: Vec<String>,
}

/// How much there is of it: the values are secrets.
impl fmt::Debug for FilledServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = |pairs: &[(String, String)]| -> Vec<String> {
            pairs.iter().map(|(name, _)| name.clone()).collect()
        };
        f.debug_struct("FilledServer")
            .field("words", &self.command.len())
            .field("env", &names(&self.env))
            .field("headers", &names(&self.headers))
            .field("secrets", &self.secrets.len())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// The texts of a server with their variables filled in from [`Engine::env`], and with what commands print.
    ///
    /// # Errors
    ///
    /// If a variable is missing or a command fails. The error says which, and where that was written, and never
    /// a value.
    pub fn fill_server(&self, server: &Server) -> Result<FilledServer, CallError> {
        let mut filler = ServerFiller {
            engine: self,
            server,
            secrets: Vec::new(),
        };
        let mut filled = FilledServer {
            command: Vec::new(),
            env: filler.pairs("env", &server.env)?,
            url: None,
            headers: Vec::new(),
            secrets: Vec::new(),
        };
        match &server.reach {
            ServerReach::Program { command, .. } => {
                for (number, word) in command.iter().enumerate() {
                    let key = if number == 0 { "command" } else { "args" };
                    filled.command.push(filler.fill(key, word)?);
                }
            }
            ServerReach::Remote { url, headers } => {
                let text = filler.fill("url", url)?;
                // What was filled in may lead elsewhere than what was written.
                server_url(&text).map_err(|error| filler.error("url", &error))?;
                filled.url = Some(text);
                filled.headers = filler.pairs("headers", headers)?;
            }
        }
        filled.secrets = filler.secrets;
        Ok(filled)
    }
}

impl Engine {
    /// Runs a command that prints what stands at `key` of a server, with a line in the log at its start and at its
    /// end. Of its words only the program is there: the others may hold a secret.
    fn recorded_secret(
        &self,
        server: &str,
        key: &str,
        words: &[String],
        run: impl FnOnce() -> Result<String, String>,
    ) -> Result<String, String> {
        let unlogged = |error: io::Error| format!("the log cannot be written: {error}");
        let program = words.first().map_or("", String::as_str);
        let reason = format!("it prints `{key}` of the MCP server");
        let note = AuditNote::new("secret", program, AuditDecision::Allow, reason);
        let mut entry = note.into_entry(server, self.new_id('w'));
        let write = |entry: &AuditEntry| self.audit.record(entry).and_then(|()| self.audit.flush());
        write(&entry).map_err(unlogged)?;
        let begun = Instant::now();
        let printed = run();
        let (outcome, how) = match &printed {
            Ok(_) => ("ok", "it printed a value"),
            Err(why) => ("error", why.as_str()),
        };
        entry.end(outcome, begun.elapsed());
        how.clone_into(&mut entry.reason);
        write(&entry).map_err(unlogged)?;
        printed
    }
}

struct ServerFiller<'e> {
    engine: &'e Engine,
    server: &'e Server,
    secrets: Vec<String>,
}

impl ServerFiller<'_> {
    fn pairs<'p>(
        &mut self,
        key: &str,
        pairs: impl IntoIterator<Item = (&'p String, &'p ServerSettingText)>,
    ) -> Result<Vec<(String, String)>, CallError> {
        let pairs = pairs.into_iter().map(|(name, value)| {
            let filled = self.fill(&format!("{key}.{name}"), value)?;
            // What somebody wrote out in a file of their own is not shown around either.
            if value.plain().is_some() && looks_secret(name, &filled) {
                self.keep(filled.clone());
            }
            Ok((name.clone(), filled))
        });
        pairs.collect()
    }

    /// Fills one text, which stands at `key` of the server.
    fn fill(&mut self, key: &str, text: &ServerSettingText) -> Result<String, CallError> {
        let engine = self.engine;
        let mut found = Vec::new();
        let mut look = |name: &str| {
            let value = engine.env.get(name)?.to_owned();
            if is_secret(name, &value) {
                found.push(value.clone());
            }
            Some(value)
        };
        let home = engine.confine.home.as_deref();
        let server = self.server.name.as_str();
        let mut run = |words: &[String]| {
            engine.recorded_secret(server, key, words, || printed_by(words, &engine.env, home))
        };
        let filled = text.fill(&mut look, &mut run);
        let filled = filled.map_err(|unfilled| match &unfilled {
            FillError::Variable(name) => {
                self.error(key, &format_args!("{unfilled}{}", unset(name)))
            }
            unfilled => self.error(key, unfilled),
        })?;
        if text.command().is_some() {
            found.push(filled.clone());
        }
        for secret in found {
            self.keep(secret);
        }
        Ok(filled)
    }

    fn keep(&mut self, secret: String) {
        let credentials = credentials(&secret).map(str::to_owned);
        for secret in [Some(secret), credentials].into_iter().flatten() {
            if !self.secrets.contains(&secret) {
                self.secrets.push(secret);
            }
        }
    }

    /// Why what stands at `key` cannot be used.
    fn error(&self, key: &str, why: &dyn fmt::Display) -> CallError {
        let server = self.server;
        // `args` may be part of `command`.
        let origin = server.origin(key).or_else(|| server.origin("command"));
        let origin = origin.unwrap_or_else(|| server.declared_at());
        CallError::Server {
            server: server.name.clone(),
            why: format!("its `{key}` ({origin}) cannot be used: {why}"),
        }
    }
}

/// What to do about a variable that is not set.
fn unset(name: &str) -> String {
    let hint = hint!(
        "set it in the environment in which jig, or the agent that starts jig, runs, or give a default: \
         `${{{name}:-…}}`"
    );
    format!("\n{hint}")
}

/// Whether the value of a variable is kept out of what is shown. Those that say where and who somebody is are in
/// half of all texts, and a word such as `true` is, too: without them nothing could be read any more.
fn is_secret(name: &str, value: &str) -> bool {
    let is_ordinary =
        ORDINARY.contains(&name) || ["XDG_", "LC_"].iter().any(|start| name.starts_with(start));
    let is_word = WORDS.iter().any(|word| value.eq_ignore_ascii_case(word));
    let is_small_number = value.len() < 6 && value.bytes().all(|byte| byte.is_ascii_digit());
    !(is_ordinary || is_word || is_small_number)
}

/// What follows the name of a scheme, as in `Bearer abc`: whoever is told both knows it by itself.
fn credentials(secret: &str) -> Option<&str> {
    let (scheme, credentials) = secret.trim_start().split_once(' ')?;
    let is_scheme = SCHEMES.iter().any(|one| scheme.eq_ignore_ascii_case(one));
    is_scheme.then(|| credentials.trim())
}

/// Names that stand before credentials in headers.
const SCHEMES: [&str; 4] = ["Bearer", "Basic", "Token", "ApiKey"];

/// Variables that every program has.
const ORDINARY: [&str; 14] = [
    "PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "SHELL", "PWD", "TMPDIR", "EDITOR", "PAGER",
    "HOSTNAME", "DISPLAY", "TZ",
];

/// Values that settings have, and secrets have not.
const WORDS: [&str; 14] = [
    "true",
    "false",
    "none",
    "null",
    "debug",
    "info",
    "warn",
    "warning",
    "error",
    "localhost",
    "production",
    "development",
    "default",
    "stdio",
];

#[cfg(test)]
mod tests;
