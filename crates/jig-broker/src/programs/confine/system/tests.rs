//! Programs do not see the secrets in a directory of settings.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare directories from outside"
)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

use super::secrets;
use crate::programs::confine::testing::TestTree;

#[test]
fn what_not_everybody_may_read_is_a_secret() {
    let tree = TestTree::new(&[
        "public",
        "shadow",
        "ssl/certs/one",
        "ssl/private/key",
        "ssl/keys/open",
        "ssl/keys/closed",
        "link -> shadow",
        "away -> ssl",
    ]);
    let root = tree.root();
    for (name, mode) in [
        ("shadow", 0o640),
        ("ssl/private", 0o710),
        ("ssl/keys/closed", 0o600),
    ] {
        std::fs::set_permissions(root.join(name), Permissions::from_mode(mode)).unwrap();
    }
    let expected = ["shadow", "ssl/keys/closed", "ssl/private"].map(|name| root.join(name));
    assert_eq!(secrets(&root), expected);
}

/// However many names a directory has, none of its secrets is passed over.
#[test]
fn a_large_directory_hides_no_secret() {
    let tree = TestTree::new(&["keys/"]);
    let keys = tree.root().join("keys");
    for number in 0..10_001 {
        let key = keys.join(number.to_string());
        std::fs::write(&key, "").unwrap();
        std::fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    }
    assert_eq!(secrets(&tree.root()).len(), 10_001);
}
