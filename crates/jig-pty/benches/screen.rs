//! What a screen costs, beside the terminal that it is built on:
//! `cargo bench -p jig-pty --bench screen`.
//!
//! Both are fed the same output in turns, and what counts is the ratio. Times are those of the
//! processor, so that other work on the machine disturbs little. The worst inputs that a program can send come last, as the time that one read of 64 KiB
//! takes.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]

use std::hint::black_box;
use std::time::Duration;

use avt::Terminal;
use jig_pty::{CutSide, Screen, Size};

fn main() {
    println!(
        "{:34} {:>10} {:>10} {:>6}",
        "", "screen", "bare avt", "ratio"
    );
    let log = "2026-01-01T00:00:00Z INFO compiling jig-pty v0.1.0 (crates/jig-pty)\r\n";
    let colours =
        "\x1b[1m\x1b[32m   Compiling\x1b[0m serde v1.0.200 \x1b[38;5;244m(fetched)\x1b[0m\r\n";
    let progress = "\r\x1b[K[=========>           ] 4711/10000 bytes, 17 s left";
    let drawing = (1..=24)
        .map(|row| format!("\x1b[{row};1H\x1b[7m{row:>3}\x1b[m PID USER   0.0  1.4  /usr/bin/x"))
        .collect::<String>();
    compare("`yes`", "y\r\n");
    compare("a log", log);
    compare("a log with colours", colours);
    compare("a progress bar", progress);
    compare("a full screen, redrawn", &drawing);
    compare("one line without end", "x");
    compare(
        "a title without end",
        &format!("\x1b]0;{}", "x".repeat(60_000)),
    );

    println!("\n100 MB of `yes`, asked for what is new every 64 KiB");
    let block = "y\r\n".repeat((64 << 10) / 3);
    let mut screen = Screen::new(Size::default(), 10_000);
    let (mut fed, mut seen) = (0, 0);
    let (mut feeding, mut asking) = (Duration::ZERO, Duration::ZERO);
    while fed < 100_000_000 {
        feeding += time(|| screen.feed(block.as_bytes()));
        fed += block.len();
        asking += time(|| seen = black_box(screen.since(seen, 16 << 10, CutSide::Front)).seq);
    }
    let share = 100.0 * asking.as_secs_f64() / (feeding + asking).as_secs_f64();
    println!(
        "  {}, {share:.0} % of it for asking",
        rate(fed, feeding + asking)
    );

    println!("\nthe worst that 64 KiB can ask for");
    for size in [Size::default(), Size::MAX] {
        for (name, unit) in [
            ("erase all", "x\x1b[2J"),
            ("scroll all", "x\x1b[999S"),
            ("insert lines", "x\x1b[H\x1b[L"),
            ("repeat", "x\x1b[65535b"),
            ("switch screens", "\x1b[?47h\x1b[?47l"),
        ] {
            // A smaller part of it is measured: it is slow enough.
            let block = unit.repeat((1 << 10) / unit.len());
            let mut screen = Screen::new(size, 10_000);
            let time = time(|| screen.feed(block.as_bytes()));
            let millis = time.as_secs_f64() * 64.0 * 1e3;
            println!("  {name:20} {size:>8} {millis:10.1} ms");
        }
    }
}

/// Feeds both with `unit`, over and over.
fn compare(name: &str, unit: &str) {
    let block = unit.repeat((64_usize << 10).div_ceil(unit.len()));
    let mut screen = Screen::new(Size::default(), 10_000);
    let mut terminal = Terminal::with_scrollback(80, 24, Some(10_000)).expect("a size");
    let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
    for _ in 0..200 {
        ours = ours.min(time(|| screen.feed(black_box(block.as_bytes()))));
        theirs = theirs.min(time(|| terminal.feed(black_box(block.as_str()))));
    }
    let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
    let (ours, theirs) = (rate(block.len(), ours), rate(block.len(), theirs));
    println!("{name:34} {ours:>10} {theirs:>10} {ratio:6.2}");
}

fn time(run: impl FnOnce()) -> Duration {
    let start = now();
    run();
    now().saturating_sub(start)
}

#[cfg(unix)]
fn now() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

#[cfg(not(unix))]
fn now() -> Duration {
    let now = std::time::SystemTime::now();
    now.duration_since(std::time::UNIX_EPOCH)
        .unwrap_or_default()
}

fn rate(bytes: usize, time: Duration) -> String {
    format!("{:.0} MB/s", bytes as f64 / time.as_secs_f64() / 1e6)
}
