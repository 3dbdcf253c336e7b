//! Templates in a tool's command: one word in, one word out, whatever the values hold.

use jig_proto::Context;
use jig_proto::vfs::ToolInput;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

/// Fills a word in. Text comes out as it is, lists and tables as compact JSON, what is missing as
/// `null`. A value never becomes more than this one word.
pub(crate) fn render(
    word: &str,
    input: &ToolInput,
    context: &Context,
) -> Result<String, TemplateError> {
    if !word.contains("{{") && !word.contains("{%") {
        return Ok(word.to_owned());
    }
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_formatter(|out, _, value| {
        let text = match value.kind() {
            ValueKind::Undefined | ValueKind::None => "null".to_owned(),
            ValueKind::Map | ValueKind::Seq => serde_json::to_string(value).unwrap_or_default(),
            _ => value.to_string(),
        };
        out.write_str(&text).map_err(Into::into)
    });
    environment.set_fuel(Some(MAX_STEPS));
    let values = context! {
        tool => context! {
            name => input.name,
            arguments => Value::from_serialize(&input.arguments),
            answers => Value::from_serialize(&input.answers),
            options => Value::from_serialize(&input.options),
        },
        context => Value::from_serialize(context),
    };
    environment
        .render_str(word, values)
        .map_err(|error| TemplateError {
            word: word.to_owned(),
            reason: error.to_string(),
        })
}

/// A word of a command that is no template, or whose template fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`: {reason}")]
pub struct TemplateError {
    /// The word.
    pub word: String,
    /// What is wrong with it.
    pub reason: String,
}

/// How much a template may do. One that loops would otherwise hold the host.
const MAX_STEPS: u64 = 100_000;

#[cfg(test)]
mod tests {
    use jig_proto::Action;
    use serde_json::json;

    use super::*;

    fn check(word: &str, expected: &str) {
        let serde_json::Value::Object(arguments) =
            json!({ "path": "a b; rm -rf /", "n": 3, "list": [1, "x"], "flag": true })
        else {
            panic!("an object");
        };
        let input = ToolInput {
            name: "t".to_owned(),
            arguments,
            ..ToolInput::default()
        };
        let context = Context::new("/ws", Action::Run);
        assert_eq!(render(word, &input, &context).unwrap(), expected, "{word}");
    }

    /// J-002, J-005, J-006.
    #[test]
    fn words_are_filled_in() {
        check("plain", "plain");
        check("{{tool.name}}", "t");
        check("{{tool.arguments.path}}", "a b; rm -rf /");
        check("--n={{tool.arguments.n}}", "--n=3");
        check("{{tool.arguments.list}}", "[1,\"x\"]");
        check("{{tool.arguments.missing}}", "null");
        check("{{tool.arguments.missing|default('')}}", "");
        check("{{tool.arguments.path|tojson}}", "\"a b; rm -rf /\"");
        check("{{context.root}}", "/ws");
        check("{{context.action}}", "run");
    }

    #[test]
    fn a_broken_template_names_its_word() {
        let input = ToolInput::default();
        let context = Context::new("/ws", Action::Run);
        let error = render("{{ nonsense", &input, &context).unwrap_err();
        assert_eq!(error.word, "{{ nonsense");
        assert!(
            render(
                "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}",
                &input,
                &context
            )
            .is_err()
        );
    }
}
