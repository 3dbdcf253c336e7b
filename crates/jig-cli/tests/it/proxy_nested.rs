//! `jig proxy` inside of `jig proxy`: requests are passed on to the outermost, however deep, and whoever dies
//! takes along what it and those below it have open.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value as Json, json};

use super::proxy_client::{PRELUDE, PYTHON, ended};
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user};

impl Desk {
    /// `jig proxy OPTIONS -- jig proxy INNER -- … -- python3 -c SCRIPT`, with one `INNER` for each level below
    /// the first.
    pub(crate) fn nested(&self, options: &[&str], inner: &[&[&str]], script: &str) -> Command {
        let jig = self.jig(&[]);
        let jig = jig.get_program().to_str().unwrap().to_owned();
        let script = format!("{PRELUDE}\n{script}\n");
        let mut words = vec!["proxy"];
        words.extend(options);
        for level in inner {
            words.extend(["--", jig.as_str(), "proxy"]);
            words.extend(*level);
        }
        words.extend(["--", PYTHON, "-c", script.as_str()]);
        self.jig(&words)
    }
}

/// F-084: the innermost of three works as the outermost would, with its own streams and its own code.
#[test]
fn three_levels_work_as_one() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "in");
        let script = "
proxy.put('out.txt', 'from ' + proxy.content('in.txt'))
proxy.put('virtual', 'virtual')
proxy.write(1, b'one\\n')
proxy.write(2, b'two\\n')
have = [int(fd) for fd in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + fd)]
tell([proxy.content('virtual'), code(proxy.open, 'in.txt', 'w'), code(open, 'in.txt'), sorted(have),
      base64.b64decode(proxy.ask('read', h=0, max=100)['data']).decode(), code(proxy.ask, 'QUOTA')])
sys.exit(9)";
        let options = ["-i", "in.txt", "-o", "out.txt"];
        let mut jig = desk.nested(&options, &[&[], &[]], script);
        let (stdin, mut writer) = std::io::pipe().unwrap();
        writer.write_all(b"typed").unwrap();
        drop(writer);
        jig.stdin(stdin);
        let ran = Ran::of(jig.output().unwrap());
        let (one, told) = ran.out.split_once('\n').unwrap_or_default();
        assert_eq!(
            (ran.code, one, ran.err.as_str()),
            (Some(9), "one", "two\n"),
            "{ran:?}"
        );
        let told: Json = serde_json::from_str(told).unwrap();
        let expected = json!([
            "virtual",
            "E_PERM",
            "FileNotFoundError",
            [0, 1, 2, 3],
            "typed",
            "E_PERM"
        ]);
        assert_eq!(told, expected);
        assert_eq!(desk.read("out.txt"), "from in");
    });
}

/// A leaf of three levels that has files open.
struct Chain<'a> {
    desk: &'a Desk,
    jig: Child,
}

impl<'a> Chain<'a> {
    fn new(desk: &'a Desk) -> Self {
        desk.workspace.write("in.txt", "in");
        let script = format!(
            "
first = proxy.open('in.txt', 'r')
second = proxy.open('out.txt', 'w')
proxy.write(second, b'kept')
third = proxy.open('virtual', 'w')
sys.stdin.read() # {}",
            desk.workspace.root
        );
        let mut jig = desk.nested(&["-i", "in.txt", "-o", "out.txt"], &[&[], &[]], &script);
        jig.stdin(Stdio::piped());
        let jig = jig.spawn().unwrap();
        let chain = Self { desk, jig };
        until("its files are open", || chain.open_files() == Some(3));
        chain
    }

    /// How many files `jig ps` shows; `None` if there is no proxy.
    fn open_files(&self) -> Option<usize> {
        let rows = self.desk.proxies();
        Some(rows.first()?["files"].as_array()?.len())
    }

    /// Kills the process below which there are so many more levels of `jig proxy`.
    fn kill(&self, below: usize) {
        let of_it = processes(self.desk.workspace.root.as_str());
        let found = of_it.iter().find(|(_, levels, _)| *levels == below);
        kill_process(found.unwrap().0, Signal::KILL).unwrap();
    }
}

/// The processes whose words hold a mark, each with its words and with how often `proxy` is one of them.
fn processes(mark: &str) -> Vec<(Pid, usize, String)> {
    let folders = std::fs::read_dir("/proc").unwrap().flatten();
    let found = folders.filter_map(|folder| {
        let pid = folder.file_name().to_str()?.parse().ok()?;
        let words = std::fs::read(folder.path().join("cmdline")).ok()?;
        let words = String::from_utf8_lossy(&words).into_owned();
        let levels = words.split('\0').filter(|word| *word == "proxy").count();
        let is_marked = words.contains(mark);
        is_marked.then_some((Pid::from_raw(pid)?, levels, words))
    });
    found.collect()
}

/// F-083, F-084, F-087: a crash at each level. What was open is closed, what was written stays, the end is told
/// upward, and nothing runs on.
#[test]
fn a_crash_at_each_level_leaves_nothing() {
    for_each_user(|desk| {
        // The leaf, the two in the middle, the outermost.
        for below in 0..4 {
            let mut chain = Chain::new(desk);
            match below {
                3 => chain.jig.kill().unwrap(),
                below => chain.kill(below),
            }
            let status = ended(&mut chain.jig);
            assert_eq!(status.signal(), Some(9), "{below}: {status:?}");
            assert_eq!(chain.open_files(), None, "{below}");
            assert_eq!(desk.read("out.txt"), "kept");
            until("nothing of it runs", || {
                processes(desk.workspace.root.as_str()).is_empty()
            });
        }
    });
}

/// A leaf that dies takes its own handles along, and that is all: what started it goes on, and starts the next.
#[test]
fn the_death_of_a_leaf_is_not_that_of_the_others() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "in");
        let mark = format!("# leaf {}", desk.workspace.root);
        let leaf = format!(
            "{PRELUDE}\nfirst = proxy.open('in.txt', 'r')\nsecond = proxy.open('virtual', 'w')\n\
             proxy.write(second, b'of the leaf')\nsys.stdin.read() {mark}"
        );
        let next = format!(
            "{PRELUDE}\nmine = proxy.open('in.txt', 'r')\n\
             tell([proxy.read(mine), proxy.content('virtual')])\nsys.stdin.read()"
        );
        // The shell finds jig by its name.
        let script = format!(
            "jig proxy -- {PYTHON} -c \"$1\"; echo \"ended $?\"; exec jig proxy -- {PYTHON} -c \"$2\""
        );
        let words = [
            "proxy", "-i", "in.txt", "--", "sh", "-c", &script, "sh", &leaf, &next,
        ];
        let mut jig = desk.jig(&words);
        jig.stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut jig = jig.spawn().unwrap();
        let files = || {
            let rows = desk.proxies();
            rows.first()
                .and_then(|row| Some(row["files"].as_array()?.len()))
        };
        until("the leaf has its files open", || files() == Some(2));
        // The words of those above hold the mark, too, but do not end with it.
        let all = processes(&mark);
        let leaf = all.iter().find(|(_, levels, words)| {
            *levels == 0 && words.trim_end_matches(['\0', '\n']).ends_with(&mark)
        });
        kill_process(leaf.unwrap().0, Signal::KILL).unwrap();
        let mut lines = BufReader::new(jig.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "ended 137");
        assert_eq!(lines.next().unwrap().unwrap(), "[\"in\", \"of the leaf\"]");
        // Those of the leaf are closed, the one of the next is open.
        assert_eq!(files(), Some(1));
        drop(jig.stdin.take());
        assert_eq!(ended(&mut jig).code(), Some(0));
        assert_eq!(files(), None);
    });
}

/// A signal to the outermost goes down to the command, which may do with it what it likes.
#[test]
fn signals_are_passed_on() {
    for_each_user(|desk| {
        let script = "
times = []
def caught(*_):
    times.append(1)
    if len(times) == 1:
        # A second one would come at once.
        time.sleep(0.2)
        proxy.put('caught', str(len(times)))
        os._exit(9)
signal.signal(signal.SIGTERM, caught)
tell('ready')
while True:
    signal.pause()";
        let mut jig = desk.nested(&["-o", "caught"], &[&[], &[]], script);
        let mut jig = jig.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let mut out = BufReader::new(jig.stdout.take().unwrap());
        out.read_line(&mut said).unwrap();
        kill_process(Pid::from_child(&jig), Signal::TERM).unwrap();
        assert_eq!(ended(&mut jig).code(), Some(9));
        assert_eq!(desk.read("caught"), "1");
    });
}

/// A signal to one in the middle alone goes down, too: whoever started it may end it so.
#[test]
fn one_in_the_middle_can_be_ended() {
    for_each_user(|desk| {
        desk.workspace.write("in.txt", "in");
        let leaf = format!(
            "{PRELUDE}\nsignal.signal(signal.SIGTERM, lambda *_: os._exit(9))\nproxy.open('in.txt', 'r')\n\
             tell('ready')\nwhile True:\n    signal.pause()"
        );
        let script = format!(
            "jig proxy -- {PYTHON} -c \"$1\" & read line; kill -TERM $!; wait $!; echo \"ended $?\""
        );
        let words = [
            "proxy", "-i", "in.txt", "--", "sh", "-c", &script, "sh", &leaf,
        ];
        let mut jig = desk.jig(&words);
        jig.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut jig = jig.spawn().unwrap();
        let mut lines = BufReader::new(jig.stdout.take().unwrap()).lines();
        assert_eq!(lines.next().unwrap().unwrap(), "\"ready\"");
        drop(jig.stdin.take());
        assert_eq!(lines.next().unwrap().unwrap(), "ended 9");
        assert_eq!(ended(&mut jig).code(), Some(0));
    });
}

/// At a terminal the innermost reads what is typed, and ctrl-C is for it, once.
#[test]
fn at_a_terminal_keys_reach_the_innermost() {
    for_each_user(|desk| {
        let script = "
times = 0
def interrupted(*_):
    global times
    times += 1
signal.signal(signal.SIGINT, interrupted)
proxy.write(1, b'one\\ntwo\\n')
print(code(lambda: proxy.ask('read', h=0, max=10)), 'ready', flush=True)
print('typed', input(), times)
sys.exit(5)";
        let mut seat = Seat::of(desk, &desk.nested(&[], &[&[]], script));
        seat.sees_text("E_PERM ready");
        seat.types("\x03");
        seat.types("hello\r");
        let (status, screen) = seat.ends();
        assert!(screen.starts_with("one\ntwo\nE_PERM ready\n"), "{screen}");
        assert!(screen.ends_with("typed hello 1"), "{screen}");
        assert_eq!(status.code(), Some(5));
    });
}

/// What the innermost asks for right before it ends is done, too (F-088).
#[test]
fn last_requests_are_passed_on() {
    let desk = Desk::new();
    let script = "
h = proxy.open('out.txt', 'w')
for part in range(200):
    proxy.send('write', h=h, data=base64.b64encode(b'%d ' % part).decode())
os._exit(3)";
    let mut jig = desk.nested(&["-o", "out.txt"], &[&[], &[]], script);
    let ran = Ran::of(jig.output().unwrap());
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let parts: String = (0..200).map(|part| format!("{part} ")).collect();
    assert_eq!(desk.read("out.txt"), parts);
}

/// The command does not take the connection of the one above it, which may have more rights than it gave.
#[test]
fn the_connection_above_is_out_of_reach() {
    for_each_user(|desk| {
        let script = "
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
PIDFD_OPEN, PIDFD_GETFD = 434, 438
def takes(pid):
    pidfd = libc.syscall(PIDFD_OPEN, pid, 0)
    taken = [libc.syscall(PIDFD_GETFD, pidfd, fd, 0) for fd in range(3, 20)]
    return any(fd >= 0 for fd in taken)
# From another process of its own it can.
child = os.fork()
if child == 0:
    signal.pause()
other = takes(child)
os.kill(child, signal.SIGKILL)
tell([other, takes(os.getppid()), code(lambda: open('/proc/%d/mem' % os.getppid(), 'rb').fileno())])";
        let ran = Ran::of(desk.nested(&[], &[&[]], script).output().unwrap());
        assert_eq!(ran.out, "[true, false, \"PermissionError\"]\n", "{ran:?}");
    });
}

/// Two that speak on one descriptor would take each other's answers: the second is told.
#[test]
fn one_descriptor_serves_one_at_a_time() {
    let desk = Desk::new();
    let script = "jig proxy -- sh -c 'echo ready; read line' | \
                  { read ready; jig proxy -- true; echo \"second $?\"; }; jig proxy -- echo third";
    let mut jig = desk.jig(&["proxy", "--", "sh", "-c", script]);
    jig.stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut jig = jig.spawn().unwrap();
    let mut lines = BufReader::new(jig.stdout.take().unwrap()).lines();
    assert_eq!(lines.next().unwrap().unwrap(), "second 125");
    drop(jig.stdin.take());
    let third = lines.next().unwrap().unwrap();
    assert_eq!(third, "third");
    let ran = Ran::of(jig.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    super::follow::follow(
        "start one command after the other, or from a program that serves all of them (`Relay` of the SDK)",
        &ran.err,
        &third,
    );
    insta::assert_snapshot!(ran.err, @"
    error: descriptor 3 is in use by another process
    hint: start one command after the other, or from a program that serves all of them (`Relay` of the SDK)
    ");
}

/// The codes of programs that do not run, and what has no place inside of a proxy.
#[test]
fn mistakes_inside_of_a_proxy() {
    let desk = Desk::new();
    let program = desk.jig(&[]);
    let program = program.get_program().to_str().unwrap().to_owned();
    let told = |words: &[&str]| {
        let inner = [&["proxy", "--", program.as_str(), "proxy"], words].concat();
        desk.told(&inner)
    };
    insta::assert_snapshot!(told(&["-i", ".", "--", "true"]), @"
    error: -i is for the outermost proxy: this one runs inside of another (JIG_PROXY_FD is set), whose rules decide
    hint: leave it out, or give it to the outermost `jig proxy`
    [exit 125]
    ");
    insta::assert_snapshot!(told(&["--stdio"]), @"
    error: --stdio is for the outermost proxy: this one runs inside of another (JIG_PROXY_FD is set), whose rules decide
    hint: leave it out, or give it to the outermost `jig proxy`
    [exit 125]
    ");
    insta::assert_snapshot!(told(&["--", "no-such-program"]), @"
    error: cannot start `no-such-program`
    cause: No such file or directory (os error 2)
    [exit 127]
    ");
    let mut outside = desk.jig(&["proxy", "--", "true"]);
    outside.env("JIG_PROXY_FD", "3").stdin(Stdio::null());
    let ran = Ran::of(outside.output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(125), ""), "{ran:?}");
    insta::assert_snapshot!(ran.err, @"
    error: JIG_PROXY_FD is `3`, but no proxy answers there
    cause: descriptor 3 was not inherited: this process was not started with a proxy
    hint: a program that uses its descriptor 3 itself has to hand on another one (`Relay` of the SDK); outside of a proxy, start jig without the variable: env -u JIG_PROXY_FD jig proxy …
    ");
}
