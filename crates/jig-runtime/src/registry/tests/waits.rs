use std::sync::Arc;
use std::thread;

use jig_broker::CancelToken;
use jig_proto::StateName;

use super::*;
use crate::{Await, HandleError};

fn several(count: usize) -> (Arc<Handles>, Vec<HandleId>, Vec<Tool>) {
    let handles = Arc::new(Handles::default());
    let (ids, tools) = (0..count)
        .map(|_| {
            let (session, tool) = Tool::new();
            (add(&handles, None, session), tool)
        })
        .unzip();
    (handles, ids, tools)
}

fn statuses(reports: &[HandleReport]) -> Vec<StateName> {
    let states = reports.iter();
    states.map(|report| report.state.status()).collect()
}

/// A fetch that waits returns on output, on a question and on the end.
#[test]
fn a_fetch_waits_for_news() {
    let check = |act: fn(&Tool), status: StateName, said: &str| {
        let (handles, id, tool) = one();
        tool.says("old");
        fetch(&handles, &id);
        let waiting = thread::spawn(move || {
            let look = Fetch {
                wait: Some(LONG),
                ..Fetch::default()
            };
            handles.fetch("t", &id, &look, None).unwrap()
        });
        act(&tool);
        let report = all(vec![waiting]).remove(0);
        assert_eq!(report.state.status(), status);
        assert_eq!(text(&report), said);
    };
    check(|tool| tool.says("new"), StateName::Running, "new");
    check(|tool| tool.asks("go"), StateName::Waiting, "");
    check(|tool| tool.stops("done"), StateName::Stopped, "");
}

/// A wait is no longer than asked, and there is none while a question is open.
#[test]
fn a_fetch_does_not_wait_in_vain() {
    let (handles, id, tool) = one();
    let look = |wait| Fetch {
        wait: Some(wait),
        ..Fetch::default()
    };
    let short = look(Duration::from_millis(30));
    let report = handles.fetch("t", &id, &short, None).unwrap();
    assert_eq!(report.state.status(), StateName::Running);
    tool.asks("go");
    fetch(&handles, &id);
    let started = Instant::now();
    let report = handles.fetch("t", &id, &look(LONG), None).unwrap();
    assert_eq!(report.state.status(), StateName::Waiting);
    assert!(started.elapsed() < LONG / 2);
}

/// A call that is given up returns, and nothing in it counts as told.
#[test]
fn what_was_given_up_is_told_again() {
    let (handles, id, tool) = one();
    let handles = Arc::new(handles);
    tool.says("news");
    let cancel = CancelToken::new();
    let waiting = {
        let (handles, id, cancel) = (Arc::clone(&handles), id.clone(), cancel.clone());
        let look = Fetch {
            wait: Some(LONG),
            after_seq: Some(4),
            ..Fetch::default()
        };
        thread::spawn(move || handles.fetch("t", &id, &look, Some(&cancel)).unwrap())
    };
    cancel.cancel();
    assert_eq!(all(vec![waiting])[0].state.status(), StateName::Running);
    tool.stops("done");
    let peek = handles.fetch("t", &id, &Fetch::default(), Some(&cancel));
    assert_eq!(result(&peek.unwrap()), Ok("done".to_owned()));
    let awaited = handles.wait(std::slice::from_ref(&id), Await::All, None, Some(&cancel));
    assert_eq!(text(&awaited.unwrap()[0]), "news");
    let report = fetch(&handles, &id);
    assert_eq!(text(&report), "news");
    assert_eq!(result(&report), Ok("done".to_owned()));
}

/// Any: the first that stops or asks ends the wait; the others are not told.
#[test]
fn await_any() {
    let (handles, ids, tools) = several(3);
    tools[0].says("zero");
    let waiting = {
        let (handles, ids) = (Arc::clone(&handles), ids.clone());
        thread::spawn(move || handles.wait(&ids, Await::Any, None, None).unwrap())
    };
    tools[1].says("one");
    tools[1].stops("done");
    let reports = all(vec![waiting]).remove(0);
    use StateName::{Running, Stopped, Waiting};
    assert_eq!(statuses(&reports), [Running, Stopped, Running]);
    assert_eq!(text(&reports[0]), "");
    assert_eq!(text(&reports[1]), "one");
    assert_eq!(text(&fetch(&handles, &ids[0])), "zero");
    tools[2].asks("go");
    let left = [ids[0].clone(), ids[2].clone()];
    let reports = handles.wait(&left, Await::Any, None, None).unwrap();
    assert_eq!(statuses(&reports), [Running, Waiting]);
}

/// All: a question counts as ready, because nothing happens without an answer.
#[test]
fn await_all() {
    let (handles, ids, tools) = several(3);
    let waiting = {
        let (handles, ids) = (Arc::clone(&handles), ids.clone());
        thread::spawn(move || handles.wait(&ids, Await::All, None, None).unwrap())
    };
    tools[2].stops("done");
    tools[0].asks("go");
    assert!(!waiting.is_finished());
    tools[1].stops("done");
    let reports = all(vec![waiting]).remove(0);
    use StateName::{Stopped, Waiting};
    assert_eq!(statuses(&reports), [Waiting, Stopped, Stopped]);
    let gone = handles.fetch("t", &ids[1], &Fetch::default(), None);
    assert!(gone.is_err());
}

/// A wait ends by its timeout and by its token, and one without handles at once.
#[test]
fn await_ends_without_news() {
    let (handles, ids, _tools) = several(2);
    for mode in [Await::Any, Await::All] {
        assert!(handles.wait(&[], mode, None, None).unwrap().is_empty());
        let short = Some(Duration::from_millis(20));
        let reports = handles.wait(&ids, mode, short, None).unwrap();
        assert_eq!(statuses(&reports), [StateName::Running, StateName::Running]);
        // The later it is cancelled, the surer it waits by then.
        for delay in [0, 1, 5, 20, 50] {
            let cancel = CancelToken::new();
            let waiting = {
                let (handles, ids, cancel) = (Arc::clone(&handles), ids.clone(), cancel.clone());
                thread::spawn(move || handles.until(&ids, mode, None, Some(&cancel)).is_ok())
            };
            jig_testkit::let_pass(Duration::from_millis(delay));
            assert!(!waiting.is_finished());
            cancel.cancel();
            assert_eq!(all(vec![waiting]), [true]);
        }
    }
}

/// Handles that do not exist are all named, before anything is waited for; one that is named twice is
/// told once.
#[test]
fn await_names_the_unknown() {
    let (handles, ids, tools) = several(1);
    let asked = [ids[0].clone(), id_of("nope"), id_of("h_9")];
    let error = handles.wait(&asked, Await::All, None, None).unwrap_err();
    let HandleError::Unknown(unknown) = &error else {
        panic!("{error}")
    };
    assert_eq!(unknown.names().collect::<Vec<_>>(), ["nope", "h_9"]);
    tools[0].stops("done");
    let twice = [ids[0].clone(), ids[0].clone()];
    assert_eq!(
        handles.wait(&twice, Await::All, None, None).unwrap().len(),
        1
    );
}

/// Two thousand handles: a look at one does not look at the others.
#[test]
fn a_fetch_does_not_depend_on_the_number_of_handles() {
    let handles = Handles::default();
    let tools: Vec<_> = (0..2000)
        .map(|_| {
            let (session, tool) = Tool::new();
            (add(&handles, None, session), tool)
        })
        .collect();
    let (id, tool) = &tools[1234];
    tool.says("here");
    assert_eq!(text(&fetch(&handles, id)), "here");
    assert_eq!(handles.list().len(), 2000);
    tools[7].1.stops("done");
    assert_eq!(handles.notices().len(), 1);
}
