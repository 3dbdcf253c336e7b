//! What all tools share.

use super::{WideningSearch, listed};
use crate::model::{AskWay, Config, LlmConfig, McpConfig, NetworkSettings, Topic};
use crate::quoting::quote_whole as quote;

pub(super) fn compare(old: &Config, new: &Config, changes: &mut WideningSearch) {
    let Config {
        tools: _,
        // Which files exist says nothing; what they say does.
        files: _,
        folders: _,
        own_folders: _,
        state,
        network,
        llm,
        topics,
        mcp,
        workspace,
        network_values,
        log,
        log_values,
        // Each is compared by itself.
        servers: _,
        shared_rules: _,
        // What they come to is compared.
        content: _,
        held_back: _,
    } = new;
    if *workspace != old.workspace {
        changes.add("the workspace is another one", None);
    }
    if *state != old.state {
        changes.add("jig keeps its state in another place", None);
    }
    let NetworkSettings { resolver } = network;
    if *resolver != old.network.resolver {
        let resolver = resolver.map_or("the system".to_owned(), |server| format!("`{server}`"));
        let at = network_values.as_ref();
        let at = at.and_then(|node| node.get("resolver"));
        changes.add(
            format!("the names of hosts are now looked up by {resolver}"),
            at.map(|node| &node.origin),
        );
    }
    if old.log.required && !log.required {
        let at = log_values.as_ref().and_then(|node| node.get("required"));
        changes.add(
            "tools now run also where the log cannot be written",
            at.map(|node| &node.origin),
        );
    }
    llm_of(old.llm.as_ref(), llm.as_ref(), changes);
    for topic in topics.values() {
        topic_of(old.topics.get(&topic.id), topic, changes);
    }
    mcp_of(&old.mcp, mcp, changes);
}

fn llm_of(old: Option<&LlmConfig>, new: Option<&LlmConfig>, changes: &mut WideningSearch) {
    let Some(new) = new else {
        return;
    };
    let Some(old) = old else {
        let what = format!("the model {} can now be asked", quote(&new.model));
        changes.add(what, Some(new.declared_at()));
        return;
    };
    let LlmConfig {
        base_url,
        key,
        model,
        internal_model,
        max_tokens,
        token_field,
        weights,
        model_weights,
        quota,
        timeout,
        idle_timeout,
        retries,
        values: _,
    } = new;
    // A quota of 0 is none, and so is one that nobody wrote.
    let limit = |quota: Option<f64>| quota.filter(|quota| *quota != 0.0).unwrap_or(f64::MAX);
    let changed = [
        ("base_url", *base_url != old.base_url),
        ("key_env", *key != old.key),
        ("model", *model != old.model),
        ("internal_model", *internal_model != old.internal_model),
        ("max_tokens", *max_tokens > old.max_tokens),
        ("token_field", *token_field != old.token_field),
        ("weights", *weights != old.weights),
        ("models", *model_weights != old.model_weights),
        ("quota", limit(*quota) > limit(old.quota)),
        ("timeout", *timeout > old.timeout),
        ("idle_timeout", *idle_timeout > old.idle_timeout),
        ("retries", *retries > old.retries),
    ];
    for (name, _) in changed.into_iter().filter(|(_, changed)| *changed) {
        // What it says is not repeated: where a key is sent, and which, may be nobody's business.
        let what = format!("`llm.{name}` is another one, or allows more");
        changes.add(what, new.origin(name).or(Some(new.declared_at())));
    }
}

fn topic_of(old: Option<&Topic>, new: &Topic, changes: &mut WideningSearch) {
    let Topic {
        id,
        enable,
        title: _,
        introduction: _,
        description: _,
        subjects,
        learned,
        disabled,
        values: _,
    } = new;
    if !enable {
        return;
    }
    let name = quote(id);
    let Some(old) = old.filter(|old| old.enable) else {
        let what = format!(
            "the topic {name} can now be learned, with all of {}",
            quote(&subjects.to_string())
        );
        changes.add(what, Some(new.declared_at()));
        return;
    };
    if *subjects != old.subjects {
        let what = format!(
            "the topic {name} is now read from {}",
            quote(&subjects.to_string())
        );
        changes.add(what, new.origin("subjects"));
    }
    let more: Vec<&str> = missing(learned, &old.learned);
    if !more.is_empty() {
        let what = format!(
            "of the topic {name}, every prompt now holds {}",
            listed(more)
        );
        changes.add(what, new.origin("learned"));
    }
    let shown: Vec<&str> = missing(&old.disabled, disabled);
    if !shown.is_empty() {
        let what = format!("of the topic {name}, {} can now be learned", listed(shown));
        let at = new.origin("disabled").or(Some(new.declared_at()));
        changes.add(what, at);
    }
}

/// Those of `names` that are not in `others`.
fn missing<'a>(names: &'a [String], others: &[String]) -> Vec<&'a str> {
    let missing = names.iter().filter(|name| !others.contains(name));
    missing.map(String::as_str).collect()
}

fn mcp_of(old: &McpConfig, new: &McpConfig, changes: &mut WideningSearch) {
    let McpConfig {
        ask,
        approval_wait,
        idle,
        // How a result reaches a client does not change what it holds.
        link_above: _,
        values: _,
    } = new;
    if old.ask == AskWay::Board && *ask != AskWay::Board {
        let what = "questions are put to the client, and no longer to you alone";
        changes.add(what, new.origin("ask"));
    }
    if *approval_wait > old.approval_wait {
        let what = "a call waits longer for an approval";
        changes.add(what, new.origin("approval_wait"));
    }
    if *idle > old.idle {
        let what = "what was approved for a turn holds longer";
        changes.add(what, new.origin("idle"));
    }
}
