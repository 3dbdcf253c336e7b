//! Rows with colours, safe for a real terminal.

use std::fmt::Write;

use avt::{Cell, Color, Line, Pen};
use jig_proto::is_deceptive;
use unicode_width::UnicodeWidthChar;

/// A row as text with colours. It contains no control character but those of our own sequences.
pub(super) fn painted(line: &Line) -> String {
    let cells = line.cells();
    let is_blank = |cell: &Cell| cell.char() == ' ' && cell.pen().is_default();
    let end = cells.iter().rposition(|cell| !is_blank(cell));
    let cells = &cells[..end.map_or(0, |end| end + 1)];
    let mut text = String::with_capacity(cells.len() + 16);
    let mut pen = Pen::default();
    for (column, cell) in cells.iter().enumerate() {
        // The second half of a wide character.
        if cell.width() == 0 {
            continue;
        }
        if *cell.pen() != pen {
            pen = *cell.pen();
            push_pen(&mut text, &pen);
        }
        push_char(&mut text, cell, column);
    }
    if !pen.is_default() {
        text.push_str("\x1b[0m");
    }
    text
}

/// Writes a character so that it takes as many columns as its cells.
fn push_char(text: &mut String, cell: &Cell, column: usize) {
    let char = cell.char();
    match char.width() {
        // A cell has no room for an escape.
        _ if is_deceptive(char) => text.extend(std::iter::repeat_n(' ', cell.width().into())),
        Some(width) if width == usize::from(cell.width()) => text.push(char),
        // A mark over the character before it. On a real terminal it takes no column, here it has a
        // cell.
        Some(0) if column > 0 => {
            text.push(char);
            text.push(' ');
        }
        _ => text.push(' '),
    }
}

fn push_pen(text: &mut String, pen: &Pen) {
    text.push_str("\x1b[0");
    let attributes = [
        (pen.is_bold(), ";1"),
        (pen.is_faint(), ";2"),
        (pen.is_italic(), ";3"),
        (pen.is_underline(), ";4"),
        (pen.is_blink(), ";5"),
        (pen.is_inverse(), ";7"),
        (pen.is_strikethrough(), ";9"),
    ];
    for (_, code) in attributes.iter().filter(|(is_set, _)| *is_set) {
        text.push_str(code);
    }
    push_color(text, pen.foreground(), 30);
    push_color(text, pen.background(), 40);
    text.push('m');
}

/// `base` is 30 for the foreground and 40 for the background.
fn push_color(text: &mut String, color: Option<Color>, base: u8) {
    // Writing to a string does not fail.
    let _ = match color {
        None => Ok(()),
        Some(Color::Indexed(index @ 0..8)) => write!(text, ";{}", base + index),
        Some(Color::Indexed(index @ 8..16)) => write!(text, ";{}", base + 60 + index - 8),
        Some(Color::Indexed(index)) => write!(text, ";{};5;{index}", base + 8),
        Some(Color::RGB(rgb)) => write!(text, ";{};2;{};{};{}", base + 8, rgb.r, rgb.g, rgb.b),
    };
}
