//! Starting the program of a tool: its words filled in, its call delivered, its reach confined.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use jig_broker::{
    CommandedProgram, ConfineError, Confined, Discover, ProgramReach, ProgramStart, RunningProgram,
};
use jig_proto::vfs::ToolInput;
use jig_proto::{Hint, hint};
use jig_pty::Pty;
use jig_sandbox::{
    PathRule, PrivateContent, PrivateFile, Profile, Program, ProgramEnvironment, Rights,
    RuleSource, SpawnRequest, Tier, assess, minimal_environment, probe,
};
use serde_json::{Value, json};
use tempfile::NamedTempFile;

use crate::template::Values;
use crate::{Delivery, Plan, StartError};

/// The program of a tool, which runs.
pub(crate) struct LaunchedProgram {
    pub(crate) program: RunningProgram,
    /// The warnings of its plan and of its confinement.
    pub(crate) warnings: Vec<String>,
    /// The host's end of its terminal, if it has one.
    pub(crate) terminal: Option<Pty>,
}

/// What is to be said of such ports, after the name of who listens, and what can be done.
pub fn unreached_in_words(ports: &[u16]) -> (String, Hint) {
    let shown: Vec<String> = ports.iter().take(MOST_PORTS).map(u16::to_string).collect();
    let noun = if shown.len() == 1 { "port" } else { "ports" };
    let told = format!(
        "listens on {noun} {} of a network of its own: nothing outside of its sandbox can connect to it",
        shown.join(", ")
    );
    let hint = hint!(
        "to serve your browser, start it without jig; to serve a program, start both in one command: \
         sh -c 'SERVER & CLIENT'"
    );
    (told, hint)
}

/// Starts the program of a plan for a call, confined unless the plan's broker says that nothing is, and
/// watched if `observe` or the broker's settings say so. `prepare` sets what only a runtime knows.
pub(crate) fn launch(
    plan: &Plan,
    input: &ToolInput,
    reach: ProgramReach,
    observe: bool,
    prepare: impl FnOnce(&mut SpawnRequest),
) -> Result<LaunchedProgram, StartError> {
    let command = plan.command.as_ref().ok_or(StartError::NoCommand)?;
    let values = Values::new(input, &plan.context, plan.stateful, None);
    let program = command.program(&values)?;
    let literals = command.literals();
    let first = literals.first().and_then(|word| word.to_str());
    let commanded = CommandedProgram {
        program: program.clone().into(),
        toolchain: first.filter(|word| word.starts_with('+')).map(Into::into),
        literals,
        overlays: plan.overlays.clone(),
        observe,
        discover: Discover::OfProgram,
        ..CommandedProgram::default()
    };
    let mut confined = match plan.broker.confine(&commanded, command.root(), reach) {
        Ok(confined) => Some(confined),
        Err(ConfineError::NoSettings) => None,
        Err(error) => return Err(StartError::Confine(error)),
    };
    if let Some(confined) = &mut confined
        && reach == ProgramReach::Workspace
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
    let mut start = match confined {
        Some(confined) => ProgramStart::confined(confined, command.root()),
        None => {
            let mut request = SpawnRequest::new(Program::parse(program)?, command.root());
            request.env = minimal_environment(&command.home);
            request.limits = plan.limits.tree;
            ProgramStart::unconfined(request, command.root())
        }
    };
    start.kept = file.map(|file| Box::new(file) as _);
    let name = path.as_ref().map(|path| path.to_string_lossy());
    let values = Values::new(input, &plan.context, plan.stateful, name.as_deref());
    let args = command.arguments(&values)?;
    start.request.args = args.into_iter().map(Into::into).collect();
    if let Some(path) = &path {
        start.request.env.insert(INPUT_VARIABLE.into(), path.into());
    }
    keep_secret(plan, &start.request.env);
    prepare(&mut start.request);
    let program = plan.broker.start(start)?;
    let mut warnings = plan.warnings.clone();
    warnings.extend(program.warnings());
    Ok(LaunchedProgram {
        program,
        warnings,
        terminal: None,
    })
}

/// Has the values of the host's variables that rules grant to the program left out of what it says: they
/// are for its use, not for transcripts.
fn keep_secret(plan: &Plan, env: &ProgramEnvironment) {
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

/// How many ports are named.
const MOST_PORTS: usize = 5;

/// The variable that names the call as a file.
const INPUT_VARIABLE: &str = "JIG_INPUT";

/// The name of that file in the home of a confined program.
const INPUT_FILE: &str = ".jig-input.json";
