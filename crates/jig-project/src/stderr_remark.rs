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

/// A time, in the largest unit that it is a multiple of.
pub fn time(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let unit = units
        .iter()
        .find(|(_, size)| millis >= *size && millis.is_multiple_of(*size));
    unit.map_or(format!("{millis}ms"), |(name, size)| {
        format!("{}{name}", millis / size)
    })
}
