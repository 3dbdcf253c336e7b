//! Programs that run other code, and which of their words name it.

use camino::Utf8Path;

/// What a program does with its words.
#[derive(Debug, Clone, Copy)]
pub(super) enum ProgramKind {
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

impl ProgramKind {
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
    pub(super) options: &'static [(&'static str, OptionArgument)],
    /// What it adds to the name of a script to find it.
    pub(super) suffixes: &'static [&'static str],
    /// What it runs in a folder.
    pub(super) main: &'static [&'static str],
    /// Whether its code names programs and files as the words of a command do.
    pub(super) is_shell: bool,
}

/// What the word behind an option is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OptionArgument {
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
pub(super) enum InterpreterStart<'a> {
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
    options: &[(&str, OptionArgument)],
) -> (&'a [&'a str], Option<InterpreterStart<'a>>, &'a [&'a str]) {
    let mut at = 0;
    while let Some(word) = args.get(at) {
        let next = args.get(at + 1).copied();
        let (start, length) = match takes(word, options) {
            _ if *word == "--" => (next.map(InterpreterStart::Script), 2),
            _ if !word.starts_with('-') || *word == "-" => {
                (Some(InterpreterStart::Script(word)), 1)
            }
            Some((OptionArgument::Module, Some(name))) => (Some(InterpreterStart::Module(name)), 1),
            Some((OptionArgument::Module, None)) => (next.map(InterpreterStart::Module), 2),
            Some((OptionArgument::Code, _)) => (next.map(InterpreterStart::Code), 2),
            Some((OptionArgument::Value, _)) => {
                at += 2;
                continue;
            }
            Some((OptionArgument::Nothing, _)) | None => {
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
fn takes<'a>(
    word: &'a str,
    options: &[(&str, OptionArgument)],
) -> Option<(OptionArgument, Option<&'a str>)> {
    let find = |is_meant: &dyn Fn(&str) -> bool| {
        let found = options.iter().find(|(option, _)| is_meant(option));
        found.map(|(_, takes)| *takes)
    };
    if let Some(takes) = find(&|option| option == word) {
        return Some((takes, None));
    }
    if let Some(name) = word.strip_prefix("-m")
        && find(&|option| option == "-m") == Some(OptionArgument::Module)
    {
        return Some((OptionArgument::Module, Some(name)));
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
            ("-c", OptionArgument::Code),
            ("-m", OptionArgument::Module),
            ("-W", OptionArgument::Value),
            ("-X", OptionArgument::Value),
            ("--check-hash-based-pycs", OptionArgument::Value),
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
            ("-c", OptionArgument::Code),
            ("-o", OptionArgument::Value),
            ("-O", OptionArgument::Value),
            ("--rcfile", OptionArgument::Value),
            ("--init-file", OptionArgument::Value),
        ],
        suffixes: &[],
        main: &[],
        is_shell: true,
    },
    Interpreter {
        names: &["ruby"],
        options: &[
            ("-e", OptionArgument::Code),
            ("-r", OptionArgument::Value),
            ("-I", OptionArgument::Value),
            ("-C", OptionArgument::Value),
            ("-F", OptionArgument::Nothing),
            ("-K", OptionArgument::Nothing),
            ("-W", OptionArgument::Nothing),
            ("-i", OptionArgument::Nothing),
            ("-x", OptionArgument::Nothing),
        ],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
    Interpreter {
        names: &["perl"],
        options: &[
            ("-e", OptionArgument::Code),
            ("-E", OptionArgument::Code),
            ("-I", OptionArgument::Value),
            ("-C", OptionArgument::Nothing),
            ("-D", OptionArgument::Nothing),
            ("-F", OptionArgument::Nothing),
            ("-M", OptionArgument::Nothing),
            ("-i", OptionArgument::Nothing),
            ("-m", OptionArgument::Nothing),
            ("-x", OptionArgument::Nothing),
        ],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
    Interpreter {
        names: &["php"],
        options: &[
            ("-r", OptionArgument::Code),
            ("-c", OptionArgument::Value),
            ("-d", OptionArgument::Value),
            ("-S", OptionArgument::Value),
            ("-t", OptionArgument::Value),
        ],
        suffixes: &[],
        main: &["index.php"],
        is_shell: false,
    },
    Interpreter {
        names: &["lua"],
        options: &[("-e", OptionArgument::Code), ("-l", OptionArgument::Value)],
        suffixes: &[],
        main: &[],
        is_shell: false,
    },
];

/// Options of Node.js that take the next word.
const NODE_OPTIONS: [(&str, OptionArgument); 12] = [
    ("-e", OptionArgument::Code),
    ("--eval", OptionArgument::Code),
    ("-p", OptionArgument::Code),
    ("--print", OptionArgument::Code),
    ("-r", OptionArgument::Value),
    ("--require", OptionArgument::Value),
    ("--import", OptionArgument::Value),
    ("--loader", OptionArgument::Value),
    ("--experimental-loader", OptionArgument::Value),
    ("-C", OptionArgument::Value),
    ("--conditions", OptionArgument::Value),
    ("--env-file", OptionArgument::Value),
];

/// Programs that run packages.
const LAUNCHERS: [&str; 4] = ["npx", "uvx", "bunx", "pnpx"];

/// Options of launchers that take the next word.
pub(super) const LAUNCHER_OPTIONS: [(&str, OptionArgument); 25] = [
    ("-p", OptionArgument::Value),
    ("--package", OptionArgument::Value),
    ("--from", OptionArgument::Value),
    ("-w", OptionArgument::Value),
    ("--with", OptionArgument::Value),
    ("--with-editable", OptionArgument::Value),
    ("--with-requirements", OptionArgument::Value),
    ("--python", OptionArgument::Value),
    ("--prefix", OptionArgument::Value),
    ("--directory", OptionArgument::Value),
    ("--project", OptionArgument::Value),
    ("--registry", OptionArgument::Value),
    ("--index", OptionArgument::Value),
    ("--index-url", OptionArgument::Value),
    ("-i", OptionArgument::Value),
    ("--default-index", OptionArgument::Value),
    ("--extra-index-url", OptionArgument::Value),
    ("--prerelease", OptionArgument::Value),
    ("--resolution", OptionArgument::Value),
    ("--index-strategy", OptionArgument::Value),
    ("--exclude-newer", OptionArgument::Value),
    ("--python-preference", OptionArgument::Value),
    ("--link-mode", OptionArgument::Value),
    ("--color", OptionArgument::Value),
    ("--fork-strategy", OptionArgument::Value),
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
