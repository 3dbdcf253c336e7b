//! [`FixtureLoader`]: the workspace that the conformance suite of the protocol wants.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{Config, Sources};
use jig_engine::Engine;
use jig_mcp::{Loader, fixtures};

use super::project_loader::mark;
use crate::{CommandEnvironment, engines, locate, remark};

/// The configuration of the fixtures, with one part that a tool can change.
pub struct FixtureLoader {
    root: Utf8PathBuf,
    env: CommandEnvironment,
}

impl FixtureLoader {
    /// Lays the fixtures out in an empty folder, which is their workspace.
    pub fn new(folder: &Path) -> anyhow::Result<Self> {
        let folder = Utf8Path::from_path(folder).context("the folder for temporary files")?;
        let root = locate::resolved(folder)?;
        for (name, text) in [
            ("jig.toml", fixtures::CONFIG),
            (fixtures::SCRIPT_NAME, fixtures::SCRIPT),
            (fixtures::TITLE_FILE, "0"),
        ] {
            #[expect(
                clippy::disallowed_methods,
                reason = "the folder was made for this a moment ago, and no tool runs yet"
            )]
            std::fs::write(root.join(name), text)
                .with_context(|| format!("cannot write `{name}`"))?;
        }
        Ok(Self {
            root,
            env: CommandEnvironment::of_this_process(),
        })
    }

    /// What the title of a tool shall be, by a tool that wrote it: a number, whatever it wrote.
    fn title(&self) -> String {
        #[expect(
            clippy::disallowed_methods,
            reason = "it is a file of a few bytes in a workspace that has nothing else"
        )]
        let written = std::fs::read_to_string(self.root.join(fixtures::TITLE_FILE));
        let written = written.unwrap_or_default();
        let digits = written.chars().filter(char::is_ascii_digit);
        digits.take(LONGEST_TITLE).collect()
    }
}

impl Loader for FixtureLoader {
    fn load(&self) -> Result<Arc<Config>, String> {
        let title = format!(
            r#"tools.{}.title="Greet {}""#,
            fixtures::TITLED,
            self.title()
        );
        let sources = Sources {
            sets: vec![title],
            lint: false,
            ..Sources::new(self.root.clone())
        };
        let loaded = jig_config::load(&sources).map_err(|errors| errors.to_string())?;
        Ok(Arc::new(loaded.config))
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        let engine = engines::for_config(&self.root, Arc::clone(config), &self.env);
        engine.map_err(|error| format!("{error:#}"))
    }

    fn fingerprint(&self, _config: &Config) -> u64 {
        let mut state = DefaultHasher::new();
        mark(&self.root.join(fixtures::TITLE_FILE)).hash(&mut state);
        state.finish()
    }

    fn workspace(&self) -> String {
        "the fixtures of the conformance suite".to_owned()
    }

    fn report(&self, text: &str) {
        remark(&format!("jig: {text}"));
    }
}

/// As many digits as a time in nanoseconds has, and some more.
const LONGEST_TITLE: usize = 32;
