use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use jig_proto::StateName;

use super::*;
use crate::{Await, HandleError};

/// S-063: abort asks the tool to end, waits for it, and tells what it said last.
#[test]
fn s063_abort_tells_the_last_words() {
    let (handles, id, tool) = one();
    tool.says("working\n");
    let worker = tool.obeys_with(|board, order| {
        assert!(matches!(order, SessionOrder::Cancel));
        board.say(|transcript| transcript.push(b"cleaning up\n"));
        board.stopped(Err(ToolError::new("cancelled")));
    });
    let report = handles.abort("t", &id).unwrap();
    assert_eq!(text(&report), "working\ncleaning up\n");
    assert_eq!(result(&report), Err("cancelled".to_owned()));
    let gone = handles
        .fetch("t", &id, &Fetch::default(), None)
        .unwrap_err();
    assert!(gone.to_string().contains("it was aborted"), "{gone}");
    drop(handles);
    worker.join().unwrap();
}

/// S-027: a tool that waits can be aborted, and one that has stopped is told as it is.
#[test]
fn s027_abort_from_every_state() {
    let (handles, id, tool) = one();
    tool.asks("go");
    let worker = tool.obeys();
    assert_eq!(
        handles.abort("t", &id).unwrap().state.status(),
        StateName::Stopped
    );
    worker.join().unwrap();
    let (handles, id, tool) = one();
    tool.stops("done");
    assert_eq!(
        result(&handles.abort("t", &id).unwrap()),
        Ok("done".to_owned())
    );
    assert!(handles.abort("t", &id).is_err());
}

/// What an abort leaves out is gone with the handle, and the report does not send anybody to fetch it.
#[test]
fn an_aborted_handle_has_no_next_page() {
    let handles = Handles::new(HandleLimits {
        max_bytes: 4,
        ..HandleLimits::default()
    });
    let (session, tool) = Tool::new();
    let id = add(&handles, None, session);
    tool.says("0123456789");
    let worker = tool.obeys();
    let report = handles.abort("t", &id).unwrap();
    let cut = report.details.cut.unwrap();
    assert_eq!(cut.bytes, 6);
    assert!(!cut.hint.contains("after_seq"), "{}", cut.hint);
    assert!(handles.fetch("t", &id, &Fetch::default(), None).is_err());
    worker.join().unwrap();
}

/// S-063: the end of the turn asks all at once, kills those that do not listen, and lets nothing new in.
#[test]
fn s063_the_end_of_the_turn_ends_all() {
    let handles = Arc::new(Handles::default());
    let killed = Arc::new(AtomicUsize::new(0));
    let asked = Arc::new(AtomicUsize::new(0));
    let workers: Vec<_> = (0..20)
        .map(|number| {
            let (session, tool) = Tool::new();
            add(&handles, None, session);
            if number % 3 == 0 {
                tool.asks("go");
            }
            let (killed, asked) = (Arc::clone(&killed), Arc::clone(&asked));
            tool.obeys_with(move |board, order| match order {
                // Every other one listens.
                SessionOrder::Cancel => {
                    asked.fetch_add(1, Ordering::SeqCst);
                    if number % 2 == 0 {
                        board.stopped(Err(ToolError::new("asked")));
                    }
                }
                _ => {
                    killed.fetch_add(1, Ordering::SeqCst);
                    board.stopped(Err(ToolError::new("killed")));
                }
            })
        })
        .collect();
    // Whoever waits is told.
    let waiting = {
        let (handles, id) = (Arc::clone(&handles), id_of("h_2"));
        let look = Fetch {
            wait: Some(LONG),
            ..Fetch::default()
        };
        thread::spawn(move || handles.fetch("t", &id, &look, None).unwrap())
    };
    let awaiting = {
        let (handles, ids) = (Arc::clone(&handles), [id_of("h_6"), id_of("h_8")]);
        thread::spawn(move || handles.wait(&ids, Await::All, None, None).unwrap())
    };
    let reserved = handles
        .reserve(None, "t", HandleOptions::default())
        .unwrap();
    let started = Instant::now();
    handles.end(Duration::from_millis(500));
    // At once, not one after the other.
    assert!(started.elapsed() < Duration::from_secs(8));
    assert_eq!(asked.load(Ordering::SeqCst), 20);
    assert_eq!(all(vec![waiting])[0].state.status(), StateName::Stopped);
    let awaited = all(vec![awaiting]).remove(0);
    assert!(
        awaited
            .iter()
            .all(|report| report.state.status() == StateName::Stopped)
    );
    let over = handles
        .reserve(None, "t", HandleOptions::default())
        .unwrap_err();
    assert!(matches!(over, HandleError::Over), "{over}");
    // One that was just being started ends as well.
    let (session, tool) = Tool::new();
    let late = tool.obeys();
    let id = reserved.fill(session);
    let gone = handles.settle(&id, None).unwrap_err();
    assert!(gone.to_string().contains("with its turn"), "{gone}");
    assert_eq!(handles.counts(), super::super::HandleCounts::default());
    assert!(handles.list().is_empty());
    assert!(handles.notices().is_empty());
    drop(handles);
    late.join().unwrap();
    for worker in workers {
        worker.join().unwrap();
    }
    assert!(killed.load(Ordering::SeqCst) >= 10);
}

/// Handles that nobody fetches are kept within bounds: the first to stop goes first, and that is told.
#[test]
fn unfetched_results_are_bounded() {
    let handles = Handles::new(limits(100, 3));
    let tools: Vec<_> = (0..5)
        .map(|_| {
            let (session, tool) = Tool::new();
            (add(&handles, None, session), tool)
        })
        .collect();
    for (_, tool) in &tools {
        tool.stops("done");
    }
    assert_eq!(handles.counts().stopped, 3);
    let notices = handles.notices();
    let dropped: Vec<&str> = notices
        .iter()
        .filter(|notice| notice.dropped)
        .map(|notice| notice.id.as_str())
        .collect();
    assert_eq!(dropped, ["h_1", "h_2"]);
    assert_eq!(notices.len(), 5);
    assert!(handles.notices().is_empty());
    let gone = handles.fetch("t", &tools[0].0, &Fetch::default(), None);
    let gone = gone.unwrap_err().to_string();
    assert!(gone.contains("its result was dropped"), "{gone}");
    assert!(
        handles
            .fetch("t", &tools[2].0, &Fetch::default(), None)
            .is_ok()
    );
}

/// Dropping the registry aborts what runs.
#[test]
fn dropping_aborts() {
    let (handles, _, tool) = one();
    drop(handles);
    assert!(matches!(
        tool.orders.recv_timeout(LONG),
        Ok(SessionOrder::Abort)
    ));
}

/// S-063: whoever waits while the turn ends is told of the end, by reports or by an error; never that all is
/// well with handles that are gone.
#[test]
fn s063_the_end_of_the_turn_is_told_to_those_who_wait() {
    for mode in [Await::Any, Await::All] {
        let handles = Arc::new(Handles::default());
        let (ids, workers): (Vec<_>, Vec<_>) = (0..3)
            .map(|number| {
                let (session, tool) = Tool::new();
                let id = add(&handles, None, session);
                // They end one after the other.
                let worker = tool.obeys_with(move |board, _| {
                    jig_testkit::let_pass(Duration::from_millis(50 * number));
                    board.stopped(Err(ToolError::new("ended")));
                });
                (id, worker)
            })
            .unzip();
        let until = {
            let (handles, ids) = (Arc::clone(&handles), ids.clone());
            thread::spawn(move || handles.until(&ids, mode, None, None))
        };
        let reports = {
            let (handles, ids) = (Arc::clone(&handles), ids.clone());
            thread::spawn(move || handles.wait(&ids, mode, None, None).unwrap())
        };
        super::until("both wait", || waiting_for(&handles, &ids[0]) == 2);
        handles.end(LONG);
        let over = all(vec![until]).remove(0);
        assert!(matches!(over, Err(HandleError::Over)), "{mode:?}: {over:?}");
        let reports = all(vec![reports]).remove(0);
        let statuses: Vec<_> = reports.iter().map(|report| report.state.status()).collect();
        assert_eq!(statuses, [StateName::Stopped; 3], "{mode:?}");
        // Who comes afterwards is told that they are gone.
        let late = handles.until(&ids, mode, None, None).unwrap_err();
        assert!(late.to_string().contains("`h_3` is gone"), "{late}");
        drop(handles);
        for worker in workers {
            worker.join().unwrap();
        }
    }
}

/// How many hold on to a handle, besides the table and whoever asks.
fn waiting_for(handles: &Handles, id: &HandleId) -> usize {
    Arc::strong_count(&handles.entry(id).unwrap()) - 2
}

/// S-063: code inside jig that hangs keeps nobody waiting when its turn is over.
#[test]
fn s063_a_handle_that_is_gone_is_not_waited_for() {
    let (handles, id, tool) = one();
    let handles = Arc::new(handles);
    let waiting = {
        let (handles, id) = (Arc::clone(&handles), id.clone());
        thread::spawn(move || handles.until(&[id], Await::All, None, None))
    };
    until("it waits", || waiting_for(&handles, &id) == 1);
    handles.end(Duration::ZERO);
    let over = all(vec![waiting]).remove(0);
    assert!(matches!(over, Err(HandleError::Over)), "{over:?}");
    drop(tool);
}

/// Results that nobody fetches are bounded by what they hold, too. The newest stays, however large it is.
#[test]
fn unfetched_results_are_bounded_by_their_size() {
    let handles = Handles::new(HandleLimits {
        kept_bytes: 1_000_000,
        ..HandleLimits::default()
    });
    let large = "x".repeat(400_000);
    let stop = |result: &str| {
        let (session, tool) = Tool::new();
        let id = add(&handles, None, session);
        tool.stops(result);
        id
    };
    let ids: Vec<_> = (0..4).map(|_| stop(&large)).collect();
    assert_eq!(handles.counts().stopped, 2);
    let gone = handles.fetch("t", &ids[1], &Fetch::default(), None);
    let gone = gone.unwrap_err().to_string();
    assert!(gone.contains("its result was dropped"), "{gone}");
    // What was fetched makes room.
    fetch(&handles, &ids[2]);
    stop(&large);
    assert_eq!(handles.counts().stopped, 2);
    let huge = stop(&large.repeat(3));
    assert_eq!(handles.counts().stopped, 1);
    assert_eq!(result(&fetch(&handles, &huge)).unwrap().len(), 1_200_000);
    // And the count begins anew.
    stop(&large);
    stop(&large);
    assert_eq!(handles.counts().stopped, 2);
}
