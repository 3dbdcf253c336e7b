//! `hostile NAME [ARGS]`: tries one attack and says how it went.
//!
//! It exits with 0 and a line `escaped: …` if it got what it wanted, with 1 and `held: …` if it was
//! stopped, with 2 and `untried: …` if it could not be tried here. `hostile --list` prints all attacks.
//! Each program is a function that does by raw system calls what a hostile tool would do; which of them
//! is tried with what, and what is expected, stands in the table of the library.
#![cfg_attr(
    target_os = "linux",
    expect(
        unsafe_code,
        clippy::disallowed_methods,
        clippy::disallowed_types,
        clippy::print_stdout,
        reason = "an attack makes system calls, opens files, starts processes and prints its verdict"
    )
)]

#[cfg(target_os = "linux")]
mod capabilities;
#[cfg(target_os = "linux")]
mod changes;
#[cfg(target_os = "linux")]
mod execution;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod inheritance;
#[cfg(target_os = "linux")]
mod ipc;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod network;
#[cfg(target_os = "linux")]
mod output;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod reading;
#[cfg(target_os = "linux")]
mod survival;
#[cfg(target_os = "linux")]
mod sys;
#[cfg(target_os = "linux")]
mod table;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod verdict;
#[cfg(target_os = "linux")]
mod work;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let mut words = std::env::args().skip(1);
    let name = words.next().unwrap_or_default();
    let args = verdict::Args::new(words.collect());
    match name.as_str() {
        "--list" => table::list(),
        "--victim" => processes::victim(&args),
        _ => table::run(&name, &args),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    std::process::ExitCode::from(2)
}
