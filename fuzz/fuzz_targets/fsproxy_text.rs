//! The text variant of the FS Proxy, for as long as wanted.
#![no_main]

#[path = "../bodies/fsproxy_text.rs"]
mod body;
#[path = "../bodies/splits.rs"]
mod splits;

libfuzzer_sys::fuzz_target!(|input: &[u8]| body::run(input));
