//! What is added to the rules and the sandbox of a tool.

use jig_policy::{Capability, FileCapabilities};
use jig_proto::ProjectPath;
use toml_edit::{InlineTable, Item, TableLike, Value};

use super::lists::{ListStyle, TomlList, push_value};
use super::{AddedFs, AddedNet, AddedSystem, EditError, EditTable, string};
use crate::model::Preset;
use crate::policy::is_of_home;

/// Adds rules on files.
pub(super) fn add_fs(mut access: EditTable<'_>, rules: &[AddedFs]) -> Result<(), EditError> {
    for rule in rules {
        let mut list = access.again().list("fs", ListStyle::AsTables)?;
        let wanted = normal(&rule.path);
        // Of several rules on one path the last decides.
        let same = |table: &dyn TableLike| text(table, "path").map(normal) == Some(wanted.clone());
        match list.last_where(same) {
            Some(table) => widen(table, rule.capabilities),
            None => {
                // A folder of the workspace, whatever its name.
                let path = match is_of_home(&rule.path) {
                    true => format!("./{}", rule.path),
                    false => rule.path.clone(),
                };
                let mut pairs = vec![("path", string(&path))];
                let keys = keys(rule.capabilities).into_iter();
                pairs.extend(keys.map(|key| (key, Value::from(true))));
                list.push(pairs, &rule.comment);
            }
        }
    }
    Ok(())
}

/// Adds rules that let hosts be reached.
pub(super) fn add_net(mut access: EditTable<'_>, rules: &[AddedNet]) -> Result<(), EditError> {
    for rule in rules {
        let mut list = access.again().list("net", ListStyle::AsTables)?;
        let same = |table: &dyn TableLike| {
            let port = table.get("port").and_then(Item::as_integer);
            text(table, "host") == Some(rule.host.as_str())
                && text(table, "scheme") == rule.scheme.as_deref()
                && port == rule.port.map(i64::from)
                && text(table, "path_prefix") == rule.path_prefix.as_deref()
                && flag(table, "allow")
        };
        if list.last_where(same).is_some() {
            continue;
        }
        let mut pairs = vec![("host", string(&rule.host))];
        pairs.extend(rule.scheme.as_deref().map(|it| ("scheme", string(it))));
        pairs.extend(rule.port.map(|port| ("port", i64::from(port).into())));
        let prefix = rule.path_prefix.as_deref();
        pairs.extend(prefix.map(|it| ("path_prefix", string(it))));
        pairs.push(("allow", true.into()));
        list.push(pairs, &rule.comment);
    }
    Ok(())
}

/// Adds toolchains.
pub(super) fn add_presets(mut sandbox: EditTable<'_>, presets: &[Preset]) -> Result<(), EditError> {
    for preset in presets {
        let TomlList::Values(array) = sandbox.again().list("presets", ListStyle::OnOne)? else {
            return Err(EditError::Shape("presets".to_owned()));
        };
        let is_there = array
            .iter()
            .any(|name| name.as_str() == Some(preset.name()));
        if !is_there {
            push_value(array, preset.name().into(), &[]);
        }
    }
    Ok(())
}

/// Adds paths outside the workspace.
pub(super) fn add_system(
    mut sandbox: EditTable<'_>,
    paths: &[AddedSystem],
) -> Result<(), EditError> {
    for added in paths {
        let mut list = sandbox.again().list("system", ListStyle::OnLines)?;
        if let TomlList::Values(array) = &mut list
            && let Some(bare) = array.iter_mut().find(|value| {
                let bare = value.as_str();
                bare.is_some_and(|bare| trimmed(bare) == trimmed(&added.path))
            })
        {
            if added.write || added.execute {
                spell_out(bare, added);
            }
            continue;
        }
        let same =
            |table: &dyn TableLike| text(table, "path").map(trimmed) == Some(trimmed(&added.path));
        if let Some(table) = list.last_where(same) {
            for (key, wanted) in [("write", added.write), ("execute", added.execute)] {
                if wanted {
                    set(table, key);
                }
            }
            continue;
        }
        match &mut list {
            TomlList::Values(array) if !added.write && !added.execute => {
                push_value(array, string(&added.path), &added.comment);
            }
            list => list.push(pairs(added), &added.comment),
        }
    }
    Ok(())
}

/// A path that stood there alone, with what may be done at it.
fn spell_out(bare: &mut Value, added: &AddedSystem) {
    let decor = bare.decor().clone();
    let table: InlineTable = pairs(added).into_iter().collect();
    *bare = Value::InlineTable(table);
    *bare.decor_mut() = decor;
}

fn pairs(added: &AddedSystem) -> Vec<(&'static str, Value)> {
    let mut pairs = vec![("path", string(&added.path))];
    for (key, wanted) in [("write", added.write), ("execute", added.execute)] {
        if wanted {
            pairs.push((key, true.into()));
        }
    }
    pairs
}

/// Grants more by a rule that there is.
fn widen(table: &mut dyn TableLike, more: FileCapabilities) {
    let write = flag(table, "write");
    let says = |one: Capability| table.get(one.name()).and_then(Item::as_bool);
    let has = |one: Capability| says(one).unwrap_or(write && FileCapabilities::WRITE.has(one));
    let missing: FileCapabilities = more.iter().filter(|one| !has(*one)).collect();
    let is_silent = FileCapabilities::WRITE
        .iter()
        .all(|one| says(one).is_none());
    if is_silent && missing.covers(FileCapabilities::WRITE) {
        set(table, "write");
        for one in (missing - FileCapabilities::WRITE).iter() {
            set(table, one.name());
        }
    } else {
        for one in missing.iter() {
            set(table, one.name());
        }
    }
}

/// Says yes to a key, where it stands if it does.
fn set(table: &mut dyn TableLike, key: &str) {
    if let Some(Item::Value(value)) = table.get_mut(key) {
        let decor = value.decor().clone();
        *value = true.into();
        *value.decor_mut() = decor;
        return;
    }
    let mut value = Value::from(true);
    // Between braces the space before the last one belongs to the last value.
    if let Some((_, Item::Value(last))) = table.iter_mut().last()
        && let Some(" ") = last.decor().suffix().and_then(|suffix| suffix.as_str())
    {
        last.decor_mut().set_suffix("");
        value = value.decorated(" ", " ");
    }
    table.insert(key, Item::Value(value));
}

/// The keys that a rule grants capabilities by.
fn keys(granted: FileCapabilities) -> Vec<&'static str> {
    let mut keys = Vec::new();
    for one in granted.iter() {
        match one {
            Capability::Create if granted.covers(FileCapabilities::WRITE) => keys.push("write"),
            one if granted.covers(FileCapabilities::WRITE) && FileCapabilities::WRITE.has(one) => {}
            one => keys.push(one.name()),
        }
    }
    keys
}

/// A path as rules compare it; as it stands where it is none.
fn normal(path: &str) -> String {
    match ProjectPath::normalize(path) {
        Ok(path) => path.to_string(),
        Err(_) => path.to_owned(),
    }
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

fn text<'a>(table: &'a dyn TableLike, key: &str) -> Option<&'a str> {
    table.get(key).and_then(Item::as_str)
}

fn flag(table: &dyn TableLike, key: &str) -> bool {
    table.get(key).and_then(Item::as_bool).unwrap_or(false)
}
