//! The packages of a server that `npx -y` or `uvx` starts.
//!
//! They are downloaded before its first start, by a run of their own that reaches the registry and nothing of the
//! workspace, into a folder of the server's own. The server itself starts from there without the registry: who can
//! read a workspace and talk to a registry can publish the one in the other. What was downloaded is used until
//! somebody sets it aside, so that no other version starts unasked. A server may change what it finds there, which
//! nobody else uses, and never reaches a registry with: a folder is filled once, while it is empty.

mod registry;

use std::ffi::OsStr;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use jig_broker::{Broker, ConfineSettings, Preset, SystemAccess};
use jig_config::{Server, ServerReach, Tool};
use jig_files::{Shelf, ShelfFilling};
use jig_policy::{DeclaredAccess, DefaultAccess, FileCapabilities};
use jig_programs::{Download, Launcher};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, Denial};
use jig_runtime::{CommandLine, Plan, RunLimits, ServerMark, ServerPlan, ServerProcess};
use jig_sandbox::minimal_environment;
use serde_json::Map;

use self::registry::{Registry, UnusableRegistry};
use super::not_started;
use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::planning::plan::NO_HOME;
use crate::programs::confinement::tree_limits;

/// The packages of one server.
#[derive(Debug, Clone)]
pub struct Packages {
    download: Download,
    shelf: Shelf,
}

/// What a launcher needs besides the rules of a server, to start what was downloaded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PackagesAccess {
    /// Paths outside the workspace.
    pub system: Vec<SystemAccess>,
    /// Variables.
    pub env: Vec<(String, String)>,
    /// Words that stand before all arguments of the launcher.
    pub args: Vec<String>,
}

/// Packages that are being downloaded. Dropping it gives them up.
#[derive(Debug)]
pub struct Downloading {
    process: ServerProcess,
    filling: ShelfFilling,
    hosts: Vec<String>,
    what: String,
}

/// Why packages were not downloaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotDownloaded {
    /// In words.
    pub why: String,
    /// The end of what the launcher said, without secrets.
    pub last_words: String,
    /// What the download was refused, which may be the reason.
    pub denials: Vec<Denial>,
}

/// What is downloaded, for people.
impl fmt::Display for Packages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.download.packages.join(", "))
    }
}

impl Packages {
    pub(super) fn launcher(&self) -> Launcher {
        self.download.launcher
    }

    /// Whether they have to be downloaded first.
    pub fn are_missing(&self) -> bool {
        self.shelf.current().is_none()
    }

    /// Whether the command itself says where to download from, or by which program.
    pub fn are_particular(&self) -> bool {
        let mut program = self.download.command.iter().take(1);
        !self.download.registries.is_empty() || program.any(|program| program.contains('/'))
    }

    /// Has them downloaded anew before the next start.
    ///
    /// # Errors
    ///
    /// If the operating system does not let go of them.
    pub fn set_aside(&self) -> std::io::Result<()> {
        self.shelf.set_aside()
    }

    /// Takes those that were set aside back, unless there are others by now.
    pub fn take_back(&self) {
        self.shelf.take_back();
    }

    /// Takes those that were set aside back, also if there are others by now. Returns whether there are.
    pub fn put_back(&self) -> bool {
        self.shelf.put_back()
    }

    /// Removes them, with all that was ever kept in their place.
    pub fn remove(&self) {
        self.shelf.remove();
    }
}

impl Engine {
    /// The packages that have to be there before this server can start; `None` if it is none of those whose packages
    /// jig knows how to keep, or if its entry keeps them somewhere itself.
    pub fn packages(&self, server: &Server) -> Option<Packages> {
        let state = self.confine.state.as_deref().filter(|_| !self.unconfined)?;
        let download = server.download()?;
        if keeps_itself(&download, server.env.keys()) || self.is_of_workspace(&download) {
            return None;
        }
        let root = self.files.display_root();
        // The launcher finds what it has by where that came from.
        let given = server.env.iter();
        let given: Vec<(String, String)> = given
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect();
        let registry: Vec<String> = match self.registry(&download, &given) {
            Ok(registry) => registry
                .told()
                .map(|(name, url)| format!("{name}={url}"))
                .collect(),
            // Nothing will ever be there, and the download says why.
            Err(_) => vec![NO_REGISTRY.to_owned()],
        };
        // A server may have changed what it was given under the rules that it had. It gets no others with that.
        let fingerprint = server.fingerprint();
        let owner = [root.as_str(), server.name.as_str(), fingerprint.as_str()]
            .into_iter()
            .chain(registry.iter().map(String::as_str));
        Some(Packages {
            shelf: Shelf::of(state, FOLDER, owner),
            download,
        })
    }

    /// The same for a command that is no server yet. Nobody else will find what is downloaded for it.
    pub fn packages_of(&self, command: &[String], env: &[(String, String)]) -> Option<Packages> {
        let state = self.confine.state.as_deref().filter(|_| !self.unconfined)?;
        let download = Download::of(command)?;
        let names = env.iter().map(|(name, _)| name);
        if keeps_itself(&download, names) || self.is_of_workspace(&download) {
            return None;
        }
        Shelf::sweep(state, TRIALS);
        let id = std::process::id().to_string();
        let words = command.iter().map(String::as_str).chain([id.as_str()]);
        let shelf = Shelf::of(state, TRIALS, words);
        Some(Packages { download, shelf })
    }

    /// The package that `npx` would ask the registry for when this server starts, and that jig would download before
    /// if the command said `-y`; `None` if there is none.
    pub fn unasked_package(&self, server: &Server) -> Option<String> {
        let ServerReach::Program { command, .. } = &server.reach else {
            return None;
        };
        if self.unconfined || self.confine.state.is_none() {
            return None;
        }
        let words: Vec<String> = command.iter().map(ToString::to_string).collect();
        let download = agreed(&words)?;
        if keeps_itself(&download, server.env.keys()) || self.is_of_workspace(&download) {
            return None;
        }
        download.packages.into_iter().next()
    }

    /// Begins to download what a server needs.
    ///
    /// # Errors
    ///
    /// If a variable is missing, or the launcher cannot be started.
    pub fn download_packages(
        &self,
        packages: &Packages,
        server: &Server,
    ) -> Result<Downloading, CallError> {
        let Some(tool) = server.policy() else {
            return Err(CallError::Server {
                server: server.name.clone(),
                why: "it is reached by its URL, and not a program".to_owned(),
            });
        };
        let filled = self.fill_server(server)?;
        self.download(packages, tool, &filled.env, &filled.secrets)
    }

    /// Begins to download. `tool` says how programs are confined; of its rules only those on hosts count. Of `env`,
    /// only what is meant for the launcher does.
    ///
    /// # Errors
    ///
    /// If the launcher cannot be started.
    pub fn download(
        &self,
        packages: &Packages,
        tool: &Tool,
        env: &[(String, String)],
        secrets: &[String],
    ) -> Result<Downloading, CallError> {
        let failed = |why: String| CallError::Server {
            server: tool.name.to_string(),
            why,
        };
        let download = &packages.download;
        let registry = self.registry(download, env);
        let registry = registry.map_err(|unusable| failed(unusable.to_string()))?;
        let mut alone = tool.clone();
        let own = std::mem::take(&mut alone.access);
        alone.access = DeclaredAccess {
            net: registry.rules.iter().cloned().chain(own.net).collect(),
            ..DeclaredAccess::default()
        };
        alone.default_access = DefaultAccess {
            fs: FileCapabilities::NONE,
            ..DefaultAccess::STDIO
        };
        alone.sandbox.system.clear();
        alone.sandbox.presets.clear();
        // It looks for much that is not there. Which hosts it was refused is told all the same.
        alone.sandbox.observe = false;
        let filling = packages.shelf.fill();
        let filling = filling
            .map_err(|error| failed(format!("there is no folder for its packages: {error}")))?;
        if download.launcher == Launcher::Npx {
            write_shell(&filling.path())
                .map_err(|error| failed(format!("nothing can be kept for it: {error}")))?;
        }
        let mut access = self.access_at(download, &filling.path(), PackagePhase::Download);
        access.env.extend(registry.env);
        access.system.extend(registry.system);
        let policy = Arc::new(self.policy(&alone)?);
        let view = Arc::new(self.files.materialize()?);
        let mut parts = self.broker_parts(&alone, None, Arc::clone(&policy));
        parts.process.env = minimal_environment(NO_HOME.as_ref());
        if let Some(confine) = &mut parts.process.confine {
            self.admit(confine, download.launcher, &access);
        }
        let broker = Broker::new(parts);
        for secret in secrets {
            broker.secrets().remember(secret);
        }
        let mut words = download.command.iter().cloned();
        let program = words.next().unwrap_or_default();
        // A package may have the name of a file, which is none of its business.
        let command =
            CommandLine::literal(program, words, Arc::clone(&view), NO_HOME).naming_nothing();
        let context = Context::new(view.path().to_owned(), Action::Run);
        let input = ToolInput {
            name: tool.name.to_string(),
            arguments: Map::new(),
            answers: Map::new(),
            options: Map::new(),
        };
        let hosts = registry
            .rules
            .iter()
            .map(|rule| rule.host.clone())
            .collect();
        let plan = Plan {
            name: tool.name.to_string(),
            command: Some(command),
            limits: RunLimits {
                time: None,
                output: None,
                tree: tree_limits(tool),
            },
            ..Plan::new(input, context.with_access(policy.to_wire()), broker.clone())
        };
        let process = ServerProcess::start(ServerPlan {
            plan,
            table: tool.table(),
            env: access.env,
        });
        let process = process.map_err(|error| not_started(tool.name.as_str(), &broker, &error))?;
        Ok(Downloading {
            process,
            filling,
            hosts,
            what: packages.to_string(),
        })
    }

    /// What a launcher with these variables needs to start from what was downloaded; `None` if nothing was.
    pub fn packages_access(
        &self,
        packages: &Packages,
        env: &[(String, String)],
    ) -> Option<PackagesAccess> {
        let folder = packages.shelf.current()?;
        let mut access = self.access_at(&packages.download, &folder, PackagePhase::Start);
        let registry = self.registry(&packages.download, env);
        access
            .env
            .extend(registry.into_iter().flat_map(Registry::told));
        Some(access)
    }

    /// The same for a command that is run by hand under the rules of this tool: if that is a server, and the
    /// command one that starts from the same packages.
    pub(crate) fn packages_by_hand(
        &self,
        tool: &Tool,
        command: &[String],
    ) -> Option<(Launcher, PackagesAccess)> {
        let server = self.config.server(tool.name.as_str());
        let server = server.filter(|_| tool.is_server())?;
        let packages = self.packages(server)?;
        let is_same = Download::of(command).as_ref() == Some(&packages.download);
        let access = self.packages_access(&packages, &[]).filter(|_| is_same)?;
        Some((packages.launcher(), access))
    }

    fn registry(
        &self,
        download: &Download,
        env: &[(String, String)],
    ) -> Result<Registry, UnusableRegistry> {
        Registry::of(download, env, &self.env, self.confine.home.as_deref())
    }

    /// Lets a launcher use what it needs.
    pub(crate) fn admit(
        &self,
        confine: &mut ConfineSettings,
        launcher: Launcher,
        access: &PackagesAccess,
    ) {
        confine.provided.extend(access.system.iter().cloned());
        // What a server leaves in a cache must not meet whoever reaches the registry for it.
        confine.caches = false;
        let (preset, program) = match launcher {
            Launcher::Npx => (Preset::Node, "node"),
            Launcher::Uvx => (Preset::Python, "python3"),
        };
        // Some have uv and no Python but those that uv keeps.
        if !confine.presets.contains(&preset) && self.found(program).is_some() {
            confine.presets.push(preset);
        }
    }

    fn access_at(&self, download: &Download, folder: &Path, phase: PackagePhase) -> PackagesAccess {
        let mut access = PackagesAccess::default();
        let env = &mut access.env;
        let mut set = |name: &str, value: &str| env.push((name.to_owned(), value.to_owned()));
        let cache = folder.to_string_lossy();
        let pythons = self.pythons_of_uv();
        match download.launcher {
            Launcher::Npx => {
                set("npm_config_cache", &cache);
                set("npm_config_update_notifier", "false");
                // Nobody would find them.
                set("npm_config_logs_max", "0");
                match phase {
                    PackagePhase::Start => {
                        set("npm_config_offline", "true");
                        let shell = folder.join(SHELL);
                        set("npm_config_script_shell", &shell.to_string_lossy());
                        // Otherwise packages, programs and settings of the directory in which it starts, which
                        // is the workspace, stand above what was downloaded.
                        access.args.push(format!("--prefix={cache}"));
                    }
                    // What is refused stays so: to try again for more than a minute helps nobody.
                    PackagePhase::Download => set("npm_config_fetch_retry_mintimeout", "1000"),
                }
            }
            Launcher::Uvx => {
                set("UV_CACHE_DIR", &cache);
                // They come from yet other hosts. Whoever has none is told so by uv.
                set("UV_PYTHON_DOWNLOADS", "never");
                if let Some(pythons) = &pythons {
                    set("UV_PYTHON_INSTALL_DIR", &pythons.to_string_lossy());
                }
                if phase == PackagePhase::Start {
                    set("UV_OFFLINE", "1");
                }
            }
        }
        let mut show = |path: PathBuf, write: bool| {
            access.system.push(SystemAccess {
                path,
                write,
                execute: true,
            });
        };
        // Neither can read what it has without writing beside it: locks, and its index.
        show(folder.to_owned(), true);
        if download.launcher == Launcher::Uvx {
            let uvx = download
                .command
                .first()
                .and_then(|program| self.found(program));
            // It starts the `uv` that lies beside it.
            let uv = uvx.and_then(|uvx| self.file_outside(&uvx.parent()?.join("uv")));
            // Whatever else a link leads to is not shown for its name.
            let uv = uv.filter(|uv| uv.file_name() == Some(OsStr::new("uv")));
            for path in uv.into_iter().chain(pythons) {
                show(path, false);
            }
        }
        access
    }

    /// Where uv keeps the Pythons that it has downloaded.
    fn pythons_of_uv(&self) -> Option<PathBuf> {
        let given = self.env.get("UV_PYTHON_INSTALL_DIR").map(PathBuf::from);
        let data = self.env.get("XDG_DATA_HOME").map(PathBuf::from);
        let data = data.filter(|data| data.is_absolute());
        let data = data.or_else(|| Some(self.confine.home.as_deref()?.join(".local/share")));
        let path = given
            .filter(|given| given.is_absolute())
            .or_else(|| Some(data?.join("uv/python")))?;
        canonical(&path)
    }

    /// A program on the search path, without links. As for what is started, none of the workspace is: anybody
    /// could have put it there.
    fn found(&self, program: &str) -> Option<PathBuf> {
        if program.contains('/') {
            return self.file_outside(Path::new(program));
        }
        let folders = std::env::split_paths(&self.confine.search_path);
        let mut folders = folders.filter(|folder| folder.is_absolute());
        folders.find_map(|folder| self.file_outside(&folder.join(program)))
    }

    /// Whether the launcher is one of the workspace, which is whatever the workspace makes of it.
    fn is_of_workspace(&self, download: &Download) -> bool {
        let program = download.command.first().map(Path::new);
        program.is_some_and(|program| program.is_absolute() && self.is_inside(program))
    }

    /// A file without links, if neither it nor anything on the way to it is of the workspace.
    fn file_outside(&self, path: &Path) -> Option<PathBuf> {
        let file = canonical(path).filter(|file| is_file(file))?;
        (!self.is_inside(path) && !self.is_inside(&file)).then_some(file)
    }

    /// Whether a path is in the workspace, or leads through it.
    fn is_inside(&self, path: &Path) -> bool {
        let root = canonical(self.files.display_root().as_std_path());
        let climbs = path.components().any(|part| part == Component::ParentDir);
        let mut places = path.ancestors().filter_map(canonical);
        climbs || root.is_none_or(|root| places.any(|place| place.starts_with(&root)))
    }
}

impl Downloading {
    /// From where.
    pub fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Calls `hook` when it is over; at once if it is.
    pub fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        // Nothing is said to it, and what it asks for it does not get.
        if let Some((input, output)) = self.process.take_streams() {
            drop(input);
            self.process.on_end(move || {
                drop(output);
                hook();
            });
        } else {
            self.process.on_end(hook);
        }
    }

    /// What came of it. One that is not over is given up.
    ///
    /// # Errors
    ///
    /// If the packages are not there.
    pub fn finish(self) -> Result<(), NotDownloaded> {
        let what = &self.what;
        let from = self.hosts.join(", ");
        let mut not = NotDownloaded {
            why: String::new(),
            last_words: self.process.last_words(),
            denials: self.process.refused_since(&ServerMark::default()),
        };
        not.why = match self.process.ended() {
            Some(how) if how == WELL => match self.filling.keep() {
                Ok(_) => return Ok(()),
                Err(error) => format!("{what} was downloaded, but cannot be kept: {error}"),
            },
            Some(how) => format!("{what} could not be downloaded from {from}: the launcher {how}"),
            None => format!("{what} is still being downloaded from {from}, and was given up"),
        };
        Err(not)
    }
}

/// What a command with `npx` would download if it said `-y`, which it does not.
fn agreed(words: &[String]) -> Option<Download> {
    if Download::of(words).is_some() {
        return None;
    }
    let (program, args) = words.split_first()?;
    let yes = "-y".to_owned();
    let with: Vec<String> = [program, &yes].into_iter().chain(args).cloned().collect();
    Download::of(&with).filter(|download| download.launcher == Launcher::Npx)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PackagePhase {
    Download,
    Start,
}

/// Whether one of these variables says where the launcher is to keep packages.
fn keeps_itself<'n>(download: &Download, mut names: impl Iterator<Item = &'n String>) -> bool {
    let own = match download.launcher {
        Launcher::Npx => "npm_config_cache",
        Launcher::Uvx => "UV_CACHE_DIR",
    };
    names.any(|name| name.eq_ignore_ascii_case(own))
}

#[expect(
    clippy::disallowed_methods,
    reason = "where a launcher is installed is no question of a workspace"
)]
fn canonical(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

#[expect(clippy::disallowed_methods, reason = "as above")]
fn is_file(path: &Path) -> bool {
    path.is_file()
}

/// Writes the shell by which npx starts a program. npx has names looked for in the workspace before anywhere else,
/// also that of the shell and that of the interpreter, where anybody could have put something.
#[expect(
    clippy::disallowed_methods,
    reason = "the folder is jig's own, and holds no file of a workspace"
)]
fn write_shell(folder: &Path) -> std::io::Result<()> {
    let path = folder.join(SHELL);
    std::fs::write(&path, SHELL_SCRIPT)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&path, mode)?;
    }
    Ok(())
}

/// The file with that shell, in the folder of the packages.
const SHELL: &str = "shell";

/// It leaves the folders of packages out of the search path, but for those that were downloaded.
const SHELL_SCRIPT: &str = r#"#!/bin/sh
set -f
kept=
IFS=:
for folder in $PATH; do
    case $folder in
    "${0%/*}"/*) ;;
    */node_modules/.bin | '') continue ;;
    esac
    kept=$kept:$folder
done
PATH=${kept#:}
export PATH
exec /bin/sh "$@"
"#;

/// The folder of all packages, below the state of jig, which no tool sees.
const FOLDER: &str = "packages";

/// The same for commands that are only tried.
const TRIALS: &str = "trials";

/// The owner of packages that cannot be downloaded, in place of where they would come from.
const NO_REGISTRY: &str = "no registry";

/// How a launcher ends that has done its work.
const WELL: &str = "exited with code 0";

#[cfg(test)]
mod tests;
