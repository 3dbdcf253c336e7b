//! [`Grep`]: a search in the files of the workspace.

use std::borrow::Cow;

use jig_proto::vfs::{FsGrep, GrepReply, Method, VfsReply, VfsRequest};

use super::{Host, HostError};

/// A search, made by [`Host::grep`] and done by [`Grep::search`].
///
/// Without more being said, it is for a regular expression, in all files, without lines around the
/// matches.
#[must_use = "nothing is searched before `search` is called"]
pub struct Grep<'h, 'a> {
    host: &'h mut Host,
    grep: FsGrep<'a>,
}

impl Host {
    /// A search for a regular expression, line by line.
    pub fn grep<'a>(&mut self, pattern: impl Into<Cow<'a, str>>) -> Grep<'_, 'a> {
        Grep {
            host: self,
            grep: FsGrep::new(pattern),
        }
    }
}

impl<'a> Grep<'_, 'a> {
    /// Searches in this file or directory as well; the first one replaces the whole workspace.
    pub fn path(mut self, path: &'a str) -> Self {
        let path = self.host.wire_path(path);
        self.grep.paths.get_or_insert_default().push(path);
        self
    }

    /// Searches in files with this extension as well, without dot; the first one replaces all files.
    pub fn extension(mut self, extension: impl Into<Cow<'a, str>>) -> Self {
        let extensions = self.grep.extensions.get_or_insert_default();
        extensions.push(extension.into());
        self
    }

    /// Gives so many lines before and after each match.
    pub fn context(mut self, lines: u32) -> Self {
        self.grep.context = lines;
        self
    }

    /// Takes the pattern as plain text.
    pub fn literal(mut self) -> Self {
        self.grep.literal = true;
        self
    }

    /// Takes upper and lower case as the same.
    pub fn ignore_case(mut self) -> Self {
        self.grep.ignore_case = true;
        self
    }

    /// Searches also in files that are hidden or that an ignore file names.
    pub fn all(mut self) -> Self {
        self.grep.all = true;
        self
    }

    /// Searches.
    ///
    /// # Errors
    ///
    /// If the pattern can't be understood, or nothing may be searched.
    pub fn search(self) -> Result<GrepReply<'static>, HostError> {
        match self.host.request(&VfsRequest::FsGrep(self.grep))? {
            VfsReply::Grep(found) => Ok(found),
            _ => Err(HostError::other_form(Method::FsGrep)),
        }
    }
}
