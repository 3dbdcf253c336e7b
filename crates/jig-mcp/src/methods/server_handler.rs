//! [`McpConnection`]: what the protocol asks of a server, each method handed to the module that knows it.

use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorCode, ErrorData, Extensions,
    GetPromptRequestParams, GetPromptResponse, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool,
    UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};

use crate::caller::Caller;
use crate::calls::{results, tools_call};
use crate::methods::notifications::{self, ClientNotifier};
use crate::methods::{completion, prompts, resources};
use crate::shared::SharedServer;

/// One connection of a client, or, over HTTP, one session or request of one.
#[derive(Clone)]
pub(crate) struct McpConnection {
    pub(crate) shared: Arc<SharedServer>,
    who: ConnectionCaller,
    /// What a client that stays connected is told without asking.
    news: ClientNotifier,
}

/// Whose requests come over a connection.
#[derive(Clone)]
pub(crate) enum ConnectionCaller {
    /// All are those of one caller: the connection is the caller.
    One(Arc<Caller>),
    /// Each request says by its token whose it is. The transport has checked that and left the
    /// [`Arc<Caller>`](Caller) in the extensions of the request's [`http::request::Parts`].
    Bearer,
}

impl McpConnection {
    /// A new connection.
    pub(crate) fn new(shared: Arc<SharedServer>, who: ConnectionCaller) -> Self {
        Self {
            shared,
            who,
            news: ClientNotifier::default(),
        }
    }

    /// Whose request it is.
    pub(crate) fn caller(&self, extensions: &Extensions) -> Result<Arc<Caller>, ErrorData> {
        let caller = match &self.who {
            ConnectionCaller::One(caller) => Some(caller),
            ConnectionCaller::Bearer => extensions
                .get::<http::request::Parts>()
                .and_then(|parts| parts.extensions.get::<Arc<Caller>>()),
        };
        let caller = caller.map(Arc::clone);
        caller.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
    }

    /// Answers a request by work that may take a while, on a thread where it may.
    async fn answer<T: Send + 'static>(
        &self,
        context: &RequestContext<RoleServer>,
        work: impl FnOnce(&SharedServer, &Caller) -> Result<T, ErrorData> + Send + 'static,
    ) -> Result<T, ErrorData> {
        let caller = self.caller(&context.extensions)?;
        let shared = Arc::clone(&self.shared);
        // It is never closed.
        let _room = self.shared.answering.acquire().await;
        let done = tokio::task::spawn_blocking(move || work(&shared, &caller));
        done.await
            .unwrap_or_else(|_| Err(ErrorData::internal_error("jig itself failed", None)))
    }
}

impl ServerHandler for McpConnection {
    fn get_info(&self) -> ServerConfig {
        server_config().with_instructions(INSTRUCTIONS)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let version = context.protocol_version();
        let response = tools_call::call_tool(self, request, context).await?;
        Ok(results::for_version(response, version.as_ref()))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let all = Arc::clone(&self.shared);
        let work = move |_: &SharedServer, _: &Caller| {
            let cursor = request.and_then(|request| request.cursor);
            // Servers that have not told their tools yet are asked first.
            all.listed().catalogue().list(cursor.as_deref())
        };
        self.answer(&context, work).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let served = self.shared.current();
        // Whoever has not seen the list can know no header that a tool wants.
        let known = served
            .is_catalogued()
            .then(|| served.catalogue().tool(name));
        known.flatten().cloned()
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let work = move |shared: &SharedServer, caller: &Caller| {
            let cursor = request.and_then(|request| request.cursor);
            resources::list(shared, caller, cursor.as_deref())
        };
        self.answer(&context, work).await
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resources::templates(&self.shared))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let work = move |shared: &SharedServer, caller: &Caller| {
            resources::read(shared, caller, &request.uri)
        };
        self.answer(&context, work).await.map(Into::into)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let work = move |shared: &SharedServer, _: &Caller| {
            let cursor = request.and_then(|request| request.cursor);
            prompts::list(shared, cursor.as_deref())
        };
        self.answer(&context, work).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let work =
            move |shared: &SharedServer, caller: &Caller| prompts::get(shared, caller, request);
        self.answer(&context, work).await.map(Into::into)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let work = move |shared: &SharedServer, caller: &Caller| {
            completion::complete(shared, caller, request)
        };
        self.answer(&context, work).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.news.subscribe(&self.shared, &request.uri)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.news.unsubscribe(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(notifications::accepted(&self.shared, requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let caller = self.caller(&context.request_context().extensions)?;
        notifications::listen(&self.shared, &caller, context).await
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        if let Ok(caller) = self.caller(&context.extensions) {
            self.news.begin(&self.shared, &caller, context.peer);
        }
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        let method = jig_proto::visible_words(crate::text_prefix::cut(&method, LONGEST_METHOD));
        let newest = ProtocolVersion::V_2026_07_28;
        let version = context.protocol_version();
        let is_newest = version.is_some_and(|version| version.as_str() >= newest.as_str());
        let is_removed = is_newest && REMOVED.contains(&&*method);
        // One that is known comes here when its parameters cannot be read.
        match KNOWN.contains(&&*method) && !is_removed {
            true => {
                let told = format!("the parameters of `{method}` are not those that it has");
                Err(ErrorData::invalid_params(told, None))
            }
            false => Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None)),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let caller = self.caller(&context.extensions)?;
        caller.tasks.get(&request.task_id)
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context.extensions)?;
        let UpdateTaskParams {
            task_id,
            input_responses,
            ..
        } = request;
        caller.tasks.update(&self.shared, &task_id, input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let caller = self.caller(&context.extensions)?;
        caller.tasks.cancel(&request.task_id)
    }
}

/// What jig is as a server, whatever it serves.
pub(crate) fn server_config() -> ServerConfig {
    let mut capabilities = ServerCapabilities::builder()
        .enable_tools()
        .enable_tool_list_changed()
        .enable_resources()
        .enable_resources_list_changed()
        .enable_resources_subscribe()
        .enable_prompts()
        .enable_prompts_list_changed()
        .enable_completions()
        .build();
    let tasks = rmcp::model::TASKS_EXTENSION_ID.to_owned();
    let extensions = capabilities.extensions.get_or_insert_default();
    extensions.insert(tasks, Default::default());
    let jig = Implementation::new("jig", env!("CARGO_PKG_VERSION"))
        .with_title("jig")
        .with_description("Runs the tools of a workspace under its declared policy");
    ServerConfig::new(capabilities).with_server_info(jig)
}

/// The methods that have parameters.
const KNOWN: [&str; 14] = [
    "tools/call",
    "tools/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "prompts/get",
    "prompts/list",
    "completion/complete",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
    "initialize",
];

/// Those of them that no protocol from 2026-07-28 on has.
const REMOVED: [&str; 3] = ["initialize", "resources/subscribe", "resources/unsubscribe"];

/// How much of the name of a method is repeated, in bytes.
const LONGEST_METHOD: usize = 200;

/// What an agent is told about this server.
const INSTRUCTIONS: &str = "\
These tools run in a sandbox, each under the policy that the workspace declares for it. Some calls wait until a \
person has agreed.

A result that says that something was denied is final for the same call: do not repeat it, and do not try to \
reach the same by another tool. It names what was denied, the rule that decided, and the smallest rule that would \
allow it; tell the user, who can add that rule to `jig.toml`. If it names a command like `jig approve q_1`, the \
user can allow it with that; then make the same call once more.

What a tool may do is in the resource `jig://tool/NAME/policy`. Large results come as links to resources, to be \
read in parts.";
