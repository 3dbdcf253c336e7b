//! `jig attach`, on the station's side: what a handle shows, as it changes, and what is typed into it.
//!
//! Watching takes nothing away: what was shown here is still new for the next `jig fetch`.

use std::io;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jig_proto::{HandleId, StateName, ToolState, View};
use jig_pty::CutSide;
use jig_runtime::{HandleError, OutputLook, PaintedScreen, Session, Update};
use serde_json::{Value as Json, json};

use super::connection::{failed, tool};
use super::protocol::{
    AttachInput, HandleEvent, MessageReader, ScreenFrame, StationQuestion, StationReply, send,
};
use super::serve::Station;

/// Shows a handle to a client until it stops or the client has gone.
pub(super) fn follow(
    station: &Station,
    stream: &UnixStream,
    mut lines: MessageReader<&UnixStream>,
    id: &HandleId,
    takes_input: bool,
) -> io::Result<()> {
    let found = tool(station, id).and_then(|tool| {
        let session = station.handles.session(id);
        let session = session.ok_or_else(|| HandleError::unknown(id.as_str()))?;
        Ok((session, tool))
    });
    let (session, tool) = match found {
        Ok(found) => found,
        Err(error) => return send(stream, &failed(&error.into())),
    };
    let about = json!({ "tool": tool, "terminal": session.is_terminal() });
    send(stream, &StationReply::Ok(about))?;
    // Whoever watches may be silent for days.
    stream.set_read_timeout(None)?;
    let watcher = FollowSignals::default();
    thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok(Some(AttachInput::Input(input))) = lines.message() {
                let taken = match takes_input {
                    true => type_in(&session, input),
                    false => Err("attach with --input to type".to_owned()),
                };
                if let Err(reason) = taken {
                    watcher.refused(reason);
                }
            }
            watcher.is_gone.store(true, Ordering::SeqCst);
        });
        let shown = show(stream, &session, &tool, &watcher);
        // The thread that reads ends with the connection.
        let _ = stream.shutdown(Shutdown::Both);
        shown
    })
}

/// What the thread that reads tells the one that writes.
#[derive(Default)]
struct FollowSignals {
    is_gone: AtomicBool,
    refused: Mutex<Option<String>>,
}

impl FollowSignals {
    fn refused(&self, reason: String) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason);
    }

    fn take_refused(&self) -> Option<String> {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.take()
    }
}

/// Input for a tool that runs. A question is answered knowingly, by `jig apply`, not by a key that was meant
/// for the screen.
fn type_in(session: &Session, input: Json) -> Result<(), String> {
    let update = session.state();
    match update.state.status() {
        StateName::Running => session
            .apply(update.number, input)
            .map_err(|error| error.to_string()),
        StateName::Waiting => Err("it waits for an answer, which `jig apply` gives".to_owned()),
        StateName::Stopped => Err("it has stopped".to_owned()),
    }
}

fn show(
    stream: &UnixStream,
    session: &Session,
    tool: &str,
    watcher: &FollowSignals,
) -> io::Result<()> {
    let mut shown = FollowPosition::default();
    loop {
        let start = Instant::now();
        // The state comes first: what was printed before a tool stopped is there once it has.
        let update = session.state();
        for seen in shown.news(session, &update, tool) {
            send(stream, &seen)?;
        }
        if let Some(reason) = watcher.take_refused() {
            send(stream, &HandleEvent::NotTaken(reason))?;
        }
        if let ToolState::Stopped { result, .. } = &update.state {
            let words = match (session.exit_code(), result) {
                (Some(code), _) => format!("exited with code {code}"),
                (None, Ok(_)) => "stopped".to_owned(),
                (None, Err(error)) => format!("stopped: {}", error.message),
            };
            return send(stream, &HandleEvent::Stopped(words));
        }
        if watcher.is_gone.load(Ordering::SeqCst) {
            return Ok(());
        }
        // A program that paints all the time is seen often enough.
        thread::sleep(BETWEEN_FRAMES.saturating_sub(start.elapsed()));
        session.wait_news(update.number, shown.seq, Some(BETWEEN_LOOKS));
    }
}

/// What the client has seen.
#[derive(Default)]
struct FollowPosition {
    has_begun: bool,
    seq: u64,
    question: Option<u64>,
    frame: Option<ScreenFrame>,
}

impl FollowPosition {
    fn news(&mut self, session: &Session, update: &Update, tool: &str) -> Vec<HandleEvent> {
        let mut news = Vec::new();
        match session.painted() {
            Some(painted) => {
                self.seq = painted.seq;
                let frame = framed(painted);
                if self.frame.as_ref() != Some(&frame) {
                    news.push(HandleEvent::Screen(frame.clone()));
                    self.frame = Some(frame);
                }
            }
            None => self.text(session, &mut news),
        }
        match (&update.state, self.question) {
            (ToolState::Waiting { .. }, asked) if asked != Some(update.number) => {
                self.question = Some(update.number);
                let asked = StationQuestion::of(update, tool).map(Box::new);
                news.extend(asked.map(HandleEvent::Question));
            }
            (ToolState::Waiting { .. }, _) | (_, None) => {}
            (_, Some(_)) => {
                self.question = None;
                news.push(HandleEvent::Answered);
            }
        }
        news
    }

    /// What a tool without terminal printed since; at first the last of it.
    fn text(&mut self, session: &Session, news: &mut Vec<HandleEvent>) {
        loop {
            let output = session.output(&OutputLook {
                view: View::New,
                after: self.seq,
                max: LONGEST_TEXT,
                cut: if self.has_begun {
                    CutSide::Back
                } else {
                    CutSide::Front
                },
            });
            self.has_begun = true;
            self.seq = output.seq;
            if output.text.is_empty() {
                return;
            }
            news.push(HandleEvent::Text(output.text));
        }
    }
}

fn framed(painted: PaintedScreen) -> ScreenFrame {
    let cursor = painted.cursor;
    ScreenFrame {
        lines: painted.lines,
        rows: painted.size.rows,
        cols: painted.size.cols,
        cursor: cursor.visible.then_some((cursor.row, cursor.col)),
        application_cursor: painted.application_cursor,
        bracketed_paste: painted.bracketed_paste,
    }
}

/// At most 30 screens a second.
const BETWEEN_FRAMES: Duration = Duration::from_millis(34);

/// How long it takes at most to notice that the client has gone.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// In bytes, of one piece.
const LONGEST_TEXT: usize = 64 << 10;
