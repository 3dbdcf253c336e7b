//! What a server may do, as far as its command tells.

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{AddedFs, AddedNet, AddedSystem, Additions, Preset};
use jig_policy::{Capability, FileCapabilities, Sensitive};
use jig_programs::{Download, Launcher};
use jig_project::locate;
use jig_proto::ProjectPath;

/// What a command says about what it needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct CommandAccess {
    /// Toolchain, registry, and the paths among its arguments.
    pub additions: Additions,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Reads a command, with everything filled in.
pub fn of_command(
    command: &[String],
    root: &Utf8Path,
    home: Option<&Utf8Path>,
    sensitive: &Sensitive,
) -> CommandAccess {
    let mut named = CommandAccess::default();
    let Some((program, args)) = command.split_first() else {
        return named;
    };
    let name = Utf8Path::new(program).file_stem().unwrap_or_default();
    let (preset, hosts) = match Download::of(command) {
        // What jig downloads, the server need not, and jig knows the toolchain.
        Some(_) => (None, [].as_slice()),
        None if is_installed(name, args, root) => (toolchain(name).0, [].as_slice()),
        None => toolchain(name),
    };
    if name == "npx" && !hosts.is_empty() {
        let note = "without `-y` it asks the registry itself, and may reach it; with `-y` jig downloads the package \
                    before, and starts it without a network";
        named.notes.push(note.to_owned());
    }
    named.additions.presets.extend(preset);
    for host in hosts {
        named.additions.net.push(AddedNet {
            host: (*host).to_owned(),
            scheme: Some("https".to_owned()),
            port: None,
            path_prefix: None,
            comment: vec![format!("`{name}` downloads packages from there")],
        });
    }
    // A program of the workspace runs only where a rule says so.
    let own = program
        .contains('/')
        .then(|| path(program, root, home))
        .flatten();
    if let Some(own) = own.filter(|own| own.starts_with(root)) {
        let comment = "its program";
        add(
            &mut named,
            own,
            READ.with(Capability::Execute.into()),
            comment,
            root,
            sensitive,
        );
    }
    let environment = program
        .contains('/')
        .then(|| environment(&full(program, root, home)?))
        .flatten();
    if let Some(environment) = environment {
        add(
            &mut named,
            environment,
            // Some packages are libraries, which are mapped as code.
            READ.with(Capability::Execute.into()),
            "the environment of its program",
            root,
            sensitive,
        );
    }
    for arg in args.iter().take(MOST_ARGS) {
        let value = match arg.strip_prefix('-') {
            Some(flag) => flag.split_once('=').map(|(_, value)| value),
            None => Some(arg.as_str()),
        };
        if let Some(path) = value.and_then(|value| path(value, root, home)) {
            if let Some(packages) = packages(&path).filter(|packages| !packages.starts_with(root)) {
                add(
                    &mut named,
                    packages.to_owned(),
                    READ.with(Capability::Execute.into()),
                    "the packages that an argument of its command is one of",
                    root,
                    sensitive,
                );
                continue;
            }
            add(
                &mut named,
                path,
                READ,
                "an argument of its command",
                root,
                sensitive,
            );
        }
    }
    named
}

/// The rules of a server that was not run: it may read the workspace.
pub fn guessed(named: &Additions) -> Additions {
    let mut additions = named.clone();
    let workspace = AddedFs {
        path: ".".to_owned(),
        capabilities: READ,
        comment: vec!["a guess: it was not run to see what it needs".to_owned()],
    };
    match additions.fs.iter_mut().find(|rule| rule.path == ".") {
        Some(rule) => rule.capabilities = rule.capabilities | READ,
        None => additions.fs.insert(0, workspace),
    }
    let (all, rules) = (&mut additions.fs, named.fs.iter());
    let covered: Vec<&str> = rules
        .filter(|rule| is_covered(rule, all))
        .map(|rule| rule.path.as_str())
        .collect();
    all.retain(|rule| !covered.contains(&rule.path.as_str()));
    additions
}

/// Whether the next rule above this one grants all of it: then it would say nothing, or take something away.
fn is_covered(rule: &AddedFs, all: &[AddedFs]) -> bool {
    let below = |other: &&AddedFs| {
        let is_above = other.path == "." || Utf8Path::new(&rule.path).starts_with(&other.path);
        is_above && other.path != rule.path
    };
    let depth = |other: &&AddedFs| match other.path.as_str() {
        "." => 0,
        path => path.len(),
    };
    let nearest = all.iter().filter(below).max_by_key(depth);
    nearest.is_some_and(|nearest| nearest.capabilities.covers(rule.capabilities))
}

/// What was learned, and what the command says besides.
pub fn joined(learned: Additions, named: &Additions) -> Additions {
    let mut all = learned;
    for rule in &named.fs {
        let is_covered = is_covered(rule, &all.fs);
        match all.fs.iter_mut().find(|other| other.path == rule.path) {
            Some(other) if other.capabilities.covers(rule.capabilities) => {}
            Some(other) => {
                other.capabilities = other.capabilities | rule.capabilities;
                other.comment.clone_from(&rule.comment);
            }
            None if is_covered => {}
            None => all.fs.push(rule.clone()),
        }
    }
    for added in &named.system {
        if !all.system.iter().any(|other| other.path == added.path) {
            all.system.push(added.clone());
        }
    }
    for preset in &named.presets {
        if !all.presets.contains(preset) {
            all.presets.push(*preset);
        }
    }
    all.net.extend(named.net.iter().cloned());
    all
}

/// The toolchain that a program belongs to, and where it downloads packages from.
fn toolchain(program: &str) -> (Option<Preset>, &'static [&'static str]) {
    let (npm, pypi) = (Launcher::Npx.hosts(), Launcher::Uvx.hosts());
    match program {
        "npx" | "npm" | "pnpm" | "pnpx" | "yarn" | "bunx" => (Some(Preset::Node), npm),
        "node" | "tsx" | "ts-node" => (Some(Preset::Node), &[]),
        "uvx" | "uv" | "pipx" => (Some(Preset::Python), pypi),
        "cargo" => (Some(Preset::Rust), &[]),
        "go" => (Some(Preset::Go), &[]),
        name if name.starts_with("python") => (Some(Preset::Python), &[]),
        _ => (None, &[]),
    }
}

/// Whether `npx` finds its package in the workspace, and so downloads nothing.
fn is_installed(program: &str, args: &[String], root: &Utf8Path) -> bool {
    let package = args.iter().find(|arg| !arg.starts_with('-'));
    let Some(package) = package.filter(|_| program == "npx") else {
        return false;
    };
    let folder = root.join("node_modules");
    let places = [folder.join(package), folder.join(".bin").join(package)];
    places.iter().any(|place| locate::resolved(place).is_ok())
}

/// The path that an argument is, if there is something.
fn path(value: &str, root: &Utf8Path, home: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    locate::resolved(&full(value, root, home)?).ok()
}

/// What an argument names if it is a path.
fn full(value: &str, root: &Utf8Path, home: Option<&Utf8Path>) -> Option<Utf8PathBuf> {
    match value.strip_prefix("~/") {
        Some(below) => Some(home?.join(below)),
        None if value == "." || value == ".." || value.contains('/') => Some(root.join(value)),
        None => None,
    }
}

/// The environment of Python that a program belongs to. The program itself is a link there, to the Python of the
/// machine, so that it must not be followed.
fn environment(program: &Utf8Path) -> Option<Utf8PathBuf> {
    let folder = locate::resolved(program.parent()?.parent()?).ok()?;
    locate::resolved(&folder.join("pyvenv.cfg")).ok()?;
    Some(folder)
}

/// The folder with the packages of Node that a path is below: the outermost one, for packages share theirs.
fn packages(path: &Utf8Path) -> Option<&Utf8Path> {
    let named = |folder: &&Utf8Path| folder.file_name() == Some("node_modules");
    path.ancestors().skip(1).filter(named).last()
}

fn add(
    named: &mut CommandAccess,
    path: Utf8PathBuf,
    capabilities: FileCapabilities,
    comment: &str,
    root: &Utf8Path,
    sensitive: &Sensitive,
) {
    let comment = vec![comment.to_owned()];
    let Ok(inside) = path.strip_prefix(root) else {
        if !named
            .additions
            .system
            .iter()
            .any(|other| other.path == path)
        {
            named.additions.system.push(AddedSystem {
                path: path.into_string(),
                write: false,
                execute: capabilities.covers(Capability::Execute.into()),
                comment,
            });
        }
        return;
    };
    let inside = match inside.as_str() {
        "" => ".",
        inside => inside,
    };
    let Ok(place) = ProjectPath::normalize(inside) else {
        return;
    };
    // A rule that names a sensitive path opens it, which only a person should do.
    if sensitive.find(&place).is_some() {
        named.notes.push(format!(
            "`{inside}`, an argument of its command, is a sensitive path: no rule is proposed for it"
        ));
        return;
    }
    let shown = place.to_string();
    if !named.additions.fs.iter().any(|other| other.path == shown) {
        named.additions.fs.push(AddedFs {
            path: shown,
            capabilities,
            comment,
        });
    }
}

const READ: FileCapabilities = FileCapabilities::just(Capability::Read);

/// How many arguments are looked at.
const MOST_ARGS: usize = 64;

#[cfg(test)]
mod tests;
