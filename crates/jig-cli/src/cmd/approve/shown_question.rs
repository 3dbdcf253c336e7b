//! [`ServerQuestion`]: a question of a server, as a person is shown it.

use std::time::Duration;

use anyhow::Context;
use camino::Utf8PathBuf;
use jig_proto::{Question, visible_line, visible_lines, visible_words};
use jig_station::asks::ServerWelcome;
use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::diff;
use crate::limits;
use crate::output::{self, BOLD, DIM, indented};

/// A question of a server. All that a tool may have chosen is in it as it came: whatever is printed goes
/// through [`visible_lines`].
#[derive(Debug, Clone, Deserialize)]
pub(super) struct ServerQuestion {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) about: String,
    caller: Option<String>,
    pub(super) tool: Option<String>,
    age_ms: u64,
    text: String,
    decisions: Vec<String>,
    needs_value: bool,
    #[serde(default)]
    begins: Option<String>,
    #[serde(default)]
    context: Option<String>,
    #[serde(default)]
    hidden_bytes: u64,
    #[serde(default)]
    schema: Json,
    #[serde(default)]
    default: Option<Json>,
    /// The server that asks.
    #[serde(skip)]
    pub(super) pid: u32,
    #[serde(skip)]
    pub(super) workspace: Utf8PathBuf,
    /// As it came.
    #[serde(skip)]
    whole: Json,
}

impl ServerQuestion {
    /// A question of this server.
    pub(super) fn read(server: &ServerWelcome, question: &Json) -> anyhow::Result<Self> {
        let read = serde_json::from_value(question.clone());
        let asked: Self = read.context("the server tells of a question in another form")?;
        Ok(Self {
            pid: server.pid,
            workspace: server.workspace.clone(),
            whole: question.clone(),
            ..asked
        })
    }

    /// For programs.
    pub(super) fn to_json(&self) -> Json {
        let mut all = self.whole.clone();
        all["server"] = match self.pid {
            super::NO_SERVER => Json::Null,
            pid => json!(pid),
        };
        all["workspace"] = json!(self.workspace);
        all
    }

    /// Whether a yes is kept for good, so that it is given by a person who has seen what it is about: a
    /// configuration, a server, what a server says of its tools.
    pub(super) fn is_accepted(&self) -> bool {
        self.decisions.iter().any(|decision| decision == "accept")
    }

    /// What becomes of it when it is accepted, or not.
    pub(super) fn consequence(&self, accepted: bool) -> &'static str {
        match (self.about.as_str(), accepted) {
            ("server", true) => "accepted: the server may be started",
            ("server", false) => "denied: the server is not started",
            ("definition", true) => "accepted: its tools are what the server says now",
            ("definition", false) => "denied: the tools stay what was accepted",
            (_, true) => "accepted: the configuration comes into force",
            (_, false) => "denied: the old configuration stays",
        }
    }

    /// Whether a call waits for the answer.
    pub(super) fn is_waiting(&self) -> bool {
        self.state == "waiting"
    }

    /// The question in one line.
    pub(super) fn text(&self) -> String {
        visible_words(&self.text)
    }

    /// The question in one line, with the first words of what it is about.
    fn line(&self) -> String {
        let begins = self
            .begins
            .as_deref()
            .map(visible_lines)
            .unwrap_or_default();
        let line = format!("{} {}", self.text(), begins.replace('\n', " "));
        line.trim_end().to_owned()
    }

    /// What was decided about, for somebody who did not look before: the agent chose which question it told
    /// them to answer.
    pub(super) fn told(&self) -> String {
        let mut text = format!("  {}\n", self.text());
        let context = self
            .context
            .as_deref()
            .map(visible_lines)
            .unwrap_or_default();
        let mut lines = context.lines();
        for line in lines.by_ref().take(MOST_TOLD) {
            let short: String = line.chars().take(LONGEST_TOLD).collect();
            let more = if short.len() < line.len() { "…" } else { "" };
            text.push_str(&format!("    {short}{more}\n"));
        }
        if lines.next().is_some() || self.hidden_bytes > 0 {
            text.push_str("    …\n");
        }
        text
    }

    /// The question itself, for whoever takes the answer in another form than a decision.
    pub(super) fn question(&self) -> Question {
        let mut question = Question::new("answer", self.text(), self.schema.clone());
        question.default = self.default.clone();
        question
    }

    /// Where it comes from.
    fn origin(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.tool.as_deref().map(visible_line));
        parts.push(self.about.replace('_', " "));
        let caller = self.caller.as_deref().map(visible_line);
        parts.extend(caller.map(|caller| format!("for {caller}")));
        let age = limits::age(Duration::from_millis(self.age_ms));
        parts.push(format!("{} for {age}", self.state));
        parts.join(", ")
    }

    /// All that a person needs to decide.
    pub(super) fn shown(&self) -> String {
        let origin = self.origin();
        let mut text = format!("{BOLD}{}{BOLD:#} {DIM}{origin}{DIM:#}\n", self.id);
        // It is said whose question it is: a tool can write anything into its own.
        let who = match (&self.tool, self.about.as_str()) {
            (Some(tool), "tool") => format!("`{}` asks: ", visible_line(tool)),
            _ => String::new(),
        };
        text.push_str(&format!("  {who}{BOLD}{}{BOLD:#}\n", self.text()));
        if let Some(context) = &self.context {
            text.push_str(&indented(&diff::coloured(&visible_lines(context)), 4));
        }
        if self.hidden_bytes > 0 {
            let hidden = limits::size(self.hidden_bytes);
            text.push_str(&format!("    … and {hidden} more that are not shown\n"));
        }
        if self.is_accepted() && self.is_waiting() {
            return text;
        }
        if !self.is_waiting() {
            text.push_str(&format!(
                "  {DIM}Nobody decided, so that the call was denied. If you allow it, the agent's next call of exactly \
                 the same goes through.{DIM:#}\n"
            ));
        }
        if let (Some(tool), "run") = (&self.tool, self.about.as_str()) {
            let tool = visible_line(tool);
            text.push_str(&format!(
                "  {DIM}For this turn: further calls of `{tool}`, too, with any arguments that the same rule asks \
                 about.\n  To allow it for good: `run = \"unattended\"` in `[tools.{tool}]`.{DIM:#}\n"
            ));
        }
        text
    }

    /// How it is answered without a terminal.
    pub(super) fn ways(&self) -> String {
        let id = &self.id;
        if self.is_accepted() {
            return format!("answer it at a terminal: `jig approve {id}`; or `--deny`");
        }
        let answer = if self.needs_value {
            " --answer VALUE"
        } else {
            ""
        };
        let ways = self.decisions.iter().map(|decision| match &**decision {
            "deny" => format!("`jig approve {id} --deny`"),
            decision => format!("`jig approve {id} --{decision}{answer}`"),
        });
        format!("answer it with {}", ways.collect::<Vec<_>>().join(", "))
    }
}

/// The questions in a server's answer to `list`.
pub(super) fn listed(server: &ServerWelcome, list: &Json) -> anyhow::Result<Vec<ServerQuestion>> {
    let questions = list["questions"].as_array();
    let questions = questions.into_iter().flatten();
    questions
        .map(|question| ServerQuestion::read(server, question))
        .collect()
}

/// All of them, one in a line.
pub(super) fn table(rows: &[ServerQuestion], with_server: bool) -> String {
    let mut header = vec!["id", "state", "age", "caller", "about", "question"];
    if with_server {
        header.splice(1..1, ["server", "workspace"]);
    }
    let row = |asked: &ServerQuestion| {
        let caller = asked.caller.as_deref().map(visible_line);
        let mut cells = vec![
            asked.id.clone(),
            asked.state.clone(),
            limits::age(Duration::from_millis(asked.age_ms)),
            caller.unwrap_or_else(|| "-".to_owned()),
            asked.about.replace('_', " "),
            asked.line(),
        ];
        if with_server {
            let workspace = visible_line(asked.workspace.as_str());
            let server = match asked.pid {
                super::NO_SERVER => "-".to_owned(),
                pid => pid.to_string(),
            };
            cells.splice(1..1, [server, workspace]);
        }
        cells
    };
    let mut text = output::table(&header, &rows.iter().map(row).collect::<Vec<_>>());
    text.push_str("`jig approve ID` shows one, and asks; `jig approve ID --once` allows it\n");
    text
}

/// How many lines of what was decided about are told afterwards.
const MOST_TOLD: usize = 20;

/// How long such a line may be, in characters.
const LONGEST_TOLD: usize = 200;
