//! What a command needs, learned from runs that are watched, and the file that it is written to.

mod trial;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{AddedNet, Additions, ConfigEdit, RuntimeKind, Sources, WORKSPACE_FILES};
use jig_engine::{Engine, LearnError, Learner, Proposal, warning_clause};
use jig_proto::hint;
use jig_sandbox::Exit;

use crate::accepted::{accept_written, nothing_beside_it};
use crate::{CommandEnvironment, Project, Selection, engines, hosts, locate, remark};

pub use trial::{SuggestTrial, TrialEnd, TrialOutcome};

/// Whether the proposed rules are enough for the command.
pub enum RulesSufficiency {
    /// They are.
    Yes,
    /// It failed under them, like this.
    No(Box<TrialEnd>),
    /// Somebody pressed ctrl-C.
    Interrupted(Exit),
}

/// What is learned, for which tool, and in which file it belongs.
pub struct Lesson {
    selection: Selection,
    root: Utf8PathBuf,
    sources: Sources,
    /// The file that the rules belong in.
    file: Utf8PathBuf,
    text: Option<String>,
    /// The tool that gets them.
    pub tool: String,
    /// What the tool gets whatever is learned: its command, if it is new, and the hosts that were named.
    pub additions: Additions,
    /// Where the command runs.
    pub cwd: Utf8PathBuf,
    /// Whether the rules were written.
    pub is_written: bool,
}

impl Lesson {
    /// Of a command, for the tool of this name, or for a new one. It may reach these hosts, as people write them.
    pub fn new(
        named: Option<&str>,
        command: &[String],
        net: &[String],
        selection: &Selection,
    ) -> anyhow::Result<Self> {
        let root = locate::root(selection.workspace.as_deref())?;
        let project = Project::load_at(root.clone(), selection, &[])?;
        let tool = match named {
            Some(tool) => tool.to_owned(),
            None => free_name(&project, command),
        };
        let mut file = root.join("jig.toml");
        let mut additions = Additions::default();
        match project.config().tool(&tool) {
            Some(known) if known.runtime != RuntimeKind::Stdio => bail!(
                "the tool `{tool}` has the runtime `{}`, and what a command needs is learned for tools of \
                 the runtime `stdio`",
                known.runtime.name()
            ),
            Some(known) => {
                // Rules stand with the tool, if that is a file of the workspace.
                let declared = known.declared_at().file().map(Utf8Path::to_owned);
                let own = |path: &Utf8PathBuf| {
                    WORKSPACE_FILES.iter().any(|name| root.join(name) == *path)
                };
                file = declared.filter(own).unwrap_or(file);
            }
            None => additions.command = Some(as_tool(command, &root)?),
        }
        for text in net {
            let host = hosts::parse(text)?;
            additions.net.push(AddedNet {
                host: host.host.to_owned(),
                scheme: host.scheme.map(str::to_owned),
                port: host.port,
                path_prefix: host.path.map(str::to_owned),
                comment: vec![format!("named by --net {text}")],
            });
        }
        let shown = file.strip_prefix(&root).unwrap_or(&file);
        let text = jig_config::read_config(&file, shown.as_str())?;
        if project.config().held_back.is_some() {
            return Err(nothing_beside_it());
        }
        // All that stands there is in force, and what is added is the person's.
        let sources = Sources {
            lint: false,
            files: selection.files.clone(),
            sets: selection.sets.clone(),
            ..Sources::from_environment(root.clone())
        };
        let current = locate::current()?;
        let cwd = match named {
            // A tool starts at the top of the workspace.
            Some(_) => root.clone(),
            None => Some(current)
                .filter(|it| it.starts_with(&root))
                .unwrap_or(root.clone()),
        };
        Ok(Self {
            selection: selection.clone(),
            root,
            sources,
            file,
            text,
            tool,
            additions,
            cwd,
            is_written: false,
        })
    }

    /// The file as it would be with these additions.
    fn edit(&self, additions: &Additions) -> anyhow::Result<ConfigEdit> {
        let shown = self.file.strip_prefix(&self.root).unwrap_or(&self.file);
        let failed = || format!("`{shown}` cannot be changed");
        let mut edit = ConfigEdit::new(self.text.as_deref()).with_context(failed)?;
        edit.add(&self.tool, additions).with_context(failed)?;
        Ok(edit)
    }

    /// An engine for the configuration as it would be with these additions. Nothing is written.
    pub fn engine(&self, additions: &Additions) -> anyhow::Result<Engine> {
        let loaded = self.edit(additions)?.check(&self.sources, &self.file)?;
        let project = Project::new(self.root.clone(), loaded);
        engines::for_a_person(&project, &CommandEnvironment::of_this_process())
    }

    /// What is added for a proposal.
    pub fn added(&self, proposal: &Proposal) -> Additions {
        Additions {
            command: self.additions.command.clone(),
            net: self.additions.net.clone(),
            ..proposal.additions()
        }
    }

    /// The proposal, without the paths that `jig config check` would warn of: what a person should think about
    /// is not proposed silently.
    pub fn vetted(&self, learner: &mut Learner) -> anyhow::Result<Proposal> {
        let sources = Sources {
            lint: true,
            ..self.sources.clone()
        };
        loop {
            let proposal = learner.proposal();
            let edit = self.edit(&self.added(&proposal))?;
            let loaded = edit.check(&sources, &self.file)?;
            let mut is_fine = true;
            for added in &proposal.system {
                let about = format!("the tool `{}` may read `{}`, ", self.tool, added.path);
                let mut warnings = loaded.warnings.iter();
                let why = warnings.find_map(|warning| warning.message().strip_prefix(&about));
                if let Some(why) = why {
                    learner.refuse(&added.path, &warning_clause(why));
                    is_fine = false;
                }
            }
            if is_fine {
                return Ok(proposal);
            }
        }
    }

    /// Runs the command under what is proposed, and learns from what it still lacks.
    pub fn tried(
        &self,
        learner: &mut Learner,
        trial: &SuggestTrial,
    ) -> anyhow::Result<(Proposal, RulesSufficiency)> {
        remark("jig: trying it under the proposed rules, on a new layer");
        let mut rounds = 0;
        loop {
            let proposal = self.vetted(learner)?;
            let engine = self.engine(&self.added(&proposal))?;
            let rehearsal = learner.confined(&engine, &self.tool).map_err(explained)?;
            let ended = match trial.confined(rehearsal)? {
                Ok(ended) => ended,
                // Some rules can only be held where changes are allowed altogether.
                Err(_) if learner.widen_changes() => continue,
                Err(unheld) => return Err(unheld),
            };
            if ended.interrupted {
                return Ok((proposal, RulesSufficiency::Interrupted(ended.exit)));
            }
            if ended.exit.is_success() {
                return Ok((proposal, RulesSufficiency::Yes));
            }
            rounds += 1;
            learner.saw_failing(ended.run.clone());
            let is_wider = !learner.proposal().grants_as(&proposal) && rounds < MOST_ROUNDS;
            if !is_wider && !learner.widen() {
                return Ok((proposal, RulesSufficiency::No(Box::new(ended))));
            }
            remark("jig: that was not enough; trying it with what it lacked");
        }
    }

    /// Writes the rules, and makes the directories that they speak of.
    pub fn write(&mut self, proposal: &Proposal) -> anyhow::Result<()> {
        let additions = self.added(proposal);
        let mut edit = ConfigEdit::new(self.text.as_deref())?;
        if additions != Additions::default() {
            edit = self.edit(&additions)?;
        }
        edit.check(&self.sources, &self.file)?;
        let shown = self.file.strip_prefix(&self.root).unwrap_or(&self.file);
        if edit.is_changed() {
            accept_written(&self.selection, &self.root, &self.file, &edit.to_string())?;
            edit.save(&self.file)?;
            remark(&format!(
                "jig: the tool `{}` in `{shown}` has these rules now",
                self.tool
            ));
        } else {
            remark(&format!(
                "jig: the tool `{}` in `{shown}` has these rules already",
                self.tool
            ));
        }
        for path in &proposal.make {
            make(&path.under(&self.root)).with_context(|| format!("cannot make `{path}`"))?;
            remark(&format!("jig: made the directory `{path}`"));
        }
        self.is_written = true;
        Ok(())
    }
}

/// Has a command watched until it ends, with more of the home if it fails without. Says how it ended, and whether
/// somebody pressed ctrl-C.
pub fn watched(
    learner: &mut Learner,
    engine: &Engine,
    trial: &SuggestTrial,
) -> anyhow::Result<(Exit, bool)> {
    let mut starts = 1;
    loop {
        let rehearsal = learner.wide(engine).map_err(explained)?;
        let ended = match trial.watched(rehearsal)? {
            Ok(ended) => ended,
            // What is to be hidden may be gone by the time at which it is: sockets come and go.
            Err(_) if starts < MOST_STARTS => {
                starts += 1;
                continue;
            }
            Err(unheld) => return Err(unheld),
        };
        learner.saw(ended.run);
        if ended.interrupted {
            return Ok((ended.exit, true));
        }
        // A command that works without what it looked for in the home does not need it.
        if ended.exit.is_success() || !learner.show_more_of_home() {
            return Ok((ended.exit, false));
        }
        remark("jig: it failed, and looked for files of your home; watching it with them");
    }
}

/// A command as it is started: a path is meant from where it runs.
pub fn started(command: &[String]) -> anyhow::Result<Vec<String>> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut()
        && program.contains('/')
    {
        *program = locate::current()?.join(&*program).into_string();
    }
    Ok(command)
}

/// The name of a new tool for a command: that of its program, if no tool has it.
fn free_name(project: &Project, command: &[String]) -> String {
    let program = command.first().map(String::as_str).unwrap_or_default();
    let name = Utf8Path::new(program).file_stem().unwrap_or("command");
    let letters = name.chars().take(LONGEST_NAME);
    let letters = letters.map(|c| match c.is_ascii_alphanumeric() {
        true => c,
        false => '_',
    });
    let name: String = letters.collect();
    match project.config().tool(&name) {
        Some(_) => format!("{name}_command"),
        None => name,
    }
}

/// A command as a tool starts it: a path in the workspace is meant from its top.
fn as_tool(command: &[String], root: &Utf8Path) -> anyhow::Result<Vec<String>> {
    let mut command = command.to_vec();
    if let Some(program) = command.first_mut()
        && program.contains('/')
    {
        let path = locate::current()?.join(&*program);
        let path: Utf8PathBuf = path
            .components()
            .filter(|part| part.as_str() != ".")
            .collect();
        *program = match path.strip_prefix(root) {
            Ok(inside) => format!("./{inside}"),
            Err(_) => path.into_string(),
        };
    }
    Ok(command)
}

/// An error of learning, with what to do about it.
pub fn explained(error: LearnError) -> anyhow::Error {
    let hint = match &error {
        LearnError::NoState => hint!("set HOME or XDG_STATE_HOME"),
        LearnError::Layer { .. } => {
            hint!(
                "the workspace must not hold the directory of jig's state: set XDG_STATE_HOME to one \
             elsewhere; nothing was run"
            )
        }
        _ => return error.into(),
    };
    anyhow!(hint).context(error)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user asked for it, in a workspace in which nothing runs"
)]
fn make(path: &Utf8Path) -> std::io::Result<()> {
    match std::fs::create_dir(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

/// How often the start of the first run is tried.
const MOST_STARTS: usize = 3;

/// Room is left for what tells it from another.
const LONGEST_NAME: usize = 50;

/// How often a command is tried: each time it may get as far as to what it lacks next.
const MOST_ROUNDS: usize = 4;
