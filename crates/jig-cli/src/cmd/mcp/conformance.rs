//! `jig mcp --conformance`: what the official conformance suite of the protocol wants of a server.
//!
//! Its tools are ordinary tools, in a workspace that is made for them and removed at the end. Nothing of the
//! user's is served, so nobody needs a token; only this machine can connect all the same.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use camino::Utf8PathBuf;
use jig_config::{Config, Sources};
use jig_engine::Engine;
use jig_mcp::{Access, HttpServer, Loader, Options, Shared, Stop, fixtures, serve_stdio};
use jig_project::{Environment, engines};
use serde_json::Value;
use tempfile::TempDir;

use super::loader::mark;
use crate::args::McpArgs;
use crate::exit::Done;
use crate::interrupt;
use crate::output::{Output, remark};

pub(super) fn run(args: &McpArgs, out: &mut Output) -> anyhow::Result<Done> {
    // It is removed after all that works in it.
    let folder =
        TempDir::with_prefix("jig-conformance-").context("the workspace of the fixtures")?;
    let loader = FixtureLoader::new(&folder)?;
    let mut options = Options::default();
    options.fixtures = true;
    let shared = Shared::new(Box::new(loader), options).map_err(|text| anyhow!(text))?;
    let signals = interrupt::tokens()?;
    let stop = Stop::new(signals.cancel, signals.kill);
    let Some(address) = args.http else {
        serve_stdio(&shared, &stop)?;
        return Ok(Done::Ok);
    };
    let server = HttpServer::listen(address, Access::of_anybody())?;
    out.note(&format!(
        "jig: serves the fixtures of the conformance suite at {}",
        server.url()
    ));
    server.serve(&shared, &stop)?;
    Ok(Done::Ok)
}

/// Does what a client does, at the server of a client scenario.
pub(super) fn visit(url: &str) -> anyhow::Result<Done> {
    // The suite says in a variable what its scenario wants beyond the usual.
    let env = Environment::of_this_process();
    let context = env.get(CONTEXT).map(serde_json::from_str::<Value>);
    let context = context.transpose().context(CONTEXT)?;
    let calls = context
        .as_ref()
        .and_then(|context| context.get("toolCalls"));
    fixtures::visit(url, calls).map_err(|text| anyhow!(text))?;
    Ok(Done::Ok)
}

/// The configuration of the fixtures, with one part that a tool can change.
struct FixtureLoader {
    root: Utf8PathBuf,
    env: Environment,
}

impl FixtureLoader {
    fn new(folder: &TempDir) -> anyhow::Result<Self> {
        let root = jig_project::locate::resolved(
            <&camino::Utf8Path>::try_from(folder.path())
                .context("the folder for temporary files")?,
        )?;
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
            env: Environment::of_this_process(),
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

/// What the suite's own runner of clients sets.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";

/// As many digits as a time in nanoseconds has, and some more.
const LONGEST_TITLE: usize = 32;
