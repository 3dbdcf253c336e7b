//! [`RootlessConnection`]: a client that started jig where there is no project.
//!
//! Many clients start their servers in a home folder or in `/`, and name the folder that they work on by the roots of the
//! protocol. So jig asks for the roots before it serves anything. Until then, and if there are none, it has no tools.

#![expect(
    deprecated,
    reason = "roots are deprecated in the newest protocol, and all that clients have which start servers anywhere"
)]

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientNotification, ClientRequest, ErrorData,
    ServerConfig, ServerResult,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, Service};
use rmcp::{RoleServer, ServerHandler};
use tokio::runtime::Handle;
use tokio::sync::watch;

use super::NAME;
use crate::caller::CallerPresence;
use crate::configuration::{reload, server_acceptance};
use crate::methods::server_handler::{ConnectionCaller, McpConnection, server_config};
use crate::shared::SharedServer;

/// What is served once a client has named its folder.
pub struct OpenedWorkspace {
    /// The workspace.
    pub shared: Arc<SharedServer>,
    /// What has to live as long as it is served.
    pub kept: Box<dyn Any + Send>,
}

/// Opens the workspace that a client's roots name, as URIs in its order. An error says why there is none, and what to do.
pub type OpenWorkspace = Box<dyn Fn(&[String]) -> Result<OpenedWorkspace, String> + Send + Sync>;

/// One connection of a client whose workspace is not known yet.
#[derive(Clone)]
pub(super) struct RootlessConnection(Arc<RootlessState>);

struct RootlessState {
    open: OpenWorkspace,
    served: OnceLock<ServedWorkspace>,
    /// Why nothing is served.
    reason: Mutex<String>,
    /// Whether the client is being asked, so that its requests wait.
    is_asking: watch::Sender<bool>,
    runtime: Handle,
}

struct ServedWorkspace {
    shared: Arc<SharedServer>,
    connection: McpConnection,
    presence: CallerPresence,
    _kept: Mutex<Box<dyn Any + Send>>,
    _reloading: Mutex<reload::Reloading>,
}

impl RootlessConnection {
    /// Waits for a client. `reason` says why no workspace is known without it.
    pub(super) fn new(reason: String, open: OpenWorkspace, runtime: Handle) -> Self {
        Self(Arc::new(RootlessState {
            open,
            served: OnceLock::new(),
            reason: Mutex::new(reason),
            is_asking: watch::Sender::new(false),
            runtime,
        }))
    }

    /// What is served by now.
    pub(super) fn shared(&self) -> Option<&Arc<SharedServer>> {
        self.0.served.get().map(|served| &served.shared)
    }

    /// Gives up the calls of the client, if it could make any.
    pub(super) fn cancel_all(&self) {
        if let Some(served) = self.0.served.get() {
            served.presence.caller().in_flight.cancel_all();
        }
    }

    /// Asks the client for its roots, and opens what they name.
    async fn ask(&self, peer: &Peer<RoleServer>) {
        let state = &self.0;
        if declares_roots(peer) && state.served.get().is_none() {
            let asked = tokio::time::timeout(LONGEST_ANSWER, peer.list_roots()).await;
            let roots = match asked {
                Ok(Ok(listed)) => listed.roots.into_iter().map(|root| root.uri).collect(),
                // It is as good as naming none.
                Ok(Err(_)) | Err(_) => Vec::new(),
            };
            let (opening, runtime) = (self.clone(), state.runtime.clone());
            let opened = runtime.spawn_blocking(move || opening.open(&roots)).await;
            match opened {
                Ok(Ok(())) => {}
                Ok(Err(reason)) => *state.reason() = reason,
                Err(_) => *state.reason() = "jig itself failed".to_owned(),
            }
        }
        state.is_asking.send_replace(false);
    }

    fn open(&self, roots: &[String]) -> Result<(), String> {
        let state = &self.0;
        let OpenedWorkspace { shared, kept } = (state.open)(roots)?;
        let reloading = reload::watch(&shared).map_err(|error| error.to_string())?;
        server_acceptance::begin(&shared, &state.runtime);
        let presence = shared.callers.enter(NAME, [0; 32], || shared.loader.turn());
        let caller = ConnectionCaller::One(Arc::clone(presence.caller()));
        let _ = state.served.set(ServedWorkspace {
            connection: McpConnection::new(Arc::clone(&shared), caller),
            shared,
            presence,
            _kept: Mutex::new(kept),
            _reloading: Mutex::new(reloading),
        });
        Ok(())
    }
}

impl RootlessState {
    fn reason(&self) -> MutexGuard<'_, String> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service<RoleServer> for RootlessConnection {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        let state = &self.0;
        match &request {
            ClientRequest::InitializeRequest(request) => {
                // What it asks for from now on is answered from the folder that it names.
                let has_roots = request.params.capabilities.roots.is_some();
                state.is_asking.send_replace(has_roots);
            }
            _ => {
                let mut asking = state.is_asking.subscribe();
                let _ = asking.wait_for(|is_asking| !is_asking).await;
            }
        }
        match state.served.get() {
            Some(served) => Service::handle_request(&served.connection, request, context).await,
            None => {
                let reason = state.reason().clone();
                Service::handle_request(&NoWorkspace { reason }, request, context).await
            }
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let (state, peer) = (&self.0, context.peer.clone());
        let was_served = state.served.get().is_some();
        match &notification {
            ClientNotification::InitializedNotification(_) => self.ask(&peer).await,
            ClientNotification::RootsListChangedNotification(_) if !was_served => {
                self.ask(&peer).await;
                if let Some(served) = state.served.get() {
                    served.connection.on_initialized(context).await;
                    // A client that is gone needs no news.
                    let _ = peer.notify_tool_list_changed().await;
                }
                return Ok(());
            }
            _ => {}
        }
        match state.served.get() {
            Some(served) => {
                Service::handle_notification(&served.connection, notification, context).await
            }
            None => Ok(()),
        }
    }

    fn get_info(&self) -> ServerConfig {
        let reason = self.0.reason().clone();
        ServerHandler::get_info(&NoWorkspace { reason })
    }
}

/// Whether a client can be asked for its roots.
fn declares_roots(peer: &Peer<RoleServer>) -> bool {
    peer.peer_info()
        .is_some_and(|client| client.capabilities.roots.is_some())
}

/// What a client sees as long as no workspace is known: no tools, and the reason.
struct NoWorkspace {
    reason: String,
}

impl ServerHandler for NoWorkspace {
    fn get_info(&self) -> ServerConfig {
        server_config().with_instructions(format!(
            "jig runs the tools of a project under the policy that the project declares. It was started where there is no \
             project: {}. If this client names a folder by its roots, the tools of that folder are here; otherwise tell \
             the user.",
            self.reason
        ))
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let reason = format!("jig serves no workspace: {}", self.reason);
        Err(ErrorData::invalid_params(reason, None))
    }
}

/// How long a client may take to name its roots: its requests wait for that.
const LONGEST_ANSWER: Duration = Duration::from_secs(10);
