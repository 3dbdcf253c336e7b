//! Blocks as plain text for an assistant.

use std::fmt::Write as _;

use crate::foreign::{decoded_bytes, write_foreign};
use crate::{Block, Resource, ResourceData};

/// The blocks as text, each starting on its own line.
pub(crate) fn to_text(blocks: &[Block]) -> String {
    let mut out = String::new();
    for block in blocks {
        if matches!(block, Block::Structured(_) | Block::Meta(_)) {
            continue;
        }
        if !out.is_empty() && !out.ends_with('\n') {
            out.push('\n');
        }
        match block {
            Block::Text(text) => out.push_str(&text.text),
            Block::Resource(resource) => write_resource(&mut out, resource),
            Block::Question(question) => out.push_str(&question.text),
            Block::Foreign(block) => write_foreign(&mut out, block),
            Block::Structured(_) | Block::Meta(_) => {}
        }
    }
    // A server may say all that it has to say as JSON.
    if out.is_empty()
        && let Some(value) = blocks.iter().find_map(|block| match block {
            Block::Structured(value) => Some(value),
            _ => None,
        })
    {
        out = value.to_string();
    }
    out
}

fn write_resource(out: &mut String, resource: &Resource) {
    let mime_type = resource.mime_type.as_deref();
    match (&resource.formatted, &resource.data) {
        (Some(formatted), _) => out.push_str(formatted),
        (None, ResourceData::Text(text)) => write_fenced(out, text, language(mime_type)),
        (None, ResourceData::Blob(base64)) => {
            let bytes = decoded_bytes(base64);
            let kind = mime_type.unwrap_or("binary");
            // Writing to a string cannot fail.
            let _ = write!(out, "[{}: {kind}, {bytes} bytes]", resource.uri);
        }
    }
}

/// Text in a fence with the language of its MIME type.
pub(crate) fn write_fenced_as(out: &mut String, text: &str, mime_type: Option<&str>) {
    write_fenced(out, text, language(mime_type));
}

fn write_fenced(out: &mut String, text: &str, language: &str) {
    // A fence inside the text must not end ours: what follows it would look like our own words.
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    let newline = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let _ = write!(out, "{fence}{language}\n{text}{newline}{fence}");
}

fn longest_run(text: &str, wanted: char) -> usize {
    text.split(|one| one != wanted)
        .map(str::len)
        .max()
        .unwrap_or(0)
}

/// The tag of a code fence for a MIME type; empty if we know none.
///
/// The tag comes from this table, never from the tool: a MIME type with a newline in it would
/// otherwise end the fence.
fn language(mime_type: Option<&str>) -> &'static str {
    let essence = mime_type.unwrap_or("").split(';').next().unwrap_or("");
    let essence = essence.trim().to_ascii_lowercase();
    let (kind, subtype) = essence.split_once('/').unwrap_or(("", ""));
    let subtype = subtype.strip_prefix("x-").unwrap_or(subtype);
    if !matches!(kind, "text" | "application" | "image") {
        return "";
    }
    match subtype {
        "rust" | "rs" => "rs",
        "python" | "python3" => "py",
        "javascript" | "ecmascript" => "js",
        "typescript" => "ts",
        "json" | "ld+json" | "schema+json" => "json",
        "jsonl" | "ndjson" => "jsonl",
        "yaml" => "yaml",
        "toml" => "toml",
        "markdown" => "md",
        "html" | "xhtml+xml" => "html",
        "css" => "css",
        "csv" => "csv",
        "xml" | "svg+xml" => "xml",
        "sh" | "shellscript" => "sh",
        "diff" | "patch" => "diff",
        "sql" => "sql",
        "go" => "go",
        "java" | "java-source" => "java",
        "c" | "csrc" | "chdr" => "c",
        "c++" | "c++src" | "c++hdr" => "cpp",
        "ruby" => "rb",
        "lua" => "lua",
        _ => "",
    }
}
