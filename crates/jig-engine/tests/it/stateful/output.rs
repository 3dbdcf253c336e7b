//! How much of its output a handle tells.

use super::*;

const PRINTER: &str = r#"
[tools.printer]
source = "local"
run = "unattended"
stateful = true
command = "python3 -u printer.py"
"#;

/// Prints as many numbered lines as it is told.
const SCRIPT: &str = r#"
import sys
number = 0
for line in sys.stdin:
    for _ in range(int(line)):
        number += 1
        print(f"line {number:06}")
"#;

fn printer() -> Workshop {
    let shop = Workshop::new(PRINTER, &[("printer.py", SCRIPT)]);
    shop.report("printer", json!({"action": "spawn"}));
    shop
}

/// Has it print so many lines, and waits for the last.
fn print(shop: &Workshop, count: usize, last: usize) -> String {
    let input = json!({"line": count.to_string()});
    let report = shop.report(
        "printer",
        json!({"action": "apply", "id": "h_1", "input": input}),
    );
    let mut said = report.state.content().to_text();
    let last = format!("line {last:06}");
    if !said.contains(&last) {
        said.push_str(&shop.until_said("printer", "h_1", &last));
    }
    said
}

#[test]
fn what_is_new_is_told_once() {
    let shop = printer();
    assert_eq!(print(&shop, 2, 2), "line 000001\nline 000002\n");
    let nothing = shop.report("printer", json!({"action": "fetch", "id": "h_1"}));
    assert_eq!(nothing.state.content().to_text(), "");
    assert_eq!(print(&shop, 1, 3), "line 000003\n");
    let all = shop.report(
        "printer",
        json!({"action": "fetch", "id": "h_1", "view": "all"}),
    );
    let expected = "line 000001\nline 000002\nline 000003\n";
    assert_eq!(all.state.content().to_text(), expected);
}

#[test]
fn after_seq_pages_through_it() {
    let shop = printer();
    print(&shop, 100, 100);
    let (mut after, mut said) = (0, String::new());
    for _ in 0..100 {
        let report = shop.report(
            "printer",
            json!({"action": "fetch", "id": "h_1", "after_seq": after, "max_bytes": 500}),
        );
        let text = report.state.content().to_text();
        if text.is_empty() {
            break;
        }
        // The marker of what is left stands on a line of its own, at the end.
        let shown = text
            .rsplit_once("\n[…")
            .map_or(text.as_str(), |(shown, _)| shown);
        said.push_str(shown);
        assert!(text.len() < 800, "{text}");
        after = report.details.seq.unwrap();
    }
    let expected: String = (1..=100)
        .map(|number| format!("line {number:06}\n"))
        .collect();
    // A page may end inside of a line.
    assert_eq!(said.replace('\n', ""), expected.replace('\n', ""));
}

#[test]
fn too_much_is_cut_and_says_how_to_get_the_rest() {
    let shop = printer();
    print(&shop, 1, 1);
    print(&shop, 5000, 5001);
    let cut = shop.report(
        "printer",
        json!({"action": "fetch", "id": "h_1", "view": "all", "max_bytes": 1000}),
    );
    let text = cut.state.content().to_text();
    assert!(text.contains("line 005001") && text.len() < 1500, "{text}");
    let told = cut.details.cut.unwrap();
    assert!(told.bytes > 10_000, "{told:?}");
    assert!(
        told.hint.contains("after_seq") || told.hint.contains("max_bytes"),
        "{told:?}"
    );
}

#[test]
fn a_fetch_that_waits_returns_with_the_first_news() {
    let shop = printer();
    let started = Instant::now();
    let nothing = shop.report(
        "printer",
        json!({"action": "fetch", "id": "h_1", "wait_ms": 300}),
    );
    assert_eq!(nothing.state.content().to_text(), "");
    assert!(started.elapsed() >= Duration::from_millis(300));

    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let fetch = json!({"action": "fetch", "id": "h_1", "wait_ms": 60_000});
            shop.report("printer", fetch).state.status()
        });
        shop.report("printer", json!({"action": "abort", "id": "h_1"}));
        // It returned long before its time, with whatever it saw of the end.
        let waited = waiting.join();
        assert!(waited.is_err() || waited.is_ok_and(|status| status == StateName::Stopped));
    });
    assert!(started.elapsed() < Duration::from_secs(50));
}

#[test]
fn a_terminal_is_told_as_text() {
    let config = r#"
[tools.repl]
source = "local"
run = "unattended"
stateful = true
terminal = { rows = 10, cols = 60 }
command = "python3 -q"
"#;
    let shop = Workshop::new(config, &[]);
    let spawned = shop.report("repl", json!({"action": "spawn"}));
    let mut said = spawned.state.content().to_text();
    if !said.contains(">>>") {
        said.push_str(&shop.until_said("repl", "h_1", ">>>"));
    }
    let terminal = spawned.details.terminal.unwrap();
    assert_eq!((terminal.rows, terminal.cols), (10, 60));
    let input = json!({"line": "6 * 7"});
    let report = shop.report(
        "repl",
        json!({"action": "apply", "id": "h_1", "input": input}),
    );
    let mut said = report.state.content().to_text();
    if !said.contains("42") {
        said.push_str(&shop.until_said("repl", "h_1", "42"));
    }
    let screen = json!({"action": "fetch", "id": "h_1", "view": "screen", "wait_ms": 500});
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let report = shop.report("repl", screen.clone());
        let text = report.state.content().to_text();
        if text.contains("42\n>>>") {
            break;
        }
        assert!(Instant::now() < deadline, "{text}");
    }
    let input = json!({"keys": ["ctrl-d"]});
    let ended = shop.report(
        "repl",
        json!({"action": "apply", "id": "h_1", "input": input}),
    );
    if ended.state.status() != StateName::Stopped {
        shop.until("repl", "h_1", StateName::Stopped);
    }
}
