//! [`Victim`]: a process that keeps secrets.

use std::io::{self, BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A process with a secret in its memory, its arguments, its environment and its descriptors.
///
/// It ends when the host does: its standard input then comes to an end.
#[derive(Debug)]
pub(crate) struct Victim {
    process: Child,
    /// Where in its memory the secret lies.
    pub(crate) address: String,
    /// The descriptor under which it has a file with the secret open.
    pub(crate) descriptor: String,
}

impl Victim {
    pub(super) fn start(hostile: &Path, secret: &str, kept: &Path) -> io::Result<Self> {
        let mut process = Command::new(hostile)
            .arg("--victim")
            .arg(kept)
            .arg(secret)
            .env("JIG_TEST_CANARY", secret)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = &mut process.stdout {
            BufReader::new(output).read_line(&mut line)?;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        match (words.next(), words.next()) {
            (Some(address), Some(descriptor)) => Ok(Self {
                process,
                address,
                descriptor,
            }),
            _ => Err(io::Error::other("the victim did not start")),
        }
    }

    pub(crate) fn id(&self) -> String {
        self.process.id().to_string()
    }
}

impl Drop for Victim {
    fn drop(&mut self) {
        // It may be gone already; then there is nothing to end, and reaping it is all that is left.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
