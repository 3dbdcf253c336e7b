//! `jig servers`: the MCP servers of a workspace, and what of them waits for a person.

mod accept;
mod view;

use std::sync::Arc;

use anyhow::Context as _;
use jig_config::Server;
use jig_engine::Packages;
use jig_mcp::ServerSelection;
use jig_project::{
    CommandEnvironment, Project,
    servers::{self, WorkspaceServers},
};
use serde_json::Value as Json;

use self::view::ServersView;
use crate::args::{GlobalArgs, ServersArgs, ServersCommand};
use crate::exit::Done;
use crate::output::CliOutput;

pub(crate) fn run(
    args: &ServersArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let project = Project::load(&global.selection())?;
    let named = match (&args.name, &args.command) {
        (_, Some(ServersCommand::Accept(accept))) => Some(&accept.name),
        (_, Some(ServersCommand::Refresh { name })) => name.as_ref(),
        (name, None) => name.as_ref(),
    };
    if let Some(name) = named {
        servers::declared(&project, name)?;
    }
    if project.config().servers.is_empty() {
        return nothing(out);
    }
    let connections = WorkspaceServers::of(&project, &CommandEnvironment::of_this_process())?;
    let _ending = connections.ending();
    match &args.command {
        Some(ServersCommand::Accept(accept)) => {
            let server = servers::declared(&project, &accept.name)?;
            accept::run(server, accept.yes, &connections, out)
        }
        Some(ServersCommand::Refresh { name }) => {
            refresh(name.as_deref(), &project, &connections, out)
        }
        None => {
            let view = ServersView::new(
                &project,
                &connections,
                connections.offered(ServerSelection::Known),
            );
            match &args.name {
                Some(name) => one(servers::declared(&project, name)?, &view, out)?,
                None => all(&view, out)?,
            }
            Ok(Done::Ok)
        }
    }
}

fn nothing(out: &mut CliOutput) -> anyhow::Result<Done> {
    if out.is_json() {
        out.json(&Json::Array(Vec::new()))?;
    } else {
        out.note(
            "no MCP server is configured here; `jig servers --help` shows how, and `jig import` takes over those of \
             another client",
        );
    }
    Ok(Done::Ok)
}

fn all(view: &ServersView<'_>, out: &mut CliOutput) -> anyhow::Result<()> {
    if out.is_json() {
        return out.json(&Json::Array(view.list_json()));
    }
    out.text(&view.list())?;
    for hint in view.hints() {
        out.note(&hint);
    }
    Ok(())
}

fn one(server: &Server, view: &ServersView<'_>, out: &mut CliOutput) -> anyhow::Result<()> {
    if out.is_json() {
        return out.json(&view.one_json(server)?);
    }
    out.text(&view.one(server)?)?;
    for hint in view.hints_of(server) {
        out.note(&hint);
    }
    if let Some(hint) = view.unasked(server) {
        out.note(&hint);
    }
    Ok(())
}

/// Downloads the packages of servers anew, starts them, and asks for their tools. The exit code tells whether all of
/// them answered.
fn refresh(
    name: Option<&str>,
    project: &Project,
    connections: &WorkspaceServers,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let which = match name {
        Some(name) => ServerSelection::One(servers::declared(project, name)?.name.clone()),
        None => ServerSelection::Fresh,
    };
    let meant = project.config().servers.values().filter(|server| {
        let is_named = name.is_none_or(|name| servers::plain(name) == server.name);
        server.enable && is_named
    });
    let aside = SetAsidePackages::set(meant, connections)?;
    let offered = connections.offered(which);
    for (name, packages) in &aside.0 {
        let has_failed = offered.problems.iter().any(|(of, _)| of == name);
        if has_failed && packages.put_back() {
            out.note(&format!(
                "`{name}` does not start with what was downloaded: it keeps what it had"
            ));
        }
    }
    let failed = !offered.problems.is_empty();
    let view = ServersView::new(project, connections, offered);
    match name {
        Some(name) if out.is_json() => {
            out.json(&view.one_json(servers::declared(project, name)?)?)?
        }
        _ => all(&view, out)?,
    }
    Ok(if failed { Done::Bad } else { Done::Ok })
}

/// The packages of servers that were set aside. When it goes, those that nothing has replaced are taken back.
struct SetAsidePackages(Vec<(String, Packages)>);

impl SetAsidePackages {
    /// Sets the packages of these servers aside, or of none.
    fn set<'s>(
        servers: impl Iterator<Item = &'s Arc<Server>>,
        connections: &WorkspaceServers,
    ) -> anyhow::Result<Self> {
        let mut aside = Self(Vec::new());
        for server in servers {
            if let Some(found) = connections.engine().packages(server) {
                let set = found.set_aside();
                set.with_context(|| format!("the packages of `{}` stay as they are", server.name))?;
                aside.0.push((server.name.clone(), found));
            }
        }
        Ok(aside)
    }
}

impl Drop for SetAsidePackages {
    fn drop(&mut self) {
        for (_, packages) in &self.0 {
            packages.take_back();
        }
    }
}
