//! The smallest tool there is: `path` is a file of the workspace, and its content is the answer.

wit_bindgen::generate!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

use jp::tool::types::ErrorInfo;
use serde::Deserialize;

#[derive(Deserialize)]
struct Arguments {
    path: String,
}

struct Test;

impl Guest for Test {
    fn run(_context: Context, _name: String, arguments: String, _answers: String) -> Outcome {
        let arguments: Arguments = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        match std::fs::read_to_string(format!("/workspace/{}", arguments.path)) {
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

export!(Test);
