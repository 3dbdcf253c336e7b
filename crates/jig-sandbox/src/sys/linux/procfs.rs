//! What `/proc` and `/sys` tell: small text files, read whole and parsed here.

use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};

use crate::machine::Privileges;

#[cfg(test)]
mod tests;

/// The text of a small file; `None` if it cannot be read. Longer files are cut at [`LONGEST`].
pub(super) fn read(path: &str) -> Option<String> {
    read_at_most(path, LONGEST)
}

/// The first few kilobytes of a file; `None` if it cannot be read.
pub(super) fn read_start(path: &str) -> Option<String> {
    read_at_most(path, 1)
}

fn read_at_most(path: &str, most: usize) -> Option<String> {
    // Not blocking: a path outside `/proc` could be a FIFO.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(path, flags, Mode::empty()).ok()?;
    let mut text = Vec::new();
    let mut chunk = [0; 4096];
    while text.len() < most {
        match rustix::io::read(&file, &mut chunk) {
            Ok(0) => break,
            Ok(count) => text.extend_from_slice(&chunk[..count]),
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(String::from_utf8_lossy(&text).into_owned())
}

/// The names in a directory that are numbers.
pub(super) fn numbers_in(path: &str) -> Vec<i32> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(directory) = rustix::fs::open(path, flags, Mode::empty()) else {
        return Vec::new();
    };
    let Ok(entries) = rustix::fs::Dir::new(directory) else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str().ok()?.parse().ok())
        .collect()
}

/// The number that a setting holds; `None` if this kernel does not have it.
pub(super) fn setting(path: &str) -> Option<u64> {
    read(path)?.trim().parse().ok()
}

/// Whether something exists at the path.
pub(super) fn exists(path: &str) -> bool {
    rustix::fs::access(path, Access::EXISTS).is_ok()
}

/// Whether the effective user may write there: into a file, or new entries into a directory.
pub(super) fn is_writable(path: &str) -> bool {
    rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
}

/// A line of `mountinfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MountinfoLine {
    /// The directory of the file system that is mounted.
    pub(super) root: String,
    /// Where it is mounted.
    pub(super) target: String,
    /// The kind of file system.
    pub(super) kind: String,
}

/// The mounts that this process sees; none if `/proc` is missing.
pub(super) fn mounts() -> Vec<MountinfoLine> {
    parse_mounts(&read("/proc/thread-self/mountinfo").unwrap_or_default())
}

/// The facts about the calling thread, which may have filters and capabilities of its own.
pub(super) fn privileges() -> Privileges {
    let mut privileges = parse_status(&read("/proc/thread-self/status").unwrap_or_default());
    privileges.security_label = ["apparmor/current", "current"]
        .iter()
        .find_map(|file| read(&format!("/proc/thread-self/attr/{file}")))
        .map(|label| label.trim_matches(['\0', '\n', ' ']).to_owned())
        .filter(|label| !label.is_empty());
    privileges.in_user_namespace =
        read("/proc/thread-self/uid_map").map(|map| !maps_everything(&map));
    privileges
}

fn parse_mounts(mountinfo: &str) -> Vec<MountinfoLine> {
    mountinfo.lines().filter_map(parse_mount).collect()
}

/// `id parent device root target options [optional…] - kind source options`.
fn parse_mount(line: &str) -> Option<MountinfoLine> {
    let (before, after) = line.split_once(" - ")?;
    let mut fields = before.split(' ').skip(3);
    Some(MountinfoLine {
        root: unescape(fields.next()?),
        target: unescape(fields.next()?),
        kind: after.split(' ').next()?.to_owned(),
    })
}

/// Undoes the octal escapes of blanks and backslashes, such as `\040`.
fn unescape(field: &str) -> String {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escape = tail.get(..3).filter(|_| first == b'\\');
        let code = escape
            .and_then(|digits| str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest = &tail[3..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn parse_status(status: &str) -> Privileges {
    let field = |name: &str| {
        status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))
            .map(str::trim)
    };
    Privileges {
        // Real, effective, saved, file system.
        uid: field("Uid").and_then(|ids| ids.split_whitespace().nth(1)?.parse().ok()),
        capabilities: field("CapEff")
            .and_then(|set| u64::from_str_radix(set, 16).ok())
            .map(capability_names),
        no_new_privs: field("NoNewPrivs").map(|flag| flag == "1"),
        seccomp_filtered: field("Seccomp").map(|mode| mode != "0"),
        security_label: None,
        in_user_namespace: None,
    }
}

/// The names of a set of capabilities; one that is newer than the table is its number.
fn capability_names(set: u64) -> Vec<String> {
    (0..u64::BITS as usize)
        .filter(|bit| set & (1 << bit) != 0)
        .map(|bit| match CAPABILITIES.get(bit) {
            Some(name) => (*name).to_owned(),
            None => bit.to_string(),
        })
        .collect()
}

/// Whether a map of users is that of the first user namespace: every user is itself.
fn maps_everything(map: &str) -> bool {
    map.split_whitespace().eq(["0", "0", "4294967295"])
}

/// Far above what any of these files holds; a host with tens of thousands of mounts gets near it.
const LONGEST: usize = 4 << 20;

/// In the order of their bits.
const CAPABILITIES: [&str; 41] = [
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
];
