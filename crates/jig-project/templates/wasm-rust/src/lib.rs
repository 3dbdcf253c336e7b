//! `my_tool` counts the lines, words and bytes of a text file.
//!
//! Files are read with `std::fs`, as anywhere. jig's rules decide about each of them: what they do not allow
//! fails here with "permission denied".

wit_bindgen::generate!({
    path: "wit",
    world: "component",
    generate_all,
});

use exports::jig::tool::describe::{self, Description};
use jp::tool::types::{Action, ErrorInfo};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Arguments {
    /// Relative to the workspace.
    path: String,
}

struct Component;

impl Guest for Component {
    fn run(context: Context, _name: String, arguments: String, _answers: String) -> Outcome {
        let arguments: Arguments = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        match context.action {
            Action::Run => run(&context.root, &arguments),
            // What a person reads before the tool runs.
            Action::FormatArguments => Outcome::Success(format!("count {}", arguments.path)),
        }
    }
}

fn run(root: &str, arguments: &Arguments) -> Outcome {
    let path = &arguments.path;
    match std::fs::read_to_string(format!("{root}/{path}")) {
        Ok(text) => Outcome::Success(format!("{path}: {}", counted(&text))),
        Err(error) => failed(format!("Failed to read `{path}`: {error}")),
    }
}

fn counted(text: &str) -> String {
    let (lines, words) = (text.lines().count(), text.split_whitespace().count());
    format!("{lines} lines, {words} words, {} bytes", text.len())
}

fn failed(message: String) -> Outcome {
    Outcome::Error(ErrorInfo {
        message,
        trace: Vec::new(),
        transient: false,
    })
}

/// What jig tells a model about the tool. It is asked for once, without access to anything.
impl describe::Guest for Component {
    fn describe() -> Vec<Description> {
        let parameters = json!({
            "type": "object",
            "properties": {
                "path": {
                    "type": "string",
                    "description": "The file, relative to the workspace.",
                },
            },
            "required": ["path"],
        });
        vec![Description {
            name: "my_tool".to_owned(),
            description: "Counts the lines, words and bytes of a text file.".to_owned(),
            parameters: parameters.to_string(),
        }]
    }
}

export!(Component);

#[cfg(test)]
mod tests {
    #[test]
    fn counts() {
        assert_eq!(super::counted("one two\nthree\n"), "2 lines, 3 words, 14 bytes");
        assert_eq!(super::counted(""), "0 lines, 0 words, 0 bytes");
    }
}
