//! `summarize` returns the sentences of a text that have the most of its frequent words.
//!
//! A plain tool of the contract: files by `std::fs`, and a question by returning it.

wit_bindgen::generate!({
    path: "wit",
    world: "jp:tool/tool",
});

use std::collections::HashMap;

use jp::tool::types::{Action, ErrorInfo, Question};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Arguments {
    path: String,
    sentences: usize,
    style: String,
}

struct Summarize;

impl Guest for Summarize {
    fn run(context: Context, _name: String, arguments: String, answers: String) -> Outcome {
        let arguments: Arguments = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        if context.action == Action::FormatArguments {
            let Arguments { path, sentences, .. } = &arguments;
            return Outcome::Success(format!("{sentences} sentences of {path}"));
        }
        let path = &arguments.path;
        let text = match std::fs::read_to_string(format!("{}/{path}", context.root)) {
            Ok(text) => text,
            Err(error) => return failed(format!("Failed to read `{path}`: {error}")),
        };
        let chosen = summary(&text, arguments.sentences);
        if chosen.len() < arguments.sentences && !is_agreed(&answers) {
            let count = chosen.len();
            return Outcome::NeedsInput(Question {
                id: "short".to_owned(),
                text: format!("`{path}` has only {count} sentences. Show all of them?"),
                answer_type: "boolean".to_owned(),
                default: Some("true".to_owned()),
            });
        }
        Outcome::Success(match arguments.style.as_str() {
            "bullets" => chosen.iter().map(|one| format!("- {one}\n")).collect(),
            _ => chosen.join(" "),
        })
    }
}

/// Whether somebody has said yes. A tool is run again with the answer to what it asked.
fn is_agreed(answers: &str) -> bool {
    let answers: Map<String, Value> = serde_json::from_str(answers).unwrap_or_default();
    answers.get("short") == Some(&Value::Bool(true))
}

/// At most `count` sentences, in the order of the text.
fn summary(text: &str, count: usize) -> Vec<String> {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let sentences: Vec<&str> = text.split_inclusive(['.', '!', '?']).map(str::trim).collect();
    let mut frequency: HashMap<String, usize> = HashMap::new();
    for word in words(&text) {
        *frequency.entry(word).or_default() += 1;
    }
    let weight = |sentence: &str| -> usize {
        let count = words(sentence).count().max(1);
        let sum: usize = words(sentence).map(|word| frequency[&word]).sum();
        sum * 1000 / count
    };
    let mut ranked: Vec<usize> = (0..sentences.len()).collect();
    ranked.sort_by_key(|index| std::cmp::Reverse(weight(sentences[*index])));
    ranked.truncate(count);
    ranked.sort_unstable();
    ranked.iter().map(|index| sentences[*index].to_owned()).collect()
}

/// Words that say something: short ones rarely do.
fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 3)
        .map(str::to_lowercase)
}

fn failed(message: String) -> Outcome {
    Outcome::Error(ErrorInfo {
        message,
        trace: Vec::new(),
        transient: false,
    })
}

export!(Summarize);
