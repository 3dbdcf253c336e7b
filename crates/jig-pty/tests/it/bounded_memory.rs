//! Output without end fits into bounded memory.
#![expect(
    clippy::disallowed_methods,
    reason = "the kernel tells in a file how much memory a process has"
)]

use jig_pty::{CutSide, Screen, Size};

#[test]
fn floods_fit_into_memory() {
    if !jig_testkit::is_alone() {
        return;
    }
    let giant = "x".repeat(64 << 10);
    let text = "界".repeat(20 << 10);
    let floods: [(&str, String, String); 9] = [
        ("a title without end", "\x1b]0;".into(), giant.clone()),
        ("a string without end", "\x1bPq".into(), giant.clone()),
        (
            "a private string without end",
            "\x1b_".into(),
            giant.clone(),
        ),
        (
            "a sequence without end",
            "\x1b[".into(),
            "1;".repeat(32 << 10),
        ),
        ("a line without end", String::new(), giant),
        ("a wide line without end", String::new(), text),
        ("lines without end", String::new(), "y\n".repeat(32 << 10)),
        ("escapes", String::new(), "\x1b".repeat(64 << 10)),
        ("questions", String::new(), "\x1b[6n\x1b[c".repeat(8 << 10)),
    ];
    for (name, begin, body) in &floods {
        let mut screen = Screen::new(Size::default(), 500);
        screen.feed(begin.as_bytes());
        // All that is kept is full after the first pieces.
        for _ in 0..2 {
            screen.feed(body.as_bytes());
        }
        let before = resident_kib();
        let mut fed = 0;
        while fed < 2 << 20 {
            screen.feed(body.as_bytes());
            fed += body.len();
        }
        let grown = resident_kib().saturating_sub(before);
        assert!(grown < 512, "{name}: {grown} KiB more");
        assert!(screen.since(0, 1 << 10, CutSide::Front).text.len() <= 1 << 10);
    }
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let number = line
        .expect("it tells")
        .split_whitespace()
        .nth(1)
        .expect("a number");
    number.parse().expect("a number")
}
