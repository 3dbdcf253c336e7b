//! What a program has from its host without being given it.

use std::fs;
use std::os::unix::fs::MetadataExt;

use crate::capabilities::effective_capabilities;
use crate::reading::has_secret;
use crate::sys::call;
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("inherited-descriptors", inherited_descriptors),
    ("inherited-environment", |_| {
        for (name, value) in std::env::vars_os() {
            if has_secret(value.as_encoded_bytes()).is_ok() {
                return Ok(format!("found it in {}", name.display()));
            }
        }
        held("no variable has it")
    }),
    ("status-field", status_field),
    ("not-filtered", |_| match status("Seccomp")?.as_str() {
        "2" => held("it is filtered"),
        mode => Ok(format!("mode {mode}")),
    }),
    ("new-privileges", |_| match status("NoNewPrivs")?.as_str() {
        "1" => held("it can gain none"),
        value => Ok(format!("NoNewPrivs is {value}")),
    }),
    ("root-with-rights", |_| {
        // SAFETY: it has no preconditions.
        let user = unsafe { libc::getuid() };
        match effective_capabilities()? {
            0 => held(format!("user {user} without rights")),
            rights => Ok(format!("user {user} with rights {rights:x}")),
        }
    }),
    ("controlling-terminal", |_| {
        let stat = fs::read_to_string("/proc/self/stat")?;
        let (_, fields) = stat.rsplit_once(") ").unwrap_or_default();
        match fields.split(' ').nth(4) {
            Some("0") => held("it has none"),
            Some(number) if *number == number_of_input()? => held("it is the one it was given"),
            Some(number) => Ok(format!("terminal {number}")),
            None => untried("/proc is unreadable"),
        }
    }),
    ("foreign-session", |_| {
        // In a session of one's own, its number is one's own or that of a parent in the same tree.
        let session = call!(libc::SYS_getsid, 0)?;
        let own = i64::from(std::process::id());
        if session == own {
            return held("the session is its own");
        }
        Ok(format!("it is process {own} of session {session}"))
    }),
    ("blocked-signals", |_| not_zero("SigBlk", 0)),
    ("ignored-signals", |_| {
        // Rust programs ignore SIGPIPE from their start.
        not_zero("SigIgn", 1 << (libc::SIGPIPE - 1))
    }),
    ("working-directory", |args| {
        let here = std::env::current_dir()?;
        let wanted = args.text(0)?;
        if here.as_os_str() == wanted {
            return held("it is where it should be");
        }
        Ok(format!("it is {}", here.display()))
    }),
];

/// The number of the terminal that is the standard input, as `/proc` tells it.
fn number_of_input() -> Result<String, Stopped> {
    let input = fs::metadata("/proc/self/fd/0")?.rdev();
    let (major, minor) = (libc::major(input), libc::minor(input));
    let number = minor & 0xff | major << 8 | (minor & !0xff) << 12;
    Ok(number.to_string())
}

fn status(name: &str) -> Result<String, Stopped> {
    let text = fs::read_to_string("/proc/self/status")?;
    let value = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key == name).then(|| value.trim().to_owned())
    });
    value.map_or_else(|| untried(format!("/proc has no {name}")), Ok)
}

fn not_zero(name: &str, but_for: u64) -> Verdict {
    let text = status(name)?;
    match u64::from_str_radix(&text, 16) {
        Ok(bits) if bits & !but_for == 0 => held("none"),
        _ => Ok(format!("{name} is {text}")),
    }
}

/// A set of capabilities, which must be empty.
fn status_field(args: &Args) -> Verdict {
    not_zero(args.text(0)?, 0)
}

/// Anything open besides the three streams, and the one by which this is found out.
fn inherited_descriptors(_: &Args) -> Verdict {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc/self/fd")? {
        let entry = entry?;
        let target = fs::read_link(entry.path())?;
        let number = entry.file_name().to_string_lossy().parse().unwrap_or(0);
        let is_own_table = target.to_string_lossy().ends_with("/fd");
        if number > 2 && !is_own_table {
            found.push(format!("{number}: {}", target.display()));
        }
    }
    match found.as_slice() {
        [] => held("only the three streams"),
        all => Ok(all.join(", ")),
    }
}
