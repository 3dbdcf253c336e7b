//! Refusals of the broker, in the terms of this protocol.

use jig_proto::fsproxy::{ProxyError, ProxyErrorCode};
use jig_proto::vfs::{ErrorKind, ErrorReply};
use jig_proto::visible_line;

use super::options::ManagerOptions;

/// An answer of the broker in the terms of this protocol: a denial with the rule that decided and what would
/// allow it, all in one line.
pub(super) fn refusal(reply: &ErrorReply) -> ProxyError {
    let kind = reply.kind();
    let code = match kind {
        kind if kind.is_denial() => ProxyErrorCode::Perm,
        ErrorKind::NotFound => ProxyErrorCode::NoEnt,
        ErrorKind::TooLarge => ProxyErrorCode::Range,
        ErrorKind::InvalidParams | ErrorKind::IsDir | ErrorKind::NotDir => ProxyErrorCode::Arg,
        _ => ProxyErrorCode::Io,
    };
    let mut message = reply.message.clone();
    if code == ProxyErrorCode::Perm {
        if let Some(rule) = &reply.data.rule {
            message.push_str("; rule: ");
            message.push_str(rule);
        }
        if let Some(hint) = &reply.data.hint {
            message.push_str("; to allow it, add: ");
            message.push_str(hint.trim_end());
        }
    }
    ProxyError::new(code, one_line(&message))
}

/// The same for an open of `path`, as the client wrote it: what is said names that path, and the way out is the one
/// that there is here.
pub(super) fn refused_open(
    mut reply: ErrorReply,
    path: &str,
    options: &ManagerOptions,
) -> ProxyError {
    match reply.kind() {
        ErrorKind::NotFound => return refusal(&ErrorReply::not_found(path)),
        ErrorKind::IsDir => return refusal(&ErrorReply::is_dir(path)),
        ErrorKind::NotDir => return refusal(&ErrorReply::not_dir(path)),
        _ => {}
    }
    let data = &mut reply.data;
    if let (Some(target), true) = (&data.target, options.names.is_whole_disk()) {
        let (short, whole) = (format!("`{target}`"), format!("`/{target}`"));
        reply.message = reply.message.replacen(&short, &whole, 1);
    }
    if let (Some(hint), Some(advice)) = (&mut data.hint, &options.advice) {
        let words = match data.operation.as_deref() {
            Some("read") => &advice.read,
            _ => &advice.write,
        };
        *hint = format!("{words} {}", word(path));
    }
    refusal(&reply)
}

/// The text on one line: the lines of a rule are set apart by spaces, as TOML's tables can be read then.
fn one_line(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(" ")
}

/// The path as one word of a shell's command line. It is the client's, and whoever follows the advice must not run
/// what stands in it.
fn word(path: &str) -> String {
    let mut word = visible_line(path);
    if word.starts_with('-') {
        // It would be another option.
        word.insert_str(0, "./");
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%=".contains(c);
    match word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests;
