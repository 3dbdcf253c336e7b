//! `jig await`: wait until running tools have stopped, or ask something.

use jig_proto::{HandleId, StateName};
use jig_station::protocol::{HandleResult, StationRequest};

use crate::args::{AwaitArgs, GlobalArgs};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::report;

pub(crate) fn run(
    args: &AwaitArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let ids: Vec<HandleId> = args
        .ids
        .iter()
        .map(|id| id.parse())
        .collect::<Result<_, _>>()?;
    let mut client = match ids.first() {
        Some(first) => super::fetch::station(global, first.as_str())?,
        None => match super::fetch::station_here(global)? {
            Some(client) => client,
            None => {
                out.note("nothing runs in this workspace");
                return report::show_all(HandleResult::NOTHING, out);
            }
        },
    };
    let timeout = args.timeout.map(|time| time.as_millis());
    let told: HandleResult = client.ask(&StationRequest::Await {
        ids,
        all: args.all,
        timeout_ms: timeout.map(|time| u64::try_from(time).unwrap_or(u64::MAX)),
    })?;
    let reports = report::read_all(&told)?;
    let running = reports
        .iter()
        .filter(|one| one.report.state.status() == StateName::Running);
    let still = running.count();
    let is_over = match args.all {
        true => still > 0,
        false => still == reports.len() && still > 0,
    };
    let done = report::show_all(told, out)?;
    if is_over {
        out.note("jig: the time is over");
        return Ok(Done::Bad);
    }
    Ok(done)
}
