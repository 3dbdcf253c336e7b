//! What each server needs: from a run that is watched, or from its command.

use std::time::Duration;

use jig_broker::CancelToken;
use jig_policy::Sensitive;
use jig_project::remark;

use super::access;
use super::change::ImportRun;
use super::conversion::{AccessEvidence, ImportItem, ImportOutcome, ImportedAccess};
use super::declared::ClientFileScope;
use super::filled_text::ImportText;
use super::imported_server::{EntryReach, ImportedServer};
use super::learn::{LearningError, Subject, Teacher};

impl ImportRun<'_> {
    /// Finds out what each new server needs. `None` if it was given up: the first token asks for that, the second ends
    /// a server that runs.
    pub fn find_access(
        &self,
        items: &mut [ImportItem],
        (cancel, kill): (&CancelToken, &CancelToken),
    ) -> anyhow::Result<Option<()>> {
        let teacher = self.teacher(cancel, kill);
        let sensitive = teacher.sensitive()?;
        for item in items {
            if let ImportOutcome::New(imported, access) = &mut item.fate {
                match self.access(imported, &teacher, &sensitive) {
                    Some(found) => *access = found,
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(()))
    }

    /// What a server needs. `None` if somebody pressed ctrl-C.
    fn access(
        &self,
        imported: &mut ImportedServer,
        teacher: &Teacher<'_>,
        sensitive: &Sensitive,
    ) -> Option<ImportedAccess> {
        let EntryReach::Program { command, env, .. } = &imported.reach else {
            return Some(ImportedAccess::default());
        };
        let look = |name: &str| self.env.get(name).map(str::to_owned);
        let filled = FilledCommand::of(command, env, &look);
        let words = match &filled {
            Ok(filled) => filled.command.clone(),
            // What is missing may be anywhere; the rest still says something.
            Err(_) => {
                let words = command.iter();
                words
                    .map(|word| word.filled(&look).unwrap_or_default())
                    .collect()
            }
        };
        let home = self.env.path("HOME");
        let mut named = access::of_command(&words, self.root, home.as_deref(), sensitive);
        named.additions.system.retain(|added| {
            let objection = teacher.objection(added);
            if let Some(why) = &objection {
                let path = &added.path;
                named.notes.push(format!(
                    "`{path}`, an argument of its command, is not shown to it: {why}"
                ));
            }
            objection.is_none()
        });
        imported.notes.append(&mut named.notes);
        if !named.additions.net.is_empty() {
            // It downloads at its start, at every one.
            imported.start.get_or_insert(LONGEST_START.as_secs());
        }
        let guessed = |why: &str, tail: String| ImportedAccess {
            additions: access::guessed(&named.additions),
            how: AccessEvidence::Guessed(why.to_owned(), tail),
            ..ImportedAccess::default()
        };
        let is_stranger = imported.scope == ClientFileScope::Project;
        let why_not = match &filled {
            _ if self.no_suggest => Some("--no-suggest".to_owned()),
            _ if !imported.enable => Some("it is switched off".to_owned()),
            _ if is_stranger && !self.may_run_strangers => {
                Some("a file of the workspace names it; --suggest runs it all the same".to_owned())
            }
            Err(variable) => Some(format!("the variable `{variable}` is not set")),
            Ok(_) => None,
        };
        let filled = match (filled, why_not) {
            (Ok(filled), None) => filled,
            (_, why) => return Some(guessed(&why.unwrap_or_default(), String::new())),
        };
        remark(&format!(
            "jig: starting `{}` to see what it needs; nothing that it does stays",
            imported.name
        ));
        let mut given = named.additions.clone();
        if is_stranger {
            // It sees much of the machine, so that it must not reach any host with it.
            given.net.clear();
        }
        let start = imported.start.map_or(START, Duration::from_secs);
        let learned = teacher.learn(&Subject {
            name: &imported.name,
            command: &filled.command,
            env: &filled.env,
            named: &given,
            limit: start.min(LONGEST_START),
            is_stranger,
        });
        match learned {
            Ok(mut learned) => {
                learned.additions.net.clone_from(&named.additions.net);
                Some(ImportedAccess {
                    additions: learned.additions,
                    make: learned.make,
                    how: AccessEvidence::Learned(learned.tools),
                    withheld: learned.withheld,
                })
            }
            Err(LearningError::Interrupted) => None,
            Err(LearningError::Why(why, tail)) => {
                // It was given the values of variables, and may have repeated them.
                let texts = command.iter().chain(env.iter().map(|(_, value)| value));
                let values = texts.flat_map(ImportText::variables).filter_map(&look);
                let values = values.filter(|value| value.len() >= LEAST_HIDDEN);
                let tail = values.fold(tail, |tail, value| tail.replace(&value, "[secret]"));
                Some(guessed(&why, tail))
            }
        }
    }

    fn teacher<'t>(&'t self, cancel: &'t CancelToken, kill: &'t CancelToken) -> Teacher<'t> {
        Teacher {
            root: self.root,
            env: self.env,
            sources: &self.target.sources,
            file: &self.target.path,
            text: self.target.file.text.as_deref(),
            cancel,
            kill,
        }
    }
}

/// A server's texts with everything filled in.
struct FilledCommand {
    command: Vec<String>,
    env: Vec<(String, String)>,
}

impl FilledCommand {
    /// The error is the name of a variable that is not set.
    fn of(
        command: &[ImportText],
        env: &[(String, ImportText)],
        look: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, String> {
        let command: Result<Vec<String>, &str> =
            command.iter().map(|word| word.filled(look)).collect();
        let env: Result<Vec<(String, String)>, &str> = env
            .iter()
            .map(|(name, value)| Ok((name.clone(), value.filled(look)?)))
            .collect();
        Ok(Self {
            command: command.map_err(str::to_owned)?,
            env: env.map_err(str::to_owned)?,
        })
    }
}

/// How long a server may take to start, unless its entry says so.
const START: Duration = Duration::from_secs(60);

/// However long a client would wait.
const LONGEST_START: Duration = Duration::from_secs(180);

/// Shorter values of variables are parts of ordinary words.
const LEAST_HIDDEN: usize = 4;
