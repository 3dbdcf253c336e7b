//! Waiting for handles, news of them, and their end.

use super::*;

fn awaited(shop: &Workshop, arguments: Value) -> Vec<HandleReport> {
    match shop.ask("await", arguments, &mut Nobody) {
        Ok(Reply::Awaited(reports)) => reports,
        other => panic!("{other:?}"),
    }
}

fn standing(reports: &[HandleReport]) -> Vec<(&str, StateName)> {
    let each = reports.iter();
    each.map(|report| (report.id.as_str(), report.state.status()))
        .collect()
}

const JOBS: &str = r#"
[tools.job]
source = "local"
run = "unattended"
stateful = true
command = { program = "sh", args = ["-c", "read line; echo $line; exit 0"] }

[tools.quiet]
source = "local"
run = "unattended"
stateful = true
notices = false
command = { program = "sh", args = ["-c", "exit 0"] }

[tools.stubborn]
source = "local"
run = "unattended"
stateful = true
command = "python3 stubborn.py"
"#;

/// Leaves a daemon behind that has left its session, and will not end when asked.
const STUBBORN: &str = r#"
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        while True:
            with open("beat", "a") as beat:
                beat.write("x")
            time.sleep(0.05)
    os._exit(0)
print("up", flush=True)
while True:
    time.sleep(1)
"#;

#[test]
fn await_any_and_all() {
    let shop = Workshop::new(JOBS, &[]);
    for _ in 0..3 {
        shop.report("job", json!({"action": "spawn"}));
    }
    let ids = json!(["h_1", "h_2", "h_3"]);
    let started = Instant::now();
    let none = awaited(&shop, json!({"ids": ids, "timeout_ms": 200}));
    assert!(started.elapsed() >= Duration::from_millis(200));
    assert!(
        none.iter()
            .all(|report| report.state.status() == StateName::Running)
    );

    shop.report(
        "job",
        json!({"action": "apply", "id": "h_2", "input": {"line": "two"}}),
    );
    let left: Vec<&str> = ["h_1", "h_2", "h_3"]
        .into_iter()
        .filter(|id| {
            shop.engine
                .handles
                .list()
                .iter()
                .any(|one| one.id.as_str() == *id)
        })
        .collect();
    if left.contains(&"h_2") {
        let any = awaited(&shop, json!({"ids": left, "mode": "any"}));
        assert!(
            standing(&any).contains(&("h_2", StateName::Stopped)),
            "{any:?}"
        );
    }

    std::thread::scope(|scope| {
        let all = scope.spawn(|| awaited(&shop, json!({"ids": ["h_1", "h_3"], "mode": "all"})));
        for id in ["h_1", "h_3"] {
            let session = shop.engine.handles.session(&id.parse().unwrap()).unwrap();
            let state = session.state();
            session.apply(state.number, json!({"line": "go"})).unwrap();
        }
        let all = all.join().unwrap();
        let expected = [("h_1", StateName::Stopped), ("h_3", StateName::Stopped)];
        assert_eq!(standing(&all), expected);
    });
    let unknown = shop.refusal("await", json!({"ids": ["h_1", "nobody"]}));
    assert!(unknown.contains("nobody"), "{unknown}");
}

#[test]
fn s081_s082_news_is_told_once_with_the_next_response() {
    let shop = Workshop::new(JOBS, &[]);
    shop.report("job", json!({"action": "spawn"}));
    assert!(shop.engine.notices().is_empty());
    let session = shop
        .engine
        .handles
        .session(&"h_1".parse().unwrap())
        .unwrap();
    session
        .apply(session.state().number, json!({"line": "go"}))
        .unwrap();
    let notices = jig_testkit::until_some("there is news", || {
        Some(shop.engine.notices()).filter(|notices| !notices.is_empty())
    });
    let told: Vec<String> = notices.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["`h_1` of the tool `job` has stopped; fetch it to see its result"]
    );
    assert!(shop.engine.notices().is_empty());
    // Polling still gives the whole of it.
    let (stopped, _) = shop.until("job", "h_1", StateName::Stopped);
    assert!(result(&stopped).is_ok());

    // A tool that does not want its news told.
    let quiet = shop.report("quiet", json!({"action": "spawn"}));
    if quiet.state.status() != StateName::Stopped {
        let session = shop.engine.handles.session(&quiet.id).unwrap();
        session.wait(u64::MAX - 1, Some(Duration::from_secs(30)));
        assert!(shop.engine.notices().is_empty());
    }
}

#[test]
fn s063_the_end_of_the_turn_is_the_end_of_everything() {
    let mut shop = Workshop::new(JOBS, &[("stubborn.py", STUBBORN)]);
    shop.engine.timing.cancel_grace = Duration::from_millis(500);
    shop.engine.timing.kill_grace = Duration::from_millis(500);
    let spawned = shop.report("stubborn", json!({"action": "spawn"}));
    if !spawned.state.content().to_text().contains("up") {
        shop.until_said("stubborn", "h_1", "up");
    }
    shop.report("job", json!({"action": "spawn"}));
    let beat = shop.root.join("beat");
    jig_testkit::until("the daemon runs", || beat.exists());
    assert!(!jig_testkit::working_in(shop.root.as_std_path()).is_empty());

    shop.engine.end_turn();
    assert!(shop.engine.handles.list().is_empty());
    jig_testkit::until("the daemon is gone", || {
        jig_testkit::working_in(shop.root.as_std_path()).is_empty()
    });
    let over = shop.refusal("job", json!({"action": "spawn"}));
    assert!(over.contains("turn"), "{over}");
}

#[test]
fn s030_abort_ends_what_does_not_want_to_end() {
    let mut shop = Workshop::new(JOBS, &[("stubborn.py", STUBBORN)]);
    shop.engine.timing.kill_grace = Duration::from_millis(300);
    let spawned = shop.report("stubborn", json!({"action": "spawn"}));
    if !spawned.state.content().to_text().contains("up") {
        shop.until_said("stubborn", "h_1", "up");
    }
    let started = Instant::now();
    let aborted = shop.report("stubborn", json!({"action": "abort", "id": "h_1"}));
    assert_eq!(aborted.state.status(), StateName::Stopped);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert!(shop.engine.handles.list().is_empty());
}
