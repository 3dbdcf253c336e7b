//! A word to the person on stderr, where nothing else to print with is at hand.

use std::io::Write as _;
use std::time::Duration;

use jig_proto::visible_lines;

/// Prints a remark on stderr, where nothing else to print with is at hand.
pub fn remark(text: &str) {
    let mut stderr = anstream::stderr();
    let _ = writeln!(stderr, "{}", visible_lines(text));
}

/// How long ago something was, roughly: in its largest unit.
pub fn age(age: Duration) -> String {
    let seconds = age.as_secs();
    match seconds {
        0..60 => format!("{seconds}s"),
        60..3600 => format!("{}m", seconds / 60),
        3600..86_400 => format!("{}h", seconds / 3600),
        _ => format!("{}d", seconds / 86_400),
    }
}
