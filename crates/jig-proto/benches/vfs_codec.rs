//! What the codec costs per message: `cargo bench -p jig-proto --bench vfs_codec`.
#![expect(clippy::print_stdout, reason = "a benchmark prints its numbers")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use jig_proto::vfs::{
    Frame, FsRead, FsWrite, Id, LineBuffer, Method, Payload, Reading, VfsReply, VfsRequest, host,
    tool,
};

fn main() {
    let id = Id::from(17);
    let line = |request: &VfsRequest<'_>| {
        let mut line = Vec::new();
        tool::write_request(&mut line, &id, request);
        line
    };
    let text: String = "fn main() { println!(\"hello\"); }\n"
        .repeat(32)
        .chars()
        .take(1_024)
        .collect();
    let large = text.repeat(1_024);
    let binary: Vec<u8> = (0..=255).cycle().take(1_024).collect();
    let reading = Reading::PLAIN;

    let read = line(&VfsRequest::FsRead(FsRead::new(
        "crates/jig-proto/src/vfs.rs",
    )));
    measure("host reads fs.read", 0, || {
        host::read_line(black_box(&read), &reading).is_ok()
    });
    for (name, content) in [("1 KiB", &text), ("1 MiB", &large)] {
        let write = line(&VfsRequest::FsWrite(FsWrite::new("a.rs", content.as_str())));
        let name = format!("host reads fs.write of {name}");
        measure(&name, content.len(), || {
            host::read_line(black_box(&write), &reading).is_ok()
        });
    }

    let mut out = Vec::new();
    for (name, reply) in [
        ("1 KiB of text", VfsReply::read(text.as_str())),
        (
            "1 KiB of bytes",
            VfsReply::read(Payload::from(binary.as_slice())),
        ),
        ("1 MiB of text", VfsReply::read(large.as_str())),
    ] {
        let length = reply.payload().map_or(0, Payload::len);
        measure(&format!("host writes {name}"), length, || {
            out.clear();
            host::write_reply(&mut out, &id, black_box(&reply));
            out.len()
        });
        let line = out.clone();
        measure(
            &format!("tool reads {name}"),
            length,
            || match tool::read_line(black_box(&line), &reading) {
                Ok(tool::HostLine::Reply { result, .. }) => result.read(Method::FsRead).is_ok(),
                _ => false,
            },
        );
    }

    let stream = read.repeat(100);
    let mut buffer = LineBuffer::new(1 << 24);
    measure("100 lines are cut", stream.len(), || {
        let mut input = black_box(stream.as_slice());
        let mut lines = 0;
        while let Some(Frame::Line(_)) = buffer.next(&mut input) {
            lines += 1;
        }
        lines
    });
}

/// Prints the best time of several rounds, which is the one that was disturbed least.
fn measure<T>(name: &str, bytes: usize, mut run: impl FnMut() -> T) {
    let mut rounds = 1_u32;
    let mut time = |rounds: u32| {
        let start = Instant::now();
        for _ in 0..rounds {
            black_box(run());
        }
        start.elapsed()
    };
    while time(rounds) < Duration::from_millis(5) {
        rounds *= 2;
    }
    let best = (0..20).map(|_| time(rounds)).min().unwrap_or_default();
    let nanos = best.as_secs_f64() * 1e9 / f64::from(rounds);
    if bytes == 0 {
        println!("{name:32} {nanos:10.0} ns");
    } else {
        let rate = bytes as f64 / nanos * 1e9 / f64::from(1 << 20);
        println!("{name:32} {nanos:10.0} ns {rate:8.0} MiB/s");
    }
}
