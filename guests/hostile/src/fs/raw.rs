//! The same without a library in between: what `std::fs` would never ask for.

use std::collections::HashMap;

use serde_json::Value;
use wasi::filesystem::preopens::get_directories;
use wasi::filesystem::types::{
    Advice, Descriptor, DescriptorFlags, DescriptorStat, DescriptorType, ErrorCode, NewTimestamp,
    OpenFlags, PathFlags,
};

wit_bindgen::generate!({
    inline: "
        package jig:hostile-fs;

        world files {
            import wasi:filesystem/types@0.2.12;
            import wasi:filesystem/preopens@0.2.12;
        }
    ",
    path: [
        "../../crates/jig-wasm/wit/io",
        "../../crates/jig-wasm/wit/clocks",
        "../../crates/jig-wasm/wit/filesystem",
    ],
    world: "jig:hostile-fs/files",
    generate_all,
});

/// Descriptors by the names that steps give them.
type Held = HashMap<String, Descriptor>;

/// Runs steps, each `[operation, descriptor, argument…]`. A mount is called by its path; what a step opens is
/// called as its last argument says.
pub(crate) fn run(steps: &Value) -> Vec<String> {
    let mut held: Held = HashMap::new();
    for (directory, path) in get_directories() {
        held.insert(path, directory);
    }
    let steps = steps.as_array().map(Vec::as_slice).unwrap_or_default();
    let answers = steps.iter().map(|step| match do_step(&mut held, step) {
        Ok(answer) => answer,
        Err(code) => format!("error: {}", code.name()),
    });
    answers.collect()
}

fn do_step(held: &mut Held, step: &Value) -> Result<String, ErrorCode> {
    let text = |index: usize| step[index].as_str().unwrap_or_default();
    let number = |index: usize| step[index].as_u64().unwrap_or_default();
    let Some(at) = held.get(text(1)) else {
        return Ok(format!("nothing is called `{}`", text(1)));
    };
    match text(0) {
        "open" => {
            let options = text(3);
            let opened = at.open_at(
                path_flags(options),
                text(2),
                open_flags(options),
                flags(options),
            )?;
            held.insert(text(4).to_owned(), opened);
            Ok("ok".to_owned())
        }
        "close" => {
            held.remove(text(1));
            Ok("ok".to_owned())
        }
        "read" => {
            let (bytes, end) = at.read(number(2), number(3))?;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            Ok(if end { format!("{text}|") } else { text })
        }
        "write" => at.write(text(2).as_bytes(), number(3)).map(shown),
        "stream" => {
            let stream = at.read_via_stream(number(2))?;
            let bytes = stream.blocking_read(number(3));
            Ok(match bytes {
                Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
                Err(error) => format!("{error:?}"),
            })
        }
        "stream_write" => {
            let stream = at.write_via_stream(number(3))?;
            Ok(said(stream.blocking_write_and_flush(text(2).as_bytes())))
        }
        "stream_append" => {
            let stream = at.append_via_stream()?;
            Ok(said(stream.blocking_write_and_flush(text(2).as_bytes())))
        }
        "set_size" => at.set_size(number(2)).map(done),
        "set_times" => {
            let (accessed, modified) = (NewTimestamp::NoChange, time(text(2)));
            at.set_times(accessed, modified).map(done)
        }
        "set_times_at" => {
            let (accessed, modified) = (NewTimestamp::NoChange, time(text(3)));
            at.set_times_at(PathFlags::empty(), text(2), accessed, modified)
                .map(done)
        }
        "advise" => at.advise(0, u64::MAX, Advice::Random).map(done),
        "sync" => at.sync().and_then(|()| at.sync_data()).map(done),
        "flags" => at.get_flags().map(letters),
        "type" => at.get_type().map(kind),
        "stat" => at.stat().map(look),
        "stat_at" => at.stat_at(path_flags(text(3)), text(2)).map(look),
        "hash" => at
            .metadata_hash()
            .map(|hash| format!("{}-{}", hash.lower, hash.upper)),
        "hash_at" => at
            .metadata_hash_at(path_flags(text(3)), text(2))
            .map(|hash| format!("{}-{}", hash.lower, hash.upper)),
        "same" => Ok(match held.get(text(2)) {
            Some(other) => at.is_same_object(other).to_string(),
            None => format!("nothing is called `{}`", text(2)),
        }),
        "list" => {
            let entries = at.read_directory()?;
            let mut names = Vec::new();
            while let Some(entry) = entries.read_directory_entry()? {
                names.push(entry.name);
            }
            Ok(names.join(" "))
        }
        "mkdir" => at.create_directory_at(text(2)).map(done),
        "rmdir" => at.remove_directory_at(text(2)).map(done),
        "unlink" => at.unlink_file_at(text(2)).map(done),
        "read_link" => at.readlink_at(text(2)),
        "symlink" => at.symlink_at(text(2), text(3)).map(done),
        "link" => match held.get(text(3)) {
            Some(target) => at
                .link_at(PathFlags::empty(), text(2), target, text(4))
                .map(done),
            None => Ok(format!("nothing is called `{}`", text(3))),
        },
        "rename" => match held.get(text(3)) {
            Some(target) => at.rename_at(text(2), target, text(4)).map(done),
            None => Ok(format!("nothing is called `{}`", text(3))),
        },
        other => Ok(format!("there is no operation `{other}`")),
    }
}

/// Directories in directories, each made and opened by way of the one before: how many, and what ended it.
pub(crate) fn deep(levels: u64) -> String {
    let Some((mut here, _)) = get_directories().into_iter().next() else {
        return "no mount".to_owned();
    };
    let options = "dr";
    for level in 0..levels {
        let next = here.create_directory_at("d").and_then(|()| {
            here.open_at(PathFlags::empty(), "d", open_flags(options), flags(options))
        });
        here = match next {
            Ok(next) => next,
            Err(code) => return format!("{level} levels, then {}", code.name()),
        };
    }
    format!("{levels} levels")
}

/// Begins to read the same directory so many times: how many, and what ended it.
pub(crate) fn listings(count: u64) -> String {
    let mut held = Vec::new();
    let Some((root, _)) = get_directories().into_iter().next() else {
        return "no mount".to_owned();
    };
    for begun in 0..count {
        match root.read_directory() {
            Ok(listing) => held.push(listing),
            Err(code) => return format!("{begun} listings, then {}", code.name()),
        }
    }
    format!("{count} listings")
}

/// `f`ollow a link at the end.
fn path_flags(options: &str) -> PathFlags {
    match options.contains('f') {
        true => PathFlags::SYMLINK_FOLLOW,
        false => PathFlags::empty(),
    }
}

/// `c`reate, `x` exclusive, `t`runcate, `d`irectory.
fn open_flags(options: &str) -> OpenFlags {
    let mut open = OpenFlags::empty();
    for (option, flag) in [
        ('c', OpenFlags::CREATE),
        ('x', OpenFlags::EXCLUSIVE),
        ('t', OpenFlags::TRUNCATE),
        ('d', OpenFlags::DIRECTORY),
    ] {
        if options.contains(option) {
            open = open | flag;
        }
    }
    open
}

/// `r`ead, `w`rite, `m`utate, `s`ync.
fn flags(options: &str) -> DescriptorFlags {
    let mut flags = DescriptorFlags::empty();
    for (option, flag) in FLAGS {
        if options.contains(option) {
            flags = flags | flag;
        }
    }
    flags
}

fn time(which: &str) -> NewTimestamp {
    match which {
        "now" => NewTimestamp::Now,
        _ => NewTimestamp::NoChange,
    }
}

fn look(stat: DescriptorStat) -> String {
    format!("{} of {}", kind(stat.type_), stat.size)
}

fn kind(kind: DescriptorType) -> String {
    match kind {
        DescriptorType::Directory => "directory".to_owned(),
        DescriptorType::RegularFile => "file".to_owned(),
        DescriptorType::SymbolicLink => "link".to_owned(),
        other => format!("{other:?}"),
    }
}

/// The letters of flags, as steps have them.
fn letters(flags: DescriptorFlags) -> String {
    let all = FLAGS.into_iter();
    let set = all.filter(|(_, flag)| (flags & *flag) == *flag);
    set.map(|(letter, _)| letter).collect()
}

fn said<E: std::fmt::Debug>(result: Result<(), E>) -> String {
    match result {
        Ok(()) => "ok".to_owned(),
        Err(error) => format!("{error:?}"),
    }
}

fn shown(number: u64) -> String {
    number.to_string()
}

fn done(_: ()) -> String {
    "ok".to_owned()
}

const FLAGS: [(char, DescriptorFlags); 4] = [
    ('r', DescriptorFlags::READ),
    ('w', DescriptorFlags::WRITE),
    ('m', DescriptorFlags::MUTATE_DIRECTORY),
    ('s', DescriptorFlags::FILE_INTEGRITY_SYNC),
];
