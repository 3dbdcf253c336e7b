//! [`Teacher`]: what a server needs, learned as `jig suggest` learns it, from its start and its list of tools.
//!
//! A server is started on a layer of which nothing stays: first with much in reach, then under the rules that
//! this took. What its calls need besides is not known; they are refused it, and say so.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::thread;
use std::time::Duration;

use camino::Utf8Path;
use jig_broker::{CancelToken, ProgramStartError, ProgramStreams};
use jig_config::{AddedSystem, Additions, ConfigEdit, ConfigErrors, Sources};
use jig_engine::{
    CommandError, CommandLog, Engine, LearnError, Learner, ObservedRun, Proposal, Rehearsal,
    warning_clause,
};
use jig_policy::Sensitive;
use jig_project::{CommandEnvironment, audit_log, engines};
use jig_proto::ProjectPath;
use jig_sandbox::{SpawnError, Stdio};

use super::fetch::FetchedPackages;
use super::tool_listing::{self, ServerOutputLines};

/// Learns what servers need.
pub struct Teacher<'a> {
    /// The workspace.
    pub root: &'a Utf8Path,
    /// The variables of the person.
    pub env: &'a CommandEnvironment,
    /// The configuration that the entries are added to.
    pub sources: &'a Sources,
    /// The file that the entries go into.
    pub file: &'a Utf8Path,
    /// The text of the file, if it is there.
    pub text: Option<&'a str>,
    /// Cancelled to give up.
    pub cancel: &'a CancelToken,
    /// Cancelled to end the server at once.
    pub kill: &'a CancelToken,
}

/// A server as it is started.
pub struct Subject<'a> {
    /// Its name, as the log has it.
    pub name: &'a str,
    /// The program and its arguments, with everything filled in.
    pub command: &'a [String],
    /// The variables that it is started with.
    pub env: &'a [(String, String)],
    /// What its command says that it needs.
    pub named: &'a Additions,
    /// How long it may take.
    pub limit: Duration,
    /// Whether a file of the workspace names it, which then has no say in where something is downloaded from.
    pub is_stranger: bool,
}

/// What was learned.
#[derive(Debug)]
pub struct LearnedServer {
    /// The rules that it needs.
    pub additions: Additions,
    /// Directories that must be there.
    pub make: Vec<ProjectPath>,
    /// How many tools it has.
    pub tools: usize,
    /// What it wanted and is not proposed.
    pub withheld: Vec<String>,
}

/// Why nothing was learned.
#[derive(Debug)]
pub enum LearningError {
    /// Somebody pressed ctrl-C.
    Interrupted,
    /// As a clause, and what the server said at the end.
    Why(String, String),
}

impl LearningError {
    /// A reason without words of the server.
    pub fn why(why: impl ToString) -> Self {
        Self::Why(why.to_string(), String::new())
    }
}

impl Teacher<'_> {
    /// Learns what a server needs.
    pub fn learn(&self, subject: &Subject<'_>) -> Result<LearnedServer, LearningError> {
        let fetched = FetchedPackages::of(self, subject)?;
        let mut env = fetched.env.clone();
        env.extend_from_slice(subject.env);
        let mut command = subject.command.to_vec();
        let first = command.len().min(1);
        command.splice(first..first, fetched.args.iter().cloned());
        let subject = &Subject {
            name: subject.name,
            env: &env,
            command: &command,
            named: subject.named,
            limit: subject.limit,
            is_stranger: subject.is_stranger,
        };
        let base = Additions {
            net: subject.named.net.clone(),
            ..Additions::default()
        };
        let engine = self.engine(&fetched.with(&base))?;
        let mut command = subject.command.to_vec();
        if let Some(program) = command.first_mut()
            && program.contains('/')
        {
            *program = self.root.join(&*program).into_string();
        }
        let learner = Learner::new(&engine, TOOL, &command, WIDTH);
        let mut learner = learner.map_err(LearningError::why)?;
        let tools = self.watch(&mut learner, &engine, subject)?;
        let (proposal, additions) = self.confirm(&mut learner, subject, &fetched, tools)?;
        let withheld = proposal.withheld.iter().take(MOST_WITHHELD);
        Ok(LearnedServer {
            additions,
            make: proposal.make.clone(),
            tools,
            withheld: withheld
                .map(|one| format!("`{}`: {}", one.what, one.why))
                .collect(),
        })
    }

    /// Runs it with much in reach.
    fn watch(
        &self,
        learner: &mut Learner,
        engine: &Engine,
        subject: &Subject<'_>,
    ) -> Result<usize, LearningError> {
        let mut starts = 1;
        loop {
            let rehearsal = learner.wide(engine).map_err(explained)?;
            let ended = match self.run(rehearsal, subject)? {
                Ok(ended) => ended,
                // What is to be hidden may be gone by the time at which it is: sockets come and go.
                Err(_) if starts < MOST_STARTS => {
                    starts += 1;
                    continue;
                }
                Err(unheld) => return Err(LearningError::why(unheld)),
            };
            learner.saw(ended.run);
            match ended.tools {
                Ok(tools) => return Ok(tools),
                // A server that works without what it looked for in the home does not need it.
                Err(_) if learner.show_more_of_home() => {}
                Err(why) => return Err(LearningError::Why(why, ended.tail)),
            }
        }
    }

    /// Runs it under what is proposed, until that is enough.
    fn confirm(
        &self,
        learner: &mut Learner,
        subject: &Subject<'_>,
        fetched: &FetchedPackages,
        tools: usize,
    ) -> Result<(Proposal, Additions), LearningError> {
        let mut rounds = 0;
        loop {
            let proposal = self.vetted(learner, subject)?;
            let additions = added(&proposal, subject);
            let engine = self.engine(&fetched.with(&additions))?;
            let rehearsal = learner.confined(&engine, TOOL).map_err(explained)?;
            let ended = match self.run(rehearsal, subject)? {
                Ok(ended) => ended,
                // Some rules can only be held where changes are allowed altogether.
                Err(_) if learner.widen_changes() => continue,
                Err(unheld) => return Err(LearningError::why(unheld)),
            };
            let why = match ended.tools {
                Ok(count) if count == tools => return Ok((proposal, additions)),
                Ok(_) => "it has other tools under the rules that its start took".to_owned(),
                Err(why) => format!("under the rules that its start took, {why}"),
            };
            rounds += 1;
            learner.saw_failing(ended.run);
            let is_wider = !learner.proposal().grants_as(&proposal) && rounds < MOST_ROUNDS;
            if !is_wider && !learner.widen() {
                return Err(LearningError::Why(why, ended.tail));
            }
        }
    }

    /// The proposal without the paths that `jig config check` would warn of.
    fn vetted(
        &self,
        learner: &mut Learner,
        subject: &Subject<'_>,
    ) -> Result<Proposal, LearningError> {
        loop {
            let proposal = learner.proposal();
            let additions = added(&proposal, subject);
            let refused = self.warned(&additions).map_err(LearningError::why)?;
            let before = proposal.system.len();
            for (path, why) in &refused {
                learner.refuse(path, why);
            }
            if refused.is_empty() || learner.proposal().system.len() == before {
                return Ok(proposal);
            }
        }
    }

    /// Which paths outside the workspace `jig config check` would warn of, and why.
    fn warned(&self, additions: &Additions) -> anyhow::Result<Vec<(String, String)>> {
        let sources = Sources {
            lint: true,
            ..self.sources.clone()
        };
        let loaded = self.edit(additions)?.check(&sources, self.file)?;
        let mut warned = Vec::new();
        for AddedSystem { path, .. } in &additions.system {
            let about = format!("the tool `{TOOL}` may read `{path}`, ");
            let mut warnings = loaded.warnings.iter();
            let why = warnings.find_map(|warning| warning.message().strip_prefix(&about));
            warned.extend(why.map(|why| (path.clone(), warning_clause(why))));
        }
        Ok(warned)
    }

    /// Why a path outside the workspace is not to be shown to a server without a person's thought.
    pub fn objection(&self, added: &AddedSystem) -> Option<String> {
        let alone = Additions {
            system: vec![added.clone()],
            ..Additions::default()
        };
        match self.warned(&alone) {
            Ok(warned) => warned.into_iter().next().map(|(_, why)| why),
            // Some paths cannot be named at all.
            Err(error) => match error.downcast_ref::<ConfigErrors>() {
                Some(errors) => Some(errors.problems().first()?.message().to_owned()),
                None => Some(error.to_string()),
            },
        }
    }

    /// What is sensitive in the workspace for a server that says nothing about it.
    pub fn sensitive(&self) -> anyhow::Result<Sensitive> {
        let loaded = self
            .edit(&Additions::default())?
            .check(self.sources, self.file)?;
        let tool = loaded.config.tool(TOOL);
        let guards = tool.map(|tool| loaded.config.guards(tool, self.root));
        Ok(guards.map(|guards| guards.sensitive).unwrap_or_default())
    }

    /// The file as it would be if the server were a tool.
    fn edit(&self, additions: &Additions) -> anyhow::Result<ConfigEdit> {
        let mut edit = ConfigEdit::new(self.text)?;
        let additions = Additions {
            command: Some(vec!["true".to_owned()]),
            ..additions.clone()
        };
        edit.add(TOOL, &additions)?;
        Ok(edit)
    }
    /// An engine whose tool on trial has these rules.
    pub fn engine(&self, additions: &Additions) -> Result<Engine, LearningError> {
        let loaded = self.edit(additions).and_then(|edit| {
            let loaded = edit.check(self.sources, self.file)?;
            let sink = audit_log::sink(self.root, self.env, &loaded.config.log)?;
            let mut engine = engines::for_config(self.root, loaded.config.into(), self.env)?;
            engine.audit = sink;
            Ok(engine)
        });
        loaded.map_err(LearningError::why)
    }

    /// Starts it, asks for its tools, and ends it. The inner error says why the sandbox could not hold it.
    fn run(
        &self,
        rehearsal: Rehearsal,
        subject: &Subject<'_>,
    ) -> Result<Result<LearnRunEnd, String>, LearningError> {
        let needs = format!(
            "jig import, to see what the server `{}` needs",
            subject.name
        );
        let log = CommandLog {
            operation: "import",
            // Not its arguments: they may be secrets.
            target: subject.command.first().map_or("", String::as_str).into(),
            reason: &needs,
        };
        let args = subject.command.get(1..).unwrap_or_default();
        let started = rehearsal.start(log, args, |request| {
            for (name, value) in subject.env {
                request.env.insert(name.into(), value.into());
            }
            request.stdin = Stdio::Piped;
        });
        let mut running = match started {
            Ok(running) => running,
            Err(CommandError::Start(ProgramStartError::Spawn(SpawnError::Confinement {
                reason,
                ..
            }))) => return Ok(Err(reason)),
            Err(error) => return Err(LearningError::why(in_words(&error))),
        };
        if let Some(why) = running.program().unobserved() {
            return Err(LearningError::why(format!("it cannot be watched: {why}")));
        }
        let ProgramStreams {
            stdin,
            stdout,
            stderr,
        } = std::mem::take(&mut running.program_mut().streams);
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, stderr) else {
            return Err(LearningError::why("it has no standard streams"));
        };
        let words = thread::Builder::new()
            .name("jig-import".to_owned())
            .spawn(move || tail(stderr))
            .map_err(LearningError::why)?;
        let lines = ServerOutputLines::of(stdout).map_err(LearningError::why)?;
        let is_over = || self.cancel.is_cancelled();
        let tools = tool_listing::tools(stdin, &lines, subject.limit, &is_over);
        // A server that is done with its input ends by itself.
        let child = running.program().child();
        if !matches!(child.wait_timeout(PATIENCE), Ok(Some(_))) {
            child.end(GRACE).map_err(LearningError::why)?;
        }
        drop(lines);
        let (outcome, how) = match &tools {
            _ if is_over() => ("cancelled", "it was given up".to_owned()),
            Ok(count) => ("ok", format!("it has {count} tools")),
            // What it says may hold one of its secrets.
            Err(_) => ("error", "it did not say which tools it has".to_owned()),
        };
        let run = running.end(outcome, how);
        let tail = words.join().unwrap_or_default();
        if is_over() {
            return Err(LearningError::Interrupted);
        }
        Ok(Ok(LearnRunEnd {
            run: run.map_err(explained)?,
            tools,
            tail,
        }))
    }
}

/// How a run ended.
struct LearnRunEnd {
    run: ObservedRun,
    /// How many tools it has, or why that is not known.
    tools: Result<usize, String>,
    /// The end of what it said on its standard error.
    tail: String,
}

/// What is added for a proposal.
fn added(proposal: &Proposal, subject: &Subject<'_>) -> Additions {
    super::access::joined(proposal.additions(), subject.named)
}

fn explained(error: LearnError) -> LearningError {
    LearningError::why(in_words(&error))
}

/// An error with its causes, as a clause.
fn in_words(error: &dyn std::error::Error) -> String {
    let mut why = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        why = format!("{why}: {cause}");
        source = cause.source();
    }
    why
}

/// The end of what comes.
fn tail(mut reader: impl Read) -> String {
    let mut kept = VecDeque::new();
    let mut chunk = [0; 4096];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => kept.extend(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let over = kept.len().saturating_sub(MOST_TAIL);
        kept.drain(..over);
    }
    String::from_utf8_lossy(kept.make_contiguous())
        .trim()
        .to_owned()
}

/// The tool that a server is for as long as it is watched.
pub const TOOL: &str = "jig_import_trial";

/// As `jig suggest` groups paths by default.
const WIDTH: usize = 4;

/// How often the start of the first run is tried.
const MOST_STARTS: usize = 3;

/// How often a server is tried: each time it may get as far as to what it lacks next.
const MOST_ROUNDS: usize = 4;

/// How long a server may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(2);

/// From asking a server to end to killing it.
const GRACE: Duration = Duration::from_secs(2);

/// How much of what a server says is kept.
const MOST_TAIL: usize = 1024;

/// How much of what is not proposed is told.
const MOST_WITHHELD: usize = 10;
