//! `jig sh`: the small shell of jig-sh.
//!
//! Outside of a proxy it starts itself under one, so that the shell is as confined as any other command of a
//! proxy; inside, it is the shell.

use std::io::{self, IsTerminal as _, Read as _};
use std::mem;

use anyhow::{Context as _, anyhow};
use jig_proto::fsproxy::DESCRIPTOR_VARIABLE;
use jig_proto::hint;
use jig_sandbox::Exit;
use jig_sh::{Shell, Stdin};
use jig_tool::proxy::Client;

use super::proxy;
use crate::args::{GlobalArgs, ProxyArgs, ShArgs};
use crate::exit::Done;
use crate::foreground;
use crate::output::CliOutput;

pub(crate) fn run(args: &ShArgs, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    // Before anything is started.
    if let Some(Err(error)) = args.line.as_deref().map(jig_sh::check) {
        return Ok(Done::NotRun(NOT_UNDERSTOOD, error.into()));
    }
    let is_inside = std::env::var_os(DESCRIPTOR_VARIABLE).is_some_and(|value| !value.is_empty());
    let result = match is_inside {
        true => inside(args),
        false => return outside(args, global, out),
    };
    match result {
        Ok(done) => Ok(done),
        Err(error) => Ok(Done::NotRun(foreground::FAILED, error)),
    }
}

/// Starts the shell as the command of a proxy.
fn outside(args: &ShArgs, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let jig = std::env::current_exe().context("cannot find the program of jig itself")?;
    let jig = jig.into_os_string().into_string();
    let jig = jig.map_err(|_| anyhow!("the path of jig is not UTF-8"))?;
    let mut command = vec![jig, "sh".to_owned()];
    if let Some(line) = &args.line {
        command.extend(["-c".to_owned(), line.clone()]);
    }
    let args = ProxyArgs {
        stdio: false,
        input: args.input.clone(),
        output: args.output.clone(),
        root: None,
        policy: args.policy.clone(),
        tool: args.tool.clone(),
        lenient: false,
        llm: args.llm,
        code: Vec::new(),
        hold: args.hold.clone(),
        tells_virtual: true,
        command,
    };
    proxy::run(&args, global, out)
}

/// Runs the shell on the connection that this process was started with.
fn inside(args: &ShArgs) -> anyhow::Result<Done> {
    let is_used = [
        ("-i", !args.input.is_empty()),
        ("-o", !args.output.is_empty()),
        ("--policy", args.policy.is_some()),
        ("--tool", args.tool.is_some()),
        ("--llm", args.llm),
    ];
    if let Some((option, _)) = is_used.into_iter().find(|(_, is_given)| *is_given) {
        let hint = hint!("leave it out, or give it to the outermost `jig proxy`");
        let what = format!(
            "{option} is for the proxy: this shell runs inside of one ({DESCRIPTOR_VARIABLE} is set), whose \
             rules decide"
        );
        return Err(anyhow!(hint).context(what));
    }
    let client = Client::inherited().map_err(|error| {
        let hint = hint!(
            "outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig sh …"
        );
        anyhow!(hint).context(error)
    })?;
    let result = serve(args, &client);
    // Answers come in order: after this one there is none left that somebody else could take for theirs.
    let _ = client.quota();
    // Dropped, it would end the connection for whoever started us with theirs.
    mem::forget(client);
    result
}

fn serve(args: &ShArgs, client: &Client) -> anyhow::Result<Done> {
    let code = match &args.line {
        Some(line) => Shell::new(client.clone(), Stdin::of_this_process()).run(line),
        None if io::stdin().is_terminal() => {
            let mut shell = Shell::new(client.clone(), Stdin::Own);
            Ok(shell.converse().context("cannot read what is typed")?)
        }
        None => {
            let script = script(client)?;
            Shell::new(client.clone(), Stdin::Empty).run(&script)
        }
    };
    Ok(match code {
        Ok(code) => Done::Passed(Exit::Exited { code: code.into() }),
        Err(error) => Done::NotRun(NOT_UNDERSTOOD, error.into()),
    })
}

/// The script that standard input holds.
fn script(client: &Client) -> anyhow::Result<String> {
    let mut script = String::new();
    let mut input = client.stdin().take(MOST as u64 + 1);
    input
        .read_to_string(&mut script)
        .context("cannot read the script from standard input")?;
    match script.len() > MOST {
        true => Err(anyhow!("the script is longer than {} KiB", MOST >> 10)),
        false => Ok(script),
    }
}

/// The exit code of a line that was not understood.
const NOT_UNDERSTOOD: u8 = 2;

/// The longest script.
const MOST: usize = 1 << 20;
