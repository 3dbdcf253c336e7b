//! The three ways in which a tool runs, and what comes of a call by each.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use jig_broker::{AuditEntry, AuditSink};
use jig_config::{Config, Sources};
use jig_engine::{About, Answer, Ask, Asker, Call, CallError, Engine};
use jig_fs_tools::NAMES;
use jig_wasm::{CacheDirs, Settings};
use serde_json::{Value, json};

use crate::calls::{self, Call as Tried};
use crate::rules::{Set, written};
use crate::world::{COMPONENT, On, Place, content, repository};

/// How a tool runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Door {
    /// Inside jig.
    Builtin,
    /// As a confined program that asks for everything.
    Vfs,
    /// As a component.
    Wasm,
}

impl Door {
    /// What makes the tools run so, beside the one configuration that all have.
    fn settings(self) -> Vec<String> {
        let of_tool = |name: &str| match self {
            Door::Builtin => vec![format!("tools.{name}.runtime=builtin")],
            Door::Vfs => vec![format!("tools.{name}.runtime=vfs")],
            Door::Wasm => vec![
                format!("tools.{name}.runtime=wasm"),
                format!("tools.{name}.wasm={COMPONENT}"),
            ],
        };
        NAMES.iter().flat_map(|name| of_tool(name)).collect()
    }
}

/// What whoever is asked says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Says {
    /// Nobody is there.
    Nothing,
    /// Yes to the tool; access is nobody's to give.
    Yes,
    /// No to everything.
    No,
    /// Yes to everything, this time.
    Once,
    /// Yes to everything, for the turn.
    Turn,
    /// Nothing, in time.
    Late,
}

struct Person {
    says: Says,
    asked: Vec<String>,
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let question = ask.question;
        self.asked.push(format!(
            "{:?} {}: {}",
            ask.about, question.id, question.text
        ));
        let is_access = ask.about == About::Access;
        match self.says {
            Says::Nothing => Answer::Unavailable,
            Says::Yes if is_access => Answer::Unavailable,
            Says::Yes => Answer::Given(json!(true)),
            Says::No if is_access => Answer::Given(json!("no")),
            Says::No => Answer::Given(json!(false)),
            Says::Once if is_access => Answer::Given(json!("once")),
            Says::Turn if is_access => Answer::Given(json!("turn")),
            Says::Once | Says::Turn => Answer::Given(json!(true)),
            Says::Late => Answer::TimedOut,
        }
    }
}

/// An audit log in memory.
#[derive(Debug, Default)]
struct Kept(Mutex<Vec<AuditEntry>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

/// All that came of a call.
#[derive(PartialEq)]
struct Came {
    /// The content as JSON, or the error with all it holds.
    result: Result<Value, String>,
    asked: Vec<String>,
    /// The audit log without times and ids.
    log: Vec<Value>,
    workspace: BTreeMap<String, String>,
}

impl fmt::Debug for Came {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:?}", self.result)?;
        writeln!(f, "asked: {:#?}", self.asked)?;
        for line in &self.log {
            writeln!(f, "log: {line}")?;
        }
        write!(f, "workspace: {:?}", self.workspace)
    }
}

/// Makes the calls under these rules, by every door, and holds the results against each other.
pub(crate) fn compare(on: On, set: &Set) {
    let place = Place::new(on, declared(set));
    let [builtin, vfs, wasm] = [Door::Builtin, Door::Vfs, Door::Wasm].map(|door| {
        let mut sources = Sources::new(place.root.clone());
        sources.sets = door.settings();
        let loaded = jig_config::load(&sources);
        let config = loaded.unwrap_or_else(|errors| panic!("{errors}")).config;
        Running::new(&place, Arc::new(config))
    });
    let everything = std::env::var_os("JIG_PARITY").is_some();
    let mut differ = Vec::new();
    let (mut done, mut refused) = (0, 0);
    for (number, tried) in calls::all().iter().enumerate() {
        let expected = builtin.came(&place, tried);
        match expected.result {
            Ok(_) => done += 1,
            Err(_) => refused += 1,
        }
        let mut hold = |door: &str, found: Came| {
            if found != expected {
                let Tried {
                    tool,
                    arguments,
                    says,
                } = tried;
                differ.push(format!(
                    "{tool} {arguments} {says:?}\n--- builtin: {expected:?}\n--- {door}: {found:?}"
                ));
            }
        };
        hold("wasm", wasm.came(&place, tried));
        // To start a program costs more than all the rest. Each set has other calls, so that every call is
        // made under some.
        if everything || number % PROGRAMS == set.number() % PROGRAMS {
            hold("vfs", vfs.came(&place, tried));
        }
    }
    let (name, count) = (set.name, differ.len());
    assert!(
        differ.is_empty(),
        "{name}: {count} differ\n\n{}",
        differ.join("\n\n")
    );
    // A suite in which nothing happens would prove nothing.
    assert!(refused > 20, "{name}: {refused} calls were refused");
    assert!(
        done > 0 || name == "nothing",
        "{name}: {done} calls were done"
    );
}

/// One of so many calls is made by a program; all of them if `JIG_PARITY` is set.
const PROGRAMS: usize = 6;

/// An engine that runs the tools in one way.
struct Running {
    config: Arc<Config>,
    engine: Engine,
    audit: Arc<Kept>,
}

impl Running {
    fn new(place: &Place, config: Arc<Config>) -> Self {
        let audit = Arc::new(Kept::default());
        let mut engine = Engine::new(Arc::clone(&config), place.files());
        engine.audit = Arc::clone(&audit) as Arc<dyn AuditSink>;
        engine.program = std::env::current_exe().ok();
        engine.wasm = settings();
        Self {
            config,
            engine,
            audit,
        }
    }

    /// Makes a call in a workspace as it was in the beginning.
    fn came(&self, place: &Place, tried: &Tried) -> Came {
        // What is approved for the turn must not be there for the next call.
        if tried.says == Says::Turn {
            return Self::new(place, Arc::clone(&self.config)).call(place, tried);
        }
        self.call(place, tried)
    }

    fn call(&self, place: &Place, tried: &Tried) -> Came {
        place.restore();
        let mut person = Person {
            says: tried.says,
            asked: Vec::new(),
        };
        let call = Call::new(tried.tool, tried.arguments.clone());
        let result = match self.engine.call(call, &mut person) {
            Ok(reply) => Ok(json!(reply.into_content())),
            Err(CallError::Tool(error)) => Err(format!("{error:?}")),
            Err(error) => Err(format!("not the tool: {error}")),
        };
        let log = std::mem::take(&mut *self.audit.0.lock().unwrap());
        Came {
            result,
            asked: person.asked,
            // That a program or a component began and ended is no decision.
            log: log
                .iter()
                .filter(|entry| entry.operation != "call")
                .map(line)
                .collect(),
            workspace: content(&*place.files()),
        }
    }
}

fn line(entry: &AuditEntry) -> Value {
    json!({
        "tool": entry.tool,
        "operation": entry.operation,
        "target": entry.target,
        "decision": entry.decision.name(),
        "reason": entry.reason,
        "rule": entry.rule,
        "origin": entry.origin,
        "hint": entry.hint,
        "outcome": entry.outcome,
    })
}

/// The one configuration: the rules, for every tool.
fn declared(set: &Set) -> String {
    let mut text = String::new();
    for name in NAMES {
        let rules = set
            .rules
            .iter()
            .map(|rule| format!("    {{ {} }},\n", written(rule)));
        let rules: String = rules.collect();
        text.push_str(&format!(
            "[tools.{name}]\nsource = 'local'\nrun = 'unattended'\naccess.fs = [\n{rules}]\n\n"
        ));
    }
    text
}

/// Compiled code is kept for all tests, and for the next time.
fn settings() -> Settings {
    let guests = repository().join("target/guests");
    let mut settings = Settings::default();
    settings.cache = Some(CacheDirs {
        code: guests.join("cache"),
        key: guests.join("cache.key"),
    });
    settings
}
