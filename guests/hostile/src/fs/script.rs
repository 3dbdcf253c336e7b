//! A script of file operations, by `std::fs` alone.
//!
//! The guest runs it, and so do the host's tests, natively: what a script answers in both is compared. So
//! nothing here may know where it runs.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::time::Duration;

use serde_json::Value;

/// Runs steps in the directory `root`, each `[operation, argument…]`, and gives an answer for each: what was
/// found, or `error: ` and the kind of the error.
pub(crate) fn run(root: &str, steps: &Value) -> Vec<String> {
    let steps = steps.as_array().map(Vec::as_slice).unwrap_or_default();
    let answers = steps.iter().map(|step| match do_step(root, step) {
        Ok(answer) => answer,
        Err(error) => format!("error: {}", kind(&error)),
    });
    answers.collect()
}

/// The kind of an error. Not every library knows one for each of its numbers.
fn kind(error: &io::Error) -> String {
    match error.to_string() {
        text if text.contains("not empty") => "DirectoryNotEmpty".to_owned(),
        _ => format!("{:?}", error.kind()),
    }
}

fn do_step(root: &str, step: &Value) -> io::Result<String> {
    let text = |index: usize| step[index].as_str().unwrap_or_default();
    let number = |index: usize| step[index].as_i64().unwrap_or_default();
    // An absolute path is left as it is, on purpose.
    let path = |index: usize| match text(index) {
        absolute if absolute.starts_with('/') => absolute.to_owned(),
        path => format!("{root}/{path}"),
    };
    match text(0) {
        "read" => fs::read(path(1)).map(shown),
        "write" => fs::write(path(1), text(2)).map(done),
        "append" => {
            let mut file = OpenOptions::new().append(true).open(path(1))?;
            file.write_all(text(2).as_bytes()).map(done)
        }
        "open" => open(&path(1), text(2), text(3)),
        "list" => list(&path(1)),
        "stat" => fs::metadata(path(1)).map(|metadata| look(&metadata)),
        "lstat" => fs::symlink_metadata(path(1)).map(|metadata| look(&metadata)),
        "exists" => fs::exists(path(1)).map(|exists| exists.to_string()),
        "recent" => {
            let modified = fs::metadata(path(1))?.modified()?;
            let age = modified.elapsed().unwrap_or_default();
            Ok((age < Duration::from_secs(3600)).to_string())
        }
        "mkdir" => fs::create_dir(path(1)).map(done),
        "mkdirs" => fs::create_dir_all(path(1)).map(done),
        "rmdir" => fs::remove_dir(path(1)).map(done),
        "rmtree" => fs::remove_dir_all(path(1)).map(done),
        "remove" => fs::remove_file(path(1)).map(done),
        "rename" => fs::rename(path(1), path(2)).map(done),
        "copy" => fs::copy(path(1), path(2)).map(|bytes| bytes.to_string()),
        "hard_link" => fs::hard_link(path(1), path(2)).map(done),
        "read_link" => fs::read_link(path(1)).map(|target| target.to_string_lossy().into_owned()),
        "set_len" => {
            let file = OpenOptions::new().write(true).open(path(1))?;
            file.set_len(number(2) as u64).map(done)
        }
        // From a position of the file, or of its end if it is negative, so many bytes.
        "slice" => {
            let mut file = File::open(path(1))?;
            file.seek(match number(2) {
                before if before < 0 => SeekFrom::End(before),
                from => SeekFrom::Start(from as u64),
            })?;
            let mut part = Vec::new();
            file.take(number(3) as u64).read_to_end(&mut part)?;
            Ok(shown(part))
        }
        "patch" => {
            let mut file = OpenOptions::new().write(true).open(path(1))?;
            file.seek(SeekFrom::Start(number(2) as u64))?;
            file.write_all(text(3).as_bytes())?;
            file.stream_position().map(|position| position.to_string())
        }
        "sync" => {
            let file = OpenOptions::new().append(true).open(path(1))?;
            file.sync_data()?;
            file.sync_all().map(done)
        }
        // Two openings of one file see each other's writes.
        "shared" => {
            let mut writer = OpenOptions::new().write(true).open(path(1))?;
            let mut reader = File::open(path(1))?;
            writer.write_all(text(2).as_bytes())?;
            let mut seen = Vec::new();
            reader.read_to_end(&mut seen)?;
            Ok(shown(seen))
        }
        // What is open stays when its name goes, or is another file's.
        "keep" => {
            let mut file = File::open(path(1))?;
            match text(2) {
                "" => fs::remove_file(path(1))?,
                other => fs::rename(path(1), format!("{root}/{other}"))?,
            }
            let mut seen = Vec::new();
            file.read_to_end(&mut seen)?;
            Ok(shown(seen))
        }
        other => Ok(format!("there is no operation `{other}`")),
    }
}

/// Opens with the options `r`ead, `w`rite, `a`ppend, `t`runcate, `c`reate, create `n`ew; then writes
/// `content`, goes to the start and reads, as far as the options allow.
fn open(path: &str, options: &str, content: &str) -> io::Result<String> {
    let has = |option: char| options.contains(option);
    let mut file = OpenOptions::new()
        .read(has('r'))
        .write(has('w'))
        .append(has('a'))
        .truncate(has('t'))
        .create(has('c'))
        .create_new(has('n'))
        .open(path)?;
    if !content.is_empty() {
        file.write_all(content.as_bytes())?;
    }
    if !has('r') {
        return Ok("ok".to_owned());
    }
    file.rewind()?;
    let mut seen = Vec::new();
    file.read_to_end(&mut seen)?;
    Ok(shown(seen))
}

fn list(path: &str) -> io::Result<String> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_unstable();
    Ok(names.join(" "))
}

fn look(metadata: &fs::Metadata) -> String {
    match metadata.file_type() {
        kind if kind.is_dir() => "directory".to_owned(),
        kind if kind.is_symlink() => "link".to_owned(),
        _ => format!("file of {}", metadata.len()),
    }
}

fn done(_: ()) -> String {
    "ok".to_owned()
}

fn shown(content: Vec<u8>) -> String {
    String::from_utf8_lossy(&content).into_owned()
}
