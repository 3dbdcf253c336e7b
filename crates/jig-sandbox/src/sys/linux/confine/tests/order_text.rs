//! Steps as lines.

use std::ffi::CStr;

use crate::sys::linux::order::{MountFlags, NewMount, OrderStep, StepAction};

pub(super) fn lines(steps: &[OrderStep]) -> Vec<String> {
    steps.iter().map(line).collect()
}

fn line(step: &OrderStep) -> String {
    let text = match &step.act {
        StepAction::Directory { target, .. } => format!("dir {}", path(target)),
        StepAction::File {
            target, content, ..
        } => format!("file {} {}", path(target), content.len()),
        StepAction::Symlink { target, to } => format!("link {} {}", path(target), path(to)),
        StepAction::Bind {
            source,
            target,
            flags,
        } => {
            let elsewhere = path(source) != format!("/{}", path(target));
            let source = if elsewhere { path(source) } else { "" };
            format!("bind {} {source} {}", path(target), words(*flags)).replace("  ", " ")
        }
        StepAction::Again { target, flags } => format!("again {} {}", path(target), words(*flags)),
        StepAction::Mask { target } => format!("mask {}", path(target)),
        StepAction::Mount {
            kind,
            target,
            flags,
        } => {
            let kind = match kind {
                NewMount::Tmpfs { size, mode } => format!("tmpfs({size},{mode:o})"),
                NewMount::Proc => "proc".to_owned(),
                NewMount::Devpts => "devpts".to_owned(),
            };
            format!("mount {} {kind} {}", path(target), words(*flags))
        }
        StepAction::Listen { target } => format!("listen {}", path(target)),
        StepAction::Loopback => "loopback".to_owned(),
        StepAction::HostName(name) => format!("name {}", path(name)),
        StepAction::Allow { target, rights } => {
            format!("allow {} {}", path(target), access(*rights))
        }
        StepAction::Local { network, prefix } => format!("local {network}/{prefix}"),
        StepAction::Sockets(sockets) => format!("sockets {sockets:?}"),
        StepAction::Replace { target, content } => {
            format!("replace {} {}", path(target), content.len())
        }
        StepAction::AllowPort { port, rights } => format!("allow port {port} {rights}"),
        StepAction::Overlay {
            target,
            upper,
            work,
            flags,
            ..
        } => {
            let parts = [path(upper), path(work)].join(" ");
            format!("overlay {} {parts} {}", path(target), words(*flags))
        }
        StepAction::Anew { target, flags } => format!("anew {} {}", path(target), words(*flags)),
        StepAction::BindOfLayer {
            layer,
            source,
            target,
            flags,
        } => format!(
            "layer {layer} {} {} {}",
            path(source),
            path(target),
            words(*flags)
        ),
    };
    let mark = if step.optional { "?" } else { "" };
    format!("{}{mark}", text.trim_end())
}

fn path(path: &CStr) -> &str {
    path.to_str().unwrap()
}

fn words(flags: MountFlags) -> String {
    let words = [
        (flags.read_only, "ro"),
        (flags.no_exec, "noexec"),
        (flags.dev, "dev"),
    ];
    let set: Vec<&str> = words
        .into_iter()
        .filter_map(|(set, word)| set.then_some(word))
        .collect();
    set.join(",")
}

/// The rights of Landlock, in the order of its bits.
pub(super) fn access(rights: u64) -> String {
    const NAMES: [&str; 17] = [
        "execute", "write", "read", "list", "rmdir", "rm", "char", "mkdir", "reg", "sock", "fifo",
        "block", "sym", "refer", "truncate", "ioctl", "unix",
    ];
    let names: Vec<&str> = NAMES
        .iter()
        .enumerate()
        .filter(|(bit, _)| rights & (1 << bit) != 0)
        .map(|(_, name)| *name)
        .collect();
    names.join("+")
}
