//! A small shell over the FS proxy.
//!
//! [`Shell`] runs lines such as `grep TODO notes.txt | sort > found.txt`. Every command is a function of
//! this crate: nothing is executed, and every file is opened by the process at the other end of a
//! [`Client`](jig_tool::proxy::Client), under its rules. What goes from one command to the next stays in
//! this process, a few chunks at a time.
//!
//! There are no variables, loops, functions or background jobs. What the shell does not know is an error
//! that says so; nothing is run then.

#![cfg(unix)]

mod builtin;
mod glob;
mod options;
mod pattern;
mod shell;
mod stage;
mod stream;
mod syntax;

pub use shell::{Shell, Stdin};
pub use syntax::SyntaxError;

/// Whether a text is a script of this shell.
///
/// # Errors
///
/// What is wrong with it, as [`Shell::run`] says.
pub fn check(script: &str) -> Result<(), SyntaxError> {
    syntax::parse(script).map(|_| ())
}
