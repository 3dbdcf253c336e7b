//! Repositories that are made to have a program run while somebody commits. Each is tried with plain git first, which
//! runs it.

use super::git::{git, marks, repository};
use super::*;

/// A repository with a change that is staged, and a place for marks.
fn prepared() -> Workshop {
    let shop = repository();
    std::fs::create_dir_all(shop.root.join("marks")).unwrap();
    std::fs::write(shop.root.join("marks/.gitignore"), "*\n").unwrap();
    git(&shop.root, &["add", "numbers"]);
    shop
}

/// A command that leaves a mark. It needs nothing but a shell, so the sandbox of the tool does not stop it.
fn command(shop: &Workshop, more: &str) -> String {
    format!("touch {}/marks/ran; {more}", shop.root)
}

/// Plain git, which may fail. It has to run the program.
#[track_caller]
fn by_hand(shop: &Workshop) {
    let root = &shop.root;
    std::process::Command::new("git")
        .args(["commit", "--quiet", "-m", "by hand"])
        .current_dir(root)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", root)
        .output()
        .unwrap();
    assert_eq!(marks(shop), ["ran"], "plain git does not run it");
    std::fs::remove_file(root.join("marks/ran")).unwrap();
}

fn commit() -> Value {
    json!({"command": "commit", "message": "by the tool"})
}

/// A submodule has a configuration of its own, with filters of its own. Git looks into it to say what is not staged.
#[test]
fn a_commit_of_nothing_runs_no_filter_of_a_submodule() {
    let shop = prepared();
    let root = shop.root.clone();
    git(&root, &["commit", "--quiet", "-m", "numbers"]);
    let inner = root.join(".git/inner");
    std::fs::create_dir(&inner).unwrap();
    git(&inner, &["init", "--quiet"]);
    std::fs::write(inner.join("file"), "abc").unwrap();
    git(&inner, &["add", "."]);
    git(&inner, &["commit", "--quiet", "-m", "inner"]);
    let allowed = "protocol.file.allow=always";
    let add = ["-c", allowed, "submodule", "--quiet", "add"];
    git(&root, &[&add[..], &["./.git/inner", "sub"]].concat());
    git(&root, &["commit", "--quiet", "-m", "submodule"]);
    let filter = command(&shop, "cat");
    git(&root.join("sub"), &["config", "filter.mark.clean", &filter]);
    let attributes = root.join(".git/modules/sub/info/attributes");
    std::fs::write(attributes, "file filter=mark\n").unwrap();
    // As long as before: only its content tells that it changed.
    std::fs::write(root.join("sub/file"), "abd").unwrap();
    by_hand(&shop);
    let nothing = shop.refusal("git", commit());
    assert!(nothing.contains("nothing is staged"), "{nothing}");
    assert_eq!(marks(&shop), [""; 0]);
}

/// A partial clone fetches an object that is missing, from where its configuration says, by the program that it names.
#[test]
fn a_commit_fetches_nothing_that_is_missing() {
    let shop = prepared();
    let root = shop.root.clone();
    let upload = command(&shop, "false");
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", root.as_str()),
        ("remote.origin.promisor", "true"),
        ("remote.origin.uploadPack", &upload),
    ] {
        git(&root, &["config", key, value]);
    }
    let tree = git(&root, &["rev-parse", "HEAD^{tree}"]);
    let (folder, name) = tree.trim().split_at(2);
    std::fs::remove_file(root.join(".git/objects").join(folder).join(name)).unwrap();
    by_hand(&shop);
    let told = shop.refusal("git", commit());
    assert!(told.contains("cannot tell what is staged"), "{told}");
    assert_eq!(marks(&shop), [""; 0]);
    // This one is not preceded by the question, and may do without the object.
    let amend = json!({"command": "commit", "message": "x", "args": ["--amend"]});
    let _ = shop.ask("git", amend, &mut Nobody);
    assert_eq!(marks(&shop), [""; 0]);
}

/// A filter with a name that cannot be given on a command line cannot be silenced, so nothing is committed.
#[test]
fn a_commit_is_refused_where_a_filter_cannot_be_silenced() {
    let shop = prepared();
    let root = shop.root.clone();
    let filter = command(&shop, "cat");
    let config = root.join(".git/config");
    let plain = std::fs::read(&config).unwrap();
    let attributes = root.join(".git/info/attributes");
    for name in [&b"a=b"[..], b"\xff"] {
        git(&root, &["add", "two"]);
        let section = [
            b"[filter \"",
            name,
            b"\"]\n\tclean = ",
            filter.as_bytes(),
            b"\n",
        ];
        std::fs::write(&config, [&plain, &section.concat()[..]].concat()).unwrap();
        let line = [b"one filter=", name, b"\n"].concat();
        std::fs::write(&attributes, line).unwrap();
        // Of another time and of the same length: its content is compared.
        std::fs::write(root.join("one"), "ONE").unwrap();
        by_hand(&shop);
        std::fs::write(root.join("one"), "One").unwrap();
        std::fs::write(root.join("two"), name).unwrap();
        git(&root, &["add", "two"]);
        let told = shop.refusal("git", commit());
        assert!(told.contains("cannot be kept from running"), "{told}");
        assert_eq!(marks(&shop), [""; 0]);
    }
}

/// A resolution of a conflict that was recorded before is tried on the way, by the program that merges such files.
#[test]
fn a_commit_replays_no_resolution() {
    let shop = prepared();
    let root = shop.root.clone();
    git(&root, &["config", "rerere.enabled", "true"]);
    git(&root, &["commit", "--quiet", "-m", "numbers"]);
    git(&root, &["checkout", "--quiet", "-b", "other"]);
    std::fs::write(root.join("one"), "other\n").unwrap();
    git(&root, &["commit", "--quiet", "-am", "other"]);
    git(&root, &["checkout", "--quiet", "main"]);
    std::fs::write(root.join("one"), "main\n").unwrap();
    git(&root, &["commit", "--quiet", "-am", "main"]);
    let merged = std::process::Command::new("git")
        .args(["merge", "--quiet", "other"])
        .current_dir(&root)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", &root)
        .output()
        .unwrap();
    assert!(!merged.status.success(), "{merged:?}");
    let conflict = std::fs::read(root.join("one")).unwrap();
    std::fs::write(root.join("one"), "both\n").unwrap();
    git(&root, &["commit", "--quiet", "-am", "merged"]);
    let mut recorded = std::fs::read_dir(root.join(".git/rr-cache")).unwrap();
    let recorded = recorded.next().unwrap().unwrap().path();
    let images = ["preimage", "postimage"].map(|name| recorded.join(name));
    let images = images.map(|path| (std::fs::read(&path).unwrap(), path));
    let id = recorded.file_name().unwrap().to_str().unwrap();
    let driver = command(&shop, "false");
    git(&root, &["config", "merge.mark.driver", &driver]);
    std::fs::write(root.join(".git/info/attributes"), "one merge=mark\n").unwrap();
    let again = || {
        std::fs::write(root.join("one"), &conflict).unwrap();
        git(&root, &["add", "one"]);
        // A resolution that was tried in vain is forgotten.
        for (content, path) in &images {
            std::fs::write(path, content).unwrap();
        }
        let path = root.join(".git/MERGE_RR");
        std::fs::write(path, format!("{id}\tone\0")).unwrap();
    };
    again();
    by_hand(&shop);
    std::fs::write(root.join("one"), "both\n").unwrap();
    git(&root, &["add", "one"]);
    git(
        &root,
        &[
            "-c",
            "rerere.enabled=false",
            "commit",
            "--quiet",
            "-m",
            "back",
        ],
    );
    again();
    let done = shop.called("git", commit());
    assert!(done.contains("by the tool"), "{done}");
    assert_eq!(marks(&shop), [""; 0]);
}
