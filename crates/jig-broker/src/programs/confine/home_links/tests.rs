use std::path::{Path, PathBuf};

use jig_sandbox::{PrivateContent, PrivateFile};

use super::links;
use crate::programs::confine::testing::TestTree;
use crate::programs::confine::{ConfineSettings, SystemAccess};

#[test]
fn what_is_declared_in_the_home_is_found_in_the_private_one() {
    let tree = TestTree::new(&[
        "home/.npmrc",
        "home/.cache/pip/",
        "home/dots/vimrc",
        "home/.vimrc -> dots/vimrc",
        "home/.cargo/config.toml",
        "elsewhere/",
    ]);
    let home = tree.root().join("home");
    let judged = |declared: &[&str], changeable: &[PathBuf], expected: &[(&str, &str)]| {
        let system = declared.iter().map(|path| SystemAccess {
            path: tree.root().join(path),
            write: false,
            execute: false,
        });
        let settings = ConfineSettings {
            home: Some(home.clone()),
            system: system.collect(),
            ..ConfineSettings::default()
        };
        let taken = [PrivateFile {
            path: "/home/jig/.cargo/bin".into(),
            content: PrivateContent::Link("/x".into()),
        }];
        let made = links(
            &settings,
            Some(&home),
            Path::new("/home/jig"),
            changeable,
            &taken,
        );
        let expected: Vec<PrivateFile> = expected
            .iter()
            .map(|(path, to)| PrivateFile {
                path: PathBuf::from(path),
                content: PrivateContent::Link(tree.root().join(to)),
            })
            .collect();
        assert_eq!(made, expected, "{declared:?}");
    };
    let check = |declared: &[&str], expected: &[(&str, &str)]| judged(declared, &[], expected);
    check(&["home/.npmrc"], &[("/home/jig/.npmrc", "home/.npmrc")]);
    check(
        &["home/.cache/pip"],
        &[("/home/jig/.cache/pip", "home/.cache/pip")],
    );
    // Where a link leads to is what is shown.
    check(&["home/.vimrc"], &[("/home/jig/.vimrc", "home/dots/vimrc")]);
    // Not if a tool may have put the link there.
    let places = [home.clone()];
    judged(&["home/.vimrc"], &places, &[]);
    let npmrc = [("/home/jig/.npmrc", "home/.npmrc")];
    judged(&["home/.npmrc"], &places, &npmrc);
    judged(
        &["home/.vimrc"],
        &[tree.root().join("home/dots")],
        &[("/home/jig/.vimrc", "home/dots/vimrc")],
    );
    // What lies elsewhere is found where it is, and the home as a whole stays the program's own.
    check(&["elsewhere", "home", "home/missing"], &[]);
    // What a preset has put there stays, and so does what is in it.
    check(&["home/.cargo", "home/.cargo/bin"], &[]);
    // One in the other: the first holds the second.
    check(
        &["home/.cache", "home/.cache/pip"],
        &[("/home/jig/.cache", "home/.cache")],
    );
}
