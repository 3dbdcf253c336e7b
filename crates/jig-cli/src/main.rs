//! The `jig` program: flags, printing and exit codes.
//!
//! It decides nothing: configuration comes from jig-config, decisions from jig-policy, tools are run
//! by jig-engine, facts about the machine come from jig-sandbox.

mod args;
mod cmd;
#[cfg(feature = "wasm-tools")]
mod compile_notice;
mod diff;
mod exit;
mod foreground;
mod held_back;
mod highlight;
mod interrupt;
mod limits;
#[cfg(unix)]
mod not_started;
mod output;
mod prompt;
mod report;
mod terminal;
mod times;
mod trace_file;
mod verbose;

use std::process::ExitCode;

use jig_project::CommandEnvironment;

use crate::args::CliCommand;
use crate::output::CliOutput;

fn main() -> ExitCode {
    let mut args = args::parse();
    if args.global.optional_log {
        args.global.set.push("log.required=false".to_owned());
    }
    if let CliCommand::Tool { name } = &args.command {
        return cmd::tool::run(name);
    }
    args.global.trust |= CommandEnvironment::of_this_process().trusts();
    held_back::set_mode(&args);
    verbose::install(args.global.verbose);
    let mut out = CliOutput::new(args.global.json, args.global.color);
    let result = match &args.command {
        CliCommand::Init(init) => cmd::init::run(init, &args.global, &mut out),
        CliCommand::Trust(trust) => cmd::trust::run(trust, &args.global, &mut out),
        CliCommand::Config(command) => cmd::config::run(command, &args.global, &mut out),
        CliCommand::Tools { name, schema } => {
            cmd::tools::run(name.as_deref(), *schema, &args.global, &mut out)
        }
        CliCommand::Policy(command) => cmd::policy::run(command, &args.global, &mut out),
        CliCommand::Call(call) => cmd::call::run(call, &args.global, &mut out),
        CliCommand::Spawn(spawn) => cmd::spawn::run(spawn, &args.global, &mut out),
        CliCommand::Ps(ps) => cmd::ps::run(ps, &args.global, &mut out),
        CliCommand::Fetch(fetch) => cmd::fetch::run(fetch, &args.global, &mut out),
        CliCommand::Apply(apply) => cmd::apply::run(apply, &args.global, &mut out),
        CliCommand::Await(wait) => cmd::wait::run(wait, &args.global, &mut out),
        CliCommand::Abort(abort) => cmd::abort::run(abort, &args.global, &mut out),
        CliCommand::Attach(attach) => cmd::attach::run(attach, &args.global, &mut out),
        CliCommand::Station { root } => jig_station::serve::run(root).map(|()| exit::Done::Ok),
        CliCommand::Run(run) => cmd::run::run(run, &args.global, &mut out),
        CliCommand::Proxy(proxy) => cmd::proxy::run(proxy, &args.global, &mut out),
        CliCommand::Sh(sh) => cmd::sh::run(sh, &args.global, &mut out),
        CliCommand::Suggest(suggest) => cmd::suggest::run(suggest, &args.global, &mut out),
        CliCommand::Mcp(mcp) => cmd::mcp::run(mcp, &args.global, &mut out),
        CliCommand::Approve(approve) => cmd::approve::run(approve, &args.global, &mut out),
        CliCommand::Setup(setup) => cmd::setup::run(setup, &args.global, &mut out),
        CliCommand::Import(import) => cmd::import::run(import, &args.global, &mut out),
        CliCommand::Servers(servers) => cmd::servers::run(servers, &args.global, &mut out),
        CliCommand::Log(log) => cmd::log::run(log, &args.global, &mut out),
        CliCommand::Knowledge(knowledge) => cmd::knowledge::run(knowledge, &args.global, &mut out),
        CliCommand::Wasm(command) => cmd::wasm::run(command, &args.global, &mut out),
        CliCommand::VfsHost(host) => cmd::vfs_host::run(host, &mut out),
        CliCommand::Tool { .. } => Ok(exit::Done::Ok),
        CliCommand::Doctor => cmd::doctor::run(&mut out),
        CliCommand::Completions { shell } => cmd::completions::run(*shell, &mut out),
    };
    exit::code(result, &mut out)
}
