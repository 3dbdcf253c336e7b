//! `jig mcp --conformance`: what the official conformance suite of the protocol wants of a server.
//!
//! Its tools are ordinary tools, in a workspace that is made for them and removed at the end. Nothing of the
//! user's is served, so nobody needs a token; only this machine can connect all the same.

use anyhow::{Context, anyhow};
use jig_mcp::{HttpAccess, HttpServer, Options, ServerStop, SharedServer, fixtures, serve_stdio};
use jig_project::CommandEnvironment;
use jig_project::mcp_server::FixtureLoader;
use serde_json::Value;
use tempfile::TempDir;

use crate::args::McpArgs;
use crate::exit::Done;
use crate::interrupt;
use crate::output::CliOutput;

pub(super) fn run(args: &McpArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    // It is removed after all that works in it.
    let folder =
        TempDir::with_prefix("jig-conformance-").context("the workspace of the fixtures")?;
    let loader = FixtureLoader::new(folder.path())?;
    let mut options = Options::default();
    options.fixtures = true;
    let shared = SharedServer::new(Box::new(loader), options).map_err(|text| anyhow!(text))?;
    let signals = interrupt::tokens()?;
    let stop = ServerStop::new(signals.cancel, signals.kill);
    let Some(address) = args.http else {
        serve_stdio(&shared, &stop)?;
        return Ok(Done::Ok);
    };
    let server = HttpServer::listen(address, HttpAccess::of_anybody())?;
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
    let env = CommandEnvironment::of_this_process();
    let context = env.get(CONTEXT).map(serde_json::from_str::<Value>);
    let context = context.transpose().context(CONTEXT)?;
    let calls = context
        .as_ref()
        .and_then(|context| context.get("toolCalls"));
    fixtures::visit(url, calls).map_err(|text| anyhow!(text))?;
    Ok(Done::Ok)
}

/// What the suite's own runner of clients sets.
const CONTEXT: &str = "MCP_CONFORMANCE_CONTEXT";
