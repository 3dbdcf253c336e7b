//! `Workspace::resolve` against the recursive resolver.

use jig_policy::Workspace;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::random::{self, check};
use crate::agrees_with_reference::reference::tree::{Lost, Names, Tree, resolve};

pub(crate) const PAIRS: usize = 20_000;

/// Resolves in both ways, insists that they agree, and hands back what they agree on.
pub(crate) fn agreed(
    tree: &Tree,
    workspace: &Workspace<Tree>,
    input: &str,
) -> Result<Option<(Names, jig_policy::ResolvedPath)>, TestCaseError> {
    let expected = resolve(tree, input);
    match workspace.resolve(input) {
        Ok(resolved) => {
            let names = Names::of(resolved.path().as_str());
            let found = Ok((names.clone(), resolved.exists()));
            prop_assert_eq!(&expected, &found, "{:?}", input);
            Ok(Some((names, resolved)))
        }
        Err(error) => {
            let found = Lost::of(&error.reason);
            prop_assert_eq!(expected.err(), found, "{:?}: {}", input, error);
            prop_assert_eq!(error.path, input);
            Ok(None)
        }
    }
}

#[test]
fn resolution_agrees_with_a_recursion_g_053_to_g_058_x_12_x_64() {
    let inputs = (random::tree(), vec(random::path(), 40));
    check(500, PAIRS, inputs, |(tree, paths)| {
        let workspace = random::workspace(&tree);
        for path in &paths {
            if let Some((names, resolved)) = agreed(&tree, &workspace, path)? {
                // A canonical path is canonical, however often it is asked about.
                let text = resolved.path().to_string();
                let again = workspace.resolve(&text).map(|again| again == resolved);
                prop_assert!(matches!(again, Ok(true)), "{:?} moved", names);
            }
        }
        Ok(paths.len())
    });
}
