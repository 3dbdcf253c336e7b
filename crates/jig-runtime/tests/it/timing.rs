//! Clocks and questions of a session, with a real tool in shell and limits short enough to be met.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files and processes, and one that fails is a failed test"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, ProcessSettings, Unapproved};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredCommandRule, DefaultAccess, Guards, Policy, RuleOrigin, Workspace,
};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Content, Context, StateName, ToolError, ToolState};
use jig_runtime::{AskedBy, CommandLine, Plan, Runtime as _, Session, Timing, Update, VfsRuntime};

struct Tool {
    session: Session,
    folder: tempfile::TempDir,
}

impl Tool {
    /// Starts a script that may read the workspace and run `sleep`; all else is uncovered.
    fn start(script: &str, timing: Timing) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).unwrap());
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let sleep = DeclaredCommandRule {
            program: "sleep".to_owned(),
            args: None,
            envs: Vec::new(),
            origin: RuleOrigin::line("jig.toml", 1),
        };
        let access = DeclaredAccess {
            commands: Some(vec![sleep]),
            ..DeclaredAccess::default()
        };
        let guards = Guards::of_workspace();
        let policy = Policy::compile(&access, DefaultAccess::READ_ONLY, &guards, &workspace);
        let home = Path::new("/nonexistent");
        let parts = BrokerParts {
            process: ProcessSettings::minimal(home),
            ..BrokerParts::new("tool", "c1", Arc::clone(&files), Arc::new(policy.unwrap()))
        };
        let input = ToolInput {
            name: "tool".to_owned(),
            ..ToolInput::default()
        };
        let context = Context::new(files.display_root(), Action::Run);
        let script = format!("{PRELUDE}{script}");
        let view = Arc::new(files.materialize().unwrap());
        let plan = Plan {
            command: Some(CommandLine::literal("/bin/sh", ["-c", &script], view, home)),
            timing,
            message_limit: 1 << 20,
            ..Plan::new(input, context, Broker::new(parts))
        };
        let session = VfsRuntime.start(plan).unwrap();
        Self { session, folder }
    }

    /// The first update in the given status.
    fn until(&self, status: StateName) -> Update {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut seen = 0;
        loop {
            let update = self.session.wait(seen, Some(Duration::from_secs(60)));
            if update.state.status() == status {
                return update;
            }
            assert!(Instant::now() < deadline, "never {status:?}: {update:?}");
            seen = update.number;
        }
    }

    fn result(&self) -> Result<Content, ToolError> {
        match self.until(StateName::Stopped).state {
            ToolState::Stopped { result, .. } => result,
            other => panic!("{other:?}"),
        }
    }

    fn text(&self) -> String {
        self.result().unwrap().to_text()
    }

    fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }
}

/// `ask METHOD PARAMS` puts the answer into `$answer`; `result TEXT` is the last word; `running` is a
/// state; `kind` makes an answer the kind of its error, or `done`.
const PRELUDE: &str = r#"
read -r init
ask() { printf '{"jsonrpc":"2.0","id":1,"method":"%s","params":%s}\n' "$1" "$2"; read -r answer; }
result() { printf '{"jsonrpc":"2.0","method":"result","params":{"content":"%s"}}\n' "$1"; }
running() { echo '{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"up"}}'; }
kind() { case $answer in *'"kind":"'*) answer=${answer#*'"kind":"'}; answer=${answer%%'"'*} ;; *) answer=done ;; esac; }
"#;

fn silence(milliseconds: u64) -> Timing {
    Timing {
        silence: Duration::from_millis(milliseconds),
        ..Timing::default()
    }
}

/// V-142: a tool that says nothing for too long is ended, and what it printed as errors is kept.
#[test]
fn v142_a_silent_tool_is_hung() {
    let start = Instant::now();
    let tool = Tool::start(
        "echo 'waiting for nothing' >&2; exec sleep 600",
        silence(300),
    );
    let error = tool.result().unwrap_err();
    assert!(error.message.contains("silent"), "{error:?}");
    assert!(error.transient);
    let limit = "`sandbox.limits.silence` sets how long it may be";
    assert_eq!(error.trace, ["waiting for nothing", limit]);
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(300), "{took:?}");
    assert!(took < Duration::from_secs(30), "{took:?}");
}

/// V-142: errors that it prints are no sign of life, because they are no part of the protocol.
#[test]
fn v142_stderr_is_no_sign_of_life() {
    let script = "while :; do echo still here >&2; sleep 0.05; done";
    let error = Tool::start(script, silence(500)).result().unwrap_err();
    assert!(error.message.contains("silent"), "{error:?}");
    assert!(error.trace[0].contains("still here"), "{error:?}");
}

/// V-142, X-23: a hung tool that ignores SIGTERM is killed after the second grace.
#[test]
fn v142_x23_a_hung_tool_is_killed() {
    let timing = Timing {
        silence: Duration::from_millis(300),
        kill_grace: Duration::from_millis(300),
        ..Timing::default()
    };
    let start = Instant::now();
    let tool = Tool::start("trap '' TERM; while :; do sleep 600; done", timing);
    assert!(tool.result().unwrap_err().message.contains("silent"));
    assert!(start.elapsed() < Duration::from_secs(30));
}

/// V-142: every request starts the clock anew.
#[test]
fn v142_a_busy_tool_is_not_hung() {
    let script = r#"
for turn in 1 2 3 4 5 6 7 8; do sleep 0.5; ask fs.exists '{"path":"."}'; done
result alive"#;
    // Longer in all than the limit, and far below it between two requests.
    assert_eq!(Tool::start(script, silence(3000)).text(), "alive");
}

/// X-23: the clock stands still while the host works for the tool.
#[test]
fn x23_the_clock_stands_still_while_the_host_owes_an_answer() {
    let script = r#"
ask process.run '{"program":"sleep","args":["2"]}'
kind; result "$answer""#;
    assert_eq!(Tool::start(script, silence(700)).text(), "done");
}

const WRITE: &str = r#"ask fs.write '{"path":"new.txt","content":"x"}'; kind; result "$answer""#;

/// X-23, V-132: the clock stands still while somebody is asked, and the request waits.
#[test]
fn x23_v132_the_clock_stands_still_while_somebody_is_asked() {
    let tool = Tool::start(WRITE, silence(300));
    let asked = tool.until(StateName::Waiting);
    assert_eq!(asked.asker, Some(AskedBy::Policy));
    // Nothing changes for a time in which a tool would be hung.
    let later = tool
        .session
        .wait(asked.number, Some(Duration::from_millis(1200)));
    assert_eq!(later.number, asked.number, "{later:?}");
    assert!(!tool.has("new.txt"));
    tool.session
        .apply(tool.session.state().number, "once".into())
        .unwrap();
    assert_eq!(tool.text(), "done");
    assert!(tool.has("new.txt"));
}

/// V-133: what is approved is done; each way not to be approved has its own kind.
#[test]
fn v133_answers_to_the_question_of_the_policy() {
    let check = |answer: &dyn Fn(&Session), expected: &str| {
        let tool = Tool::start(WRITE, Timing::default());
        tool.until(StateName::Waiting);
        answer(&tool.session);
        assert_eq!(tool.text(), expected);
        assert_eq!(tool.has("new.txt"), expected == "done");
    };
    check(
        &|session| {
            session
                .apply(session.state().number, "once".into())
                .unwrap()
        },
        "done",
    );
    check(
        &|session| {
            session
                .apply(session.state().number, "turn".into())
                .unwrap()
        },
        "done",
    );
    check(
        &|session| session.apply(session.state().number, "no".into()).unwrap(),
        "approval_denied",
    );
    check(
        &|session| session.apply(session.state().number, 7.into()).unwrap(),
        "approval_denied",
    );
    check(
        &|session| {
            session
                .decline(session.state().number, Unapproved::Unavailable)
                .unwrap()
        },
        "approval_unavailable",
    );
    check(
        &|session| {
            session
                .decline(session.state().number, Unapproved::TimedOut)
                .unwrap()
        },
        "approval_timeout",
    );
}

/// V-112, V-113: from asking to terminating to killing.
#[test]
fn v112_the_way_down() {
    let timing = Timing {
        cancel_grace: Duration::from_millis(400),
        kill_grace: Duration::from_millis(400),
        ..Timing::default()
    };
    let check = |script: &str, at_least: u64| {
        let tool = Tool::start(script, timing);
        // It has said that it is prepared.
        tool.session.wait(1, None);
        let start = Instant::now();
        tool.session.cancel();
        assert!(tool.result().unwrap_err().message.contains("cancelled"));
        let took = start.elapsed();
        assert!(
            took >= Duration::from_millis(at_least),
            "{script}: {took:?}"
        );
        assert!(took < Duration::from_secs(30), "{script}: {took:?}");
    };
    check("running; read -r cancel; exit 0", 0);
    check("running; exec sleep 600", 400);
    check("trap '' TERM; running; while :; do sleep 600; done", 800);
}
