//! `jig await`: wait until running tools have stopped, or ask something.

use jig_project::{Environment, leftovers, locate};
use jig_proto::{HandleId, Status};
use jig_station::client::Client;
use jig_station::protocol::{Request, Told};

use crate::args::{AwaitArgs, Global};
use crate::exit::Done;
use crate::output::Output;
use crate::report;

pub(crate) fn run(args: &AwaitArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let ids: Vec<HandleId> = args
        .ids
        .iter()
        .map(|id| id.parse())
        .collect::<Result<_, _>>()?;
    let mut client = match ids.first() {
        Some(first) => super::fetch::station(global, first.as_str())?,
        None => {
            let root = locate::root(global.workspace.as_deref())?;
            leftovers::clear(&root)?;
            match Client::find(&root, &Environment::of_this_process())? {
                Some(client) => client,
                None => {
                    out.note("nothing runs in this workspace");
                    return report::show_all(Told::NOTHING, out);
                }
            }
        }
    };
    let timeout = args.timeout.map(|time| time.as_millis());
    let told: Told = client.ask(&Request::Await {
        ids,
        all: args.all,
        timeout_ms: timeout.map(|time| u64::try_from(time).unwrap_or(u64::MAX)),
    })?;
    let reports = report::read_all(&told)?;
    let running = reports
        .iter()
        .filter(|one| one.report.state.status() == Status::Running);
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
