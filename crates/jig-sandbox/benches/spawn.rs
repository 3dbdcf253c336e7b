//! Starting and waiting for `/bin/true`, by us and by the standard library, taken in turns so that
//! whatever else the machine does falls on all alike.
//!
//! `cargo bench -p jig-sandbox --bench spawn`; a number as argument is the host's memory in megabytes,
//! which a fork copies the page tables of.
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::disallowed_methods,
    reason = "the standard library is what is compared with"
)]

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use jig_sandbox::{Containment, Program, SpawnRequest, Stdio as OurStdio, spawn};

const ROUNDS: usize = 400;

fn by_std() {
    let status = Command::new("/bin/true")
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.expect("it starts").success());
}

fn by_us(containment: Containment) {
    let program = Program::parse("/bin/true").expect("it is absolute");
    let mut request = SpawnRequest::new(program, "/");
    request.stdout = OurStdio::Null;
    request.stderr = OurStdio::Null;
    request.containment = containment;
    let child = spawn(request).expect("it starts");
    assert!(child.wait().expect("it can be waited for").is_success());
}

fn main() {
    let megabytes = std::env::args().find_map(|argument| argument.parse().ok());
    let memory = black_box(vec![1_u8; megabytes.unwrap_or(0) << 20]);

    let ways: [(&str, fn()); 3] = [
        ("std::process::Command", by_std),
        ("jig, namespaces", || by_us(Containment::Required)),
        ("jig, without", || by_us(Containment::WithoutNamespaces)),
    ];
    let mut times = ways.map(|_| Vec::with_capacity(ROUNDS));
    for round in 0..ROUNDS {
        for turn in 0..ways.len() {
            // Each goes first equally often.
            let way = (turn + round) % ways.len();
            let start = Instant::now();
            (ways[way].1)();
            times[way].push(start.elapsed());
        }
    }
    drop(black_box(memory));

    let figures = times.map(|mut times| {
        times.sort_unstable();
        (times[ROUNDS / 2], times[0])
    });
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!(
        "{:24}{:>12}{:>12}{:>8}{:>8}",
        "", "median", "minimum", "ratio", "ratio"
    );
    for ((name, _), (median, minimum)) in ways.iter().zip(figures) {
        println!(
            "{name:24}{:>12}{:>12}{:>8.2}{:>8.2}",
            format!("{} µs", median.as_micros()),
            format!("{} µs", minimum.as_micros()),
            ratio(median, figures[0].0),
            ratio(minimum, figures[0].1),
        );
    }
}
