//! Tools that break the rules: jig stays quick and small, says what was wrong, and the next call works.

use std::process::Command;
use std::time::Duration;

use serde_json::{Value as Json, json};

use super::vfs_kill::nothing_survives;
use super::vfs_tool::{Called, Probe, python};

/// Runs the tool, measured: it must end in time, and the host must stay small. Then another tool runs
/// in the same workspace.
fn check(script: &str, limit: Duration) -> Called {
    let probe = Probe::new(script).file("a.txt", "still here");
    let (called, memory) = measured(&probe);
    assert!(called.took < limit, "{:?}: {called:?}", called.took);
    assert!(memory < MAX_MEMORY, "{memory} KiB: {called:?}");
    nothing_survives(&probe);
    let after = probe
        .workspace
        .json(&["call", "fs_read_file", "path=a.txt"]);
    assert!(after.to_string().contains("still here"), "{after}");
    called
}

/// The call, and the most memory in KiB that jig, or a process that it waited for, had at any time.
fn measured(probe: &Probe) -> (Called, u64) {
    let report = probe.workspace.home.join("memory");
    let jig = probe.jig();
    let mut wrapper = Command::new(python());
    wrapper
        .args(["-c", MEASURE, report.as_str()])
        .arg(jig.get_program())
        .args(jig.get_args())
        .current_dir(&probe.workspace.root)
        .env_clear()
        .env("HOME", &probe.workspace.home)
        .env("JIG_TRUST", "1");
    let called = probe.call_as(&mut wrapper);
    let memory = std::fs::read_to_string(report).unwrap();
    (called, memory.trim().parse().unwrap())
}

const MEASURE: &str = "
import os, sys
pid = os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ)
pid, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], 'w') as report:
    report.write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(status))
";

/// Far more than jig needs, and less than any of the floods.
const MAX_MEMORY: u64 = 96 * 1024;

const QUICK: Duration = Duration::from_secs(20);

fn message(called: &Called) -> &str {
    called.error()["message"].as_str().unwrap()
}

/// Garbage is answered as long as somebody reads the answers.
#[test]
fn garbage_lines_whose_answers_are_read() {
    let script = "
for _ in range(100):
    raw(b'this is no message\\n' * 50)
    assert {receive()['error']['code'] for _ in range(50)} == {-32600}
done(ask('fs.read', path='a.txt')['content'])";
    assert_eq!(check(script, QUICK).result(), json!("still here"));
}

/// A tool that prints its log where the protocol should be, and reads nothing meanwhile.
#[test]
fn ten_megabytes_of_garbage_lines_that_nobody_reads() {
    let script = "
for _ in range(1000):
    raw(b'DEBUG: no message at all\\n' * 400)
done('survived')";
    assert_eq!(check(script, QUICK).result(), json!("survived"));
}

/// X-64: a line over the limit is refused as soon as that is known, and the rest of it is dropped.
#[test]
fn x64_a_line_of_a_hundred_megabytes() {
    let script = "
for _ in range(100):
    raw(b'x' * 1000000)
raw(b'\\n')
answer = receive()
done([answer['id'], answer['error']['code'], answer['error']['data']['kind'], ask('fs.exists', path='a.txt')])";
    assert_eq!(
        check(script, QUICK).result(),
        json!([null, -32600, "line_too_long", {"exists": true}])
    );
}

/// The same inside a request: the host never holds what it will refuse.
#[test]
fn x64_a_write_of_a_hundred_megabytes() {
    let script = "
raw(b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.write\",\"params\":{\"path\":\"big\",\"content\":\"')
for _ in range(100):
    raw(b'x' * 1000000)
raw(b'\"}}\\n')
answer = receive()
done([answer['error']['data']['kind'], ask('fs.exists', path='big')])";
    assert_eq!(
        check(script, QUICK).result(),
        json!(["line_too_long", {"exists": false}])
    );
}

/// A line that the tool gives up at 60 MB is no message, and stderr tells why.
#[test]
fn a_line_without_end() {
    let script = "
for _ in range(60):
    raw(b'x' * 1000000)
sys.exit('enough')";
    assert!(message(&check(script, QUICK)).contains("enough"));
}

/// V-104: half a request is none, and half a last word is none either.
#[test]
fn v104_half_a_line_and_gone() {
    let half = r#"{"jsonrpc":"2.0","id":1,"method":"fs.delete","params":{"path":"a.txt""#;
    let called = check(&format!("raw(b'''{half}''')\nsys.exit(5)"), QUICK);
    assert!(called.error()["trace"].to_string().contains("code 5"));
    let half = r#"{"jsonrpc":"2.0","method":"result","params":{"content":"al"#;
    let called = check(&format!("raw(b'''{half}''')"), QUICK);
    assert!(message(&called).contains("without a result"));
}

/// A whole request at the end is not done either: nobody is there to be answered.
#[test]
fn a_request_of_a_tool_that_is_gone() {
    let script = "
send(id=1, method='fs.read', params={'path': 'a.txt'})
os._exit(0)";
    assert!(message(&check(script, QUICK)).contains("without a result"));
}

#[test]
fn invalid_utf8_in_all_places() {
    let script = r"
raw(b'\xff\xfe\n{\x22jsonrpc\x22:\x222.0\x22,\x22id\x22:1,\x22method\x22:\x22\xc3\x28\x22}\n')
codes = [receive()['error']['code'] for _ in range(2)]
sys.stderr.buffer.write(b'\xff\xfe oops')
done(codes)";
    assert_eq!(check(script, QUICK).result(), json!([-32600, -32600]));
    let called = check(
        r"sys.stderr.buffer.write(b'\xff oops \x1b[31m'); sys.exit(1)",
        QUICK,
    );
    assert!(message(&called).contains("\u{fffd} oops"), "{called:?}");
}

/// Nesting, long numbers and many keys cost the host nothing.
#[test]
fn json_that_is_meant_to_hurt() {
    let script = "
head = b'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"fs.read\",\"params\":'
attacks = [
    b'[' * 1000000, b'{\"a\":' * 1000000, head + b'{\"path\":' + b'[' * 500000 + b']' * 500000 + b'}}',
    head + b'{' + b','.join(b'\"k%d\":0' % n for n in range(100000)) + b'}}',
    head + b'{\"path\":' + b'9' * 1000000 + b'}}', head + b'{\"path\":\"a.txt\",\"path\":\"jig.toml\"}}',
    head + b'{\"path\":\"a.txt\",\"offset\":1e999}}', b'\\x00' * 1000000,
]
codes = []
for attack in attacks:
    raw(attack + b'\\n')
    codes.append(receive()['error']['code'])
done([codes, ask('fs.exists', path='a.txt')])";
    let result = check(script, QUICK).result();
    for code in result[0].as_array().unwrap() {
        assert!(
            [-32600, -32602].contains(&code.as_i64().unwrap()),
            "{result}"
        );
    }
    assert_eq!(result[1], json!({"exists": true}));
}

/// A tool that can say nothing more is given its grace, and no more.
#[test]
fn stdout_closed_early_ends_within_the_grace() {
    let script = "os.close(1)\ntime.sleep(600)";
    let called = check(script, Duration::from_secs(15));
    assert!(called.took > Duration::from_secs(4), "{:?}", called.took);
    assert_eq!(called.code, Some(1));
}

/// A tool that has its result out may close its ends in any order.
#[test]
fn streams_closed_after_the_result() {
    for order in ["0, 1, 2", "2, 1, 0", "1"] {
        let script = format!("done('fine')\nfor fd in ({order},): os.close(fd)\nos._exit(0)");
        assert_eq!(check(&script, QUICK).result(), json!("fine"));
    }
}

/// A closed stdin is no error either: the tool may have heard enough.
#[test]
fn stdin_closed_while_it_asks() {
    let script = "
os.close(0)
for number in range(1000):
    send(id=number, method='fs.read', params={'path': 'a.txt'})
done('said')";
    assert_eq!(check(script, QUICK).result(), json!("said"));
}

/// A result is not held back by what the tool left running with its stdout open.
#[test]
fn a_daemon_that_keeps_stdout_open() {
    let script = "
if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(number, signal.SIG_IGN)
    time.sleep(600)
    os._exit(0)
done('parent is done')";
    let called = check(script, Duration::from_secs(4));
    assert_eq!(called.result(), json!("parent is done"));
}

/// The same when it goes on talking: to nobody.
#[test]
fn a_daemon_that_floods_stdout_and_stderr() {
    let script = "
if os.fork() == 0:
    os.setsid()
    os.fork()
    while True:
        os.write(1, b'noise\\n' * 1000)
        os.write(2, b'noise\\n' * 1000)
sys.exit('parent failed')";
    let called = check(script, QUICK);
    assert_eq!(called.code, Some(1));
}

/// V-012: stderr without end holds nothing up and is not kept.
#[test]
fn stderr_without_end() {
    let script = "
if os.fork() == 0:
    while True: os.write(2, b'noise\\n' * 10000)
if os.fork() == 0:
    while True: os.write(2, b'noise\\n' * 10000)
for number in range(100):
    assert ask('fs.read', path='a.txt')['size'] == 10
done('heard')";
    assert_eq!(check(script, QUICK).result(), json!("heard"));
}

/// What a tool printed last is what counts.
#[test]
fn v104_of_long_errors_the_end_is_kept() {
    let script = "
for _ in range(300): sys.stderr.write('noise ' * 10000)
sys.exit('\\nthe reason')";
    let called = check(script, QUICK);
    let message = message(&called);
    assert!(message.ends_with("the reason"), "{message}");
    assert!(message.starts_with('…') && message.len() < 70_000);
}

/// V-113: after its last word a tool has 5 s; then it is ended, and its result stands.
#[test]
fn a_tool_that_does_not_exit_after_its_result() {
    let script = "done('early')\ntime.sleep(600)";
    let called = check(script, Duration::from_secs(15));
    assert_eq!(called.result(), json!("early"));
}

/// A result of any size is cut to what a model can read.
#[test]
fn a_result_of_ten_megabytes_is_cut() {
    let script = "send(method='result', params={'content': 'x' * 10000000})";
    let called = check(script, QUICK);
    let length = called.text().len();
    assert!((200_000..300_000).contains(&length), "{length}");
}

/// One process after the other, until there are no more: the host does not notice.
#[test]
fn many_children_die_with_the_tool() {
    let script = "
for _ in range(200):
    if os.fork() == 0:
        time.sleep(600)
done('spawned')";
    let called = check(script, QUICK);
    assert_eq!(called.result(), Json::from("spawned"));
}
