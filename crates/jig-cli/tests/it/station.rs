//! Tools that go on running: `jig spawn` and what is done with a handle, through the program itself. The
//! numbers are those of the stateful protocol.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use camino::Utf8PathBuf;
use serde_json::{Value as Json, json};

use super::parsed;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// Tools that are spawned.
pub(crate) const TOOLS: &str = r#"
[tools.'*']
run = "unattended"

[tools.echo]
source = "local"
stateful = true
command = "cat"

[tools.counter]
source = "local"
stateful = true
command = "sh counter.sh"

[tools.fails]
source = "local"
stateful = true
command = "sh fails.sh"

[tools.asks]
source = "local"
stateful = true
command = "sh asks.sh {{context}} {{tool}}"

[tools.screen]
source = "local"
stateful = true
command = "bash --norc --noprofile"
terminal = true

[tools.careful]
source = "local"
stateful = true
command = "cat"
run = "ask"

[tools.writer]
source = "local"
runtime = "vfs"
stateful = true
command = "sh writer.sh"

[tools.bait]
source = "local"
runtime = "vfs"
stateful = true
command = "sh bait.sh"

[tools.daemons]
source = "local"
stateful = true
command = "sh daemons.sh"
"#;

/// A desk with these tools, whose station ends with the test.
pub(crate) struct Hall<'a>(pub(crate) &'a Desk);

impl<'a> Hall<'a> {
    pub(crate) fn new(desk: &'a Desk) -> Self {
        desk.workspace.write("jig.toml", TOOLS);
        desk.workspace.write("counter.sh", COUNTER);
        desk.workspace
            .write("fails.sh", "echo working; sleep 2; exit 3\n");
        desk.workspace.write("asks.sh", ASKS);
        desk.workspace.write("daemons.sh", DAEMONS);
        desk.workspace.write("writer.sh", WRITER);
        desk.workspace.write("bait.sh", BAIT);
        Self(desk)
    }

    /// What `jig` answers, as JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Json {
        parsed(&self.0.jig(args).arg("--json").output().unwrap())
    }

    /// Spawns a tool, and gives its id.
    #[track_caller]
    pub(crate) fn spawn(&self, args: &[&str]) -> String {
        let report = self.json(&[&["spawn"], args].concat());
        let id = report["id"].as_str();
        id.unwrap_or_else(|| panic!("no id in {report}")).to_owned()
    }

    pub(crate) fn ps(&self) -> Vec<Json> {
        self.json(&["ps"]).as_array().unwrap().clone()
    }

    /// Where the sockets are.
    pub(crate) fn directory(&self) -> Utf8PathBuf {
        self.0.workspace.home.join(".local/state/jig/run")
    }

    pub(crate) fn files(&self, ending: &str) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.directory()) else {
            return Vec::new();
        };
        let paths = entries.flatten().map(|entry| entry.path());
        paths
            .filter(|path| path.to_string_lossy().ends_with(ending))
            .collect()
    }

    /// A connection to the station, with which nothing was said yet.
    pub(crate) fn connect(&self) -> UnixStream {
        let socket = self.files(".sock").pop().unwrap();
        UnixStream::connect(socket).unwrap()
    }

    pub(crate) fn key(&self) -> String {
        std::fs::read_to_string(self.files(".key").pop().unwrap()).unwrap()
    }

    /// The process of the station.
    pub(crate) fn station(&self) -> u32 {
        let stations = self.stations();
        assert_eq!(stations.len(), 1, "{stations:?}");
        stations[0]
    }

    pub(crate) fn stations(&self) -> Vec<u32> {
        with_words(&format!("__station {}", self.0.workspace.root))
    }
}

impl Drop for Hall<'_> {
    fn drop(&mut self) {
        let _ = self.0.jig(&["abort", "--all"]).output();
        until("the station has gone", || self.files("").is_empty());
    }
}

pub(crate) fn for_each_hall(test: impl Fn(&Hall<'_>)) {
    for_each_user(|desk| test(&Hall::new(desk)));
}

pub(crate) fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// The processes whose command line holds this text.
fn with_words(words: &str) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(words) && is_alive(*pid)
    })
    .collect()
}

/// S-003, S-010 to S-013: spawn, input, a look, the end.
#[test]
fn s003_a_tool_is_spawned_driven_and_ended() {
    for_each_hall(|hall| {
        let report = hall.json(&["spawn", "echo"]);
        assert_eq!(
            (&report["id"], &report["state"]),
            (&json!("h_1"), &json!("running"))
        );

        let report = hall.json(&["apply", "h_1", "--line", "hello"]);
        assert_eq!(
            (&report["id"], &report["state"]),
            (&json!("h_1"), &json!("running"))
        );
        assert_eq!(report["content"], "hello\n");
        // What was told is not told again, and all that is kept can be seen.
        assert_eq!(hall.json(&["fetch", "h_1"])["content"], Json::Null);
        assert_eq!(
            hall.json(&["fetch", "h_1", "--view", "all"])["content"],
            "hello\n"
        );
        assert_eq!(
            hall.json(&["fetch", "h_1", "--after-seq", "0"])["content"],
            "hello\n"
        );

        // The end of its input is its end.
        let report = hall.json(&["apply", "h_1", "--key", "ctrl-d", "--wait", "20s"]);
        assert_eq!(
            (&report["state"], &report["exit_code"]),
            (&json!("stopped"), &json!(0))
        );
        // S-063: its end was told, and it is gone.
        let ran = hall.0.run(&["fetch", "h_1"]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.err.contains("the handle `h_1` is gone"), "{}", ran.err);
        assert!(hall.ps().is_empty());
    });
}

/// S-061, S-064, X-20: ids are counted, or chosen, and no two are alike.
#[test]
fn s061_x20_ids() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    assert_eq!(hall.spawn(&["echo"]), "h_1");
    assert_eq!(hall.spawn(&["echo", "--id", "own"]), "own");
    assert_eq!(hall.spawn(&["echo"]), "h_2");
    let ran = desk.run(&["spawn", "echo", "--id", "own"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("`own` is the id of a live handle"),
        "{}",
        ran.err
    );
    let ran = desk.run(&["spawn", "echo", "--id", "two words"]);
    assert!(ran.err.contains("visible ASCII"), "{}", ran.err);
    // An unknown one is told with those that there are.
    for command in ["fetch", "abort", "await", "attach"] {
        let ran = desk.run(&[command, "h_9"]);
        assert_eq!(ran.code, Some(1), "{command}");
        assert!(
            ran.err.contains("there is no handle `h_9`"),
            "{command}: {}",
            ran.err
        );
        assert!(ran.err.contains("`own` (echo)"), "{command}: {}", ran.err);
    }
    let ids: Vec<Json> = hall.ps().iter().map(|row| row["id"].clone()).collect();
    assert_eq!(json!(ids), json!(["h_1", "own", "h_2"]));
}

/// S-002: it runs on while nobody is there, and what it says is kept.
#[test]
fn s002_a_tool_goes_on_when_the_command_has_ended() {
    for_each_hall(|hall| {
        let id = hall.spawn(&["counter"]);
        let report = hall.json(&["fetch", &id, "--view", "all", "--wait", "20s"]);
        assert_eq!(report["state"], "running", "{report}");
        until("it has counted", || {
            let report = hall.json(&["fetch", &id, "--view", "all"]);
            report["content"]
                .as_str()
                .is_some_and(|text| text.contains("20\n"))
        });
        let reports = hall.json(&["abort", &id]);
        assert_eq!(reports[0]["state"], "stopped", "{reports}");
    });
}

/// What a person reads.
#[test]
fn people_are_told_what_to_do_next() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let told = |args: &[&str]| desk.told(args);
    assert!(told(&["ps"]).starts_with("nothing runs in this workspace; `jig spawn TOOL` starts"));
    let text = told(&["spawn", "echo", "--id", "mine"]);
    assert!(text.starts_with("mine running\n"), "{text}");
    assert!(
        text.contains("`jig fetch mine`") && text.contains("`jig abort mine`"),
        "{text}"
    );
    let text = told(&["apply", "mine", "--line", "hello"]);
    assert_eq!(text, "mine running\nhello\n[exit 0]");
    let text = told(&["apply", "mine"]);
    assert!(text.contains("there is nothing to apply"), "{text}");
    let text = told(&["ps"]);
    assert!(text.starts_with("id    tool  state    age"), "{text}");
    assert!(text.contains("mine  echo  running  "), "{text}");
    assert!(told(&["abort", "mine"]).starts_with("mine stopped"));
    // Of other workspaces, too.
    let other = hall.json(&["ps", "--all"]);
    assert_eq!(other, json!([]));
}

/// The exit code of a look is that of the call it stands for: 1 if the tool has failed.
#[test]
fn s025_a_failure_is_the_exit_code() {
    for_each_hall(|hall| {
        let id = hall.spawn(&["fails", "--id", "bad"]);
        let ran = hall.0.run(&["await", &id, "--timeout", "20s"]);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            ran.out.contains("bad stopped") && ran.out.contains("exit code 3"),
            "{ran:?}"
        );
        assert!(ran.err.contains("exited with code 3"), "{ran:?}");
    });
}

/// What the configuration says when a tool is spawned counts, not what it said when the station began;
/// and so do the flags and the variables of whoever spawns.
#[test]
fn the_configuration_is_read_for_every_spawn() {
    for_each_hall(|hall| {
        let desk = hall.0;
        // All that a tool says until it has stopped.
        let said_by = |report: Json| {
            let mut said = String::new();
            let mut report = report;
            loop {
                said.push_str(report["content"].as_str().unwrap_or_default());
                if report["state"] == "stopped" {
                    return said;
                }
                let id = report["id"].as_str().unwrap_or_else(|| panic!("{report}"));
                report = hall.json(&["fetch", id, "--wait", "20s"]);
            }
        };
        let content = |args: &[&str]| said_by(hall.json(&[&["spawn"], args].concat()));
        let running = hall.spawn(&["echo", "--id", "keeps-the-station"]);
        let station = hall.station();
        let _ = hall.json(&["abort", &running]);
        let with = |line: &str| {
            let say = "[tools.say]\nsource = 'local'\nstateful = true";
            let tool = format!("{TOOLS}\n{say}\n{line}\n");
            desk.workspace.write("jig.toml", tool);
        };
        with("command = 'echo one'");
        assert_eq!(content(&["say"]), "one\n");
        with("command = 'echo two'");
        assert_eq!(content(&["say"]), "two\n");
        assert_eq!(
            content(&["say", "--set", "tools.say.command=\"echo three\""]),
            "three\n"
        );
        desk.workspace
            .write("more.toml", "[tools.say]\ncommand = 'echo four'\n");
        assert_eq!(content(&["say", "--config", "more.toml"]), "four\n");
        desk.workspace
            .write("say.sh", "test \"$WORD\" = 'of the client' && echo same");
        // What is in a variable is taken out of what a tool says: so it says only whether it knows it.
        with("command = 'sh say.sh'\naccess.env = [{ name = 'WORD', read = true }]");
        let mut jig = desk.jig(&["spawn", "say", "--id", "env", "--json"]);
        let report = parsed(&jig.env("WORD", "of the client").output().unwrap());
        assert_eq!(report["id"], "env", "{report}");
        assert_eq!(said_by(report), "same\n");
        assert_eq!(hall.station(), station);
        // What is wrong is said by the client, as for any other command.
        with("comand = 'echo one'");
        assert_eq!(desk.run(&["spawn", "say"]).code, Some(3));
    });
}

/// `jig await`: any, all, no longer than said.
#[test]
fn waiting_for_several() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo", "--id", "stays"]);
    hall.spawn(&["fails", "--id", "ends"]);
    let state = |reports: &Json, id: &str| -> Json {
        let mut reports = reports.as_array().unwrap().iter();
        let report = reports.find(|report| report["id"] == id);
        report.map_or(Json::Null, |report| report["state"].clone())
    };
    // One of them ends.
    let any = hall.json(&["await", "stays", "ends"]);
    assert_eq!(state(&any, "ends"), "stopped", "{any}");
    assert_eq!(state(&any, "stays"), "running", "{any}");
    // The other does not, in the time that there is.
    hall.spawn(&["fails", "--id", "another"]);
    let ran = desk.run(&["await", "stays", "another", "--all", "--timeout", "100ms"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("the time is over"), "{ran:?}");
    // A handle that asks something is ready too: nothing happens without an answer.
    hall.spawn(&["asks", "--id", "asks"]);
    let all = hall.json(&["await", "another", "asks", "--all", "--timeout", "30s"]);
    assert_eq!(state(&all, "asks"), "waiting", "{all}");
    assert_eq!(state(&all, "another"), "stopped", "{all}");
    // Without names: all that there are.
    hall.json(&["abort", "stays"]);
    let all = hall.json(&["await", "--timeout", "30s"]);
    assert_eq!(state(&all, "asks"), "waiting", "{all}");
}

/// S-063: the last handle takes the station along, and nothing stays on disk.
#[test]
fn the_station_goes_when_it_is_not_needed() {
    for_each_hall(|hall| {
        let id = hall.spawn(&["echo"]);
        let station = hall.station();
        let reports = hall.json(&["abort", &id]);
        assert_eq!(reports[0]["state"], "stopped");
        until("the station has gone", || !is_alive(station));
        assert_eq!(hall.files(""), Vec::<PathBuf>::new());
        // The next one is as good.
        assert_eq!(hall.spawn(&["echo"]), "h_1");
    });
}

/// SIGTERM ends it, and all that it runs.
#[test]
fn a_signal_ends_the_station_and_its_tools() {
    for_each_hall(|hall| {
        hall.spawn(&["echo"]);
        let pid = hall.ps()[0]["pid"].as_u64().unwrap() as u32;
        let station = hall.station();
        Command::new("kill")
            .arg(station.to_string())
            .status()
            .unwrap();
        until("both have gone", || !is_alive(station) && !is_alive(pid));
        assert_eq!(hall.files(""), Vec::<PathBuf>::new());
        assert!(hall.ps().is_empty());
    });
}

/// S-067, S-066: a station that is killed takes everything along, also what left its parents and its session, and
/// the next command says so, once.
#[test]
fn s067_a_killed_station_leaves_nothing() {
    for_each_hall(|hall| {
        let mark = format!(
            "sleep 98{}",
            std::process::id() * 10 + u32::from(hall.0.is_plain_user())
        );
        hall.0.workspace.write("mark", &mark);
        hall.spawn(&["daemons"]);
        until("the daemons run", || with_words(&mark).len() == 3);
        let station = hall.station();
        Command::new("kill")
            .args(["-9", &station.to_string()])
            .status()
            .unwrap();
        until("nothing is left", || with_words(&mark).is_empty());
        let ran = hall.0.run(&["ps"]);
        assert!(ran.err.contains("`h_1` of the tool `daemons`"), "{ran:?}");
        assert!(ran.err.contains("its jig was killed"), "{ran:?}");
        let ran = hall.0.run(&["ps"]);
        assert!(!ran.err.contains("killed"), "{ran:?}");
        // What it left on disk does not stop the next one.
        assert_eq!(hall.spawn(&["echo"]), "h_1");
    });
}

/// Whether a process has a socket open.
fn has_socket(pid: u32) -> bool {
    let descriptors = std::fs::read_dir(format!("/proc/{pid}/fd"));
    let links = descriptors.into_iter().flatten().flatten();
    let mut links = links.filter_map(|descriptor| std::fs::read_link(descriptor.path()).ok());
    links.any(|link| link.to_string_lossy().starts_with("socket:"))
}

/// A client that is killed while it waits loses its connection and nothing else.
#[test]
fn a_killed_client_takes_nothing_along() {
    for_each_hall(|hall| {
        let desk = hall.0;
        hall.spawn(&["echo"]);
        for args in [
            &["await", "h_1"][..],
            &["fetch", "h_1", "--wait", "10m"],
            &["attach", "h_1"],
        ] {
            let mut client = desk
                .jig(args)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap();
            until("it is connected", || has_socket(client.id()));
            client.kill().unwrap();
            client.wait().unwrap();
        }
        let report = hall.json(&["apply", "h_1", "--line", "still here"]);
        assert_eq!(report["content"], "still here\n", "{report}");
    });
}

/// A client that is killed at any moment of a spawn leaves a tool that can be ended, or none.
#[test]
fn a_spawn_that_is_killed_leaves_nothing_that_is_lost() {
    for_each_hall(|hall| {
        for round in 0..12 {
            let mut client = hall.0.jig(&["spawn", "echo"]);
            let mut client = client
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Any moment will do: each round picks another.
            jig_testkit::let_pass(Duration::from_millis(round * 9));
            let _ = client.kill();
            client.wait().unwrap();
        }
        until("nothing is being started", || {
            hall.ps()
                .iter()
                .all(|row| row["state"] == "running" && row["pid"].is_u64())
        });
        let count = hall.ps().len();
        let ended = hall.json(&["abort", "--all"]);
        assert!(ended.as_array().unwrap().len() >= count, "{count}: {ended}");
        assert!(hall.ps().is_empty());
    });
}

/// A station that is about to go is waited for, and the next one takes its place.
#[test]
fn one_station_follows_another() {
    for_each_hall(|hall| {
        for _ in 0..8 {
            assert_eq!(hall.spawn(&["echo"]), "h_1");
            let ended = hall.json(&["abort", "--all"]);
            assert_eq!(ended.as_array().unwrap().len(), 1, "{ended}");
        }
    });
}

/// Many at once: one station, ids that are all different.
#[test]
fn spawns_at_once_have_one_station() {
    for_each_hall(|hall| {
        let mut ids: Vec<String> = thread::scope(|scope| {
            let threads: Vec<_> = (0..4)
                .map(|_| scope.spawn(|| hall.spawn(&["echo"])))
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        ids.sort();
        assert_eq!(ids, ["h_1", "h_2", "h_3", "h_4"]);
        assert_eq!(hall.ps().len(), 4);
        assert_eq!(hall.files(".sock").len(), 1);
        assert_eq!(hall.stations().len(), 1);
    });
}

/// S-064: fifty handles, each with its own input and output.
#[test]
fn s064_fifty_handles() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    for number in 0..50 {
        hall.spawn(&["echo", "--id", &format!("n{number}")]);
    }
    let rows = hall.ps();
    assert_eq!(rows.len(), 50);
    for row in &rows {
        assert_eq!(
            (&row["tool"], &row["state"]),
            (&json!("echo"), &json!("running"))
        );
        assert!(
            row["pid"].is_u64() && row["memory"].as_u64() > Some(0),
            "{row}"
        );
    }
    for number in (0..50).step_by(7) {
        let word = format!("word {number}");
        let report = hall.json(&["apply", &format!("n{number}"), "--line", &word]);
        assert_eq!(report["content"], format!("{word}\n"), "{report}");
    }
    let ended = hall.json(&["abort", "--all"]);
    assert_eq!(ended.as_array().unwrap().len(), 50);
    assert!(hall.ps().is_empty());
}

/// X-60: what a call spawns has the call as its turn, and that is said.
#[test]
fn x60_a_call_is_its_own_turn() {
    for_each_hall(|hall| {
        let ran = hall.0.run(&["call", "echo", "action=spawn"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report: Json = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (&report["id"], &report["state"]),
            (&json!("h_1"), &json!("running"))
        );
        assert!(
            ran.err.contains("ends with it") && ran.err.contains("`jig spawn echo`"),
            "{ran:?}"
        );
        assert!(hall.ps().is_empty());
    });
}

/// A tool that is not stateful is not spawned, and the error says what to set.
#[test]
fn s038_only_what_is_declared_can_be_spawned() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let ran = desk.run(&["spawn", "fs_read_file", "path=jig.toml"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.err.contains("stateful = true"), "{}", ran.err);
    drop(hall);
}

const COUNTER: &str = "
number=0
while :; do
    number=$((number + 1))
    echo $number
    sleep 0.02
done
";

const ASKS: &str = r#"
case "$2" in
*'"sure":true'*) echo '{"type":"success","content":"went on with true"}' ;;
*) echo '{"type":"needs_input","question":{"id":"sure","text":"Go on?","answer_type":"Boolean"}}' ;;
esac
"#;

/// Asks for more than its rules allow, and says what came of it.
const WRITER: &str = r#"
read -r init
echo '{"jsonrpc":"2.0","id":1,"method":"fs.write","params":{"path":"new.txt","content":"written"}}'
read -r answer
case $answer in *error*) said=refused ;; *) said=written ;; esac
echo '{"jsonrpc":"2.0","method":"result","params":{"content":"'$said'"}}'
"#;

/// Asks something harmless, and then for access, with the same words as answers.
const BAIT: &str = r#"
read -r init
echo '{"jsonrpc":"2.0","method":"state","params":{"type":"waiting","question":{"id":"q","text":"How often?","schema":{"type":"string","enum":["once","turn"]}}}}'
while :; do
    echo '{"jsonrpc":"2.0","id":1,"method":"fs.read","params":{"path":"go"}}'
    read -r answer
    case $answer in *error*) sleep 0.05 ;; *) break ;; esac
done
echo '{"jsonrpc":"2.0","id":2,"method":"fs.write","params":{"path":"new.txt","content":"taken"}}'
read -r answer
sleep 60
"#;

/// Three processes that do not want to end: one that lost its parent, one in a session of its own, one that
/// did both.
const DAEMONS: &str = "
trap '' TERM INT HUP
run=$(cat mark)
(exec $run &)
setsid $run &
(setsid $run &)
wait
";
