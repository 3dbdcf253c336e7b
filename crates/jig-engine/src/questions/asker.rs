//! [`Asker`]: whoever can answer questions for a caller.

use jig_broker::CancelToken;
use jig_config::QuestionTarget;
use jig_proto::Question;
use serde_json::Value;

/// Whoever can answer questions: a person at a terminal, an editor, a client. It is handed in by the
/// caller and asked by the one loop that drives a call; nothing below the engine knows it.
pub trait Asker {
    /// Answers a question, or says why not. It may take its time: no clock runs meanwhile.
    fn ask(&mut self, ask: &Ask<'_>) -> Answer;

    /// Puts a question of a tool to the assistant for whom the call is made (S-074). `None` if there is no way to
    /// it, or it does not answer: then the model of `[llm]` is asked, and after that [`ask`](Self::ask).
    ///
    /// Only a tool's own question comes here, and only if the configuration says that the assistant answers it.
    fn ask_assistant(&mut self, ask: &Ask<'_>) -> Option<Answer> {
        let _ = ask;
        None
    }

    /// Who gave the last answer, and by which way, as the log says it after "by".
    fn answered_by(&self) -> String {
        "whoever was asked".to_owned()
    }

    /// Is shown what a running tool has to say.
    fn progress(&mut self, tool: &str, text: &str) {
        let _ = (tool, text);
    }

    /// Is told what the operating system does not hold a tool to, or what else its person should know
    /// about its confinement. Each thing is told once in a turn.
    fn warning(&mut self, tool: &str, text: &str) {
        self.progress(tool, text);
    }

    /// Is told, when a call has succeeded, what its result does not say: a process that was left in the background and
    /// was ended, say.
    fn note(&mut self, tool: &str, text: &str) {
        self.warning(tool, text);
    }
}

/// A question.
#[derive(Debug, Clone, Copy)]
pub struct Ask<'a> {
    /// The tool that it is about.
    pub tool: &'a str,
    /// The question; its schema says which answers there are.
    pub question: &'a Question,
    /// What it is about.
    pub about: About,
    /// Cancelled when nobody wants to know any more, because the tool took its question back or has ended. The
    /// question can be put away then: whatever the answer is, it comes too late.
    pub gone: Option<&'a CancelToken>,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum About {
    /// Whether the tool may run, or whether a handle may be given a command, with these arguments. The
    /// answer is a boolean.
    Run,
    /// The arguments, to be edited. The answer is an object.
    Arguments,
    /// Whether the result may be passed on. The answer is a boolean.
    Result,
    /// The result, to be edited. The answer is text.
    EditResult,
    /// Whether the tool may do something that no rule covers: `once`, `turn` or `no`.
    Access,
    /// Whether what the tool changed in its layer is applied to the workspace. The answer is a boolean.
    Changes,
    /// Whether an MCP server may be started that a file of the workspace declares: what it is and may do is
    /// the context. The answer is a boolean, and a person's.
    Server,
    /// Whether a tool may be called whose server has changed its definition since somebody accepted it: what
    /// changed is the context. The answer is a boolean, and a person's.
    Definition,
    /// What the tool itself wants to know, and who should answer it.
    Tool(QuestionTarget),
}

/// What became of a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// The answer.
    Given(Value),
    /// The answer, which holds for the rest of the turn: the same question of the same tool is not asked
    /// again. A yes to a run holds for all runs of the tool that the same rule of `run` asks about. Arguments,
    /// results and changes are others each time: for them it counts as an ordinary answer, and so it does for
    /// access, which has a word of its own for it.
    GivenForTurn(Value),
    /// No, and why. The reason reaches the assistant.
    Rejected(String),
    /// Somebody answers later, by other means: the question of a handle stays open. In a call that is to
    /// run to its end it counts as [`Answer::Unavailable`].
    Later,
    /// There is nobody to ask.
    Unavailable,
    /// Nobody answered in time.
    TimedOut,
    /// The one who was asked wants the call to end.
    Cancel,
}

/// Nobody: every question is unanswered, at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Asker for Nobody {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        Answer::Unavailable
    }
}
