use jig_proto::StateName;

use super::super::NoticeOptions;
use super::*;

fn told(handles: &Handles) -> Vec<(String, StateName)> {
    let notices = handles.notices().into_iter();
    notices
        .map(|notice| (notice.id.to_string(), notice.state))
        .collect()
}

/// S-082: what has changed is told once.
#[test]
fn s082_each_change_is_told_once() {
    let (handles, id, tool) = one();
    tool.says("output is no news");
    assert_eq!(told(&handles), []);
    tool.asks("go");
    assert_eq!(told(&handles), [("h_1".to_owned(), StateName::Waiting)]);
    assert_eq!(told(&handles), []);
    let pending = handles.question(&id).unwrap();
    handles
        .answer(&id, pending.number, serde_json::json!(1))
        .unwrap();
    tool.input();
    tool.runs();
    assert_eq!(told(&handles), []);
    tool.asks("again");
    assert_eq!(told(&handles), [("h_1".to_owned(), StateName::Waiting)]);
    tool.stops("done");
    assert_eq!(told(&handles), [("h_1".to_owned(), StateName::Stopped)]);
    assert_eq!(told(&handles), []);
    // The result is still to be had.
    assert_eq!(result(&fetch(&handles, &id)), Ok("done".to_owned()));
}

/// S-082: a report that shows the change is the notice.
#[test]
fn s082_a_report_makes_the_notice_void() {
    let (handles, id, tool) = one();
    tool.asks("go");
    fetch(&handles, &id);
    assert_eq!(told(&handles), []);
    tool.stops("done");
    fetch(&handles, &id);
    assert_eq!(told(&handles), []);
}

/// S-082: a question that was answered before anybody was told is not worth a notice.
#[test]
fn s082_what_is_over_is_no_news() {
    let (handles, id, tool) = one();
    tool.asks("go");
    let pending = handles.question(&id).unwrap();
    handles
        .answer(&id, pending.number, serde_json::json!(1))
        .unwrap();
    assert_eq!(told(&handles), []);
    tool.input();
    tool.runs();
    assert_eq!(told(&handles), []);
}

/// S-082: each handle says what its caller wants to know.
#[test]
fn s082_notices_are_chosen_by_the_handle() {
    let check = |notices: NoticeOptions, expected: &[StateName]| {
        let handles = Handles::default();
        let options = HandleOptions { notices };
        let reserved = handles.reserve(None, "t", options).unwrap();
        let (session, tool) = Tool::new();
        reserved.fill(session);
        let mut found = Vec::new();
        tool.asks("go");
        found.extend(told(&handles).into_iter().map(|(_, status)| status));
        tool.stops("done");
        found.extend(told(&handles).into_iter().map(|(_, status)| status));
        assert_eq!(found, expected, "{notices:?}");
    };
    use StateName::{Stopped, Waiting};
    check((true, true).into(), &[Waiting, Stopped]);
    check((true, false).into(), &[Stopped]);
    check((false, true).into(), &[Waiting]);
    check((false, false).into(), &[]);
}

/// A tool that stopped before it became a handle is news, too.
#[test]
fn s082_a_quick_tool_is_not_missed() {
    let handles = Handles::default();
    let (session, tool) = Tool::new();
    tool.stops("done");
    add(&handles, None, session);
    assert_eq!(told(&handles), [("h_1".to_owned(), StateName::Stopped)]);
    assert_eq!((handles.counts().live, handles.counts().stopped), (0, 1));
}

/// S-082: a response is not flooded with notices. What is left out is counted, and told the next time.
#[test]
fn s082_notices_come_in_small_numbers() {
    let handles = Handles::new(limits(100, 30));
    let tools: Vec<_> = (0..80)
        .map(|_| {
            let (session, tool) = Tool::new();
            add(&handles, None, session);
            tool
        })
        .collect();
    for (number, tool) in tools.iter().enumerate() {
        match number < 70 {
            true => tool.stops("done"),
            false => tool.asks("go"),
        }
    }
    // 40 were dropped, 30 have stopped and 10 wait; one of these is fetched.
    fetch(&handles, &id_of("h_80"));
    let mut found = Vec::new();
    for count in [32, 32, 15, 0] {
        let notices = handles.notices();
        assert_eq!(notices.len(), count);
        found.extend(notices.into_iter().map(|notice| notice.id));
    }
    let expected: Vec<HandleId> = (1..80).map(HandleId::numbered).collect();
    assert_eq!(found, expected);
}

/// S-082: the plain list is bounded likewise.
#[test]
fn s082_the_plain_list_is_bounded() {
    let handles = Handles::default();
    for _ in 0..50 {
        let (session, tool) = Tool::new();
        add(&handles, None, session);
        tool.stops("done");
    }
    assert_eq!(handles.notices().len(), 32);
    assert_eq!(handles.notices().len(), 18);
    assert!(handles.notices().is_empty());
}
