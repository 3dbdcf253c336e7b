//! Run rules on a directory that also match its neighbours.

use camino::Utf8Path;
use jig_proto::{ProjectPath, ToolAction, hint};

use crate::loading::files;
use crate::loading::sources::Sources;
use crate::model::{RunTest, Tool};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::{clean, quote};

pub(super) fn lint(
    sources: &Sources,
    tool: &Tool,
    seen: &mut Vec<Origin>,
    warnings: &mut Vec<Problem>,
) {
    let rules = ToolAction::ALL.into_iter();
    let rules = rules.flat_map(|action| tool.run.of(action).rules());
    for rule in rules {
        // What all tools have from `'*'` is said once.
        if seen.contains(rule.origin()) {
            continue;
        }
        seen.push(rule.origin().clone());
        for condition in &rule.conditions {
            let RunTest::Prefix(prefix) = &condition.test else {
                continue;
            };
            if !names_directory(&sources.workspace, prefix) {
                continue;
            }
            let problem = Problem::warning(
                format!(
                    "{} is a directory, and without a slash it also begins {}",
                    quote(prefix),
                    quote(&format!("{prefix}-other/file"))
                ),
                hint!("write `prefix = \"{}/\"`", clean(prefix)),
            );
            let key = format!("{}.run", tool.table());
            warnings.push(problem.at(rule.origin(), "").key(key));
        }
    }
}

fn names_directory(workspace: &Utf8Path, prefix: &str) -> bool {
    if prefix.ends_with('/') {
        return false;
    }
    match ProjectPath::normalize(prefix) {
        Ok(path) => !path.is_root() && files::is_directory(&path.under(workspace)),
        Err(_) => false,
    }
}
