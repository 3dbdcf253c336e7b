//! [`LegacyCommand`]: what an older client asks.

use crate::fsproxy::legacy::LegacyOpenMode;
use crate::fsproxy::request::shown;

/// What an older client asks.
///
/// Exhaustive: these are all that there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegacyCommand<'a> {
    /// `OPEN filename mode is_top_level`.
    Open {
        /// The file; a name with a space in it cannot be written.
        path: &'a str,
        /// How it is opened.
        mode: LegacyOpenMode,
        /// Whether the client counts itself as top level; it does not if it says nothing.
        is_top_level: bool,
    },
    /// `READ fileno size`.
    Read {
        /// The handle.
        handle: u64,
        /// The most bytes, at least 1.
        size: u64,
    },
    /// `WRITE fileno size`, and so many bytes.
    Write {
        /// The handle.
        handle: u64,
        /// What is written.
        data: &'a [u8],
    },
    /// `CLOSE fileno`.
    Close {
        /// The handle.
        handle: u64,
    },
    /// `LLM_CHAT is_top_level stdin_fd stdout_fd stderr_fd input_files_count prompt_length`, and so
    /// many bytes of both.
    LlmChat {
        /// Whether the client counts itself as top level.
        is_top_level: bool,
        /// The handle that is read as input.
        stdin: u64,
        /// The handle that the answer is written to.
        stdout: u64,
        /// The handle that is told what went wrong.
        stderr: u64,
        /// The files that are read as input, one on each line.
        files: &'a str,
        /// What the model is asked.
        prompt: &'a str,
    },
    /// `LLM_QUOTA`.
    LlmQuota,
}

/// Why a request cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct LegacyRefusal {
    /// What is wrong, as it stands behind `ERROR`.
    pub text: String,
    /// Whether the next command cannot be found, so that the connection is to be closed after this
    /// answer. Going on would take the content of a file for commands.
    pub fatal: bool,
}

impl LegacyRefusal {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            fatal: false,
        }
    }

    pub(super) fn fatal(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            fatal: true,
        }
    }

    fn invalid(what: &str, word: &[u8]) -> Self {
        let word = String::from_utf8_lossy(word);
        Self::new(format!("invalid {what}: {}", shown(&word)))
    }
}

/// Reads a command that is one line and nothing else.
pub(super) fn parse(line: &[u8]) -> Result<LegacyCommand<'_>, LegacyRefusal> {
    let mut words = words(line);
    let name = words
        .next()
        .ok_or_else(|| LegacyRefusal::new("empty request"))?;
    let command = match name {
        b"OPEN" => {
            let needs = || LegacyRefusal::new("OPEN requires filename and mode");
            let path = words.next().ok_or_else(needs)?;
            let mode = words.next().ok_or_else(needs)?;
            LegacyCommand::Open {
                path: str::from_utf8(path).map_err(|_| LegacyRefusal::invalid("filename", path))?,
                mode: str::from_utf8(mode)
                    .ok()
                    .and_then(LegacyOpenMode::parse)
                    .ok_or_else(|| LegacyRefusal::invalid("mode", mode))?,
                is_top_level: words.next().map_or(Ok(false), top_level)?,
            }
        }
        b"READ" => {
            let needs = || LegacyRefusal::new("READ requires fileno and size");
            let handle = words.next().ok_or_else(needs)?;
            let size = words.next().ok_or_else(needs)?;
            let command = LegacyCommand::Read {
                handle: number("fileno", handle)?,
                // Nothing read would look like the end of the file.
                size: number("size", size)
                    .ok()
                    .filter(|size| *size > 0)
                    .ok_or_else(|| LegacyRefusal::invalid("size", size))?,
            };
            // Some clients say here, too, whether they are top level.
            words.next().map_or(Ok(false), top_level)?;
            command
        }
        b"CLOSE" => {
            let handle = words
                .next()
                .ok_or_else(|| LegacyRefusal::new("CLOSE requires fileno"))?;
            LegacyCommand::Close {
                handle: number("fileno", handle)?,
            }
        }
        b"LLM_QUOTA" => LegacyCommand::LlmQuota,
        other => {
            let name = String::from_utf8_lossy(other);
            return Err(LegacyRefusal::new(format!(
                "unknown command: {}",
                shown(&name)
            )));
        }
    };
    no_more(words)?;
    Ok(command)
}

/// A command that waits for the bytes behind its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AwaitedCommand {
    Write {
        handle: u64,
        size: usize,
    },
    Chat {
        is_top_level: bool,
        stdin: u64,
        stdout: u64,
        stderr: u64,
        files: usize,
        prompt: usize,
    },
}

/// A line was refused, and so many bytes behind it belong to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LegacyLineError {
    pub(super) refused: LegacyRefusal,
    pub(super) skip: u64,
}

impl AwaitedCommand {
    /// Reads the line of a command that has bytes behind it, of which at most `max` are kept; `None` if
    /// it is another command.
    pub(super) fn parse(line: &[u8], max: usize) -> Option<Result<Self, LegacyLineError>> {
        let mut words = words(line);
        match words.next()? {
            b"WRITE" => Some(Self::write(words, max)),
            b"LLM_CHAT" => Some(Self::chat(words, max)),
            _ => None,
        }
    }

    fn write<'a>(
        mut words: impl Iterator<Item = &'a [u8]>,
        max: usize,
    ) -> Result<Self, LegacyLineError> {
        let (Some(handle), Some(size)) = (words.next(), words.next()) else {
            return Err(LegacyLineError::lost(LegacyRefusal::new(
                "WRITE requires fileno and size",
            )));
        };
        let skip = number("size", size).map_err(LegacyLineError::lost)?;
        let command = number("fileno", handle).and_then(|handle| {
            no_more(words)?;
            let size = within(skip, max).ok_or_else(|| {
                LegacyRefusal::new(format!("size {skip} exceeds the limit of {max}"))
            })?;
            Ok(Self::Write { handle, size })
        });
        command.map_err(|refused| LegacyLineError { refused, skip })
    }

    fn chat<'a>(
        mut words: impl Iterator<Item = &'a [u8]>,
        max: usize,
    ) -> Result<Self, LegacyLineError> {
        let mut parameters = [&b""[..]; 6];
        for parameter in &mut parameters {
            *parameter = words.next().ok_or_else(|| {
                LegacyLineError::lost(LegacyRefusal::new(
                    "LLM_CHAT requires is_top_level, stdin_fd, stdout_fd, stderr_fd, \
                     input_files_count, and prompt_length",
                ))
            })?;
        }
        let [flag, stdin, stdout, stderr, files, prompt] = parameters;
        let sizes = number("input_files_count", files)
            .and_then(|files| Ok((files, number("prompt_length", prompt)?)))
            .and_then(|(files, prompt)| match files.checked_add(prompt) {
                Some(all) => Ok((files, prompt, all)),
                None => Err(LegacyRefusal::invalid("prompt_length", parameters[5])),
            });
        let command = Self::streams(flag, [stdin, stdout, stderr]);
        // What comes first in the line is told first; whether there is a way on is another question.
        let (files, prompt, skip) = match (&command, sizes) {
            (_, Ok(sizes)) => sizes,
            (Ok(_), Err(refused)) => return Err(LegacyLineError::lost(refused)),
            (Err(refused), Err(_)) => return Err(LegacyLineError::lost(refused.clone())),
        };
        let command = command.and_then(|(is_top_level, [stdin, stdout, stderr])| {
            no_more(words)?;
            let too_much = || {
                LegacyRefusal::new(format!(
                    "input files and prompt have {skip} bytes; the limit is {max}"
                ))
            };
            within(skip, max).ok_or_else(too_much)?;
            Ok(Self::Chat {
                is_top_level,
                stdin,
                stdout,
                stderr,
                files: within(files, max).ok_or_else(too_much)?,
                prompt: within(prompt, max).ok_or_else(too_much)?,
            })
        });
        command.map_err(|refused| LegacyLineError { refused, skip })
    }

    fn streams(flag: &[u8], streams: [&[u8]; 3]) -> Result<(bool, [u64; 3]), LegacyRefusal> {
        let is_top_level = top_level(flag)?;
        let [stdin, stdout, stderr] = streams;
        let streams = [
            number("stdin_fd", stdin)?,
            number("stdout_fd", stdout)?,
            number("stderr_fd", stderr)?,
        ];
        Ok((is_top_level, streams))
    }

    /// How many bytes there are behind the line.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Write { size, .. } => *size,
            Self::Chat { files, prompt, .. } => files + prompt,
        }
    }

    /// The command with the bytes behind its line.
    pub(super) fn command(self, payload: &[u8]) -> Result<LegacyCommand<'_>, LegacyRefusal> {
        match self {
            Self::Write { handle, .. } => Ok(LegacyCommand::Write {
                handle,
                data: payload,
            }),
            Self::Chat {
                is_top_level,
                stdin,
                stdout,
                stderr,
                files,
                ..
            } => {
                let (files, prompt) = payload.split_at(files);
                Ok(LegacyCommand::LlmChat {
                    is_top_level,
                    stdin,
                    stdout,
                    stderr,
                    files: str::from_utf8(files).map_err(|_| LegacyRefusal::new(NO_FILES))?,
                    prompt: str::from_utf8(prompt).map_err(|_| LegacyRefusal::new(NO_PROMPT))?,
                })
            }
        }
    }

    /// What is told if the stream ends when only `arrived` bytes are there.
    pub(super) fn cut(&self, arrived: usize) -> LegacyRefusal {
        LegacyRefusal::fatal(match self {
            Self::Write { .. } => "failed to read data",
            Self::Chat { files, .. } if arrived < *files => NO_FILES,
            Self::Chat { .. } => NO_PROMPT,
        })
    }
}

impl LegacyLineError {
    /// There is no telling where the next command begins.
    fn lost(refused: LegacyRefusal) -> Self {
        Self {
            refused: LegacyRefusal::fatal(refused.text),
            skip: 0,
        }
    }
}

fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
}

fn no_more<'a>(mut words: impl Iterator<Item = &'a [u8]>) -> Result<(), LegacyRefusal> {
    match words.next() {
        None => Ok(()),
        Some(word) => {
            let word = String::from_utf8_lossy(word);
            Err(LegacyRefusal::new(format!(
                "unexpected parameter: {}",
                shown(&word)
            )))
        }
    }
}

fn top_level(word: &[u8]) -> Result<bool, LegacyRefusal> {
    match word {
        b"true" => Ok(true),
        b"false" => Ok(false),
        other => Err(LegacyRefusal::invalid("is_top_level", other)),
    }
}

/// A number of digits alone: no sign, which `parse` would take.
fn number(what: &str, word: &[u8]) -> Result<u64, LegacyRefusal> {
    Some(word)
        .filter(|word| word.iter().all(u8::is_ascii_digit))
        .and_then(|word| str::from_utf8(word).ok())
        .and_then(|digits| digits.parse().ok())
        .ok_or_else(|| LegacyRefusal::invalid(what, word))
}

fn within(size: u64, max: usize) -> Option<usize> {
    usize::try_from(size).ok().filter(|size| *size <= max)
}

const NO_FILES: &str = "failed to read input files data";
const NO_PROMPT: &str = "failed to read prompt data";
