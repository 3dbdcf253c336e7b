//! Where jig keeps the audit log of a workspace: outside of the workspace, so that no tool can reach it.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{AuditEntry, AuditSink, FileSink, FileSinkOptions, NullSink};
use jig_config::LogSettings;
use jig_proto::{Hint, hint};
use jig_sandbox::Exit;

use crate::environment::CommandEnvironment;
use crate::stderr_remark::remark;

/// The folder of the log of the workspace at `root`; `None` without a home.
pub fn directory(root: &Utf8Path, env: &CommandEnvironment) -> Option<Utf8PathBuf> {
    let state = env.state()?;
    // Folders of one name are told apart by a hash of the whole path.
    let name = root.file_name().unwrap_or("root");
    let hash = hash(root);
    Some(state.join("log").join(format!("{name}-{hash:016x}")))
}

/// A number for a path, which another path hardly has.
pub fn hash(path: &Utf8Path) -> u64 {
    path.as_str().bytes().fold(FNV_START, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The log to write to. Where there can be none, nothing runs, unless the person said that the log is optional:
/// then what could not be written is told once.
pub fn sink(
    root: &Utf8Path,
    env: &CommandEnvironment,
    settings: &LogSettings,
) -> anyhow::Result<Arc<dyn AuditSink>> {
    match (open(root, env), settings.required) {
        (Ok(sink), true) => Ok(Arc::new(sink)),
        (Ok(sink), false) => Ok(Arc::new(OptionalSink {
            sink,
            is_told: AtomicBool::new(false),
        })),
        (Err(error), true) => Err(anyhow!(no_log()).context(error)),
        (Err(error), false) => {
            remark(&format!("note: {error}; nothing is written down"));
            Ok(Arc::new(NullSink))
        }
    }
}

/// Opens the log.
pub fn open(root: &Utf8Path, env: &CommandEnvironment) -> Result<FileSink, String> {
    let directory = directory(root, env).ok_or("there is no home folder for the log")?;
    let options = FileSinkOptions {
        buffered: true,
        ..FileSinkOptions::default()
    };
    let sink = FileSink::open(&directory, options);
    sink.map_err(|error| format!("the log in `{directory}` cannot be written: {error}"))
}

/// A log that a person can do without.
#[derive(Debug)]
struct OptionalSink {
    sink: FileSink,
    is_told: AtomicBool,
}

impl OptionalSink {
    /// Tells of the first failure, and goes on.
    fn tell(&self, written: io::Result<()>) {
        if let Err(error) = written
            && !self.is_told.swap(true, Ordering::Relaxed)
        {
            remark(&format!(
                "note: the log cannot be written any more: {error}"
            ));
        }
    }
}

impl AuditSink for OptionalSink {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.tell(self.sink.record(entry));
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        self.tell(self.sink.flush());
        Ok(())
    }
}

/// What to do where the log cannot be written.
pub fn no_log() -> Hint {
    hint!(
        "set XDG_STATE_HOME to a folder that can be written; to run tools without a log, use --optional-log, or \
         set log.required = false in your own configuration"
    )
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// How a command ended, as the log has it.
pub fn outcome(exit: Exit) -> &'static str {
    if exit.is_success() { "ok" } else { "error" }
}
