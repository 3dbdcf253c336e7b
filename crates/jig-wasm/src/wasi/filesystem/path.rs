//! Paths as a guest writes them: relative to a directory that it holds.

use std::borrow::Cow;

use jig_proto::ProjectPath;

use crate::bindings::wasi::filesystem::types::ErrorCode;

/// Where a path of a guest leads, by its letters: no link has been followed yet.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct GuestPath<'a> {
    /// The path in the workspace, normal, as requests have it: the workspace itself is `.`.
    pub(super) path: Cow<'a, str>,
    /// Whether it is written as only a directory can be: with a slash or a dot at its end.
    pub(super) directory: bool,
}

impl<'a> GuestPath<'a> {
    /// Reads a path that is relative to `base`.
    ///
    /// `..` is folded before any link is looked at, and must not leave `base`: a directory that a guest holds
    /// leads to nothing above it.
    pub(super) fn new(base: &ProjectPath, text: &'a str) -> Result<Self, ErrorCode> {
        if text.is_empty() {
            return Err(ErrorCode::NoEntry);
        }
        if text.len() > MAX_PATH {
            return Err(ErrorCode::NameTooLong);
        }
        let mut normal = true;
        let mut depth = 0;
        let mut last = "";
        for name in text.split('/') {
            if name.len() > MAX_NAME {
                return Err(ErrorCode::NameTooLong);
            }
            if name.contains('\0') {
                return Err(ErrorCode::IllegalByteSequence);
            }
            normal &= !matches!(name, "" | "." | "..");
            depth += 1;
            last = name;
        }
        if text.starts_with('/') {
            return Err(ErrorCode::NotPermitted);
        }
        // What nearly every path is: nothing has to be copied.
        if normal && base.is_root() && depth <= MAX_DEPTH {
            return Ok(Self {
                path: Cow::Borrowed(text),
                directory: false,
            });
        }
        let path = fold(base, text)?;
        if path.len() > MAX_PATH || path.matches('/').count() >= MAX_DEPTH {
            return Err(ErrorCode::NameTooLong);
        }
        Ok(Self {
            path: match path.is_empty() {
                true => Cow::Borrowed("."),
                false => Cow::Owned(path),
            },
            directory: matches!(last, "" | "." | ".."),
        })
    }
}

/// The path in the workspace; empty for the workspace itself.
fn fold(base: &ProjectPath, text: &str) -> Result<String, ErrorCode> {
    let base = base.as_str();
    let mut path = String::with_capacity(base.len() + 1 + text.len());
    path.push_str(base);
    for name in text.split('/') {
        match name {
            "" | "." => {}
            ".." if path.len() == base.len() => return Err(ErrorCode::NotPermitted),
            // There is a slash after the base, and none of it is ever taken away.
            ".." => path.truncate(path.rfind('/').unwrap_or(0)),
            name => {
                if !path.is_empty() {
                    path.push('/');
                }
                path.push_str(name);
            }
        }
    }
    Ok(path)
}

/// Whether the target of a link that stands at `link` stays in `mount`, by its letters.
pub(super) fn stays_inside(mount: &ProjectPath, link: &ProjectPath, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains('\0') {
        return false;
    }
    let Some(mut depth) = link.depth().checked_sub(mount.depth() + 1) else {
        return false;
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => match depth.checked_sub(1) {
                Some(above) => depth = above,
                None => return false,
            },
            _ => depth += 1,
        }
    }
    true
}

/// The longest path, in bytes, with that of the directory that it is relative to.
const MAX_PATH: usize = 4096;

/// The most directories in directories. A guest that makes them, each by way of the one before, would otherwise
/// have us walk ever longer paths.
const MAX_DEPTH: usize = 256;

/// The longest name, in bytes, as nearly every disk has it.
const MAX_NAME: usize = 255;

#[cfg(test)]
mod tests;
