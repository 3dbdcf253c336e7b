//! What a command of the user prints, for a secret that is kept elsewhere: `gh auth token`.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::path::Path;
use std::time::{Duration, Instant};

use jig_broker::HostEnv;
use jig_sandbox::{
    Containment, Interest, Program, SpawnRequest, Stdio, poll, set_nonblocking, spawn,
};

#[cfg(test)]
mod tests;

/// What a command prints. It runs with the rights and the environment of the user, who wrote it into a file of
/// their own; a workspace cannot name one.
///
/// The error says why there is nothing, and nothing of what the command printed.
#[expect(
    clippy::disallowed_methods,
    reason = "no policy holds a command of the user's own"
)]
pub(super) fn printed_by(
    words: &[String],
    env: &HostEnv,
    home: Option<&Path>,
) -> Result<String, String> {
    let Some((program, args)) = words.split_first() else {
        return Err("it has no words".to_owned());
    };
    let program = Program::parse(program).map_err(|error| error.to_string())?;
    let mut request = SpawnRequest::new(program, home.unwrap_or(Path::new("/")));
    request.args = args.iter().map(Into::into).collect();
    let env = env.iter();
    request.env = env
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    request.stdin = Stdio::Null;
    request.stderr = Stdio::Null;
    // It is the user's own program, and must find things as the user's shell would: agents look at who asks.
    request.containment = Containment::WithoutNamespaces;
    let mut child = spawn(request).map_err(|error| in_words(&error))?;
    let stdout = child.stdout.take();
    let mut stdout = stdout.ok_or_else(|| "its output cannot be read".to_owned())?;
    let lost = |error: io::Error| format!("it cannot be watched: {error}");
    set_nonblocking(stdout.as_fd(), true).map_err(lost)?;
    let deadline = Instant::now() + LONGEST;
    let mut printed = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stdout.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => printed.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                let left = deadline.saturating_duration_since(Instant::now());
                let interests = [Interest::Readable(stdout.as_fd())];
                if poll(&interests, Some(left)).map_err(lost)?.is_empty() {
                    return Err(format!("it took longer than {} seconds", LONGEST.as_secs()));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(lost(error)),
        }
        if printed.len() > MOST {
            return Err("it printed more than a value can be long".to_owned());
        }
    }
    let left = deadline.saturating_duration_since(Instant::now());
    match child.wait_timeout(left).map_err(lost)? {
        Some(exit) if exit.is_success() => {}
        Some(exit) => return Err(format!("it {exit}")),
        None => return Err(format!("it took longer than {} seconds", LONGEST.as_secs())),
    }
    String::from_utf8(printed).map_err(|_| "what it printed is not text".to_owned())
}

fn in_words(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

/// How long it may take. Somebody may have to touch a key, and a call waits meanwhile.
const LONGEST: Duration = Duration::from_secs(30);

/// How much it may print: more than any secret is.
const MOST: usize = 64 * 1024;
