//! `fs_list_files`: the paths of the files below a directory.

use jig_tool::vfs::{Entry, EntryKind, ErrorKind, Host, HostError};
use jig_tool::{Content, ToolError};

use crate::arguments::ToolArguments;
use crate::phrases::{count, one_line, quoted};
use crate::refusal::explain;

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let path = arguments
        .optional_path("path")?
        .unwrap_or_else(|| ".".to_owned());
    let mut walk = ListWalk {
        extensions: arguments.texts("extensions")?.unwrap_or_default(),
        limit: limit(&mut arguments)?,
        found: Vec::new(),
        directories: 0,
        skipped: 0,
        is_cut: false,
    };
    let entries = host
        .list_dir(&path)
        .map_err(|refused| explain(&path, refused))?;
    let prefix = match path.trim_end_matches('/') {
        "." | "" => String::new(),
        directory => format!("{directory}/"),
    };
    walk.visit(host, &prefix, entries, 0)?;
    Ok(walk.into_text(&path).into())
}

fn limit(arguments: &mut ToolArguments) -> Result<usize, ToolError> {
    match arguments.count("limit")? {
        None => Ok(USUAL_LIMIT),
        Some(0) => Err(ToolError::new("`limit` must be at least 1")),
        Some(limit) => Ok(usize::try_from(limit).unwrap_or(MAX_LIMIT).min(MAX_LIMIT)),
    }
}

struct ListWalk {
    extensions: Vec<String>,
    limit: usize,
    found: Vec<String>,
    directories: usize,
    skipped: u64,
    /// Whether there may be more than was found.
    is_cut: bool,
}

impl ListWalk {
    /// Takes the files of a directory and below, in the order of their paths.
    fn visit(
        &mut self,
        host: &mut Host,
        prefix: &str,
        entries: Vec<Entry<'static>>,
        depth: usize,
    ) -> Result<(), HostError> {
        let mut entries: Vec<(String, EntryKind)> = entries
            .into_iter()
            .map(|entry| (sort_key(&entry), entry.kind))
            .collect();
        entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        for (name, kind) in entries {
            let path = format!("{prefix}{name}");
            match kind {
                EntryKind::File if self.wants(&name) => {
                    if self.found.len() == self.limit {
                        self.is_cut = true;
                    } else {
                        self.found.push(one_line(&path).into_owned());
                    }
                }
                EntryKind::Dir if name != ".git/" => self.descend(host, &path, depth)?,
                _ => {}
            }
            if self.is_cut {
                break;
            }
        }
        Ok(())
    }

    fn descend(&mut self, host: &mut Host, path: &str, depth: usize) -> Result<(), HostError> {
        if depth == MAX_DEPTH || self.directories == MAX_DIRECTORIES {
            self.is_cut |= self.directories == MAX_DIRECTORIES;
            self.skipped += 1;
            return Ok(());
        }
        self.directories += 1;
        match host.list_dir(path.trim_end_matches('/')) {
            Ok(entries) => self.visit(host, path, entries, depth + 1),
            Err(refused) if refused.is_denied() => {
                self.skipped += 1;
                Ok(())
            }
            // It was removed, or replaced, since it was listed.
            Err(gone) if gone.is_not_found() || gone.kind == ErrorKind::NotDir => Ok(()),
            Err(other) => Err(other),
        }
    }

    fn wants(&self, name: &str) -> bool {
        if self.extensions.is_empty() {
            return true;
        }
        let Some((stem, found)) = name.rsplit_once('.') else {
            return false;
        };
        let wanted = |wanted: &String| wanted.strip_prefix('.').unwrap_or(wanted) == found;
        !stem.is_empty() && self.extensions.iter().any(wanted)
    }

    fn into_text(self, path: &str) -> String {
        let mut text = self.found.join("\n");
        if self.found.is_empty() {
            let such = match self.extensions.as_slice() {
                [] => String::new(),
                extensions => format!(" with the extension {}", quoted(&extensions.join("`, `"))),
            };
            text = format!("There are no files{such} below {}.", quoted(path));
        }
        if self.is_cut {
            let shown = count(self.found.len() as u64, "file");
            text.push_str(&format!(
                "\n[Only the first {shown}; there are more. List a directory below, give `extensions`, or a larger `limit` (up to {MAX_LIMIT}).]"
            ));
        }
        if self.skipped > 0 {
            let skipped = match self.skipped {
                1 => "1 directory was".to_owned(),
                many => format!("{many} directories were"),
            };
            text.push_str(&format!(
                "\n[{skipped} left out: access is denied, or they are too deep.]"
            ));
        }
        text
    }
}

/// A directory sorts with its slash, so that the walk meets paths in their own order: `a-b` comes
/// before `a/b`.
fn sort_key(entry: &Entry<'_>) -> String {
    match entry.kind {
        EntryKind::Dir => format!("{}/", entry.path),
        _ => entry.path.clone().into_owned(),
    }
}

const USUAL_LIMIT: usize = 1_000;

/// How many paths are returned at most, whatever the caller says.
const MAX_LIMIT: usize = 10_000;

/// How deep the walk goes. A link to a directory above would else take it round and round.
const MAX_DEPTH: usize = 48;

/// How many directories are looked into. A tree of empty ones, or of links, would else keep the host
/// busy for as long as the caller likes.
const MAX_DIRECTORIES: usize = 50_000;
