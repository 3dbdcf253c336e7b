//! [`seatbelt`]: a profile in the language of the sandbox that macOS has in its kernel.
//!
//! It decides by path, and the last rule that matches counts, which is what a profile means: so rules are
//! written from the outside in. What it enforces, and what it does not:
//!
//! - Creating, changing and deleting are one right (`file-write*`): a rule that allows one of them allows
//!   all, and the status says so.
//! - Rules inside others hold, whether they give or withhold, also for what does not exist yet.
//! - There are no private directories: where a profile wants one, the tool finds what the host has there,
//!   and may not touch it.
//! - Names, sizes and times of all files can be asked for, because programs look at every directory above
//!   their own.
//! - Processes of others can be seen by their number, but neither signalled nor inspected.
//! - Limits hold for each process, not for the tree.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::process::{Enforcement, ProcessLimits, Status};
use crate::profile::{Network, PathRule, Profile, Rights};

#[cfg(test)]
mod tests;

/// A path that the language cannot name, because it is not text or not absolute.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be named in a rule of the macOS sandbox", .0.display())]
pub(crate) struct UnspeakablePath(pub(crate) PathBuf);

/// The profile as text for `sandbox-exec -p`.
pub(crate) fn seatbelt(profile: &Profile) -> Result<String, UnspeakablePath> {
    let mut text = String::from(BASE);
    for rule in in_order(profile) {
        rule_lines(&mut text, rule)?;
    }
    for private in &profile.private {
        line(
            &mut text,
            "deny",
            "file-read-data file-write*",
            &private.path,
        )?;
    }
    for pin in &profile.pins {
        // A directory is renamed by taking its name away.
        let pin = quoted(pin)?;
        push(
            &mut text,
            format_args!("(deny file-write-unlink (literal {pin}))"),
        );
    }
    if profile.network == Network::Host {
        text.push_str(NETWORK);
    }
    Ok(text)
}

/// What a profile gets besides for a tool with a terminal of its own, by its name if it has one.
/// `/dev/tty` is whatever controls the session of the process that opens it.
pub(crate) fn terminal(own: Option<&Path>) -> String {
    let mut text = String::new();
    for path in [Some(Path::new("/dev/tty")), own].into_iter().flatten() {
        // One that cannot be named can be used all the same, by its descriptors.
        if let Ok(path) = quoted(path) {
            push(
                &mut text,
                format_args!("(allow file-read* file-write* file-ioctl (literal {path}))"),
            );
        }
    }
    text
}

/// What macOS enforces of a profile.
pub(crate) fn status(profile: &Profile, limits: &ProcessLimits) -> Status {
    let mut files = vec!["names, sizes and times of all files can be asked for".to_owned()];
    for rule in in_order(profile) {
        let writes = Rights::WRITE.without(Rights::WRITE.without(rule.rights));
        if writes != Rights::NONE && writes != Rights::WRITE {
            files.push(format!(
                "`{}` is open to all changes, because macOS does not tell {writes} from the others",
                rule.path.display()
            ));
        }
    }
    for private in &profile.private {
        files.push(format!(
            "the tool has no directory of its own at `{}`, and none of the host's",
            private.path.display()
        ));
    }
    for file in &profile.replaced {
        files.push(format!(
            "`{}` is not replaced, because macOS shows all programs the same files",
            file.path.display()
        ));
    }
    let mut of_tree = Vec::new();
    if limits.tasks.is_some() {
        of_tree.push("processes and threads of the tree are not limited".to_owned());
    }
    if limits.memory.is_some() {
        of_tree.push("memory of the tree is not limited".to_owned());
    }
    let partly = |gap: &str| Enforcement::but_for(vec![gap.to_owned()]);
    Status {
        tier: crate::assessment::Tier::B,
        tree: partly("a process that leaves the process group of the tool outlives it"),
        processes: partly("which processes the machine has can be found out by their numbers"),
        files: Enforcement::but_for(files),
        network: match &profile.network {
            Network::Gateway(gateway) if !gateway.ports.is_empty() => partly(
                "there is no network at all, because macOS cannot lead the connections of one program to jig",
            ),
            Network::Gateway(_) | Network::None | Network::Host => Enforcement::Enforced,
        },
        ipc: partly(
            "services of the system that ordinary programs need, and shared memory by its name, can be used",
        ),
        privileges: partly("system calls are not filtered"),
        limits: Enforcement::but_for(of_tree),
        unheld: Vec::new(),
        guarded_names: None,
    }
}

/// The last rule for each path, outermost first.
fn in_order(profile: &Profile) -> impl Iterator<Item = &PathRule> {
    let by_path: BTreeMap<&Path, &PathRule> = profile
        .paths
        .iter()
        .map(|rule| (rule.path.as_path(), rule))
        .collect();
    by_path.into_values()
}

/// First everything is taken back that a rule above gave, then the rule gives its own.
fn rule_lines(text: &mut String, rule: &PathRule) -> Result<(), UnspeakablePath> {
    let operations = [
        (Rights::READ, "file-read*"),
        (Rights::WRITE, "file-write*"),
        (Rights::EXECUTE, "process-exec* file-map-executable"),
    ];
    let (given, withheld): (Vec<_>, Vec<_>) = operations
        .into_iter()
        .partition(|(right, _)| rule.rights.has_any(*right));
    let joined = |list: &[(Rights, &'static str)]| {
        let names: Vec<&str> = list.iter().map(|(_, name)| *name).collect();
        names.join(" ")
    };
    if !withheld.is_empty() {
        // Looking at names stays possible everywhere.
        let names = joined(&withheld).replace("file-read*", "file-read-data file-read-xattr");
        line(text, "deny", &names, &rule.path)?;
    }
    if !given.is_empty() {
        line(text, "allow", &joined(&given), &rule.path)?;
    }
    Ok(())
}

fn line(
    text: &mut String,
    verdict: &str,
    operations: &str,
    path: &Path,
) -> Result<(), UnspeakablePath> {
    let path = quoted(path)?;
    push(
        text,
        format_args!("({verdict} {operations} (subpath {path}))"),
    );
    Ok(())
}

fn push(text: &mut String, line: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

/// A path as a string of the language. Whoever chooses a path must not choose rules with it.
fn quoted(path: &Path) -> Result<String, UnspeakablePath> {
    let unspeakable = || UnspeakablePath(path.to_owned());
    let text = path.to_str().ok_or_else(unspeakable)?;
    if !text.starts_with('/') || text.chars().any(char::is_control) {
        return Err(unspeakable());
    }
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    Ok(format!("\"{escaped}\""))
}

/// What a program needs to start at all. Of terminals it gets those that it makes itself, which the kernel
/// marks, and not the user's.
const BASE: &str = r#"(version 1)
(deny default)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))
(allow sysctl-read)
(allow ipc-posix-sem ipc-posix-shm*)
(allow pseudo-tty)
(allow file-read-metadata)
(allow file-read* (literal "/") (literal "/dev/random") (literal "/dev/urandom"))
(allow file-read* file-write-data file-ioctl (literal "/dev/null") (literal "/dev/zero"))
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
(allow file-read* file-write-data (subpath "/dev/fd"))
(allow file-read* file-write-data file-ioctl (literal "/dev/dtracehelper"))
(allow file-read* file-map-executable (subpath "/System/Library") (subpath "/System/Volumes/Preboot/Cryptexes") (subpath "/usr/lib"))
(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo") (global-name "com.apple.system.opendirectoryd.membership") (global-name "com.apple.system.logger") (global-name "com.apple.system.notification_center") (global-name "com.apple.bsd.dirhelper"))
"#;

/// What names, certificates and connections need.
const NETWORK: &str = r#"(allow network* system-socket)
(allow mach-lookup (global-name "com.apple.SystemConfiguration.configd") (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.networkd") (global-name "com.apple.trustd") (global-name "com.apple.trustd.agent") (global-name "com.apple.SecurityServer"))
"#;
