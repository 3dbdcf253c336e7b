//! Starting the program of a tool: its words filled in, its call delivered, its reach confined.

use std::io::{self, PipeReader, PipeWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use camino::Utf8PathBuf;
use jig_broker::{
    Broker, Commanded, ConfineError, Confined, Discover, Door, Gateway, Intruder, Made, Reach,
    Refusals, listening_ports,
};
use jig_proto::Denial;
use jig_proto::vfs::ToolInput;
use jig_pty::Pty;
use jig_sandbox::{
    Child, Enforce, Enforcement, Environment, Limits, Network, Observation, Observer, PROXY_PORT,
    PathRule, PrivateContent, PrivateFile, Profile, Program, Rights, RuleSource, SpawnRequest,
    Status, Tier, assess, minimal_environment, probe, spawn,
};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::template::Values;
use crate::{Delivery, Plan, StartError};

/// A program that was started, and what has to be kept for as long as it runs.
pub(crate) struct Launched {
    pub(crate) child: Arc<Child>,
    pub(crate) streams: Streams,
    pub(crate) held: Held,
    /// The host's end of its terminal, if it has one.
    pub(crate) terminal: Option<Pty>,
}

/// The host's ends of the standard streams that are pipes.
pub(crate) struct Streams {
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: Option<PipeReader>,
    pub(crate) stderr: Option<PipeReader>,
}

/// What outlives the program.
pub(crate) struct Held {
    /// The limits that it runs under.
    pub(crate) limits: Limits,
    /// What is to be said about its confinement.
    pub(crate) warnings: Vec<String>,
    /// Its sandbox, if it is confined.
    confined: Option<Confined>,
    /// Where it has programs run, if rules say which.
    door: Option<Door>,
    /// Where its connections arrive, if it has a network.
    gateway: Option<Gateway>,
    /// Who watches what it asks for, if somebody does.
    observer: Option<Observer>,
    /// Where its workspace is.
    root: Utf8PathBuf,
    /// The call as a file, for a program that sees the files of the host.
    file: Option<NamedTempFile>,
    /// What was told, and is in the log, while it ran.
    told: Vec<Denial>,
}

/// What is new of a program that still runs.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// What it asked the kernel for.
    pub(crate) observation: Observation,
    /// What its gateway refused.
    pub(crate) denials: Vec<Denial>,
    /// What programs that it had run at its door left where nothing may come into being.
    pub(crate) intruders: Vec<Intruder>,
}

impl News {
    pub(crate) fn is_empty(&self) -> bool {
        let observation = &self.observation;
        observation.seen.is_empty()
            && observation.lost == 0
            && observation.unread == 0
            && self.denials.is_empty()
            && self.intruders.is_empty()
    }
}

/// What is to be said of a program that has ended.
#[derive(Debug, Default)]
pub(crate) struct Left {
    /// What it left where nothing may come into being.
    pub(crate) intruders: Vec<Intruder>,
    /// What it was refused, if it failed.
    pub(crate) denials: Vec<Denial>,
}

impl Held {
    /// Whether somebody watches what the program asks for.
    pub(crate) fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// What was seen and refused of a program that still runs since this was last asked. Only addresses are
    /// explained by it.
    pub(crate) fn news(&self) -> News {
        let observation = self.observer.as_ref().map(Observer::take);
        let observation = observation.unwrap_or_default();
        let gateway = self.gateway.as_ref();
        News {
            denials: gateway.map_or_else(Vec::new, |gateway| gateway.take_denials(&observation)),
            observation,
            intruders: self
                .door
                .as_ref()
                .map_or_else(Vec::new, Door::take_intruders),
        }
    }

    /// The ports on which the program listens in a network of its own, where nobody outside can reach it.
    pub(crate) fn unreached(&self, child: &Child) -> Vec<u16> {
        let Some(confined) = &self.confined else {
            return Vec::new();
        };
        unreached_ports(child, &confined.profile)
    }

    /// What its gateway refuses, told as it happens; `None` if it has no network.
    pub(crate) fn refusals(&self) -> Option<Refusals> {
        self.gateway.as_ref().map(Gateway::refusals)
    }

    /// What the sandbox refused of what was seen.
    pub(crate) fn explain(
        &self,
        broker: &Broker,
        observation: &Observation,
        made: &mut Made,
    ) -> Vec<Denial> {
        let confined = self.confined.as_ref();
        confined.map_or_else(Vec::new, |confined| {
            broker.explain_part(observation, confined, &self.root, made)
        })
    }

    /// The sandbox of a program that could leave something where nothing may come into being.
    pub(crate) fn intruding(&self) -> Option<&Confined> {
        self.confined
            .as_ref()
            .filter(|confined| confined.could_intrude())
    }

    /// What the last words of a program that nobody watches name and it is not given, but what is `known`.
    pub(crate) fn guess(&self, broker: &Broker, said: &str, known: &[Denial]) -> Vec<Denial> {
        match &self.confined {
            Some(confined) if !self.is_observed() => {
                broker.explain_words(said, confined, &self.root, known)
            }
            _ => Vec::new(),
        }
    }

    /// What a program that goes on has just been refused, by its own words: each once. It is in the log then.
    pub(crate) fn guess_meanwhile(&mut self, broker: &Broker, said: &str) -> Vec<Denial> {
        let Some(confined) = &self.confined else {
            return Vec::new();
        };
        let mut guessed = broker.explain_words(said, confined, &self.root, &[]);
        guessed.retain(|one| !self.told.contains(one));
        guessed.truncate(MOST_TOLD.saturating_sub(self.told.len()));
        broker.audit_denials(&guessed);
        self.told.extend_from_slice(&guessed);
        guessed
    }

    /// Looks for what the program left where nothing may come into being and, if it failed, for what it was
    /// refused; `said` are its last words. It must have ended.
    pub(crate) fn finish(mut self, broker: &Broker, failed: bool, said: &str) -> Left {
        drop(self.file.take());
        let is_observed = self.is_observed();
        let observation = self.observer.take().map(Observer::finish);
        let mut denials = match (self.gateway.take(), &observation) {
            (Some(gateway), Some(observation)) => gateway.close_watched(observation),
            (Some(gateway), None) => gateway.close(),
            (None, _) => Vec::new(),
        };
        if let (Some(observation), Some(confined), true) = (&observation, &self.confined, failed) {
            let seen = broker.explain(observation, confined, &self.root);
            broker.audit_denials(&seen);
            denials.extend(seen);
        }
        if failed && !is_observed {
            let guessed = self.guess(broker, said, &denials);
            let (told, new): (Vec<_>, Vec<_>) =
                guessed.into_iter().partition(|one| self.told.contains(one));
            broker.audit_denials(&new);
            denials.extend(told);
            denials.extend(new);
        }
        if !failed {
            denials.clear();
        }
        // What it had run is as much over as it is itself.
        let mut intruders = self.door.map(Door::close).unwrap_or_default();
        intruders.extend(self.confined.map(Confined::finish).unwrap_or_default());
        Left { intruders, denials }
    }
}

/// The ports on which a confined program listens in a network of its own, where nobody outside can reach it. Those of
/// its gateway are not its own.
pub fn unreached_ports(child: &Child, profile: &Profile) -> Vec<u16> {
    let gateways: Vec<u16> = match &profile.network {
        Network::None => Vec::new(),
        Network::Gateway(gateway) => [&gateway.ports[..], &gateway.explained].concat(),
        // It has that of the host, or none that is known here.
        _ => return Vec::new(),
    };
    if child.status.tier != Tier::A {
        return Vec::new();
    }
    let mut ports = listening_ports(child.id());
    ports.retain(|port| !gateways.contains(port) && ![PROXY_PORT, LOOKUPS].contains(port));
    ports
}

/// What is to be said of such ports, after the name of who listens.
pub fn unreached_in_words(ports: &[u16]) -> String {
    let shown: Vec<String> = ports.iter().take(MOST_PORTS).map(u16::to_string).collect();
    let noun = if shown.len() == 1 { "port" } else { "ports" };
    format!(
        "listens on {noun} {} of a network of its own, so that nothing outside of its sandbox can connect to it",
        shown.join(", ")
    )
}

/// Starts the program of a plan for a call, confined unless the plan's broker says that nothing is, and
/// watched if `observe` or the broker's settings say so. `prepare` sets what only a runtime knows.
pub(crate) fn launch(
    plan: &Plan,
    input: &ToolInput,
    reach: Reach,
    observe: bool,
    prepare: impl FnOnce(&mut SpawnRequest),
) -> Result<Launched, StartError> {
    let command = plan.command.as_ref().ok_or(StartError::NoCommand)?;
    let values = Values::new(input, &plan.context, plan.stateful, None);
    let program = command.program(&values)?;
    let literals = command.literals();
    let first = literals.first().and_then(|word| word.to_str());
    let commanded = Commanded {
        program: program.clone().into(),
        toolchain: first.filter(|word| word.starts_with('+')).map(Into::into),
        literals,
        overlays: plan.overlays.clone(),
        observe,
        discover: Discover::OfProgram,
        ..Commanded::default()
    };
    let mut confined = match plan.broker.confine(&commanded, command.root(), reach) {
        Ok(confined) => Some(confined),
        Err(ConfineError::NoSettings) => None,
        Err(error) => return Err(StartError::Confine(error)),
    };
    if let Some(confined) = &mut confined
        && reach == Reach::Workspace
    {
        let guarded = plan.broker.guard_commands(confined);
        guarded.map_err(StartError::Confine)?;
    }

    let (mut file, mut path) = (None, None);
    if plan.delivery == Delivery::File {
        let content = message(plan, input);
        path = Some(match &mut confined {
            Some(confined) if has_private_files(&confined.profile) => {
                private_file(confined, content)
            }
            confined => {
                let path = file.insert(input_file(&content)?).path();
                let path = canonical(path)?;
                if let Some(confined) = confined {
                    show(confined, &path);
                }
                path
            }
        });
    }
    let mut request = match &confined {
        Some(confined) => {
            let mut request = SpawnRequest::new(confined.program.clone(), &confined.cwd);
            confined.apply(&mut request);
            request
        }
        None => {
            let mut request = SpawnRequest::new(Program::parse(program)?, command.root());
            request.env = minimal_environment(&command.home);
            request.limits = plan.limits.tree;
            request
        }
    };
    let name = path.as_ref().map(|path| path.to_string_lossy());
    let values = Values::new(input, &plan.context, plan.stateful, name.as_deref());
    let args = command.arguments(&values)?;
    request.args = args.into_iter().map(Into::into).collect();
    if let Some(path) = &path {
        request.env.insert(INPUT_VARIABLE.into(), path.into());
    }
    keep_secret(plan, &request.env);
    prepare(&mut request);
    let limits = request.limits;
    let mut child = spawn(request)?;
    let door = child.door.take();
    let door = door.map(|door| plan.broker.open_door(door, command.root()));
    let door = door.transpose()?;
    let gateway = child.gateway.take();
    let gateway = gateway.map(|sockets| plan.broker.open_gateway(sockets));
    let gateway = gateway.transpose()?;
    let observer = child.observer.take();
    let mut warnings = plan.warnings.clone();
    if let Some(confined) = &confined
        && confined.profile.enforce == Enforce::BestEffort
    {
        warnings.extend(gaps(&child.status));
    }
    if let Some(confined) = &mut confined {
        warnings.append(&mut confined.warnings);
    }
    if let Some(reason) = child.unobserved.take() {
        warnings.push(format!(
            "what it is refused is only guessed from its own words: {reason}"
        ));
    }
    let streams = Streams {
        stdin: child.stdin.take(),
        stdout: child.stdout.take(),
        stderr: child.stderr.take(),
    };
    Ok(Launched {
        child: Arc::new(child),
        streams,
        held: Held {
            limits,
            warnings,
            confined,
            door,
            gateway,
            observer,
            root: command.root().to_owned(),
            file,
            told: Vec::new(),
        },
        terminal: None,
    })
}

/// Has the values of the host's variables that rules grant to the program left out of what it says: they
/// are for its use, not for transcripts.
fn keep_secret(plan: &Plan, env: &Environment) {
    let rules = plan.context.access.iter().flat_map(|access| &access.env);
    let granted: Vec<&str> = rules
        .filter(|rule| rule.read)
        .map(|rule| rule.name.as_str())
        .collect();
    for (name, value) in env {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else {
            continue;
        };
        let is_granted = granted.iter().any(|rule| match rule.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => *rule == name,
        });
        if is_granted {
            plan.broker.given(name, value);
        }
    }
}

/// What the operating system does not hold a program to. Where that must be all of it, the program would
/// not have started; what is missing even then is the same for every tool, and is told by the status.
fn gaps(status: &Status) -> Vec<String> {
    let parts = status.parts().into_iter();
    let parts = parts.filter(|(_, part)| **part != Enforcement::Enforced);
    parts
        .map(|(name, part)| format!("confinement of {name}: {part}"))
        .collect()
}

/// Puts the call into a file that exists for the confined program alone.
fn private_file(confined: &mut Confined, content: Vec<u8>) -> PathBuf {
    let path = confined.home.join(INPUT_FILE);
    let profile = Arc::make_mut(&mut confined.profile);
    profile.files.push(PrivateFile {
        path: path.clone(),
        content: PrivateContent::Text(content),
    });
    path
}

/// The call as JSON on one line.
pub(crate) fn message(plan: &Plan, input: &ToolInput) -> Vec<u8> {
    let message: Value = json!({
        "context": plan.context,
        "tool": {
            "name": input.name,
            "arguments": input.arguments,
            "answers": input.answers,
            "options": input.options,
        },
    });
    let mut line = message.to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Whether files can be made for one program alone. That takes namespaces; where they were not left out,
/// the machine is asked, once.
fn has_private_files(profile: &Profile) -> bool {
    static MACHINE: OnceLock<bool> = OnceLock::new();
    profile.layers.namespaces && *MACHINE.get_or_init(|| assess(&probe()).tier == Tier::A)
}

/// Lets a confined program read one more file of the host.
fn show(confined: &mut Confined, path: &Path) {
    let profile = Arc::make_mut(&mut confined.profile);
    profile.paths.push(PathRule {
        path: path.to_owned(),
        rights: Rights::READ,
        source: RuleSource::System,
    });
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is a file of our own, outside of any workspace"
)]
fn canonical(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// A file that only this user can read, and that ends with its handle.
fn input_file(content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("jig-input-").tempfile()?;
    file.write_all(content)?;
    file.flush()?;
    Ok(file)
}

/// Where the gateway answers lookups.
const LOOKUPS: u16 = 53;

/// How many denials are told of a program while it runs. Each tells its caller a little about the machine.
const MOST_TOLD: usize = 20;

/// How many ports are named.
const MOST_PORTS: usize = 5;

/// The variable that names the call as a file.
const INPUT_VARIABLE: &str = "JIG_INPUT";

/// The name of that file in the home of a confined program.
const INPUT_FILE: &str = ".jig-input.json";
