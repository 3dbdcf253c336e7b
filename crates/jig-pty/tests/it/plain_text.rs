//! For plain text, a screen agrees with a reference that is too simple to be wrong.

use jig_pty::{CutSide, Screen, Size};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn narrow_text_agrees_with_the_reference(
        pieces in pieces("[a-z ]"),
        rows in 1_u16..8,
        cols in 1_u16..12,
    ) {
        check(&pieces, rows, cols);
    }

    /// Without blanks: one before a wide character at the end of a row is taken for a gap.
    #[test]
    fn wide_text_agrees_with_the_reference(
        pieces in pieces("[a-z界面🦀]"),
        rows in 1_u16..8,
        cols in 2_u16..12,
    ) {
        check(&pieces, rows, cols);
    }
}

/// Pieces of output: characters of a class, and ends of lines.
fn pieces(class: &str) -> impl Strategy<Value = Vec<String>> + use<> {
    let piece = format!("({class}|{class}|{class}|{class}|\r\n){{0,40}}");
    prop::collection::vec(
        proptest::string::string_regex(&piece).expect("an expression"),
        0..8,
    )
}

/// Feeds the pieces to both and compares all that can be asked after each of them.
fn check(pieces: &[String], rows: u16, cols: u16) {
    let mut screen = Screen::new(Size::new(rows, cols), 10_000);
    let mut reference = Reference::new(usize::from(cols));
    for piece in pieces {
        let before = reference.lines.clone();
        let seen = screen.seq();
        screen.feed(piece.as_bytes());
        piece.chars().for_each(|char| reference.print(char));

        let lines = &reference.lines;
        let hidden = lines.len().saturating_sub(usize::from(rows));
        assert_eq!(screen.text(), seen_text(&lines[hidden..]));
        assert_eq!(screen.all(usize::MAX).text, joined_text(lines));
        let changed = (0..lines.len()).find(|index| lines.get(*index) != before.get(*index));
        let new = screen.since(seen, usize::MAX, CutSide::Front);
        let expected = joined_text(&lines[changed.unwrap_or(lines.len())..]);
        // A blank row that the cursor only passed has not changed, one that scrolled in is new.
        let (new_text, expected) = (new.text.trim_start(), expected.trim_start());
        assert_eq!(new_text, expected, "after {before:?}");
        assert_eq!((new.seq, new.lost, new.left), (screen.seq(), 0, 0));
    }
}

/// The rows of a screen without end.
struct Reference {
    cols: usize,
    lines: Vec<Row>,
    /// How many columns of the last row are taken.
    col: usize,
}

#[derive(Clone, Debug, Default)]
struct Row {
    text: String,
    /// The next row continues it.
    is_wrapped: bool,
}

/// What can be seen of it: blanks at the end cannot, nor where the line goes on.
impl PartialEq for Row {
    fn eq(&self, other: &Self) -> bool {
        self.text.trim_end() == other.text.trim_end()
    }
}

impl Reference {
    fn new(cols: usize) -> Self {
        Self {
            cols,
            lines: vec![Row::default()],
            col: 0,
        }
    }

    fn print(&mut self, char: char) {
        let last = self.lines.last_mut().expect("a row");
        match char {
            '\r' => {}
            '\n' => self.begin_row(),
            char => {
                let width = if char.is_ascii() { 1 } else { 2 };
                if self.col + width > self.cols {
                    last.is_wrapped = true;
                    self.begin_row();
                }
                self.lines.last_mut().expect("a row").text.push(char);
                self.col += width;
            }
        }
    }

    fn begin_row(&mut self) {
        self.lines.push(Row::default());
        self.col = 0;
    }
}

fn seen_text(rows: &[Row]) -> String {
    let lines: Vec<_> = rows.iter().map(|row| row.text.trim_end()).collect();
    lines.join("\n").trim_end_matches('\n').to_owned()
}

fn joined_text(rows: &[Row]) -> String {
    let mut text = String::new();
    for row in rows {
        match row.is_wrapped {
            true => text.push_str(&row.text),
            false => {
                text.push_str(row.text.trim_end());
                text.push('\n');
            }
        }
    }
    text.trim_end().to_owned()
}
