//! Whatever a program prints, a screen takes it without a panic, in bounded memory and time.
//!
//! `JIG_PTY_ROUNDS` makes the random part longer.

use std::time::{Duration, Instant};

use jig_pty::{CutSide, Screen, Size};

#[test]
fn random_sequences_break_nothing() {
    let rounds = std::env::var("JIG_PTY_ROUNDS").map_or(200, |text| text.parse().unwrap());
    let start = std::env::var("JIG_PTY_SEED").map_or(0, |text| text.parse().unwrap());
    for seed in start..start + rounds {
        let result = std::panic::catch_unwind(|| torture(seed));
        assert!(result.is_ok(), "seed {seed}");
    }
}

#[test]
fn large_numbers_ask_for_no_more_than_the_screen_has() {
    let mut screen = Screen::new(Size::default(), 1_000);
    let start = Instant::now();
    for last in '@'..='~' {
        for number in ["999999999", "65535", "32768", "99999999999999999999999"] {
            let one = format!("x\x1b[{number};{number};{number}{last}\x1b[?{number}{last}");
            screen.feed(one.repeat(100).as_bytes());
        }
    }
    assert!(start.elapsed() < Duration::from_secs(120));
    assert_eq!(screen.size(), Size::default());
}

#[test]
fn a_character_is_repeated_for_one_row_at_most() {
    let mut screen = Screen::new(Size::default(), 1_000);
    screen.feed(b"x\x1b[65535b");
    let lines = screen.text().lines().count();
    assert!(lines <= 2, "eight bytes filled {lines} rows");
    screen.feed(b"\x1b#8");
    assert!(!screen.text().contains('E'), "nor is the screen filled");
}

/// Feeds a screen random bytes and random sizes, and asks it everything in between.
fn torture(seed: u64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    let mut screen = Screen::new(random.size(), random.below(50) as usize);
    let mut last = 0;
    for _ in 0..60 {
        if random.below(8) == 0 {
            let back = screen.size();
            screen.resize(random.size());
            if random.below(2) == 0 {
                screen.resize(Size::new(1, 1));
                screen.resize(back);
            }
        }
        let bytes = random.output();
        for piece in bytes.chunks(1 + random.below(200) as usize) {
            screen.feed(piece);
        }
        check_invariants(&mut screen, &mut last, &mut random);
    }
}

fn check_invariants(screen: &mut Screen, last: &mut u64, random: &mut Random) {
    assert!(screen.seq() >= *last, "the number never falls");
    let size = screen.size();
    let cursor = screen.cursor();
    assert!(cursor.row < size.rows && cursor.col < size.cols);
    let text = screen.text();
    assert!(text.lines().count() <= usize::from(size.rows));
    assert!(!text.chars().any(|char| char.is_control() && char != '\n'));
    let painted = screen.painted();
    assert_eq!(painted.len(), usize::from(size.rows));
    for row in &painted {
        assert_only_colours(row);
    }
    let max = random.below(300) as usize;
    let piece = screen.since(*last, max, CutSide::Front);
    assert!(piece.text.len() <= max);
    assert_eq!(piece.seq, screen.seq());
    check_pages(screen, *last, max.max(1));
    assert!(screen.answers().len() <= 4 << 10);
    assert!(screen.answers().is_empty());
    *last = screen.seq();
}

/// Read in pages, it is the same text, and the reading ends.
fn check_pages(screen: &Screen, after: u64, max: usize) {
    let whole = screen.since(after, usize::MAX, CutSide::Back);
    assert_eq!((whole.left, whole.seq), (0, screen.seq()));
    let is_cuttable = whole.text.lines().all(|line| line.len() < max);
    let mut paged = String::new();
    let mut at = after;
    loop {
        let page = screen.since(at, max, CutSide::Back);
        assert!(page.text.len() <= max);
        paged.push_str(&page.text);
        if page.left == 0 || page.seq == screen.seq() {
            break;
        }
        assert!(page.seq > at, "a page goes forward");
        at = page.seq;
    }
    if is_cuttable && !screen.is_alternate() {
        assert_eq!(paged, whole.text);
    }
}

/// A painted row has no control sequences but `ESC [ digits and ; m`.
fn assert_only_colours(row: &str) {
    let mut rest = row;
    while let Some(at) = rest.find(char::is_control) {
        let sequence = rest[at..].strip_prefix("\x1b[").expect("only our own");
        let end = sequence
            .find(|char: char| !char.is_ascii_digit() && char != ';')
            .expect("it ends");
        assert_eq!(&sequence[end..=end], "m", "in {row:?}");
        rest = &sequence[end + 1..];
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    fn size(&mut self) -> Size {
        let mut side = || match self.below(4) {
            0 => 1 + self.below(3) as u16,
            _ => 1 + self.below(30) as u16,
        };
        Size::new(side(), side())
    }

    fn output(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(120) {
            self.push_one(&mut bytes);
        }
        bytes
    }

    fn push_one(&mut self, bytes: &mut Vec<u8>) {
        const TEXTS: [&str; 12] = [
            "a",
            "word ",
            "界",
            "界面",
            "e\u{301}",
            "\u{200d}",
            "🧑‍💻",
            "\r\n",
            "\n",
            "\r",
            "\t",
            "\x08",
        ];
        const CONTROLS: [&str; 14] = [
            "\x1bM", "\x1bD", "\x1bE", "\x1bH", "\x1b7", "\x1b8", "\x1bc", "\x1b#8", "\x0e",
            "\x0f", "\x1b(0", "\x1b)0", "\u{9b}", "\x7f",
        ];
        const MODES: [&str; 10] = [
            "?1", "?6", "?7", "?25", "?47", "?1047", "?1048", "?1049", "4", "20",
        ];
        match self.below(10) {
            0..4 => bytes.extend_from_slice(TEXTS[self.below(12) as usize].as_bytes()),
            4 => bytes.extend_from_slice(CONTROLS[self.below(14) as usize].as_bytes()),
            5 => {
                let mode = MODES[self.below(10) as usize];
                let action = ['h', 'l'][self.below(2) as usize];
                bytes.extend_from_slice(format!("\x1b[{mode}{action}").as_bytes());
            }
            6 | 7 => {
                let last = (b'@' + self.below(63) as u8) as char;
                let mut number = || match self.below(6) {
                    0 => 0,
                    1 => self.below(100_000),
                    2 => 999_999_999,
                    _ => self.below(40),
                };
                let (one, two) = (number(), number());
                bytes.extend_from_slice(format!("\x1b[{one};{two}{last}").as_bytes());
            }
            8 => bytes.extend((0..self.below(20)).map(|_| self.0 as u8)),
            _ => bytes.extend((0..self.below(12)).map(|_| self.next() as u8)),
        }
    }
}
