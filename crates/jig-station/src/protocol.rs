//! What a client and a station say to each other: lines of JSON.
//!
//! First the client says [`StationHello`]; the station answers with a [`StationReply`] whose value is [`StationWelcome`]. Then
//! each [`StationRequest`] gets one [`StationReply`], except [`StationRequest::Attach`], after which [`HandleEvent`] flows one way and
//! [`AttachInput`] the other until one side has enough. Both ends are jig; lines are bounded all the same,
//! because whoever got hold of the key may send anything.

use std::io::{self, ErrorKind, Read, Write};

use camino::Utf8PathBuf;
use jig_project::CommandEnvironment;
use jig_proto::json::JsonLimits;
use jig_proto::lines::LineReader;
use jig_proto::{HandleId, Prompt, Question, ToolState, visible_line, visible_words};
use jig_runtime::{AskedBy, Update};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The first line of a client.
#[derive(Debug, Serialize, Deserialize)]
pub struct StationHello {
    /// The version of the client. A station of another version only takes [`StationRequest::Shutdown`]: this
    /// line, [`StationWelcome`] and that request stay as they are in every version.
    pub jig: String,
    /// The station's key.
    pub key: String,
}

/// What a station says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub struct StationWelcome {
    /// Its version.
    pub jig: String,
    /// Its workspace.
    pub workspace: Utf8PathBuf,
    /// Its process.
    pub pid: u32,
}

/// What a client wants.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum StationRequest {
    /// Start a tool. The answer is [`HandleResult`], with [`SpawnResult`] in it.
    Spawn(Box<SpawnOrder>),
    /// What runs: a list of [`HandleRow`].
    List,
    /// A look at a handle. The answer is [`HandleResult`], with a report.
    Fetch {
        /// The handle.
        id: HandleId,
        /// As the arguments of a tool: `view`, `after_seq`, `max_bytes`, `wait_ms`.
        fetch: Map<String, Json>,
    },
    /// Input, or the answer to the question that is open. The answer is [`HandleResult`], with a report.
    Apply {
        /// The handle.
        id: HandleId,
        /// What it is given.
        input: HandleInput,
        /// The number of the question that it answers. A question of the policy is answered by no input
        /// that does not name it: what a person was shown may not be what is asked by now.
        question: Option<u64>,
        /// The look that follows, as in [`StationRequest::Fetch`].
        fetch: Map<String, Json>,
    },
    /// The question that is open: [`StationQuestion`], or nothing.
    Question {
        /// The handle.
        id: HandleId,
    },
    /// Wait until one or all have stopped or ask something. The answer is [`HandleResult`], with a list of
    /// reports.
    Await {
        /// Nothing means all that there are.
        ids: Vec<HandleId>,
        /// Wait for all, not for one.
        all: bool,
        /// The longest wait.
        timeout_ms: Option<u64>,
    },
    /// End handles. The answer is [`HandleResult`], with a list of
    /// reports.
    Abort {
        /// Nothing means all that there are.
        ids: Vec<HandleId>,
    },
    /// Watch a handle, and type into it if `input` says so.
    Attach {
        /// The handle.
        id: HandleId,
        /// Whether the client also types.
        input: bool,
    },
    /// End all handles and the station itself.
    Shutdown,
}

/// A tool to start, and what counts for it at the client.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpawnOrder {
    /// The tool.
    pub tool: String,
    /// Its arguments.
    pub arguments: Map<String, Json>,
    /// Answers to questions that it will ask.
    pub answers: Map<String, Json>,
    /// The name of its handle, if the client chose one.
    pub id: Option<HandleId>,
    /// `--config`, absolute.
    pub config: Vec<Utf8PathBuf>,
    /// `--set`.
    pub set: Vec<String>,
    /// The variables of the client.
    pub env: CommandEnvironment,
}

/// What became of a spawn.
#[derive(Debug, Serialize, Deserialize)]
pub struct SpawnResult {
    /// The report.
    pub report: Json,
    /// What a person should know about how the tool is confined.
    pub warnings: Vec<String>,
}

/// A question that waits for somebody.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StationQuestion {
    /// An answer names it.
    pub number: u64,
    /// Who asks.
    pub by: QuestionAuthor,
    /// The tool that it is about.
    pub tool: String,
    /// The question itself.
    pub question: Question,
}

/// Who asks. A tool can word its question as it likes, but it cannot ask as jig.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionAuthor {
    /// jig: may the tool do something that no rule covers?
    Policy,
    /// The tool itself.
    Tool,
}

/// What somebody gives to a handle.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandleInput {
    /// Words as a person types them: input as they stand, or an answer in the form that the question
    /// wants.
    Words(String),
    /// The same with the enter key after it.
    Line(String),
    /// One of the forms of input, or an answer, as it is.
    Value(Json),
}

/// One line of `jig ps`.
#[derive(Debug, Serialize, Deserialize)]
pub struct HandleRow {
    /// The handle.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// What it does: `running`, `waiting` or `stopped`.
    pub state: String,
    /// The text of its open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Who asks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked_by: Option<QuestionAuthor>,
    /// How long it has been there.
    pub age_ms: u64,
    /// The processor time that it has used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ms: Option<u64>,
    /// In bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Its process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// Whether it has a terminal.
    pub terminal: bool,
}

/// What came of something that was done with a handle, and what else there is to tell.
///
/// A report that says `waiting` is followed by `asked_by`, `question_number` and `tool`, which belong to the
/// question in it.
#[derive(Debug, Serialize, Deserialize)]
pub struct HandleResult {
    /// A report, or several.
    pub value: Json,
    /// What has become of other handles since somebody was last told.
    pub notices: Vec<StationNotice>,
}

/// News of a handle.
#[derive(Debug, Serialize, Deserialize)]
pub struct StationNotice {
    /// For a person.
    pub text: String,
    /// For a program.
    pub notice: Json,
}

/// The answer to a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StationReply {
    /// It was done: the value that the request asks for.
    Ok(Json),
    /// It was not done.
    Error(StationFailure),
    /// The station is about to go, and has not done what was asked: the next one can.
    Going,
}

/// Why a request came to nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StationFailure {
    /// The error in one line.
    pub message: String,
    /// What lies behind it, the nearest first; one may be a `hint: `.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// What somebody who watches a handle sees.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HandleEvent {
    /// The whole screen of a terminal.
    Screen(ScreenFrame),
    /// More of what a tool without terminal prints.
    Text(String),
    /// Something is asked.
    Question(Box<StationQuestion>),
    /// The question was answered.
    Answered,
    /// Input was not taken, and why.
    NotTaken(String),
    /// It has stopped, in words. Nothing follows.
    Stopped(String),
}

/// A screen, painted: its lines hold characters and colours and nothing else that steers a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScreenFrame {
    /// Its lines.
    pub lines: Vec<String>,
    /// Its height.
    pub rows: u16,
    /// Its width.
    pub cols: u16,
    /// Row and column from 0, if it can be seen.
    pub cursor: Option<(u16, u16)>,
    /// Whether the tool wants cursor keys in their other form.
    pub application_cursor: bool,
    /// Whether it wants to know what was pasted.
    pub bracketed_paste: bool,
}

/// What somebody who is attached does.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachInput {
    /// Input in one of its forms.
    Input(Json),
}

impl StationQuestion {
    /// The question of an update, if it asks one.
    pub fn of(update: &Update, tool: &str) -> Option<Self> {
        match &update.state {
            ToolState::Waiting { question, .. } => Some(Self {
                number: update.number,
                by: QuestionAuthor::of(update.asker?),
                tool: tool.to_owned(),
                question: question.clone(),
            }),
            _ => None,
        }
    }

    /// Who asks, for a person.
    pub fn lead_in(&self) -> String {
        match self.by {
            QuestionAuthor::Policy => "jig asks".to_owned(),
            QuestionAuthor::Tool => format!("`{}` asks", visible_line(&self.tool)),
        }
    }

    /// The question in one line.
    pub fn text(&self) -> String {
        visible_words(&self.question.text)
    }

    /// The command that answers it. A question of the tool is answered also without its number.
    pub fn command(&self, id: &str) -> String {
        let answers = match self.question.prompt() {
            Prompt::YesNo => "yes|no".to_owned(),
            Prompt::Select(options) => {
                let options = options.iter().map(|option| match option {
                    Json::String(text) => visible_line(text),
                    other => visible_line(&other.to_string()),
                });
                options.collect::<Vec<_>>().join("|")
            }
            Prompt::Text => "TEXT".to_owned(),
            _ => "JSON".to_owned(),
        };
        format!("jig apply {id} {answers} --question {}", self.number)
    }
}

impl QuestionAuthor {
    /// Who asks, as a session says it.
    pub fn of(asked_by: AskedBy) -> Self {
        match asked_by {
            AskedBy::Policy => QuestionAuthor::Policy,
            AskedBy::Tool => QuestionAuthor::Tool,
        }
    }
}

impl HandleResult {
    /// No report, and nothing else.
    pub const NOTHING: Self = Self {
        value: Json::Array(Vec::new()),
        notices: Vec::new(),
    };
}

impl StationFailure {
    /// An error with its causes.
    pub fn of(error: &anyhow::Error) -> Self {
        let mut chain = error.chain().map(ToString::to_string);
        Self {
            message: chain.next().unwrap_or_default(),
            causes: chain.collect(),
        }
    }

    /// The error again, on the other side.
    pub fn into_error(self) -> anyhow::Error {
        let mut causes = self.causes.into_iter().rev();
        let Some(innermost) = causes.next() else {
            return anyhow::Error::msg(self.message);
        };
        let chain = causes.fold(anyhow::Error::msg(innermost), anyhow::Error::context);
        chain.context(self.message)
    }
}

/// Reads messages, each a line of at most so many bytes.
#[derive(Debug)]
pub struct MessageReader<R> {
    lines: LineReader<R>,
    limits: JsonLimits,
}

impl<R: Read> MessageReader<R> {
    /// Reads from `stream`.
    pub fn new(stream: R, limit: usize) -> Self {
        Self {
            lines: LineReader::new(stream, limit),
            limits: JsonLimits::for_bytes(limit),
        }
    }

    /// The next message; `None` at the end.
    ///
    /// # Errors
    ///
    /// Those of the stream; [`ErrorKind::InvalidData`] if a line is too long or not such a message.
    pub fn message<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            if let Some(message) = self.buffered()? {
                return Ok(Some(message));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// What was read and is no message yet.
    pub fn into_rest(self) -> Vec<u8> {
        self.lines.into_rest()
    }

    /// A message that has been read already.
    pub fn buffered<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let line = self.lines.buffered_line()?;
        let message = line.map(|line| jig_proto::json::from_slice(line, &self.limits));
        message.transpose().map_err(invalid)
    }

    /// Reads once more from the stream; says whether there was anything.
    pub fn fill(&mut self) -> io::Result<bool> {
        self.lines.fill()
    }
}

/// Writes one message.
pub fn send<W: Write>(mut stream: W, message: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    stream.write_all(&line)
}

fn invalid(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

/// The version of this jig.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The longest line of a client. Without it a client could fill the station's memory.
pub const LONGEST_REQUEST: usize = 1 << 20;

/// The longest line of a station: what it keeps of a tool's output, as JSON.
pub const LONGEST_REPLY: usize = 64 << 20;
