//! Components from outside: what a guest can do, and what it may take.

mod cache;
mod common;
mod contract;
mod fs;
mod host;
mod learn;
mod limits;
mod raw;
mod wasi;
