//! Terminals from outside: real programs, and output that means harm.

#[cfg(target_os = "linux")]
mod bounded_memory;
mod hostile_output;
mod plain_text;
#[cfg(unix)]
mod programs;
