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
    drop(one.fill().unwrap());
    assert!(path.exists(), "somebody is filling it");
    std::mem::forget(left);
    let old = SystemTime::now() - 2 * YOUNG;
    for path in [&path, &current] {
        File::open(path).unwrap().set_modified(old).unwrap();
    }
    drop(one.fill().unwrap());
    assert!(!path.exists() && one.current() == Some(current));
    Shelf::sweep(state.path(), "packages");
    assert!(one.current().is_some(), "it is young");
}

/// The folder of somebody who was killed while they filled it.
fn left_over(shelf: &Shelf) -> PathBuf {
    let mut filling = shelf.fill().unwrap();
    filling.is_kept = true;
    let path = filling.path();
    let mark = path.with_extension(FILLING);
    drop(filling);
    fs::write(path.join("half"), "1").unwrap();
    fs::write(mark, "").unwrap();
    path
}

#[test]
fn what_a_killed_one_left_goes_when_another_is_filled() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    let before = one.fill().unwrap().keep().unwrap();
    one.set_aside().unwrap();
    let aside = one.fill().unwrap().keep().unwrap();
    one.set_aside().unwrap();
    let other = one.fill().unwrap();
    let filling = one.fill().unwrap();
    let left = left_over(&one);
    let current = filling.keep().unwrap();
    assert!(!left.exists(), "nobody will ever use it");
    assert!(other.path().exists(), "somebody is filling it");
    assert!(before.exists(), "a server may run from it");
    assert!(aside.exists() && current.exists());
    drop(other);
    let names = fs::read_dir(current.parent().unwrap()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let marks: Vec<String> = names.filter(|name| name.ends_with(FILLING)).collect();
    assert_eq!(marks, [] as [&str; 0]);
}

/// Who was killed after the last step has filled it all the same.
#[test]
fn a_mark_that_was_left_takes_nothing_away() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    let aside = one.fill().unwrap().keep().unwrap();
    one.set_aside().unwrap();
    let current = one.fill().unwrap().keep().unwrap();
    for path in [&aside, &current] {
        fs::write(path.with_extension(FILLING), "").unwrap();
    }
    drop(one.fill().unwrap());
    assert!(aside.exists() && current.exists());
    assert!(!current.with_extension(FILLING).exists());
}

#[test]
fn what_was_set_aside_can_be_put_back_in_place_of_another() {
    let state = tempfile::tempdir().unwrap();
    let one = shelf(state.path(), &["a"]);
    assert!(!one.put_back());
    assert_eq!(one.current(), None);
    let first = one.fill().unwrap().keep().unwrap();
    assert!(!one.put_back());
    assert_eq!(one.current(), Some(first.clone()), "nothing was set aside");
    one.set_aside().unwrap();
    assert!(!one.put_back());
    one.set_aside().unwrap();
    one.fill().unwrap().keep().unwrap();
    assert!(one.put_back());
    assert_eq!(one.current(), Some(first));
}
