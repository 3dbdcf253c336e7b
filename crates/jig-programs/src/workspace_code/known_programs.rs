//! Programs that run other code, and which of their words name it.

use camino::Utf8Path;

/// What a program does with its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    /// It is `env`, and starts a command.
    Env,
    /// It runs a script.
    Interpreter(&'static Interpreter),
    /// It runs a package, which it may download.
    Launcher,
    /// The same behind two words: `uv tool run`.
    ToolRun,
    /// It builds or runs projects, in folders.
    Project,
    /// It is the code itself.
    Other,
}

impl Kind {
    /// By the last part of the program's path, without a version: `/usr/bin/python3.11`, `tsx@latest`.
    pub(super) fn of(program: &str, args: &[&str]) -> Self {
        // A package of somebody, such as `@playwright/mcp`.
        if program.starts_with('@') {
            return Self::Other;
        }
        let name = Utf8Path::new(program).file_name().unwrap_or_default();
        let name = name.split_once('@').map_or(name, |(name, _)| name);
        let name = name.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
        let mut interpreters = INTERPRETERS.iter();
        if let Some(found) = interpreters.find(|one| one.names.contains(&name)) {
            return Self::Interpreter(found);
        }
        match args {
            ["tool", "run", ..] if name == "uv" => Self::ToolRun,
            _ if name == "env" => Self::Env,
            _ if LAUNCHERS.contains(&name) => Self::Launcher,
            _ if PROJECTS.contains(&name) => Self::Project,
            _ => Self::Other,
        }
    }
}

/// A program that runs scripts.
#[derive(Debug)]
pub(super) struct Interpreter {
    /// What it is called, without a version.
    names: &'static [&'static str],
    /// Those of its options that take the next word.
    pub(super) options: &'static [(&'static str, Takes)],
    /// What it adds to the name of a script to find it.
    pub(super) suffixes: &'static [&'static str],
    /// What it runs in a folder.
    pub(super) main: &'static [&'static str],
    /// Whether its code names programs and files as the words of a command do.
    pub(super) is_shell: bool,
}

/// What the word behind an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Its value, which may be a file.
    Value,
    /// None of it: its value ends its own word, as in `-Mstrict`.
    Nothing,
    /// The code to run, after which there is no script.
    Code,
    /// The name of the module to run.
    Module,
}

/// What an interpreter begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start<'a> {
    /// A file or a folder.
    Script(&'a str),
    /// Code that stands in the command.
    Code(&'a str),
    /// A module of Python.
    Module(&'a str),
}

/// Arguments as what stands before the one that is run, that one, and what stands behind it.
pub(super) fn split_args<'a>(
    args: &'a [&'a str],
    options: &[(&str, Takes)],
) -> (&'a [&'a str], Option<Start<'a>>, &'a [&'a str]) {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let next = args.get(at + 1).copied();
        let (start, length) = match takes(word, options) {
            _ if *word == "--" => (next.map(Start::Script), 2),
            _ if !word.starts_with('-') || *word == "-" => (Some(Start::Script(word)), 1),
            Some((Takes::Module, Some(name))) => (Some(Start::Module(name)), 1),
            Some((Takes::Module, None)) => (next.map(Start::Module), 2),
            Some((Takes::Code, _)) => (next.map(Start::Code), 2),
            Some((Takes::Value, _)) => {
                at += 2;
                continue;
            }
            Some((Takes::Nothing, _)) | None => {
                at += 1;
                continue;
            }
        };
        let behind = args.get(at + length..).unwrap_or_default();
        return (&args[..at], start, behind);
    }
    (args, None, &[])
}

/// What an option takes, and the name of a module that is written without a space: `-mserver`.
fn takes<'a>(word: &'a str, options: &[(&str, Takes)]) -> Option<(Takes, Option<&'a str>)> {
    let find = |is_meant: &dyn Fn(&str) -> bool| {
        let found = options.iter().find(|(option, _)| is_meant(option));
        found.map(|(_, takes)| *takes)
    };
    if let Some(takes) = find(&|option| option == word) {
        return Some((takes, None));
    }
    if let Some(name) = word.strip_prefix("-m")
        && find(&|option| option == "-m") == Some(Takes::Module)
    {
        return Some((Takes::Module, Some(name)));
    }
    // Of letters that stand together, only the last can take a word: `-lc`. More than a few are a word, and what
    // stands behind a letter with a value is that: `-Mre`.
    let letters = word.strip_prefix('-')?;
    let are_letters = letters.bytes().all(|one| one.is_ascii_alphabetic());
    if !are_letters || letters.len() > MOST_LETTERS {
        return None;
    }
    let of_letter = |letter: char| find(&|option| option.len() == 2 && option.ends_with(letter));
    let last = letters.chars().next_back()?;
    let mut earlier = letters.chars().take(letters.len() - 1);
    if earlier.any(|letter| of_letter(letter).is_some()) {
        return None;
    }
    Some((of_letter(last)?, None))
}

/// Programs that run scripts.
const INTERPRETERS: [Interpreter; 7] = [
    Interpreter {
        names: &["python", "pypy"],
        options: &[
            ("-c", Takes::Code),
            ("-m", Takes::Module),
            ("-W", Takes::Value),
            ("-X", Takes::Value),
            ("--check-hash-based-pycs", Takes::Value),
        ],
        suffixes: &[],
        main: &["__main__.py"],
        is_shell: false,
    },
    Interpreter {
        names: &["node", "nodejs"],
        options: &NODE_OPTIONS,
        suffixes: &[".js"],
        main: &["package.json", "index.js"],
        is_shell: false,
    },
    Interpreter {
        names: &["sh", "bash", "dash", "zsh"],
        options: &[
            ("-c", Takes::Code),
            ("-o", Takes::Value),
            ("-O", Takes::Value),
            ("--rcfile", Takes::Value),
            ("--init-file", Takes::Value),
        ],
        suffixes: &[],
        main: &[],
        is_shell: true,
    },
    Interpreter {
        names: &["ruby"],
        options: &[
            ("-e", Takes::Code),
            ("-r", Takes::Value),
            ("-I", Takes::Value),
            ("-C", Takes::Value),
            ("-F", Takes::Nothing),
            ("-K", Takes::Nothing),
            ("-W", Takes::Nothing),
            ("-i", Takes::Nothing),
            ("-x", Takes::Nothing),
        ],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
    Interpreter {
        names: &["perl"],
        options: &[
            ("-e", Takes::Code),
            ("-E", Takes::Code),
            ("-I", Takes::Value),
            ("-C", Takes::Nothing),
            ("-D", Takes::Nothing),
            ("-F", Takes::Nothing),
            ("-M", Takes::Nothing),
            ("-i", Takes::Nothing),
            ("-m", Takes::Nothing),
            ("-x", Takes::Nothing),
        ],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
    Interpreter {
        names: &["php"],
        options: &[
            ("-r", Takes::Code),
            ("-c", Takes::Value),
            ("-d", Takes::Value),
            ("-S", Takes::Value),
            ("-t", Takes::Value),
        ],
        suffixes: &[],
        main: &["index.php"],
        is_shell: false,
    },
    Interpreter {
        names: &["lua"],
        options: &[("-e", Takes::Code), ("-l", Takes::Value)],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
];

/// Options of Node.js that take the next word.
const NODE_OPTIONS: [(&str, Takes); 12] = [
    ("-e", Takes::Code),
    ("--eval", Takes::Code),
    ("-p", Takes::Code),
    ("--print", Takes::Code),
    ("-r", Takes::Value),
    ("--require", Takes::Value),
    ("--import", Takes::Value),
    ("--loader", Takes::Value),
    ("--experimental-loader", Takes::Value),
    ("-C", Takes::Value),
    ("--conditions", Takes::Value),
    ("--env-file", Takes::Value),
];

/// Programs that run packages.
const LAUNCHERS: [&str; 4] = ["npx", "uvx", "bunx", "pnpx"];

/// Options of launchers that take the next word.
pub(super) const LAUNCHER_OPTIONS: [(&str, Takes); 25] = [
    ("-p", Takes::Value),
    ("--package", Takes::Value),
    ("--from", Takes::Value),
    ("-w", Takes::Value),
    ("--with", Takes::Value),
    ("--with-editable", Takes::Value),
    ("--with-requirements", Takes::Value),
    ("--python", Takes::Value),
    ("--prefix", Takes::Value),
    ("--directory", Takes::Value),
    ("--project", Takes::Value),
    ("--registry", Takes::Value),
    ("--index", Takes::Value),
    ("--index-url", Takes::Value),
    ("-i", Takes::Value),
    ("--default-index", Takes::Value),
    ("--extra-index-url", Takes::Value),
    ("--prerelease", Takes::Value),
    ("--resolution", Takes::Value),
    ("--index-strategy", Takes::Value),
    ("--exclude-newer", Takes::Value),
    ("--python-preference", Takes::Value),
    ("--link-mode", Takes::Value),
    ("--color", Takes::Value),
    ("--fork-strategy", Takes::Value),
];

/// Programs that build or run projects.
const PROJECTS: [&str; 32] = [
    "uv",
    "npm",
    "pnpm",
    "yarn",
    "bun",
    "deno",
    "go",
    "cargo",
    "make",
    "just",
    "poetry",
    "hatch",
    "pdm",
    "rye",
    "dotnet",
    "java",
    "mvn",
    "mvnw",
    "gradle",
    "gradlew",
    "nix",
    "swift",
    "pipx",
    "tsx",
    "ts-node",
    "electron",
    "nodemon",
    "uvicorn",
    "gunicorn",
    "hypercorn",
    "fastmcp",
    "mcp",
];

/// More letters behind a `-` are the name of one option, or its value.
const MOST_LETTERS: usize = 4;
