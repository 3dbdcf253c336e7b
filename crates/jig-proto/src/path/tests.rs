use camino::Utf8Path;

use super::{PathSyntaxError, ProjectPath};

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

#[test]
fn normalize_folds_dots_and_slashes() {
    let check = |input: &str, expected: &str| {
        let normal = path(input);
        assert_eq!(normal.as_str(), expected, "{input:?}");
        assert_eq!(
            path(&normal.to_string()),
            normal,
            "displays as itself: {input:?}"
        );
    };
    check(".", "");
    check("./", "");
    check("a", "a");
    check("a/", "a");
    check("./a//b/.", "a/b");
    check("a/../b", "b");
    check("a/..", "");
    check("a/b/../../c/", "c");
    check("a/../b/../c", "c");
    // Only whole components are special.
    check("..a", "..a");
    check("a..", "a..");
    check("...", "...");
    check(".env", ".env");
    check("*", "*");
    check("a b\\c", "a b\\c");
    check("größe/名", "größe/名");
    check("a\nb", "a\nb");
}

#[test]
fn normalize_refuses_what_is_not_inside() {
    let check = |input: &str, expected| {
        assert_eq!(ProjectPath::normalize(input), Err(expected), "{input:?}");
    };
    check("", PathSyntaxError::Empty);
    check("/", PathSyntaxError::Absolute);
    check("/etc/passwd", PathSyntaxError::Absolute);
    check("//a", PathSyntaxError::Absolute);
    check("..", PathSyntaxError::Escape);
    check("../a", PathSyntaxError::Escape);
    check("a/../..", PathSyntaxError::Escape);
    check("a/../../a", PathSyntaxError::Escape);
    check("./../a", PathSyntaxError::Escape);
    check("a\0b", PathSyntaxError::Nul);
    // The NUL is named first, so that nobody judges the rest of such a text.
    check("/a\0", PathSyntaxError::Nul);
}

#[test]
fn parts_of_a_path() {
    let check = |input: &str, parent: Option<&str>, name: Option<&str>, components: &[&str]| {
        let path = path(input);
        assert_eq!(
            path.parent().as_ref().map(ProjectPath::as_str),
            parent,
            "{input:?}"
        );
        assert_eq!(path.file_name(), name, "{input:?}");
        assert_eq!(
            path.components().collect::<Vec<_>>(),
            components,
            "{input:?}"
        );
        assert_eq!(path.depth(), components.len(), "{input:?}");
        assert_eq!(path.is_root(), components.is_empty(), "{input:?}");
    };
    check(".", None, None, &[]);
    check("a", Some(""), Some("a"), &["a"]);
    check("a/b", Some("a"), Some("b"), &["a", "b"]);
    check("a/b/c.rs", Some("a/b"), Some("c.rs"), &["a", "b", "c.rs"]);
}

#[test]
fn starts_with_compares_components() {
    let check = |input: &str, ancestor: &str, expected: bool| {
        assert_eq!(
            path(input).starts_with(&path(ancestor)),
            expected,
            "{input} in {ancestor}"
        );
    };
    check("src/lib.rs", "src", true);
    check("src", "src", true);
    check("src_generated/a.rs", "src", false);
    check("src", "src/lib.rs", false);
    check("anything", ".", true);
    check(".", ".", true);
    check(".", "src", false);
}

#[test]
fn join_and_under() {
    let check = |base: &str, name: &str, expected: &str, absolute: &str| {
        let joined = path(base).join(&path(name));
        assert_eq!(joined.as_str(), expected);
        assert_eq!(joined.under(Utf8Path::new("/w")), Utf8Path::new(absolute));
    };
    check(".", ".", "", "/w");
    check(".", "a", "a", "/w/a");
    check("a", ".", "a", "/w/a");
    check("a", "b/c", "a/b/c", "/w/a/b/c");
    // Joining compares equal whether or not the root took part; no slash is left over.
    assert_eq!(
        ProjectPath::root().under(Utf8Path::new("/w")).as_str(),
        "/w"
    );
    assert_eq!(
        format!("{} {:?}", ProjectPath::root(), path("a/b")),
        ". ProjectPath(a/b)"
    );
}
