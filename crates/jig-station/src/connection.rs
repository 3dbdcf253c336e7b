//! One client, from its first line to its last.

use std::io::{self, ErrorKind};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail};
use jig_broker::{AuditDecision, AuditNote, CancelToken, Person};
use jig_engine::{Answer, Ask, Asker, Call, Nobody};
use jig_project::{Project, engines, servers};
use jig_proto::{Fetch, HandleId, HandleReport, Prompt, Question, StateName, hint};
use jig_runtime::{Await, HandleError};
use jig_sandbox::{Interest, Waker};
use rustix::net::RecvFlags;
use serde_json::{Map, Value as Json, json};

use super::attached_clients;
use super::protocol::{
    HandleInput, HandleResult, HandleRow, LONGEST_REQUEST, MessageReader, QuestionAuthor,
    SpawnOrder, SpawnResult, StationFailure, StationHello, StationNotice, StationQuestion,
    StationReply, StationRequest, StationWelcome, VERSION, send,
};
use super::serve::Station;
use super::socket_directory::{StationKey, is_ours, is_outside_sandboxes};
use super::tool_servers;

/// Serves a client until it has gone, or misbehaves.
pub(super) fn serve(station: &Station, stream: &UnixStream) {
    // Whatever goes wrong with the connection is the client's to notice.
    let _ = converse(station, stream);
}

fn converse(station: &Station, stream: &UnixStream) -> io::Result<()> {
    if !is_ours(stream)? {
        return Ok(());
    }
    stream.set_read_timeout(Some(LONGEST_SILENCE))?;
    stream.set_write_timeout(Some(LONGEST_STALL))?;
    let mut lines = MessageReader::new(stream, LONGEST_REQUEST);
    let Some(hello) = admitted("station", stream, &mut lines, &station.key)? else {
        return Ok(());
    };
    if station.is_over() {
        return send(stream, &StationReply::Going);
    }
    let welcome = StationWelcome {
        jig: VERSION.to_owned(),
        workspace: station.root.clone(),
        pid: std::process::id(),
    };
    send(stream, &StationReply::Ok(json!(welcome)))?;
    let is_same = hello.jig == VERSION;
    loop {
        let request = match lines.message() {
            Ok(Some(request)) => request,
            Ok(None) => return Ok(()),
            Err(error) => return refuse(stream, error),
        };
        let is_spawn = matches!(request, StationRequest::Spawn(_));
        let reply = match request {
            StationRequest::Shutdown => {
                // The answer comes first: afterwards nobody may be there to give it.
                let sent = send(stream, &StationReply::Ok(Json::Null));
                station.end();
                return sent;
            }
            _ if !is_same => Err(anyhow!("the station is of version {VERSION}")),
            _ if station.is_over() => return send(stream, &StationReply::Going),
            StationRequest::Attach { id, input } => {
                return attached_clients::follow(station, stream, lines, &id, input);
            }
            request => answer(station, request, stream),
        };
        let reply = match reply {
            Ok(value) => StationReply::Ok(value),
            // Nothing is started by a station that was ended meanwhile.
            Err(_) if is_spawn && station.is_over() => StationReply::Going,
            Err(error) => failed(&error),
        };
        send(stream, &reply)?;
    }
}

/// The first line of a client who may ask `what` is here; `None` if it may not, which it was told.
pub(super) fn admitted<R: io::Read>(
    what: &str,
    stream: &UnixStream,
    lines: &mut MessageReader<R>,
    key: &StationKey,
) -> io::Result<Option<StationHello>> {
    let hello: StationHello = match lines.message() {
        Ok(Some(hello)) => hello,
        Ok(None) => return Ok(None),
        Err(error) => return refuse(stream, error).map(|()| None),
    };
    let reason = if !is_outside_sandboxes(stream).unwrap_or(false) {
        format!(
            "jig runs in a container or sandbox here, and the {what} of this workspace does not: it serves \
             only who sees the machine as it does"
        )
    } else if !StationKey::parse(&hello.key).is_ok_and(|shown| shown.is(key)) {
        format!("this is not the key of the {what}")
    } else {
        return Ok(Some(hello));
    };
    send(stream, &failed(&anyhow!(reason))).map(|()| None)
}

/// Tells a client that it was not understood. What follows could be anything, so nothing follows.
fn refuse(stream: &UnixStream, error: io::Error) -> io::Result<()> {
    if error.kind() != ErrorKind::InvalidData {
        return Err(error);
    }
    let context = "the station does not understand";
    send(stream, &failed(&anyhow!(error).context(context)))
}

pub(super) fn failed(error: &anyhow::Error) -> StationReply {
    StationReply::Error(StationFailure::of(error))
}

fn answer(station: &Station, request: StationRequest, stream: &UnixStream) -> anyhow::Result<Json> {
    let value = match request {
        StationRequest::List => return Ok(json!(list(station))),
        StationRequest::Question { id } => return Ok(json!(asked(station, &id)?)),
        StationRequest::Spawn(order) => json!(spawn(station, *order)?),
        StationRequest::Fetch { id, mut fetch } => {
            let fetch = Fetch::take_from(&mut fetch)?;
            let report = while_there(stream, |gone| {
                let tool = tool(station, &id)?;
                station.handles.fetch(&tool, &id, &fetch, Some(gone))
            })?;
            told(station, &report?)
        }
        StationRequest::Apply {
            id,
            input,
            question,
            fetch,
        } => {
            let input = AnsweredInput { input, question };
            let report = while_there(stream, |gone| apply(station, &id, input, fetch, gone))?;
            told(station, &report?)
        }
        StationRequest::Await {
            ids,
            all,
            timeout_ms,
        } => {
            let ids = or_all(station, ids);
            let mode = if all { Await::All } else { Await::Any };
            let timeout = timeout_ms.map(Duration::from_millis);
            let reports = while_there(stream, |gone| {
                station.handles.wait(&ids, mode, timeout, Some(gone))
            })?;
            let reports = reports?;
            reports.iter().map(|report| told(station, report)).collect()
        }
        StationRequest::Abort { ids } => json!(abort(station, or_all(station, ids))?),
        StationRequest::Attach { .. } | StationRequest::Shutdown => {
            bail!("this is not answered here")
        }
    };
    // What the answer itself has told is no news any more.
    let notices = station
        .handles
        .notices()
        .into_iter()
        .map(|notice| StationNotice {
            text: notice.to_string(),
            notice: json!(notice),
        });
    Ok(json!(HandleResult {
        value,
        notices: notices.collect(),
    }))
}

/// Loads the configuration as it is now, with what counts at the client, and starts the tool.
fn spawn(station: &Station, order: SpawnOrder) -> anyhow::Result<SpawnResult> {
    let SpawnOrder {
        tool,
        arguments,
        answers,
        id,
        config,
        set,
        env,
    } = order;
    let mut project = Project::load_for(station.root.clone(), &config, &set, &env)?;
    // Whoever was to be asked about a server was asked at the client.
    let identity = tool_servers::identity(&project.loaded.config, &env);
    let make = || servers::new(&station.root, &env);
    let servers = || station.behind.of(identity, make);
    servers::find_on(servers, &mut project, &tool, &env, &mut Nobody)?;
    let mut engine = engines::with_log(&project, &env)?;
    engine.person = Person::Reader;
    engine.join(&station.turn);
    let mut arguments = arguments;
    arguments.insert("action".to_owned(), json!("spawn"));
    if let Some(id) = id {
        arguments.insert("id".to_owned(), json!(id));
    }
    let mut call = Call::new(tool, Json::Object(arguments));
    call.answers = answers;
    // The person agreed at the client, and sees what the tool says there.
    call.agreed = true;
    let mut asker = LaterAsker {
        warnings: Vec::new(),
    };
    let report = match engine.call(call, &mut asker)? {
        jig_engine::Reply::Handle(report) => report,
        _ => bail!("the tool has ended without a handle"),
    };
    Ok(SpawnResult {
        report: told(station, &report),
        warnings: asker.warnings,
    })
}

/// Whoever spawned the tool answers later, by `jig apply`.
struct LaterAsker {
    warnings: Vec<String>,
}

impl Asker for LaterAsker {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        Answer::Later
    }

    fn warning(&mut self, tool: &str, text: &str) {
        self.warnings.push(format!("jig: {tool}: {text}"));
    }
}

/// A report, with what belongs to its question. Whoever shows it shows that question, and no other, under
/// this number.
fn told(station: &Station, report: &HandleReport) -> Json {
    let mut value = json!(report);
    if report.state.status() == StateName::Waiting
        && let Ok(Some(asked)) = asked(station, &report.id)
    {
        value["question"] = json!(asked.question);
        value["asked_by"] = json!(asked.by);
        value["question_number"] = json!(asked.number);
        value["tool"] = json!(asked.tool);
    }
    value
}

/// The question of a handle that is open.
fn asked(station: &Station, id: &HandleId) -> Result<Option<StationQuestion>, HandleError> {
    let tool = tool(station, id)?;
    Ok(station.handles.question(id).map(|pending| StationQuestion {
        number: pending.number,
        by: QuestionAuthor::of(pending.asked_by),
        tool,
        question: pending.question,
    }))
}

fn list(station: &Station) -> Vec<HandleRow> {
    let listed = station.handles.list().into_iter().map(|info| {
        let pending = station.handles.question(&info.id);
        HandleRow {
            id: info.id.to_string(),
            tool: info.tool,
            state: info.status.name().to_owned(),
            asked_by: pending
                .as_ref()
                .map(|pending| QuestionAuthor::of(pending.asked_by)),
            question: pending.map(|pending| pending.question.text),
            age_ms: info.age.as_millis() as u64,
            cpu_ms: info.usage.map(|usage| usage.cpu.as_millis() as u64),
            memory: info.usage.map(|usage| usage.memory),
            pid: info.pid,
            terminal: info.terminal,
        }
    });
    listed.collect()
}

/// What a person gives to a handle.
struct AnsweredInput {
    input: HandleInput,
    /// The question that it is meant for.
    question: Option<u64>,
}

/// Gives input to a handle, or answers its question. The client speaks for the person, who may answer the
/// policy too, but only what they were shown: a tool can have something else asked while they read.
fn apply(
    station: &Station,
    id: &HandleId,
    given: AnsweredInput,
    mut fetch: Map<String, Json>,
    gone: &CancelToken,
) -> anyhow::Result<HandleReport> {
    let fetch = Fetch::take_from(&mut fetch)?;
    let tool = tool(station, id)?;
    let asked = asked(station, id)?;
    let Some(asked) = answered(id, asked, given.question)? else {
        let input = match given.input {
            HandleInput::Words(words) => json!(words),
            HandleInput::Line(line) => json!({ "line": line }),
            HandleInput::Value(value) => value,
        };
        let report = station.handles.apply(&tool, id, input, &fetch, Some(gone));
        return Ok(report?);
    };
    let answer = match given.input {
        HandleInput::Words(words) | HandleInput::Line(words) => in_form(&asked.question, &words)?,
        HandleInput::Value(value) => value,
    };
    if given.question.is_none() {
        // Whether its caller was told of this question is known there.
        note_answer(station, id, &asked, &answer);
        let report = station.handles.apply(&tool, id, answer, &fetch, Some(gone));
        return Ok(report?);
    }
    note_answer(station, id, &asked, &answer);
    station.handles.answer(id, asked.number, answer)?;
    station.handles.settled(id);
    Ok(station.handles.fetch(&tool, id, &fetch, Some(gone))?)
}

/// Writes down that a person answers what a handle asked; before it is given, since the tool may have ended
/// right after.
fn note_answer(station: &Station, id: &HandleId, asked: &StationQuestion, answer: &Json) {
    let Some(session) = station.handles.session(id) else {
        return;
    };
    let (operation, words) = match (asked.by, answer.as_str()) {
        (QuestionAuthor::Tool, _) => ("ask.tool", "answered"),
        (QuestionAuthor::Policy, Some("once")) => ("ask.access", "allowed once"),
        (QuestionAuthor::Policy, Some("turn")) => ("ask.access", "allowed for this turn"),
        (QuestionAuthor::Policy, _) => ("ask.access", "no"),
    };
    let decision = match words {
        "no" => AuditDecision::Deny,
        _ => AuditDecision::Allow,
    };
    let reason = format!("{words}, by a person with `jig apply` or `jig attach`");
    let text = asked.question.text.as_str();
    session.note(AuditNote::new(operation, text, decision, reason));
}

/// The question that is answered; `None` if what was given is input.
pub(super) fn answered(
    id: &HandleId,
    asked: Option<StationQuestion>,
    meant: Option<u64>,
) -> anyhow::Result<Option<StationQuestion>> {
    let asked = match (asked, meant) {
        (None, None) => return Ok(None),
        (Some(asked), Some(number)) if asked.number == number => return Ok(Some(asked)),
        (Some(asked), None) if asked.by == QuestionAuthor::Tool => return Ok(Some(asked)),
        (asked, _) => asked,
    };
    let Some(asked) = asked else {
        bail!("the question is not open any more: nothing was given to `{id}`");
    };
    let hint = hint!("`{}`", asked.command(id.as_str()));
    let shown = format!("{}: {}", asked.lead_in(), asked.text());
    Err(anyhow!(hint).context(shown).context(match meant {
        Some(_) => format!("`{id}` waits for another answer by now: nothing was given to it"),
        None => format!("what jig asks is answered by its number: nothing was given to `{id}`"),
    }))
}

/// The answer to a question, from the words of a person.
pub(super) fn in_form(question: &Question, words: &str) -> anyhow::Result<Json> {
    let typed = words.trim();
    match question.prompt() {
        Prompt::YesNo => match typed.to_lowercase().as_str() {
            "y" | "yes" | "true" => Ok(json!(true)),
            "n" | "no" | "false" => Ok(json!(false)),
            _ => bail!("`{typed}` does not answer the question, which wants yes or no"),
        },
        Prompt::Select(options) => {
            let is = |option: &&Json| match option {
                Json::String(text) => text == typed,
                other => serde_json::to_string(other).is_ok_and(|text| text == typed),
            };
            let names = || {
                let names = options.iter().map(Json::to_string);
                names.collect::<Vec<_>>().join(", ")
            };
            let found = options.iter().find(is).cloned();
            found.ok_or_else(|| {
                anyhow!(
                    "`{typed}` does not answer the question, which wants one of {}",
                    names()
                )
            })
        }
        Prompt::Text => Ok(json!(words)),
        _ => {
            let limits = jig_proto::json::JsonLimits::SHORT;
            let value = jig_proto::json::value(typed.as_bytes(), &limits);
            value.map_err(|error| anyhow!(error).context("the question wants its answer as JSON"))
        }
    }
}

/// Ends handles, all at once.
fn abort(station: &Station, ids: Vec<HandleId>) -> anyhow::Result<Vec<HandleReport>> {
    // An id that is wrong is said before anything ends.
    let tools = ids.iter().map(|id| tool(station, id));
    let tools: Vec<String> = tools.collect::<Result<_, _>>()?;
    let handles = &station.handles;
    let ended: Vec<Result<HandleReport, HandleError>> = thread::scope(|scope| {
        let threads = ids.iter().zip(&tools);
        let threads: Vec<_> = threads
            .map(|(id, tool)| scope.spawn(move || handles.abort(tool, id)))
            .collect();
        let joined = threads.into_iter().filter_map(|thread| thread.join().ok());
        joined.collect()
    });
    Ok(ended.into_iter().collect::<Result<_, _>>()?)
}

fn or_all(station: &Station, ids: Vec<HandleId>) -> Vec<HandleId> {
    match ids.is_empty() {
        true => {
            let listed = station.handles.list().into_iter();
            listed.map(|info| info.id).collect()
        }
        false => ids,
    }
}

/// The tool of a handle; the error lists those that there are.
pub(super) fn tool(station: &Station, id: &HandleId) -> Result<String, HandleError> {
    let handles = &station.handles;
    if let Some(tool) = handles.tool(id) {
        return Ok(tool);
    }
    // Waiting for it, for no time at all, says what became of it.
    let ids = std::slice::from_ref(id);
    handles.until(ids, Await::Any, Some(Duration::ZERO), None)?;
    Err(HandleError::unknown(id.as_str()))
}

/// Does something that may wait for long, and gives up when the client has gone.
fn while_there<T>(stream: &UnixStream, work: impl FnOnce(&CancelToken) -> T) -> anyhow::Result<T> {
    let token = CancelToken::new();
    let done = Waker::new()?;
    thread::scope(|scope| {
        scope.spawn(|| {
            let waits = [Interest::Readable(stream.as_fd()), Interest::Woken(&done)];
            let Ok(ready) = jig_sandbox::poll(&waits, None) else {
                return;
            };
            // A client that says something while it waits for an answer is still there.
            let flags = RecvFlags::PEEK | RecvFlags::DONTWAIT;
            let peeked = ready
                .contains(0)
                .then(|| rustix::net::recv(stream, &mut [0; 1], flags));
            if matches!(peeked, Some(Ok((0, _)) | Err(_))) {
                token.cancel();
            }
        });
        let result = work(&token);
        done.wake();
        Ok(result)
    })
}

/// From one line of a client to the next. One that says nothing for longer only holds a place.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// How long a client may take to read what it asked for.
const LONGEST_STALL: Duration = Duration::from_secs(10);
