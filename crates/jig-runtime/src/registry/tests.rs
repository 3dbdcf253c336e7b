//! Handles over sessions whose tool is the test itself: it says, asks and stops when the test wants.

mod ends;
mod errors;
#[path = "../../../jig-cli/tests/support/follow.rs"]
mod follow;
mod ids;
mod notices;
mod questions;
mod told;
mod waits;

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use jig_broker::Secrets;
use jig_proto::{Content, Fetch, HandleId, HandleReport, Question, ToolError, ToolState, View};
use jig_pty::{Log, Screen, Size, Transcript};
use jig_testkit::until;

use self::follow::follow;
use super::{HandleLimits, HandleOptions, Handles};
use crate::session::{AskedBy, BoardSetup, InputKind, Orders, Session, SessionBoard, SessionOrder};

/// A tool that does what the test says.
struct Tool {
    board: Arc<SessionBoard>,
    orders: Receiver<SessionOrder>,
}

impl Tool {
    fn new() -> (Session, Self) {
        Self::with(Transcript::Log(Log::new(KEPT)))
    }

    fn on_terminal() -> (Session, Self) {
        let size = Size { rows: 4, cols: 20 };
        Self::with(Transcript::Screen(Screen::new(size, 100)))
    }

    fn with(transcript: Transcript) -> (Session, Self) {
        let board = SessionBoard::new(BoardSetup {
            confinement: None,
            transcript: Some(transcript),
            takes: InputKind::Values,
            record: None,
            secrets: Secrets::new(),
        });
        let (sender, orders) = Orders::new(None);
        let session = Session::new(Arc::clone(&board), sender);
        (session, Self { board, orders })
    }

    fn says(&self, text: &str) {
        self.board
            .say(|transcript| transcript.push(text.as_bytes()));
    }

    fn asks(&self, id: &str) {
        let question = Question::text(id, format!("{id}?"));
        self.board.waiting(Content::EMPTY, question, AskedBy::Tool);
    }

    fn needs_leave(&self) {
        let question = Question::select("access-1", "May it?", ["once", "turn", "no"]);
        self.board
            .waiting(Content::EMPTY, question, AskedBy::Policy);
    }

    fn runs(&self) {
        self.board.running(Content::EMPTY);
    }

    fn stops(&self, result: &str) {
        self.board.stopped(Ok(Content::text(result)));
    }

    /// The next input that reaches it.
    fn input(&self) -> String {
        match self.orders.recv_timeout(LONG) {
            Ok(SessionOrder::Apply(applied)) => {
                let input = applied.input.to_string();
                applied.reply(Ok(()));
                input
            }
            other => panic!("{other:?}"),
        }
    }

    /// Whether it was told nothing.
    fn is_left_alone(&self) -> bool {
        self.orders.try_recv().is_err()
    }

    /// From now on it says what it is given and ends when it is told to.
    fn obeys(self) -> JoinHandle<()> {
        self.obeys_with(|board, _| board.stopped(Err(ToolError::new("cancelled"))))
    }

    fn obeys_with(
        self,
        end: impl Fn(&SessionBoard, &SessionOrder) + Send + 'static,
    ) -> JoinHandle<()> {
        thread::spawn(move || {
            let deadline = Instant::now() + LONG;
            while Instant::now() < deadline {
                match self.orders.recv_timeout(Duration::from_millis(100)) {
                    Ok(SessionOrder::Apply(applied)) => {
                        self.runs();
                        self.says(&format!("got {}\n", applied.input));
                        applied.reply(Ok(()));
                    }
                    Ok(SessionOrder::Decline(..)) => self.runs(),
                    Ok(order @ (SessionOrder::Cancel | SessionOrder::Abort)) => {
                        end(&self.board, &order)
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        })
    }
}

/// A handle `h_1` of the tool `t`.
fn one() -> (Handles, HandleId, Tool) {
    let handles = Handles::default();
    let (session, tool) = Tool::new();
    let id = add(&handles, None, session);
    (handles, id, tool)
}

fn add(handles: &Handles, id: Option<&str>, session: Session) -> HandleId {
    let id = id.map(id_of);
    let reserved = handles.reserve(id, "t", HandleOptions::default());
    reserved.unwrap().fill(session)
}

fn id_of(text: &str) -> HandleId {
    text.parse().unwrap()
}

fn fetch(handles: &Handles, id: &HandleId) -> HandleReport {
    handles.fetch("t", id, &Fetch::default(), None).unwrap()
}

fn text(report: &HandleReport) -> String {
    report.state.content().to_text()
}

fn result(report: &HandleReport) -> Result<String, String> {
    match &report.state {
        ToolState::Stopped { result, .. } => match result {
            Ok(content) => Ok(content.to_text()),
            Err(error) => Err(error.message.clone()),
        },
        other => panic!("{other:?}"),
    }
}

fn view(view: View) -> Fetch {
    Fetch {
        view,
        ..Fetch::default()
    }
}

fn limits(live: usize, kept: usize) -> HandleLimits {
    HandleLimits {
        live,
        kept,
        ..HandleLimits::default()
    }
}

/// The results of threads that must end.
fn all<T: Send + 'static>(threads: Vec<JoinHandle<T>>) -> Vec<T> {
    let results = Arc::new(Mutex::new(Vec::new()));
    for thread in threads {
        until("a thread ends", || thread.is_finished());
        results.lock().unwrap().push(thread.join().unwrap());
    }
    Arc::into_inner(results).unwrap().into_inner().unwrap()
}

/// What a tool's log keeps here.
const KEPT: usize = 1000;

/// Longer than anything takes, also on a machine that is busy.
const LONG: Duration = Duration::from_secs(60);
