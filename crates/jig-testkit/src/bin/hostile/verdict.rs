//! [`Verdict`]: how an attack went, and the words in which it is told.

use std::ffi::CString;
use std::io::{self, Write};
use std::process::ExitCode;
use std::str::FromStr;

/// What the attack got, or why it got nothing.
pub(crate) type Verdict = Result<String, Stopped>;

/// Why an attack got nothing.
#[derive(Debug)]
pub(crate) enum Stopped {
    /// It was tried and failed.
    Held(String),
    /// It could not be tried.
    Untried(String),
}

/// A system call that fails has stopped the attack.
impl From<io::Error> for Stopped {
    fn from(error: io::Error) -> Self {
        Stopped::Held(error.to_string())
    }
}

/// Stopped by something that was seen, not by an error.
pub(crate) fn held<T>(why: impl Into<String>) -> Result<T, Stopped> {
    Err(Stopped::Held(why.into()))
}

/// It cannot be tried.
pub(crate) fn untried<T>(why: impl Into<String>) -> Result<T, Stopped> {
    Err(Stopped::Untried(why.into()))
}

/// Prints the verdict, and gives the exit code that goes with it.
pub(crate) fn tell(verdict: &Verdict) -> ExitCode {
    let (word, detail, code) = match verdict {
        Ok(detail) => ("escaped", detail, 0),
        Err(Stopped::Held(detail)) => ("held", detail, 1),
        Err(Stopped::Untried(detail)) => ("untried", detail, 2),
    };
    // Whoever listens may be gone; the exit code says the same.
    let _ = writeln!(io::stdout(), "{word}: {}", detail.replace('\n', " "));
    ExitCode::from(code)
}

/// What an attack was given.
pub(crate) struct Args(Vec<String>);

impl Args {
    pub(crate) fn new(words: Vec<String>) -> Self {
        Self(words)
    }

    pub(crate) fn text(&self, at: usize) -> Result<&str, Stopped> {
        match self.0.get(at) {
            Some(word) if !word.is_empty() => Ok(word),
            _ => untried(format!("argument {at} is missing")),
        }
    }

    pub(crate) fn path(&self, at: usize) -> Result<CString, Stopped> {
        c_string(self.text(at)?)
    }

    pub(crate) fn number<T: FromStr>(&self, at: usize) -> Result<T, Stopped> {
        let word = self.text(at)?;
        match word.parse() {
            Ok(number) => Ok(number),
            Err(_) => untried(format!("`{word}` is not a number")),
        }
    }

    pub(crate) fn rest(&self, from: usize) -> &[String] {
        self.0.get(from..).unwrap_or_default()
    }
}

pub(crate) fn c_string(text: impl Into<Vec<u8>>) -> Result<CString, Stopped> {
    CString::new(text).or_else(|_| untried("a NUL byte in a path"))
}
