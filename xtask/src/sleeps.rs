//! That no test sleeps. One that waits for time fails on a busy machine, and wastes it on an idle one.

#![expect(
    clippy::disallowed_methods,
    reason = "the sources of the repository are read"
)]

use std::path::Path;

use crate::requirements::sources;
use crate::root;

/// The one test module that sleeps: its helper waits in an async runtime, where that of jig-testkit would block.
const ASYNC_HELPER: &str = "crates/jig-mcp/src/calls/tools_call/tests.rs";

/// Whether a source is a test, or part of one. What jig-testkit itself does is not.
fn is_test(path: &Path) -> bool {
    let mut names = path.iter().map(|name| name.to_string_lossy());
    names.any(|name| matches!(&*name, "tests" | "tests.rs" | "testing" | "testing.rs"))
}

#[test]
fn tests_wait_for_events_and_not_for_time() {
    let mut paths = Vec::new();
    sources(&root().join("crates"), &mut paths);
    sources(&root().join("tools"), &mut paths);
    paths.retain(|path| is_test(path));
    assert!(paths.len() > 400, "{}", paths.len());
    let mut sleeping = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).expect("a source");
        let sleeps = |line: &&str| {
            ["thread", "time"]
                .iter()
                .any(|module| line.contains(&format!("{module}::sleep(")))
        };
        let short = path.strip_prefix(root()).unwrap_or(path);
        sleeping.extend(
            text.lines()
                .filter(sleeps)
                .map(|_| short.display().to_string()),
        );
    }
    assert_eq!(
        sleeping,
        [ASYNC_HELPER],
        "wait for an event, or with `jig_testkit::until`; `let_pass` is for tests that are about time"
    );
}
