//! [`shown_folder`]: where tests make files that a confined program does not find private.

use std::env;
use std::path::{Path, PathBuf};

/// A folder of which a confined program has none of its own. That is `target`, the one for temporary files of the
/// tests, or the home of who runs them, where the clone lies in a folder that is private in a sandbox.
///
/// Tests give programs another `HOME`, so that this home is a folder like others.
///
/// # Panics
///
/// If there is no home.
pub fn shown_folder(target: &str) -> PathBuf {
    let is_private = PRIVATE
        .iter()
        .any(|folder| Path::new(target).starts_with(folder));
    match is_private {
        true => env::home_dir().expect("who runs tests has a home"),
        false => target.into(),
    }
}

/// The folders for temporary files, of which a confined program has its own.
const PRIVATE: [&str; 2] = ["/tmp", "/var/tmp"];
