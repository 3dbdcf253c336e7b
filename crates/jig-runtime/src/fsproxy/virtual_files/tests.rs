use std::sync::Arc;
use std::sync::atomic::Ordering;

use jig_proto::fsproxy::{OpenMode, ProxyErrorCode};

use super::{VirtualFile, VirtualFiles};

fn open(files: &VirtualFiles, name: &str, mode: OpenMode) -> Arc<VirtualFile> {
    files.open(name, mode.into()).unwrap().unwrap()
}

fn content(file: &VirtualFile) -> Vec<u8> {
    let mut content = Vec::new();
    file.read_at(0, usize::MAX, &mut content);
    content
}

#[test]
fn writes_land_where_a_descriptor_would_put_them() {
    let check = |before: &str, offset: u64, bytes: &str, expected: &str| {
        let files = VirtualFiles::new(10, 1000);
        let file = open(&files, "f", OpenMode::Write);
        file.append(before.as_bytes()).unwrap();
        file.write_at(offset, bytes.as_bytes()).unwrap();
        assert_eq!(
            content(&file),
            expected.as_bytes(),
            "{before} {offset} {bytes}"
        );
        // The room that is taken is that of the content, however it came about.
        assert_eq!(
            files.room.used.load(Ordering::Relaxed),
            expected.len() as u64
        );
    };
    check("", 0, "", "");
    check("", 0, "abc", "abc");
    check("abc", 0, "", "abc");
    check("abc", 0, "X", "Xbc");
    check("abc", 2, "XY", "abXY");
    check("abc", 3, "d", "abcd");
    check("abc", 5, "d", "abc\0\0d");
    // Writing nothing makes no gap.
    check("abc", 100, "", "abc");
}

#[test]
fn reads_end_where_the_content_ends() {
    let files = VirtualFiles::new(10, 1000);
    let file = open(&files, "f", OpenMode::Write);
    file.append(b"0123456789").unwrap();
    let check = |offset: u64, max: usize, expected: &str| {
        let mut into = b">".to_vec();
        let count = file.read_at(offset, max, &mut into);
        assert_eq!((count, &into[1..]), (expected.len(), expected.as_bytes()));
    };
    check(0, 4, "0123");
    check(8, 4, "89");
    check(10, 4, "");
    check(u64::MAX, usize::MAX, "");
    check(3, usize::MAX, "3456789");
}

#[test]
fn x25_offsets_of_any_size_take_no_memory() {
    let files = VirtualFiles::new(10, 1000);
    let file = open(&files, "f", OpenMode::ReadWrite);
    file.append(b"abc").unwrap();
    for offset in [1000, 1 << 40, u64::MAX - 1, u64::MAX] {
        let error = file.write_at(offset, b"x").unwrap_err();
        assert_eq!(error.code, ProxyErrorCode::Range, "{offset}");
    }
    assert_eq!(content(&file), b"abc");
    assert_eq!(files.room.used.load(Ordering::Relaxed), 3);
    assert_eq!(file.write_at(999, b"x"), Ok(()));
}

#[test]
fn room_is_given_back_by_emptying_and_at_the_end() {
    let files = VirtualFiles::new(2, 10);
    let one = open(&files, "one", OpenMode::Append);
    assert_eq!(one.append(b"0123456789"), Ok(10));
    let two = open(&files, "two", OpenMode::Append);
    assert!(two.append(b"x").is_err());
    drop(open(&files, "one", OpenMode::Write));
    assert_eq!(two.append(b"0123456789"), Ok(10));
    let room = Arc::clone(&files.room);
    drop((files, one));
    // A handle that is still open keeps its content.
    assert_eq!(room.used.load(Ordering::Relaxed), 10);
    drop(two);
    assert_eq!(room.used.load(Ordering::Relaxed), 0);
}

#[test]
fn a_name_is_one_file_and_there_are_so_many() {
    let files = VirtualFiles::new(2, 10);
    assert!(files.open("one", OpenMode::Read.into()).unwrap().is_none());
    let one = open(&files, "one", OpenMode::Write);
    assert!(Arc::ptr_eq(&one, &open(&files, "one", OpenMode::Read)));
    open(&files, "two", OpenMode::Append);
    let refused = files.open("three", OpenMode::Write.into()).unwrap_err();
    assert_eq!(refused.code, ProxyErrorCode::Range);
    assert!(
        files
            .open("three", OpenMode::Read.into())
            .unwrap()
            .is_none()
    );
}
