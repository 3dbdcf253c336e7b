//! `jig mcp`: the tools of a workspace, for every agent that speaks MCP.
//!
//! The serving itself is jig-mcp. The configuration and the tokens are those of
//! `jig_project::mcp_server`. Here are signals, and what a person is told.

mod check;
mod conformance;

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use camino::Utf8PathBuf;
use jig_mcp::{
    HttpAccess, HttpServer, OpenedWorkspace, Options, ServerStop, SharedServer, serve_stdio,
    serve_stdio_at_roots,
};
use jig_project::mcp_server::ProjectLoader;
use jig_project::mcp_server::tokens::{self, TokenSource};
use jig_project::{CommandEnvironment, Project, Selection, locate, open_files, remark};
use jig_proto::hint;
use jig_proto::visible_line;
use jig_station::asks;
use serde_json::json;

use crate::args::{GlobalArgs, McpArgs};
use crate::exit::Done;
use crate::interrupt;
use crate::output::CliOutput;

pub(crate) fn run(
    args: &McpArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    if args.check {
        return check::run(global, out);
    }
    if let Some(url) = &args.conformance_client {
        return conformance::visit(url);
    }
    if let Some(address) = args.http {
        may_listen(address, args)?;
    }
    open_files::raise_limit();
    if args.conformance {
        return conformance::run(args, out);
    }
    let env = CommandEnvironment::of_this_process().without(tokens::VARIABLE);
    let selection = global.selection();
    let signals = interrupt::tokens()?;
    let stop = ServerStop::new(signals.cancel, signals.kill);
    let is_started_by_client = args.http.is_none() && !std::io::stdin().is_terminal();
    if is_started_by_client
        && selection.workspace.is_none()
        && let Err(reason) = locate::root(None)
    {
        return at_roots(&format!("{reason:#}"), selection, env, &stop);
    }
    let project = Project::load(&selection)?;
    let root = project.root.clone();
    let connections = usize::from(args.max_connections);
    let (shared, _asks) = shared(project, selection, &env, connections)?;
    match args.http {
        Some(address) => over_http(address, args, &shared, &stop, out)?,
        None => {
            if std::io::stdin().is_terminal() {
                out.note(&format!(
                    "jig: this is a server, which agents start for themselves and talk to in JSON; it serves \
                     `{}`\njig: `jig setup` connects an agent, `jig mcp --check` shows what it would see; \
                     Ctrl-D ends this",
                    visible_line(root.as_str())
                ));
            }
            serve_stdio(&shared, &stop)?;
        }
    }
    Ok(Done::Ok)
}

/// What is served of a project, and the socket on which questions are answered.
fn shared(
    project: Project,
    selection: Selection,
    env: &CommandEnvironment,
    connections: usize,
) -> anyhow::Result<(Arc<SharedServer>, Option<asks::AskSocket>)> {
    let root = project.root.clone();
    let loader = ProjectLoader::new(project, selection, env.clone())?;
    let mut options = Options::default();
    options.connections = connections;
    let shared = SharedServer::new(Box::new(loader), options).map_err(|text| anyhow!(text))?;
    // Without it nobody can answer from elsewhere; everything else works.
    let asks = asks::listen(shared.questions(), &root, env)
        .inspect_err(|error| remark(&format!("jig: {error:#}")));
    Ok((shared, asks.ok()))
}

/// Serves a client that started jig where there is no project: it is asked which folder it works on.
fn at_roots(
    reason: &str,
    selection: Selection,
    env: CommandEnvironment,
    stop: &ServerStop,
) -> anyhow::Result<Done> {
    remark(&format!("jig: {reason}; the client is asked for its roots"));
    let open = move |roots: &[String]| {
        let opened = client_root(roots).and_then(|root| {
            remark(&format!(
                "jig: the client works on `{}`",
                visible_line(root.as_str())
            ));
            let mut selection = selection.clone();
            selection.workspace = Some(root);
            let project = Project::load(&selection)?;
            shared(project, selection, &env, Options::default().connections)
        });
        let (shared, asks) = opened.map_err(|error| {
            let reason = format!("{error:#}");
            remark(&format!("jig: {reason}"));
            reason
        })?;
        let kept = Box::new(asks);
        Ok(OpenedWorkspace { shared, kept })
    };
    serve_stdio_at_roots(reason.to_owned(), Box::new(open), stop)?;
    Ok(Done::Ok)
}

/// The workspace that a client's roots name: the first that is a project.
fn client_root(roots: &[String]) -> anyhow::Result<Utf8PathBuf> {
    let mut refused = None;
    for root in roots {
        let Some(folder) = locate::folder_of_uri(root) else {
            continue;
        };
        match locate::root_around(&folder) {
            Ok(root) => return Ok(root),
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| {
        let hint = hint!("name the project in the client's settings: `jig mcp -C PROJECT`");
        anyhow!(hint).context("the client named no folder that it works on")
    }))
}

/// Serves whoever has a token.
fn over_http(
    address: SocketAddr,
    args: &McpArgs,
    shared: &Arc<SharedServer>,
    stop: &ServerStop,
    out: &mut CliOutput,
) -> anyhow::Result<()> {
    let (tokens, source) = tokens::find(args.token_file.as_deref())?;
    let mut access = HttpAccess::with(tokens);
    for origin in &args.allow_origin {
        access.allow_origin(origin).context("--allow-origin")?;
    }
    for host in &args.allow_host {
        access.allow_host(host).context("--allow-host")?;
    }
    let server = HttpServer::listen(address, access).map_err(|error| {
        let hint = hint!("another program may use this port; port 0 is any that is free");
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        let reason = anyhow!(hint).context(cause.unwrap_or_default());
        reason.context(error.to_string())
    })?;
    told(&server, &source, out)?;
    server.serve(shared, stop)?;
    Ok(())
}

/// Says where the server is, and what to show there.
fn told(server: &HttpServer, source: &TokenSource, out: &mut CliOutput) -> anyhow::Result<()> {
    let url = server.url();
    if !server.address().ip().is_loopback() {
        out.note(&format!(
            "jig: whoever can reach {} can try; nothing is encrypted, so put a proxy with TLS in front",
            server.address()
        ));
    }
    if out.is_json() {
        let token = match source {
            TokenSource::Made(token) => Some(token),
            _ => None,
        };
        // On one line, for scripts that wait for it.
        let line = json!({ "url": url, "token": token });
        return out.raw(&format!("{line}\n"));
    }
    let how = match source {
        TokenSource::Made(token) => format!("the token for this run: {token}"),
        TokenSource::Variable => format!("the token is that of {}", tokens::VARIABLE),
        TokenSource::File(file) => {
            format!("the tokens are those of `{}`", visible_line(file.as_str()))
        }
    };
    out.note(&format!(
        "jig: serves at {url}\njig: {how}\njig: clients send it as `Authorization: Bearer TOKEN`; \
         `jig setup CLIENT --http {url}` connects one"
    ));
    Ok(())
}

/// Only this machine, unless somebody says otherwise.
fn may_listen(address: SocketAddr, args: &McpArgs) -> anyhow::Result<()> {
    if address.ip().is_loopback() || args.allow_remote {
        return Ok(());
    }
    let hint = hint!(
        "127.0.0.1:{} is for programs on this machine; --allow-remote lets others in, too",
        address.port()
    );
    Err(anyhow!(hint).context(format!(
        "`{address}` can be reached from outside of this machine"
    )))
}
