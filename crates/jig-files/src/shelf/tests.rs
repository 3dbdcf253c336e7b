use super::*;

fn shelf(state: &Path, owner: &[&str]) -> Shelf {
    Shelf::of(state, "packages", owner.iter().copied())
}

#[test]
fn what_was_filled_is_there_until_it_is_set_aside() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a", "b"]);
    assert_eq!(one.current(), None);
    let filling = one.fill().unwrap();
    fs::write(filling.path().join("x"), "1").unwrap();
    assert_eq!(one.current(), None, "it is not whole yet");
    let path = filling.keep().unwrap();
    assert_eq!(one.current(), Some(path.clone()));
    assert_eq!(
        shelf(state.path(), &["ab"]).current(),
        None,
        "another owner"
    );
    one.set_aside().unwrap();
    assert_eq!(one.current(), None);
    assert!(path.join("x").exists(), "somebody may be using it");
    one.take_back();
    assert_eq!(one.current(), Some(path.clone()));
    one.set_aside().unwrap();
    let again = one.fill().unwrap().keep().unwrap();
    assert_ne!(again, path, "nobody fills a folder twice");
    one.take_back();
    assert_eq!(one.current(), Some(again.clone()));
    one.remove();
    assert!(!again.exists() && one.current().is_none());
}

#[test]
fn what_was_given_up_is_gone() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    let filling = one.fill().unwrap();
    let path = filling.path();
    assert!(path.exists());
    drop(filling);
    assert!(!path.exists());
    one.set_aside().unwrap();
}

#[test]
fn a_name_that_leads_elsewhere_is_none() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    let path = one.fill().unwrap().keep().unwrap();
    fs::write(path.with_file_name(CURRENT), "../..").unwrap();
    assert_eq!(one.current(), None);
}

#[cfg(unix)]
#[test]
fn nobody_else_looks_into_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let state = tempfile::tempdir().unwrap();
    let path = shelf(state.path(), &["a"]).fill().unwrap().keep().unwrap();
    let mode = fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[test]
fn what_somebody_left_long_ago_is_removed() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    let current = one.fill().unwrap().keep().unwrap();
    let left = one.fill().unwrap();
    let path = left.path();
    std::mem::forget(left);
    drop(one.fill().unwrap());
    assert!(path.exists(), "somebody may be filling it");
    let old = SystemTime::now() - 2 * YOUNG;
    for path in [&path, &current] {
        fs::File::open(path).unwrap().set_modified(old).unwrap();
    }
    drop(one.fill().unwrap());
    assert!(!path.exists() && one.current() == Some(current));
    Shelf::sweep(state.path(), "packages");
    assert!(one.current().is_some(), "it is young");
}
