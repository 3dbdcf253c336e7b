//! Scripts that run on any backend: one line, one operation, one outcome in words.

use std::collections::HashMap;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_files::{
    ContentHash, DirEntryKind, DiskFiles, DiskOptions, FileEdit, FileHandle, FilesError, GrepQuery,
    MemoryFiles, NullFiles, OpenOptions, Place, PlaceKind, ProjectFiles, RenameOptions,
    WriteOptions,
};
use jig_proto::ProjectPath;

/// A backend with an empty workspace, and how to put things into it from outside.
pub(crate) struct Bench {
    pub(crate) name: &'static str,
    pub(crate) files: Arc<dyn ProjectFiles>,
    pub(crate) root: Utf8PathBuf,
    memory: Option<Arc<MemoryFiles>>,
    held: HashMap<String, Place>,
    opened: HashMap<String, FileHandle>,
    _folder: Option<tempfile::TempDir>,
}

impl Bench {
    /// Every backend that holds files. The second uses on Linux what other systems use.
    pub(crate) fn all() -> Vec<Self> {
        vec![Self::disk(false), Self::disk(true), Self::memory()]
    }

    pub(crate) fn disk(portable: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let above = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        let root = above.join("root");
        std::fs::create_dir(&root).unwrap();
        let options = DiskOptions {
            state: Some(above.join("state")),
            portable,
        };
        Self {
            name: if portable { "portable disk" } else { "disk" },
            files: Arc::new(DiskFiles::with_options(&root, &options).unwrap()),
            root,
            memory: None,
            held: HashMap::new(),
            opened: HashMap::new(),
            _folder: Some(folder),
        }
    }

    pub(crate) fn memory() -> Self {
        let files = Arc::new(MemoryFiles::new());
        Self {
            name: "memory",
            root: files.display_root().to_owned(),
            files: Arc::clone(&files) as Arc<dyn ProjectFiles>,
            memory: Some(files),
            held: HashMap::new(),
            opened: HashMap::new(),
            _folder: None,
        }
    }

    pub(crate) fn null() -> Self {
        Self {
            name: "null",
            files: Arc::new(NullFiles),
            root: Utf8PathBuf::from("/workspace"),
            memory: None,
            held: HashMap::new(),
            opened: HashMap::new(),
            _folder: None,
        }
    }

    /// Puts a link there, from outside.
    fn link(&self, at: &str, target: &str) {
        let target = target.replace("ROOT", self.root.as_str());
        match &self.memory {
            Some(memory) => {
                let _ = memory.put_link(&path(at), &target);
            }
            None => {
                let at = self.root.join(at);
                let directory = at.symlink_metadata().is_ok_and(|there| there.is_dir());
                if at.parent().is_some_and(|above| above.is_dir()) && !directory {
                    let _ = std::fs::remove_file(&at);
                    let _ = std::os::unix::fs::symlink(target, &at);
                }
            }
        }
    }

    /// Puts a program there, from outside.
    fn program(&self, at: &str, content: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        match &self.memory {
            Some(memory) => memory
                .put_file(&path(at), content.to_owned(), true)
                .unwrap(),
            None => {
                let at = self.root.join(at);
                std::fs::write(&at, content).unwrap();
                std::fs::set_permissions(&at, std::fs::Permissions::from_mode(0o755)).unwrap();
            }
        }
    }

    /// Does one line. The outcome is `ok` or what was found, or an error's name.
    pub(crate) fn run(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["link", at, target] => self.link(at, target),
            ["program", at, content] => self.program(at, &text(content)),
            ["hold", name, at] => match self.files.locate(&path(at)) {
                Ok(place) => {
                    self.held.insert(name.to_owned(), place);
                }
                Err(error) => return name_of(&error),
            },
            ["hold-entry", name, at] => match self.files.locate_entry(&path(at)) {
                Ok(place) => {
                    self.held.insert(name.to_owned(), place);
                }
                Err(error) => return name_of(&error),
            },
            ["open", name, flags, at] => {
                let opened = match at.strip_prefix('@') {
                    Some(held) => self.files.open_file(&self.held[held], &flagged(flags)),
                    None => self.open(&path(at), &flagged(flags)),
                };
                match opened {
                    Ok(file) => {
                        self.opened.insert(name.to_owned(), file);
                    }
                    Err(error) => return name_of(&error),
                }
            }
            ["same", one, two] => return self.opened[one].is_same(&self.opened[two]).to_string(),
            [verb, name, ref rest @ ..] if verb.starts_with(':') => {
                let Some(file) = self.opened.get(name) else {
                    return "closed".to_owned();
                };
                return handle(file, verb, rest).unwrap_or_else(|error| name_of(&error));
            }
            _ => return self.act(&words).unwrap_or_else(|error| name_of(&error)),
        }
        "ok".to_owned()
    }

    fn open(&self, at: &ProjectPath, options: &OpenOptions) -> Result<FileHandle, FilesError> {
        let place = match options.exclusive {
            true => self.files.locate_entry(at)?,
            false => self.files.locate(at)?,
        };
        self.files.open_file(&place, options)
    }

    fn act(&self, words: &[&str]) -> Result<String, FilesError> {
        let files = &*self.files;
        let found;
        let by_entry = matches!(
            words[0],
            "entry" | "delete" | "delete-tree" | "rename" | "move" | "rmdir"
        );
        let place = match words.get(1).and_then(|at| at.strip_prefix('@')) {
            Some(name) => &self.held[name],
            None if words[0] == "grep" => {
                found = files.locate(&ProjectPath::root())?;
                &found
            }
            None if by_entry => {
                found = files.locate_entry(&path(words[1]))?;
                &found
            }
            None => {
                found = files.locate(&path(words[1]))?;
                &found
            }
        };
        let plain = WriteOptions::default();
        let written = |created: bool| if created { "created" } else { "updated" };
        Ok(match *words {
            ["locate" | "entry", at] => describe(place, at),
            ["read", _] => shown(&files.read(place, u64::MAX)?),
            ["read", _, limit] => shown(&files.read(place, limit.parse().unwrap())?),
            ["range", _, offset, length] => {
                let (offset, length) = (offset.parse().unwrap(), length.parse().unwrap());
                shown(&files.read_range(place, offset, length)?)
            }
            ["write", _, content] => {
                written(files.write(place, text(content).as_bytes(), &plain)?).to_owned()
            }
            ["put", _, content] => {
                files.write(place, text(content).as_bytes(), &plain)?;
                "ok".to_owned()
            }
            ["write-here", _, content] => {
                let options = WriteOptions {
                    parents: false,
                    ..plain
                };
                written(files.write(place, text(content).as_bytes(), &options)?).to_owned()
            }
            ["write-durable", _, content] => {
                let options = WriteOptions {
                    durable: true,
                    ..plain
                };
                written(files.write(place, text(content).as_bytes(), &options)?).to_owned()
            }
            ["create", _, content] => {
                let options = WriteOptions {
                    exclusive: true,
                    ..plain
                };
                written(files.write(place, text(content).as_bytes(), &options)?).to_owned()
            }
            ["swap", _, old, new] => {
                let options = WriteOptions {
                    if_match: Some(ContentHash::of(text(old).as_bytes())),
                    ..plain
                };
                written(files.write(place, text(new).as_bytes(), &options)?).to_owned()
            }
            ["append", _, content] => {
                written(files.append(place, text(content).as_bytes(), &plain)?).to_owned()
            }
            ["append-to", _, old, content] => {
                let options = WriteOptions {
                    if_match: Some(ContentHash::of(text(old).as_bytes())),
                    ..plain
                };
                written(files.append(place, text(content).as_bytes(), &options)?).to_owned()
            }
            ["patch", _, find, with] => {
                let edit = FileEdit::Text {
                    find: text(find).into(),
                    with: text(with).into(),
                    all: false,
                };
                files.patch(place, &[edit], 1000, &plain)?;
                "ok".to_owned()
            }
            ["list", _] => listed(&files.list_dir(place)?),
            ["mkdir", _] => {
                files.make_dir(place, false)?;
                "ok".to_owned()
            }
            ["mkdirs", _] => {
                files.make_dir(place, true)?;
                "ok".to_owned()
            }
            ["delete", _] => {
                files.delete(place)?;
                "ok".to_owned()
            }
            ["rmdir", _] => {
                files.remove_dir(place)?;
                "ok".to_owned()
            }
            ["delete-tree", _] => format!("{} gone", files.delete_tree(place, &|_, _| true)?),
            ["delete-tree", _, denied] => {
                let denied = path(denied);
                let may = move |path: &ProjectPath, _: bool| *path != denied;
                format!("{} gone", files.delete_tree(place, &may)?)
            }
            ["rename" | "move", _, to] => {
                let to = files.locate(&path(to))?;
                let options = RenameOptions {
                    overwrite: words[0] == "rename",
                    ..RenameOptions::default()
                };
                files.rename(place, &to, &options)?;
                "ok".to_owned()
            }
            ["grep", pattern, ref paths @ ..] => {
                let mut query = GrepQuery::new(pattern);
                query.paths = paths.iter().map(|at| path(at)).collect();
                matches(&files.grep(&query, &|_, _| true)?)
            }
            _ => panic!("no such line: {words:?}"),
        })
    }
}

/// How to open: read, write, create, exclusive (`x`), truncate.
fn flagged(flags: &str) -> OpenOptions {
    OpenOptions {
        read: flags.contains('r'),
        write: flags.contains('w'),
        create: flags.contains('c'),
        exclusive: flags.contains('x'),
        truncate: flags.contains('t'),
    }
}

/// Does something with a file that is open.
fn handle(file: &FileHandle, verb: &str, words: &[&str]) -> Result<String, FilesError> {
    let number = |word: &str| word.parse().unwrap();
    Ok(match (verb, words) {
        (":read", [offset, most]) => shown(&file.read_at(number(offset), number(most) as usize)?),
        (":write", [offset, content]) => {
            file.write_at(number(offset), text(content).as_bytes())?;
            "ok".to_owned()
        }
        (":append", [content]) => {
            file.append(text(content).as_bytes())?;
            "ok".to_owned()
        }
        (":resize", [size]) => {
            file.set_size(number(size))?;
            "ok".to_owned()
        }
        (":size", []) => file.state()?.0.to_string(),
        (":sync", []) => {
            file.sync()?;
            "ok".to_owned()
        }
        (":path", []) => file.path().to_string(),
        _ => panic!("no such line: {verb} {words:?}"),
    })
}

/// The path that a word means; `.` is the workspace.
pub(crate) fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

/// Runs a script: each line is an operation, optionally with `=>` and the expected outcome (`ok` if
/// it has none).
pub(crate) fn check(bench: &mut Bench, script: &str) {
    for line in script.lines().map(str::trim) {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (operation, expected) = line.split_once("=>").unwrap_or((line, "ok"));
        let outcome = bench.run(operation.trim());
        assert_eq!(
            outcome,
            expected.trim(),
            "on {}: {operation}\nin {script}",
            bench.name
        );
    }
}

/// A word as content: `-` is nothing, `\n` a line feed.
fn text(word: &str) -> String {
    if word == "-" {
        return String::new();
    }
    word.replace("\\n", "\n")
}

fn shown(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "-".to_owned();
    }
    String::from_utf8_lossy(bytes)
        .replace('\n', "\\n")
        .replace('\0', "0")
}

fn describe(place: &Place, asked: &str) -> String {
    let mut words = match place.kind() {
        PlaceKind::Missing => "missing".to_owned(),
        PlaceKind::Directory => "dir".to_owned(),
        PlaceKind::File if place.executable() => format!("program {}", place.size()),
        PlaceKind::File => format!("file {}", place.size()),
        PlaceKind::Link(_) => "link".to_owned(),
        PlaceKind::Other => "other".to_owned(),
    };
    assert_eq!(place.exists(), place.resolved().exists());
    if *place.path() != path(asked) {
        words += &format!(" at {}", place.path());
    }
    words
}

fn listed(listing: &jig_files::Listing) -> String {
    let mut words = Vec::new();
    for entry in &listing.entries {
        let mark = match entry.kind {
            DirEntryKind::File => "",
            DirEntryKind::Directory => "/",
            DirEntryKind::Other => "?",
            DirEntryKind::BrokenLink => "!",
        };
        match &entry.leads_to {
            Some(target) => words.push(format!("{}{mark}>{target}", entry.name)),
            None => words.push(format!("{}{mark}", entry.name)),
        }
    }
    if words.is_empty() {
        return "nothing".to_owned();
    }
    words.join(" ")
}

fn matches(found: &jig_files::Matches) -> String {
    let mut words = Vec::new();
    for file in &found.files {
        for line in &file.lines {
            let mark = if line.is_match { ':' } else { '-' };
            words.push(format!(
                "{}{mark}{}{mark}{}",
                file.path, line.line_number, line.content
            ));
        }
    }
    if words.is_empty() {
        return "nothing".to_owned();
    }
    words.join(" ")
}

/// The variant's name.
pub(crate) fn name_of(error: &FilesError) -> String {
    let whole = format!("{error:?}");
    let end = whole.find(|c: char| !c.is_alphanumeric());
    whole[..end.unwrap_or(whole.len())].to_owned()
}
