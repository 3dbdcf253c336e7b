//! Where the tokens of a server over HTTP come from.

use std::fmt::Write as _;
use std::io::Read;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_mcp::CallerTokens;
use jig_proto::hint;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::shell_word;

/// Where tokens came from.
pub enum TokenSource {
    /// A file.
    File(Utf8PathBuf),
    /// [`VARIABLE`].
    Variable,
    /// Nowhere: this one was made.
    Made(String),
}

/// The tokens of the file, else of the variable, else one that is made.
pub fn find(file: Option<&Utf8Path>) -> anyhow::Result<(CallerTokens, TokenSource)> {
    if let Some(file) = file {
        let tokens =
            CallerTokens::parse(&read(file)?).with_context(|| format!("cannot use `{file}`"))?;
        return Ok((tokens, TokenSource::File(file.to_owned())));
    }
    match std::env::var(VARIABLE) {
        Ok(token) => {
            let tokens =
                CallerTokens::parse(&token).with_context(|| format!("cannot use {VARIABLE}"))?;
            Ok((tokens, TokenSource::Variable))
        }
        Err(std::env::VarError::NotUnicode(_)) => bail!("{VARIABLE} holds no text"),
        Err(std::env::VarError::NotPresent) => {
            let token = make().context("there is no randomness for a token")?;
            Ok((CallerTokens::parse(&token)?, TokenSource::Made(token)))
        }
    }
}

/// A file that nobody else can read.
fn read(file: &Utf8Path) -> anyhow::Result<String> {
    let failed = || format!("cannot read `{file}`");
    // Not to wait: a pipe somebody put there would make jig wait for ever.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let opened = open(file.as_std_path(), flags, Mode::empty()).with_context(failed)?;
    // What was opened is what is looked at and what is read.
    let stat = fstat(&opened).with_context(failed)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        bail!("`{file}` is no file");
    }
    let mode = Mode::from_raw_mode(stat.st_mode);
    if mode.intersects(Mode::RWXG | Mode::RWXO) {
        let hint = hint!("chmod 600 {}", shell_word(file.as_str()));
        return Err(anyhow!(hint).context(format!("others than you can read `{file}`")));
    }
    if stat.st_uid != geteuid().as_raw() && stat.st_uid != 0 {
        bail!("`{file}` belongs to somebody else");
    }
    let mut text = String::new();
    #[expect(
        clippy::disallowed_types,
        reason = "a person names it on the command line, and it is read before anything runs"
    )]
    let mut opened = std::fs::File::from(opened).take(MAX_FILE + 1);
    opened.read_to_string(&mut text).with_context(failed)?;
    if text.len() as u64 > MAX_FILE {
        bail!("`{file}` is larger than {MAX_FILE} bytes");
    }
    Ok(text)
}

/// A token that nobody can guess.
fn make() -> rustix::io::Result<String> {
    let mut bytes = [0_u8; 32];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    Ok(text)
}

/// The variable that may hold a token.
pub const VARIABLE: &str = "JIG_MCP_TOKEN";

/// Far more than all tokens take.
const MAX_FILE: u64 = 256 * 1024;
