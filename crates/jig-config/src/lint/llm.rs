//! Settings of the LLM that nothing comes of.

use jig_proto::hint;

use crate::model::{Config, LlmConfig};
use crate::problem::Problem;
use crate::quoting::{closest, dotted, quote};

pub(super) fn lint(config: &Config, warnings: &mut Vec<Problem>) {
    if let Some(llm) = &config.llm {
        unused_models(llm, warnings);
    }
}

/// Only two models are ever asked, so that what is said about others is probably about one of these.
fn unused_models(llm: &LlmConfig, warnings: &mut Vec<Problem>) {
    let used = [llm.model.as_str(), llm.internal_model.as_str()];
    let Some(table) = llm.values.get("models").and_then(|node| node.table()) else {
        return;
    };
    for (name, entry) in table {
        if used.contains(&name.as_str()) {
            continue;
        }
        let help = match closest(name, used) {
            Some(meant) => hint!("did you mean {}? if not, remove it", quote(meant)),
            None => hint!(
                "remove it; the models are {} and {}",
                quote(used[0]),
                quote(used[1])
            ),
        };
        let steps = ["llm", "models", name].map(str::to_owned);
        warnings.push(
            Problem::warning(format!("the model {} is never asked", quote(name)), help)
                .at(&entry.key, "")
                .key(dotted(&steps)),
        );
    }
}
