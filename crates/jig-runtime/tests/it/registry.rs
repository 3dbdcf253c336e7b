//! Handles in any order of events, from several threads, over real sessions.
//!
//! What is checked holds whatever happens: no client sees a handle do what S-027 forbids, no two live handles
//! have one id, nothing hangs, and when the turn has ended no tool runs any more.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files and processes, and one that fails is a failed test"
)]

pub(crate) mod world;

use std::collections::{HashMap, HashSet};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use self::world::{LONG, World, started, until};
use jig_broker::CancelToken;
use jig_proto::{
    Content, Fetch, HandleId, HandleReport, Question, StateName, ToolError, ToolState, View,
};
use jig_runtime::{
    Await, BuiltinRuntime, HandleError, HandleLimits, HandleOptions, Handles, Runtime as _, Session,
};
use jig_testkit::let_pass;
use jig_tool::vfs::Host;
use proptest::prelude::*;
use serde_json::json;

/// What happens to the handles of a turn.
#[derive(Debug, Clone)]
enum Step {
    /// A tool is started; with an id of the caller's, perhaps, and perhaps its first words are waited for.
    Spawn {
        tool: &'static str,
        own: Option<u8>,
        settle: bool,
    },
    Fetch {
        handle: usize,
        look: Fetch,
    },
    Apply {
        handle: usize,
        input: u8,
    },
    /// A person answers.
    Answer {
        handle: usize,
    },
    Abort {
        handle: usize,
    },
    /// A client waits, and goes away before anything happens.
    Lose {
        handle: usize,
    },
    Await {
        handles: Vec<usize>,
        mode: Await,
    },
    Notices,
    List,
    EndTurn,
}

/// The tools: all code inside jig, but `cat` and `sh`.
const TOOLS: [&str; 7] = ["quick", "chatty", "asks", "echo", "fails", "cat", "sh"];

const SCRIPTED: BuiltinRuntime = BuiltinRuntime {
    names: &["quick", "chatty", "asks", "echo", "fails"],
    run: scripted,
};

/// How many tools of each id run now. The id is passed to a tool for this test alone.
static RUNNING: Mutex<Option<HashMap<String, u32>>> = Mutex::new(None);

struct Running(String);

impl Running {
    fn begin(id: &str) -> Self {
        let mut running = RUNNING.lock().unwrap();
        let count = running.get_or_insert_default().entry(id.to_owned());
        let count = count.or_default();
        *count += 1;
        let is_alone = *count == 1;
        // What is seen here is told by the checks at the end of the case.
        if !is_alone {
            drop(running);
            SHARED_IDS.lock().unwrap().push(id.to_owned());
        }
        Self(id.to_owned())
    }
}

/// Ids that two tools had at once.
static SHARED_IDS: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = RUNNING.lock().unwrap();
        let running = running.get_or_insert_default();
        let count = running.get_mut(&self.0).unwrap();
        *count -= 1;
        if *count == 0 {
            running.remove(&self.0);
        }
    }
}

fn scripted(name: &str, host: &mut Host) -> Option<Result<Content, ToolError>> {
    let id = host.tool().arguments["id"].as_str().unwrap().to_owned();
    let _running = Running::begin(&id);
    Some(act(name, host).map_err(|error| ToolError::new(error.to_string())))
}

fn act(name: &str, host: &mut Host) -> Result<Content, Box<dyn std::error::Error>> {
    match name {
        "quick" => Ok(Content::text("done")),
        "chatty" => {
            for number in 0..30 {
                if host.is_cancelled() {
                    return Err("cancelled".into());
                }
                host.state(ToolState::running(format!("line {number}\n")))?;
                let_pass(Duration::from_millis(1));
            }
            Ok(Content::text("said all"))
        }
        "asks" => {
            for number in 0..3 {
                let question = Question::text(format!("q{number}"), "What now?");
                let answer = host.ask(question)?;
                host.state(ToolState::running(format!("heard {answer}\n")))?;
            }
            Ok(Content::text("asked all"))
        }
        "echo" => loop {
            let input = host.wait_apply()?;
            host.state(ToolState::running(format!("{input}\n")))?;
        },
        "fails" => Err("it failed".into()),
        other => Err(format!("no tool {other}").into()),
    }
}

/// Starts a tool, and tells it the id of its handle.
fn start(world: &World, tool: &str, id: &HandleId) -> Session {
    let mut plan = world.plan(tool);
    plan.input.arguments.insert("id".to_owned(), json!(id));
    match tool {
        "cat" => world.script(plan, "exec cat"),
        // It does not listen to SIGTERM, and has a child that has left it.
        "sh" => world.script(
            plan,
            "trap '' TERM; (setsid sleep 1000 &) ; echo up; read line; echo \"$line\"; exit 3",
        ),
        _ => SCRIPTED.start(plan).unwrap(),
    }
}

/// A turn, and all that is known about it from outside.
struct Turn {
    world: World,
    handles: Handles,
    /// Every id that was ever given, with its tool.
    spawned: Mutex<Vec<(HandleId, &'static str)>>,
    /// Numbers that were given, and the processes that were seen.
    numbers: Mutex<HashSet<HandleId>>,
    processes: Mutex<HashSet<(u32, String)>>,
}

/// One of the clients, with what it has seen.
struct Client<'t> {
    turn: &'t Turn,
    /// The last status of each handle that has a number, which no other handle ever has.
    seen: HashMap<HandleId, StateName>,
}

impl Client<'_> {
    fn take(&mut self, step: &Step) {
        let turn = self.turn;
        match step {
            Step::Spawn { tool, own, settle } => self.spawn(tool, *own, *settle),
            Step::Fetch { handle, look } => {
                if let Some((id, tool)) = turn.pick(*handle) {
                    let report = turn.handles.fetch(tool, &id, look, None);
                    self.saw(&id, report);
                }
            }
            Step::Apply { handle, input } => {
                if let Some((id, tool)) = turn.pick(*handle) {
                    let look = Fetch::default();
                    let input = json!({ "line": format!("input {input}") });
                    let report = turn.handles.apply(tool, &id, input, &look, None);
                    self.saw(&id, report);
                }
            }
            Step::Answer { handle } => {
                if let Some((id, _)) = turn.pick(*handle)
                    && let Some(pending) = turn.handles.question(&id)
                {
                    // Somebody else may be quicker.
                    let _ = turn.handles.answer(&id, pending.number, json!("fine"));
                }
            }
            Step::Abort { handle } => {
                if let Some((id, tool)) = turn.pick(*handle) {
                    let report = turn.handles.abort(tool, &id);
                    if let Ok(report) = &report {
                        assert_eq!(report.state.status(), StateName::Stopped);
                    }
                    self.saw(&id, report);
                }
            }
            Step::Lose { handle } => {
                if let Some((id, tool)) = turn.pick(*handle) {
                    let cancel = CancelToken::new();
                    thread::scope(|scope| {
                        let waiting = scope.spawn(|| {
                            let look = Fetch {
                                wait: Some(LONG),
                                ..Fetch::default()
                            };
                            turn.handles.fetch(tool, &id, &look, Some(&cancel))
                        });
                        // It waits by now, or not yet: both must do.
                        let_pass(Duration::from_millis(5));
                        cancel.cancel();
                        self.saw(&id, waiting.join().unwrap());
                    });
                }
            }
            Step::Await { handles, mode } => {
                let ids = handles.iter().filter_map(|handle| turn.pick(*handle));
                let ids: Vec<HandleId> = ids.map(|(id, _)| id).collect();
                let limit = Some(Duration::from_millis(50));
                if let Ok(reports) = turn.handles.wait(&ids, *mode, limit, None) {
                    for report in reports {
                        let id = report.id.clone();
                        self.saw(&id, Ok(report));
                    }
                }
            }
            Step::Notices => {
                for notice in turn.handles.notices() {
                    assert_ne!(notice.state, StateName::Running);
                }
            }
            Step::List => {
                for info in turn.handles.list() {
                    if let Some(started) = info.pid.and_then(started) {
                        let process = (info.pid.unwrap(), started);
                        turn.processes.lock().unwrap().insert(process);
                    }
                    assert_eq!(info.question.is_some(), info.status == StateName::Waiting);
                }
            }
            Step::EndTurn => turn.handles.end(Duration::from_millis(300)),
        }
    }

    fn spawn(&mut self, tool: &'static str, own: Option<u8>, settle: bool) {
        let turn = self.turn;
        let own = own.map(|own| format!("own-{own}").parse().unwrap());
        let is_own = own.is_some();
        let reserved = turn.handles.reserve(own, tool, HandleOptions::default());
        let reserved = match reserved {
            Ok(reserved) => reserved,
            Err(HandleError::Taken { .. }) if is_own => return,
            Err(HandleError::Over | HandleError::TooMany { .. }) => return,
            Err(error) => panic!("{error}"),
        };
        let id = reserved.id().clone();
        if !is_own {
            assert!(
                turn.numbers.lock().unwrap().insert(id.clone()),
                "{id} again"
            );
        }
        let session = start(&turn.world, tool, &id);
        if let Some(pid) = session.pid()
            && let Some(started) = started(pid)
        {
            turn.processes.lock().unwrap().insert((pid, started));
        }
        assert_eq!(reserved.fill(session), id);
        turn.spawned.lock().unwrap().push((id.clone(), tool));
        if settle {
            let report = turn.handles.settle(&id, None);
            self.saw(&id, report);
        }
    }

    /// S-027: nothing but the end follows the end, and then the handle is gone.
    fn saw(&mut self, id: &HandleId, report: Result<HandleReport, HandleError>) {
        let report = match report {
            Ok(report) => report,
            Err(HandleError::Stopped { report, .. }) => {
                assert_eq!(report.state.status(), StateName::Stopped);
                *report
            }
            Err(HandleError::Unknown(_)) => {
                self.seen.insert(id.clone(), StateName::Stopped);
                return;
            }
            // Two clients at once: what this one meant has changed under it.
            Err(
                HandleError::Answered { .. }
                | HandleError::Asks { .. }
                | HandleError::Input { .. }
                | HandleError::OtherTool { .. }
                | HandleError::Starting { .. },
            ) => return,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(report.id, *id);
        if !id.as_str().starts_with("h_") {
            return;
        }
        let status = report.state.status();
        let before = self.seen.insert(id.clone(), status);
        let is_legal = before != Some(StateName::Stopped) || status == StateName::Stopped;
        assert!(is_legal, "{id}: {status:?} after {before:?}");
    }
}

impl Turn {
    fn new() -> Self {
        Self {
            world: World::new(),
            handles: Handles::new(HandleLimits {
                live: 12,
                kept: 4,
                ..HandleLimits::default()
            }),
            spawned: Mutex::default(),
            numbers: Mutex::default(),
            processes: Mutex::default(),
        }
    }

    fn pick(&self, handle: usize) -> Option<(HandleId, &'static str)> {
        let spawned = self.spawned.lock().unwrap();
        // The later ones are more likely to live.
        let count = spawned.len();
        let back = handle % count.clamp(1, 8);
        count
            .checked_sub(back + 1)
            .map(|place| spawned[place].clone())
    }
}

fn check(clients: Vec<Vec<Step>>) {
    let turn = Arc::new(Turn::new());
    let (sender, done) = channel::<()>();
    let clients: Vec<_> = clients
        .into_iter()
        .map(|steps| {
            let (turn, sender) = (Arc::clone(&turn), sender.clone());
            thread::spawn(move || {
                let mut client = Client {
                    turn: &turn,
                    seen: HashMap::new(),
                };
                for step in &steps {
                    client.take(step);
                }
                drop(sender);
            })
        })
        .collect();
    drop(sender);
    // It ends when the last client has dropped its end, whether it panicked or not.
    let hangs = matches!(done.recv_timeout(LONG), Err(RecvTimeoutError::Timeout));
    assert!(!hangs, "a client hangs");
    for client in clients {
        client.join().unwrap();
    }
    let begun = Instant::now();
    turn.handles.end(Duration::from_millis(300));
    assert!(begun.elapsed() < LONG);
    assert_eq!(turn.handles.counts().live, 0);
    assert_eq!(turn.handles.counts().stopped, 0);
    let over = turn.handles.reserve(None, "t", HandleOptions::default());
    assert!(matches!(over, Err(HandleError::Over)));
    until("no code inside jig runs", || {
        let running = RUNNING.lock().unwrap();
        running.as_ref().is_none_or(HashMap::is_empty)
    });
    assert_eq!(*SHARED_IDS.lock().unwrap(), Vec::<String>::new());
    for (pid, at) in turn.processes.lock().unwrap().iter() {
        until("every process is gone", || {
            started(*pid).as_ref() != Some(at)
        });
    }
    turn.world.is_left();
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    let look = (
        prop_oneof![
            4 => Just(View::New),
            1 => Just(View::Screen),
            1 => Just(View::All),
        ],
        proptest::option::weighted(0.2, 0_u64..60),
        proptest::option::weighted(0.3, 0_usize..40),
        proptest::option::weighted(0.3, 0_u64..30),
    );
    let look = look.prop_map(|(view, after_seq, max_bytes, wait)| Fetch {
        view,
        after_seq,
        max_bytes,
        wait: wait.map(Duration::from_millis),
    });
    let tool = prop_oneof![
        6 => proptest::sample::select(&TOOLS[..5]),
        1 => proptest::sample::select(&TOOLS[5..]),
    ];
    let own = proptest::option::weighted(0.4, 0_u8..3);
    let spawn = (tool, own, proptest::bool::weighted(0.2));
    let spawn = spawn.prop_map(|(tool, own, settle)| Step::Spawn { tool, own, settle });
    let mode = prop_oneof![Just(Await::Any), Just(Await::All)];
    let handles = proptest::collection::vec(0_usize..8, 0..4);
    let step = prop_oneof![
        8 => spawn,
        8 => (0_usize..8, look).prop_map(|(handle, look)| Step::Fetch { handle, look }),
        3 => (0_usize..8, any::<u8>()).prop_map(|(handle, input)| Step::Apply { handle, input }),
        2 => (0_usize..8).prop_map(|handle| Step::Answer { handle }),
        3 => (0_usize..8).prop_map(|handle| Step::Abort { handle }),
        2 => (0_usize..8).prop_map(|handle| Step::Lose { handle }),
        2 => (handles, mode).prop_map(|(handles, mode)| Step::Await { handles, mode }),
        1 => Just(Step::Notices),
        1 => Just(Step::List),
    ];
    let clients = proptest::collection::vec(proptest::collection::vec(step, 1..16), 2..5);
    // The turn may end while others are in the middle of something.
    (clients, proptest::bool::weighted(0.4)).prop_map(|(mut clients, ends)| {
        if ends {
            clients[0].push(Step::EndTurn);
        }
        clients
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: std::env::var("PROPTEST_CASES")
            .ok()
            .and_then(|cases| cases.parse().ok())
            .unwrap_or(24),
        // Threads do not do the same twice: a smaller case would prove nothing.
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// S-027, S-061, S-063, X-20.
    #[test]
    fn s027_s061_s063_any_order_of_events(clients in steps()) {
        check(clients);
    }
}
