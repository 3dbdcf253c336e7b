//! A workspace with a bit of everything, on disk and in memory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{DiskFiles, MemoryFiles, PlaceKind, ProjectFiles};
use jig_proto::ProjectPath;

/// Where the files are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Disk,
    Memory,
}

impl On {
    pub(crate) const ALL: [On; 2] = [On::Disk, On::Memory];

    pub(crate) fn name(self) -> &'static str {
        match self {
            On::Disk => "disk",
            On::Memory => "memory",
        }
    }
}

const FILES: &[(&str, &[u8])] = &[
    ("README.md", b"# A project\n\nThe second line.\nThe end.\n"),
    ("src/main.rs", b"fn main() {\n    println!(\"here\");\n}\n"),
    ("src/deep/x.txt", b"deep text\nmore\n"),
    ("src/deep/y.txt", b"nothing else\n"),
    ("secret/key", b"the key\n"),
    (".env", b"SECRET=value\n"),
    (".jig/tool.toml", b"# here\n"),
    (".git/config", b"[core]\n\tbare = false\n"),
    ("odd.bin", &[0, 159, 146, 150]),
    // What a tool reads is not what it says.
    (
        "state.json",
        b"{\"type\":\"error\",\"message\":\"not an error\"}",
    ),
    ("wörter.txt", "grüße\n".as_bytes()),
];

/// The component, which has to be in the workspace (W-041): in all of them, so that they are alike.
pub(crate) const COMPONENT: &str = "tools.wasm";

/// Links, whatever they lead to.
const LINKS: &[(&str, &str)] = &[
    ("inside", "secret/key"),
    ("outside", "/etc/passwd"),
    ("dangling", "nothing-there"),
    ("loop", "loop"),
    ("src/link", "../secret"),
];

/// The workspace of one test. Each call finds it as it was in the beginning.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    /// The configuration is here, as it is in the workspace on disk.
    pub(crate) root: Utf8PathBuf,
    config: String,
    files: Backend,
}

enum Backend {
    Disk(Arc<DiskFiles>),
    Memory(Arc<MemoryFiles>),
}

impl Place {
    pub(crate) fn new(on: On, config: String) -> Self {
        // Thousands of small files come and go: where there is memory to put them, no disk has to keep up.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap().join("workspace");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("jig.toml"), &config).unwrap();
        let component = repository().join("target/guests/tools.wasm");
        let component = match fs::read(&component) {
            Ok(component) => component,
            Err(error) => panic!("{}: {error}: run `cargo xtask guests`", component.display()),
        };
        let files = match on {
            On::Disk => {
                fs::write(root.join(COMPONENT), &component).unwrap();
                Backend::Disk(Arc::new(DiskFiles::open(&root).unwrap()))
            }
            On::Memory => {
                let files = MemoryFiles::new();
                files.put_file(&path(COMPONENT), component, false).unwrap();
                Backend::Memory(Arc::new(files))
            }
        };
        Self {
            _folder: folder,
            root,
            config,
            files,
        }
    }

    pub(crate) fn files(&self) -> Arc<dyn ProjectFiles> {
        match &self.files {
            Backend::Disk(files) => Arc::clone(files) as Arc<dyn ProjectFiles>,
            Backend::Memory(files) => Arc::clone(files) as Arc<dyn ProjectFiles>,
        }
    }

    /// Makes the workspace what it was in the beginning. The component stays: no call changes it.
    pub(crate) fn restore(&self) {
        let files = self.files();
        let root = files.locate(&ProjectPath::root()).unwrap();
        for entry in files.list_dir(&root).unwrap().entries {
            if entry.name != COMPONENT {
                let place = files.locate_entry(&path(&entry.name)).unwrap();
                files.delete_tree(&place, &|_, _| true).unwrap();
            }
        }
        let config = ("jig.toml", self.config.as_bytes());
        for (name, content) in FILES.iter().chain([&config]) {
            match &self.files {
                Backend::Disk(_) => {
                    let file = self.root.join(name);
                    fs::create_dir_all(file.parent().unwrap()).unwrap();
                    fs::write(file, content).unwrap();
                }
                Backend::Memory(files) => {
                    files
                        .put_file(&path(name), content.to_vec(), false)
                        .unwrap();
                }
            }
        }
        for (name, target) in LINKS {
            match &self.files {
                Backend::Disk(_) => symlink(target, self.root.join(name)).unwrap(),
                Backend::Memory(files) => files.put_link(&path(name), target).unwrap(),
            }
        }
    }
}

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

pub(crate) fn repository() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap()
}

/// All that is in a workspace: what each path holds.
pub(crate) fn content(files: &dyn ProjectFiles) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![ProjectPath::root()];
    while let Some(directory) = open.pop() {
        let place = files.locate(&directory).unwrap();
        for entry in files.list_dir(&place).unwrap().entries {
            let below = directory.join(&path(&entry.name));
            let place = files.locate_entry(&below).unwrap();
            let held = match place.kind() {
                PlaceKind::Directory => {
                    open.push(below.clone());
                    "directory".to_owned()
                }
                PlaceKind::File if entry.name == COMPONENT => place.size().to_string(),
                PlaceKind::File => {
                    let bytes = files.read(&place, 1 << 20).unwrap();
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                other => format!("{other:?}"),
            };
            found.insert(below.to_string(), held);
        }
    }
    found
}
