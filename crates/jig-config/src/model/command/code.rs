//! [`Command::code`]: what of the workspace a command runs.
//!
//! That is told by the words of the command and by what lies in the workspace now. It is a guess on the safe side:
//! a file that a program only reads counts, and what a script loads in turn does not.

mod programs;

use std::collections::HashSet;

use camino::Utf8Path;
use jig_proto::ProjectPath;

use self::programs::{Interpreter, Kind, LAUNCHER_OPTIONS, Start, behind_env, split_args};
use super::{Command, split};
use crate::file::{self, Found};
use crate::model::Download;

impl Command {
    /// The files and folders of the workspace at `root` that the command runs, or that may tell what it runs:
    /// whoever changes them runs with the rules of whoever has the command.
    ///
    /// The workspace itself is none of them, whatever the command says: then no tool could change anything.
    pub fn code(&self, root: &Utf8Path) -> Vec<ProjectPath> {
        let mut code = Code {
            root,
            found: Vec::new(),
        };
        if self.shell {
            code.line(&self.program);
            for word in &self.args {
                code.argument(word, Role::Project);
            }
        } else {
            let words = std::iter::once(&self.program).chain(&self.args);
            code.words(&words.map(String::as_str).collect::<Vec<_>>());
        }
        code.found
    }
}

/// The code that was found so far.
struct Code<'a> {
    /// The workspace.
    root: &'a Utf8Path,
    found: Vec<ProjectPath>,
}

/// What a word may be for the program that gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// What a program works on: a folder is data.
    Argument,
    /// What a program builds or runs: a folder may be a project.
    Project,
    /// What a package works on. That came from elsewhere, and is handed names of many things beside files.
    Launched,
    /// What a launcher runs: a package, or a folder with one.
    Package,
}

impl Code<'_> {
    /// The words of a command that no shell sees.
    fn words(&mut self, words: &[&str]) {
        let words = behind_env(words);
        let Some((program, args)) = words.split_first() else {
            return;
        };
        if program.contains('/') {
            self.add(program);
        }
        match Kind::of(program, args) {
            Kind::Interpreter(interpreter) => self.interpreted(interpreter, args),
            Kind::Launcher => self.launched(words, args),
            Kind::ToolRun => self.launched(words, args.get(2..).unwrap_or_default()),
            Kind::Project => self.project(args),
            Kind::Other => self.arguments(args, Role::Argument),
        }
    }

    /// Words that have one role.
    fn arguments(&mut self, words: &[&str], role: Role) {
        for word in words {
            self.argument(word, role);
        }
    }

    /// What an interpreter is told to run, and what that works on.
    fn interpreted(&mut self, interpreter: &Interpreter, args: &[&str]) {
        let (before, start, behind) = split_args(args, interpreter.options);
        self.arguments(before, Role::Argument);
        match start {
            Some(Start::Script(word)) => self.script(word, interpreter),
            Some(Start::Module(name)) => self.module(name),
            Some(Start::Code(text)) if interpreter.is_shell => self.line(text),
            Some(Start::Code(_)) | None => {}
        }
        self.arguments(behind, Role::Argument);
    }

    /// The arguments of a launcher. What is certain to come from a registry is nothing of the workspace.
    fn launched(&mut self, words: &[&str], args: &[&str]) {
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        if let Some(download) = Download::of(&owned) {
            let packages: HashSet<&str> = download.packages.iter().map(String::as_str).collect();
            for word in args.iter().filter(|word| !packages.contains(**word)) {
                self.argument(word, Role::Launched);
            }
            return;
        }
        let (before, start, behind) = split_args(args, &LAUNCHER_OPTIONS);
        self.arguments(before, Role::Package);
        if let Some(Start::Script(word)) = start {
            self.argument(word, Role::Package);
        }
        self.arguments(behind, Role::Launched);
    }

    /// The arguments of a program that builds or runs projects, or an interpreter in one.
    fn project(&mut self, args: &[&str]) {
        for (index, word) in args.iter().enumerate() {
            // `uv run python -m server`
            if let Kind::Interpreter(interpreter) = Kind::of(word, &[]) {
                self.argument(word, Role::Project);
                return self.interpreted(interpreter, &args[index + 1..]);
            }
            self.argument(word, Role::Project);
        }
    }

    /// The line of a shell, whose words are found as well as can be without being a shell.
    fn line(&mut self, line: &str) {
        for word in split(line).unwrap_or_default() {
            for word in word.split([';', '&', '|', '(', ')']) {
                self.argument(word, Role::Project);
            }
        }
    }

    /// The script of an interpreter, whether it is there yet or not.
    fn script(&mut self, word: &str, interpreter: &Interpreter) {
        if word == "-" {
            return;
        }
        let Some(path) = self.inside(word) else {
            return;
        };
        if path.is_root() {
            for name in interpreter.main {
                self.add(name);
            }
            return;
        }
        self.add(word);
        if Utf8Path::new(path.as_str()).extension().is_none() && self.look(&path) != Found::File {
            for suffix in interpreter.suffixes {
                self.add(&format!("{path}{suffix}"));
            }
        }
    }

    /// A module of Python. One of the workspace comes before all that are installed, so that the places where it
    /// could be count as well.
    fn module(&mut self, name: &str) {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        self.add(&format!("{first}.py"));
        let mut parts = vec![
            format!("{first}/__init__.py"),
            format!("{first}/__main__.py"),
        ];
        if !rest.is_empty() {
            let rest = rest.replace('.', "/");
            parts.extend([format!("{first}/{rest}.py"), format!("{first}/{rest}")]);
        }
        let is_there = |part: &String| {
            let path = self.inside(part);
            path.is_some_and(|path| self.look(&path) != Found::Nothing)
        };
        // A folder that only has the name of a module, such as `build`, is none yet.
        if parts.iter().any(is_there) {
            self.add(first);
        } else {
            parts.iter().for_each(|part| self.add(part));
        }
    }

    /// Any other word.
    fn argument(&mut self, word: &str, role: Role) {
        if word.starts_with('-') {
            let value = word.split_once('=').map(|(_, value)| value);
            let path = value.and_then(|value| self.inside(value));
            if path.is_some_and(|path| self.look(&path) == Found::File) {
                self.add(value.unwrap_or_default());
            }
            return;
        }
        let Some(path) = self.inside(word) else {
            return;
        };
        let is_path = word.contains('/');
        let is_code = match self.look(&path) {
            // Of a name alone, most programs only read the file: `prettier --check README.md`.
            Found::File => is_path || role != Role::Argument || is_script(word),
            Found::Folder => is_path && matches!(role, Role::Project | Role::Package),
            // Somebody could put it there.
            Found::Nothing => {
                is_path && !is_name_of_other_things(word) && could_be_file(word, role)
            }
        };
        if is_code {
            self.add(word);
        }
    }

    /// Takes a word for code, if it is a path of the workspace.
    fn add(&mut self, word: &str) {
        self.found
            .extend(self.inside(word).filter(|path| !path.is_root()));
    }

    /// The path of the workspace that a word is, if it is one. What is filled in later can be anything.
    fn inside(&self, word: &str) -> Option<ProjectPath> {
        if word.contains("{{") {
            return None;
        }
        let path = Utf8Path::new(word);
        match path.strip_prefix(self.root) {
            Ok(path) if path.as_str().is_empty() => Some(ProjectPath::root()),
            Ok(path) => ProjectPath::normalize(path.as_str()).ok(),
            Err(_) => ProjectPath::normalize(word).ok(),
        }
    }

    /// What lies there now.
    fn look(&self, path: &ProjectPath) -> Found {
        file::found(&path.under(self.root))
    }
}

/// Whether a word names a package or a place on the web.
fn is_name_of_other_things(word: &str) -> bool {
    let is_scheme = |text: &str| {
        text.starts_with(|first: char| first.is_ascii_alphabetic())
            && text
                .bytes()
                .all(|one| one.is_ascii_alphanumeric() || b"+-.".contains(&one))
    };
    let scheme = word.split_once("://").map(|(scheme, _)| scheme);
    word.starts_with('@') || scheme.is_some_and(is_scheme)
}

/// Whether a file has a name of those that are run.
fn is_script(word: &str) -> bool {
    let extension = Utf8Path::new(word).extension();
    extension.is_some_and(|extension| SCRIPTS.contains(&extension))
}

/// How the names of files end that somebody runs by naming them.
const SCRIPTS: [&str; 19] = [
    "bash", "cjs", "cts", "go", "jar", "java", "js", "jsx", "lua", "mjs", "mts", "php", "pl", "py",
    "rb", "sh", "ts", "tsx", "wasm",
];

/// Whether a word in this role can name a file that is not there yet: to a launcher, `Europe/Berlin` does not.
fn could_be_file(word: &str, role: Role) -> bool {
    let has_extension = Utf8Path::new(word).extension().is_some();
    match role {
        Role::Argument | Role::Project => true,
        Role::Launched => has_extension,
        Role::Package => has_extension || word.starts_with(['.', '/']),
    }
}
