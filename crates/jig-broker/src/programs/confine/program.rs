//! A tool's own program: what it takes to start it, found without running anything.
//!
//! A name is looked for where the host would look, a shim is replaced by the program behind it, a script
//! brings its interpreter along, and what lies hidden is shown: the file, or the folder that a program was
//! installed into. What the command names literally is readable, too.
//!
//! A tool may be able to write in the workspace, and so to replace its own program, or a directory on the
//! way to it, by a link or by a script that names any file of the user's as its interpreter. So what is
//! found through the workspace opens nothing but itself: everything else must be visible anyway, or be on
//! the user's search path.

use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

use jig_policy::Sensitive;
use jig_sandbox::{PrivateContent, PrivateFile, Rights, RuleSource};

use super::ConfineError;
use super::host_files::{self, HostFileType};
use super::shim::{self, ShimTarget};
use super::shown_paths::ShownRules;
use super::toolchain::VirtualEnvironment;

#[cfg(test)]
mod tests;

/// Where programs are looked for, and what stays out of sight whatever is named.
pub(super) struct ProgramSurroundings<'a> {
    /// The canonical root of the workspace.
    pub(super) root: &'a Path,
    /// The same as it was given, which may go through links.
    pub(super) given_root: &'a Path,
    /// The user's home.
    pub(super) home: Option<&'a Path>,
    /// The home of the confined program.
    pub(super) private_home: &'a Path,
    /// The directories of the host's search path, as they stand there and without links.
    pub(super) search_path: &'a [(PathBuf, PathBuf)],
    /// Whether the policy lets the tool read a path of the workspace, be it by asking for it.
    pub(super) readable: &'a dyn Fn(&Path) -> bool,
    /// The list of sensitive paths.
    pub(super) sensitive: &'a Sensitive,
    /// The host's variables, such as `RUSTUP_TOOLCHAIN`.
    pub(super) variable: &'a dyn Fn(&str) -> Option<String>,
    /// Where in the workspace the program starts, canonical.
    pub(super) start: &'a Path,
    /// The first argument of the program, if it is one for rustup: `+nightly`.
    pub(super) toolchain: Option<&'a str>,
    /// Whether some host may be reached.
    pub(super) online: bool,
    /// The virtual environment that is active.
    pub(super) virtual_environment: Option<VirtualEnvironment>,
}

impl ProgramSurroundings<'_> {
    /// Whether a directory of the user's lies beside all that must not be shown with it: no home, nothing that
    /// the workspace lies in, nothing sensitive.
    pub(super) fn is_apart(&self, directory: &Path) -> bool {
        let is_home = self.home.is_some_and(|home| home.starts_with(directory))
            || directory.parent() == Some(Path::new("/home"))
            || directory == Path::new("/root");
        directory.parent().is_some()
            && !is_home
            && !self.root.starts_with(directory)
            && !is_sensitive(self.sensitive, directory)
    }

    /// Whether a directory can be shown as a whole: it is apart, and holds no credentials.
    pub(super) fn may_show(&self, directory: &Path) -> bool {
        let holds_secret = || {
            host_files::names(directory).iter().any(|name| {
                jig_proto::ProjectPath::normalize(&name.to_string_lossy())
                    .is_ok_and(|name| self.sensitive.find(&name).is_some())
            })
        };
        self.is_apart(directory) && !holds_secret()
    }
}

/// A program that can be started.
#[derive(Debug, Default)]
pub(super) struct OwnProgram {
    /// What to start.
    pub(super) program: PathBuf,
    /// Directories in which the program, or the interpreter of a script, was found.
    pub(super) directories: Vec<PathBuf>,
    /// Links that give a program the name that it was called by.
    pub(super) links: Vec<PrivateFile>,
    /// Programs that `env` finds by name, each with the path to start it by.
    pub(super) interpreters: Vec<(OsString, PathBuf)>,
    /// What a person should know.
    pub(super) warnings: Vec<String>,
}

/// Finds the program of a command and shows what it needs.
pub(super) fn show(
    around: &ProgramSurroundings<'_>,
    program: &OsStr,
    literals: &[OsString],
    shown: &mut ShownRules,
) -> Result<OwnProgram, ConfineError> {
    let mut search = ProgramSearch {
        around,
        shown,
        own: OwnProgram::default(),
    };
    search.own.program = search.program(program, ProgramNamedBy::ByTheUser, 0)?;
    if Path::new(program).file_name() == Some(OsStr::new("env")) {
        // What `env` starts is as much the tool's program as `env` itself.
        let words: Vec<&OsStr> = literals.iter().map(OsString::as_os_str).collect();
        if let Some(name) = shim::started_by_env(&words) {
            search.by_name(name, ProgramNamedBy::ByTheUser, 1)?;
        }
    }
    for word in literals {
        search.literal(word);
    }
    Ok(search.own)
}

/// Finds an installed program, for a preset: shows it and gives its path.
pub(super) fn installed(
    around: &ProgramSurroundings<'_>,
    name: &str,
    shown: &mut ShownRules,
) -> Result<OwnProgram, ConfineError> {
    show(around, OsStr::new(name), &[], shown)
}

/// Where a program stands, by its name or path, with shims replaced.
pub(super) fn place(around: &ProgramSurroundings<'_>, program: &OsStr) -> Option<PathBuf> {
    let search = ProgramSearch {
        around,
        shown: &mut ShownRules::default(),
        own: OwnProgram::default(),
    };
    search.find(program).ok()
}

struct ProgramSearch<'a> {
    around: &'a ProgramSurroundings<'a>,
    shown: &'a mut ShownRules,
    own: OwnProgram,
}

/// Who named a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramNamedBy {
    /// The command, or a script that no tool can write.
    ByTheUser,
    /// A script in the workspace.
    ByAFile,
}

impl ProgramSearch<'_> {
    /// Finds one program, shows it and gives the path to start it by.
    fn program(
        &mut self,
        program: &OsStr,
        said: ProgramNamedBy,
        depth: usize,
    ) -> Result<PathBuf, ConfineError> {
        let found = self.find(program)?;
        let not_found = || self.not_found(program);
        // Directories on the way may be links, which are not there in the sandbox.
        let place = settled(&found).ok_or_else(not_found)?;
        let (links, target) = host_files::hops(&place).ok_or_else(not_found)?;
        let is_inside = found.starts_with(self.around.root);
        let is_free = match said {
            ProgramNamedBy::ByTheUser => !is_inside || self.may_be_named(&found, &target),
            ProgramNamedBy::ByAFile => false,
        };
        if !is_free && !self.is_anybodys(&place, &target) {
            return Err(ConfineError::ProgramLeaves {
                program: program.to_string_lossy().into_owned(),
            });
        }
        if said == ProgramNamedBy::ByTheUser && is_inside && place == found {
            self.show_virtual_environment(&place);
        }
        self.show_program(&target);
        if depth < MOST_INTERPRETERS {
            let said = match target.starts_with(self.around.root) {
                true => ProgramNamedBy::ByAFile,
                false => said,
            };
            self.interpreter(&target, said, depth)?;
        }
        Ok(self.startable(&place, &links, target))
    }

    /// Whether a path of the workspace that the command names is what it says, or leads to something that
    /// the tool may read in any case.
    fn may_be_named(&self, written: &Path, target: &Path) -> bool {
        let below = target.strip_prefix(self.around.root);
        written == target || below.is_ok_and(|below| (self.around.readable)(below))
    }

    /// Whether a program is visible to every program here, or to whoever calls it by its name.
    fn is_anybodys(&self, place: &Path, target: &Path) -> bool {
        let by_name = |path: &Path| {
            // What an environment in the workspace has under that name may be a link to anything.
            let mut folders = self.search_path();
            folders.retain(|folder| !folder.starts_with(self.around.root));
            let name = path.file_name();
            let found = name.and_then(|name| self.find_in(&folders, name));
            found
                .and_then(|found| host_files::canonical(&found))
                .as_deref()
                == Some(target)
        };
        self.shown.rights(target).has(PROGRAM)
            || !target.starts_with(self.around.root) && (by_name(place) || by_name(target))
    }

    /// The place of a program as the host would find it, with shims replaced.
    fn find(&self, program: &OsStr) -> Result<PathBuf, ConfineError> {
        let path = Path::new(program);
        if path.components().count() > 1 || path.is_absolute() {
            let place = self.written(path);
            return match self.behind(&place, program) {
                Some(ShimTarget::Program(real)) if !place.starts_with(self.around.root) => Ok(real),
                _ => Ok(place),
            };
        }
        let found = self.find_in(&self.search_path(), program);
        found.ok_or_else(|| self.not_found(program))
    }

    /// The place of a program that is looked for by its name in these directories.
    fn find_in(&self, directories: &[PathBuf], program: &OsStr) -> Option<PathBuf> {
        for directory in directories {
            let place = directory.join(program);
            if host_files::stands(&place) != Some(HostFileType::File { executable: true }) {
                continue;
            }
            match self.behind(&place, program) {
                None => return Some(place),
                Some(ShimTarget::Program(real)) => return Some(real),
                Some(ShimTarget::Nothing) => {}
            }
        }
        None
    }

    /// A path as it was written, absolute and normal. Nothing is looked at, so that it says where somebody
    /// meant to be, wherever links lead to.
    fn written(&self, path: &Path) -> PathBuf {
        let mut written = PathBuf::new();
        for component in self.around.root.join(path).components() {
            match component {
                Component::ParentDir => {
                    written.pop();
                }
                other => written.push(other),
            }
        }
        match written.strip_prefix(self.around.given_root) {
            Ok(below) => self.around.root.join(below),
            Err(_) => written,
        }
    }

    fn behind(&self, place: &Path, program: &OsStr) -> Option<ShimTarget> {
        let name = Path::new(program).file_name()?;
        shim::behind(place, name, self.around)
    }

    /// The directories in which names are looked for. None of the workspace, in which a tool could plant a
    /// program, but the virtual environment that is active for a person who typed the command.
    fn search_path(&self) -> Vec<PathBuf> {
        let environment = self.around.virtual_environment.as_ref();
        let active = environment.map(VirtualEnvironment::programs);
        let mut folders: Vec<PathBuf> = Vec::new();
        for (_, canonical) in self.around.search_path {
            let is_inside = canonical.starts_with(self.around.root);
            let is_active = active.as_ref() == Some(canonical);
            // One may be there twice, also under the name of a link to it.
            if (!is_inside || is_active) && !folders.contains(canonical) {
                folders.push(canonical.clone());
            }
        }
        folders
    }

    /// Shows a program that is to be started, if it cannot be seen yet.
    fn show_program(&mut self, target: &Path) {
        if self.shown.rights(target).has(PROGRAM) {
            return;
        }
        let is_inside = target.starts_with(self.around.root);
        if is_inside || !self.show_package(target) && !self.show_prefix(target) {
            self.shown.widen(target, PROGRAM, RuleSource::System);
        }
    }

    /// Shows the package of Node that a program belongs to: it needs the rest of it.
    fn show_package(&mut self, program: &Path) -> bool {
        let Some(package) = package(program) else {
            return false;
        };
        if !self.around.may_show(&package) {
            return false;
        }
        self.shown.widen(&package, PROGRAM, RuleSource::System);
        true
    }

    /// Shows a virtual environment of Python, without which its program would be another one.
    fn show_virtual_environment(&mut self, program: &Path) {
        if let Some(prefix) = prefix(program)
            && host_files::is_file(&prefix.join("pyvenv.cfg"))
            && self.around.may_show(prefix)
        {
            self.shown.widen(prefix, PROGRAM, RuleSource::System);
        }
    }

    /// Shows the folder that a program was installed into, if it looks like one and nothing else would come
    /// into sight with it.
    fn show_prefix(&mut self, program: &Path) -> bool {
        let Some(prefix) = prefix(program) else {
            return false;
        };
        if !self.around.may_show(prefix) {
            return false;
        }
        let is_shared = prefix
            .file_name()
            .is_some_and(|name| SHARED.contains(&name.to_str().unwrap_or_default()));
        if is_shared {
            for part in ["bin", "lib"] {
                let part = prefix.join(part);
                if host_files::canonical(&part).as_deref() == Some(&part) {
                    self.shown.widen(&part, PROGRAM, RuleSource::System);
                }
            }
        } else {
            self.shown.widen(prefix, PROGRAM, RuleSource::System);
        }
        true
    }

    /// Shows the interpreter of a script.
    fn interpreter(
        &mut self,
        script: &Path,
        said: ProgramNamedBy,
        depth: usize,
    ) -> Result<(), ConfineError> {
        let Some(line) = host_files::head(script, LONGEST_SHEBANG).and_then(|head| shebang(&head))
        else {
            return Ok(());
        };
        let mut words = line.split_ascii_whitespace();
        let Some(interpreter) = words.next() else {
            return Ok(());
        };
        let found = self.program(OsStr::new(interpreter), said, depth + 1)?;
        if found.file_name() == Some(OsStr::new("env")) {
            let words: Vec<&OsStr> = words.map(OsStr::new).collect();
            if let Some(name) = shim::started_by_env(&words) {
                self.by_name(name, said, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Finds a program that will be looked for by its name once more, in the sandbox.
    fn by_name(
        &mut self,
        name: &OsStr,
        said: ProgramNamedBy,
        depth: usize,
    ) -> Result<(), ConfineError> {
        let program = self.program(name, said, depth)?;
        if Path::new(name).file_name() == Some(name) {
            self.own.interpreters.push((name.to_owned(), program));
        }
        Ok(())
    }

    /// The path to start a program by. Programs look at their own path and name, so it is the one that was
    /// found, if all on the way can be seen.
    fn startable(&mut self, place: &Path, links: &[PathBuf], target: PathBuf) -> PathBuf {
        let is_seen = |link: &PathBuf| self.shown.rights(link).has(Rights::READ);
        let start = if links.iter().all(is_seen) {
            place.to_owned()
        } else if place.file_name() == target.file_name() {
            target
        } else {
            let link = self.around.private_home.join(LINKS).join(name_of(place));
            self.own.links.push(PrivateFile {
                path: link.clone(),
                content: PrivateContent::Link(target),
            });
            link
        };
        if let Some(directory) = start.parent()
            && !start.starts_with(self.around.root)
            && !self.own.directories.iter().any(|one| one == directory)
        {
            self.own.directories.push(directory.to_owned());
        }
        start
    }

    /// Shows what a word of the command names, if it names a file, or a directory outside the workspace.
    fn literal(&mut self, word: &OsStr) {
        self.named(word);
        // `PYTHONPATH=../lib`, `--config=x.toml`.
        if let Some((_, value)) = word.to_str().and_then(|word| word.split_once('=')) {
            self.named(OsStr::new(value));
        }
    }

    fn named(&mut self, word: &OsStr) {
        if word.is_empty() {
            return;
        }
        let root = self.around.root;
        let written = self.written(Path::new(word));
        let Some(target) = host_files::canonical(&written) else {
            return;
        };
        let is_named = match host_files::stands_itself(&target) {
            Some(HostFileType::File { .. }) => true,
            Some(HostFileType::Directory) => {
                !written.starts_with(root) && self.around.may_show(&target)
            }
            _ => false,
        };
        if !is_named || self.shown.rights(&target).has(Rights::READ) {
            return;
        }
        let below_root = target.strip_prefix(root).unwrap_or(&target);
        let refused = if written.starts_with(root) && !self.may_be_named(&written, &target) {
            "is, or lies behind, a link to something that the tool may not read"
        } else if is_sensitive(self.around.sensitive, below_root) {
            "is on the list of sensitive paths, so that it takes a rule to read it"
        } else {
            self.shown.widen(&target, Rights::READ, RuleSource::System);
            return;
        };
        let word = word.to_string_lossy();
        self.own
            .warnings
            .push(format!("`{word}` of the command {refused}"));
    }

    fn not_found(&self, program: &OsStr) -> ConfineError {
        let is_name = Path::new(program).components().count() == 1;
        ConfineError::ProgramNotFound {
            program: program.to_string_lossy().into_owned(),
            looked: match is_name {
                true => self.search_path(),
                false => vec![self.written(Path::new(program))],
            },
        }
    }
}

/// The name of the program that interprets a script.
pub(super) fn interpreter_name(script: &Path) -> Option<String> {
    let line = shebang(&host_files::head(script, LONGEST_SHEBANG)?)?;
    let words: Vec<&OsStr> = line.split_ascii_whitespace().map(OsStr::new).collect();
    let (interpreter, rest) = words.split_first()?;
    let name = Path::new(interpreter).file_name()?;
    let name = match name == "env" {
        true => shim::started_by_env(rest)?,
        false => name,
    };
    Some(Path::new(name).file_name()?.to_str()?.to_owned())
}

/// A path with all links resolved but for the last component.
fn settled(path: &Path) -> Option<PathBuf> {
    Some(host_files::canonical(path.parent()?)?.join(path.file_name()?))
}

/// The folder that a program was installed into: that above its `bin`, if libraries lie beside it.
pub(super) fn prefix(program: &Path) -> Option<&Path> {
    let bin = program.parent()?;
    if !matches!(bin.file_name()?.to_str()?, "bin" | "sbin" | "libexec") {
        return None;
    }
    let prefix = bin.parent()?;
    let has = |name: &&str| host_files::is_directory(&prefix.join(name));
    ["lib", "lib64", "pkg"].iter().any(has).then_some(prefix)
}

/// The outermost package of Node that a file belongs to: `…/node_modules/NAME` or `…/node_modules/@SCOPE/NAME`.
fn package(file: &Path) -> Option<PathBuf> {
    let mut components = file.components();
    let mut package = PathBuf::new();
    loop {
        let component = components.next()?;
        package.push(component);
        if component.as_os_str() == "node_modules" {
            break;
        }
    }
    let name = components.next()?;
    package.push(name);
    if name.as_os_str().as_encoded_bytes().starts_with(b"@") {
        package.push(components.next()?);
    }
    // The file lies in it.
    components.next().map(|_| package)
}

/// Whether a path is, or lies in, something on the list of sensitive paths.
pub(super) fn is_sensitive(sensitive: &Sensitive, path: &Path) -> bool {
    let text = path.to_string_lossy();
    let relative = jig_proto::ProjectPath::normalize(text.trim_start_matches('/'));
    relative.is_ok_and(|path| sensitive.find(&path).is_some())
}

/// What follows `#!`, if the file is a script.
fn shebang(head: &[u8]) -> Option<String> {
    let rest = head.strip_prefix(b"#!")?;
    let line = rest.split(|byte| *byte == b'\n').next()?;
    String::from_utf8(line.to_vec()).ok()
}

fn name_of(path: &Path) -> &OsStr {
    path.file_name().unwrap_or(path.as_os_str())
}

/// What it takes to start a program.
const PROGRAM: Rights = Rights::READ.with(Rights::EXECUTE);

/// Folders with programs and libraries in which much else lies.
const SHARED: &[&str] = &[".local", ".config", ".cache", "var"];

/// Where links with names of programs are, in the private home.
pub(super) const LINKS: &str = ".jig/bin";

/// A script's interpreter may be a script, as the kernel has it, but not for ever.
const MOST_INTERPRETERS: usize = 4;

/// As long as Linux reads.
const LONGEST_SHEBANG: usize = 256;
