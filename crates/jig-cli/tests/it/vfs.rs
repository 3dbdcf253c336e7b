//! The protocol between jig and a real tool: the first line, the framing, the last word, cancelling.
//! Requests on files are in `vfs_files`, those on programs and servers in `vfs_outside`, tools that break
//! the rules in `vfs_misbehaving`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::parsed;
use super::vfs_tool::{Probe, READ_WRITE, until};

// The first line.

/// V-010, V-011, V-014, V-090 to V-094, V-100, V-103: what a tool reads first, and who asks whom.
#[test]
fn v090_v094_init_is_the_first_line() {
    let config = "options.confirmation_mode = true\nparameters.count = { type = 'integer' }\n";
    // It answers nothing to `init` and asks for nothing; what it read is its result.
    let script = "done({'line': first.decode(), 'init': init})";
    let probe = Probe::with(script, config);
    let mut jig = probe.jig();
    jig.args(["--answer", "sure=yes", "count=3"]);
    let got = probe.call_as(&mut jig).result();

    let line = got["line"].as_str().unwrap();
    assert!(line.starts_with(r#"{"jsonrpc":"2.0","method":"init","params":{"tool":"#));
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.ends_with("}\n"));
    let init = &got["init"];
    assert_eq!(init.get("id"), None);
    let params = &init["params"];
    assert_eq!(params["protocol_version"], "0.1.0");
    assert_eq!(
        params["tool"],
        json!({
            "name": "probe",
            "arguments": {"count": 3},
            "answers": {"sure": "yes"},
            "options": {"confirmation_mode": true},
        })
    );
    // The exchange is these two lines.
    let trace = probe.trace();
    assert_eq!(trace.len(), 2, "{trace:?}");
    assert_eq!(
        (&trace[0]["dir"], &trace[0]["message"]["method"]),
        (&json!("to_tool"), &json!("init"))
    );
    assert_eq!(
        (&trace[1]["dir"], &trace[1]["message"]["method"]),
        (&json!("from_tool"), &json!("result"))
    );
}

/// What a tool is told beyond the plain protocol: only methods that its rules leave open.
#[test]
fn init_tells_what_is_open_and_the_limits() {
    let probe = Probe::new("done(init['params'])");
    let params = probe.result();
    assert_eq!(params["supported"], json!(["0.1.0", "0.2.0"]));
    assert_eq!(params["limits"]["message_bytes"], 16 * 1024 * 1024);
    assert_eq!(params["limits"]["silence_ms"], 60_000);
    assert_eq!(params["limits"]["cancel_grace_ms"], 5_000);
    let methods = params["methods"].as_array().unwrap();
    assert!(methods.contains(&json!("fs.write")), "{methods:?}");
}

// Framing.

/// The lines that answer these bytes, which the tool writes at once.
fn exchange(bytes: &[u8], count: usize) -> Vec<Json> {
    let script = format!(
        "raw(bytes({bytes:?}))\nanswers = [receive() for _ in range({count})]\ndone(answers)"
    );
    let answers = Probe::new(&script).file("a.txt", "a").result();
    answers.as_array().unwrap().clone()
}

const EXISTS: &str = r#"{"jsonrpc":"2.0","id":1,"method":"fs.exists","params":{"path":"a.txt"}}"#;

/// V-014, V-190: lines as tools may write them.
#[test]
fn v014_v190_lines_are_read_as_they_come() {
    let yes = json!({"jsonrpc": "2.0", "id": 1, "result": {"exists": true}});
    let check = |bytes: &str, count: usize| {
        let answers = exchange(bytes.as_bytes(), count);
        assert_eq!(answers, vec![yes.clone(); count], "{bytes:?}");
    };
    check(&format!("{EXISTS}\n"), 1);
    check(&format!("{EXISTS}\r\n"), 1);
    check(&format!("\n \t\n\r\n{EXISTS}\n"), 1);
    check(&format!("{EXISTS}\n{EXISTS}\n{EXISTS}\n"), 3);
    check(&format!("  {}  \n", EXISTS.replace(',', " ,\t")), 1);
    check(
        "{\"params\":{\"path\":\"\\u0061.txt\",\"new\":[1]},\"method\":\"fs.exists\",\"x\":0,\
         \"id\":1,\"jsonrpc\":\"2.0\"}\n",
        1,
    );
}

/// V-140: a line may arrive byte by byte, and behind half of another.
#[test]
fn v190_a_line_may_arrive_in_pieces() {
    let script = format!(
        "
text = (r'''{EXISTS}''' + '\\n').encode()
for byte in text:
    raw(bytes([byte]))
first = receive()
raw(text + text[:20])
second = receive()
raw(text[20:])
done([first, second, receive()])"
    );
    let answers = Probe::new(&script).file("a.txt", "a").result();
    let yes = json!({"jsonrpc": "2.0", "id": 1, "result": {"exists": true}});
    assert_eq!(answers, json!([yes, yes, yes]));
}

/// V-024: the id comes back as it was.
#[test]
fn v024_ids_come_back() {
    let ids = [
        "1",
        "0",
        "-7",
        "9007199254740993",
        "\"a\"",
        "\"é\\n\"",
        "\"\"",
    ];
    let lines: String = ids
        .iter()
        .map(|id| EXISTS.replace("\"id\":1", &format!("\"id\":{id}")) + "\n")
        .collect();
    let answers = exchange(lines.as_bytes(), ids.len());
    for (answer, id) in answers.iter().zip(ids) {
        let id: Json = serde_json::from_str(id).unwrap();
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["exists"], true);
    }
}

/// V-020, V-021, V-150, V-151, V-170, X-07, X-59, X-64, V-183: what is no request is answered, and the tool
/// goes on.
#[test]
fn v150_v170_x59_lines_that_are_no_requests() {
    let cases: &[(&[u8], Json, i64, &str)] = &[
        (b"not json", json!(null), -32600, ""),
        (b"{", json!(null), -32600, ""),
        (b"42", json!(null), -32600, ""),
        (b"\"text\"", json!(null), -32600, ""),
        (b"\xff\xfe\x00", json!(null), -32600, ""),
        (
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.read\",\"params\":{\"path\":\"\xff\"}}",
            json!(null),
            -32600,
            "",
        ),
        // V-015: no headers.
        (b"Content-Length: 70", json!(null), -32600, ""),
        // V-021: no batches.
        (
            br#"[{"jsonrpc":"2.0","id":1,"method":"fs.exists","params":{"path":"a.txt"}}]"#,
            json!(null),
            -32600,
            "",
        ),
        (b"[]", json!(null), -32600, ""),
        (
            br#"{"id":2,"method":"fs.read"}"#,
            json!(2),
            -32600,
            "jsonrpc",
        ),
        (
            br#"{"jsonrpc":"1.0","id":3,"method":"fs.read"}"#,
            json!(3),
            -32600,
            "jsonrpc",
        ),
        (br#"{"jsonrpc":"2.0","id":4}"#, json!(4), -32600, "method"),
        (
            br#"{"jsonrpc":"2.0","id":5,"method":7}"#,
            json!(5),
            -32600,
            "method",
        ),
        (
            br#"{"jsonrpc":"2.0","id":{},"method":"fs.read"}"#,
            json!(null),
            -32600,
            "id",
        ),
        (
            br#"{"jsonrpc":"2.0","id":6,"method":"result","params":{"content":"x"}}"#,
            json!(6),
            -32600,
            "without `id`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":7,"method":"fs.chmod"}"#,
            json!(7),
            -32601,
            "fs.chmod",
        ),
        (
            br#"{"jsonrpc":"2.0","id":8,"method":"rpc.discover","params":[]}"#,
            json!(8),
            -32601,
            "",
        ),
        // X-07: the short names of the prose.
        (
            br#"{"jsonrpc":"2.0","id":9,"method":"read","params":{"path":"a.txt"}}"#,
            json!(9),
            -32601,
            "`fs.read`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":10,"method":"write"}"#,
            json!(10),
            -32601,
            "`fs.write`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":11,"method":"http_get"}"#,
            json!(11),
            -32601,
            "`http.get`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":12,"method":"run"}"#,
            json!(12),
            -32601,
            "`process.run`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":13,"method":"fs.read","params":["a.txt"]}"#,
            json!(13),
            -32602,
            "`fs.read`",
        ),
        (
            br#"{"jsonrpc":"2.0","id":14,"method":"fs.read"}"#,
            json!(14),
            -32602,
            "path",
        ),
    ];
    let mut bytes: Vec<u8> = cases
        .iter()
        .flat_map(|case| [case.0, b"\n"].concat())
        .collect();
    bytes.extend(EXISTS.bytes().chain(*b"\n"));
    let answers = exchange(&bytes, cases.len() + 1);
    for (answer, (line, id, code, part)) in answers.iter().zip(cases) {
        let line = String::from_utf8_lossy(line);
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (id, &json!(code)),
            "{line}: {answer}"
        );
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains(part), "{line}: {message}");
    }
    assert_eq!(answers[cases.len()]["result"]["exists"], true);
}

/// X-64: a request that cannot be answered is not done.
#[test]
fn x64_a_request_without_id_is_not_done() {
    let script = "
send(method='fs.write', params={'path': 'new', 'content': 'x'})
send(method='fs.delete', params={'path': 'a.txt'})
send(method='surprise', params={})
done([ask('fs.exists', path='new'), ask('fs.exists', path='a.txt')])";
    let probe = Probe::new(script).file("a.txt", "a");
    assert_eq!(probe.result(), json!([{"exists": false}, {"exists": true}]));
    // And it is in the log.
    let log = probe.workspace.run(&["log", "--decision", "deny"]);
    for method in ["fs.write", "fs.delete"] {
        let told = format!("the tool sent `{method}` without an `id`: it is ignored");
        assert_eq!(log.matches(&told).count(), 1, "{log}");
    }
}

// The exchange.

/// V-101: a tool may ask as often as it wants.
#[test]
fn v101_hundreds_of_requests_in_turn() {
    let script = "
for number in range(500):
    assert ask('fs.write', path='n.txt', content=str(number)) == {}
    assert ask('fs.read', path='n.txt')['content'] == str(number)
done('all')";
    assert_eq!(Probe::new(script).result(), json!("all"));
}

/// V-140: a tool that reads no answer before it has asked everything is no reason to stand still.
#[test]
fn v140_a_thousand_requests_before_the_first_answer_is_read() {
    let script = "
pad = 'p' * 2000
for number in range(1000):
    send(id=number, method='fs.read', params={'path': 'a.txt', 'pad': pad})
answers = [receive() for _ in range(1000)]
done([[a['id'] for a in answers] == list(range(1000)), {a['result']['size'] for a in answers} == {3000}])";
    let called = Probe::new(script).file("a.txt", vec![b'a'; 3000]).call();
    assert_eq!(called.result(), json!([true, true]));
    assert!(called.took < Duration::from_secs(30), "{:?}", called.took);
}

/// V-140: slow requests, too, of which only so many are begun at once.
#[test]
fn v140_slow_requests_wait_for_their_turn() {
    let script = "
for number in range(200):
    send(id=number, method='process.run', params={'program': 'true'})
    send(id=1000 + number, method='fs.exists', params={'path': 'a.txt'})
answers = [receive() for _ in range(400)]
codes = {a['result']['exit_code'] for a in answers if a['id'] < 1000}
done([sorted(a['id'] for a in answers) == [*range(200), *range(1000, 1200)], list(codes)])";
    let probe = Probe::with(script, "[tools.probe.access.commands.true]\n");
    assert_eq!(probe.result(), json!([true, [0]]));
}

/// V-157, X-56, V-143: a tool that gives a request up gets its one answer.
#[test]
fn v157_x56_a_tool_gives_a_request_up() {
    let script = "
send(id=7, method='process.run', params={'program': 'sleep', 'args': ['60']})
send(method='cancel', params={'request_id': 7})
answer = receive()
done([answer['id'], answer['error']['code'], answer['error']['data']['kind'], ask('fs.exists', path='.')])";
    let config = "[tools.probe.access.commands.sleep]\nargs = [['**']]\n";
    let called = Probe::with(script, config).call();
    assert_eq!(
        called.result(),
        json!([7, -32005, "cancelled", {"exists": true}])
    );
    assert!(called.took < Duration::from_secs(20), "{:?}", called.took);
}

// The last word.

/// What a script's call comes to.
fn outcome(script: &str) -> Json {
    Probe::new(script).call().json
}

/// V-013, V-025 to V-030: the forms of the last message.
#[test]
fn v025_v030_results_and_errors() {
    let text = |text: &str| json!({"content": [{"type": "text", "text": text}], "isError": false});
    let check = |script: &str, expected: Json| assert_eq!(outcome(script), expected, "{script}");
    check(
        "send(method='result', params={'content': 'plain'})",
        text("plain"),
    );
    check(
        "send(method='result', params={'content': [{'type': 'text', 'text': 'block'}]})",
        text("block"),
    );
    check(
        "send(method='error', params={'message': 'no', 'trace': ['a', 'b'], 'transient': True})",
        json!({"error": {"message": "no", "trace": ["a", "b"], "transient": true}, "isError": true}),
    );
    // What follows the last word is not heard, and the exit code does not matter any more.
    check(
        "done(1)\nsend(method='error', params={'message': 'late'})\ndone(2)\nsys.exit(9)",
        text("1"),
    );
    // A last line needs no end.
    check(
        "raw(b'{\"jsonrpc\":\"2.0\",\"method\":\"result\",\"params\":{\"content\":\"cut\"}}')",
        text("cut"),
    );
    // V-012: what stands on stderr is never read as protocol.
    check(
        "sys.stderr.write('{\"jsonrpc\":\"2.0\",\"method\":\"result\",\"params\":{\"content\":\"no\"}}\\n')\n\
         sys.stderr.flush()\nsend(method='result', params={'content': 'yes'})",
        text("yes"),
    );
}

/// A last word that cannot be read is a failure that names it, not a silence.
#[test]
fn a_broken_result_fails_the_call() {
    for params in ["{'content': 7}", "{}", "[1]", "'text'"] {
        let called = Probe::new(&format!("send(method='result', params={params})")).call();
        let message = called.error()["message"].as_str().unwrap();
        assert!(message.contains("`result`"), "{params}: {message}");
    }
}

/// V-104: without a last word, what stands on stderr is the error.
#[test]
fn v104_exit_without_a_result() {
    let check = |script: &str, message: &str, cause: &str| {
        let called = Probe::new(script).call();
        let error = called.error();
        let (text, trace) = (error["message"].as_str().unwrap(), &error["trace"]);
        assert!(text.contains(message), "{script}: {error}");
        assert!(trace.to_string().contains(cause), "{script}: {error}");
        assert!(called.took < Duration::from_secs(20), "{:?}", called.took);
    };
    check("sys.exit('it broke')", "it broke", "code 1");
    check("sys.exit(0)", "without a result", "code 0");
    check("sys.stderr.write('three'); sys.exit(3)", "three", "code 3");
    check("raise ValueError('seven')", "ValueError: seven", "code 1");
    check(
        "os.kill(os.getpid(), signal.SIGKILL)",
        "without a result",
        "SIGKILL",
    );
    check(
        "sys.stderr.write('oops\\n'); sys.stderr.flush(); os.abort()",
        "oops",
        "SIGABRT",
    );
}

/// V-120: the caller cannot tell how a tool runs.
#[test]
fn v120_one_shot_looks_like_any_other_tool() {
    let probe = Probe::new("send(method='result', params={'content': 'text'})");
    let mut jig = probe.workspace.jig(&["call", "probe", "--no-interaction"]);
    let output = jig.output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout, output.stderr),
        (Some(0), b"text\n".to_vec(), Vec::new())
    );
}

/// X-22: a question of a one-shot tool is answered in its own process, or the call ends.
#[test]
fn x22_a_question_is_answered_in_band() {
    let script = "
question = {'id': 'ok', 'text': 'Go on?', 'schema': {'type': 'boolean'}}
send(method='state', params={'type': 'waiting', 'content': 'hm', 'question': question})
done(receive())";
    let answered = Probe::with(script, "questions.ok.answer = true\n");
    assert_eq!(
        answered.result(),
        // The answer names its question, so that no input is taken for it.
        json!({"jsonrpc": "2.0", "method": "apply", "params": {"input": true, "question": "ok"}})
    );
    let unanswered = Probe::new(script).call();
    let message = unanswered.error()["message"].as_str().unwrap();
    assert!(message.contains("Go on?"), "{message}");
}

// Cancelling.

/// Sends a signal to jig once its tool has written `ready.txt`, and says how the call ended.
fn cancelled(script: &str, signals: &[&str]) -> (std::process::Output, Duration, Probe) {
    let script = format!("ask('fs.write', path='ready.txt', content='')\n{script}");
    let probe = Probe::new(&script);
    let mut jig = probe.jig();
    let child = jig
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the tool starts", || probe.read("ready.txt").is_some());
    let start = Instant::now();
    for signal in signals {
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([*signal, &pid])
                .status()
                .unwrap()
                .success()
        );
    }
    let output = child.wait_with_output().unwrap();
    (output, start.elapsed(), probe)
}

/// V-110, V-111: Ctrl-C reaches the tool as one line, and a tool that ends then is not killed.
#[test]
fn v105_v110_cancel_asks_the_tool_to_end() {
    let script = "
message = receive()
ask('fs.write', path='late.txt', content='')
sys.exit(0 if message == {'jsonrpc': '2.0', 'method': 'cancel'} else 1)";
    for signal in ["-INT", "-TERM"] {
        let (output, took, probe) = cancelled(script, &[signal]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(parsed(&output)["isError"], true);
        assert!(took < Duration::from_secs(4), "{took:?}");
        let trace = probe.trace();
        let cancels = trace
            .iter()
            .filter(|line| line["message"]["method"] == "cancel");
        assert_eq!(cancels.count(), 1, "{trace:?}");
        // V-157: what it still asks for is not done.
        assert_eq!(probe.read("late.txt"), None);
        let late = trace.iter().rev().find(|line| line["dir"] == "to_tool");
        assert_eq!(late.unwrap()["message"]["error"]["code"], -32005);
    }
}

/// V-112, V-113, X-23: a tool that does not listen is terminated after 5 s and killed after 5 more.
#[test]
fn v112_v113_cancel_ends_a_tool_that_does_not_listen() {
    let terminated = std::thread::spawn(|| cancelled("time.sleep(600)", &["-INT"]));
    let killed = std::thread::spawn(|| {
        let script = "signal.signal(signal.SIGTERM, lambda *_: None)\nwhile True: time.sleep(600)";
        cancelled(script, &["-INT"])
    });
    for (thread, seconds) in [(terminated, 5), (killed, 10)] {
        let (output, took, probe) = thread.join().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let bounds = Duration::from_secs(seconds)..Duration::from_secs(seconds + 4);
        assert!(bounds.contains(&took), "{took:?}");
        super::vfs_kill::nothing_survives(&probe);
    }
}

/// V-112, V-142: graces and the time after which a tool counts as hung are the configuration's.
#[test]
fn v112_v142_timers_are_configured() {
    let script = "signal.signal(signal.SIGTERM, lambda *_: None)\nwhile True: time.sleep(600)";
    let limits = "[tools.probe.sandbox.limits]\nsilence = '300ms'\nkill_grace = '200ms'\n";
    let called = Probe::with(script, &format!("{READ_WRITE}\n{limits}")).call();
    assert_eq!(called.code, Some(1), "{called:?}");
    assert!(
        called.error()["message"]
            .to_string()
            .contains("was silent for 300 ms"),
        "{called:?}"
    );
    // By default it would be silent for a minute.
    assert!(called.took < Duration::from_secs(45), "{called:?}");
    // A tool that is asked to end has as long as is configured: here none at all.
    let limits = "[tools.probe.sandbox.limits]\ntime = '500ms'\ncancel_grace = 0\nkill_grace = 0\n";
    let called = Probe::with(script, &format!("{READ_WRITE}\n{limits}")).call();
    assert!(
        called.error()["message"]
            .to_string()
            .contains("ran longer than"),
        "{called:?}"
    );
    // By default it would have 5 s before SIGTERM and 5 s after it.
    assert!(called.took < Duration::from_secs(9), "{called:?}");
}

/// V-142: `silence = false` lifts the limit. A tool says nothing for longer than another one lives that is silent under
/// the limit.
#[test]
fn v142_silence_can_be_without_a_limit() {
    let limit = "[tools.'*'.sandbox.limits]\nsilence = '300ms'\n";
    let lifted = "[tools.probe.sandbox.limits]\nsilence = false\n";
    let patient = Probe::with(
        "ask('fs.write', path='ready.txt', content='')\nreceive()\nsys.exit(0)",
        &format!("{READ_WRITE}\n{lifted}{limit}"),
    );
    let mut jig = patient.jig();
    let child = jig
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the tool starts", || patient.read("ready.txt").is_some());
    let hung = Probe::with("receive()", &format!("{READ_WRITE}\n{limit}")).call();
    let message = hung.error()["message"].to_string();
    assert!(message.contains("was silent for 300 ms"), "{hung:?}");
    let pid = child.id().to_string();
    let signal = Command::new("kill").args(["-INT", &pid]).status().unwrap();
    assert!(signal.success(), "it has ended before");
    let output = child.wait_with_output().unwrap();
    let told = parsed(&output).to_string();
    assert!(!told.contains("silent"), "{told}");
    let trace = patient.trace();
    let is_cancel = |line: &Json| line["message"]["method"] == "cancel";
    assert!(trace.iter().any(is_cancel), "{trace:?}");
}

/// V-172: additions are a minor version. Every session begins with the plain protocol; a tool may name a version that
/// is offered, and no other.
#[test]
fn v172_additions_are_a_minor_version() {
    let ready = |version: &str| {
        let script = format!(
            "send(method='ready', params={{'protocol_version': {version:?}}})\n\
             done([init['params']['protocol_version'], init['params']['supported']])"
        );
        Probe::new(&script).call()
    };
    let told = json!(["0.1.0", ["0.1.0", "0.2.0"]]);
    for version in ["0.1.0", "0.2.0"] {
        assert_eq!(ready(version).result(), told);
    }
    let refused = ready("1.0.0");
    let text = "the tool wants version \"1.0.0\" of the protocol; jig speaks 0.1.0 and 0.2.0";
    assert_eq!(refused.error()["message"], text);
}

/// A second Ctrl-C does not wait for a tool that does not listen: it is killed, and that is told.
#[test]
fn a_second_signal_kills_the_tool_at_once() {
    let script = "signal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)";
    let (output, took, probe) = cancelled(script, &["-INT", "-TERM"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert_eq!(parsed(&output)["isError"], true);
    assert!(took < Duration::from_secs(4), "{took:?}");
    super::vfs_kill::nothing_survives(&probe);
}

/// V-005, V-134: a question of the policy that nobody can answer is a denial at once.
#[test]
fn v134_nobody_is_waited_for() {
    let script = "done(ask('fs.write', path='x', content='')['error']['data']['kind'])";
    let called = Probe::with(script, "").call();
    assert_eq!(called.result(), json!("approval_unavailable"));
    assert!(called.took < Duration::from_secs(10), "{:?}", called.took);
    // Rules that deny are another kind.
    let config = READ_WRITE.replace("write = true", "");
    let denied = Probe::with(script, &config).result();
    assert_eq!(denied, json!("denied_by_rule"));
}
