//! [`Hint`]: what to do about a refusal or a mistake. Every hint of jig is made by [`hint!`](crate::hint).
//!
//! Because all of them are made in one place, a test can know them all: debug builds record each one, and
//! `cargo xtask test` fails if the suite produced one that no test follows.

use std::fmt;

use serde_json::json;

/// What somebody can do about a refusal or a mistake. It is shown as a line that begins with `hint: `.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    // No larger than a `String`: many errors hold one.
    template: &'static &'static str,
    text: Box<str>,
}

/// Makes a [`Hint`] of a template and what is filled in, as `format!` takes them.
///
/// ```
/// let hint = jig_proto::hint!("make it first: mkdir -p {}", "out");
/// assert_eq!(hint.to_string(), "hint: make it first: mkdir -p out");
/// assert_eq!(hint.text(), "make it first: mkdir -p out");
/// ```
#[macro_export]
macro_rules! hint {
    ($template:literal $($rest:tt)*) => {
        $crate::Hint::made(&$template, ::std::format!($template $($rest)*))
    };
}

impl Hint {
    /// For [`hint!`](crate::hint) alone.
    #[doc(hidden)]
    pub fn made(template: &'static &'static str, text: String) -> Self {
        record(|| json!({ "template": template, "text": text }));
        Self {
            template,
            text: text.into_boxed_str(),
        }
    }

    /// The words alone.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What it was made of, for a test that follows it.
    #[doc(hidden)]
    pub fn template(&self) -> &'static str {
        self.template
    }
}

/// As a line of its own.
impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hint: {}", self.text)
    }
}

/// The words alone.
impl From<Hint> for String {
    fn from(hint: Hint) -> Self {
        hint.text.into_string()
    }
}

/// Passes on lines of TOML that are offered as they are, and records them as hints are.
#[doc(hidden)]
#[track_caller]
pub fn offered_rule(lines: String) -> String {
    let site = std::panic::Location::caller();
    record(|| json!({ "rule": lines, "file": site.file(), "line": site.line() }));
    lines
}

/// Flags that are offered to whoever ran jig with `given`. `accepted` says whether jig takes them.
#[doc(hidden)]
pub fn offered_flags(flags: &[String], given: &[String], accepted: impl FnOnce() -> bool) {
    record(|| json!({ "flags": flags, "given": given, "accepted": accepted() }));
}

/// Notes in the record that a test made the mistake, did what this template of a hint says, and was not told
/// the same again.
#[doc(hidden)]
pub fn followed_hint(template: &str) {
    record(|| json!({ "followed": template }));
}

/// Writes a line to the record of the tests.
///
/// Only a debug build does, only to `target/hints.jsonl` of the very checkout that it was built from, and
/// only if that file is there: `cargo xtask test` makes it. No variable of the environment says where, so that
/// nobody who starts jig, and nothing that jig starts, can have it write elsewhere; a release build has
/// none of this.
#[cfg(all(debug_assertions, unix))]
fn record(line: impl FnOnce() -> serde_json::Value) {
    use std::collections::HashSet;
    use std::io::Write as _;
    use std::sync::{LazyLock, Mutex, PoisonError};

    static WRITTEN: LazyLock<Mutex<HashSet<String>>> = LazyLock::new(Mutex::default);

    let line = format!("{}\n", line());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    if !written.insert(line.clone()) {
        return;
    }
    // Opened for each line: tests count the descriptors that jig has open.
    #[expect(
        clippy::disallowed_types,
        reason = "the record of the tests is no file of a workspace, and no release has it"
    )]
    let file = std::fs::OpenOptions::new().append(true).open(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/hints.jsonl"
    ));
    if let Ok(mut file) = file {
        // One write, so that the lines of many processes stay whole.
        let _ = file.write_all(line.as_bytes());
    }
}

#[cfg(not(all(debug_assertions, unix)))]
fn record(_: impl FnOnce() -> serde_json::Value) {}
