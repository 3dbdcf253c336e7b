use std::borrow::Cow;

use jig_proto::ProjectPath;
use jig_proto::vfs::{
    ErrorKind, FsDelete, FsGrep, FsListDir, FsPath, FsRead, FsRename, FsWrite, HttpGet, ProcessRun,
    VfsRequest,
};
use jig_runtime::Mount;

use super::directory;

fn mount(guest: &str, path: &str, writable: bool) -> Mount {
    Mount {
        guest: guest.to_owned(),
        path: ProjectPath::normalize(path).expect("it is a path"),
        writable,
    }
}

fn run() -> VfsRequest<'static> {
    VfsRequest::ProcessRun(ProcessRun {
        program: Cow::Borrowed("cat"),
        args: vec![Cow::Borrowed("a")],
        envs: Vec::new(),
        cwd: None,
    })
}

fn get() -> VfsRequest<'static> {
    VfsRequest::HttpGet(HttpGet {
        url: Cow::Borrowed("http://127.0.0.1/"),
        headers: Vec::new(),
    })
}

/// The directory, `-` for none, or the words after the method.
#[track_caller]
fn check(mounts: &[Mount], request: VfsRequest<'_>, expected: &str) {
    let found = match directory(mounts, &request) {
        Ok(Some(directory)) => directory.to_string(),
        Ok(None) => "-".to_owned(),
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::Protected);
            let words = error.message.split("`: ").nth(1);
            words.expect("it names the method").to_owned()
        }
    };
    assert_eq!(found, expected, "{request:?}");
}

#[test]
fn a_guest_that_sees_all_may_ask_for_all() {
    let whole = [mount("/workspace", ".", true)];
    for path in ["a", "docs/a", "../x", "/etc", "", "a\0"] {
        check(&whole, VfsRequest::FsRead(FsRead::new(path)), ".");
        check(&whole, VfsRequest::FsWrite(FsWrite::new(path, "x")), ".");
    }
    check(&whole, VfsRequest::FsGrep(FsGrep::new("x")), ".");
    check(&whole, run(), ".");
    check(&whole, get(), "-");
}

#[test]
fn what_is_read_only_is_not_changed() {
    let shown = [mount("/workspace", ".", false)];
    check(&shown, VfsRequest::FsRead(FsRead::new("a")), ".");
    check(&shown, VfsRequest::FsListDir(FsListDir::new(".")), ".");
    check(&shown, VfsRequest::FsMetadata(FsPath::new("a")), ".");
    check(&shown, get(), "-");
    let read_only = "this component sees `/workspace` read-only";
    for change in [
        VfsRequest::FsWrite(FsWrite::new("docs/a", "x")),
        VfsRequest::FsMkdir(FsPath::new("docs/b")),
        VfsRequest::FsDelete(FsDelete::new("docs/a")),
        VfsRequest::FsRename(FsRename::new("docs/a", "docs/b")),
        run(),
    ] {
        check(&shown, change, read_only);
    }
}

/// The mount decides what the broker is told to stay in; that it does is tested with real links.
#[test]
fn w025_each_request_is_held_against_one_mount() {
    let parts = [
        mount("/docs", "docs", false),
        mount("/drafts", "docs/drafts", true),
        mount("/out", "out", true),
    ];
    let read = |path: &'static str| VfsRequest::FsRead(FsRead::new(path));
    check(&parts, read("docs/a"), "docs");
    check(&parts, read("docs/drafts/a"), "docs/drafts");
    check(&parts, read("out"), "out");
    // Elsewhere: whichever, since none holds it.
    for path in ["a", "documents", ".", "..", "docs/../a", "/docs", ""] {
        check(&parts, read(path), "docs");
    }
    check(
        &parts,
        VfsRequest::FsWrite(FsWrite::new("out/a", "x")),
        "out",
    );
    let docs = "this component sees `/docs` read-only";
    check(
        &parts,
        VfsRequest::FsWrite(FsWrite::new("docs/a", "x")),
        docs,
    );
    check(&parts, VfsRequest::FsWrite(FsWrite::new("a", "x")), docs);
    // Both ends in one mount, or in none.
    let rename =
        |from: &'static str, to: &'static str| VfsRequest::FsRename(FsRename::new(from, to));
    check(&parts, rename("out/a", "out/b"), "out");
    check(&parts, rename("out/a", "docs/drafts/a"), docs);
    check(&parts, VfsRequest::FsGrep(FsGrep::new("x")), "docs");
    let seen = "this component sees only `/docs`, `/drafts`, `/out` of the workspace";
    check(&parts, run(), seen);
    check(&parts, get(), "-");
    let nothing = "this component sees nothing of the workspace";
    check(&[], read("a"), nothing);
    check(&[], run(), nothing);
    check(&[], get(), "-");
}
