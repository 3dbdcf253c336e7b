//! From an entry of `extends` to the files that it names.

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};
use jig_policy::Sensitive;
use jig_proto::{ProjectPath, hint};

use super::walk::{ExtendsWalk, PatternPart};
use super::{ConfigFileReader, KEY, LayerFile, behind_link, inside, origin_of};
use crate::loading::files;
use crate::model::ConfigFolder;
use crate::origin::{Layer, Origin};
use crate::problem::Problem;
use crate::quoting::{clean, quote};
use crate::value::ConfigNode;

/// One entry of `extends`.
pub(super) struct ExtendsEntry {
    /// The path, as it was written.
    text: String,
    /// Whether it is laid over the file that names it.
    pub(super) is_after: bool,
    pub(super) origin: Origin,
}

impl ExtendsEntry {
    /// Whether the entry stands for all files whose names fit.
    pub(super) fn is_pattern(&self) -> bool {
        self.text.contains(['*', '?'])
    }
}

/// The entries of a checked file.
pub(super) fn wanted(node: &ConfigNode) -> Vec<ExtendsEntry> {
    let Some(node) = node.get(KEY) else {
        return Vec::new();
    };
    let one = std::slice::from_ref(node);
    let items = node.list().unwrap_or(one).iter();
    let wanted = items.filter_map(|item| {
        let path = item
            .text()
            .or_else(|| item.get("path").and_then(ConfigNode::text));
        Some(ExtendsEntry {
            text: path?.to_owned(),
            is_after: item.get("strategy").and_then(ConfigNode::text) == Some("after"),
            origin: origin_of(item),
        })
    });
    wanted.collect()
}

/// The files that an entry names, absolute, in order.
pub(super) fn find(
    reader: &mut ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    from: &LayerFile,
) -> Result<Vec<Utf8PathBuf>, Box<Problem>> {
    let folder = from.path.parent().unwrap_or(&from.path);
    let path = match from.layer {
        Layer::Workspace => below_workspace(reader, wanted, folder)?,
        _ => of_the_person(reader, wanted, folder)?,
    };
    match wanted.is_pattern() {
        true => matching(reader, wanted, from.layer, &path),
        false => Ok(vec![path]),
    }
}

/// The path of an entry in a file of the workspace: it stays inside, and names nothing sensitive, whose lines would
/// then stand in messages.
fn below_workspace(
    reader: &ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    folder: &Utf8Path,
) -> Result<Utf8PathBuf, Box<Problem>> {
    let workspace = &reader.sources.workspace;
    let is_relative = !wanted.text.starts_with(['/', '~']);
    let above = folder.strip_prefix(workspace).unwrap_or(Utf8Path::new(""));
    let inside = match is_relative {
        true => ProjectPath::normalize(above.join(&wanted.text).as_str()).ok(),
        false => None,
    };
    let Some(inside) = inside else {
        return Err(wanted.error((
            format!(
                "{} is not in the workspace, and a file of the workspace extends only what lies there",
                quote(&wanted.text)
            ),
            hint!(
                "write a path relative to this file that stays inside; a file of your own is extended by \
                 `~/.config/jig/config.toml`, or given by `--config`"
            ),
        )));
    };
    refuse_sensitive(wanted, &inside)?;
    Ok(workspace.join(inside.as_str()))
}

fn refuse_sensitive(wanted: &ExtendsEntry, inside: &ProjectPath) -> Result<(), Box<Problem>> {
    match Sensitive::default().find(inside) {
        None => Ok(()),
        Some(_) => Err(wanted.error((
            format!(
                "{} is on the list of sensitive paths, and can't be configuration",
                quote(inside.as_str())
            ),
            hint!("extend another file"),
        ))),
    }
}

/// The path of an entry in a file of the person's own.
fn of_the_person(
    reader: &ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    folder: &Utf8Path,
) -> Result<Utf8PathBuf, Box<Problem>> {
    let path = match (wanted.text.strip_prefix("~/"), &reader.sources.home) {
        (Some(rest), Some(home)) => home.join(rest),
        (Some(_), None) => {
            return Err(wanted.error((
                format!("{}: the home directory is not known", quote(&wanted.text)),
                hint!("set the variable HOME, or write the whole path"),
            )));
        }
        (None, _) => folder.join(&wanted.text),
    };
    Ok(reader.settled(&normal(&path)))
}

/// The path without `.` and, by name, without `..`.
fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut normal = Utf8PathBuf::new();
    for component in path.components() {
        match component {
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other.as_str()),
        }
    }
    normal
}

/// The files whose paths fit, sorted.
fn matching(
    reader: &mut ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    layer: Layer,
    pattern: &Utf8Path,
) -> Result<Vec<Utf8PathBuf>, Box<Problem>> {
    let is_pattern = |part: &Utf8Component<'_>| part.as_str().contains(['*', '?']);
    let components: Vec<Utf8Component<'_>> = pattern.components().collect();
    let fixed = components.iter().take_while(|part| !is_pattern(part));
    let base: Utf8PathBuf = fixed.clone().collect();
    let parts: Vec<PatternPart> = components[fixed.count()..]
        .iter()
        .map(|part| PatternPart::parse(part.as_str()))
        .collect();
    refuse_whole_workspace(reader, wanted, layer, &base)?;
    let mut walk = ExtendsWalk {
        workspace: base
            .starts_with(&reader.sources.workspace)
            .then_some(reader.sources.workspace.as_path()),
        parts: &parts,
        left: MOST_NAMES.saturating_sub(reader.looked_at),
        files: Vec::new(),
        folders: Vec::new(),
        link: None,
    };
    walk.from(&base);
    reader.looked_at = MOST_NAMES - walk.left;
    if let Some(link) = &walk.link {
        let shown = reader.shown(link);
        return Err(wanted.error(behind_link(&shown, &shown)));
    }
    if walk.left == 0 {
        return Err(wanted.error((
            format!(
                "the pattern {} covers folders with more than {MOST_NAMES} names",
                quote(&wanted.text)
            ),
            hint!("begin it with the folder in which the files lie"),
        )));
    }
    let (mut files, others): (Vec<_>, Vec<_>) = walk
        .files
        .into_iter()
        .partition(|path| path.extension() == Some("toml"));
    files.sort();
    if layer == Layer::Workspace {
        for file in &files {
            let inside = file.strip_prefix(&reader.sources.workspace).ok();
            let inside = inside.and_then(|file| ProjectPath::normalize(file.as_str()).ok());
            refuse_sensitive(wanted, &inside.unwrap_or_default())?;
        }
    }
    reader.gathered.folders.push(ConfigFolder {
        inside: inside(
            files::real_path(&base).as_deref(),
            reader.real_workspace.as_deref(),
        ),
        path: base,
        layer,
        folders: walk.folders,
    });
    if !others.is_empty() {
        let warning = not_toml(reader, wanted, &others);
        reader.gathered.warnings.push(warning);
    }
    Ok(files)
}

/// Refuses a pattern that covers files which tools make. All of the folder in which a pattern begins is guarded, and
/// that can't be the whole workspace: then no tool could change anything.
fn refuse_whole_workspace(
    reader: &ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    layer: Layer,
    base: &Utf8Path,
) -> Result<(), Box<Problem>> {
    let workspace = &reader.sources.workspace;
    let real = files::real_path(base);
    let holds = |place: &Utf8Path| {
        workspace.starts_with(place)
            || reader
                .real_workspace
                .as_ref()
                .is_some_and(|workspace| workspace.starts_with(place))
    };
    let is_whole = holds(base) || real.as_deref().is_some_and(holds);
    if !is_whole {
        return Ok(());
    }
    let example = match layer {
        Layer::Workspace => "config/*.toml",
        _ => "jig.d/*.toml",
    };
    Err(wanted.error((
        format!(
            "the pattern {} covers the workspace itself, where a file that a tool makes would be configuration",
            quote(&wanted.text)
        ),
        hint!("put the files into a folder of their own, and write `\"{example}\"`"),
    )))
}

fn not_toml(
    reader: &ConfigFileReader<'_>,
    wanted: &ExtendsEntry,
    others: &[Utf8PathBuf],
) -> Problem {
    let shown = others.iter().take(3).map(|path| quote(&reader.shown(path)));
    let mut shown: Vec<String> = shown.collect();
    if others.len() > shown.len() {
        shown.push(format!("{} more", others.len() - shown.len()));
    }
    let pattern = clean(&wanted.text);
    let help = match wanted.text.ends_with('*') && !wanted.text.ends_with(".*") {
        true => hint!(
            "write `\"{}*.toml\"`, or turn the files into TOML",
            clean(pattern.trim_end_matches('*'))
        ),
        false => hint!("let the pattern end with `.toml`, or turn the files into TOML"),
    };
    let message = format!(
        "{} {} not extended: jig reads TOML only",
        shown.join(", "),
        if others.len() == 1 { "is" } else { "are" }
    );
    Problem::warning(message, help)
        .at(&wanted.origin, "")
        .key(KEY)
}

/// How many names are looked at for all patterns together. One in a cloned repository must not make loading slow.
const MOST_NAMES: usize = 20_000;
