//! One MCP server before and after.

use indexmap::{IndexMap, IndexSet};

use super::{ToolComparison, WideningSearch, tool};
use crate::model::{Config, DefinitionMode, Server, ServerReach, ServerSettingText};
use crate::quoting::quote_whole as quote;

/// Compares a server that is there with what it was, if it was there. What is written is compared, not what it is
/// filled with.
pub(super) fn compare(
    (old_config, old): (&Config, Option<&Server>),
    (new_config, new): (&Config, &Server),
    changes: &mut WideningSearch,
) {
    changes.tool = Some(new.key().to_owned());
    let Some(old) = old else {
        return added(new, changes);
    };
    let Server {
        name: _,
        enable: _,
        reach,
        env,
        // What its tools are called does not change what they do.
        prefix: _,
        definitions,
        // How long it is waited for, and how long it is kept, gives it nothing.
        start: _,
        idle: _,
        time,
        // Where it is written decides whether it has to be accepted before it is started.
        layer: _,
        is_accepted: _,
        tools: _,
        hide: _,
        fingerprint: _,
        template,
        // These are settings of tools, which are compared by themselves.
        loosened: _,
        key: _,
        values: _,
    } = new;
    values(
        "variable",
        &old.env,
        env,
        |key| format!("env.{key}"),
        new,
        changes,
    );
    match (&old.reach, reach) {
        (
            ServerReach::Program {
                command: before,
                policy: old_policy,
            },
            ServerReach::Program { command, policy },
        ) => {
            if before != command {
                let at = new.origin("args").or(new.origin("command"));
                changes.add(format!("now {}", what(new)), at);
            }
            // Its command was compared as a whole, with its variables.
            let mut before = old_policy.as_ref().clone();
            before.command.clone_from(&policy.command);
            tool::compare(&mut ToolComparison {
                old_config,
                new_config,
                old: &before,
                new: policy,
                changes,
            });
        }
        (
            ServerReach::Remote {
                url: before,
                headers: old_headers,
            },
            ServerReach::Remote { url, headers },
        ) => {
            if before != url {
                changes.add(format!("now {}", what(new)), new.origin("url"));
            }
            let place = |key: &str| format!("headers.{key}");
            values("header", old_headers, headers, place, new, changes);
        }
        _ => {
            changes.add(
                format!("is now reached in another way: {}", what(new)),
                Some(new.declared_at()),
            );
            for line in new.described().into_iter().skip(1) {
                changes.add(line, None);
            }
        }
    }
    if *definitions == DefinitionMode::Follow && old.definitions == DefinitionMode::Hold {
        let what = "a tool that it describes in another way is no longer held";
        changes.add(what, new.origin("definitions"));
    }
    if *time > old.time {
        changes.add("a call of its tools may take longer", new.origin("time"));
    }
    offered(old, new, changes);
    changes.tool = Some(format!("mcp.{}.*", new.name));
    tool::compare(&mut ToolComparison {
        old_config,
        new_config,
        old: &old.template,
        new: template,
        changes,
    });
}

/// A server that was not there, or was switched off.
fn added(new: &Server, changes: &mut WideningSearch) {
    let what = format!("is a new server: {}", what(new));
    changes.add(what, Some(new.declared_at()));
    for line in new.described().into_iter().skip(1) {
        changes.add(line, None);
    }
}

/// What is started or connected to.
fn what(server: &Server) -> String {
    let mut lines = server.described().into_iter();
    lines.next().unwrap_or_default()
}

/// Values by name. One that is gone may have kept the server from something.
fn values(
    kind: &str,
    old: &IndexMap<String, ServerSettingText>,
    new: &IndexMap<String, ServerSettingText>,
    place: impl Fn(&str) -> String,
    server: &Server,
    changes: &mut WideningSearch,
) {
    let names: IndexSet<&String> = new.keys().chain(old.keys()).collect();
    for name in names {
        let what = match (old.get(name), new.get(name)) {
            (Some(before), Some(now)) if before == now => continue,
            (Some(_), Some(_)) => "has another value for",
            (None, _) => "now gets",
            (_, None) => "no longer gets",
        };
        let what = format!("{what} the {kind} {}", quote(name));
        changes.add(what, server.origin(&place(name)));
    }
}

/// Which of its tools are there.
fn offered(old: &Server, new: &Server, changes: &mut WideningSearch) {
    let is_new = |pattern: &&String| !old.tools.contains(pattern);
    let all = new.tools.is_empty() && !old.tools.is_empty();
    let more = !old.tools.is_empty() && new.tools.iter().any(|one| is_new(&one));
    if all || more {
        changes.add("more of its tools may be offered", new.origin("tools"));
    }
    for pattern in old
        .hide
        .iter()
        .filter(|pattern| !new.hide.contains(pattern))
    {
        let what = format!("its tools {} are no longer hidden", quote(pattern));
        changes.add(what, new.origin("hide"));
    }
}
