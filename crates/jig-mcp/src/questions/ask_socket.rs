//! The ask socket: lines of JSON, by which people and programs elsewhere see questions and answer them.
//!
//! A client sends requests, one in a line; each gets one reply, with the `request` that it named. After
//! `watch` it is also told what happens. `docs/approvals.md` has every line. Nothing that a client sends is
//! trusted with more than an answer: lines are bounded, and one that is not understood gets an error.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use jig_proto::lines::LineReader;
use jig_proto::visible_words;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::decisions::{self, QuestionDecision};
use super::{BoardEvent, QuestionEnd, QuestionId, Questions, REFUSED, Unanswerable, WAITING};
use crate::text_prefix::cut;

/// The version of what is said on the ask socket. It counts up when a client of an older one would
/// misunderstand.
pub const PROTOCOL: u32 = 1;

/// What a client wants.
#[derive(Debug, Deserialize)]
struct AskRequestLine {
    /// Comes back with the reply.
    #[serde(default)]
    request: Value,
    #[serde(flatten)]
    what: AskSocketRequest,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
enum AskSocketRequest {
    /// Every question in full, and from then on whatever happens.
    Watch,
    /// All questions, in short.
    List,
    /// One question in full.
    Show { id: String },
    /// Decides one.
    Answer {
        id: String,
        decision: QuestionDecision,
        value: Option<Value>,
        reason: Option<String>,
        /// Who answers, for people.
        by: Option<String>,
    },
}

/// What went wrong with a request.
#[derive(Debug)]
struct AskSocketError {
    kind: &'static str,
    message: String,
}

impl Questions {
    /// Serves one client of the ask socket, until it goes or says nothing for longer than `reader` waits. One
    /// that watches may be silent for as long as it likes.
    ///
    /// The writer is dropped when the client can't be told anything any more; it should then end the
    /// connection for the reader, too. Its writes should fail after some seconds: a client that does not
    /// read is let go by that.
    pub fn serve<R: Read, W: Write + Send>(self: &Arc<Self>, reader: R, writer: W) {
        let client = AskSocketClient {
            questions: self,
            writer: Mutex::new(Some(writer)),
            is_over: AtomicBool::new(false),
            is_watching: AtomicBool::new(false),
        };
        thread::scope(|scope| {
            let mut lines = LineReader::new(reader, LONGEST_LINE);
            loop {
                let line = match lines.next_line() {
                    Ok(Some(line)) => line,
                    Ok(None) => break,
                    Err(error) if is_silence(&error) && client.watches() => continue,
                    Err(error) => {
                        if error.kind() == ErrorKind::InvalidData {
                            client.fail(Value::Null, AskSocketError::not_understood(&error));
                        }
                        break;
                    }
                };
                let limits = jig_proto::json::JsonLimits::for_bytes(LONGEST_LINE);
                let went = match jig_proto::json::from_slice::<AskRequestLine>(&line, &limits) {
                    Ok(line) => client.handle(scope, line),
                    Err(error) => client.fail(Value::Null, AskSocketError::not_understood(&error)),
                };
                if !went {
                    break;
                }
            }
            client.end();
        });
    }

    /// Does what one line of a client wants, and returns the reply. `watch` ends at once.
    pub fn request(self: &Arc<Self>, request: &Value) -> Value {
        let mut reply = Vec::new();
        self.serve(format!("{request}\n").as_bytes(), &mut reply);
        let line = reply.split(|byte| *byte == b'\n').next();
        let read = line.and_then(|line| serde_json::from_slice(line).ok());
        read.unwrap_or_default()
    }

    pub(super) fn listed(&self) -> Vec<Value> {
        let board = self.board();
        let open = board.open.values();
        let open = open.map(|open| open.asked.in_short(WAITING));
        let refused = board.refused.values();
        let refused = refused.map(|refused| refused.asked.in_short(REFUSED));
        open.chain(refused).map(Value::Object).collect()
    }

    /// Decides a question; says which state it was in.
    fn decided(
        &self,
        id: QuestionId,
        decision: QuestionDecision,
        value: Option<Value>,
        reason: Option<String>,
        by: &str,
    ) -> Result<&'static str, AskSocketError> {
        // It may go between this and the answer; then it is told there.
        let (asked, state) = {
            let board = self.board();
            let found = board.find(id.0);
            let found = found.map(|(asked, state)| (Arc::clone(asked), state));
            found.ok_or_else(|| AskSocketError::unanswerable(&self.unanswerable(&board, id)))?
        };
        let reason = reason.map(|reason| visible_words(cut(&reason, LONGEST_REASON)));
        let answer = decisions::answer(&asked, decision, value, reason);
        let answer = answer.map_err(|error| AskSocketError::new("no_answer", error))?;
        let answered = self.answer(&id, answer, by);
        answered.map_err(|error| AskSocketError::unanswerable(&error))?;
        Ok(state)
    }
}

/// One connection.
struct AskSocketClient<'a, W> {
    questions: &'a Arc<Questions>,
    writer: Mutex<Option<W>>,
    is_over: AtomicBool,
    is_watching: AtomicBool,
}

impl<'a, W: Write + Send> AskSocketClient<'a, W> {
    /// Does what a line wants; says whether the client could be told.
    fn handle<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        line: AskRequestLine,
    ) -> bool
    where
        'a: 'scope,
    {
        let AskRequestLine { request, what } = line;
        // It comes back as it is, so that it must be short.
        let request = match request.to_string().len() > LONGEST_NAME {
            true => Value::Null,
            false => request,
        };
        let done = match what {
            AskSocketRequest::Watch if self.is_watching.swap(true, Ordering::SeqCst) => Err(
                AskSocketError::new("no_answer", "this connection watches already"),
            ),
            AskSocketRequest::Watch => {
                let watching = self.questions.watcher();
                let sent = self.reply(request, json!({}));
                let thread = thread::Builder::new().name("jig-told".to_owned());
                let started = thread.spawn_scoped(scope, move || self.follow(watching));
                // One that cannot be told anything is better off without the connection.
                return sent && started.is_ok();
            }
            AskSocketRequest::List => Ok(json!({ "questions": self.questions.listed() })),
            AskSocketRequest::Show { id } => parsed(&id).and_then(|id| {
                let board = self.questions.board();
                let found = board.find(id.0);
                let found = found.map(|(asked, state)| asked.to_json(state));
                let found = found.map(|question| json!({ "question": question }));
                found.ok_or_else(|| {
                    AskSocketError::unanswerable(&self.questions.unanswerable(&board, id))
                })
            }),
            AskSocketRequest::Answer {
                id,
                decision,
                value,
                reason,
                by,
            } => parsed(&id).and_then(|id| {
                let by = by.map(|by| visible_words(cut(&by, LONGEST_NAME)));
                let by = by.unwrap_or_else(|| "a client of the ask socket".to_owned());
                let decided = self.questions.decided(id, decision, value, reason, &by);
                let told =
                    |state| json!({ "id": id.to_string(), "decision": decision, "state": state });
                decided.map(told)
            }),
        };
        match done {
            Ok(value) => self.reply(request, value),
            Err(failure) => self.fail(request, failure),
        }
    }

    /// Tells what happens, for as long as the client takes it.
    fn follow(&self, mut watching: super::BoardWatcher<'_>) {
        while let Some(event) = watching.next(&self.is_over) {
            if !self.send(&event) {
                return;
            }
        }
        // It fell too far behind, or has gone.
        self.end();
    }

    fn watches(&self) -> bool {
        self.is_watching.load(Ordering::SeqCst) && !self.is_over.load(Ordering::SeqCst)
    }

    fn reply(&self, request: Value, value: Value) -> bool {
        self.send(&json!({ "request": request, "ok": value }))
    }

    fn fail(&self, request: Value, failure: AskSocketError) -> bool {
        let AskSocketError { kind, message } = failure;
        self.send(&json!({ "request": request, "error": { "kind": kind, "message": message } }))
    }

    /// Writes a line; says whether that went well.
    fn send(&self, line: &Value) -> bool {
        let mut line = line.to_string();
        line.push('\n');
        let mut writer = self.writer();
        let Some(open) = writer.as_mut() else {
            return false;
        };
        let sent = open.write_all(line.as_bytes()).and_then(|()| open.flush());
        if sent.is_err() {
            // Half a line may be out: nothing can follow it.
            *writer = None;
        }
        sent.is_ok()
    }

    /// Ends the connection, and whatever waits for it.
    fn end(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        {
            // Nobody is between looking and waiting while this is held.
            let _board = self.questions.board();
            self.questions.happened.notify_all();
        }
        *self.writer() = None;
    }

    fn writer(&self) -> MutexGuard<'_, Option<W>> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl super::BoardWatcher<'_> {
    /// What happened next; waits for something. `None` if it is over, or if more has happened than is kept.
    fn next(&mut self, is_over: &AtomicBool) -> Option<Value> {
        let mut board = self.questions.board();
        loop {
            if is_over.load(Ordering::SeqCst) {
                return None;
            }
            // What is no more needs no telling but that.
            let told = self.backlog.pop_front().map(|event| board.told(event));
            match told {
                Some(Some(told)) => return Some(told),
                Some(None) => continue,
                None => {}
            }
            let behind = usize::try_from(board.happened - self.seen).ok()?;
            if behind > 0 {
                let place = board.events.len().checked_sub(behind)?;
                self.seen += 1;
                match board.events.get(place).and_then(|event| board.told(*event)) {
                    Some(told) => return Some(told),
                    None => continue,
                }
            }
            let happened = &self.questions.happened;
            board = happened.wait(board).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl super::QuestionBoard {
    fn told(&self, event: BoardEvent) -> Option<Value> {
        let question = |number: u64, event: &str, wanted: &str| {
            let (asked, state) = self.find(number)?;
            let told = json!({ "event": event, "question": asked.to_json(state) });
            (state == wanted).then_some(told)
        };
        match event {
            BoardEvent::Open(number) => question(number, "question", WAITING),
            BoardEvent::Refused(number) => question(number, "refused", REFUSED),
            BoardEvent::Settled(number) => {
                let settled = self.settled.iter().rev();
                let settled = settled.into_iter().find(|settled| settled.number == number);
                let mut told = Map::new();
                told.insert("event".to_owned(), json!("settled"));
                told.insert("id".to_owned(), json!(QuestionId(number).to_string()));
                if let Some(QuestionEnd::Answered { by, decision }) =
                    settled.map(|settled| &settled.how)
                {
                    told.insert("decision".to_owned(), json!(decision));
                    told.insert("by".to_owned(), json!(by));
                }
                Some(Value::Object(told))
            }
        }
    }
}

impl AskSocketError {
    fn new(kind: &'static str, error: impl ToString) -> Self {
        let message = error.to_string();
        Self { kind, message }
    }

    fn not_understood(error: &impl ToString) -> Self {
        Self::new("not_understood", visible_words(&error.to_string()))
    }

    fn unanswerable(error: &Unanswerable) -> Self {
        let kind = match error {
            Unanswerable::AlreadyAnswered { .. } => "already_answered",
            Unanswerable::Gone(_) => "gone",
            Unanswerable::Unknown(_) => "unknown",
        };
        Self::new(kind, error)
    }
}

fn parsed(id: &str) -> Result<QuestionId, AskSocketError> {
    id.parse()
        .map_err(|error| AskSocketError::new("unknown", error))
}

fn is_silence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
}

/// The longest line of a client, in bytes: an edited result may be long. Without it a client could fill the
/// memory.
const LONGEST_LINE: usize = 4 << 20;

/// The longest `request` and `by` of a client, in bytes.
const LONGEST_NAME: usize = 200;

/// The longest reason for a no, in bytes: it reaches the assistant.
const LONGEST_REASON: usize = 2000;
