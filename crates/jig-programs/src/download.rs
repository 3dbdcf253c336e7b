//! [`Download`]: what a command such as `npx -y PACKAGE` downloads before it starts a server.
//!
//! Only commands of which that is certain are known: packages of a registry, by their names. What comes from
//! somewhere else, or is kept somewhere else, is left to the rules of the server.

use std::path::Path;

use jig_policy::{DeclaredNetRule, RuleOrigin};
use url::Url;

#[cfg(test)]
mod tests;

/// A program that downloads packages and runs one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
// Exhaustive: whoever prepares one must have an answer to each.
pub enum Launcher {
    /// Of npm.
    Npx,
    /// Of uv, also as `uv tool run`.
    Uvx,
}

/// What a launcher downloads, and the command that does only that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// Who downloads.
    pub launcher: Launcher,
    /// The packages, as the command names them.
    pub packages: Vec<String>,
    /// Downloads and unpacks the packages, and runs nothing of them but what their installation runs.
    pub command: Vec<String>,
    /// The registries that the command itself names, in place of the usual one.
    pub registries: Vec<String>,
}

impl Launcher {
    /// The name of the program.
    pub fn name(self) -> &'static str {
        match self {
            Self::Npx => "npx",
            Self::Uvx => "uvx",
        }
    }

    /// The hosts that it downloads from, unless it is told otherwise.
    pub fn hosts(self) -> &'static [&'static str] {
        match self {
            Self::Npx => &["registry.npmjs.org"],
            Self::Uvx => &["pypi.org", "files.pythonhosted.org"],
        }
    }
}

impl Download {
    /// Reads the words of a command. `None` if it downloads nothing, or nobody can be sure what.
    pub fn of(words: &[String]) -> Option<Self> {
        let (program, args) = words.split_first()?;
        // A program of the workspace is whatever the workspace makes of it.
        if program.contains('/') && !program.starts_with('/') {
            return None;
        }
        match Path::new(program).file_name()?.to_str()? {
            "npx" => npx(program, args),
            "uvx" => uvx(vec![program.clone()], args),
            "uv" => match args {
                [tool, run, args @ ..] if tool == "tool" && run == "run" => {
                    let program = [program, tool, run].map(String::clone);
                    uvx(program.to_vec(), args)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

fn npx(program: &str, args: &[String]) -> Option<Download> {
    let mut is_agreed = false;
    let mut read = PackageArguments::default();
    let mut args = args.iter();
    let first = loop {
        let Some(arg) = args.next() else { break None };
        let (name, value) = parts(arg);
        match (name, value) {
            ("-y" | "--yes", None) => is_agreed = true,
            ("-p" | "--package", _) => read.packages.push(given(value, &mut args)?),
            ("--registry", _) => read.registry(name, given(value, &mut args)?),
            (flag, None) if NPX_FLAGS.contains(&flag) => read.options.push(arg.clone()),
            ("--", None) => break args.next(),
            _ if arg.starts_with('-') => return None,
            _ => break Some(arg),
        }
    };
    // With packages that are named apart, the first word is a command of theirs.
    if read.packages.is_empty() {
        read.packages.extend(first.cloned());
    }
    if !is_agreed || !read.is_of_registry() {
        return None;
    }
    let mut command = vec![program.to_owned(), "--yes".to_owned()];
    command.extend(read.options);
    let packages = read.packages.iter();
    command.extend(packages.map(|package| format!("--package={package}")));
    command.extend(["-c", ":"].map(str::to_owned));
    Some(Download {
        launcher: Launcher::Npx,
        packages: read.packages,
        command,
        registries: read.registries,
    })
}

fn uvx(program: Vec<String>, args: &[String]) -> Option<Download> {
    let mut from = None;
    let mut read = PackageArguments::default();
    let mut with = Vec::new();
    let mut args = args.iter();
    let first = loop {
        let arg = args.next()?;
        let (name, value) = parts(arg);
        match (name, value) {
            ("--from", _) => from = Some(given(value, &mut args)?),
            ("--with" | "-w", _) => with.push(given(value, &mut args)?),
            ("--index" | "--default-index" | "--index-url" | "-i" | "--extra-index-url", _) => {
                read.registry(name, given(value, &mut args)?);
            }
            (name, _) if UVX_VALUES.contains(&name) => {
                let value = given(value, &mut args)?;
                read.options.extend([name.to_owned(), value]);
            }
            (flag, None) if UVX_FLAGS.contains(&flag) => read.options.push(arg.clone()),
            ("--", None) => break args.next()?,
            _ if arg.starts_with('-') => return None,
            _ => break arg,
        }
    };
    read.packages.push(from.unwrap_or_else(|| first.clone()));
    // One word may name several.
    read.packages.extend(
        with.iter()
            .flat_map(|with| with.split(','))
            .map(str::to_owned),
    );
    if !read.is_of_registry() {
        return None;
    }
    let mut command = program;
    command.extend(read.options);
    for with in with {
        command.extend(["--with".to_owned(), with]);
    }
    let main = read.packages.first()?.clone();
    command.extend(["--from".to_owned(), main]);
    command.extend(["python", "-c", ""].map(str::to_owned));
    Some(Download {
        launcher: Launcher::Uvx,
        packages: read.packages,
        command,
        registries: read.registries,
    })
}

/// The rule under which a registry can be reached. `None` if this is no address of one: it is on the web, and what
/// it asks for to let somebody in does not stand in its address.
pub fn registry_rule(url: &str) -> Option<DeclaredNetRule> {
    let url = web_url(url)?;
    let is_open = url.username().is_empty() && url.password().is_none();
    let host = url.host_str().filter(|_| is_open)?;
    Some(host_rule(host, url.scheme(), url.port()))
}

/// Whether these are addresses on the web, of which uv takes several in one word. A path is none.
fn is_on_the_web(urls: &str) -> bool {
    let mut urls = urls.split_whitespace().peekable();
    urls.peek().is_some() && urls.all(|url| web_url(url).is_some())
}

fn web_url(url: &str) -> Option<Url> {
    // uv lets a name stand before it.
    let url = match url.split_once('=') {
        Some((name, url)) if !name.contains([':', '/']) => url,
        _ => url,
    };
    let url = Url::parse(url).ok()?;
    matches!(url.scheme(), "https" | "http").then_some(url)
}

/// The rule under which a host of packages can be reached.
pub fn host_rule(host: &str, scheme: &str, port: Option<u16>) -> DeclaredNetRule {
    DeclaredNetRule {
        host: host.to_owned(),
        scheme: Some(scheme.to_owned()),
        port,
        path_prefix: None,
        methods: None,
        allow: true,
        origin: RuleOrigin::named("the registry of its packages"),
    }
}

/// What was read of a command so far.
#[derive(Default)]
struct PackageArguments {
    packages: Vec<String>,
    /// The options that count for the download as well.
    options: Vec<String>,
    registries: Vec<String>,
}

impl PackageArguments {
    fn registry(&mut self, option: &str, url: String) {
        self.options.extend([option.to_owned(), url.clone()]);
        self.registries.push(url);
    }

    /// Whether all packages are named as a registry names them, which is no folder, archive, address or repository,
    /// and come from one.
    fn is_of_registry(&self) -> bool {
        let is_plain = |package: &String| {
            let name = package.strip_prefix('@').unwrap_or(package);
            let slashes = name.matches('/').count();
            let is_scoped = package.starts_with('@');
            let begins = name.starts_with(|first: char| first.is_ascii_alphanumeric());
            begins
                // A variable is filled in later, by anything.
                && !package.contains([':', '$'])
                && !package.ends_with(".tgz")
                && !package.ends_with(".whl")
                && (slashes == 0 || is_scoped && slashes == 1)
        };
        !self.packages.is_empty()
            && self.packages.iter().all(is_plain)
            && self.registries.iter().all(|urls| is_on_the_web(urls))
    }
}

/// An option and what stands behind its `=`.
fn parts(arg: &str) -> (&str, Option<&str>) {
    match arg.split_once('=') {
        Some((name, value)) if arg.starts_with('-') => (name, Some(value)),
        _ => (arg, None),
    }
}

/// The value of an option: its own, or the next word.
fn given<'a>(value: Option<&str>, args: &mut impl Iterator<Item = &'a String>) -> Option<String> {
    match value {
        Some(value) => Some(value.to_owned()),
        None => args.next().cloned(),
    }
}

/// Options of npx without a value that change nothing about where things come from and go to.
const NPX_FLAGS: [&str; 10] = [
    "-q",
    "--quiet",
    "-s",
    "--silent",
    "--verbose",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--prefer-offline",
    "--legacy-peer-deps",
];

/// The same of uvx.
const UVX_FLAGS: [&str; 12] = [
    "-q",
    "--quiet",
    "-v",
    "--verbose",
    "--isolated",
    "--no-progress",
    "--no-config",
    "--native-tls",
    "--system-certs",
    "--no-build",
    "--no-env-file",
    "--no-python-downloads",
];

/// Options of uvx with a value, likewise.
const UVX_VALUES: [&str; 10] = [
    "-p",
    "--python",
    "--prerelease",
    "--resolution",
    "--index-strategy",
    "--exclude-newer",
    "--python-preference",
    "--link-mode",
    "--color",
    "--fork-strategy",
];
