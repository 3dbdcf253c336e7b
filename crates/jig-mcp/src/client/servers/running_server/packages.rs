//! [`have_packages`]: what a launcher such as `npx -y` downloads, downloaded before its server is started.

use std::sync::Arc;
use std::time::Duration;

use jig_config::Server;
use jig_engine::{CallError, Downloading, Engine, Packages};
use tokio::runtime::Handle;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::start::{blocking, lasting};
use crate::client::servers::slot::ServerFailure;
use crate::client::servers::{ServersCommon, error_texts};

/// Has the packages of a server downloaded, unless they are there or it has none. That takes time of its own, apart
/// from that of its start.
pub(super) async fn have_packages(
    common: &Arc<ServersCommon>,
    engine: &Arc<Engine>,
    server: &Arc<Server>,
) -> Result<(), ServerFailure> {
    let begun = {
        let (engine, server) = (Arc::clone(engine), Arc::clone(server));
        blocking(move || begin(&engine, &server)).await?
    };
    let mut begun = match begun {
        Ok(Some(begun)) => begun,
        Ok(None) => return Ok(()),
        Err(error) => return Err(lasting(&error)),
    };
    let name = &server.name;
    let what = error_texts::bounded(&begun.packages.to_string());
    let from = error_texts::bounded(&begun.hosts);
    (common.report)(&format!(
        "downloading {what} from {from} for the MCP server `{name}`"
    ));
    let since = Instant::now();
    while timeout(TOLD, begun.over.cancelled()).await.is_err() {
        let lasted = since.elapsed();
        if lasted >= LONGEST {
            break;
        }
        let lasted = error_texts::time(Duration::from_secs(lasted.as_secs()));
        (common.report)(&format!(
            "still downloading {what} for the MCP server `{name}`, after {lasted}"
        ));
    }
    let downloading = begun.downloading.take();
    let finished = blocking(move || downloading.map(Downloading::finish)).await?;
    finished.unwrap_or(Ok(())).map_err(|not| {
        let why = format!("{}{}", not.why, error_texts::denied(&not.denials));
        ServerFailure {
            why: error_texts::with_last_words(&why, &not.last_words),
            ..ServerFailure::default()
        }
    })
}

/// Begins to download what is missing, if anything is.
fn begin(engine: &Engine, server: &Server) -> Result<Option<BegunDownload>, CallError> {
    let packages = engine.packages(server);
    let Some(packages) = packages.filter(Packages::are_missing) else {
        return Ok(None);
    };
    let downloading = engine.download_packages(&packages, server)?;
    let over = CancellationToken::new();
    downloading.on_end({
        let over = over.clone();
        move || over.cancel()
    });
    Ok(Some(BegunDownload {
        packages,
        hosts: downloading.hosts().join(", "),
        over,
        downloading: BackgroundDrop(Some(downloading)),
    }))
}

/// A download that has begun.
struct BegunDownload {
    packages: Packages,
    /// From where.
    hosts: String,
    over: CancellationToken,
    downloading: BackgroundDrop<Downloading>,
}

/// What takes its time when it is dropped: a process is ended, say, and much is removed. That is done on a thread
/// where it holds nobody up, also if a start is given up in the middle.
struct BackgroundDrop<T: Send + 'static>(Option<T>);

impl<T: Send + 'static> BackgroundDrop<T> {
    fn take(&mut self) -> Option<T> {
        self.0.take()
    }
}

impl<T: Send + 'static> Drop for BackgroundDrop<T> {
    fn drop(&mut self) {
        if let Some(inner) = self.take()
            && let Ok(runtime) = Handle::try_current()
        {
            drop(runtime.spawn_blocking(move || drop(inner)));
        }
    }
}

/// How often it is told that a download goes on.
const TOLD: Duration = Duration::from_secs(15);

/// The longest that a download may take. One that is so slow will not come to an end.
const LONGEST: Duration = Duration::from_secs(10 * 60);

#[cfg(test)]
mod tests;
