//! The bodies of the fuzz targets, for a moment, on every compiler: seeds that are changed in ways that
//! depend on nothing but a number. `cargo xtask fuzz` runs them for as long as wanted.
#![expect(
    clippy::disallowed_methods,
    reason = "the seeds are files, so that a fuzzer can start from them"
)]

#[path = "../../../../fuzz/bodies/fsproxy_frames.rs"]
mod fsproxy_frames;
#[path = "../../../../fuzz/bodies/fsproxy_text.rs"]
mod fsproxy_text;
#[path = "../../../../fuzz/bodies/splits.rs"]
pub(crate) mod splits;

use std::path::Path;

use splits::Numbers;

/// Runs the seeds of a target as they are, and then so many changed ones.
fn smoke(target: &str, changed: usize, run: impl Fn(&[u8])) {
    let seeds = seeds(target);
    assert!(!seeds.is_empty(), "there are no seeds for {target}");
    for seed in &seeds {
        run(seed);
    }
    let mut numbers = Numbers(1);
    for _ in 0..changed {
        let mut input = seeds[numbers.below(seeds.len())].clone();
        for _ in 0..=numbers.below(4) {
            change(&mut input, &seeds, &mut numbers);
        }
        run(&input);
    }
}

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds");
    let mut paths: Vec<_> = std::fs::read_dir(folder.join(target))
        .expect("there is a folder of seeds")
        .map(|entry| entry.expect("the folder can be listed").path())
        .collect();
    // The order in which a folder lists its files is different everywhere.
    paths.sort();
    paths
        .iter()
        .map(|path| std::fs::read(path).expect("a seed can be read"))
        .collect()
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], numbers: &mut Numbers) {
    let at = numbers.below(input.len() + 1);
    let end = (at + numbers.below(16)).min(input.len());
    match numbers.below(7) {
        0 if at < input.len() => input[at] ^= 1 << numbers.below(8),
        1 if at < input.len() => input[at] = CHARACTERS[numbers.below(CHARACTERS.len())],
        2 => input.insert(at, CHARACTERS[numbers.below(CHARACTERS.len())]),
        3 => drop(input.drain(at..end)),
        4 => {
            let again = input[at..end].to_vec();
            input.splice(at..at, again);
        }
        5 => {
            let other = &seeds[numbers.below(seeds.len())];
            let from = numbers.below(other.len() + 1);
            input.truncate(at);
            input.extend_from_slice(&other[from..]);
        }
        _ => {
            let digits = numbers.next().to_string();
            let length = numbers.below(digits.len() + 1);
            input.splice(at..end, digits.bytes().take(length));
        }
    }
}

/// What means something to a parser.
const CHARACTERS: &[u8] = b"{}[]\":,\\ \n\r\t\0-+.e0159ahu/=\x7f\x80\xc3\xff";

#[test]
fn fsproxy_frames() {
    smoke("fsproxy_frames", 8_000, fsproxy_frames::run);
}

#[test]
fn fsproxy_text() {
    smoke("fsproxy_text", 8_000, fsproxy_text::run);
}
