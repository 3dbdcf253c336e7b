//! `fs_read_file`: the text of a file, or of some of its lines.

use jig_tool::vfs::Host;
use jig_tool::{Content, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::phrases::{count, error, quoted};
use crate::refusal::explain;

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let path = arguments.path("path")?;
    let first = arguments.count("start_line")?.unwrap_or(1);
    let last = arguments.count("end_line")?.unwrap_or(u64::MAX);
    let numbered = arguments.flag("line_numbers")?;
    check_range(first, last)?;
    let mut lines = LineSelection::new(first, last, numbered);
    read(host, &path, &mut lines)?;
    lines.into_content(&path)
}

fn check_range(first: u64, last: u64) -> Result<(), ToolError> {
    if first == 0 || last == 0 {
        return Err(ToolError::new("lines are counted from 1, not from 0"));
    }
    if last < first {
        let message = format!("`end_line` ({last}) is before `start_line` ({first})");
        return Err(ToolError::new(message));
    }
    Ok(())
}

/// Reads the file piece by piece, where the host can do that, until `lines` has what it wants.
fn read(host: &mut Host, path: &str, lines: &mut LineSelection) -> Result<(), ToolError> {
    let in_pieces = host.capabilities().ranges;
    let mut offset = 0;
    let mut version = None;
    loop {
        let piece = match in_pieces {
            true => host.read_range(path, offset, PIECE_BYTES),
            false => host.read_file(path),
        };
        let piece = piece.map_err(|refused| explain(path, refused))?;
        let version = version.get_or_insert_with(|| piece.etag.clone());
        if *version != piece.etag {
            let mut changed = error(
                format!("{} was changed while it was read", quoted(path)),
                hint!("read it again"),
            );
            changed.transient = true;
            return Err(changed);
        }
        let bytes = piece.content.as_bytes();
        if bytes.contains(&0) {
            return Err(not_text(path, piece.size));
        }
        lines.size = piece.size;
        offset += bytes.len() as u64;
        if !lines.take(bytes) {
            return Ok(());
        }
        if bytes.is_empty() || offset >= piece.size || !in_pieces {
            lines.end();
            return Ok(());
        }
    }
}

fn not_text(path: &str, size: u64) -> ToolError {
    let message = format!(
        "{} is a binary file ({}), not UTF-8 text",
        quoted(path),
        count(size, "byte")
    );
    error(message, hint!("this tool reads text only"))
}

/// The lines that are wanted, out of bytes as they come.
struct LineSelection {
    first: u64,
    last: u64,
    numbered: bool,
    /// The number of the line that is being read.
    number: u64,
    /// Whether the last line that has come has no end so far.
    in_line: bool,
    /// What has come of it, at most [`MAX_BYTES`] and one more.
    line: Vec<u8>,
    out: Vec<u8>,
    /// The last line that is in `out`.
    shown: u64,
    stopped: ReadStop,
    size: u64,
}

/// Why no more is taken.
#[derive(PartialEq)]
enum ReadStop {
    NotYet,
    /// What was asked for is there.
    Satisfied,
    /// The file has ended.
    AtEnd,
    /// More would be too much.
    Full,
    /// One line by itself is too much.
    InLine,
}

impl LineSelection {
    fn new(first: u64, last: u64, numbered: bool) -> Self {
        Self {
            first,
            last,
            numbered,
            number: 1,
            in_line: false,
            line: Vec::new(),
            out: Vec::new(),
            shown: 0,
            stopped: ReadStop::NotYet,
            size: 0,
        }
    }

    /// Takes more bytes; `false` if no more are needed.
    fn take(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.number >= self.first {
                let room = (MAX_BYTES + 1).saturating_sub(self.line.len());
                self.line.extend_from_slice(&part[..part.len().min(room)]);
            }
            self.in_line = !part.ends_with(b"\n");
            if self.line.len() > MAX_BYTES || !self.in_line {
                self.finish_line();
            }
            if self.stopped != ReadStop::NotYet {
                return false;
            }
        }
        true
    }

    /// The file has ended.
    fn end(&mut self) {
        if self.in_line && self.stopped == ReadStop::NotYet {
            self.finish_line();
        }
        if self.stopped == ReadStop::NotYet {
            self.stopped = ReadStop::AtEnd;
        }
    }

    fn finish_line(&mut self) {
        if self.number >= self.first {
            let number = match self.numbered {
                true => format!("{:>6}\t", self.number),
                false => String::new(),
            };
            if self.out.len() + number.len() + self.line.len() > MAX_BYTES {
                self.stopped = ReadStop::Full;
                if !self.out.is_empty() {
                    return;
                }
                self.stopped = ReadStop::InLine;
                self.line.truncate(MAX_BYTES);
            }
            self.out.extend_from_slice(number.as_bytes());
            self.out.append(&mut self.line);
            self.shown = self.number;
        }
        self.number += 1;
        if self.number > self.last && self.stopped == ReadStop::NotYet {
            self.stopped = ReadStop::Satisfied;
        }
    }

    fn into_content(self, path: &str) -> Result<Content, ToolError> {
        if self.size == 0 {
            return Ok(format!("{} is empty.", quoted(path)).into());
        }
        if self.shown == 0 {
            let lines = count(self.number - 1, "line");
            let message = format!(
                "{} has {lines}: there is no line {}",
                quoted(path),
                self.first
            );
            return Err(ToolError::new(message));
        }
        let text = match String::from_utf8(self.out) {
            Ok(text) => text,
            // The cut may have hit a character.
            Err(bad)
                if self.stopped == ReadStop::InLine && bad.utf8_error().error_len().is_none() =>
            {
                let whole = bad.utf8_error().valid_up_to();
                let mut bytes = bad.into_bytes();
                bytes.truncate(whole);
                String::from_utf8(bytes).unwrap_or_default()
            }
            Err(_) => return Err(not_text(path, self.size)),
        };
        let (first, shown) = (self.first, self.shown);
        Ok(match self.stopped {
            ReadStop::Full => {
                let next = shown + 1;
                let break_line = if text.ends_with('\n') { "" } else { "\n" };
                format!(
                    "{text}{break_line}[Lines {first} to {shown} of {}; the file goes on. For more, read from `start_line` {next}.]",
                    quoted(path)
                )
            }
            ReadStop::InLine => format!(
                "{text}\n[Line {shown} of {} is cut here: it is longer than {MAX_BYTES} bytes.]",
                quoted(path)
            ),
            _ => text,
        }
        .into())
    }
}

/// How much is returned at once. A model that asks for a log of gigabytes would else get it.
const MAX_BYTES: usize = 128 * 1024;

/// How much is read at once: most files in one request.
const PIECE_BYTES: u64 = 256 * 1024;
