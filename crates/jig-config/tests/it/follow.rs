//! Doing what the configuration says helps, and a test of each help says so.

use jig_config::{Errors, Loaded, Problem};

/// A test did what the help of a problem says, and was told `again` then. The check of all hints (`cargo xtask test`)
/// knows the help by that.
#[track_caller]
pub(crate) fn follow(problem: &Problem, again: &[Problem]) {
    let template = problem.hint().template();
    for other in again {
        let is_same = other.hint().template() == template && other.message() == problem.message();
        assert!(!is_same, "it is said again: {}", other.render(false));
    }
    jig_proto::followed_hint(template);
}

/// The same for all that is wrong with a configuration; `again` is the mended one.
#[track_caller]
pub(crate) fn follow_all(wrong: &Errors, again: &Loaded) {
    for problem in wrong.problems() {
        follow(problem, &again.warnings);
    }
}
