//! [`StayingProgram`]: a program that stays, as requests see it.

use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use jig_proto::vfs::{ErrorReply, ProcessOutput};
use jig_proto::{CutReport, TerminalReport, View};
use jig_pty::{CutSide, Input, Settle, TerminalFacts, Transcript, TranscriptPiece};
use jig_sandbox::{Exit, Waker};

use super::processes::InputReads;
use crate::cancel::{CancelHook, CancelToken};
use crate::scrub::{Scrubber, Secrets};

/// A program that stays. Its thread owns the program; this is what it shares with requests.
#[derive(Debug)]
pub(crate) struct StayingProgram {
    number: u64,
    state: Mutex<StayingProgramState>,
    /// There is output, or it has ended, or those who wait should look up for another reason.
    changed: Condvar,
    /// Wakes its thread.
    waker: Waker,
    /// `None` once somebody waits for it.
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct StayingProgramState {
    transcript: Transcript,
    /// How far the tool has read.
    told: u64,
    takes_input: bool,
    inbox: Vec<StayInput>,
    /// It has been asked to end, and is killed at this time.
    kill_at: Option<Instant>,
    end: Option<StayEnd>,
}

/// Input on its way to the thread of a program.
#[derive(Debug)]
pub(super) struct StayInput {
    pub(super) input: Vec<Input>,
    pub(super) reply: SyncSender<Result<(), ErrorReply>>,
}

/// How a program ended; `None` if it could not be watched to its end.
#[derive(Debug, Clone, Copy)]
struct StayEnd(Option<Exit>);

/// What of the output is looked at.
#[derive(Debug)]
pub(super) struct StayLook {
    pub(super) view: View,
    /// What is new comes after this, not after what was read before.
    pub(super) after: Option<u64>,
    pub(super) max: usize,
}

/// What a request does with a program.
impl StayingProgram {
    pub(super) fn new(number: u64, transcript: Transcript) -> std::io::Result<Self> {
        Ok(Self {
            number,
            state: Mutex::new(StayingProgramState {
                transcript,
                told: 0,
                takes_input: true,
                inbox: Vec::new(),
                kill_at: None,
                end: None,
            }),
            changed: Condvar::new(),
            waker: Waker::new()?,
            thread: Mutex::new(None),
        })
    }

    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn has_ended(&self) -> bool {
        self.lock().end.is_some()
    }

    /// Hands input to the program's thread, which answers at once.
    pub(super) fn write(&self, input: Vec<Input>) -> Result<(), ErrorReply> {
        let (reply, answer) = sync_channel(1);
        let ended = || ErrorReply::process_ended(self.number);
        {
            let mut state = self.lock();
            if !state.takes_input {
                return Err(ended());
            }
            state.inbox.push(StayInput { input, reply });
        }
        self.waker.wake();
        // What nobody answers came too late.
        answer.recv().unwrap_or_else(|_| Err(ended()))
    }

    /// Waits for output that the look has not seen, for at most `wait`, and, if it should settle, until no
    /// more comes for the moment. The end of the program, input for the tool and giving up end every wait.
    pub(super) fn wait(
        self: &Arc<Self>,
        look: &StayLook,
        wait: Duration,
        settle: bool,
        cancel: &CancelToken,
        inputs: &InputReads<'_>,
    ) {
        let _hook = self.woken_by(cancel);
        let is_over = |state: &StayingProgramState| {
            state.end.is_some() || cancel.is_cancelled() || inputs.have_come()
        };
        let start = Instant::now();
        let mut state = self.lock();
        let after = look.after.unwrap_or(state.told);
        while state.transcript.seq() <= after && !is_over(&state) {
            let left = wait.saturating_sub(start.elapsed());
            if left.is_zero() {
                break;
            }
            state = self.sleep(state, Some(left));
        }
        // Silence was waited for long enough.
        if !settle || (!wait.is_zero() && state.transcript.seq() <= after) {
            return;
        }
        let mut settled = Settle::default();
        settled.begin(Instant::now(), after);
        while !is_over(&state) {
            let now = Instant::now();
            settled.observe(now, state.transcript.seq());
            let left = settled.deadline(now);
            if left.is_zero() {
                return;
            }
            state = self.sleep(state, Some(left));
        }
    }

    /// Waits until the program has ended; `false` if that was given up.
    pub(super) fn wait_for_end(self: &Arc<Self>, cancel: &CancelToken) -> bool {
        let _hook = self.woken_by(cancel);
        let mut state = self.lock();
        while state.end.is_none() {
            if cancel.is_cancelled() {
                return false;
            }
            state = self.sleep(state, None);
        }
        true
    }

    /// The output that is looked at, and where the program stands.
    pub(super) fn look(&self, look: &StayLook, secrets: &Secrets) -> ProcessOutput<'static> {
        let scrubber = secrets.scrubber();
        let mut state = self.lock();
        let after = look.after.unwrap_or(state.told);
        let transcript = &state.transcript;
        let piece = clean(transcript, look, after, scrubber.as_ref());
        let terminal = transcript.terminal();
        let end = state.end;
        state.told = piece.seq;
        drop(state);
        let (exit_code, signal) = match end {
            Some(StayEnd(Some(Exit::Exited { code }))) => (Some(code), None),
            Some(StayEnd(Some(Exit::Killed { signal, .. }))) => (None, Some(signal)),
            Some(StayEnd(None)) | None => (None, None),
        };
        ProcessOutput {
            running: end.is_none(),
            seq: piece.seq,
            cut: cut(&piece, look.view, terminal.is_some()),
            terminal: terminal.map(report),
            exit_code,
            signal,
            content: piece.text.into(),
        }
    }

    /// Asks the program to end, and has it killed after `grace`, or earlier if somebody said so before.
    pub(super) fn ask_to_end(&self, grace: Duration) {
        let at = Instant::now() + grace;
        let mut state = self.lock();
        state.kill_at = Some(state.kill_at.map_or(at, |before| before.min(at)));
        drop(state);
        self.waker.wake();
    }

    /// Has those who wait look again.
    pub(super) fn wake_readers(&self) {
        // Whoever has looked and does not wait yet holds the lock.
        drop(self.lock());
        self.changed.notify_all();
    }

    pub(super) fn set_thread(&self, thread: JoinHandle<()>) {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
    }

    /// Waits until its thread is gone, and with it the program and all that it leaves behind.
    pub(super) fn join(&self) {
        let thread = self.thread.lock();
        let thread = thread.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic there has been reported.
            let _ = thread.join();
            return;
        }
        // Somebody else waits for the thread.
        let mut state = self.lock();
        while state.end.is_none() {
            state = self.sleep(state, None);
        }
    }

    fn woken_by(self: &Arc<Self>, cancel: &CancelToken) -> CancelHook {
        let process = Arc::clone(self);
        cancel.on_cancel(move || process.wake_readers())
    }

    fn sleep<'a>(
        &self,
        state: MutexGuard<'a, StayingProgramState>,
        limit: Option<Duration>,
    ) -> MutexGuard<'a, StayingProgramState> {
        match limit {
            Some(limit) => {
                let woken = self.changed.wait_timeout(state, limit);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
            None => {
                let woken = self.changed.wait(state);
                woken.unwrap_or_else(PoisonError::into_inner)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, StayingProgramState> {
        // A transcript is whole after each piece of output, whoever panics elsewhere.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread of a program does with it.
impl StayingProgram {
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    pub(super) fn take_letters(&self) -> Vec<StayInput> {
        std::mem::take(&mut self.lock().inbox)
    }

    pub(super) fn kill_at(&self) -> Option<Instant> {
        self.lock().kill_at
    }

    /// Does something with what was printed so far.
    pub(super) fn with_transcript<T>(&self, act: impl FnOnce(&mut Transcript) -> T) -> T {
        act(&mut self.lock().transcript)
    }

    /// Takes no input any more. What waits is answered so.
    pub(super) fn refuse_input(&self) {
        let mut state = self.lock();
        state.takes_input = false;
        state.inbox.clear();
    }

    /// Says that the program has ended and that nothing follows.
    pub(super) fn ended(&self, exit: Option<Exit>) {
        self.refuse_input();
        let mut state = self.lock();
        state.transcript.finish();
        state.end = Some(StayEnd(exit));
        drop(state);
        self.changed.notify_all();
    }
}

/// The output that is looked at, without secrets.
///
/// Those that a program prints are gone already. Here it is about values that were remembered only
/// afterwards, and those that a program draws on the screen in parts. A tool chooses where a piece begins and
/// ends, so they are looked for in all that is kept: no piece may show half of one.
fn clean(
    transcript: &Transcript,
    look: &StayLook,
    after: u64,
    scrubber: Option<&Scrubber>,
) -> TranscriptPiece {
    let show = |max| match look.view {
        // A program that reads wants all of it, one page after the other.
        View::New => transcript.since(after, max, CutSide::Back),
        View::Screen => transcript.shown(max),
        View::All => transcript.all(max),
    };
    let mut piece = show(look.max);
    let Some(scrubber) = scrubber else {
        return piece;
    };
    let whole = transcript.all(usize::MAX).text;
    let uncut = show(usize::MAX).text;
    // Where it stands in the whole. A screen that a program has taken for itself is no part of it.
    let (whole, start) = match whole.len().checked_sub(uncut.len()) {
        Some(start) if whole.ends_with(&uncut) => (whole, start),
        _ => (uncut.clone(), 0),
    };
    let offset = match (look.view, transcript) {
        (View::New, _) | (View::Screen, Transcript::Screen(_)) => {
            uncut.starts_with(&piece.text).then_some(0)
        }
        (View::All, _) | (View::Screen, Transcript::Log(_)) => uncut
            .ends_with(&piece.text)
            .then(|| uncut.len() - piece.text.len()),
    };
    let window = match offset {
        Some(offset) => start + offset..start + offset + piece.text.len(),
        // A character that was cut in two. All of it is shown instead.
        None => start..whole.len(),
    };
    piece.text = match transcript {
        Transcript::Screen(_) => scrubber.rows(&whole, window),
        Transcript::Log(_) => {
            let text = scrubber.part(whole.as_bytes(), window);
            String::from_utf8_lossy(&text).into_owned()
        }
    };
    piece
}

fn report(facts: TerminalFacts) -> TerminalReport {
    TerminalReport {
        rows: facts.size.rows,
        cols: facts.size.cols,
        cursor: [facts.cursor.row, facts.cursor.col],
        alternate: facts.alternate,
    }
}

/// What is missing in a piece of output, and what can be done about it.
fn cut(piece: &TranscriptPiece, view: View, is_terminal: bool) -> Option<CutReport> {
    let mut hints = Vec::new();
    let mut bytes = piece.left;
    if piece.left > 0 {
        hints.push(match view {
            View::New => "read again for what follows".to_owned(),
            View::Screen | View::All => "a larger `max_bytes` shows more".to_owned(),
        });
    }
    // Whoever looks at the screen does not miss what was there before.
    if piece.lost > 0 && view != View::Screen {
        let lost = piece.lost;
        hints.push(match is_terminal {
            true => format!("{lost} earlier lines are gone, because they were not read in time"),
            false => {
                bytes = bytes.saturating_add(lost);
                format!("{lost} earlier bytes are gone, because they were not read in time")
            }
        });
    }
    (!hints.is_empty()).then(|| CutReport {
        bytes,
        hint: hints.join("; "),
    })
}

#[cfg(test)]
mod tests;
