//! [`Canvas`]: the user's terminal, with the screen of a tool and one line of ours below it.

use jig_proto::{visible_lines, visible_painted, visible_words};
use jig_pty::Size;
use jig_station::protocol::{HandleEvent, ScreenFrame, StationQuestion};

use crate::terminal;

/// What is painted on the user's terminal.
pub(super) struct Canvas {
    frame: Option<ScreenFrame>,
    /// What our own line says.
    status: String,
    usual: String,
    id: String,
    /// What the user's terminal was last told about its keys.
    keys: Option<(bool, bool)>,
}

impl Canvas {
    pub(super) fn new(id: &str, tool: &str, takes_input: bool) -> Self {
        let watching = match takes_input {
            true => "",
            false => "watching, ",
        };
        let usual = visible_lines(&format!("{id} {tool}: {watching}ctrl-] leaves"));
        Self {
            frame: None,
            status: usual.clone(),
            usual,
            id: id.to_owned(),
            keys: None,
        }
    }

    /// The room that the tool's screen has.
    pub(super) fn room(&self) -> Size {
        let size = terminal::size().unwrap_or_default();
        Size::new(size.rows.saturating_sub(1), size.cols)
    }

    pub(super) fn take(&mut self, seen: HandleEvent) {
        match seen {
            HandleEvent::Screen(mut frame) => {
                for line in &mut frame.lines {
                    *line = visible_painted(line);
                }
                self.frame = Some(frame);
            }
            HandleEvent::Question(asked) => self.status = question(&self.id, &asked),
            HandleEvent::NotTaken(reason) => self.status = visible_lines(&reason),
            HandleEvent::Answered => self.status = self.usual.clone(),
            HandleEvent::Text(_) | HandleEvent::Stopped(_) => {}
        }
    }

    /// All of it, as one piece of text. A line that is longer than the terminal is wide ends at its border.
    pub(super) fn painted(&mut self) -> String {
        let room = self.room();
        let mut text = String::from(BEGIN);
        let lines = self.frame.iter().flat_map(|frame| &frame.lines);
        let mut row = 1;
        for line in lines.take(usize::from(room.rows)) {
            text.push_str(&format!("\x1b[{row};1H\x1b[0m{line}\x1b[0m\x1b[K"));
            row += 1;
        }
        // Below a screen that is smaller than the room there is nothing.
        text.push_str(&format!("\x1b[{row};1H\x1b[0m\x1b[J"));
        let status = visible_words(&self.status);
        let status: String = status.chars().take(usize::from(room.cols)).collect();
        let last = u32::from(room.rows) + 1;
        text.push_str(&format!("\x1b[{last};1H\x1b[7m{status}\x1b[0m\x1b[K"));
        if let Some(frame) = &self.frame {
            let keys = (frame.application_cursor, frame.bracketed_paste);
            if self.keys.replace(keys) != Some(keys) {
                let set = |on: bool| if on { 'h' } else { 'l' };
                text.push_str(&format!("\x1b[?1{}\x1b[?2004{}", set(keys.0), set(keys.1)));
            }
            if let Some((row, column)) = frame.cursor.filter(|(row, _)| *row < room.rows) {
                let (row, column) = (u32::from(row) + 1, u32::from(column) + 1);
                text.push_str(&format!("\x1b[{row};{column}H\x1b[?25h"));
            }
        }
        text.push_str(END);
        text
    }
}

/// What is said of a question.
pub(super) fn question(id: &str, asked: &StationQuestion) -> String {
    let command = asked.command(id);
    format!(
        "{}: {} (answer with `{command}`)",
        asked.lead_in(),
        asked.text()
    )
}

/// The terminal's other screen, without scrolling at its borders: lines are cut there.
pub(super) const ENTER: &str = "\x1b[?1049h\x1b[?7l\x1b[2J";

/// As it was: keys, borders, cursor, colours, screen.
pub(super) const LEAVE: &str = "\x1b[?1l\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l";

/// A terminal that knows this shows a frame at once; others pass over it.
const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";

#[cfg(test)]
mod tests;
