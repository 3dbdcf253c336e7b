//! Gathering lines from one file, and files from all threads, within the limits.

use std::collections::BTreeMap;
use std::io;

use grep_searcher::{Searcher, Sink, SinkContext, SinkMatch};
use jig_proto::ProjectPath;

use super::{GrepFileMatches, GrepLine, GrepQuery, Matches};

/// The lines of one file, as the searcher reports them.
pub(crate) struct GrepHits {
    lines: Vec<GrepLine>,
    matches: u64,
    bytes: u64,
    max_matches: u64,
    max_bytes: u64,
}

impl GrepHits {
    pub(super) fn new(query: &GrepQuery) -> Self {
        Self {
            lines: Vec::new(),
            matches: 0,
            bytes: 0,
            max_matches: query.max_matches,
            max_bytes: query.max_bytes,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.matches == 0
    }

    fn add(&mut self, number: Option<u64>, bytes: &[u8], is_match: bool) -> bool {
        let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let cut = line.len() > MAX_LINE;
        let mut content = String::from_utf8_lossy(&line[..line.len().min(MAX_LINE)]).into_owned();
        if cut {
            // The cut may have split a character, which then reads as a replacement.
            content.truncate(content.trim_end_matches('\u{fffd}').len());
        }
        self.bytes += content.len() as u64;
        self.matches += u64::from(is_match);
        self.lines.push(GrepLine {
            line_number: number.unwrap_or(0),
            content,
            is_match,
            cut,
        });
        // One more than the limit proves that there is more, and is enough.
        self.matches <= self.max_matches && self.bytes <= self.max_bytes
    }
}

impl Sink for &mut GrepHits {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        Ok(self.add(found.line_number(), found.bytes(), true))
    }

    fn context(&mut self, _: &Searcher, near: &SinkContext<'_>) -> Result<bool, io::Error> {
        Ok(self.add(near.line_number(), near.bytes(), false))
    }
}

/// The files from all threads. It never holds much more than the limits allow, and what it holds
/// are the first ones by path, so the outcome does not depend on which thread was quicker.
pub(super) struct Collector {
    files: BTreeMap<ProjectPath, GrepHits>,
    matches: u64,
    bytes: u64,
    max_matches: u64,
    max_bytes: u64,
    pub(super) skipped: u64,
    pub(super) ignored: u64,
    pub(super) unreadable: u64,
}

impl Collector {
    pub(super) fn new(query: &GrepQuery) -> Self {
        Self {
            files: BTreeMap::new(),
            matches: 0,
            bytes: 0,
            max_matches: query.max_matches,
            max_bytes: query.max_bytes,
            skipped: 0,
            ignored: 0,
            unreadable: 0,
        }
    }

    fn is_over(&self, matches: u64, bytes: u64) -> bool {
        matches > self.max_matches || bytes > self.max_bytes
    }

    /// Takes in a file. Says whether the limits are exceeded by now.
    pub(super) fn add(&mut self, path: ProjectPath, hits: GrepHits) -> bool {
        if self.is_too_late(&path) || self.files.contains_key(&path) {
            return self.is_over(self.matches, self.bytes);
        }
        self.matches += hits.matches;
        self.bytes += hits.bytes;
        self.files.insert(path, hits);
        while let Some(last) = self.files.last_entry() {
            let matches = self.matches - last.get().matches;
            let bytes = self.bytes - last.get().bytes;
            if matches <= self.max_matches && bytes <= self.max_bytes {
                break;
            }
            last.remove();
            (self.matches, self.bytes) = (matches, bytes);
        }
        self.is_over(self.matches, self.bytes)
    }

    /// Whether nothing at or below this path can be among the first matches any more.
    pub(super) fn is_too_late(&self, path: &ProjectPath) -> bool {
        self.is_over(self.matches, self.bytes)
            && self
                .files
                .last_key_value()
                .is_some_and(|(last, _)| path > last)
    }

    pub(super) fn finish(self) -> Matches {
        let truncated = self.is_over(self.matches, self.bytes);
        let (mut matches, mut bytes) = (0, 0);
        let mut files = Vec::with_capacity(self.files.len());
        for (path, hits) in self.files {
            let mut lines = hits.lines;
            let fits = lines.iter().take_while(|line| {
                matches += u64::from(line.is_match);
                bytes += line.content.len() as u64;
                matches <= self.max_matches && bytes <= self.max_bytes
            });
            let fits = fits.count();
            let whole = fits == lines.len();
            lines.truncate(fits);
            if lines.iter().any(|line| line.is_match) {
                files.push(GrepFileMatches { path, lines });
            }
            if !whole {
                break;
            }
        }
        Matches {
            files,
            skipped: self.skipped,
            ignored: self.ignored,
            unreadable: self.unreadable,
            truncated,
        }
    }
}

/// A line of a generated file can have megabytes; nobody reads them in a search result.
const MAX_LINE: usize = 16 * 1024;
