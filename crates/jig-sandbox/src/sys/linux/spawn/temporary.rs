//! [`Temporary`]: a directory of the host for the temporary files of one tool, where none can be private.

use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::fs::Mode;
use rustix::io::Errno;

use super::plan::SpawnPlan;
use crate::process::SpawnRequest;
use crate::profile::Profile;
use crate::sys::linux::confine;

/// A new directory that is removed, with all that is in it, when this is dropped.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    executable: bool,
}

impl Temporary {
    /// Makes one, if the tool would put its temporary files into a private directory: without namespaces it has none.
    /// Where it cannot be made, the tool goes without.
    pub(super) fn of(request: &SpawnRequest, profile: &Profile) -> Option<Self> {
        let named = request.env.get(OsStr::new(VARIABLES[0]));
        let usual = named.map_or(Path::new("/tmp"), Path::new);
        let mut private = profile.private.iter();
        let private = private.find(|private| usual.starts_with(&private.path))?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the keeper follows no link on the way to it; nothing is opened here"
        )]
        let folder = std::fs::canonicalize(std::env::temp_dir()).ok()?;
        let path = new_in(&folder).ok()?;
        Some(Self {
            path,
            executable: private.executable,
        })
    }

    /// Lets the tool use it, and tells it so.
    pub(super) fn give(&self, plan: &mut SpawnPlan, landlock_abi: u32) {
        let Some(confinement) = &mut plan.confinement else {
            return;
        };
        if confinement.landlock.is_some() {
            let step = confine::own_directory(&self.path, self.executable, landlock_abi);
            confinement.steps.push(step);
        }
        for name in VARIABLES {
            let mut pair = [name.as_bytes(), b"="].concat();
            plan.environment
                .retain(|other| !other.as_bytes().starts_with(&pair));
            pair.extend(self.path.as_os_str().as_bytes());
            plan.environment.extend(CString::new(pair).ok());
        }
    }
}

impl Drop for Temporary {
    /// What the tool made there is not followed if it is a link. What cannot be removed stays.
    fn drop(&mut self) {
        #[expect(
            clippy::disallowed_methods,
            reason = "the directory was made here, and its tool has ended"
        )]
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// As [`crate::is_temporary`].
pub(crate) fn is_temporary(path: &Path) -> bool {
    path.components().any(|part| {
        let name = part.as_os_str().as_bytes();
        name.starts_with(PREFIX.as_bytes())
    })
}

fn new_in(folder: &Path) -> Result<PathBuf, Errno> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id();
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{PREFIX}{process}-{number}"));
        // It is new or not made: what somebody else has put there is never used.
        match rustix::fs::mkdir(&path, Mode::RWXU) {
            Ok(()) => return Ok(path),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error),
        }
    }
}

/// By which programs find the place for temporary files.
const VARIABLES: [&str; 3] = ["TMPDIR", "TMP", "TEMP"];

const PREFIX: &str = "jig-temporary-";
