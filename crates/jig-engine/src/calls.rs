//! Calls: what a caller asks for, and how it is carried out.
//!
//! [`call`] is the request, [`begun_call`] what it becomes. [`drive`] is the one loop that brings a one-shot call to its end; [`handle_commands`] does
//! one thing with a tool that stays.

pub(crate) mod begun_call;
pub(crate) mod call;
mod callers_thread;
mod drive;
mod handle_commands;
