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

use crate::args::Command;
use crate::output::Output;

fn main() -> ExitCode {
    let mut args = args::parse();
    if args.global.optional_log {
        args.global.set.push("log.required=false".to_owned());
    }
    if let Command::Tool { name } = &args.command {
        return cmd::tool::run(name);
    }
    verbose::install(args.global.verbose);
    let mut out = Output::new(args.global.json, args.global.color);
    let result = match &args.command {
        Command::Init(init) => cmd::init::run(init, &args.global, &mut out),
        Command::Config(command) => cmd::config::run(command, &args.global, &mut out),
        Command::Tools { name, schema } => {
            cmd::tools::run(name.as_deref(), *schema, &args.global, &mut out)
        }
        Command::Policy(command) => cmd::policy::run(command, &args.global, &mut out),
        Command::Call(call) => cmd::call::run(call, &args.global, &mut out),
        Command::Spawn(spawn) => cmd::spawn::run(spawn, &args.global, &mut out),
        Command::Ps(ps) => cmd::ps::run(ps, &args.global, &mut out),
        Command::Fetch(fetch) => cmd::fetch::run(fetch, &args.global, &mut out),
        Command::Apply(apply) => cmd::apply::run(apply, &args.global, &mut out),
        Command::Await(wait) => cmd::wait::run(wait, &args.global, &mut out),
        Command::Abort(abort) => cmd::abort::run(abort, &args.global, &mut out),
        Command::Attach(attach) => cmd::attach::run(attach, &args.global, &mut out),
        Command::Station { root } => jig_station::serve::run(root).map(|()| exit::Done::Ok),
        Command::Run(run) => cmd::run::run(run, &args.global, &mut out),
        Command::Proxy(proxy) => cmd::proxy::run(proxy, &args.global, &mut out),
        Command::Sh(sh) => cmd::sh::run(sh, &args.global, &mut out),
        Command::Suggest(suggest) => cmd::suggest::run(suggest, &args.global, &mut out),
        Command::Mcp(mcp) => cmd::mcp::run(mcp, &args.global, &mut out),
        Command::Approve(approve) => cmd::approve::run(approve, &args.global, &mut out),
        Command::Setup(setup) => cmd::setup::run(setup, &args.global, &mut out),
        Command::Import(import) => cmd::import::run(import, &args.global, &mut out),
        Command::Servers(servers) => cmd::servers::run(servers, &args.global, &mut out),
        Command::Log(log) => cmd::log::run(log, &args.global, &mut out),
        Command::Knowledge(knowledge) => cmd::knowledge::run(knowledge, &args.global, &mut out),
        Command::Wasm(command) => cmd::wasm::run(command, &args.global, &mut out),
        Command::VfsHost(host) => cmd::vfs_host::run(host, &mut out),
        Command::Tool { .. } => Ok(exit::Done::Ok),
        Command::Doctor => cmd::doctor::run(&mut out),
        Command::Completions { shell } => cmd::completions::run(*shell, &mut out),
    };
    exit::code(result, &mut out)
}
