#![expect(
    clippy::disallowed_methods,
    reason = "the tests make a real tree, with links, outside of any workspace"
)]

use std::os::unix::fs::symlink;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{Broker, BrokerParts, JudgedRequest, OpenRequest};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{Guards, Workspace};

use super::{AllowedPaths, DISK};

/// A tree of files, and what was named of it.
struct Tree {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Tree {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        for directory in ["in/deep/.git", "out", "secret"] {
            std::fs::create_dir_all(root.join(directory)).unwrap();
        }
        for file in [
            "in/a.txt",
            "in/deep/b.txt",
            "in/.env",
            "in/jig.toml",
            "out/old.txt",
            "secret/key",
            "other.txt",
        ] {
            std::fs::write(root.join(file), file).unwrap();
        }
        for (to, link) in [
            ("in", "by-link"),
            ("../secret", "in/leads-out"),
            ("a.txt", "in/inner"),
            ("../../secret/key", "in/deep/far"),
            ("secret/key", "to-key"),
        ] {
            symlink(to, root.join(link)).unwrap();
        }
        symlink(root.join("secret/key"), root.join("in/absolute")).unwrap();
        symlink(root.join("in/a.txt"), root.join("in/absolute-inside")).unwrap();
        Self {
            _folder: folder,
            root,
        }
    }

    /// What opening comes to, with paths as clients write them: for reading, for writing.
    fn answers(&self, input: &[&str], output: &[&str], path: &str) -> (&'static str, &'static str) {
        let own = |paths: &[&str]| paths.iter().map(Utf8PathBuf::from).collect::<Vec<_>>();
        let allowed = AllowedPaths::find(&own(input), &own(output), &self.root).unwrap();
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(DISK).unwrap());
        let disk = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let guards = Guards::of_workspace();
        let policy = allowed
            .policy(guards, &self.root.join("in"), &disk)
            .unwrap();
        let broker = Broker::new(BrokerParts::new("proxy", "1", files, Arc::new(policy)));
        let path = self.root.join(path);
        let path = path.as_str().trim_start_matches('/');
        let answer = |open: OpenRequest<'_>| match broker.judge_open(&open) {
            JudgedRequest::Ready(_) => "yes",
            JudgedRequest::Refused(_) => "no",
            JudgedRequest::Uncovered(_) => "uncovered",
        };
        let read = answer(OpenRequest {
            read: true,
            ..OpenRequest::new(path)
        });
        let write = answer(OpenRequest {
            write: true,
            create: true,
            truncate: true,
            ..OpenRequest::new(path)
        });
        (read, write)
    }
}

#[track_caller]
fn check(input: &[&str], output: &[&str], path: &str, expected: (&str, &str)) {
    let answers = Tree::new().answers(input, output, path);
    assert_eq!(answers, expected, "-i {input:?} -o {output:?}: {path}");
}

/// what is only given with `-i` is never written; what is only given with `-o` is never read.
#[test]
fn each_option_gives_what_it_says() {
    check(&["in"], &[], "in/a.txt", ("yes", "no"));
    check(&["in/a.txt"], &[], "in/a.txt", ("yes", "no"));
    check(
        &["in/a.txt"],
        &[],
        "in/deep/b.txt",
        ("uncovered", "uncovered"),
    );
    check(&["in"], &[], "in/deep/b.txt", ("yes", "no"));
    check(&[], &["out"], "out/old.txt", ("no", "yes"));
    check(&[], &["out"], "out/new.txt", ("no", "yes"));
    check(&[], &["out/new.txt"], "out/new.txt", ("no", "yes"));
    check(
        &[],
        &["out/new.txt"],
        "out/old.txt",
        ("uncovered", "uncovered"),
    );
    check(&["in"], &["out"], "other.txt", ("uncovered", "uncovered"));
}

/// A path lies in all that were named above it: none of them takes away what another gives.
#[test]
fn options_add_up() {
    check(&["out"], &["out"], "out/old.txt", ("yes", "yes"));
    check(&["."], &["out"], "out/old.txt", ("yes", "yes"));
    check(&["."], &["out"], "in/a.txt", ("yes", "no"));
    check(&["in/a.txt"], &["in"], "in/a.txt", ("yes", "yes"));
    check(&["in/a.txt"], &["in"], "in/deep/b.txt", ("no", "yes"));
}

/// A link is followed to what was named, and no further.
#[test]
fn links_lead_to_what_was_named() {
    check(&["by-link"], &[], "in/a.txt", ("yes", "no"));
    check(&["by-link"], &[], "by-link/a.txt", ("yes", "no"));
    check(&["in"], &[], "in/inner", ("yes", "no"));
    check(&["in"], &[], "in/absolute-inside", ("yes", "no"));
    check(&["to-key"], &[], "secret/key", ("yes", "no"));
    check(
        &["in"],
        &["in"],
        "in/leads-out/key",
        ("uncovered", "uncovered"),
    );
    check(&["in"], &["in"], "in/deep/far", ("uncovered", "uncovered"));
    check(&["in"], &["in"], "in/absolute", ("uncovered", "uncovered"));
}

/// What lies there and is nobody's to give by a broad word.
#[test]
fn what_is_sensitive_has_to_be_named() {
    let (read, write) = Tree::new().answers(&["in"], &["in"], "in/.env");
    assert!(read != "yes" && write != "yes", "{read} {write}");
    check(&["in/.env"], &[], "in/.env", ("yes", "no"));
    for kept in ["in/jig.toml", "in/deep/.git/config", "in/.jig/config.toml"] {
        let (_, write) = Tree::new().answers(&["in"], &["in"], kept);
        assert_ne!(write, "yes", "{kept}");
    }
}

/// "Everything" is the files: not the memory and the variables of processes, which are files too.
#[test]
fn everything_leaves_the_machine_out() {
    let tree = Tree::new();
    let up = tree.root.components().count() - 1;
    let at = |path: &str| format!("{}{path}", "../".repeat(up));
    // The names of clients are folded before they come here, so the path goes through no `..`.
    for path in [
        "/proc/self/environ",
        "/proc/version",
        "/dev/null",
        "/sys/kernel",
    ] {
        assert_eq!(tree.answers(&["/"], &["/"], path), ("no", "no"), "{path}");
    }
    assert_eq!(tree.answers(&[&at("")], &[], "in/a.txt"), ("yes", "no"));
    let named = tree.answers(&["/", "/proc/version"], &[], "/proc/version");
    assert_eq!(named, ("yes", "no"));
}

/// The mistakes that people make, each with the way out.
#[test]
fn what_is_not_there_is_named() {
    let tree = Tree::new();
    let told = |input: &[&str], output: &[&str]| {
        let own = |paths: &[&str]| paths.iter().map(Utf8PathBuf::from).collect::<Vec<_>>();
        let error = AllowedPaths::find(&own(input), &own(output), &tree.root).unwrap_err();
        format!("{error:#}").replace(tree.root.as_str(), "[tree]")
    };
    insta::assert_snapshot!(told(&["nothing"], &[]), @"`-i nothing`: there is nothing there: hint: what may be read is there already; a file that is to be made is named with -o");
    insta::assert_snapshot!(told(&[], &["no/folder/x"]), @"`-o no/folder/x`: there is no folder for it: hint: make it first: mkdir -p [tree]/no/folder");
    insta::assert_snapshot!(told(&["in/a.txt/x"], &[]), @"`-i in/a.txt/x`: there is nothing there: Not a directory (os error 20)");
}
