//! What a call left behind where nothing may come into being, as plain data.

use std::fmt;
use std::path::{Path, PathBuf};

/// Something that a program made where it may not.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Intruder {
    /// Where it was, relative to the workspace; absolute if it is in the repository that the workspace is a
    /// worktree of.
    pub path: PathBuf,
    /// Where it is now; `None` if it could not be moved, or if there is no place for it.
    pub moved_to: Option<PathBuf>,
    /// Why it may not be there, as a clause: "it is configuration that jig loads".
    pub reason: String,
}

/// One sentence without a period.
impl fmt::Display for Intruder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = on_one_line(&self.path);
        write!(
            f,
            "`{path}` appeared, which is not allowed: {}",
            self.reason
        )?;
        match &self.moved_to {
            Some(place) => write!(f, "; it was moved to `{}`", on_one_line(place)),
            None => f.write_str("; it is still there"),
        }
    }
}

/// What calls that are over, or still run, left behind in a workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IntruderReport {
    /// What a call whose jig has crashed left behind, and what was moved away now.
    pub removed: Vec<Intruder>,
    /// What appeared while a call of a jig that still runs may have made it. It must not be used.
    pub suspects: Vec<Suspect>,
}

/// Something that a running call may have made.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suspect {
    /// Where it is, relative to the workspace or absolute, as for an intruder.
    pub path: PathBuf,
    /// The process of the jig whose call still runs.
    pub process: u32,
    /// Why it may not be there, as a clause.
    pub reason: String,
}

/// One sentence without a period.
impl fmt::Display for Suspect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` appeared while a tool was running (of the jig with process id {}), and the tool may have \
             made it, which is not allowed: {}; try again when that call is over",
            on_one_line(&self.path),
            self.process,
            self.reason
        )
    }
}

/// A path whose name a tool chose: one with a line break must not look like two lines of ours.
fn on_one_line(path: &Path) -> String {
    jig_proto::visible_line(&path.to_string_lossy())
}
