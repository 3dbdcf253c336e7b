//! `jig proxy -- COMMAND`: the command has descriptor 3 and nothing else, and gets over it what it may have.

use std::io::{BufRead as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::proxy_client::{PYTHON, ended};
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user};

/// F-090: what the command cannot open by itself, it reads over descriptor 3. Without jig, and under `jig run`,
/// it can open it.
#[test]
fn files_are_reached_over_descriptor_3_only() {
    for_each_user(|desk| {
        desk.workspace.write("README.md", "read me");
        desk.workspace.write("src/deep.txt", "deep");
        assert_eq!(desk.unconfined(&["cat", "README.md"]), "read me");
        assert_eq!(desk.ok(&["run", "--", "cat", "README.md"]), "read me");
        let cat = desk.run(&["proxy", "--", "cat", "README.md"]);
        assert_eq!((cat.code, cat.out.as_str()), (Some(1), ""), "{cat:?}");

        let root = desk.workspace.root.as_str();
        let told = desk.told_by(
            &[],
            &format!(
                "root = {root:?}
by_itself = [code(open, path) for path in ('README.md', root + '/README.md', root + '/src/deep.txt')]
seen = [os.path.exists(path) for path in (root + '/README.md', root + '/src', {home:?})]
over_3 = [proxy.content(path) for path in ('README.md', root + '/README.md', 'src/../src/deep.txt')]
tell([by_itself, seen, over_3])",
                home = desk.workspace.home,
            ),
        );
        let no = "FileNotFoundError";
        let expected = json!([
            [no, no, no],
            [false, false, false],
            ["read me", "read me", "deep"]
        ]);
        assert_eq!(told, expected);
    });
}

/// X-35, F-025: the longest message and the largest read are the configuration's.
#[test]
fn x35_f025_limits_are_configured() {
    for_each_user(|desk| {
        desk.workspace.write("big.txt", "x".repeat(20_000));
        let script = "
handle = proxy.open('big.txt', 'r')
def read(most):
    return code(lambda: str(len(base64.b64decode(proxy.ask('read', h=handle, max=most)['data']))))
reads = [read(4096), read(4097), read(8192), read(8193)]
output = proxy.open('new.txt', 'w')
written = code(lambda: str(proxy.ask('write', h=output, data=base64.b64encode(b'x' * 9000).decode())['written']))
tell([reads, written])";
        let usual = desk.told_by(&["-i", "big.txt"], script);
        let expected = json!([["4096", "E_RANGE", "E_RANGE", "E_RANGE"], "9000"]);
        assert_eq!(usual, expected);
        let limits = [
            "-i",
            "big.txt",
            "--set=tools.'*'.sandbox.limits.chunk=8KiB",
            "--set=tools.'*'.sandbox.limits.frame=16KiB",
        ];
        let expected = json!([["4096", "4097", "8192", "E_RANGE"], "9000"]);
        assert_eq!(desk.told_by(&limits, script), expected);
        // One that is longer is refused before it comes, and ends the connection.
        let script = "
output = proxy.open('new.txt', 'w')
proxy.send('write', h=output, data=base64.b64encode(b'x' * 15000).decode())
answer = proxy.receive()['error']['code']
try:
    proxy.receive()
    answer = 'the connection goes on'
except (EOFError, OSError):
    pass
tell(answer)";
        let ran = Ran::of(desk.proxy(&limits, script).output().unwrap());
        assert!(ran.out.contains("E_RANGE"), "{ran:?}");
        assert!(ran.err.contains("the limit is 16384"), "{ran:?}");
    });
}

/// F-002, X-28: descriptor 3 is a socket, it is announced, and nothing else is inherited.
#[test]
fn the_command_has_four_descriptors() {
    for_each_user(|desk| {
        let script = "
have = sorted(int(fd) for fd in os.listdir('/proc/self/fd'))
have = [fd for fd in have if os.path.exists('/proc/self/fd/%d' % fd)]
tell([have, os.environ['JIG_PROXY_FD'], stat.S_ISSOCK(os.fstat(3).st_mode)])";
        // A descriptor of whoever starts jig is not passed on, either.
        let mut jig = desk.proxy(&[], script);
        let words: Vec<_> = jig.get_args().map(ToOwned::to_owned).collect();
        let program = jig.get_program().to_owned();
        jig = desk.command("sh");
        jig.args(["-c", "exec 7</etc/passwd; exec \"$@\"", "sh"])
            .arg(program)
            .args(words);
        let output = jig.output().unwrap();
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told, json!([[0, 1, 2, 3], "3", true]));
    });
}

/// There is no network, whatever the rules of the tool say: not even the one that the test listens on.
#[test]
fn there_is_no_network() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("socket.create_connection(('127.0.0.1', {port}), 5)");
    let rules = format!(
        "[tools.net]\nsource='local'\ncommand='true'\n[[tools.net.access.net]]\nhost='127.0.0.1'\n\
         scheme='http'\nport={port}\nallow=true\n"
    );
    for_each_user(|desk| {
        desk.unconfined(&[PYTHON, "-c", &format!("import socket; {connect}")]);
        desk.workspace.write("jig.toml", &rules);
        desk.workspace.write("agent.txt", "");
        for options in [
            &[][..],
            &["--tool", "net"],
            &["--tool", "net", "--code", "agent.txt"],
        ] {
            let told = desk.told_by(options, &format!("tell(code(lambda: str({connect})))"));
            let told = told.as_str().unwrap();
            assert!(told.ends_with("Error"), "{options:?}: {told}");
        }
    });
}

/// Without options the workspace can be read, and is not changed: what is written elsewhere is in memory.
#[test]
fn the_default_is_the_workspace_read_only() {
    for_each_user(|desk| {
        desk.workspace.write("a.txt", "old");
        desk.workspace.write(".env", "SECRET=1");
        let told = desk.told_by(
            &[],
            "
refused = [code(proxy.open, 'a.txt', mode) for mode in ('w', 'a', 'rw')]
proxy.put('new.txt', 'virtual')
proxy.put('new.txt', ' more', 'a')
tell([proxy.content('a.txt'), refused, proxy.content('new.txt'),
      code(proxy.open, 'none.txt', 'r'), code(proxy.open, '.env', 'r'), code(proxy.open, '/etc/passwd', 'r')])",
        );
        let perm = "E_PERM";
        let none = "E_NOENT";
        let expected = json!(["old", [perm, perm, perm], "virtual more", none, perm, none]);
        assert_eq!(told, expected);
        assert_eq!(desk.read("a.txt"), "old");
        assert!(!desk.path("new.txt").exists());
    });
}

/// X-36: `-i` reads, `-o` writes and makes, and what is written is a file of the user's.
#[test]
fn paths_are_given_one_by_one() {
    for_each_user(|desk| {
        desk.workspace.write("data/in.txt", "input");
        desk.workspace.write("data/other.txt", "other");
        desk.workspace.write("old.txt", "old");
        let outside = desk.beside("outside.txt");
        std::fs::write(&outside, "outside").unwrap();
        let options = [
            "-i",
            "data/in.txt",
            outside.as_str(),
            "-o",
            "report.md",
            "old.txt",
        ];
        let told = desk.told_by(
            &options,
            &format!(
                "
proxy.put('report.md', 'report')
proxy.put('old.txt', '+', 'a')
tell([proxy.content('data/in.txt'), proxy.content({outside:?}),
      [code(proxy.open, 'data/in.txt', mode) for mode in ('w', 'a', 'rw')],
      [code(proxy.open, path, 'r') for path in ('old.txt', 'data/other.txt')]])"
            ),
        );
        let perm = "E_PERM";
        let expected = json!(["input", "outside", [perm, perm, perm], [perm, "E_NOENT"]]);
        assert_eq!(told, expected);
        // The way out is an option, not a rule in a file.
        let ran = desk.proxied(&options, "proxy.open('data/in.txt', 'w')");
        assert!(ran.err.contains("add: -o data/in.txt"), "{ran:?}");
        assert_eq!(desk.read("report.md"), "report");
        assert_eq!(desk.read("old.txt"), "old+");
        assert_eq!(desk.read("data/in.txt"), "input");
        let owner = std::fs::metadata(desk.path("report.md")).unwrap().uid();
        let own = std::fs::metadata(&desk.workspace.root).unwrap().uid();
        assert_eq!(owner, own);
    });
}

/// Relative paths are meant from where jig was called, also in a part of the workspace.
#[test]
fn paths_begin_where_jig_was_called() {
    let desk = Desk::with("");
    desk.workspace.write("sub/here.txt", "here");
    for options in [&[][..], &["-i", "here.txt"]] {
        let mut jig = desk.proxy(options, "tell(proxy.content('here.txt'))");
        let output = jig.current_dir(desk.path("sub")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"\"here\"\n", "{said}");
    }
}

/// The rules of a tool, of the workspace or of a file that is not part of it.
#[test]
fn the_rules_of_a_tool_apply() {
    let config = "[tools.reviewer]\nsource='local'\ncommand='true'\n\
        [[tools.reviewer.access.fs]]\npath='src'\nread=true\n\
        [[tools.reviewer.access.fs]]\npath='src/secret'\n\
        [[tools.reviewer.access.fs]]\npath='out'\nread=true\nwrite=true\n";
    for_each_user(|desk| {
        desk.workspace.write("src/a.rs", "code");
        desk.workspace.write("src/secret/key", "key");
        desk.workspace.write("out/keep", "");
        desk.workspace.write("b.txt", "b");
        let policy = desk.beside("policy.toml");
        std::fs::write(&policy, config).unwrap();
        let script = "
proxy.put('out/new', 'new')
tell([proxy.content('src/a.rs'), [code(proxy.open, path, 'r') for path in ('b.txt', 'src/secret/key')],
      code(proxy.open, 'src/a.rs', 'w')])";
        let expected = json!(["code", ["E_NOENT", "E_PERM"], "E_PERM"]);
        assert_eq!(
            desk.told_by(&["--policy", policy.as_str()], script),
            expected
        );
        assert_eq!(desk.read("out/new"), "new");
        desk.workspace.write("jig.toml", config);
        assert_eq!(desk.told_by(&["--tool", "reviewer"], script), expected);
        let mut elsewhere = desk.proxy(
            &["--root", desk.workspace.root.as_str(), "--tool", "reviewer"],
            "tell(proxy.content('src/a.rs'))",
        );
        let output = elsewhere.current_dir("/").output().unwrap();
        assert_eq!(output.stdout, b"\"code\"\n", "{output:?}");
    });
}

/// What belongs to the program it may read by itself, and only that: a script, and a folder of modules.
#[test]
fn the_code_of_the_command_is_its_own() {
    for_each_user(|desk| {
        let script = "import json, os\nimport parts.one\n\
            def seen(path):\n    try:\n        return open(path).read()\n    except OSError:\n        return None\n\
            print(json.dumps([parts.one.NAME, seen('data.txt'), seen('parts/.env'), os.environ['JIG_PROXY_FD']]))\n";
        desk.workspace.write("app/agent.py", script);
        desk.workspace.write("app/parts/one.py", "NAME = 'one'\n");
        desk.workspace.write("app/parts/.env", "SECRET=1");
        desk.workspace.write("app/data.txt", "data");
        let words = [
            "proxy", "--code", "agent.py", "--code", "parts", "--", PYTHON, "agent.py",
        ];
        let mut jig = desk.jig(&words);
        let output = jig.current_dir(desk.path("app")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(told, json!(["one", null, null, "3"]));
        // F-090: not by the rules of a tool, either, whatever those give over descriptor 3.
        let rules = "[[access.fs]]\npath='.'\nread=true\nwrite=true\nexecute=true\n";
        let all = rules.replace("access", "tools.'*'.access");
        let own = rules.replace("access", "tools.wide.access");
        let config = format!("{all}[tools.wide]\nsource='local'\ncommand='true'\n{own}");
        desk.workspace.write("jig.toml", config);
        for options in [&[][..], &["--tool", "wide"]] {
            let words = [&words[..5], options, &words[5..]].concat();
            let mut jig = desk.jig(&words);
            let output = jig.current_dir(desk.path("app")).output().unwrap();
            assert!(output.status.success(), "{output:?}");
            let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(told, json!(["one", null, null, "3"]), "{options:?}");
        }
        // Without it, its script is a file like any other.
        let ran = desk.run(&["proxy", "--", PYTHON, "app/agent.py"]);
        assert_eq!(ran.code, Some(2), "{ran:?}");
    });
}

/// F-012, F-013: handles 0 to 2 are the streams that the command has itself.
#[test]
fn standard_streams_are_shared() {
    for_each_user(|desk| {
        let script = "
first = base64.b64decode(proxy.ask('read', h=0, max=6)['data']).decode()
rest = sys.stdin.read()
proxy.write(1, b'out\\n')
proxy.write(2, b'err\\n')
for h in (0, 1, 2):
    proxy.close(h)
proxy.write(1, b'again\\n')
tell([first, rest])";
        let mut jig = desk.proxy(&[], script);
        jig.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut jig = jig.spawn().unwrap();
        let mut stdin = jig.stdin.take().unwrap();
        stdin.write_all(b"first\nsecond\n").unwrap();
        drop(stdin);
        let output = jig.wait_with_output().unwrap();
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out, "out\nagain\n[\"first\\n\", \"second\\n\"]\n");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "err\n");
    });
}

/// At a terminal the command reads what is typed, and what goes over handle 1 is shown as what it prints.
#[test]
fn at_a_terminal_the_command_has_its_own() {
    for_each_user(|desk| {
        let script = "
proxy.write(1, b'one\\ntwo\\n')
proxy.write(2, b'three\\n')
try:
    proxy.ask('read', h=0, max=10)
except Refused as refused:
    print(refused.args[0])
print('typed', input(), os.isatty(0), os.isatty(1))
sys.exit(4)";
        let mut seat = Seat::of(desk, &desk.proxy(&[], script));
        seat.sees_text("E_PERM");
        seat.types("hello\r");
        let (status, screen) = seat.ends();
        assert_eq!(
            screen,
            "one\ntwo\nthree\nE_PERM\nhello\ntyped hello True True"
        );
        assert_eq!(status.code(), Some(4));
    });
}

/// X-30b: clients that ask for 8192 bytes at once.
#[test]
fn reads_of_8192_bytes_are_for_lenient_proxies() {
    let desk = Desk::new();
    desk.workspace.write("big.bin", "x".repeat(10_000));
    let script = "
h = proxy.open('big.bin', 'r')
tell(code(lambda: len(base64.b64decode(proxy.ask('read', h=h, max=8192)['data']))))";
    assert_eq!(desk.told_by(&[], script), json!("E_RANGE"));
    assert_eq!(desk.told_by(&["--lenient"], script), json!(4096));
}

/// The command's end is jig's end, with the codes of `jig run`.
#[test]
fn jig_ends_as_the_command_does() {
    for_each_user(|desk| {
        desk.workspace.write("plain.txt", "no program");
        let code = |words: &[&str]| {
            let ran = desk.run(&[&["proxy"], words].concat());
            (ran.code, ran.signal)
        };
        let sh = |script: &'static str| ["--", "sh", "-c", script];
        assert_eq!(code(&sh("exit 0")), (Some(0), None));
        assert_eq!(code(&sh("exit 7")), (Some(7), None));
        assert_eq!(code(&sh("kill -9 $$")), (None, Some(9)));
        assert_eq!(code(&["--", "no-such-program"]), (Some(127), None));
        assert_eq!(code(&["--", "./plain.txt"]), (Some(126), None));
        let slow = ["--time", "1s", "--", "sleep", "600"];
        assert_eq!(code(&slow), (Some(124), None));
    });
}

/// Signals reach the command, and its end is told as it was.
#[test]
fn signals_reach_the_command() {
    for_each_user(|desk| {
        let script = "
signal.signal(signal.SIGTERM, lambda *_: (proxy.put('caught', 'yes'), os._exit(9)))
tell('ready')
while True:
    signal.pause()";
        let mut jig = desk.proxy(&["-o", "caught"], script);
        let mut jig = jig.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut out = std::io::BufReader::new(jig.stdout.take().unwrap());
        out.read_line(&mut said).unwrap();
        let pid = rustix::process::Pid::from_child(&jig);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        assert_eq!(ended(&mut jig).code(), Some(9));
        assert_eq!(desk.read("caught"), "yes");
    });
}

/// F-088: what was written before an end without `close` stays, also what was only just asked for, and `jig ps`
/// shows the handles while there are any.
#[test]
fn an_end_with_open_handles_leaves_nothing_open() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "in");
        let script = "
first = proxy.open('in.txt', 'r')
second = proxy.open('out.txt', 'w')
third = proxy.open('virtual.txt', 'w')
proxy.write(second, b'kept, ')
tell('ready')
sys.stdin.read()
for part in range(100):
    proxy.send('write', h=second, data=base64.b64encode(b'%d ' % part).decode())
os._exit(1)";
        let options = ["-i", "in.txt", "-o", "out.txt"];
        let mut jig = desk.proxy(&options, script);
        jig.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut jig = jig.spawn().unwrap();
        until("its handles are listed", || {
            let rows = desk.proxies();
            rows.first().is_some_and(|row| {
                row["files"]
                    .as_array()
                    .is_some_and(|files| files.len() == 3)
            })
        });
        let row = desk.proxies().remove(0);
        let client = &row["clients"][0];
        assert_eq!(row["clients"].as_array().unwrap().len(), 1, "{row:#}");
        // F-085, F-086.
        for field in ["id", "pipe_id", "open_files", "connected_at"] {
            assert!(client.get(field).is_some(), "{field}: {row:#}");
        }
        for file in row["files"].as_array().unwrap() {
            for field in [
                "fileno",
                "filename",
                "mode",
                "client_id",
                "opened_at",
                "is_top_level",
            ] {
                assert!(file.get(field).is_some(), "{field}: {row:#}");
            }
            assert_eq!(file["client_id"], client["id"]);
        }
        drop(jig.stdin.take());
        let ran = Ran::of(jig.wait_with_output().unwrap());
        // That it did not wait for its answers is no mistake.
        assert_eq!((ran.code, ran.err.as_str()), (Some(1), ""), "{ran:?}");
        let parts: String = (0..100).map(|part| format!("{part} ")).collect();
        assert_eq!(desk.read("out.txt"), format!("kept, {parts}"));
        assert!(!desk.path("virtual.txt").exists());
        assert_eq!(desk.proxies(), Vec::<serde_json::Value>::new());
    });
}

/// A command that ends while it waits for input over handle 0 is not waited for, at any depth.
#[test]
fn a_read_that_nobody_answers_does_not_hold_the_end() {
    let desk = Desk::new();
    let script = "proxy.send('read', h=0, max=10)\nos._exit(5)";
    for mut jig in [desk.proxy(&[], script), desk.nested(&[], &[&[]], script)] {
        let (stdin, _open) = std::io::pipe().unwrap();
        let start = Instant::now();
        let mut jig = jig.stdin(stdin).spawn().unwrap();
        assert_eq!(ended(&mut jig).code(), Some(5));
        // Jig itself gives up after ten seconds.
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}

/// A jig that is killed takes the command with it, and is listed no more.
#[test]
fn a_killed_proxy_leaves_nothing() {
    for_each_user(|desk| {
        let root = &desk.workspace.root;
        let script = format!("proxy.open('virtual', 'w')\nsys.stdin.read() # {root}");
        let mut jig = desk.proxy(&[], &script);
        let (stdin, _keep) = std::io::pipe().unwrap();
        jig.stdin(stdin).stdout(Stdio::null());
        let mut jig = jig.spawn().unwrap();
        until("it is listed", || {
            desk.proxies().first().is_some_and(|row| {
                row["files"]
                    .as_array()
                    .is_some_and(|files| files.len() == 1)
            })
        });
        let is_running = || {
            let processes = std::fs::read_dir("/proc").unwrap().flatten();
            let mut words =
                processes.filter_map(|one| std::fs::read(one.path().join("cmdline")).ok());
            let mark = desk.workspace.root.as_str().as_bytes();
            words.any(|words| words.windows(mark.len()).any(|some| some == mark))
        };
        assert!(is_running());
        jig.kill().unwrap();
        assert_eq!(ended(&mut jig).signal(), Some(9));
        assert_eq!(desk.proxies(), Vec::<serde_json::Value>::new());
        until("nothing of it runs", || !is_running());
    });
}
