//! Proxies in the output of `jig ps`.
//!
//! What their tables hold was named by whoever is behind a proxy: nothing is shown as it stands, and a table
//! that has another form than expected shows less.

use std::time::Duration;

use jig_proto::visible_words;
use jig_station::proxies::Proxy;
use serde_json::{Value as Json, json};

use crate::limits;
use crate::output::table;

/// One object for each proxy, with its tables as they are.
pub(super) fn as_json(proxy: &Proxy) -> Json {
    let mut value = json!(proxy);
    value["kind"] = json!("proxy");
    value
}

/// A line for each proxy; below it one for each client, and for each file that it has open.
pub(super) fn printed(with_workspace: bool, proxies: &[Proxy]) -> String {
    let mut header = vec!["pid", "proxy", "clients", "files", "age"];
    if with_workspace {
        header.push("workspace");
    }
    let rows: Vec<Vec<String>> = proxies
        .iter()
        .map(|proxy| row(with_workspace, proxy))
        .collect();
    let lines = table(&header, &rows);
    let mut lines = lines.lines();
    let mut text = String::new();
    text.extend(lines.next().map(|header| format!("{header}\n")));
    for (line, proxy) in lines.zip(proxies) {
        text.push_str(&format!("{line}\n"));
        clients(proxy, &mut text);
    }
    text
}

fn row(with_workspace: bool, proxy: &Proxy) -> Vec<String> {
    let count = |name| (rows(proxy, name).len() as u64 + omitted(proxy, name)).to_string();
    let mut cells = vec![
        proxy.pid.to_string(),
        command(proxy),
        count("clients"),
        count("files"),
        limits::age(Duration::from_millis(proxy.age_ms)),
    ];
    if with_workspace {
        cells.push(one_line(proxy.workspace.as_str(), usize::MAX));
    }
    cells
}

/// What the proxy runs, in few words.
fn command(proxy: &Proxy) -> String {
    let words = match proxy.tables.get("command") {
        Some(Json::Array(words)) => words.iter().filter_map(Json::as_str).collect::<Vec<_>>(),
        Some(Json::String(words)) => vec![words.as_str()],
        _ => Vec::new(),
    };
    match words.is_empty() {
        true => "stdio".to_owned(),
        false => one_line(&words.join(" "), LONGEST_COMMAND),
    }
}

fn clients(proxy: &Proxy, text: &mut String) {
    if let Some(quota) = quota(proxy) {
        text.push_str(&format!("  {quota}\n"));
    }
    let files = rows(proxy, "files");
    for client in rows(proxy, "clients") {
        let id = word(client, "id");
        let mut parts = vec![one_line(id, LONGEST_WORD)];
        parts.extend(number(client, "pid").map(|pid| format!("pid {pid}")));
        parts.extend(
            Some(word(client, "label"))
                .filter(|label| !label.is_empty())
                .map(|label| one_line(label, LONGEST_COMMAND)),
        );
        let open = client["open_files"].as_array().map_or(0, Vec::len);
        parts.push(match open {
            1 => "1 open file".to_owned(),
            open => format!("{open} open files"),
        });
        text.push_str(&format!("  {}\n", parts.join("  ")));
        let own: Vec<&Json> = files
            .iter()
            .filter(|file| word(file, "client_id") == id)
            .collect();
        for file in own.iter().take(MOST_FILES) {
            text.push_str(&file_line(file));
        }
        if let Some(more) = own.len().checked_sub(MOST_FILES).filter(|more| *more > 0) {
            text.push_str(&format!("    and {more} more\n"));
        }
    }
    for name in ["clients", "files"] {
        let left_out = omitted(proxy, name);
        if left_out > 0 {
            text.push_str(&format!("  and {left_out} more {name}\n"));
        }
    }
}

fn file_line(file: &Json) -> String {
    let fileno = number(file, "fileno").unwrap_or_default();
    let mode = one_line(word(file, "mode"), LONGEST_WORD);
    let name = one_line(word(file, "filename"), LONGEST_NAME);
    let is_virtual = file["virtual"] == json!(true);
    let note = if is_virtual { "  (virtual)" } else { "" };
    format!("    {fileno:<4} {mode:<2}  {name}{note}\n")
}

/// How much of the quota is used, if there is one.
fn quota(proxy: &Proxy) -> Option<String> {
    let quota = proxy.tables.get("quota")?;
    let used = quota["used"].as_f64()?;
    let limit = quota["limit"].as_f64()?;
    let limit = match limit == 0.0 {
        true => "unlimited".to_owned(),
        false => limit.to_string(),
    };
    Some(format!("{used}/{limit} weighted tokens"))
}

fn rows<'a>(proxy: &'a Proxy, name: &str) -> &'a [Json] {
    let rows = proxy.tables.get(name).and_then(Json::as_array);
    rows.map(Vec::as_slice).unwrap_or_default()
}

fn omitted(proxy: &Proxy, name: &str) -> u64 {
    let omitted = proxy.tables.get("omitted");
    omitted
        .and_then(|omitted| number(omitted, name))
        .unwrap_or_default()
}

fn word<'a>(row: &'a Json, name: &str) -> &'a str {
    row[name].as_str().unwrap_or_default()
}

fn number(row: &Json, name: &str) -> Option<u64> {
    row[name].as_u64()
}

/// A text that cannot leave its line, shortened.
fn one_line(text: &str, most: usize) -> String {
    let text = visible_words(text);
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// How many files of one client are listed: a client may have a thousand.
const MOST_FILES: usize = 20;

/// In characters.
const LONGEST_COMMAND: usize = 60;
const LONGEST_NAME: usize = 200;
const LONGEST_WORD: usize = 20;

#[cfg(test)]
mod tests;
