//! [`workspace_code()`]: what of the workspace a command runs.
//!
//! That is told by the words of the command and by what lies in the workspace now. It is a guess on the safe side:
//! a file that a program only reads counts, and what a script loads in turn does not.

mod known_programs;

use std::collections::HashSet;

use camino::Utf8Path;
use jig_proto::ProjectPath;
use rustix::fs::FileType;

use self::known_programs::{
    Interpreter, InterpreterStart, LAUNCHER_OPTIONS, ProgramKind, split_args,
};
use crate::{Download, split_line};

/// The files and folders of the workspace at `root` that a command of these words runs, or that may tell what it runs:
/// whoever changes them runs with the rules of whoever has the command.
///
/// The workspace itself is none of them, whatever the command says: then no tool could change anything.
pub fn workspace_code(root: &Utf8Path, words: &[&str]) -> Vec<ProjectPath> {
    let mut code = CommandCode::new(root);
    code.words(words);
    code.found
}

/// The same for a command whose `line` a shell reads, with these arguments behind it.
pub fn workspace_code_of_shell<'w>(
    root: &Utf8Path,
    line: &str,
    args: impl IntoIterator<Item = &'w str>,
) -> Vec<ProjectPath> {
    let mut code = CommandCode::new(root);
    code.line(line);
    for word in args {
        code.argument(word, WordRole::Project);
    }
    code.found
}

/// The code that was found so far.
struct CommandCode<'a> {
    /// The workspace.
    root: &'a Utf8Path,
    found: Vec<ProjectPath>,
}

/// What a word may be for the program that gets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordRole {
    /// What a program works on: a folder is data.
    Argument,
    /// What a program builds or runs: a folder may be a project.
    Project,
    /// What a package works on. That came from elsewhere, and is handed names of many things beside files.
    Launched,
    /// What a launcher runs: a package, or a folder with one.
    Package,
}

impl<'a> CommandCode<'a> {
    fn new(root: &'a Utf8Path) -> Self {
        let found = Vec::new();
        Self { root, found }
    }

    /// The words of a command that no shell sees.
    fn words<'w>(&mut self, mut words: &'w [&'w str]) {
        // No recursion: whoever writes the command could make it as deep as they like.
        while let Some(command) = self.command(words) {
            words = command;
        }
    }

    /// What the first program of a command runs. Returns the command that this program starts in turn, if it does,
    /// which is shorter.
    fn command<'w>(&mut self, words: &'w [&'w str]) -> Option<&'w [&'w str]> {
        let (program, args) = words.split_first()?;
        if program.contains('/') {
            self.add(program);
        }
        match self.kind(program, args) {
            ProgramKind::Env => Some(self.behind_env(args)),
            ProgramKind::Interpreter(interpreter) => {
                self.interpreted(interpreter, args);
                None
            }
            ProgramKind::Launcher => self.launched(words, args),
            ProgramKind::ToolRun => self.launched(words, args.get(2..).unwrap_or_default()),
            ProgramKind::Project => self.project(args),
            ProgramKind::Other => self.other(args),
        }
    }

    /// What a word is as a program. A folder is none, whatever its name: `eslint ./src/node`.
    fn kind(&self, program: &str, args: &[&str]) -> ProgramKind {
        let path = self
            .inside(program)
            .filter(|_| program.contains('/'))
            .map(|path| self.look(&path));
        // A file of the workspace that is called `env` does whatever it likes.
        let is_foreign = !program.contains('/')
            || program.starts_with('/') && path.is_none() && !program.contains("/../");
        match ProgramKind::of(program, args) {
            _ if path == Some(Found::Folder) => ProgramKind::Other,
            ProgramKind::Env if !is_foreign => ProgramKind::Other,
            kind => kind,
        }
    }

    /// Words that have one role.
    fn arguments(&mut self, words: &[&str], role: WordRole) {
        for word in words {
            self.argument(word, role);
        }
    }

    /// What an interpreter is told to run, and what that works on.
    fn interpreted(&mut self, interpreter: &Interpreter, args: &[&str]) {
        let (before, start, behind) = split_args(args, interpreter.options);
        self.arguments(before, WordRole::Project);
        match start {
            Some(InterpreterStart::Script(word)) => self.script(word, interpreter),
            Some(InterpreterStart::Module(name)) => self.module(name),
            Some(InterpreterStart::Code(text)) if interpreter.is_shell => self.line(text),
            Some(InterpreterStart::Code(_)) | None => {}
        }
        self.arguments(behind, WordRole::Argument);
    }

    /// The command that `env` starts.
    fn behind_env<'w>(&mut self, args: &'w [&'w str]) -> &'w [&'w str] {
        let mut at = 0;
        while let Some(word) = args.get(at) {
            let next = args.get(at + 1).copied().unwrap_or_default();
            at += match *word {
                "-u" | "--unset" => 2,
                // What is run is named from there.
                "-C" | "--chdir" => {
                    self.add(next);
                    2
                }
                "-S" | "--split-string" => {
                    self.line(next);
                    2
                }
                word if word.starts_with('-') => {
                    self.argument(word, WordRole::Project);
                    1
                }
                word if word.contains('=') => 1,
                _ => break,
            };
        }
        args.get(at..).unwrap_or_default()
    }

    /// The arguments of a launcher. What is certain to come from a registry is nothing of the workspace. Returns the
    /// command that is left if the package is a program whose words are known: `npx tsx ./server`.
    fn launched<'w>(&mut self, words: &[&str], args: &'w [&'w str]) -> Option<&'w [&'w str]> {
        let owned: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let download = Download::of(&owned);
        let (before, start, behind) = split_args(args, &LAUNCHER_OPTIONS);
        let package = match start {
            Some(InterpreterStart::Script(word)) => Some(word),
            _ => None,
        };
        // `@scope/node` is not Node.js.
        let is_known = package.is_some_and(|word| {
            let kind = ProgramKind::of(word, &[]);
            !word.contains('/')
                && matches!(kind, ProgramKind::Interpreter(_) | ProgramKind::Project)
        });
        let role = match download {
            Some(_) => WordRole::Launched,
            None => WordRole::Package,
        };
        let packages: HashSet<String> = download
            .map(|download| download.packages.into_iter().collect())
            .unwrap_or_default();
        let named = before.iter().chain(package.as_ref());
        for word in named.filter(|word| !packages.contains(**word)) {
            self.argument(word, role);
        }
        if is_known {
            return args.get(args.len() - behind.len() - 1..);
        }
        self.arguments(behind, WordRole::Launched);
        None
    }

    /// The arguments of a program that builds or runs projects. Returns the command of an interpreter in one.
    fn project<'w>(&mut self, args: &'w [&'w str]) -> Option<&'w [&'w str]> {
        for (index, word) in args.iter().enumerate() {
            // `uv run python -m server`
            if let ProgramKind::Interpreter(_) = self.kind(word, &[]) {
                return args.get(index..);
            }
            self.argument(word, WordRole::Project);
            // `fastmcp run server.py:app`, `nix run ./server#main`
            let file = match word.split_once([':', '#']) {
                Some((file, _)) => {
                    self.argument(file, WordRole::Project);
                    file
                }
                None => word,
            };
            // It may come to be: `tsx later.ts`.
            if is_script(file) && !file.contains('/') && !file.starts_with('-') {
                self.add(file);
            }
        }
        None
    }

    /// The arguments of any other program. Returns the command that may be among them: `timeout 60 node ./server`.
    fn other<'w>(&mut self, args: &'w [&'w str]) -> Option<&'w [&'w str]> {
        let is_program = |word: &&str| !matches!(self.kind(word, &[]), ProgramKind::Other);
        let at = args.iter().position(is_program).unwrap_or(args.len());
        self.arguments(&args[..at], WordRole::Argument);
        args.get(at..)
    }

    /// The line of a shell, whose words are found as well as can be without being a shell.
    fn line(&mut self, line: &str) {
        for word in split_line(line).unwrap_or_default() {
            for word in word.split([';', '&', '|', '(', ')']) {
                self.argument(word, WordRole::Project);
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
    /// could be count whether something is there or not.
    fn module(&mut self, name: &str) {
        let mut place = String::new();
        for part in name.split('.').take(MOST_PARTS) {
            place.push_str(part);
            self.add(&format!("{place}.py"));
            place.push('/');
            self.add(&format!("{place}__init__.py"));
            self.add(&format!("{place}__main__.py"));
        }
    }

    /// Any other word.
    fn argument(&mut self, word: &str, role: WordRole) {
        let is_option = word.starts_with('-');
        let word = if is_option { value(word) } else { word };
        let Some(path) = self.inside(word) else {
            return;
        };
        let is_path = word.contains('/');
        let is_code = match self.look(&path) {
            // Of a name alone, most programs only read the file: `prettier --check README.md`.
            Found::File => is_path || is_script(word),
            Found::Folder => is_path && matches!(role, WordRole::Project | WordRole::Package),
            // Somebody could put it there.
            Found::Nothing => {
                !is_option && is_path && !is_name_of_other_things(word) && could_be_file(word, role)
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
        let found = rustix::fs::stat(path.under(self.root).as_std_path());
        match found.map(|found| FileType::from_raw_mode(found.st_mode)) {
            Ok(FileType::RegularFile) => Found::File,
            Ok(FileType::Directory) => Found::Folder,
            _ => Found::Nothing,
        }
    }
}

/// What a path leads to, through all links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// A regular file.
    File,
    /// A directory.
    Folder,
    /// Nothing, something else, or what nobody may look at.
    Nothing,
}

/// The value that an option has in its own word: `--config=a.json`, `-I./lib`.
fn value(option: &str) -> &str {
    match option.split_once('=') {
        Some((_, value)) => value,
        None => option
            .char_indices()
            .nth(2)
            .map_or("", |(at, _)| &option[at..]),
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
const SCRIPTS: [&str; 29] = [
    "bash", "cjs", "csproj", "cts", "dll", "exe", "go", "gradle", "jar", "java", "js", "jsx",
    "kts", "lua", "mjs", "mk", "mts", "nix", "php", "pl", "py", "pyz", "rb", "sh", "swift", "ts",
    "tsx", "wasm", "zsh",
];

/// The parts of a module's name that are looked at. A name of very many would make a list that grows with their
/// square.
const MOST_PARTS: usize = 16;

/// Whether a word in this role can name a file that is not there yet: to a launcher, `Europe/Berlin` does not.
fn could_be_file(word: &str, role: WordRole) -> bool {
    let has_extension = Utf8Path::new(word).extension().is_some();
    match role {
        WordRole::Argument | WordRole::Project => true,
        WordRole::Launched | WordRole::Package => has_extension || word.starts_with(['.', '/']),
    }
}
