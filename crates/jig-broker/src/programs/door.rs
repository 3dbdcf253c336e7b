//! The door of a tool that works on files itself: how it runs the programs that its rules name.
//!
//! [`Broker::guard_commands`] puts a shim under the name of each such program on the tool's search path, and
//! nothing else. A shim asks at the [`Door`], where the request is judged as `process.run` is; what may run
//! is started beside the tool, in a sandbox of its own with the same policy and without a door, with the
//! standard streams of whoever asked. It ends with its shim, and all end with the door.
//!
//! This is exact for what is started by name. It is no confinement: the system's programs can be read, and
//! a tool can start one by its path, with its own rights and no others.

#[cfg(target_os = "linux")]
mod call;
#[cfg(not(target_os = "linux"))]
mod foreign;
#[cfg(target_os = "linux")]
mod serve;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use jig_policy::CommandProgram;
use jig_sandbox::{
    DOOR, Enforce, PathRule, PrivateContent, PrivateDirectory, PrivateFile, Rights, RuleSource,
    shim,
};

use crate::broker::Broker;
use crate::programs::confine::{ConfineError, Confined};

#[cfg(not(target_os = "linux"))]
pub use foreign::Door;
#[cfg(target_os = "linux")]
pub use serve::Door;

#[cfg(all(test, target_os = "linux"))]
mod tests;

impl Broker {
    /// Has a confined tool find by name only the programs that its rules name, each as a shim that asks at
    /// the door. A policy without rules on programs changes nothing.
    ///
    /// The interpreter that the tool's own script is started by is found too.
    ///
    /// # Errors
    ///
    /// If this build of jig carries no shim, and everything has to be enforced.
    pub fn guard_commands(&self, confined: &mut Confined) -> Result<(), ConfineError> {
        let Some(rules) = self.inner.policy.command_rules() else {
            return Ok(());
        };
        let mut names: BTreeSet<&str> = rules
            .iter()
            .filter_map(|rule| match rule.program() {
                CommandProgram::Name(name) => Some(name.as_str()),
                CommandProgram::File(_) => None,
            })
            .collect();
        let directory = Path::new(BIN);
        let profile = Arc::make_mut(&mut confined.profile);
        for (name, program) in &confined.interpreters {
            // Without it the tool itself would not start.
            names.remove(name.to_str().unwrap_or_default());
            profile.files.push(PrivateFile {
                path: directory.join(name),
                content: PrivateContent::Link(program.clone()),
            });
        }
        let mut size = ROOM;
        match shim() {
            _ if names.is_empty() => {}
            Some(shim) => {
                size += shim.len() as u64;
                profile.door = Some(DOOR.into());
                profile.files.push(PrivateFile {
                    path: SHIM.into(),
                    content: PrivateContent::Program(shim.to_vec()),
                });
                profile
                    .files
                    .extend(names.into_iter().map(|name| PrivateFile {
                        path: directory.join(name),
                        content: PrivateContent::Link(SHIM.into()),
                    }));
            }
            None if profile.enforce == Enforce::Required => return Err(ConfineError::NoShim),
            None => confined.warnings.push(format!(
                "it finds no programs, although its rules name some: {}",
                ConfineError::NoShim
            )),
        }
        profile.private.push(PrivateDirectory {
            path: DIRECTORY.into(),
            size,
            executable: true,
        });
        // It would have a login shell look elsewhere.
        profile.paths.push(PathRule {
            path: LOGIN.into(),
            rights: Rights::NONE,
            source: RuleSource::System,
        });
        // Programs may be run there, so nobody may put one there.
        profile.sealed.push(DIRECTORY.into());
        confined.env.insert("PATH".into(), BIN.into());
        Ok(())
    }
}

/// The directory of the door and the shim.
const DIRECTORY: &str = "/run/jig";

/// The search path of a tool whose programs are guarded.
const BIN: &str = "/run/jig/bin";

const SHIM: &str = "/run/jig/shim";

/// What login shells read first.
const LOGIN: &str = "/etc/profile";

/// For the directories and links; nobody can write there.
const ROOM: u64 = 1 << 20;
