//! The same session with a whole client, which answers questions by itself, in both eras.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::model::{
    CallToolRequestParams, ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult,
    ElicitationAction, ErrorData, Implementation, ProtocolVersion,
};
use rmcp::service::RequestContext;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _, RoleClient, serve_server};
use serde_json::{Value, json};

use crate::methods::server_handler::{ConnectionCaller, McpConnection};
use crate::testing::{caller, server};

/// A client whose person agrees to everything, once.
#[derive(Clone, Default)]
struct Agreeing {
    asked: Arc<AtomicUsize>,
}

impl ClientHandler for Agreeing {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(Default::default());
        ClientConfig::new(capabilities, Implementation::new("test", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        let shown = serde_json::to_value(request).unwrap();
        assert_eq!(shown["requestedSchema"]["required"], json!(["decision"]));
        let content = json!({ "decision": "allow once" });
        Ok(ElicitResult::new(ElicitationAction::Accept).with_content(content))
    }
}

fn call(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    let arguments = arguments.as_object().unwrap().clone();
    CallToolRequestParams::new(tool).with_arguments(arguments)
}

#[tokio::test]
async fn a_client_lists_calls_and_agrees() {
    let eras = [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
        },
    ];
    for era in eras {
        let (shared, caller) = (server(&[], &[("old", "text")]), caller());
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let connection = McpConnection::new(Arc::clone(&shared), ConnectionCaller::One(caller));
        let serving = tokio::spawn(async move {
            let running = serve_server(connection, theirs).await.unwrap();
            let _ = running.waiting().await;
        });
        let person = Agreeing::default();
        let client = person
            .clone()
            .serve_with_lifecycle(ours, era)
            .await
            .unwrap();
        let info = client.peer_info().unwrap();
        assert!(info.capabilities.supports_tasks());
        assert!(info.instructions.as_ref().unwrap().contains("jig approve"));
        let tools = client.list_all_tools().await.unwrap();
        assert!(tools.iter().any(|tool| tool.name == "fs_read_file"));

        let read = call("fs_read_file", json!({ "path": "old" }));
        let result = client.call_tool(read).await.unwrap();
        assert_ne!(result.is_error, Some(true), "{result:?}");
        assert_eq!(person.asked.load(Ordering::Relaxed), 0);

        let write = call("fs_create_file", json!({ "path": "new", "content": "x" }));
        let result = client.call_tool(write).await.unwrap();
        assert_ne!(result.is_error, Some(true), "{result:?}");
        assert_eq!(person.asked.load(Ordering::Relaxed), 1);
        client.cancel().await.unwrap();
        serving.await.unwrap();
    }
}
