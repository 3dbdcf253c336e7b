//! Clocks, chance, the environment, printing; and streams as only bindings can use them.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::Read as _;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use raw::wasi::cli::{environment, stdin, stdout};
use raw::wasi::clocks::monotonic_clock;
use raw::wasi::io::poll::{self, Pollable};
use raw::wasi::io::streams::StreamError;

pub fn run(action: &str, arguments: &Value) -> Option<Result<String, String>> {
    Some(match action {
        "clocks" => clocks(arguments["milliseconds"].as_u64().unwrap_or_default()),
        "environment" => surroundings(),
        "print" => print(arguments),
        "stdin" => read_stdin(),
        "hashes" => Ok(json!([hash(), hash()]).to_string()),
        "stream" => stream(arguments["case"].as_str().unwrap_or_default()),
        "poll" => poll(arguments["case"].as_str().unwrap_or_default()),
        _ => return None,
    })
}

/// Sleeps, and says what both clocks say of it.
fn clocks(milliseconds: u64) -> Result<String, String> {
    let (began, began_at) = (Instant::now(), SystemTime::now());
    std::thread::sleep(Duration::from_millis(milliseconds));
    let since_1970 = began_at.duration_since(SystemTime::UNIX_EPOCH);
    let passed = began_at.elapsed().map(|passed| passed.as_millis() as u64);
    Ok(json!({
        "slept": began.elapsed().as_millis() as u64,
        "passed": passed.ok(),
        "since_1970": since_1970.map(|time| time.as_secs()).ok(),
        "has_a_past": began.checked_sub(Duration::from_secs(3600)).is_some(),
    })
    .to_string())
}

fn surroundings() -> Result<String, String> {
    let variables: serde_json::Map<String, Value> = std::env::vars()
        .map(|(name, value)| (name, Value::from(value)))
        .collect();
    Ok(json!({
        "variables": variables,
        "arguments": std::env::args().collect::<Vec<_>>(),
        "directory": environment::initial_cwd(),
    })
    .to_string())
}

/// Prints on both streams, and fails if asked to.
fn print(arguments: &Value) -> Result<String, String> {
    if let Some(text) = arguments["out"].as_str() {
        println!("{text}");
    }
    if let Some(text) = arguments["err"].as_str() {
        eprintln!("{text}");
    }
    match arguments["fail"].as_str() {
        Some(message) => Err(message.to_owned()),
        None => Ok("printed".to_owned()),
    }
}

fn read_stdin() -> Result<String, String> {
    let mut text = String::new();
    let count = std::io::stdin().read_to_string(&mut text);
    count
        .map(|count| count.to_string())
        .map_err(|error| error.to_string())
}

/// What the seed of a map makes of one and the same key.
fn hash() -> u64 {
    RandomState::new().hash_one("key")
}

/// Streams, used as they should be and as they should not.
fn stream(case: &str) -> Result<String, String> {
    let said = |error: StreamError| match error {
        StreamError::Closed => "closed".to_owned(),
        StreamError::LastOperationFailed(error) => error.to_debug_string(),
    };
    let (input, output) = (stdin::get_stdin(), stdout::get_stdout());
    let number = match case {
        "write_without_permit" => output.write(b"x").map(|()| 1),
        "write_nothing_without_permit" => output.write(b"").map(|()| 0),
        "write_with_permit" => output.check_write().and_then(|permit| {
            output.write(&vec![b'x'; permit as usize])?;
            output.blocking_flush()?;
            Ok(permit)
        }),
        "write_over_permit" => output
            .check_write()
            .and_then(|permit| output.write(&vec![b'x'; permit as usize + 1]))
            .map(|()| 1),
        "write_twice_with_one_permit" => output.check_write().and_then(|permit| {
            output.write(&vec![b'x'; permit as usize])?;
            output.write(b"x")?;
            Ok(2)
        }),
        "block" => output
            .blocking_write_and_flush(&[b'x'; 4096])
            .map(|()| 4096),
        "block_too_large" => output
            .blocking_write_and_flush(&[b'x'; 4097])
            .map(|()| 4097),
        "zeroes" => output.check_write().and_then(|permit| {
            output.write_zeroes(permit)?;
            output.blocking_write_zeroes_and_flush(4096)?;
            Ok(permit + 4096)
        }),
        "zeroes_without_permit" => output.write_zeroes(1).map(|()| 1),
        "zeroes_without_end" => output
            .blocking_write_zeroes_and_flush(u64::MAX)
            .map(|()| u64::MAX),
        "read_nothing" => input.read(0).map(|bytes| bytes.len() as u64),
        "read_without_end" => input.read(u64::MAX).map(|bytes| bytes.len() as u64),
        "blocking_read" => input.blocking_read(1).map(|bytes| bytes.len() as u64),
        "skip_without_end" => input.skip(u64::MAX),
        "splice_without_end" => output.splice(&input, u64::MAX),
        other => return Err(format!("there is no case `{other}`")),
    };
    number.map(|number| number.to_string()).map_err(said)
}

/// Waits for things, or for nothing.
fn poll(case: &str) -> Result<String, String> {
    let timer = |milliseconds: u64| monotonic_clock::subscribe_duration(milliseconds * 1_000_000);
    let never = || monotonic_clock::subscribe_duration(u64::MAX);
    let began = Instant::now();
    let ready = match case {
        "nothing" => poll::poll(&[]),
        "first" => poll_all(&[never(), timer(3_600_000), timer(50)]),
        "all" => poll_all(&[timer(0), stdin::get_stdin().subscribe(), timer(0)]),
        "some" => poll_all(&[never(), stdout::get_stdout().subscribe(), timer(3_600_000)]),
        "past" => poll_all(&[never(), monotonic_clock::subscribe_instant(0)]),
        "same" => {
            let one = timer(0);
            poll::poll(&vec![&one; 1000])
        }
        "never" => {
            never().block();
            Vec::new()
        }
        "hold" => {
            let held: Vec<Pollable> = (0..100_000).map(|_| never()).collect();
            vec![held.len() as u32]
        }
        other => return Err(format!("there is no case `{other}`")),
    };
    let waited = began.elapsed().as_millis() as u64;
    let asks_again = timer(3_600_000).ready();
    Ok(json!({"ready": ready, "waited": waited, "later": asks_again}).to_string())
}

fn poll_all(pollables: &[Pollable]) -> Vec<u32> {
    poll::poll(&pollables.iter().collect::<Vec<_>>())
}

mod raw {
    wit_bindgen::generate!({
        path: [
            "../../crates/jig-wasm/wit/io", "../../crates/jig-wasm/wit/clocks",
            "../../crates/jig-wasm/wit/random", "../../crates/jig-wasm/wit/filesystem",
            "../../crates/jig-wasm/wit/sockets", "../../crates/jig-wasm/wit/cli",
        ],
        inline: "
            package jig:hostile-io;
            world streams {
                import wasi:io/poll@0.2.12;
                import wasi:io/streams@0.2.12;
                import wasi:clocks/monotonic-clock@0.2.12;
                import wasi:cli/environment@0.2.12;
                import wasi:cli/stdin@0.2.12;
                import wasi:cli/stdout@0.2.12;
            }
        ",
        world: "jig:hostile-io/streams",
        generate_all,
    });
}
