//! Programs that want a terminal, driven through the protocol.

use super::*;

/// A tool on a terminal that runs this command.
#[track_caller]
fn on_terminal(command: &str, files: &[(&str, &str)]) -> Option<Workshop> {
    let program = command.split(' ').next().unwrap_or_default();
    if !jig_testkit::has_program(program) {
        return None;
    }
    let config = format!(
        "[tools.program]\nsource = \"local\"\nrun = \"unattended\"\nstateful = true\n\
         terminal = true\ncommand = {}\n",
        json!(command)
    );
    let shop = Workshop::new(&config, files);
    shop.report("program", json!({"action": "spawn"}));
    Some(shop)
}

/// Sends input, and waits until the screen shows what it should.
fn send(shop: &Workshop, input: Value, wanted: &str) -> HandleReport {
    let apply = json!({"action": "apply", "id": "h_1", "input": input, "view": "screen"});
    let report = shop.report("program", apply);
    match report.state.content().to_text().contains(wanted) {
        true => report,
        false => shows(shop, wanted),
    }
}

fn shows(shop: &Workshop, wanted: &str) -> HandleReport {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let fetch = json!({"action": "fetch", "id": "h_1", "view": "screen", "wait_ms": 500});
        let report = shop.report("program", fetch);
        let screen = report.state.content().to_text();
        if screen.contains(wanted) {
            return report;
        }
        assert!(
            Instant::now() < deadline,
            "the screen never shows {wanted:?}:\n{screen}"
        );
    }
}

/// Sends input that ends the program.
fn end(shop: &Workshop, input: Value) -> HandleReport {
    let apply = json!({"action": "apply", "id": "h_1", "input": input});
    let report = shop.report("program", apply);
    match report.state.status() {
        StateName::Stopped => report,
        _ => shop.until("program", "h_1", StateName::Stopped).0,
    }
}

#[test]
fn vim_edits_a_file() {
    let Some(shop) = on_terminal(
        "vim -u NONE -N notes.txt",
        &[("notes.txt", "first\nlast\n")],
    ) else {
        return;
    };
    let report = shows(&shop, "last");
    assert!(report.details.terminal.unwrap().alternate);
    send(&shop, json!([{"text": "ggOhead"}, {"key": "esc"}]), "head");
    send(
        &shop,
        json!([{"text": "Gotail"}, {"keys": ["esc"]}]),
        "tail",
    );
    let stopped = end(&shop, json!({"line": ":wq"}));
    assert_eq!(stopped.details.exit_code, Some(0));
    let notes = std::fs::read_to_string(shop.root.join("notes.txt")).unwrap();
    assert_eq!(notes, "head\nfirst\nlast\ntail\n");
}

#[test]
fn less_shows_pages() {
    let text: String = (1..=200).map(|number| format!("row {number}\n")).collect();
    let Some(shop) = on_terminal("less rows.txt", &[("rows.txt", &text)]) else {
        return;
    };
    shows(&shop, "row 1\n");
    send(&shop, json!({"key": "space"}), "row 40");
    send(&shop, json!("G"), "row 200");
    send(&shop, json!({"line": "?row 77"}), "row 77");
    end(&shop, json!("q"));
}

#[test]
fn a_python_prompt() {
    let Some(shop) = on_terminal("python3 -q", &[]) else {
        return;
    };
    shows(&shop, ">>>");
    send(&shop, json!({"line": "sum(range(10))"}), "45");
    send(
        &shop,
        json!({"line": "import time; time.sleep(600)"}),
        "sleep(600)",
    );
    send(&shop, json!({"key": "ctrl-c"}), "KeyboardInterrupt");
    // The key counts at a prompt: while something runs, it would mean the end of that one's input.
    send(&shop, json!({"line": "6 * 7"}), "42\n>>>");
    let stopped = end(&shop, json!({"key": "ctrl-d"}));
    assert_eq!(stopped.details.exit_code, Some(0));
}

#[test]
fn a_shell_with_jobs() {
    let Some(shop) = on_terminal("bash --norc --noprofile", &[]) else {
        return;
    };
    send(
        &shop,
        json!({"line": "PS1='ready> '; sh -c 'echo begun; exec sleep 600'"}),
        "\nbegun",
    );
    send(&shop, json!({"key": "ctrl-z"}), "Stopped");
    send(
        &shop,
        json!({"line": "jobs; kill %1; wait; tty > /dev/null; echo over $?"}),
        "over",
    );
    send(&shop, json!({"resize": {"rows": 33, "cols": 111}}), "");
    send(&shop, json!({"line": "stty size < /dev/tty"}), "33 111");
    let stopped = end(&shop, json!({"line": "exit 5"}));
    assert_eq!(stopped.details.exit_code, Some(5));
    assert_eq!(
        result(&stopped),
        Err("`program` exited with code 5".to_owned())
    );
}

/// Redraws its one line sixty times a second.
const REDRAWS: &str = r#"
import sys, time
for frame in range(100000):
    sys.stdout.write(f"\rframe {frame:06} " + '#' * (frame % 60) + "\x1b[K")
    sys.stdout.flush()
    time.sleep(1 / 60)
"#;

#[test]
fn s083_a_program_that_redraws_all_the_time() {
    let Some(shop) = on_terminal("python3 redraws.py", &[("redraws.py", REDRAWS)]) else {
        return;
    };
    shows(&shop, "frame ");
    let mut last = 0;
    for _ in 0..3 {
        // It never comes to rest, and every look returns in time, with one line.
        let started = Instant::now();
        let apply = json!({"action": "apply", "id": "h_1", "input": ""});
        let report = shop.report("program", apply);
        assert!(started.elapsed() < Duration::from_secs(20));
        let said = report.state.content().to_text();
        assert!(said.len() < 100, "{said}");
        if let Some(frame) = said.strip_prefix("frame ") {
            let frame: usize = frame[..6].parse().unwrap();
            assert!(frame > last);
            last = frame;
        }
    }
    assert!(last > 0);
    let aborted = shop.report("program", json!({"action": "abort", "id": "h_1"}));
    assert_eq!(aborted.state.status(), StateName::Stopped);
}

#[test]
fn the_predefined_shell() {
    let shop = Workshop::new("[tools.shell]\nrun = \"unattended\"\n", &[("file", "text")]);
    let spawn = json!({"action": "spawn", "command": "cd / && where=here"});
    shop.report("shell", spawn);
    let line = |line: &str| json!({"action": "apply", "id": "h_1", "input": {"line": line}});
    let report = shop.report("shell", line("echo $where-$PWD; echo x > /etc/x; echo $?"));
    let mut said = report.state.content().to_text();
    if !said.contains("here-/\n") {
        said.push_str(&shop.until_said("shell", "h_1", "here-/"));
    }
    let exit = shop.report("shell", line("exit"));
    if exit.state.status() != StateName::Stopped {
        shop.until("shell", "h_1", StateName::Stopped);
    }
    // Called once, it runs one command.
    assert_eq!(
        shop.called("shell", json!({"command": "cat file"}))
            .trim_end(),
        "text"
    );
}
