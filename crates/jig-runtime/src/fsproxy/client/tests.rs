//! What a client can still do after its end. The thread of its connection may have requests that came before.

use std::sync::Arc;

use jig_broker::{Broker, BrokerParts};
use jig_files::{FilesLookup, MemoryFiles, ProjectFiles, WriteOptions};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::ProjectPath;
use jig_proto::fsproxy::{OpenMode, ProxyErrorCode};

use crate::fsproxy::{ClientOptions, Manager, ManagerOptions};

/// A client whose end has come must not change a file any more: whoever ended it may be at work on it.
#[test]
fn f087_what_is_asked_before_the_end_and_done_after_it_changes_nothing() {
    for auto_cleanup in [true, false] {
        let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
        let place = |path: &str| {
            files
                .locate(&ProjectPath::normalize(path).unwrap())
                .unwrap()
        };
        let options = WriteOptions::default();
        for path in ["old", "open"] {
            files.write(&place(path), b"content", &options).unwrap();
        }
        let options = ManagerOptions {
            auto_cleanup,
            ..ManagerOptions::default()
        };
        let manager = Manager::new(broker(&files), options);
        let (client, _socket) = manager.connect(ClientOptions::default()).unwrap();
        let state = Arc::clone(&client.0);
        let open = |path: &str, mode: OpenMode| state.open(path, mode.into(), mode.text(), None);
        let handle = open("open", OpenMode::ReadWrite).unwrap();
        client.end();

        for (path, mode) in [("old", OpenMode::Write), ("new", OpenMode::Append)] {
            assert_eq!(
                open(path, mode).unwrap_err().code,
                ProxyErrorCode::Closed,
                "{path}"
            );
        }
        assert_eq!(
            state.write(handle, b"later").unwrap_err().code,
            ProxyErrorCode::Closed
        );
        let read = state.read(handle, 10, &mut Vec::new());
        assert_eq!(read.unwrap_err().code, ProxyErrorCode::Closed);
        for path in ["old", "open"] {
            assert_eq!(files.read(&place(path), 100).unwrap(), "content", "{path}");
        }
        assert!(!place("new").exists());
    }
}

fn broker(files: &Arc<dyn ProjectFiles>) -> Broker {
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(files)));
    let (access, default) = (DeclaredAccess::default(), DefaultAccess::READ_WRITE);
    let policy = Policy::compile(&access, default, &Guards::default(), &workspace).unwrap();
    let files = Arc::clone(files);
    Broker::new(BrokerParts::new("shell", "c1", files, Arc::new(policy)))
}
