//! A workspace in a temporary directory.

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{Config, ConfigErrors, LoadedConfig, Sources, load};

pub(crate) struct Workspace {
    folder: tempfile::TempDir,
}

impl Workspace {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        Self { folder }
    }

    /// With one `jig.toml`.
    pub(crate) fn with(toml: &str) -> Self {
        Self::new().file("jig.toml", toml)
    }

    /// With one more file.
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        let full = self.path(path);
        let parent = full.parent().expect("a file has a parent");
        std::fs::create_dir_all(parent).expect("create directories");
        std::fs::write(full, content).expect("write a file");
        self
    }

    pub(crate) fn path(&self, path: &str) -> Utf8PathBuf {
        self.root().join(path)
    }

    pub(crate) fn root(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).expect("a UTF-8 path")
    }

    pub(crate) fn sources(&self) -> Sources {
        Sources::new(self.root())
    }

    pub(crate) fn load(&self) -> Result<LoadedConfig, ConfigErrors> {
        load(&self.sources())
    }

    /// The configuration, which must load.
    pub(crate) fn config(&self) -> Config {
        self.load()
            .unwrap_or_else(|errors| panic!("{errors}"))
            .config
    }
}
