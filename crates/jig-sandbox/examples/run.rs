//! Runs a program under a keeper, prints what is enforced on it and how it ended.
//!
//! `cargo run -p jig-sandbox --example run -- /bin/echo hello`
#![expect(clippy::print_stdout, reason = "an example that prints")]

use std::error::Error;
use std::io;

use jig_sandbox::{Program, SpawnRequest, minimal_environment, spawn};

#[expect(
    clippy::disallowed_methods,
    reason = "the example is about the sandbox alone"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let program = arguments.next().unwrap_or_else(|| "true".into());
    let mut request = SpawnRequest::new(Program::parse(program)?, std::env::current_dir()?);
    request.args = arguments.collect();
    request.env = minimal_environment(&std::env::temp_dir());
    let mut child = spawn(request)?;
    for (part, enforcement) in [
        ("tree", &child.status.tree),
        ("processes", &child.status.processes),
        ("files", &child.status.files),
        ("network", &child.status.network),
    ] {
        println!("{part}: {enforcement}");
    }
    if let Some(mut output) = child.stdout.take() {
        io::copy(&mut output, &mut io::stdout())?;
    }
    if let Some(mut errors) = child.stderr.take() {
        io::copy(&mut errors, &mut io::stderr())?;
    }
    println!("it {}", child.wait()?);
    Ok(())
}
