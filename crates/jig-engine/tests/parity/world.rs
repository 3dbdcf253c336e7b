//! A workspace with a bit of everything, on disk and in memory.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_files::{DiskFiles, Kind, MemoryFiles, ProjectFiles};
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
    ("state.json", b"{\"type\":\"error\",\"message\":\"not an error\"}"),
    ("wörter.txt", "grüße\n".as_bytes()),
];

/// Links, whatever they lead to.
const LINKS: &[(&str, &str)] = &[
    ("inside", "secret/key"),
    ("outside", "/etc/passwd"),
    ("dangling", "nothing-there"),
    ("loop", "loop"),
    ("src/link", "../secret"),
];

/// Where the workspaces of one test are, one after the other in the same place.
pub(crate) struct Place {
    _folder: tempfile::TempDir,
    /// The configuration is here, as it is in the workspace on disk.
    pub(crate) root: Utf8PathBuf,
    on: On,
    config: String,
}

impl Place {
    pub(crate) fn new(on: On, config: String) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap().join("workspace");
        fs::create_dir(&root).unwrap();
        fs::write(root.join("jig.toml"), &config).unwrap();
        Self {
            _folder: folder,
            root,
            on,
            config,
        }
    }

    /// A workspace as it is before every call.
    pub(crate) fn workspace(&self) -> Arc<dyn ProjectFiles> {
        match self.on {
            On::Disk => {
                fs::remove_dir_all(&self.root).unwrap();
                fs::create_dir(&self.root).unwrap();
                fs::write(self.root.join("jig.toml"), &self.config).unwrap();
                for (path, content) in FILES {
                    let path = self.root.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, content).unwrap();
                }
                for (path, target) in LINKS {
                    symlink(target, self.root.join(path)).unwrap();
                }
                Arc::new(DiskFiles::open(&self.root).unwrap())
            }
            On::Memory => {
                let files = MemoryFiles::new();
                let config = ("jig.toml", self.config.as_bytes());
                for (path, content) in FILES.iter().chain([&config]) {
                    let path = ProjectPath::normalize(path).unwrap();
                    files.put_file(&path, content.to_vec(), false).unwrap();
                }
                for (path, target) in LINKS {
                    let path = ProjectPath::normalize(path).unwrap();
                    files.put_link(&path, target).unwrap();
                }
                Arc::new(files)
            }
        }
    }
}

/// All that is in a workspace: what each path holds.
pub(crate) fn content(files: &dyn ProjectFiles) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![ProjectPath::root()];
    while let Some(directory) = open.pop() {
        let place = files.locate(&directory).unwrap();
        for entry in files.list_dir(&place).unwrap().entries {
            let path = directory.join(&ProjectPath::normalize(&entry.name).unwrap());
            let place = files.locate_entry(&path).unwrap();
            let held = match place.kind() {
                Kind::Directory => {
                    open.push(path.clone());
                    "directory".to_owned()
                }
                Kind::File => {
                    let bytes = files.read(&place, 1 << 20).unwrap();
                    String::from_utf8_lossy(&bytes).into_owned()
                }
                other => format!("{other:?}"),
            };
            found.insert(path.to_string(), held);
        }
    }
    found
}
