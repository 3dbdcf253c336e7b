//! Pseudo-terminals, their screens, and what is typed into them.
//!
//! A running program has a [`Console`]: pipes, or the host's end of a [`Pty`]. Its owner polls it, puts
//! what comes out into a [`Transcript`] and sends [`Input`]. A transcript is a [`Log`] of bytes for
//! pipes and a [`Screen`] for a terminal; both answer what is new since a position, as a [`TranscriptPiece`] of
//! bounded length. [`Settle`] tells when a program has finished printing for now.
//!
//! Nothing here starts a program, has a thread or waits. Nothing that a program prints can panic this
//! crate, fill its memory, or reach a person's terminal as a control sequence: what a screen shows is
//! text, and colours are written anew.
//!
//! ```
//! # #[cfg(unix)] {
//! use std::process::Command;
//! use jig_pty::{Console, CutSide, Input, Pty, Screen, Size};
//! use serde_json::json;
//!
//! let (pty, end) = Pty::open(Size::new(10, 40))?;
//! let mut command = Command::new("sh");
//! command.args(["-c", "stty size; printf 'Name? '; read name; printf '\\033[1mHello %s' $name"]);
//! command.stdin(end.try_clone()?).stdout(end.try_clone()?).stderr(end);
//! let mut child = command.spawn()?;
//! drop(command); // It holds the program's end.
//!
//! let mut console = Console::terminal(pty);
//! let mut screen = Screen::new(Size::new(10, 40), 1_000);
//! console.send(&Input::read(&json!({"line": "jig"}))?, Some(&screen))?;
//! let mut buffer = [0; 4096];
//! while !console.is_ended() {
//!     // A real owner polls `console.readers()` and `console.writer()` here.
//!     console.read(&mut buffer, &mut |_, bytes| screen.feed(bytes));
//!     console.write_answers(&screen.answers());
//! }
//! child.wait()?;
//! let piece = screen.since(0, 1_000, CutSide::Front);
//! assert!(piece.text.contains("10 40"));
//! assert!(piece.text.ends_with("Hello jig"));
//! assert!(screen.painted().iter().any(|row| row.ends_with("\x1b[0;1mHello jig\x1b[0m")));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(unix)]
mod console;
mod input;
mod key;
mod log;
mod piece;
#[cfg(unix)]
mod pty;
mod screen;
mod settled_output;
mod size;
mod transcript;

#[cfg(unix)]
pub use console::{Console, OutputSource, SendError, SentInput, Signal};
pub use input::{Input, InputError};
pub use key::{Key, KeyError};
pub use log::Log;
pub use piece::{CutSide, TranscriptPiece};
#[cfg(unix)]
pub use pty::Pty;
pub use screen::{Cursor, Screen};
pub use settled_output::Settle;
pub use size::Size;
pub use transcript::{TerminalFacts, Transcript};
