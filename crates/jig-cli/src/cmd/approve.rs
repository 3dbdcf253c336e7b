//! `jig approve`: the questions of MCP servers, and a person's answers to them.

mod dialog;
mod json_bridge;
mod shown_question;
mod watch;

use std::collections::HashSet;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use camino::Utf8PathBuf;
use jig_mcp::{ASK_PROTOCOL, QuestionId, Questions};
use jig_project::{CommandEnvironment, kept_questions, locate};
use jig_proto::hint;
use jig_proto::{visible_line, visible_lines};
use jig_station::asks::ServerWelcome;
use jig_station::asks::client::{
    AskConnection, AskRefusal, AskReply, first_served, servers, some_servers,
};
use serde_json::{Value as Json, json};

use self::dialog::PersonDecision;
use self::shown_question::ServerQuestion;
use crate::args::{ApproveArgs, GlobalArgs};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::prompt::PromptTerminal;

pub(crate) fn run(
    args: &ApproveArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let env = CommandEnvironment::of_this_process();
    let scope = ApproveScope {
        root: match args.all {
            true => None,
            false => {
                let roots = locate::roots(global.workspace.as_deref())?;
                Some(first_served(&roots, &env)?)
            }
        },
        pid: args.server,
        env,
    };
    match &args.id {
        _ if args.watch && out.is_json() => json_bridge::run(&scope),
        _ if args.watch => watch::run(&scope, out),
        Some(id) => one(id, args, &scope, out),
        None => list(&scope, out),
    }
}

/// Which servers are meant.
struct ApproveScope {
    /// `None` for those of all workspaces.
    root: Option<Utf8PathBuf>,
    pid: Option<u32>,
    env: CommandEnvironment,
}

impl ApproveScope {
    /// Connects to them. Those that don't answer are told.
    fn servers(&self, note: &mut dyn FnMut(&str)) -> anyhow::Result<Vec<AskConnection>> {
        self.others(&HashSet::new(), note)
    }

    /// The same, but for those that are known.
    fn others(
        &self,
        known: &HashSet<u32>,
        note: &mut dyn FnMut(&str),
    ) -> anyhow::Result<Vec<AskConnection>> {
        let is_wanted =
            |pid: u32| self.pid.is_none_or(|wanted| wanted == pid) && !known.contains(&pid);
        let found = some_servers(self.root.as_deref(), &self.env, is_wanted)?;
        for silent in &found.silent {
            note(&format!("jig: {}", visible_lines(silent)));
        }
        Ok(found.servers)
    }

    /// Why there is no server.
    fn nobody(&self) -> anyhow::Error {
        let place = match (&self.root, self.pid) {
            (None, None) => {
                return anyhow!(hint!(
                    "an agent's client starts one (`jig setup`), or you do: `jig mcp`"
                ))
                .context("no MCP server runs, in any workspace");
            }
            (_, Some(pid)) => {
                return anyhow!(hint!(
                    "`jig approve --all` lists the questions of all servers"
                ))
                .context(format!("no server with the pid {pid} runs here"));
            }
            (Some(root), None) => format!(" for `{root}`"),
        };
        let hint = hint!(
            "an agent's client starts one (`jig setup`), or you do: `jig mcp`; \
                    `jig approve --all` looks in all workspaces"
        );
        anyhow!(hint).context(format!("no MCP server runs{place}"))
    }

    /// What servers that have ended left in the workspace.
    fn left(&self) -> Option<LeftQuestions> {
        let root = self.root.as_ref().filter(|_| self.pid.is_none())?;
        Some(LeftQuestions {
            questions: Questions::left_in(kept_questions(root, &self.env)?),
            welcome: ServerWelcome {
                jig: env!("CARGO_PKG_VERSION").to_owned(),
                protocol: ASK_PROTOCOL,
                workspace: root.clone(),
                pid: NO_SERVER,
            },
        })
    }

    /// Sends one request to one server, or, without one, to what ended ones have left.
    fn ask(&self, pid: u32, request: &Json) -> anyhow::Result<AskReply> {
        if pid == NO_SERVER
            && let Some(mut left) = self.left()
        {
            return left.ask(request);
        }
        let found = some_servers(self.root.as_deref(), &self.env, |other| other == pid)?;
        match found.servers.into_iter().next() {
            Some(mut server) => server.ask(request),
            None => bail!("the server with the pid {pid} has ended"),
        }
    }
}

/// The questions of a workspace whose servers have ended.
struct LeftQuestions {
    questions: Arc<Questions>,
    welcome: ServerWelcome,
}

/// Something that knows questions.
trait QuestionSource {
    fn welcome(&self) -> &ServerWelcome;
    fn ask(&mut self, request: &Json) -> anyhow::Result<AskReply>;
}

impl QuestionSource for LeftQuestions {
    fn welcome(&self) -> &ServerWelcome {
        &self.welcome
    }

    fn ask(&mut self, request: &Json) -> anyhow::Result<AskReply> {
        let mut reply = self.questions.request(request);
        match reply.get("error") {
            Some(error) => Ok(AskReply::Error(serde_json::from_value(error.clone())?)),
            None => Ok(AskReply::Ok(reply["ok"].take())),
        }
    }
}

impl QuestionSource for AskConnection {
    fn welcome(&self) -> &ServerWelcome {
        &self.welcome
    }

    fn ask(&mut self, request: &Json) -> anyhow::Result<AskReply> {
        AskConnection::ask(self, request)
    }
}

/// The questions that a source lists.
fn listed(source: &mut impl QuestionSource) -> anyhow::Result<Vec<ServerQuestion>> {
    match source.ask(&json!({ "do": "list" }))? {
        AskReply::Ok(list) => shown_question::listed(source.welcome(), &list),
        AskReply::Error(refusal) => Err(refused(refusal)),
    }
}

fn list(scope: &ApproveScope, out: &mut CliOutput) -> anyhow::Result<Done> {
    let mut rows = Vec::new();
    let mut servers = scope.servers(&mut |text| out.note(text))?;
    for server in &mut servers {
        rows.extend(listed(server)?);
    }
    if let Some(mut left) = scope.left() {
        let known: HashSet<String> = rows.iter().map(|asked| asked.id.clone()).collect();
        let left = listed(&mut left)?.into_iter();
        rows.extend(left.filter(|asked| !known.contains(&asked.id)));
    }
    if out.is_json() {
        let rows: Vec<Json> = rows.iter().map(ServerQuestion::to_json).collect();
        out.json(&Json::Array(rows))?;
    } else if servers.is_empty() && rows.is_empty() {
        return Err(scope.nobody());
    } else if rows.is_empty() {
        out.note("nothing waits for an answer; `jig approve --watch` waits for questions");
    } else {
        out.text(&shown_question::table(&rows, servers.len() > 1))?;
    }
    Ok(Done::Ok)
}

fn one(
    id: &str,
    args: &ApproveArgs,
    scope: &ApproveScope,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let id: QuestionId = id.parse().map_err(|error| {
        let hint = hint!("`jig approve` lists them");
        anyhow!(hint).context(format!("`{}` is no question: {error}", visible_line(id)))
    })?;
    let (server, asked) = found(id, scope, out)?;
    let decided = match given(args)? {
        Some(decided) => Some(decided),
        None => asked_here(&asked, out)?,
    };
    let Some(decided) = decided else {
        return Ok(Done::Ok);
    };
    if asked.is_accepted() && decided.decision != "deny" && !decided.at_terminal {
        let hint = hint!("read it and answer at a terminal: `jig approve {id}`");
        let what = match asked.about.as_str() {
            "server" => "a server is accepted by a person who has seen what it may do",
            "definition" => {
                "what a server says is accepted by a person who has seen what it changed"
            }
            _ => {
                "a configuration that allows more is accepted by a person who has seen what it changes"
            }
        };
        return Err(anyhow!(hint).context(what));
    }
    match scope.ask(server, &decided.request(&asked.id))? {
        AskReply::Ok(reply) => {
            match out.is_json() {
                true => out.json(&reply)?,
                false => {
                    out.note(&decided.told(&asked, &reply));
                    if !decided.at_terminal {
                        out.note(asked.told().trim_end());
                    }
                }
            }
            Ok(Done::Ok)
        }
        AskReply::Error(refusal) => Err(refused(refusal)),
    }
}

/// The one question with this name, and the server that asks it.
fn found(
    id: QuestionId,
    scope: &ApproveScope,
    out: &mut CliOutput,
) -> anyhow::Result<(u32, ServerQuestion)> {
    // Where a server turns us away, what others left is none of our business either.
    let mut is_any_silent = false;
    let mut servers = scope.servers(&mut |text| {
        is_any_silent = true;
        out.note(text);
    })?;
    let mut found: Vec<(u32, ServerQuestion)> = Vec::new();
    let mut refusal: Option<AskRefusal> = None;
    for server in &mut servers {
        match shown(server, id)? {
            Ok(asked) => found.push((server.welcome.pid, asked)),
            // Of several, the one that says more.
            Err(other) if refusal.as_ref().is_none_or(|one| one.kind == "unknown") => {
                refusal = Some(other);
            }
            Err(_) => {}
        }
    }
    if found.is_empty()
        && let Some(mut left) = scope.left().filter(|_| !is_any_silent)
    {
        match shown(&mut left, id)? {
            Ok(asked) => found.push((NO_SERVER, asked)),
            Err(other) if other.kind != "unknown" && refusal.is_none() => refusal = Some(other),
            Err(_) if servers.is_empty() => return Err(scope.nobody()),
            Err(_) => {}
        }
    } else if servers.is_empty() {
        return Err(scope.nobody());
    }
    match (found.pop(), found.is_empty()) {
        (Some(one), true) => Ok(one),
        (Some(one), false) => {
            found.push(one);
            found.sort_by_key(|(pid, _)| *pid);
            let ways = found.iter().map(|(pid, asked)| {
                let all = if scope.root.is_none() { " --all" } else { "" };
                format!(
                    "`jig approve{all} {id} --server {pid}`: {} ({})",
                    asked.text(),
                    asked.workspace
                )
            });
            let hint = hint!("say which: {}", ways.collect::<Vec<_>>().join("\n      "));
            Err(anyhow!(hint).context(format!("{} servers ask a question `{id}`", found.len())))
        }
        (None, _) => Err(not_found(id, scope, refusal)),
    }
}

/// Why there is no such question, and where there is one.
fn not_found(id: QuestionId, scope: &ApproveScope, refusal: Option<AskRefusal>) -> anyhow::Error {
    let refusal = match refusal {
        Some(refusal) if refusal.kind != "unknown" => return refused(refusal),
        other => other,
    };
    let elsewhere = servers(None, &scope.env).unwrap_or_default().servers;
    for mut server in elsewhere {
        let welcome = server.welcome.clone();
        let is_meant = scope
            .root
            .as_ref()
            .is_some_and(|root| *root == welcome.workspace);
        if !is_meant && let Ok(Ok(_)) = shown(&mut server, id) {
            let hint = hint!("`jig -C {} approve {id}`", welcome.workspace);
            let context = format!(
                "`{id}` is a question of the server with the pid {}, in another workspace",
                welcome.pid
            );
            return anyhow!(hint).context(context);
        }
    }
    let message = refusal.map_or_else(
        || format!("there is no question `{id}`"),
        |refusal| refusal.message,
    );
    anyhow!(hint!("`jig approve` lists the questions that there are")).context(message)
}

fn shown(
    source: &mut impl QuestionSource,
    id: QuestionId,
) -> anyhow::Result<Result<ServerQuestion, AskRefusal>> {
    match source.ask(&json!({ "do": "show", "id": id.to_string() }))? {
        AskReply::Ok(told) => Ok(Ok(ServerQuestion::read(
            source.welcome(),
            &told["question"],
        )?)),
        AskReply::Error(refusal) => Ok(Err(refusal)),
    }
}

/// What the command line decides; `None` if it decides nothing.
fn given(args: &ApproveArgs) -> anyhow::Result<Option<PersonDecision>> {
    let decision = match (args.once, args.turn, args.deny, &args.answer) {
        (_, true, _, _) => "turn",
        (_, _, true, _) => "deny",
        (true, _, _, _) | (_, _, _, Some(_)) => "once",
        _ => return Ok(None),
    };
    let value = args.answer.as_deref().map(|text| {
        let limits = jig_proto::json::JsonLimits::MESSAGE;
        let value = jig_proto::json::value(text.as_bytes(), &limits);
        value.unwrap_or_else(|_| Json::String(text.to_owned()))
    });
    Ok(Some(PersonDecision {
        decision,
        value,
        reason: args.reason.clone(),
        at_terminal: false,
    }))
}

/// Shows the question and takes the answer, at the terminal. Elsewhere it is shown, and how to answer it.
fn asked_here(
    asked: &ServerQuestion,
    out: &mut CliOutput,
) -> anyhow::Result<Option<PersonDecision>> {
    if out.is_json() {
        out.json(&asked.to_json())?;
        return Ok(None);
    }
    let Some(mut terminal) = PromptTerminal::open(false, true) else {
        out.text(&asked.shown())?;
        out.note(&asked.ways());
        return Ok(None);
    };
    let decided = dialog::ask(&mut terminal, asked);
    if decided.is_none() {
        out.note(&format!("`{}` is left as it is", asked.id));
    }
    Ok(decided)
}

fn refused(refusal: AskRefusal) -> anyhow::Error {
    let message = visible_lines(&refusal.message);
    match refusal.kind.as_str() {
        "unknown" | "gone" => anyhow!(hint!("`jig approve` lists the questions that there are")),
        "no_answer" => anyhow!(hint!("`jig approve ID` shows a question, and asks")),
        _ => return anyhow!(message),
    }
    .context(message)
}

/// Instead of a process: its server has ended.
pub(crate) const NO_SERVER: u32 = 0;
