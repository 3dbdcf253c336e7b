//! [`Exit`]: how a program ended.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// How a program ended. Not `non_exhaustive`: there is no third way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Exit {
    /// It exited by itself.
    Exited {
        /// The code that it chose; 0 is success.
        code: i32,
    },
    /// A signal ended it.
    Killed {
        /// The number of the signal.
        signal: i32,
        /// Whether it left an image of its memory.
        core: bool,
    },
}

impl Exit {
    /// Whether it exited with code 0.
    pub fn is_success(self) -> bool {
        self == Exit::Exited { code: 0 }
    }
}

/// `exited with code 3`, `was killed by SIGSEGV and dumped core`: to follow the name of a program.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Exit::Exited { code } => write!(f, "exited with code {code}"),
            Exit::Killed { signal, core } => {
                write!(f, "was killed by {}", signal_name(signal))?;
                f.write_str(if core { " and dumped core" } else { "" })
            }
        }
    }
}

/// The name of a signal, with the numbers of Linux on the architectures that jig is built for.
fn signal_name(signal: i32) -> Cow<'static, str> {
    match usize::try_from(signal).ok().and_then(|at| NAMES.get(at)) {
        Some(name) if signal > 0 => Cow::Borrowed(name),
        _ => Cow::Owned(format!("signal {signal}")),
    }
}

const NAMES: [&str; 32] = [
    "",
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];
