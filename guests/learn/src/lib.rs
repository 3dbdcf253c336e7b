//! A component.

wit_bindgen::generate!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

use jp::tool::types::ErrorInfo;

struct Tool;

impl Guest for Tool {
    fn run(_ctx: Context, _name: String, arguments: String, _answers: String) -> Outcome {
        let arguments: serde_json::Value = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        let path = arguments["path"].as_str().unwrap_or_default();
        match std::fs::read_to_string(format!("/workspace/{path}")) {
            Ok(content) => Outcome::Success(content),
            Err(error) => failed(format!("Failed to read file: {error}")),
        }
    }
}

fn failed(message: String) -> Outcome {
    Outcome::Error(ErrorInfo {
        message,
        trace: Vec::new(),
        transient: false,
    })
}

export!(Tool);
