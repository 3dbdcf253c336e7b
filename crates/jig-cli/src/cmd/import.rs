//! `jig import`: the MCP servers of a client, as servers of jig.
//!
//! The client's files are only read. What would be written is shown, and written with `--write`. A server that a
//! file of the workspace names is a stranger's as far as jig knows: it is not run before a person has said so.

mod needs;
mod report;

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_clients::file::{CopyName, SettingsFile};
use jig_clients::import::declared::{Context, Scope, SourceFile};
use jig_clients::import::entry::{Declared, Imported, Left, Reach};
use jig_clients::import::text::is_variable;
use jig_clients::{
    import::secret::Secrets,
    import::{block, declared, entry, name, text},
};
use jig_config::{Additions, Config, Edit, Problem, Reach as Reached, Sources};
use jig_mcp::Servers;
use jig_project::{Environment, Project, accepted, engines, locate};
use jig_proto::{ProjectPath, hint};

use self::report::Report;
use crate::args::{Global, ImportArgs};
use crate::exit::Done;
use crate::output::{Output, remark};

pub(crate) fn run(args: &ImportArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let env = Environment::of_this_process();
    let root = locate::root(global.workspace.as_deref())?;
    let project = Project::load_at(root.clone(), &global.selection(), &[])?;
    let target = Target::new(args, global, &root, &env)?;
    let files = declared::find(args.client, args.file.as_deref(), args.global, &root, &env)?;
    if files.iter().all(|file| file.servers.is_empty()) {
        let looked: Vec<String> = files
            .iter()
            .map(|file| format!("`{}`", file.shown))
            .collect();
        let hint = hint!("--file names another file");
        let title = args.client.client().title();
        let what = format!("{title} has no servers in {}", looked.join(", "));
        return Err(anyhow!(hint).context(what));
    }
    let mut secrets = Secrets::default();
    let mut items = converted(args, &files, &root, &env, project.config(), &mut secrets);
    if items.is_empty() {
        let names = files.iter().flat_map(|file| &file.servers);
        let names: Vec<String> = names.map(|(name, _)| entry::short(name)).collect();
        let hint = hint!("there are {}", names.join(", "));
        return Err(anyhow!(hint).context("no server has the name that --only wants"));
    }
    let import = Import {
        args,
        root: &root,
        env: &env,
        target: &target,
        is_json: out.is_json(),
    };
    if import.find_access(&mut items)?.is_none() {
        return Err(anyhow!("interrupted: nothing was written"));
    }
    let change = import.change(&mut items)?;
    let mut report = Report {
        client: args.client,
        files: &files,
        items: &items,
        secrets: &secrets,
        target: &target,
        change: change.as_ref(),
        is_global: args.global,
        written: None,
    };
    if let Some(change) = change.as_ref().filter(|_| args.write) {
        let backup = target.file.write(&change.after, CopyName::Dated)?;
        let made = import.make(&items);
        let accepted = match args.global {
            true => Ok(Vec::new()),
            false => accept(&items, change, &root, global, &env),
        };
        report.written = Some(report::Written {
            backup,
            made,
            accepted,
        });
    }
    report.print(out)?;
    Ok(Done::Ok)
}

/// The file of jig that the servers go into.
struct Target {
    file: SettingsFile,
    path: Utf8PathBuf,
    sources: Sources,
}

impl Target {
    fn new(
        args: &ImportArgs,
        global: &Global,
        root: &Utf8Path,
        env: &Environment,
    ) -> anyhow::Result<Self> {
        let sources = Sources {
            lint: false,
            files: global.config.clone(),
            sets: global.set.clone(),
            ..Sources::from_environment(root)
        };
        let (file, path) = match (args.global, &sources.user_config) {
            (false, _) => (SettingsFile::of_project(root, FILE, env)?, root.join(FILE)),
            (true, Some(path)) => (SettingsFile::of_user(path, env)?, path.clone()),
            (true, None) => {
                return Err(anyhow!(
                    "there is no home folder, so there is no configuration of a user"
                ));
            }
        };
        Ok(Self {
            file,
            path,
            sources,
        })
    }
}

/// A server of the client, and what becomes of it.
struct Item {
    /// Its name at the client.
    original: String,
    /// The file that it comes from, as people are shown it.
    from: String,
    fate: Fate,
}

/// What becomes of a server.
enum Fate {
    /// It is added.
    New(Box<Imported>, Access),
    /// jig has the very same.
    Present(String),
    /// It is not taken over, and why.
    Left(String),
}

/// What a server may do, and how that is known.
#[derive(Default)]
struct Access {
    additions: Additions,
    /// Directories that must be there.
    make: Vec<ProjectPath>,
    how: How,
    /// What it wanted and is not proposed.
    withheld: Vec<String>,
}

/// How it is known what a server needs.
#[derive(Default)]
enum How {
    /// It has no program here.
    #[default]
    Remote,
    /// It was run, and has so many tools.
    Learned(usize),
    /// From its command, because of this; and what it said at the end if it was run.
    Guessed(String, String),
}

/// What becomes of the file.
struct Change {
    after: String,
    /// The configuration with it.
    config: Config,
    /// What `jig config check` says about it that it did not say before.
    warnings: Vec<Problem>,
}

/// Turns the servers of a client into those of jig.
fn converted(
    args: &ImportArgs,
    files: &[SourceFile],
    root: &Utf8Path,
    env: &Environment,
    config: &Config,
    secrets: &mut Secrets,
) -> Vec<Item> {
    let home = env.path("HOME");
    let mut items: Vec<Item> = Vec::new();
    let mut taken = BTreeSet::new();
    for file in files {
        let context = Context {
            client: args.client,
            root,
            home: home.as_deref(),
            inputs: &file.inputs,
        };
        for (original, value) in &file.servers {
            if !args.only.is_empty() && !args.only.contains(original) {
                continue;
            }
            let preferred = items.iter().find(|item| item.original == *original);
            let fate = match preferred {
                Some(other) => Fate::Left(format!(
                    "`{}` has one of the same name, which counts",
                    other.from
                )),
                None => {
                    let declared = Declared {
                        original,
                        name: name::fit(original, &taken),
                        value,
                        from: &file.shown,
                        scope: file.scope,
                        is_off: file.off.contains(original),
                        names_in: &|path| names_in(path, file.scope, root, env),
                    };
                    taken.insert(declared.name.clone());
                    match entry::convert(&declared, &context, secrets) {
                        Ok(imported) => Fate::New(Box::new(imported), Access::default()),
                        Err(Left::Itself) => Fate::Left("it is jig".to_owned()),
                        Err(Left::Unfit(why)) => Fate::Left(why),
                    }
                }
            };
            items.push(Item {
                original: original.clone(),
                from: file.shown.clone(),
                fate,
            });
        }
    }
    // All secrets are known only now, and one may stand where nobody looked for it.
    let all = items.into_iter().map(|mut item| {
        if let Fate::New(mut imported, _) = item.fate {
            imported.hide(secrets);
            item.fate = met(imported, config);
        }
        item
    });
    all.collect()
}

/// What becomes of a server that can be taken over: jig may have one of its name.
fn met(imported: Box<Imported>, config: &Config) -> Fate {
    match config.server(&imported.name) {
        None => Fate::New(imported, Access::default()),
        Some(known) if is_same(known, &imported) => Fate::Present(imported.name),
        Some(known) => {
            let at = known.declared_at();
            let name = &imported.name;
            Fate::Left(format!(
                "jig has another server `{name}`, declared in {at}: give one of them another name"
            ))
        }
    }
}

/// Whether a server of jig is this one, whatever it may do.
fn is_same(known: &jig_config::Server, imported: &Imported) -> bool {
    let pairs = |pairs: &[(String, text::Text)]| -> BTreeSet<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.written()))
            .collect()
    };
    match (&known.reach, &imported.reach) {
        (Reached::Program { command: words, .. }, Reach::Program { command, env, .. }) => {
            let known_env = known.env.iter();
            let known_env = known_env.map(|(name, value)| (name.clone(), value.to_string()));
            let words = words.iter().map(ToString::to_string);
            words.eq(command.iter().map(text::Text::written)) && pairs(env) == known_env.collect()
        }
        (
            Reached::Remote {
                url: at,
                headers: said,
            },
            Reach::Remote { url, headers },
        ) => {
            let said = said
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()));
            at.to_string() == url.written() && pairs(headers) == said.collect()
        }
        _ => false,
    }
}

/// The names of the variables that a file sets, line by line.
fn names_in(
    path: &str,
    scope: Scope,
    root: &Utf8Path,
    env: &Environment,
) -> Result<Vec<String>, String> {
    let full = root.join(path);
    let file = match full.strip_prefix(root) {
        Ok(inside) => SettingsFile::of_project(root, inside.as_str(), env),
        // A file of the workspace must not have jig read files elsewhere.
        Err(_) if scope == Scope::Project => return Err("it leads out of the workspace".to_owned()),
        Err(_) => SettingsFile::of_user(&full, env),
    };
    let text = file.map_err(|error| error.to_string())?.text;
    let text = text.ok_or_else(|| "it is not there".to_owned())?;
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let name = line.split_once('=').map(|(name, _)| name.trim());
        if let Some(name) = name.filter(|name| is_variable(name))
            && !names.iter().any(|other| other == name)
        {
            names.push(name.to_owned());
        }
        if names.len() > MOST_NAMES {
            return Err(format!("it sets more than {MOST_NAMES} variables"));
        }
    }
    Ok(names)
}

/// An import under way.
struct Import<'a> {
    args: &'a ImportArgs,
    root: &'a Utf8Path,
    env: &'a Environment,
    target: &'a Target,
    is_json: bool,
}

impl Import<'_> {
    /// What becomes of the file; `None` if nothing does. A server that the configuration cannot have is left out.
    fn change(&self, items: &mut [Item]) -> anyhow::Result<Option<Change>> {
        let before = self.target.file.text.as_deref().unwrap_or_default();
        let mut blocks: Vec<String> = Vec::new();
        for item in items.iter_mut() {
            let Fate::New(imported, access) = &item.fate else {
                continue;
            };
            blocks.push(block::of(imported, &access.additions));
            if let Err(why) = self.checked(before, &blocks) {
                blocks.pop();
                item.fate = Fate::Left(why);
            }
        }
        if blocks.is_empty() {
            return Ok(None);
        }
        let shown = &self.target.file.shown;
        let after = block::appended(before, &blocks).with_context(|| by_hand(shown))?;
        let sources = Sources {
            lint: true,
            ..self.target.sources.clone()
        };
        let loaded = Edit::new(Some(&after))?.check(&sources, &self.target.path)?;
        let was =
            Edit::new(self.target.file.text.as_deref())?.check(&sources, &self.target.path)?;
        let is_known = |warning: &Problem| {
            was.warnings
                .iter()
                .any(|other| other.message() == warning.message())
        };
        let warnings = loaded
            .warnings
            .into_iter()
            .filter(|warning| !is_known(warning))
            .collect();
        Ok(Some(Change {
            after,
            config: loaded.config,
            warnings,
        }))
    }

    /// Why a configuration with these entries is none.
    fn checked(&self, before: &str, blocks: &[String]) -> Result<(), String> {
        let after =
            block::appended(before, blocks).ok_or_else(|| by_hand(&self.target.file.shown))?;
        let edit = Edit::new(Some(&after)).map_err(|error| error.to_string())?;
        match edit.check(&self.target.sources, &self.target.path) {
            Ok(_) => Ok(()),
            Err(errors) => {
                let first = errors
                    .problems()
                    .first()
                    .map(|problem| problem.message().to_owned());
                Err(format!("jig cannot have it: {}", first.unwrap_or_default()))
            }
        }
    }

    /// Makes the directories that rules speak of.
    fn make(&self, items: &[Item]) -> Vec<ProjectPath> {
        let wanted = items.iter().flat_map(|item| match &item.fate {
            Fate::New(_, access) => access.make.as_slice(),
            _ => &[],
        });
        let mut made = Vec::new();
        for path in wanted {
            if !made.contains(path) && create(&path.under(self.root)) {
                made.push(path.clone());
            }
        }
        made
    }
}

/// Accepts the servers that were written, in this workspace. An entry that is another by now is not what was
/// shown.
fn accept(
    items: &[Item],
    change: &Change,
    root: &Utf8Path,
    global: &Global,
    env: &Environment,
) -> Result<Vec<String>, String> {
    let told = |error: anyhow::Error| format!("{error:#}");
    let project = Project::load_at(root.to_owned(), &global.selection(), &[]).map_err(told)?;
    let servers = Servers::new(accepted::of(root, env), Arc::new(remark));
    let config = Arc::new(project.config().clone());
    servers.attach(Arc::new(
        engines::for_config(root, config, env).map_err(told)?,
    ));
    let mut accepted = Vec::new();
    for item in items {
        let Fate::New(imported, _) = &item.fate else {
            continue;
        };
        let name = imported.name.as_str();
        let (shown, now) = (change.config.server(name), project.config().server(name));
        match (shown, now) {
            (Some(shown), Some(now)) if shown.fingerprint() == now.fingerprint() => {
                if now.needs_acceptance() {
                    servers.accept_server(name)?;
                }
                accepted.push(name.to_owned());
            }
            _ => {
                return Err(format!(
                    "`{name}` was changed by somebody else in the meantime"
                ));
            }
        }
    }
    Ok(accepted)
}

fn by_hand(shown: &Utf8Path) -> String {
    format!(
        "`{shown}` is written in a way to which no server can be added without changing something else: add it by hand"
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user asked for it, in a workspace in which nothing runs"
)]
fn create(path: &Utf8Path) -> bool {
    std::fs::create_dir(path).is_ok()
}

/// The file of the workspace that servers are written to.
const FILE: &str = "jig.toml";

/// How many variables a file sets at most.
const MOST_NAMES: usize = 200;
