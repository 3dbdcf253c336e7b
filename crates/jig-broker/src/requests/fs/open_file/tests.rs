use std::sync::Arc;

use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::ProjectPath;

use super::super::scrubbed_copies::MAX_COPIES;
use crate::{Broker, BrokerParts, JudgedRequest, OpenFile, OpenRequest};

fn open(broker: &Broker) -> OpenFile {
    let open = OpenRequest {
        read: true,
        ..OpenRequest::new("large")
    };
    match broker.judge_open(&open) {
        JudgedRequest::Ready(work) => work.open().unwrap(),
        other => panic!("{other:?}"),
    }
}

/// A tool that opens one file again and again does not have us keep it as often.
#[test]
fn x40_copies_without_secrets_are_bounded_for_all_files_together() {
    let files = MemoryFiles::new();
    let size = 4 * 1024 * 1024;
    let path = ProjectPath::normalize("large").unwrap();
    let mut content = vec![b'a'; size];
    content.extend_from_slice(b"s3cr3t-value");
    files.put_file(&path, content, false).unwrap();
    let files: Arc<dyn ProjectFiles> = Arc::new(files);
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let (access, guards) = (DeclaredAccess::default(), Guards::default());
    let policy = Policy::compile(&access, DefaultAccess::WASM, &guards, &workspace).unwrap();
    let parts = BrokerParts::new("tool", "c1", files, Arc::new(policy));
    let broker = Broker::new(parts);
    broker.secrets().remember("s3cr3t-value");
    let copies = &broker.inner.copies;
    let mut held = Vec::new();
    for _ in 0..32 {
        let file = open(&broker);
        // With or without a copy that is kept, it reads the same.
        assert_eq!(&file.read_at(size as u64, 100).unwrap()[..], b"[REDACTED]");
        assert_eq!(file.size().unwrap(), size as u64 + 10);
        held.push(file);
        assert!(copies.taken() <= MAX_COPIES, "{}", copies.taken());
    }
    assert!(copies.taken() > MAX_COPIES / 2, "{}", copies.taken());
    drop(held);
    assert_eq!(copies.taken(), 0);
}
