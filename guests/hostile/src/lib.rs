//! Tries to get out of its box, or to do harm: one action for each attack, named by the argument `action`.
//!
//! An action answers with what it has got. It is the host's tests that say what it should have got.

mod contract;
mod fs;
mod io;
mod limits;
mod net;

wit_bindgen::generate!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

use jp::tool::types::ErrorInfo;
use serde_json::Value;

struct Hostile;

impl Guest for Hostile {
    fn run(context: Context, name: String, arguments: String, answers: String) -> Outcome {
        let given: Value = match serde_json::from_str(&arguments) {
            Ok(given) => given,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        let Some(action) = given["action"].as_str() else {
            return failed("Invalid arguments: `action` is missing".to_owned());
        };
        let call = contract::Call {
            context: &context,
            name: &name,
            answers: &answers,
        };
        if let Some(outcome) = contract::run(action, &given, &call) {
            return outcome;
        }
        let result = limits::run(action, &given)
            .or_else(|| fs::run(action, &given))
            .or_else(|| io::run(action, &given))
            .or_else(|| net::run(action, &given));
        match result {
            Some(Ok(content)) => Outcome::Success(content),
            Some(Err(message)) => failed(message),
            None => failed(format!("there is no action `{action}`")),
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

export!(Hostile);
