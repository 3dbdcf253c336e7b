use std::borrow::Cow;

use jig_proto::ProjectPath;
use jig_proto::vfs::{
    ErrorKind, FsDelete, FsGrep, FsListDir, FsPath, FsRead, FsRename, FsWrite, HttpGet, ProcessRun,
    Request,
};
use jig_runtime::Mount;

use super::check;

fn mount(guest: &str, path: &str, writable: bool) -> Mount {
    Mount {
        guest: guest.to_owned(),
        path: ProjectPath::normalize(path).expect("it is a path"),
        writable,
    }
}

fn run() -> Request<'static> {
    Request::ProcessRun(ProcessRun {
        program: Cow::Borrowed("cat"),
        args: vec![Cow::Borrowed("a")],
        envs: Vec::new(),
        cwd: None,
    })
}

fn looks() -> Vec<Request<'static>> {
    vec![
        Request::FsRead(FsRead::new("docs/a")),
        Request::FsExists(FsPath::new("docs/a")),
        Request::FsMetadata(FsPath::new("docs/a")),
        Request::FsListDir(FsListDir::new("docs")),
        Request::FsGrep(FsGrep::new("x")),
    ]
}

fn changes() -> Vec<Request<'static>> {
    vec![
        Request::FsWrite(FsWrite::new("docs/a", "x")),
        Request::FsMkdir(FsPath::new("docs/b")),
        Request::FsDelete(FsDelete::new("docs/a")),
        Request::FsRename(FsRename::new("docs/a", "docs/b")),
        run(),
    ]
}

fn get() -> Request<'static> {
    Request::HttpGet(HttpGet {
        url: Cow::Borrowed("http://127.0.0.1/"),
        headers: Vec::new(),
    })
}

#[test]
fn w025_a_guest_asks_for_no_more_than_it_sees() {
    let check_all = |mounts: &[Mount], requests: Vec<Request<'static>>, expected: Option<&str>| {
        for request in requests {
            let refused = check(mounts, &request).err();
            if let Some(error) = &refused {
                assert_eq!(error.kind(), ErrorKind::Protected);
            }
            let message = refused.map(|error| error.message);
            let found = message.as_deref().and_then(|text| text.split("`: ").nth(1));
            assert_eq!(found, expected, "{request:?}");
        }
    };
    let whole = [mount("/workspace", ".", true)];
    check_all(&whole, looks(), None);
    check_all(&whole, changes(), None);
    check_all(&whole, vec![get()], None);

    let shown = [mount("/workspace", ".", false)];
    let read_only = Some("this component sees the workspace read-only");
    check_all(&shown, looks(), None);
    check_all(&shown, changes(), read_only);
    check_all(&shown, vec![get()], None);

    let part = [mount("/subjects", "docs", true)];
    let only = Some("this component sees only `/subjects` of the workspace");
    check_all(&part, looks(), only);
    check_all(&part, changes(), only);
    check_all(&part, vec![get()], None);

    let nothing = Some("this component sees nothing of the workspace");
    check_all(&[], looks(), nothing);
    check_all(&[], changes(), nothing);
}
