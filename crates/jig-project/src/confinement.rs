//! Whether this jig runs within a sandbox of jig. Nothing is accepted from there.

use anyhow::anyhow;
use jig_proto::hint;
use rustix::fs::{Mode, OFlags};

/// Refuses what only a person may do.
///
/// A tool that gets round this gains nothing: what was accepted lies in the folder of jig's state, which no tool
/// reaches. Without it, it would seem to a tool that it had accepted something.
///
/// # Errors
///
/// If jig runs within a sandbox of jig.
pub fn refuse() -> anyhow::Result<()> {
    match is_confined() {
        false => Ok(()),
        true => Err(anyhow!(hint!("run `jig trust` in a terminal of your own"))
            .context("a program in a sandbox of jig cannot accept what a workspace allows")),
    }
}

fn is_confined() -> bool {
    let status = read("/proc/self/status");
    let has = |line: &str| status.lines().any(|other| other == line);
    // The keeper of a sandbox is the first process that a tool sees.
    let keeper = read("/proc/1/comm");
    has("NoNewPrivs:\t1") && has("Seccomp:\t2") && keeper.trim_end() == KEEPER
}

fn read(path: &str) -> String {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let mut bytes = [0; 4096];
    let file = rustix::fs::open(path, flags, Mode::empty());
    let read = file.and_then(|file| rustix::io::read(&file, &mut bytes));
    String::from_utf8_lossy(&bytes[..read.unwrap_or(0)]).into_owned()
}

/// What the keeper is called.
const KEEPER: &str = "jig-keeper";
