//! Pages and cursors.

use super::{PAGE, page};

fn check(length: usize, cursor: Option<&str>, expected: Option<(usize, Option<&str>)>) {
    let all: Vec<usize> = (0..length).collect();
    let found = page(&all, cursor).ok();
    let found = found
        .as_ref()
        .map(|(page, next)| (page.len(), next.as_deref()));
    assert_eq!(found, expected, "{length} {cursor:?}");
}

#[test]
fn pages_and_bad_cursors() {
    check(0, None, Some((0, None)));
    check(PAGE, None, Some((PAGE, None)));
    check(PAGE + 1, None, Some((PAGE, Some("at-1000"))));
    check(PAGE + 1, Some("at-1000"), Some((1, None)));
    check(2250, Some("at-1000"), Some((PAGE, Some("at-2000"))));
    for bad in [
        "",
        "at-",
        "at-0",
        "at-1",
        "at--1000",
        "at-+1000",
        "1000",
        "at-2000",
        "at-99999999999999999999",
    ] {
        check(PAGE + 1, Some(bad), None);
    }
}
