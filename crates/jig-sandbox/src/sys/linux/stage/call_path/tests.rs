use super::*;

#[test]
fn what_stands_for_the_caller_is_known() {
    for (path, rest) in [
        ("/proc/self/fd/3", Some("fd/3")),
        ("/proc/thread-self/cwd/x", Some("cwd/x")),
        ("/dev/fd/3", Some("fd/3")),
        ("/proc/self", None),
        ("/proc/1/fd/3", None),
        ("/dev/null", None),
        ("proc/self/fd/3", None),
    ] {
        let found = own_proc(path.as_bytes());
        assert_eq!(found, rest.map(str::as_bytes), "{path}");
    }
}

/// Only what is exactly such a link leads out of `/proc`.
#[test]
fn links_of_the_caller_are_told_from_others() {
    for (rest, length) in [
        ("cwd/x", 4),
        ("root/", 5),
        ("fd/12/x", 6),
        ("fd/12", 0),
        ("fd/../x", 0),
        ("fd//x", 0),
        ("fd/1x/y", 0),
        ("task/1/cwd/", 0),
        ("/proc/1/mem", 0),
        ("../1/mem", 0),
    ] {
        assert_eq!(link_of_own(rest.as_bytes()), length, "{rest}");
    }
}

#[test]
fn paths_are_cut_where_they_should_be() {
    let cut = |text: &str, from, end| {
        let mut path = CallPath::new(PathStart::Handle(-1));
        path.set(text.as_bytes()).expect("it is short");
        let cut = path.until(from, end).expect("there is room");
        cut.to_str().expect("it is text").to_owned()
    };
    assert_eq!(cut("/x", 0, 1), "/");
    assert_eq!(cut("/a/b", 0, 3), "/a");
    assert_eq!(cut("a/b", 0, 2), "a");
    assert_eq!(cut("a/b/c", 2, 4), "b");
}
