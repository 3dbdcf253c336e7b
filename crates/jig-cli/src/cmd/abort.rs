//! `jig abort`: end running tools.

use jig_proto::{Content, HandleId, ToolState};
use jig_station::protocol::{HandleResult, StationRequest};

use crate::args::{AbortArgs, GlobalArgs};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::report;

pub(crate) fn run(
    args: &AbortArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    if args.all {
        return abort_all(global, out);
    }
    let ids: Vec<HandleId> = args
        .ids
        .iter()
        .map(|id| id.parse())
        .collect::<Result<_, _>>()?;
    let mut client = super::fetch::station(global, &args.ids[0])?;
    shown(client.ask(&StationRequest::Abort { ids })?, out)
}

/// Ends what runs, and the station with it. That works with a station of any version.
fn abort_all(global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let Some(mut client) = super::fetch::station_here(global)? else {
        out.note("nothing runs in this workspace");
        return report::show_all(HandleResult::NOTHING, out);
    };
    let told = match client.is_foreign() {
        true => HandleResult::NOTHING,
        false => client.ask(&StationRequest::Abort { ids: Vec::new() })?,
    };
    client.ask::<()>(&StationRequest::Shutdown)?;
    shown(told, out)
}

/// What tools that were ended said last. They have not failed, whatever they say of their end.
fn shown(told: HandleResult, out: &mut CliOutput) -> anyhow::Result<Done> {
    if out.is_json() {
        report::show_all(told, out)?;
        return Ok(Done::Ok);
    }
    for mut read in report::read_all(&told)? {
        if let ToolState::Stopped { result, .. } = &mut read.report.state
            && result.is_err()
        {
            *result = Ok(Content::EMPTY);
        }
        report::print(&read, out)?;
    }
    report::tell(&told.notices, out);
    Ok(Done::Ok)
}
