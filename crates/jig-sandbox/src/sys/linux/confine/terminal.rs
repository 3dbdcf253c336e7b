//! [`ToolTerminal`]: what a tool with a terminal finds besides, so that it can open its terminal by a name.

use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::host_path::{self, HostLookup, HostPathState};
use super::landlock;
use super::outline::{c_string, target};
use super::skeleton::{needed, optional};
use crate::sys::linux::order::{MountFlags, OrderStep, StepAction};

/// The terminal that a tool is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolTerminal {
    /// Its name on the host, if it has one there.
    pub(super) name: Option<PathBuf>,
}

impl ToolTerminal {
    pub(crate) fn of(descriptor: &impl AsFd) -> Self {
        let name = rustix::termios::ttyname(descriptor, Vec::new()).ok();
        Self {
            name: name.map(|name| PathBuf::from(OsString::from_vec(name.into_bytes()))),
        }
    }

    /// The steps after all others.
    ///
    /// `/dev/tty` is whatever controls the session of the process that opens it, so that for a tool it is
    /// this terminal, or none. The terminal itself belongs to the host's file system of terminals, of which
    /// a tool sees nothing else. In namespaces it is shown as `/dev/console`, as container engines do, where
    /// programs that want a terminal's name find it. The rule is about the terminal, not about the name: so it
    /// also lets `/dev/stderr` and the like be opened, which lead to the terminal past all names.
    pub(super) fn steps(
        &self,
        host: &mut dyn HostLookup,
        namespaces: bool,
        abi: u32,
    ) -> Vec<OrderStep> {
        let mut steps = Vec::new();
        let own = self.name.as_deref();
        let shown = [
            (Some(Path::new(OF_SESSION)), OF_SESSION),
            (own, OWN_IN_NAMESPACES),
        ];
        for (source, name) in shown {
            let found = |path: &&Path| host_path::find(host, path) == HostPathState::File;
            let Some(source) = source.filter(found) else {
                continue;
            };
            let name = if namespaces {
                show(&mut steps, source, Path::new(name));
                target(Path::new(name))
            } else {
                c_string(source)
            };
            let rights = landlock::device(&HostPathState::File, abi);
            if rights != 0 {
                let act = StepAction::Allow {
                    target: name,
                    rights,
                };
                steps.push(optional(act));
            }
        }
        steps
    }
}

/// Read-only, so that its mode stays: that does not stop writing to a device.
fn show(steps: &mut Vec<OrderStep>, source: &Path, name: &Path) {
    steps.push(needed(StepAction::File {
        target: target(name),
        mode: 0o444,
        content: Vec::new(),
    }));
    steps.push(optional(StepAction::Bind {
        source: c_string(source),
        target: target(name),
        flags: MountFlags {
            read_only: true,
            no_exec: true,
            dev: true,
        },
    }));
}

/// What controls the session of whoever opens it.
const OF_SESSION: &str = "/dev/tty";

/// Under what name a tool in namespaces finds its terminal.
const OWN_IN_NAMESPACES: &str = "/dev/console";
