//! `jig completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Args;
use crate::exit::Done;
use crate::output::CliOutput;

pub(crate) fn run(shell: Shell, out: &mut CliOutput) -> anyhow::Result<Done> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "jig", &mut script);
    out.text(&String::from_utf8_lossy(&script))?;
    Ok(Done::Ok)
}
