//! Real projects from the registries, built and tested by `jig run` with the registry allowed, and once more with
//! no network at all.
//!
//! Where jig refuses something, its hint is pasted, once. A project that needs more than that has failed. What is
//! not installed here is passed over, and said.

mod go;
mod node;
mod python;
mod rust;
mod site;

use std::path::PathBuf;
use std::time::Instant;

use serde_json::{Value, json};

use site::TrialSite;

/// What came of one project.
#[derive(Debug)]
pub(crate) struct TriedProject {
    /// The name by which it is chosen.
    pub(crate) name: &'static str,
    /// What it is.
    pub(crate) title: String,
    /// What is special about it.
    pub(crate) what: &'static str,
    /// Whether a plain user tried it, and not whoever runs this.
    pub(crate) is_plain: bool,
    /// The commands, without what a message added.
    pub(crate) commands: Vec<String>,
    /// The presets that jig found by itself, in its words.
    pub(crate) presets: Vec<String>,
    /// The messages that were followed: what was refused, and the flags that were added.
    pub(crate) messages: Vec<(String, String)>,
    /// Why it failed in the end.
    pub(crate) failure: Option<String>,
    /// How long it took.
    pub(crate) seconds: u64,
}

impl TriedProject {
    /// Whether it went well with at most one message.
    pub(crate) fn is_good(&self) -> bool {
        self.failure.is_none() && self.messages.len() <= 1
    }

    /// What it is, and who tried it.
    pub(crate) fn title(&self) -> String {
        let who = if self.is_plain {
            ", as a plain user"
        } else {
            ""
        };
        format!("{}: {}{who}", self.title, self.what)
    }

    pub(crate) fn json(&self) -> Value {
        let messages = self.messages.iter();
        let messages: Vec<Value> = messages
            .map(|(refused, flags)| json!({"refused": refused, "flags": flags}))
            .collect();
        json!({
            "name": self.name, "title": self.title, "what": self.what, "plain_user": self.is_plain,
            "commands": self.commands, "presets": self.presets, "messages": messages,
            "works": self.is_good(), "failure": self.failure, "seconds": self.seconds,
        })
    }
}

/// Builds and tests the projects of these names, or all. Says how far it is.
pub(crate) fn run(names: &[&str]) -> Result<Vec<TriedProject>, String> {
    if let Some(unknown) = names
        .iter()
        .find(|name| !PROJECTS.iter().any(|one| one.name == **name))
    {
        return Err(format!(
            "there is no project `{unknown}`; there is {}",
            self::names().collect::<Vec<_>>().join(", ")
        ));
    }
    let wanted = PROJECTS
        .iter()
        .filter(|one| names.is_empty() || names.contains(&one.name));
    let wanted: Vec<&TrialProject> = wanted.collect();
    let own = TrialSite::own()?;
    // Only root can lend.
    let plain = match output_of_id().as_deref() {
        Some("0") => Some(TrialSite::plain()?),
        _ => {
            eprintln!("trial: nobody but root can try them as a plain user too");
            None
        }
    };
    let as_plain = wanted.iter().filter(|one| one.as_plain_user);
    let mut runs: Vec<(&TrialProject, &TrialSite)> =
        wanted.iter().map(|one| (*one, &own)).collect();
    runs.extend(
        plain
            .iter()
            .flat_map(|site| as_plain.clone().map(move |one| (*one, site))),
    );
    let mut tried = Vec::new();
    for (number, (project, site)) in runs.iter().enumerate() {
        let who = if site.is_plain() {
            " as a plain user"
        } else {
            ""
        };
        eprintln!("trial: {}/{} {}{who}", number + 1, runs.len(), project.name);
        if !site.has(project.needs) {
            eprintln!("trial:   passed over: `{}` is not installed", project.needs);
            continue;
        }
        let one = project.tried(site);
        match &one.failure {
            None => eprintln!("trial:   works, {} s", one.seconds),
            Some(failure) => eprintln!("trial:   {failure}"),
        }
        tried.push(one);
    }
    Ok(tried)
}

/// How many rows all projects make.
#[cfg(test)]
pub(crate) fn runs() -> usize {
    let as_plain_user = PROJECTS.iter().filter(|one| one.as_plain_user);
    PROJECTS.len() + as_plain_user.count()
}

/// The names of all projects.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROJECTS.iter().map(|project| project.name)
}

fn output_of_id() -> Option<String> {
    let id = site::output(std::process::Command::new("id").arg("-u")).ok()?;
    Some(id.trim().to_owned())
}

/// A project that can be chosen.
struct TrialProject {
    name: &'static str,
    what: &'static str,
    kind: TrialProjectKind,
    /// The program without which it cannot be tried.
    needs: &'static str,
    as_plain_user: bool,
}

/// How a project is made.
enum TrialProjectKind {
    /// A crate of this version, and the command.
    Crate(&'static str, &'static str),
    Node(&'static str),
    Native,
    Inside,
    Outside,
    Managed(&'static str),
    Pyenv,
    Go,
    GoModules,
}

/// A project that lies ready.
struct PreparedProject {
    title: String,
    folder: PathBuf,
    /// Variables of the shell in which jig is started.
    env: Vec<(&'static str, String)>,
    steps: Vec<TrialStep>,
    /// What jig has to say of the preset that it finds; nothing where the system has all that is needed.
    tells: &'static str,
    /// Serves what is downloaded.
    server: Option<go::TrialServer>,
}

impl PreparedProject {
    fn at(folder: PathBuf) -> Self {
        Self {
            title: String::new(),
            folder,
            env: Vec::new(),
            steps: Vec::new(),
            tells: "",
            server: None,
        }
    }

    /// A command as it is told: the port of a server is another one each time.
    fn shown(&self, command: &str) -> String {
        match &self.server {
            Some(server) => command.replace(&server.port.to_string(), "8000"),
            None => command.to_owned(),
        }
    }
}

/// One run of a project.
struct TrialStep {
    hosts: Vec<String>,
    command: &'static str,
}

impl TrialStep {
    fn online(hosts: &[&str], command: &'static str) -> Self {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        Self { hosts, command }
    }

    fn offline(command: &'static str) -> Self {
        Self::online(&[], command)
    }

    /// The words after `jig run`, with flags that a message gave.
    fn words(&self, flags: &str) -> String {
        let mut words: Vec<String> = Vec::new();
        words.extend(self.hosts.iter().map(|host| format!("--net {host}")));
        words.extend((!flags.is_empty()).then(|| flags.to_owned()));
        words.push(format!("-- {}", self.command));
        words.join(" ")
    }
}

impl TrialProject {
    fn prepare(&self, site: &TrialSite) -> Result<PreparedProject, String> {
        match self.kind {
            TrialProjectKind::Crate(version, command) => {
                rust::prepare(site, self.name, version, command)
            }
            TrialProjectKind::Node(manager) => node::app(site, manager),
            TrialProjectKind::Native => node::native(site),
            TrialProjectKind::Inside => python::inside(site),
            TrialProjectKind::Outside => python::outside(site),
            TrialProjectKind::Managed(manager) => python::managed(site, manager),
            TrialProjectKind::Pyenv => python::pyenv(site),
            TrialProjectKind::Go => go::alone(site),
            TrialProjectKind::GoModules => go::modules(site),
        }
    }

    fn tried(&self, site: &TrialSite) -> TriedProject {
        let begun = Instant::now();
        let mut tried = TriedProject {
            name: self.name,
            title: self.name.to_owned(),
            what: self.what,
            is_plain: site.is_plain(),
            commands: Vec::new(),
            presets: Vec::new(),
            messages: Vec::new(),
            failure: None,
            seconds: 0,
        };
        let result = self.prepare(site).and_then(|prepared| {
            let result = tried.run(site, &prepared);
            // The next ones need the room.
            let _ = std::fs::remove_dir_all(&prepared.folder);
            result
        });
        tried.failure = result.err();
        tried.seconds = begun.elapsed().as_secs();
        tried
    }
}

impl TriedProject {
    fn run(&mut self, site: &TrialSite, prepared: &PreparedProject) -> Result<(), String> {
        self.title.clone_from(&prepared.title);
        // What a hint has added for one run is added to the others that may reach the same hosts.
        let mut added = String::new();
        for step in &prepared.steps {
            let online = !step.hosts.is_empty();
            let command = format!("jig run {}", step.words(""));
            eprintln!("trial:   {command}");
            self.commands.push(prepared.shown(&command));
            let mut flags = if online { added.clone() } else { String::new() };
            let mut outcome = self.step(site, prepared, step, &flags)?;
            if let Some((refused, more)) = outcome.as_ref().err().and_then(|said| message(said)) {
                eprintln!("trial:   {refused}: {more}");
                flags = format!("{flags} {more}").trim().to_owned();
                self.messages.push((refused, more));
                outcome = self.step(site, prepared, step, &flags)?;
                if online {
                    added = flags;
                }
            }
            if let Err(said) = outcome {
                let mut end: Vec<&str> = said.lines().rev().take(6).collect();
                end.reverse();
                return Err(format!("`{}` failed: {}", step.command, end.join(" / ")));
            }
        }
        match self
            .presets
            .iter()
            .any(|said| said.contains(prepared.tells))
            || prepared.tells.is_empty()
        {
            true => Ok(()),
            false => Err(format!(
                "jig did not say that it found `{}`",
                prepared.tells
            )),
        }
    }

    /// Runs a step: an error in it is what was printed.
    fn step(
        &mut self,
        site: &TrialSite,
        prepared: &PreparedProject,
        step: &TrialStep,
        flags: &str,
    ) -> Result<Result<(), String>, String> {
        let mut command = site.jig_run(&step.words(flags));
        command.current_dir(&prepared.folder);
        command.envs(prepared.env.iter().map(|(name, value)| (name, value)));
        let output = command.output().map_err(|error| error.to_string())?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let presets = said
            .lines()
            .filter_map(|line| line.strip_prefix("jig: preset "));
        let presets: Vec<&str> = presets.collect();
        if presets.len() > 1 {
            return Err(format!("jig said twice which preset it found: {said}"));
        }
        let found = presets.first().and_then(|line| line.split(';').next());
        // The folder of the trial is another one each time.
        let folder = site.folder.display().to_string();
        let found = found.map(|found| format!("preset {}", found.replace(&folder, "/elsewhere")));
        let is_news = |preset: &String| !self.presets.contains(preset);
        if let Some(preset) = found.filter(is_news) {
            self.presets.push(preset);
        }
        Ok(match output.status.success() {
            true => Ok(()),
            false => Err(said),
        })
    }
}

/// What was refused, and the flags that the message says to run the command with.
fn message(said: &str) -> Option<(String, String)> {
    let flags = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("hint: to allow it, run it with: "))?;
    let refused = said
        .lines()
        .filter_map(|line| line.strip_prefix("jig: refused: "))
        .map(|line| match line.rsplit_once(" (") {
            // How often a program tries again is its own affair.
            Some((line, count)) if count.ends_with(" times)") => line,
            _ => line,
        });
    let refused: Vec<&str> = refused.collect();
    Some((refused.join("; "), flags.to_owned()))
}

const fn of_crate(
    name: &'static str,
    version: &'static str,
    what: &'static str,
    command: &'static str,
) -> TrialProject {
    TrialProject {
        name,
        what,
        kind: TrialProjectKind::Crate(version, command),
        needs: "cargo",
        as_plain_user: false,
    }
}

const fn other(
    name: &'static str,
    what: &'static str,
    needs: &'static str,
    kind: TrialProjectKind,
) -> TrialProject {
    TrialProject {
        name,
        what,
        kind,
        needs,
        as_plain_user: false,
    }
}

impl TrialProject {
    const fn by_plain_users_too(mut self) -> Self {
        self.as_plain_user = true;
        self
    }
}

const TEST: &str = "cargo test --quiet";
const BUILD: &str = "cargo build --quiet";

const PROJECTS: &[TrialProject] = &[
    of_crate("fnv", "1", "no dependencies", TEST),
    of_crate("semver", "1", "dependencies of tests", TEST).by_plain_users_too(),
    of_crate("scopeguard", "1", "no dependencies", TEST),
    of_crate("num-traits", "0.2", "a build script", TEST),
    of_crate(
        "anyhow",
        "1",
        "a build script, and dependencies of tests",
        "cargo test --quiet --lib",
    ),
    of_crate("proc-macro2", "1", "a build script that compiles", BUILD),
    of_crate("thiserror", "2", "procedural macros", BUILD).by_plain_users_too(),
    of_crate("displaydoc", "0.2", "procedural macros", BUILD),
    of_crate(
        "libz-sys",
        "1",
        "C code",
        "cargo test --quiet --features static",
    )
    .by_plain_users_too(),
    of_crate("zstd-sys", "2", "C code", TEST),
    of_crate("blake3", "1", "C code and assembler", BUILD),
    of_crate("ring", "0.17", "C code and assembler", BUILD),
    other("npm", "Node", "npm", TrialProjectKind::Node("npm")).by_plain_users_too(),
    other("pnpm", "Node", "npm", TrialProjectKind::Node("pnpm")),
    other("yarn", "Node", "npm", TrialProjectKind::Node("yarn")),
    other("native", "Node", "npm", TrialProjectKind::Native).by_plain_users_too(),
    other("venv-inside", "Python", "python3", TrialProjectKind::Inside).by_plain_users_too(),
    other(
        "venv-outside",
        "Python",
        "python3",
        TrialProjectKind::Outside,
    )
    .by_plain_users_too(),
    other("uv", "Python", "python3", TrialProjectKind::Managed("uv")).by_plain_users_too(),
    other(
        "poetry",
        "Python",
        "python3",
        TrialProjectKind::Managed("poetry"),
    ),
    other("pyenv", "Python", "pyenv", TrialProjectKind::Pyenv),
    other("go", "Go", "go", TrialProjectKind::Go).by_plain_users_too(),
    other("go-modules", "Go", "go", TrialProjectKind::GoModules).by_plain_users_too(),
];
