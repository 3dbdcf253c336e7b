//! Takes more than a call should have: time, memory, stack, the host's attention.
//!
//! Without a limit most of these never end, or take the machine down. Where a number is given they stop
//! there, so that a test can also see them succeed.

use std::hint::black_box;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use random::wasi::random::random as host_random;

pub fn run(action: &str, arguments: &Value) -> Option<Result<String, String>> {
    let number = |key: &str| arguments[key].as_u64();
    Some(match action {
        "spin" => spin(number("rounds")),
        "compute" => Ok(compute(number("rounds").unwrap_or(1000)).to_string()),
        "memory_bomb" => memory_bomb(number("pages"), number("step")),
        "many_allocs" => many_allocs(number("count"), number("bytes").unwrap_or(64)),
        "recurse" => Ok(recurse(number("depth").unwrap_or(u64::MAX)).to_string()),
        "sleep" => sleep(number("milliseconds")),
        "host_call_flood" => host_call_flood(arguments["call"].as_str(), number("count")),
        "huge_string_to_host" => huge_string_to_host(number("bytes").unwrap_or(1 << 30)),
        "huge_random" => huge_random(number("bytes").unwrap_or(u64::MAX)),
        "huge_answer" => Ok(letters(number("bytes").unwrap_or(1 << 30))),
        "huge_error" => Err(letters(number("bytes").unwrap_or(1 << 30))),
        "stdout_flood" => flood(std::io::stdout(), arguments),
        "stderr_flood" => flood(std::io::stderr(), arguments),
        "panic" => panic!(
            "{}",
            arguments["message"].as_str().unwrap_or("the guest panics")
        ),
        "abort" => std::process::abort(),
        "unreachable" => core::arch::wasm32::unreachable(),
        "out_of_bounds" => out_of_bounds(),
        "exit" => std::process::exit(arguments["code"].as_i64().unwrap_or_default() as i32),
        "remember" => Ok(remember().to_string()),
        _ => return None,
    })
}

/// Computes without end and without a call to the host.
fn spin(rounds: Option<u64>) -> Result<String, String> {
    let mut done = 0_u64;
    while rounds.is_none_or(|rounds| done < rounds) {
        done = black_box(done.wrapping_add(1));
    }
    Ok(done.to_string())
}

/// A number that only an undisturbed computation gives.
fn compute(rounds: u64) -> u64 {
    (0..rounds).fold(0xcbf2_9ce4_8422_2325, |state: u64, round| {
        black_box((state ^ round).wrapping_mul(0x0100_0000_01b3))
    })
}

/// Grows the memory: to `pages` more, or without end, by `step` pages at a time.
///
/// Says how many pages it has got when the host says no.
fn memory_bomb(pages: Option<u64>, step: Option<u64>) -> Result<String, String> {
    let step = usize::try_from(step.unwrap_or(1)).map_err(|error| error.to_string())?;
    let mut grown = 0;
    while pages.is_none_or(|pages| grown < pages) {
        let before = core::arch::wasm32::memory_grow::<0>(step);
        if before == usize::MAX {
            return Err(format!("no more memory after {grown} pages"));
        }
        // Written, because a page that nobody touches costs the host nothing.
        for page in 0..step {
            let page = ((before + page) * PAGE) as *mut u8;
            // SAFETY: the page has just been added to the memory, so it is there, and nobody uses it.
            unsafe { page.write_volatile(1) };
        }
        grown += step as u64;
    }
    Ok(grown.to_string())
}

/// Many small pieces that are never given back, through the allocator.
fn many_allocs(count: Option<u64>, bytes: u64) -> Result<String, String> {
    let mut made = 0_u64;
    while count.is_none_or(|count| made < count) {
        let mut piece = Vec::<u8>::new();
        piece
            .try_reserve_exact(bytes as usize)
            .map_err(|_| format!("no more memory after {made} pieces"))?;
        piece.resize(bytes as usize, 1);
        black_box(piece.leak());
        made += 1;
    }
    Ok(made.to_string())
}

/// Calls itself; the sum afterwards keeps it from becoming a loop.
#[inline(never)]
fn recurse(depth: u64) -> u64 {
    let frame = black_box([depth; 16]);
    match depth {
        0 => 0,
        _ => recurse(depth - 1).wrapping_add(frame[(depth % 16) as usize] & 1),
    }
}

/// Sleeps; without a number, for ever.
fn sleep(milliseconds: Option<u64>) -> Result<String, String> {
    let start = Instant::now();
    match milliseconds {
        Some(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
        None => std::thread::sleep(Duration::MAX),
    }
    Ok(start.elapsed().as_millis().to_string())
}

/// One host call after the other, which never leaves the guest much to compute.
fn host_call_flood(call: Option<&str>, count: Option<u64>) -> Result<String, String> {
    let mut made = 0_u64;
    while count.is_none_or(|count| made < count) {
        match call {
            None | Some("clock") => drop(black_box(Instant::now())),
            Some("random") => drop(black_box(host_random::get_random_u64())),
            Some("stat") => drop(black_box(std::fs::metadata("/workspace/flood"))),
            Some("open") => drop(black_box(std::fs::File::open("/workspace/flood"))),
            Some("list") => drop(black_box(std::fs::read_dir("/workspace"))),
            Some("yield") => std::thread::sleep(Duration::ZERO),
            Some("stderr") => drop(std::io::stderr().write(&[])),
            Some(other) => return Err(format!("there is no host call `{other}`")),
        }
        made += 1;
    }
    Ok(made.to_string())
}

/// A path that fills the guest's memory: whoever copies it has as much to hold.
fn huge_string_to_host(bytes: u64) -> Result<String, String> {
    let path = format!("/workspace/{}", letters(bytes));
    match std::fs::metadata(path) {
        Ok(_) => Ok("there is such a file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// As many random bytes as no host can hold.
fn huge_random(bytes: u64) -> Result<String, String> {
    Ok(host_random::get_random_bytes(bytes).len().to_string())
}

/// Lines on an output, without end or until `bytes` are written; `chunk` is the size of one write.
fn flood(mut output: impl Write, arguments: &Value) -> Result<String, String> {
    let chunk = arguments["chunk"].as_u64().unwrap_or(4096) as usize;
    let mut piece = vec![b'x'; chunk.max(1)];
    piece[chunk.max(1) - 1] = b'\n';
    let mut written = 0_u64;
    while arguments["bytes"]
        .as_u64()
        .is_none_or(|bytes| written < bytes)
    {
        output
            .write_all(&piece)
            .map_err(|error| format!("refused after {written} bytes: {error}"))?;
        written += piece.len() as u64;
    }
    output.flush().map_err(|error| error.to_string())?;
    Ok(written.to_string())
}

/// Reads behind the end of the memory.
fn out_of_bounds() -> Result<String, String> {
    let end = core::arch::wasm32::memory_size::<0>() * PAGE;
    let behind = black_box(end as *const u8);
    // SAFETY: it is not safe, it is an attack: the address is outside of the memory, where the machine has
    // to trap. Nothing of the guest is used after that.
    let byte = unsafe { behind.read_volatile() };
    Ok(byte.to_string())
}

/// How often this instance was called: more than once means that a call sees another one.
fn remember() -> u64 {
    static CALLS: AtomicU64 = AtomicU64::new(0);
    CALLS.fetch_add(1, Ordering::Relaxed) + 1
}

fn letters(bytes: u64) -> String {
    "x".repeat(bytes as usize)
}

/// What std offers of the host's random numbers is one seed; this is all of it.
mod random {
    wit_bindgen::generate!({
        path: "../../crates/jig-wasm/wit/random",
        inline: "
            package jig:hostile-random;
            world random { import wasi:random/random@0.2.12; }
        ",
        world: "jig:hostile-random/random",
        generate_all,
    });
}

/// The size of a page of memory.
const PAGE: usize = 64 * 1024;
