use jig_proto::Question;
use jig_station::protocol::QuestionAuthor;

use super::*;

fn frame(lines: &[&str], cursor: Option<(u16, u16)>) -> ScreenFrame {
    ScreenFrame {
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
        rows: 2,
        cols: 10,
        cursor,
        application_cursor: true,
        bracketed_paste: false,
    }
}

/// The rows that a terminal shows after this.
fn rows(text: &str) -> Vec<String> {
    let mut screen = jig_pty::Screen::new(Size::default(), 0);
    screen.feed(text.as_bytes());
    screen.text().lines().map(str::to_owned).collect()
}

#[test]
fn the_screen_is_shown_with_a_line_of_ours_below() {
    let mut canvas = Canvas::new("h_1", "shell", false);
    canvas.take(HandleEvent::Screen(frame(&["$ ls", "a.txt"], Some((1, 3)))));
    let text = format!("{ENTER}{}", canvas.painted());
    let rows = rows(&text);
    assert_eq!(rows[0], "$ ls");
    assert_eq!(rows[1], "a.txt");
    assert_eq!(rows[23], "h_1 shell: watching, ctrl-] leaves");
    assert!(text.contains("\x1b[2;4H"), "{text:?}");
}

/// What a smaller screen leaves over is empty.
#[test]
fn nothing_of_an_earlier_screen_stays() {
    let mut canvas = Canvas::new("h_1", "shell", true);
    canvas.take(HandleEvent::Screen(frame(
        &["a long line", "another", "third"],
        None,
    )));
    let mut text = format!("{ENTER}{}", canvas.painted());
    canvas.take(HandleEvent::Screen(frame(&["short"], None)));
    text.push_str(&canvas.painted());
    let rows = rows(&text);
    assert_eq!(rows[0], "short");
    assert!(rows[1..23].iter().all(String::is_empty), "{rows:?}");
}

/// A tool chooses its name for nothing, and its question is text of its own: neither steers the terminal.
#[test]
fn what_a_tool_says_does_not_steer_the_terminal() {
    let mut canvas = Canvas::new("h_1", "x\x1b]0;title\x07", false);
    let painted = canvas.painted();
    assert!(
        !painted.contains("\x1b]") && !painted.contains('\x07'),
        "{painted:?}"
    );
    let asked = |by| StationQuestion {
        number: 7,
        by,
        tool: "x\x1b[2J".to_owned(),
        question: Question::yes_no("q", "really?\x1b[2J\nyes"),
    };
    canvas.take(HandleEvent::Question(Box::new(asked(QuestionAuthor::Tool))));
    let painted = canvas.painted();
    assert!(
        !painted.contains("\x1b[2J") && !painted.contains('\n'),
        "{painted:?}"
    );
    // It is said whose question it is.
    assert!(painted.contains("asks: really?"), "{painted:?}");
    assert!(!painted.contains("jig asks"), "{painted:?}");
    canvas.take(HandleEvent::Question(Box::new(asked(
        QuestionAuthor::Policy,
    ))));
    assert!(canvas.painted().contains("jig asks: really?"));
    let turned = frame(&["\u{202e}abc\u{2066}\u{2028}"], None);
    canvas.take(HandleEvent::Screen(turned));
    let painted = canvas.painted();
    assert!(
        painted.contains("\\u{202e}abc\\u{2066}\\u{2028}"),
        "{painted:?}"
    );
}

/// The keys are told to the terminal when they change, and not in every frame.
#[test]
fn keys_are_set_once() {
    let mut canvas = Canvas::new("h_1", "vim", true);
    canvas.take(HandleEvent::Screen(frame(&["x"], None)));
    assert!(canvas.painted().contains("\x1b[?1h\x1b[?2004l"));
    assert!(!canvas.painted().contains("\x1b[?1h"));
}
