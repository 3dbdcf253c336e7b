//! The `jig` program: flags, printing and exit codes.
//!
//! It decides nothing: configuration comes from jig-config, decisions from jig-policy, facts about
//! the machine from jig-sandbox.

mod args;
mod cmd;
mod exit;
mod output;
mod workspace;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};
use crate::output::Output;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut out = Output::new(args.global.json, args.global.color);
    let result = match &args.command {
        Command::Config(command) => cmd::config::run(command, &args.global, &mut out),
        Command::Tools { name } => cmd::tools::run(name.as_deref(), &args.global, &mut out),
        Command::Policy(command) => cmd::policy::run(command, &args.global, &mut out),
        Command::Doctor => cmd::doctor::run(&mut out),
        Command::Completions { shell } => cmd::completions::run(*shell, &mut out),
    };
    exit::code(result, &mut out)
}
