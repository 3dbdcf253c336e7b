use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::Secrets;
use jig_proto::{Content, Question, View};
use jig_pty::{CutSide, Log, Screen, Settle, Size, Transcript};
use jig_testkit::let_pass;

use super::*;

fn board(transcript: Option<Transcript>, takes: InputKind) -> Arc<SessionBoard> {
    SessionBoard::new(BoardSetup {
        confinement: None,
        transcript,
        takes,
        record: None,
        secrets: Secrets::new(),
    })
}

/// A session whose tool is this test.
fn session(takes: InputKind) -> (Session, Arc<SessionBoard>) {
    let board = board(Some(Transcript::Log(Log::new(1024))), takes);
    let (orders, _) = Orders::new(None);
    (Session::new(Arc::clone(&board), orders), board)
}

fn question() -> Question {
    Question::yes_no("sure", "Sure?")
}

fn say(board: &SessionBoard, text: &str) {
    board.say(|transcript| transcript.push(text.as_bytes()));
}

fn look(session: &Session, view: View, after: u64) -> SessionOutput {
    session.output(&OutputLook {
        view,
        after,
        max: 1000,
        cut: CutSide::Front,
    })
}

/// Waits on another thread, does `change` once it waits, and gives how that wait ended.
fn waiting<T: Send + 'static>(
    session: &Arc<Session>,
    wait: impl FnOnce(&Session) -> T + Send + 'static,
    change: impl FnOnce(),
) -> T {
    let theirs = Arc::clone(session);
    let waiter = thread::spawn(move || wait(&theirs));
    // Whether it waits yet or not, it must see the change.
    let_pass(Duration::from_millis(30));
    change();
    waiter.join().unwrap()
}

fn resting(quiet: Duration, limit: Duration) -> Settle {
    let mut settle = Settle::default();
    settle.quiet = quiet;
    settle.silence = limit;
    settle.limit = limit;
    settle
}

const LONG: Option<Duration> = Some(Duration::from_secs(60));

#[test]
fn what_a_tool_says_is_there_after_a_state_took_its_place() {
    let (session, board) = session(InputKind::Values);
    board.running(Content::text("one"));
    let seen = session.state().number;
    board.running(Content::text("two"));
    board.waiting(Content::EMPTY, question(), AskedBy::Tool);
    board.running(Content::EMPTY);
    board.running(Content::text("three"));
    board.stopped(Ok(Content::text("done")));
    let end = session.state().number;
    assert_eq!(session.progress(seen, end), ["two", "three"]);
    assert_eq!(session.progress(end, end), [""; 0]);
    assert_eq!(session.progress(0, seen), ["one"]);
}

#[test]
fn of_a_tool_that_says_much_the_latest_is_kept() {
    let (session, board) = session(InputKind::Values);
    for number in 0..100 {
        board.running(Content::text(format!("{number} {}", "x".repeat(10_000))));
    }
    let kept = session.progress(0, session.state().number);
    assert!(kept.len() < 100, "{}", kept.len());
    assert!(kept.iter().all(|text| text.len() < 5_000));
    assert!(kept.last().is_some_and(|last| last.starts_with("99 ")));
}

#[test]
fn news_are_output_a_question_or_the_end() {
    let (session, board) = session(InputKind::Values);
    let session = Arc::new(session);
    let wait = |session: &Session| session.wait_news(1, session.seq(), LONG).state.status();

    let status = waiting(
        &session,
        |session| session.wait_news(1, 0, LONG),
        || say(&board, "x"),
    );
    assert_eq!(status.state.status(), StateName::Running);
    let ask = || board.waiting(Content::EMPTY, question(), AskedBy::Tool);
    assert_eq!(waiting(&session, wait, ask), StateName::Waiting);
    // The question was seen: it is no news.
    let seen = session.state().number;
    let update = session.wait_news(seen, session.seq(), Some(Duration::from_millis(20)));
    assert_eq!(update.number, seen);
    let stop = || board.stopped(Ok(Content::EMPTY));
    let wait = move |session: &Session| session.wait_news(seen, session.seq(), LONG);
    let update = waiting(&session, wait, stop);
    assert_eq!(update.state.status(), StateName::Stopped);
}

#[test]
fn output_does_not_end_a_wait_for_a_state() {
    let (session, board) = session(InputKind::Values);
    let session = Arc::new(session);
    let wait = |session: &Session| session.wait(1, Some(Duration::from_millis(200)));
    let update = waiting(&session, wait, || {
        for _ in 0..100 {
            say(&board, "x");
        }
    });
    assert_eq!(update.number, 1);
}

#[test]
fn s024_settling_takes_a_pause_a_question_or_the_end() {
    let minute = Duration::from_secs(60);
    let quick = resting(Duration::from_millis(200), minute);
    let (session, board) = session(InputKind::Values);
    let session = Arc::new(session);

    // Each word puts it off.
    let settle = quick.clone();
    let start = Instant::now();
    waiting(
        &session,
        move |session| session.settle(1, 0, &settle),
        || {
            for _ in 0..10 {
                say(&board, "x");
                let_pass(Duration::from_millis(50));
            }
        },
    );
    assert!(start.elapsed() >= Duration::from_millis(30 + 9 * 50 + 200));
    assert_eq!(look(&session, View::New, 0).text, "xxxxxxxxxx");

    // What came before counts as well: there is nothing to wait for.
    let start = Instant::now();
    session.settle(1, 0, &quick);
    assert!(start.elapsed() < Duration::from_secs(30));

    // A question settles at once, and so does the end.
    let never = resting(minute * 10, minute * 10);
    let seq = session.seq();
    let settle = never.clone();
    let update = waiting(
        &session,
        move |session| session.settle(1, seq, &settle),
        || {
            say(&board, "y");
            board.waiting(Content::EMPTY, question(), AskedBy::Policy);
        },
    );
    assert_eq!(update.state.status(), StateName::Waiting);
    let stop = || board.stopped(Ok(Content::EMPTY));
    let seen = update.number;
    let update = waiting(
        &session,
        move |session| session.settle(seen, seq, &never),
        stop,
    );
    assert_eq!(update.state.status(), StateName::Stopped);
}

/// S-023: what a tool tells comes back as it was told; two of them stand on lines of their own.
#[test]
fn s023_told_contents_are_passed_on_unchanged() {
    let check = |contents: &[&str], expected: &str| {
        let (session, board) = session(InputKind::Values);
        for content in contents {
            board.tell(&Content::text(*content));
        }
        for view in [View::New, View::All, View::Screen] {
            assert_eq!(look(&session, view, 0).text, expected, "{contents:?}");
        }
    };
    check(&[], "");
    check(&["Now then."], "Now then.");
    check(&["line\n"], "line\n");
    check(&["a", "b"], "a\nb");
    check(&["a\n", "b\n"], "a\nb\n");
    check(&["", "a", ""], "a");

    let (session, board) = session(InputKind::Values);
    board.tell(&Content::text("first"));
    let seq = look(&session, View::New, 0).seq;
    board.tell(&Content::text("second"));
    assert_eq!(look(&session, View::New, seq).text, "second");
    assert_eq!(look(&session, View::New, session.seq()).text, "");
}

/// S-034, S-035: what is given is an answer or input by what whoever gives it has seen.
#[test]
fn s034_an_answer_is_for_the_question_that_was_seen() {
    let (session, board) = session(InputKind::Values);
    let apply = |seen| session.apply(seen, true.into());
    // It runs: there is nobody to take input here any more, but it is no matter of the board.
    assert!(matches!(apply(1), Err(ApplyError::NotRunning)));
    board.waiting(Content::EMPTY, question(), AskedBy::Tool);
    assert!(matches!(apply(1), Err(ApplyError::Changed)));
    board.running(Content::EMPTY);
    // The question of update 2 is gone; what was meant for it is no input.
    assert!(matches!(apply(2), Err(ApplyError::Changed)));
    board.stopped(Ok(Content::EMPTY));
    assert!(matches!(apply(4), Err(ApplyError::NotRunning)));
}

#[test]
fn input_is_checked_before_it_is_sent() {
    let check = |takes, input: Value, is_expected: fn(&ApplyError) -> bool| {
        let (session, _board) = session(takes);
        let error = session.apply(1, input).unwrap_err();
        assert!(is_expected(&error), "{error:?}");
    };
    check(InputKind::Answers, "x".into(), |error| {
        matches!(error, ApplyError::NotTaken)
    });
    check(InputKind::Console, Value::Null, |error| {
        matches!(error, ApplyError::Input(_))
    });
    // It is sent, and nobody takes it.
    check(InputKind::Values, Value::Null, |error| {
        matches!(error, ApplyError::NotRunning)
    });
    check(InputKind::Console, "x".into(), |error| {
        matches!(error, ApplyError::NotRunning)
    });
}

#[test]
fn a_session_that_keeps_no_output_shows_what_its_state_tells() {
    let board = board(None, InputKind::Answers);
    let (orders, _) = Orders::new(None);
    let session = Session::new(Arc::clone(&board), orders);
    assert_eq!(look(&session, View::New, 0).text, "");
    board.running(Content::text("halfway"));
    let output = look(&session, View::New, 1);
    assert_eq!((output.text.as_str(), output.seq), ("halfway", 2));
    assert_eq!(look(&session, View::New, 2).text, "");
    assert_eq!(look(&session, View::Screen, 2).text, "halfway");
    let short = session.output(&OutputLook {
        view: View::All,
        after: 0,
        max: 4,
        cut: CutSide::Front,
    });
    assert_eq!((short.text.as_str(), short.left), ("half", 3));
}

#[test]
fn changes_of_state_are_told_to_the_hook_without_a_lock() {
    let (session, board) = session(InputKind::Values);
    let session = Arc::new(session);
    let told = Arc::new(Mutex::new(Vec::new()));
    let (theirs, seen) = (Arc::downgrade(&session), Arc::clone(&told));
    session.on_status(move |status| {
        // It would hang here if the board were locked.
        let state = theirs.upgrade().map(|session| session.state());
        assert_eq!(state.map(|update| update.state.status()), Some(status));
        seen.lock().unwrap().push(status);
    });
    say(&board, "x");
    board.waiting(Content::EMPTY, question(), AskedBy::Tool);
    board.running(Content::EMPTY);
    board.stopped(Ok(Content::EMPTY));
    board.running(Content::EMPTY);
    let expected = [StateName::Waiting, StateName::Running, StateName::Stopped];
    assert_eq!(*told.lock().unwrap(), expected);
}

/// Notes that a task is to be polled.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_task_hears_of_what_there_is_to_do_first() {
    let check = |news: &dyn Fn(&SessionBoard)| {
        let (session, board) = session(InputKind::Values);
        let woken = Arc::new(Woken::default());
        let waker = Waker::from(Arc::clone(&woken));
        let mut context = Context::from_waker(&waker);
        let mut first = pin!(session.first_news());
        assert!(first.as_mut().poll(&mut context).is_pending());
        board.running(Content::EMPTY);
        assert!(first.as_mut().poll(&mut context).is_pending());
        woken.0.store(false, Ordering::SeqCst);
        news(&board);
        assert!(woken.0.load(Ordering::SeqCst));
        assert!(first.as_mut().poll(&mut context).is_ready());
    };
    check(&|board| board.running(Content::text("half way")));
    check(&|board| board.waiting(Content::EMPTY, question(), AskedBy::Tool));
    check(&|board| board.stopped(Ok(Content::EMPTY)));
}

/// A secret on a screen is left out also where the end of a row or a colour breaks it.
#[test]
fn screens_are_shown_without_secrets() {
    let secrets = Secrets::new();
    secrets.remember("sk-0123456789");
    let screen = Screen::new(Size::new(4, 10), 100);
    let board = SessionBoard::new(BoardSetup {
        confinement: None,
        transcript: Some(Transcript::Screen(screen)),
        takes: InputKind::Console,
        record: None,
        secrets,
    });
    let (orders, _) = Orders::new(None);
    let session = Session::new(Arc::clone(&board), orders);
    say(&board, "\u{1b}[31mred\u{1b}[0m");
    let painted = session.painted().unwrap();
    assert_eq!(painted.lines.len(), 4);
    assert!(painted.lines[0].contains("\u{1b}["), "{painted:?}");
    say(&board, "\r\nab sk-012\u{1b}[1m3456789");
    for view in [View::New, View::Screen, View::All] {
        let shown = look(&session, view, 0);
        assert!(shown.text.contains("[REDACTED]"), "{shown:?}");
        assert!(!shown.text.contains("3456"), "{shown:?}");
        assert!(shown.terminal.is_some());
    }
    let painted = session.painted().unwrap();
    let lines = painted.lines.join("\n");
    assert!(
        lines.contains("[REDACTED]") && !lines.contains("3456"),
        "{lines}"
    );
    assert_eq!(painted.lines.len(), 4);
}

/// Whoever looks chooses where a piece begins and ends: no choice shows a part of a secret, on a screen that
/// holds it in two rows and two colours, nor in a log that had it before it was known.
#[test]
fn no_choice_of_a_piece_shows_half_a_secret() {
    const SECRET: &str = "sk-0123456789";
    let screen = Transcript::Screen(Screen::new(Size::new(4, 10), 100));
    for transcript in [screen, Transcript::Log(Log::new(1024))] {
        let secrets = Secrets::new();
        let board = SessionBoard::new(BoardSetup {
            confinement: None,
            transcript: Some(transcript),
            takes: InputKind::Console,
            record: None,
            secrets: secrets.clone(),
        });
        let (orders, _) = Orders::new(None);
        let session = Session::new(Arc::clone(&board), orders);
        let mut positions = vec![0];
        let is_terminal = session.is_terminal();
        let pieces: &[&str] = match is_terminal {
            true => &[
                "one\r\n",
                "ab sk-01",
                "\u{1b}[1m23456789",
                " more\r\n",
                "end",
            ],
            false => &["one\n", "ab sk-01", "23456789", " more\n", "end"],
        };
        for piece in pieces {
            say(&board, piece);
            positions.push(session.seq());
        }
        secrets.remember(SECRET);
        let views = [View::New, View::Screen, View::All];
        for (view, after) in views
            .iter()
            .flat_map(|view| positions.iter().map(move |at| (view, at)))
        {
            for (max, cut) in (0..60).flat_map(|max| [(max, CutSide::Front), (max, CutSide::Back)])
            {
                let look = OutputLook {
                    view: *view,
                    after: *after,
                    max,
                    cut,
                };
                let text = session.output(&look).text.replace('\n', "");
                let is_leaked = (0..SECRET.len() - 4).any(|at| text.contains(&SECRET[at..at + 4]));
                assert!(!is_leaked, "{look:?} shows {text:?}");
            }
        }
        let all = look(&session, View::All, 0).text;
        assert!(all.contains("[REDACTED]") && all.contains("end"), "{all}");
    }
}
