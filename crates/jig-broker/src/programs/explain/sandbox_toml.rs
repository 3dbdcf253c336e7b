//! The `sandbox` of a tool with one thing more, as TOML.
//!
//! A list cannot be added to in TOML, only be written as a whole: what the tool has is in it.

use std::path::Path;

use jig_policy::toml_string;
use jig_proto::offered_rule;

use super::context::RunSurroundings;
use crate::programs::confine::{Preset, SystemAccess};

/// A path outside the workspace that would be opened.
pub(super) struct SystemPathEntry<'a> {
    pub(super) path: &'a Path,
    pub(super) write: bool,
    pub(super) execute: bool,
}

/// `sandbox.system` with this entry; `None` if the path is no text.
pub(super) fn system(around: &RunSurroundings<'_>, entry: &SystemPathEntry<'_>) -> Option<String> {
    entry.path.to_str()?;
    let mut all: Vec<SystemAccess> = Vec::new();
    let mut wanted = SystemAccess {
        path: entry.path.to_owned(),
        write: entry.write,
        execute: entry.execute,
    };
    for access in &around.settings.system {
        // What is opened more widely is not named twice.
        if access.path == wanted.path {
            wanted.write |= access.write;
            wanted.execute |= access.execute;
        } else {
            all.push(access.clone());
        }
    }
    all.push(wanted);
    let entries: Vec<String> = all.iter().map(|access| written(around, access)).collect();
    let table = &around.inner.table;
    let entries = entries.join(", ");
    let lines = format!("[{table}.sandbox]\nsystem = [{entries}]\n");
    Some(offered_rule(lines))
}

/// `sandbox.presets` with this one.
pub(super) fn presets(around: &RunSurroundings<'_>, preset: Preset) -> String {
    let presets = around.settings.presets.iter().chain([&preset]);
    let names: Vec<String> = presets.map(|preset| toml_string(preset.name())).collect();
    let table = &around.inner.table;
    offered_rule(format!(
        "[{table}.sandbox]\npresets = [{}]\n",
        names.join(", ")
    ))
}

fn written(around: &RunSurroundings<'_>, access: &SystemAccess) -> String {
    let mut path = around.shown(&access.path);
    // As the configuration takes it.
    if path == "~" {
        path.push('/');
    }
    let path = toml_string(&path);
    if !access.write && !access.execute {
        return path;
    }
    let mut table = format!("{{ path = {path}");
    table.push_str(if access.write { ", write = true" } else { "" });
    table.push_str(if access.execute {
        ", execute = true"
    } else {
        ""
    });
    table.push_str(" }");
    table
}
