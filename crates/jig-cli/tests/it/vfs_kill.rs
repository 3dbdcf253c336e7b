//! Killing jig or its tool at any moment: files stay whole, and nothing is left behind.

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::vfs_tool::{Probe, until};

/// Rewrites one file for ever, each time with content that says which version it is.
const WRITER: &str = r#"
read -r init
filler=$(printf '%09000d' 0)
version=$$
while :; do
    version=$((version + 1))
    printf '{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"path":"sub/data.txt","content":"%s %s %s"}}\n' \
        "$version" "$filler" "$version"
    read -r answer
    case $answer in *error*) echo "$answer" >&2; exit 1 ;; esac
done
"#;

/// Files are old or new, never between: at 300 random moments, jig or the tool is killed while the
/// tool rewrites a file. Afterwards no process of the call lives, and the next call leaves the
/// workspace clean.
#[test]
fn a_kill_at_any_moment_leaves_whole_files_and_nothing_else() {
    let probe = Probe::shell(WRITER).file("sub/data.txt", "0 0 0");
    let mut random = Random(0x5eed_1e55_0000_0001);
    for round in 0..ROUNDS {
        let before = probe.read("sub/data.txt");
        let mut jig = start(&probe);
        // It writes: from here on, every moment is in the middle of something.
        until("the tool writes", || probe.read("sub/data.txt") != before);
        jig_testkit::let_pass(Duration::from_micros(random.below(4000)));
        if random.below(2) == 0 {
            jig.kill().unwrap();
        } else {
            kill_tool(&probe);
        }
        let status = jig.wait().unwrap();
        assert!(!status.success(), "round {round}: {status}");
        nothing_survives(&probe);
        let content = probe.read("sub/data.txt").unwrap();
        assert!(is_whole(&content), "round {round}: {} bytes", content.len());
    }

    // Whoever comes next clears away what a kill left.
    let output = probe
        .workspace
        .jig(&["call", "fs_read_file", "path=sub/data.txt"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    for (folder, expected) in [("", 3), ("sub", 1)] {
        let path = probe.workspace.root.join(folder);
        let names: Vec<_> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names.len(), expected, "{names:?}");
    }
}

/// The check above can fail: it knows a torn file.
#[test]
fn a_torn_file_would_be_seen() {
    let whole = format!("17 {:09000} 17", 0);
    assert!(is_whole(whole.as_bytes()));
    assert!(!is_whole(&whole.as_bytes()[..5000]));
    assert!(!is_whole(whole.replace(" 17", " 18").as_bytes()));
    assert!(!is_whole(b""));
}

/// A killed jig takes everything along: also what left the session, ignores signals or lost its parent.
#[test]
fn a_killed_jig_takes_its_whole_tree_along() {
    let script = "
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            while True:
                time.sleep(600)
        os._exit(0)
ask('fs.write', path='ready.txt', content='')
time.sleep(600)";
    let probe = Probe::new(script);
    let mut jig = start(&probe);
    until("the tool is ready", || probe.read("ready.txt").is_some());
    // jig, the tool and three that left it.
    until("all processes run", || of_the_call(&probe).len() == 5);
    jig.kill().unwrap();
    jig.wait().unwrap();
    nothing_survives(&probe);
}

/// V-104: a tool that somebody kills is an error that names the signal.
#[test]
fn v104_a_killed_tool_is_an_error_that_says_so() {
    let probe = Probe::shell(WRITER).file("sub/data.txt", "0 0 0");
    let mut jig = probe.jig();
    let jig = jig.stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let jig = jig.unwrap();
    until("the tool writes", || {
        probe.read("sub/data.txt").unwrap() != b"0 0 0"
    });
    kill_tool(&probe);
    let output = jig.wait_with_output().unwrap();
    let error = super::parsed(&output)["error"].to_string();
    assert!(error.contains("SIGKILL"), "{error}");
    assert_eq!(output.status.code(), Some(1));
}

/// Fails unless all processes of the calls on this workspace end soon.
pub(crate) fn nothing_survives(probe: &Probe) {
    until("all processes end", || of_the_call(probe).is_empty());
}

/// `jig call`, without the trace: it is not what is tested here, and it grows.
fn start(probe: &Probe) -> Child {
    let root = probe.workspace.root.as_str();
    let args = ["call", "probe", "--no-interaction", "--workspace", root];
    let mut jig = probe.workspace.jig(&args);
    jig.stdout(Stdio::null()).stderr(Stdio::null());
    jig.spawn().unwrap()
}

fn kill_tool(probe: &Probe) {
    let mut tools = of_the_call(probe);
    tools.retain(|(_, command)| command.starts_with("/bin/sh") || command.starts_with("/usr/bin/"));
    let [(pid, _)] = &tools[..] else {
        panic!("not one tool: {tools:?}");
    };
    let killed = Command::new("kill").args(["-9", pid]).status().unwrap();
    assert!(killed.success());
}

/// All processes that name the workspace on their command line.
fn of_the_call(probe: &Probe) -> Vec<(String, String)> {
    let root = probe.workspace.root.as_str();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap() {
        let Ok(pid) = entry.unwrap().file_name().into_string() else {
            continue;
        };
        if !pid.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        // One that ends while we look is none.
        let Ok(command) = std::fs::read(format!("/proc/{pid}/cmdline")) else {
            continue;
        };
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        if command.contains(root) {
            found.push((pid, command));
        }
    }
    found
}

/// `VERSION FILLER VERSION`, both the same.
fn is_whole(content: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(content) else {
        return false;
    };
    let words: Vec<&str> = text.split(' ').collect();
    let is_first = text == "0 0 0";
    is_first || words.len() == 3 && words[0] == words[2] && words[1].len() == 9000
}

/// A generator of its own, so that a failure can be repeated.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

const ROUNDS: usize = 300;
