//! Secrets that somebody wrote into a file, where a variable belongs.
//!
//! What is found here is a guess, made to keep keys out of files that are shared, and out of messages. A key that
//! looks like nothing at all is not found.

use std::collections::HashSet;

use url::Url;

use super::describe::HIDDEN;
use super::filled::ServerSettingText;
use crate::origin::Origin;
use crate::problem::Problem;
use crate::value::{ConfigNode, Value};

/// Whether a value looks like a secret that is written out: by itself, or because of the name of the variable,
/// header or option that it is for. A guess, made to keep keys out of files: a key that looks like nothing at all is
/// not found. A value with `${VARIABLE}` in place of the secret is none.
pub fn looks_secret(name: &str, value: &str) -> bool {
    let name = name.trim_start_matches('-');
    ServerSettingText::parse(value).is_ok_and(|value| is_written_out(Some(name), &value))
}

/// The same for what is read already, and may be for nothing in particular.
pub(super) fn is_written_out(name: Option<&str>, value: &ServerSettingText) -> bool {
    let by_itself = value.literals().any(is_key);
    // `Bearer ${TOKEN}` is what it should be.
    let named = name.is_some_and(is_name_of_secret) && !value.is_secret();
    by_itself || named && value.plain().is_some_and(could_be_secret)
}

/// What stands before the secret in a value, and is certainly no part of it: the name of an option or a header, and
/// the word that announces a key. `--token=`, `Authorization: Bearer `.
pub(super) fn before_secret(text: &str) -> &str {
    // Keys have digits.
    let is_name = |name: &str| {
        let fits = |one: u8| one.is_ascii_alphabetic() || b"-_".contains(&one);
        name.len() <= LONGEST_NAME && name.bytes().all(fits)
    };
    let mut rest = text;
    if let Some((option, value)) = rest.split_once('=')
        && option.starts_with("--")
        && is_name(option)
    {
        rest = value;
    }
    if let Some((header, value)) = rest.split_once(':')
        && is_name(header)
        && is_name_of_secret(header)
    {
        rest = value.trim_start();
    }
    if let Some((scheme, value)) = rest.split_once(' ')
        && is_scheme(scheme)
    {
        rest = value.trim_start();
    }
    &text[..text.len() - rest.len()]
}

/// Keeps the lines on which secrets stand in the entries of servers out of all messages.
pub(crate) fn hide_lines(secret: &[Origin], problems: &mut [Problem]) {
    let line = |origin: &Origin| (std::sync::Arc::as_ptr(origin.text()), origin.line());
    let secret: HashSet<_> = secret.iter().map(line).collect();
    if !secret.is_empty() {
        for problem in problems {
            problem.hide_if(|origin| secret.contains(&line(origin)));
        }
    }
}

/// Where secrets are written out in the entry of a server, however it is made up.
pub(super) fn written_out(server: &ConfigNode, found: &mut Vec<Origin>) {
    for key in ["env", "headers"] {
        let entries = server.get(key).and_then(ConfigNode::table);
        for (name, entry) in entries.into_iter().flatten() {
            collect(Some(name), &entry.node, found);
        }
    }
    for key in ["command", "args", "arguments", "url"] {
        if let Some(node) = server.get(key) {
            collect(None, node, found);
        }
    }
    // Keys that are none of ours, such as those of other programs, may hold anything.
    for (name, entry) in server.table().into_iter().flatten() {
        if is_name_of_secret(name) {
            collect(Some(name), &entry.node, found);
        }
    }
}

/// The entry of a server with what is a secret, or may be one, left out.
pub(crate) fn masked(server: &ConfigNode) -> ConfigNode {
    let mut secrets = Vec::new();
    written_out(server, &mut secrets);
    let mut server = server.clone();
    if !secrets.is_empty() {
        mask(&mut server, &secrets);
    }
    server
}

fn mask(node: &mut ConfigNode, secrets: &[Origin]) {
    let is_secret = secrets.contains(&node.origin);
    match &mut node.value {
        Value::Text(text) if is_secret => HIDDEN.clone_into(text),
        Value::List(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::Table(entries) => {
            let nodes = entries.values_mut().map(|entry| &mut entry.node);
            nodes.for_each(|node| mask(node, secrets));
        }
        _ => {}
    }
}

fn collect(name: Option<&str>, node: &ConfigNode, found: &mut Vec<Origin>) {
    match &node.value {
        Value::Text(text) => {
            // What cannot be read may be anything.
            let secret =
                ServerSettingText::parse(text).map_or(true, |value| is_written_out(name, &value));
            if secret {
                found.push(node.origin.clone());
            }
        }
        Value::List(items) => items.iter().for_each(|item| collect(name, item, found)),
        _ => {}
    }
}

/// Whether a text is, or holds, what issuers of keys make recognizable.
fn is_key(text: &str) -> bool {
    if text.contains("-----BEGIN ") && text.contains("PRIVATE KEY") {
        return true;
    }
    let words = text.split(|one: char| !(one.is_ascii_alphanumeric() || "_-.".contains(one)));
    let is_prefixed = |word: &str| {
        let known = PREFIXES.iter().find(|(prefix, _)| word.starts_with(prefix));
        known.is_some_and(|(prefix, least)| word.len() >= prefix.len() + least)
    };
    if words.clone().any(is_prefixed) {
        return true;
    }
    let mut words = text.split_whitespace();
    let scheme = words.next().unwrap_or_default();
    if is_scheme(scheme) && words.next().is_some_and(|word| word.len() >= LEAST) {
        return true;
    }
    text.contains("://") && Url::parse(text).is_ok_and(|url| url.password().is_some())
}

/// Whether a word announces a key.
fn is_scheme(word: &str) -> bool {
    ["bearer", "basic", "token"].contains(&word.to_ascii_lowercase().as_str())
}

/// Whether a variable or a header of this name holds a secret.
pub(super) fn is_name_of_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('-', "_");
    let last = name.rsplit('_').next().unwrap_or_default();
    let ends = [
        "token",
        "secret",
        "password",
        "passwd",
        "passphrase",
        "pass",
        "key",
        "apikey",
        "pat",
        "credential",
        "credentials",
        "authorization",
        "cookie",
    ];
    ends.contains(&last) || name.ends_with("apikey") || name.ends_with("token")
}

/// Whether the value of something with such a name can be the secret itself: not where it lies, and no switch.
fn could_be_secret(value: &str) -> bool {
    let value = value.trim();
    let is_path = ["/", "./", "../", "~/"]
        .iter()
        .any(|start| value.starts_with(start));
    let is_url = value.contains("://");
    let is_switch =
        ["true", "false", "none", "null"].contains(&value.to_ascii_lowercase().as_str());
    let is_number = value.len() < LEAST && value.bytes().all(|one| one.is_ascii_digit());
    value.len() >= 4 && !(is_path || is_url || is_switch || is_number)
}

/// How the keys of well-known issuers begin, and how many characters come behind that at least.
const PREFIXES: [(&str, usize); 24] = [
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 12),
    ("sk-", 16),
    ("sk_live_", 12),
    ("sk_test_", 12),
    ("rk_live_", 12),
    ("xoxb-", 12),
    ("xoxp-", 12),
    ("xoxa-", 12),
    ("xapp-", 12),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 24),
    ("eyJhbGci", 16),
    ("npm_", 24),
    ("pypi-", 24),
    ("hf_", 20),
    ("SG.", 24),
    ("dop_v1_", 24),
];

/// The fewest characters of a key behind a word that announces one.
const LEAST: usize = 8;

/// The most letters in the name of an option or a header that a message repeats.
const LONGEST_NAME: usize = 32;

#[cfg(test)]
mod tests;
