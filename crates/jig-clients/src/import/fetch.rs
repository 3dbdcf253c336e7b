//! [`FetchedPackages`]: what `npx -y` or `uvx` downloads, downloaded for a server that is about to be watched.
//!
//! The download sees nothing of the workspace and of the home. What it brings is there for the runs that are watched,
//! which reach no registry any more, and is removed with them.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use jig_config::{AddedSystem, Additions};
use jig_engine::Packages;
use jig_project::remark;
use jig_proto::visible_line;

use super::learn::{LearningError, Subject, TOOL, Teacher};

/// What was downloaded. It is removed when this is dropped.
#[derive(Default)]
pub(crate) struct FetchedPackages {
    packages: Option<Packages>,
    system: Vec<AddedSystem>,
    /// What the launcher has to be told.
    pub env: Vec<(String, String)>,
    /// The same in words, which stand before its arguments.
    pub args: Vec<String>,
}

impl FetchedPackages {
    /// Downloads what the command of a server does, if it is known to.
    pub(crate) fn of(teacher: &Teacher<'_>, subject: &Subject<'_>) -> Result<Self, LearningError> {
        let engine = teacher.engine(&Additions::default())?;
        let found = engine.packages_of(subject.command, subject.env);
        let found = found.filter(|found| !subject.is_stranger || !found.are_particular());
        let Some(packages) = found else {
            return Ok(Self::default());
        };
        let mut fetched = Self::default();
        fetched.packages = Some(packages.clone());
        let tool = engine.config().tool(TOOL);
        let tool = tool.ok_or_else(|| LearningError::why("it is no tool on trial"))?;
        let env = match subject.is_stranger {
            true => &[],
            false => subject.env,
        };
        let downloading = engine.download(&packages, tool, env, &[]);
        let downloading = downloading.map_err(LearningError::why)?;
        let what = visible_line(&packages.to_string());
        let from = visible_line(&downloading.hosts().join(", "));
        remark(&format!("jig: downloading {what} from {from}"));
        let (tell, over) = mpsc::channel();
        downloading.on_end(move || {
            // Nobody listens any more if it was given up.
            let _ = tell.send(());
        });
        let begin = Instant::now();
        let mut told = begin;
        while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
            if teacher.cancel.is_cancelled() {
                return Err(LearningError::Interrupted);
            }
            if begin.elapsed() > LONGEST {
                break;
            }
            if told.elapsed() > TOLD {
                told = Instant::now();
                let lasted = begin.elapsed().as_secs();
                remark(&format!("jig: still downloading {what}, after {lasted} s"));
            }
        }
        if let Err(not) = downloading.finish() {
            let denied = not.denials.iter().map(|denial| {
                let (what, why) = (&denial.target, &denial.why);
                format!("; `{what}` was refused: {why}")
            });
            let why: String = std::iter::once(not.why).chain(denied).collect();
            return Err(LearningError::Why(why, not.last_words));
        }
        let access = engine.packages_access(&packages, env);
        let access = access.ok_or_else(|| LearningError::why("its packages were taken away"))?;
        fetched.env = access.env;
        fetched.args = access.args;
        let system = access.system.into_iter().filter_map(|one| {
            Some(AddedSystem {
                path: one.path.into_os_string().into_string().ok()?,
                write: one.write,
                execute: one.execute,
                comment: Vec::new(),
            })
        });
        fetched.system = system.collect();
        Ok(fetched)
    }

    /// Rules with those under which the launcher finds what was downloaded.
    pub(crate) fn with(&self, additions: &Additions) -> Additions {
        let mut all = additions.clone();
        all.system.extend(self.system.iter().cloned());
        all
    }
}

impl Drop for FetchedPackages {
    fn drop(&mut self) {
        if let Some(packages) = &self.packages {
            packages.remove();
        }
    }
}

/// How soon it is noticed that somebody pressed ctrl-C.
const TICK: Duration = Duration::from_millis(100);

/// How often it is told that a download goes on.
const TOLD: Duration = Duration::from_secs(15);

/// The longest that a download may take.
const LONGEST: Duration = Duration::from_secs(10 * 60);
