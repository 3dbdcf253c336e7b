//! Attacks on files. Most are scripts, so that it is the host's tests that say what is tried.

mod raw;
mod script;

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};

use serde_json::{Value, json};

pub fn run(action: &str, arguments: &Value) -> Option<Result<String, String>> {
    let text = |name: &str| arguments[name].as_str().unwrap_or_default();
    let number = |name: &str| arguments[name].as_u64().unwrap_or_default();
    Some(Ok(match action {
        // `steps` by `std::fs`, in the directory `root`.
        "fs" => {
            let root = arguments["root"].as_str().unwrap_or("/workspace");
            json!(script::run(root, &arguments["steps"])).to_string()
        }
        // `steps` by WASI itself.
        "fs_raw" => json!(raw::run(&arguments["steps"])).to_string(),
        "fs_deep" => raw::deep(number("levels")),
        "fs_listings" => raw::listings(number("count")),
        "fs_many" => many(text("path"), number("count")),
        "fs_race_read" => race_read(text("path"), number("rounds")),
        "fs_race_write" => race_write(text("path"), text("content"), number("rounds")),
        "fs_race_change" => race_change(text("path"), number("rounds")),
        "fs_at" => at(text("path"), number("offset")),
        _ => return None,
    }))
}

/// Opens a file again and again, and closes none.
fn many(path: &str, count: u64) -> String {
    let mut held = Vec::new();
    for opened in 0..count {
        match File::open(path) {
            Ok(file) => held.push(file),
            Err(error) => return format!("{opened} files, then {:?}", error.kind()),
        }
    }
    format!("{count} files")
}

/// What is found at a path that somebody else swaps meanwhile, and how often.
fn race_read(path: &str, rounds: u64) -> String {
    let mut seen = BTreeMap::new();
    for _ in 0..rounds {
        let found = match fs::read_to_string(path) {
            Ok(content) => content,
            Err(error) => format!("error: {:?}", error.kind()),
        };
        *seen.entry(found).or_insert(0_u64) += 1;
    }
    json!(seen).to_string()
}

/// Writes to a path that somebody else swaps meanwhile, in every way that there is.
fn race_write(path: &str, content: &str, rounds: u64) -> String {
    let mut seen = BTreeMap::new();
    for round in 0..rounds {
        let mut options = OpenOptions::new();
        match round % 4 {
            0 => options.write(true),
            1 => options.append(true),
            2 => options.write(true).create(true).truncate(true),
            _ => options.read(true).write(true).create(true),
        };
        let written = options
            .open(path)
            .and_then(|mut file| file.write_all(content.as_bytes()));
        let found = match written {
            Ok(()) => "written".to_owned(),
            Err(error) => format!("error: {:?}", error.kind()),
        };
        *seen.entry(found).or_insert(0_u64) += 1;
    }
    json!(seen).to_string()
}

/// Makes, moves and removes names in a directory that somebody else swaps meanwhile.
fn race_change(directory: &str, rounds: u64) -> String {
    let mut done = 0_u64;
    for round in 0..rounds {
        let (one, two) = (format!("{directory}/one"), format!("{directory}/two"));
        let result = match round % 5 {
            0 => fs::create_dir(&one),
            1 => fs::rename(&one, &two),
            2 => fs::remove_dir(&two),
            3 => fs::remove_file(format!("{directory}/victim")),
            _ => fs::rename(format!("{directory}/victim"), &two),
        };
        done += u64::from(result.is_ok());
    }
    done.to_string()
}

/// Reads and writes far beyond the end of a file.
fn at(path: &str, offset: u64) -> String {
    let written = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .and_then(|mut file| {
            file.seek(SeekFrom::Start(offset))?;
            file.write_all(b"x")
        });
    let read = File::open(path).and_then(|mut file| {
        file.seek(SeekFrom::Start(offset))?;
        let mut seen = Vec::new();
        file.read_to_end(&mut seen)
    });
    let written = written.map_err(|error| error.kind());
    let read = read.map_err(|error| error.kind());
    format!("{written:?} {read:?}")
}
