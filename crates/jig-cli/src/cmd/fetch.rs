//! `jig fetch`: a look at a running tool.

use std::time::Duration;

use jig_project::{CommandEnvironment, leftovers, locate};
use jig_proto::{HandleId, hint};
use jig_station::client::StationClient;
use jig_station::protocol::StationRequest;
use serde_json::{Map, Value as Json, json};

use crate::args::{FetchArgs, GlobalArgs, LookArgs, ViewChoice};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::report;

pub(crate) fn run(
    args: &FetchArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let id: HandleId = args.id.parse()?;
    let mut client = station(global, &args.id)?;
    let fetch = look(&args.look, args.wait);
    report::show(client.ask(&StationRequest::Fetch { id, fetch })?, out)
}

/// The station in which a handle must be.
pub(super) fn station(global: &GlobalArgs, id: &str) -> anyhow::Result<StationClient> {
    station_here(global)?.ok_or_else(|| {
        let hint = hint!(
            "nothing runs in this workspace; `jig spawn` starts a tool, `jig ps --all` lists \
                    what runs in others"
        );
        anyhow::anyhow!(hint).context(format!("there is no handle `{id}`"))
    })
}

/// The station of this workspace, if anything runs. No configuration is needed to find it: a tool could see to it that
/// there is none, or one that is wrong, and nobody could end the tool.
pub(super) fn station_here(global: &GlobalArgs) -> anyhow::Result<Option<StationClient>> {
    let roots = locate::roots(global.workspace.as_deref())?;
    if let Some(root) = roots.first() {
        leftovers::clear_as_far_as_possible(root);
    }
    StationClient::find_first(&roots, &CommandEnvironment::of_this_process())
}

/// What is to be shown, as the arguments of a tool.
pub(super) fn look(args: &LookArgs, wait: Option<Duration>) -> Map<String, Json> {
    let view = match args.view {
        ViewChoice::New => "new",
        ViewChoice::Screen => "screen",
        ViewChoice::All => "all",
    };
    let mut fetch = Map::new();
    fetch.insert("view".to_owned(), json!(view));
    let wait = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    let numbers = [
        ("after_seq", args.after_seq),
        ("max_bytes", args.max_bytes),
        ("wait_ms", wait),
    ];
    for (name, number) in numbers {
        if let Some(number) = number {
            fetch.insert(name.to_owned(), json!(number));
        }
    }
    fetch
}
