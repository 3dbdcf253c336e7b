//! What a person is told of a proxy: by `jig ps` while it runs, and at its end.

use std::sync::Arc;

use jig_project::proxy_service::ProxyService;
use jig_project::{CommandEnvironment, locate};
use jig_proto::visible_words;
use jig_station::proxies::Registration;
use serde_json::json;

use crate::cmd::run::allowing_flags;
use crate::output::CliOutput;

/// Lets `jig ps` see what is open, until the registration is dropped. Without it clients are served all
/// the same.
pub(super) fn publish(
    service: &ProxyService,
    command: &[String],
    out: &mut CliOutput,
) -> Option<Registration> {
    let manager = service.manager.clone();
    let command = command.to_vec();
    let snapshot = move || {
        let mut tables = json!({
            "clients": manager.clients(),
            "files": manager.files(),
            "quota": manager.quota(),
        });
        if !command.is_empty() {
            tables["command"] = json!(command);
        }
        tables
    };
    let env = CommandEnvironment::of_this_process();
    match Registration::publish(&service.root, &env, Arc::new(snapshot)) {
        Ok(registration) => Some(registration),
        Err(error) => {
            out.note(&format!("note: `jig ps` will not show this: {error:#}"));
            None
        }
    }
}

/// Writes what waits for the log.
pub(super) fn close_log(service: &ProxyService, out: &mut CliOutput) {
    if let Err(error) = service.engine.audit.flush() {
        out.note(&format!(
            "jig: not all that was done is in the log, which cannot be written: {error}"
        ));
    }
}

/// Says which files of the workspace, or below the current folder, were only in memory: whoever wrote them
/// may have meant real ones. Names elsewhere are made up on purpose.
pub(super) fn tell_virtual(service: &ProxyService, out: &mut CliOutput) {
    let current = locate::current().unwrap_or_default();
    for name in service.manager.virtual_files() {
        let path = service.place.join(&name);
        let shown = path.strip_prefix(&current).unwrap_or(&path);
        if path.starts_with(&service.root) || path.starts_with(&current) {
            // The name is a client's: it must neither begin a line of its own nor be run when it is pasted.
            let plain = visible_words(shown.as_str());
            let is_plain = plain == shown.as_str();
            let shown = plain;
            let how = match service.is_named {
                true => format!("a rule of the tool that lets it create `{shown}` keeps it"),
                false if is_plain => {
                    let word = allowing_flags::quoted(&shown);
                    format!("to keep it, add: {} {word}", service.how_to_write)
                }
                false => "write to a name without control characters to keep it".to_owned(),
            };
            out.note(&format!(
                "jig: `{shown}` was only in memory and is gone; {how}"
            ));
        }
    }
}
