//! The tool `learn`: lists the subjects of a topic, or returns their text.
//!
//! The host finds the topic, mounts its directory read-only at `/subjects`, and says in `_topic` what is
//! known of it. A subject is a file below that directory; its name is its path there without the extension.

mod arguments;
mod listing;
mod load;
mod near;
mod pattern;
mod subject;
mod survey;
mod text;
mod walk;

wit_bindgen::generate!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

use arguments::Arguments;
use jp::tool::types::{Action, ErrorInfo};

struct Learn;

impl Guest for Learn {
    fn run(context: Context, _name: String, arguments: String, _answers: String) -> Outcome {
        let arguments: Arguments = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        let answer = match context.action {
            Action::FormatArguments => Ok(arguments.shown()),
            Action::Run if arguments.topic_info.survey => survey::survey(&arguments),
            Action::Run if arguments.subjects.is_empty() => listing::list(&arguments),
            Action::Run => load::load(&arguments),
        };
        match answer {
            Ok(text) => Outcome::Success(text),
            Err(message) => failed(message),
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

export!(Learn);
