//! Reading the files of all layers, with those that they extend.
//!
//! An extended file belongs to the layer of the file that names it, so it can decide no more than that file could.
//! One that a file of the workspace names lies in the workspace and is reached without symbolic links: whoever writes
//! the project's files can't have a file of the person's read, and no tool can move a link to a file that it wrote.
//! The folder in which a pattern begins is guarded as a whole, because a new file there would be configuration. A path
//! of the person's that leads into the workspace through a link counts as the path inside.

mod find;
mod walk;

use std::collections::HashSet;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{Hint, ProjectPath, hint};

use crate::jp_keys::{self, IgnoredKey};
use crate::loading::acceptance::ContentFile;
use crate::loading::files;
use crate::loading::parse::parse;
use crate::loading::sources::Sources;
use crate::model::{ConfigFile, ConfigFolder, check_llm, shown_path};
use crate::origin::{ConfigText, Layer, Origin};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::shape::ROOT;
use crate::shape::check::check;
use crate::value::{ConfigNode, Value};

use self::find::ExtendsEntry;

/// What the files of all layers hold.
pub(crate) struct GatheredLayers {
    /// One tree for each file, lowest first.
    pub(crate) layers: Vec<ConfigNode>,
    pub(crate) files: Vec<ConfigFile>,
    pub(crate) folders: Vec<ConfigFolder>,
    /// The texts of the workspace's layers.
    pub(crate) contents: Vec<ContentFile>,
    pub(crate) problems: Vec<Problem>,
    pub(crate) warnings: Vec<Problem>,
}

/// Reads all files; `instead` is another text in place of one of them.
pub(crate) fn gather(sources: &Sources, instead: Option<(&Utf8Path, &str)>) -> GatheredLayers {
    let mut reader = ConfigFileReader {
        sources,
        instead,
        real_workspace: files::real_path(&sources.workspace),
        named: sources.all_files().collect(),
        chain: Vec::new(),
        loaded: HashSet::new(),
        extended: 0,
        extended_bytes: 0,
        looked_at: 0,
        gathered: GatheredLayers {
            layers: Vec::new(),
            files: Vec::new(),
            folders: Vec::new(),
            contents: Vec::new(),
            problems: Vec::new(),
            warnings: Vec::new(),
        },
        ignored: Vec::new(),
    };
    for (layer, path) in sources.all_files() {
        reader.named_file(layer, path);
    }
    let mut gathered = reader.gathered;
    gathered.warnings.extend(jp_keys::warnings(reader.ignored));
    gathered
}

struct ConfigFileReader<'a> {
    sources: &'a Sources,
    instead: Option<(&'a Utf8Path, &'a str)>,
    real_workspace: Option<Utf8PathBuf>,
    /// The files that are loaded whoever extends them.
    named: Vec<(Layer, Utf8PathBuf)>,
    /// The files that are being read, each extended by the one before it.
    chain: Vec<Utf8PathBuf>,
    /// The files that were read, by layer: one that is extended twice counts once, at its first place.
    loaded: HashSet<(Layer, Utf8PathBuf)>,
    /// How many files were extended.
    extended: usize,
    /// How much text they hold.
    extended_bytes: usize,
    /// How many names were looked at for patterns.
    looked_at: usize,
    gathered: GatheredLayers,
    ignored: Vec<IgnoredKey>,
}

/// A file that is to be read.
struct LayerFile {
    layer: Layer,
    path: Utf8PathBuf,
    /// Where the file that was opened lies.
    real: Option<Utf8PathBuf>,
    /// Whether keys outside the tools belong to JP.
    is_jps: bool,
    is_extended: bool,
}

impl ConfigFileReader<'_> {
    /// Reads one of the files that the layers consist of.
    fn named_file(&mut self, layer: Layer, named: Utf8PathBuf) {
        let path = self.settled(&named);
        let shown = self.shown(&path);
        let given = self.instead;
        let given = given.filter(|(other, _)| *other == named || *other == path);
        let content = match given {
            Some((_, text)) => Ok(Some((text.to_owned(), files::real_path(&path)))),
            None => files::read(&path, &shown),
        };
        let mut place = LayerFile {
            layer,
            is_jps: self.sources.belongs_to_jp(&path),
            real: None,
            path,
            is_extended: false,
        };
        match content {
            Ok(Some((content, real))) => {
                place.real = real;
                self.read(place, content);
            }
            Ok(None) => {
                place.real = files::real_path(&place.path);
                self.note_file(&place, false);
                if layer == Layer::File {
                    self.gathered.problems.push(missing_file(&shown));
                }
            }
            Err(problem) => self.gathered.problems.push(*problem),
        }
    }

    /// Takes the text of a file in, with what it extends.
    fn read(&mut self, place: LayerFile, content: String) {
        let text = ConfigText::new(
            place.layer,
            self.shown(&place.path),
            Some(place.path.clone()),
            content,
        );
        let mut problems = Vec::new();
        let node = read_text(&text, place.is_jps, &mut self.ignored, &mut problems);
        let is_clear = !problems
            .iter()
            .any(|problem| problem.key_path().starts_with(KEY));
        let wanted = match &node {
            Some(node) if is_clear => find::wanted(node),
            _ => Vec::new(),
        };
        self.note_identity(&place);
        self.chain.push(place.path.clone());
        for wanted in wanted.iter().filter(|wanted| !wanted.is_after) {
            self.extend(wanted, &place);
        }
        self.note_file(&place, true);
        self.gathered.problems.append(&mut problems);
        if place.layer == Layer::Workspace && node.is_some() {
            let content = ContentFile::new(&text.name, place.is_jps, &text.content);
            self.gathered.contents.push(content);
        }
        self.gathered.layers.extend(node);
        for wanted in wanted.iter().filter(|wanted| wanted.is_after) {
            self.extend(wanted, &place);
        }
        self.chain.pop();
    }

    /// Reads the files that one entry of `extends` names.
    fn extend(&mut self, wanted: &ExtendsEntry, from: &LayerFile) {
        let found = match find::find(self, wanted, from) {
            Ok(found) => found,
            Err(problem) => {
                self.gathered.problems.push(*problem);
                return;
            }
        };
        for path in found {
            if let Err(problem) = self.extended_file(wanted, from, path) {
                self.gathered.problems.push(*problem);
                return;
            }
        }
    }

    fn extended_file(
        &mut self,
        wanted: &ExtendsEntry,
        from: &LayerFile,
        path: Utf8PathBuf,
    ) -> Result<(), Box<Problem>> {
        if self
            .chain
            .iter()
            .any(|other| self.same(from.layer, other, &path))
        {
            return Err(wanted.error(cycle(self, &path)));
        }
        if self.is_named(from.layer, &path) {
            // A pattern may cover it; that changes nothing.
            return match wanted.is_pattern() {
                true => Ok(()),
                false => Err(wanted.error((
                    format!(
                        "{} is loaded without being extended",
                        quote(&self.shown(&path))
                    ),
                    hint!("remove it from `extends`"),
                ))),
            };
        }
        if self
            .loaded
            .contains(&(from.layer, self.identity(from.layer, &path)))
        {
            return Ok(());
        }
        if self.chain.len() > MOST_LEVELS {
            return Err(wanted.error((
                format!("files extend each other over more than {MOST_LEVELS} levels"),
                hint!("name the files in one place"),
            )));
        }
        self.extended += 1;
        if self.extended > MOST_FILES {
            return Err(wanted.error((
                format!("more than {MOST_FILES} files are extended"),
                hint!("name fewer files, or put several into one"),
            )));
        }
        let (content, real) = self.content(wanted, &path)?;
        self.extended_bytes += content.len();
        if self.extended_bytes > MOST_BYTES {
            return Err(wanted.error((
                format!(
                    "the extended files hold more than {} MiB",
                    MOST_BYTES / (1024 * 1024)
                ),
                hint!("name fewer or smaller files"),
            )));
        }
        let place = LayerFile {
            layer: from.layer,
            is_jps: from.is_jps || self.sources.belongs_to_jp(&path),
            path,
            real,
            is_extended: true,
        };
        self.read(place, content);
        Ok(())
    }

    /// The text of an extended file, and where that lies.
    fn content(
        &self,
        wanted: &ExtendsEntry,
        path: &Utf8Path,
    ) -> Result<ConfigFileText, Box<Problem>> {
        let shown = self.shown(path);
        let content = match self.inside_by_name(path) {
            Some(inside) => {
                match files::read_without_links(&self.sources.workspace, inside.as_str(), &shown) {
                    Ok(content) => content,
                    Err(files::FolderFileError::Link(link)) => {
                        return Err(wanted.error(behind_link(&self.shown(path), link.as_str())));
                    }
                    Err(files::FolderFileError::Other(problem)) => return Err(problem),
                }
            }
            None => files::read(path, &shown)?,
        };
        content.ok_or_else(|| {
            let help = match path.as_str().contains(['[', '{']) {
                true => {
                    hint!("correct the path, or create the file; only `*`, `**` and `?` make a pattern")
                }
                false => hint!("correct the path, which is relative to this file, or create the file"),
            };
            wanted.error((
                format!("there is no file {} to extend", quote(&shown)),
                help,
            ))
        })
    }

    /// The place of a file that has to be reached without links, because it lies in the workspace by its name: a
    /// tool could make a link on the way lead elsewhere, whoever names the file.
    fn inside_by_name(&self, path: &Utf8Path) -> Option<ProjectPath> {
        let relative = path.strip_prefix(&self.sources.workspace).ok()?;
        ProjectPath::normalize(relative.as_str()).ok()
    }

    /// The path by which the workspace knows a file that lies in it: the names after the link of the person's that
    /// leads there are names in the workspace, where a tool can make links.
    fn settled(&self, path: &Utf8Path) -> Utf8PathBuf {
        let workspace = &self.sources.workspace;
        let by_link = || {
            let real_workspace = self.real_workspace.as_deref()?;
            if files::real_path(path)? == *path {
                return None;
            }
            let folders: Vec<&Utf8Path> = path.ancestors().skip(1).collect();
            folders.into_iter().rev().find_map(|folder| {
                let inside = files::real_path(folder)?;
                let inside = inside.strip_prefix(real_workspace).ok()?;
                let rest = path.strip_prefix(folder).ok()?;
                Some(workspace.join(inside).join(rest))
            })
        };
        let is_inside = path.starts_with(workspace);
        let settled = if is_inside { None } else { by_link() };
        settled.unwrap_or_else(|| path.to_owned())
    }

    fn note_file(&mut self, place: &LayerFile, found: bool) {
        let inside = inside(place.real.as_deref(), self.real_workspace.as_deref());
        self.gathered.files.push(ConfigFile {
            path: place.path.clone(),
            layer: place.layer,
            found,
            is_extended: place.is_extended,
            inside,
        });
    }

    fn note_identity(&mut self, place: &LayerFile) {
        let identity = self.identity(place.layer, &place.path);
        self.loaded.insert((place.layer, identity));
    }

    /// What makes two paths one file. In the workspace there are no links on the way.
    fn identity(&self, layer: Layer, path: &Utf8Path) -> Utf8PathBuf {
        match layer {
            Layer::Workspace => path.to_owned(),
            _ => files::real_path(path).unwrap_or_else(|| path.to_owned()),
        }
    }

    fn same(&self, layer: Layer, one: &Utf8Path, other: &Utf8Path) -> bool {
        one == other || self.identity(layer, one) == self.identity(layer, other)
    }

    /// Whether the file is loaded whoever extends it.
    fn is_named(&self, layer: Layer, path: &Utf8Path) -> bool {
        let mut named = self.named.iter().filter(|(other, _)| *other == layer);
        named.any(|(_, other)| self.same(layer, other, path))
    }

    fn shown(&self, path: &Utf8Path) -> String {
        shown_path(path, &self.sources.workspace).to_string()
    }
}

/// The tree of a text, without the keys that are JP's.
pub(crate) fn read_text(
    text: &Arc<ConfigText>,
    is_jps: bool,
    ignored: &mut Vec<IgnoredKey>,
    problems: &mut Vec<Problem>,
) -> Option<ConfigNode> {
    match parse(text) {
        Ok(mut node) => {
            if is_jps {
                jp_keys::take_out(&mut node, ignored);
            }
            Some(checked(node, problems))
        }
        Err(errors) => {
            problems.extend(errors);
            None
        }
    }
}

/// `node`, with its problems reported. A tree with problems is kept, so that the tools without
/// any can still be looked at; it is never loaded.
pub(crate) fn checked(node: ConfigNode, problems: &mut Vec<Problem>) -> ConfigNode {
    check(&ROOT, &node, &mut Vec::new(), problems);
    check_llm(&node, problems);
    node
}

/// Refuses `extends` where there is no file that it could be relative to.
pub(crate) fn refuse(node: &ConfigNode, problems: &mut Vec<Problem>) {
    if let Some(entry) = node.entry(KEY) {
        let problem = Problem::error(
            "only a file can extend others",
            hint!("give the file by `--config FILE`, or write `extends` in `jig.toml`"),
        );
        problems.push(problem.at(&entry.key, "").key(KEY));
    }
}

/// A text, and where the file that was opened lies, if the kernel tells.
type ConfigFileText = (String, Option<Utf8PathBuf>);

/// The place of a file in the workspace, by what the kernel calls both.
pub(super) fn inside(
    real: Option<&Utf8Path>,
    real_workspace: Option<&Utf8Path>,
) -> Option<ProjectPath> {
    let relative = real?.strip_prefix(real_workspace?).ok()?;
    ProjectPath::normalize(relative.as_str()).ok()
}

fn missing_file(shown: &str) -> Problem {
    Problem::error(
        format!("there is no file {}", quote(shown)),
        hint!("correct the path given by `--config`, or create the file"),
    )
    .in_file(shown)
}

fn cycle(reader: &ConfigFileReader<'_>, path: &Utf8Path) -> (String, Hint) {
    let chain = reader.chain.iter().map(|one| reader.shown(one));
    let mut chain: Vec<String> = chain.map(|one| quote(&one)).collect();
    chain.push(quote(&reader.shown(path)));
    (
        format!("files extend each other in a circle: {}", chain.join(" → ")),
        hint!("remove one of the entries of `extends`; a pattern must not cover its own file"),
    )
}

fn behind_link(shown: &str, link: &str) -> (String, Hint) {
    let message = match shown == link {
        true => format!("{} is a symbolic link", quote(shown)),
        false => format!(
            "{} lies behind the symbolic link {}",
            quote(shown),
            quote(link)
        ),
    };
    (
        format!("{message}, and a file of the workspace extends only what is there itself"),
        hint!(
            "write the path of the file that is meant, or put a copy in place of {}",
            quote(link)
        ),
    )
}

impl ExtendsEntry {
    /// What is wrong with the entry: the message and what to do.
    fn error(&self, (message, help): (String, Hint)) -> Box<Problem> {
        Box::new(Problem::error(message, help).at(&self.origin, "").key(KEY))
    }
}

/// An entry of `extends`: see [`find::wanted`].
fn origin_of(node: &ConfigNode) -> Origin {
    match &node.value {
        Value::Table(_) => node.get("path").unwrap_or(node).origin.clone(),
        _ => node.origin.clone(),
    }
}

/// The key.
pub(crate) const KEY: &str = "extends";

/// How many files may extend each other in a row.
const MOST_LEVELS: usize = 16;

/// How many files may be extended in all. A project with a file for each tool has some hundred; a pattern in a
/// cloned repository could match millions.
const MOST_FILES: usize = 1000;

/// How much text they may hold together, for the same reason.
const MOST_BYTES: usize = 16 * 1024 * 1024;
