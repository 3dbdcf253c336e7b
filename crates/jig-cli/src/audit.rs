//! Where jig keeps the audit log of a workspace: outside of the workspace, so that no tool can reach it.

use std::sync::Arc;

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use jiff::{Span, Timestamp, ToSpan};
use jig_broker::{AuditSink, FileSink, FileSinkOptions};

use crate::environment::Environment;

/// The folder of the log of the workspace at `root`; `None` without a home.
pub(crate) fn directory(root: &Utf8Path, env: &Environment) -> Option<Utf8PathBuf> {
    let state = env.state()?;
    // Folders of one name are told apart by a hash of the whole path.
    let name = root.file_name().unwrap_or("root");
    let hash = hash(root);
    Some(state.join("log").join(format!("{name}-{hash:016x}")))
}

/// A number for a path, which another path hardly has.
pub(crate) fn hash(path: &Utf8Path) -> u64 {
    path.as_str().bytes().fold(FNV_START, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME)
    })
}

/// The log to write to. Without one, tools run all the same: the log informs, it does not guard.
pub(crate) fn sink(root: &Utf8Path, env: &Environment) -> Result<Arc<dyn AuditSink>, String> {
    let directory = directory(root, env).ok_or("there is no home folder for the log")?;
    let options = FileSinkOptions {
        buffered: true,
        ..FileSinkOptions::default()
    };
    let sink = FileSink::open(&directory, options);
    let sink =
        sink.map_err(|error| format!("the log in `{directory}` cannot be written: {error}"))?;
    Ok(Arc::new(sink))
}

/// A moment as people write it: `2026-01-31T10:00:00Z`, or how long ago: `15m`, `2h`, `3d`.
pub(crate) fn moment(text: &str) -> anyhow::Result<Timestamp> {
    if let Ok(moment) = text.parse::<Timestamp>() {
        return Ok(moment);
    }
    let ago = || -> Option<Span> {
        let unit = text.chars().last()?;
        let count: i64 = text[..text.len() - unit.len_utf8()].parse().ok()?;
        let hours = match unit {
            's' => return Some(count.seconds()),
            'm' => return Some(count.minutes()),
            'h' => count,
            'd' => count.checked_mul(24)?,
            _ => return None,
        };
        (0..=HOURS_OF_A_CENTURY)
            .contains(&hours)
            .then(|| hours.hours())
    };
    let hint = "hint: write 15m, 2h, 3d, or a moment such as 2026-01-31T10:00:00Z";
    let span = ago().ok_or_else(|| anyhow!(hint).context(format!("`{text}` is no moment")))?;
    Timestamp::now()
        .checked_sub(span)
        .map_err(|_| anyhow!("`{text}` is too long ago"))
}

const HOURS_OF_A_CENTURY: i64 = 24 * 366 * 100;
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
