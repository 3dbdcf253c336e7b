//! [`serve_stdio`]: one client, on standard input and output.
//!
//! The connection is the caller: its turn begins and ends with it. [`streams`] finds the cheapest way to read
//! and write what the client has given us, [`lines`] makes messages of it. Nothing else may write to standard
//! output: one stray line, and the client loses the connection.

mod lines;
mod rootless;
mod streams;

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::service::{ServerInitializeError, Service, serve_server_with_ct};
use tokio_util::sync::CancellationToken;

use self::lines::StdioLines;
use self::rootless::RootlessConnection;
pub use self::rootless::{OpenWorkspace, OpenedWorkspace};
use crate::configuration::{reload, server_acceptance};
use crate::methods::server_handler::{ConnectionCaller, McpConnection};
use crate::shared::SharedServer;
use crate::transports::ending::{ServeError, ServerStop, end_all_turns};

/// Serves one client on standard input and output until it closes them or `stop` says so. When this returns,
/// the client's turn has ended: no tool of it runs any more.
///
/// # Errors
///
/// If serving cannot begin, or the client does something that leaves no way to go on.
pub fn serve_stdio(shared: &Arc<SharedServer>, stop: &ServerStop) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let _reloading = reload::watch(shared).map_err(ServeError::Start)?;
    server_acceptance::begin(shared, runtime.handle());
    let visit = shared.callers.enter(NAME, [0; 32], || shared.loader.turn());
    let caller = Arc::clone(visit.caller());
    let connection = McpConnection::new(
        Arc::clone(shared),
        ConnectionCaller::One(Arc::clone(&caller)),
    );
    let served = runtime.block_on(async {
        let served = serve(connection, || caller.in_flight.cancel_all(), stop).await;
        end(Arc::clone(shared), stop.clone()).await;
        served
    });
    // A read of standard input that blocks a thread cannot be ended.
    runtime.shutdown_background();
    served
}

/// As [`serve_stdio`], where no workspace is known, for `reason`: the client is asked for its roots, and `open` opens what
/// they name. Without roots the client has no tools, and is told the reason.
///
/// # Errors
///
/// As for [`serve_stdio`].
pub fn serve_stdio_at_roots(
    reason: String,
    open: OpenWorkspace,
    stop: &ServerStop,
) -> Result<(), ServeError> {
    let runtime = runtime()?;
    let connection = RootlessConnection::new(reason, open, runtime.handle().clone());
    let served = runtime.block_on(async {
        let served = serve(connection.clone(), || connection.cancel_all(), stop).await;
        if let Some(shared) = connection.shared() {
            end(Arc::clone(shared), stop.clone()).await;
        }
        served
    });
    runtime.shutdown_background();
    served
}

/// One thread: there is one client. A call that has to wait has another one take its place.
fn runtime() -> Result<tokio::runtime::Runtime, ServeError> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(ServeError::Start)
}

/// Ends all turns. Elsewhere: calls of servers that are given up need this thread to come to their end.
async fn end(shared: Arc<SharedServer>, stop: ServerStop) {
    let _ = tokio::task::spawn_blocking(move || end_all_turns(&shared, &stop)).await;
}

async fn serve(
    connection: impl Service<RoleServer>,
    cancel_all: impl Fn(),
    stop: &ServerStop,
) -> Result<(), ServeError> {
    let stopping = stop.stopping();
    let closed = CancellationToken::new();
    let (reader, writer) = streams::open();
    let transport = StdioLines::new(reader, writer, closed.clone());
    // A client that has gone answers no question, and reads no result of a long call.
    let abandoned = async {
        closed.cancelled().await;
        tokio::time::sleep(LAST_RESULTS).await;
        cancel_all();
        // Whoever does not read what is left by then does not want to.
        tokio::time::sleep(UNREAD).await;
    };
    let service = async {
        let running = serve_server_with_ct(connection, transport, stopping.token.clone()).await?;
        // How it ended is seen at the streams.
        let _ = running.waiting().await;
        Ok(())
    };
    tokio::select! {
        served = service => match served {
            Ok(())
            | Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => Ok(()),
            // Without the name of a type of ours, which tells nobody anything.
            Err(ServerInitializeError::TransportError { error, .. }) => {
                Err(ServeError::Connection(error.error.to_string()))
            }
            Err(error) => Err(ServeError::Connection(error.to_string())),
        },
        () = abandoned => Ok(()),
        () = stopping.token.cancelled() => Ok(()),
    }
}

/// What the one client is called on the board.
const NAME: &str = "stdio";

/// How long the calls of a client that has closed its side may go on: long enough for the results of a script
/// that sends its requests and closes, too short for anybody to notice that jig still runs.
const LAST_RESULTS: Duration = Duration::from_secs(1);

/// How long it is tried to write the last answers to a client that has closed its side.
const UNREAD: Duration = Duration::from_secs(10);
