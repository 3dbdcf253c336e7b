use jig_proto::ProjectPath;

use super::{PatternError, Sensitive};
use crate::guard::names::name_matches;

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).expect("a path")
}

fn with(patterns: &[&str]) -> Sensitive {
    let mut list = Sensitive::default();
    for pattern in patterns {
        list.add(pattern).expect("a pattern");
    }
    list
}

#[track_caller]
fn check(list: &Sensitive, cases: &[(&str, Option<(&str, usize)>)]) {
    for (text, expected) in cases {
        let found = list.find(&path(text));
        let found = found.map(|found| (found.pattern, found.depth));
        assert_eq!(found, *expected, "{text}");
    }
}

#[test]
fn the_built_in_list_x_66() {
    check(
        &Sensitive::default(),
        &[
            (".env", Some((".env*", 1))),
            (".env.local", Some((".env*", 1))),
            ("a/b/.env", Some((".env*", 3))),
            (".env/below", Some((".env*", 1))),
            ("a/.ssh/id_rsa", Some((".ssh", 2))),
            (".git/hooks/pre-commit", Some((".git/hooks", 2))),
            ("sub/.git/hooks", Some((".git/hooks", 3))),
            (".config/gh/hosts.yml", Some((".config/gh", 2))),
            (
                ".cargo/credentials.toml",
                Some((".cargo/credentials.toml", 2)),
            ),
            (".git", None),
            (".git/config", None),
            (".config", None),
            ("env", None),
            ("x.env", None),
            (".sshx", None),
            ("hooks", None),
            (".", None),
        ],
    );
}

#[test]
fn of_nested_ones_the_deepest_counts_x_66() {
    check(
        &with(&["/.aws/prod", "a/b", "b/c/d"]),
        &[
            (".aws/prod/key", Some(("/.aws/prod", 2))),
            (".aws/other", Some((".aws", 1))),
            (".ssh/.env/x", Some((".env*", 2))),
            ("a/b/c/d", Some(("b/c/d", 4))),
            ("a/b/c", Some(("a/b", 2))),
        ],
    );
}

#[test]
fn patterns_of_a_user_x_54() {
    check(
        &with(&[
            "*.pem",
            "/top",
            "./also-top",
            "**/any",
            "/**/anywhere",
            "d*r/k*y",
        ]),
        &[
            ("a/x.pem", Some(("*.pem", 2))),
            (".pem", Some(("*.pem", 1))),
            ("top/x", Some(("/top", 1))),
            ("a/top", None),
            ("also-top", Some(("./also-top", 1))),
            ("a/also-top", None),
            ("a/any/b", Some(("**/any", 2))),
            ("a/anywhere", Some(("/**/anywhere", 2))),
            ("x/dir/key", Some(("d*r/k*y", 3))),
            ("dr/ky", Some(("d*r/k*y", 2))),
            ("dir/x/key", None),
        ],
    );
}

#[test]
fn what_lies_below_x_65() {
    let list = with(&["/conf/keys", "certs/*.key"]);
    let check = |text: &str, expected: &[Option<&str>]| {
        let found: Vec<_> = list
            .find_below(&path(text))
            .map(|below| below.path)
            .collect();
        let expected: Vec<_> = expected.iter().map(|below| below.map(path)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(".git", &[Some(".git/hooks")]);
    check("a/.git", &[Some("a/.git/hooks")]);
    check(
        ".cargo",
        &[Some(".cargo/credentials"), Some(".cargo/credentials.toml")],
    );
    check("conf", &[Some("conf/keys")]);
    check("a/conf", &[]);
    check("certs", &[None]);
    check("a/certs", &[None]);
    check(".git/hooks", &[]);
    check("x", &[]);
    check(".", &[]);
}

#[test]
fn texts_that_are_no_pattern() {
    let add = |text: &str| Sensitive::default().add(text);
    assert_eq!(add("~/.ssh"), Err(PatternError::Home));
    for everything in ["*", "/*", "*/*", "/", "./"] {
        assert!(add(everything).is_err(), "{everything}");
    }
    for stars in ["a/**", "**", "a/**/b", "x**", "**/**/x"] {
        assert!(matches!(add(stars), Err(PatternError::Stars(_))), "{stars}");
    }
    for path in ["", "../x", "a\0"] {
        assert!(matches!(add(path), Err(PatternError::Path(_))), "{path:?}");
    }
}

#[test]
fn globs() {
    let check = |glob: &str, name: &str, expected: bool| {
        assert_eq!(name_matches(glob, name), expected, "{glob} on {name}");
    };
    for (glob, name) in [
        ("a", "a"),
        ("a*", "a"),
        ("*a", "ba"),
        ("a*b*c", "aXbYc"),
        ("a*b*b", "abb"),
        ("ü*", "über"),
        ("*ß*", "straße"),
    ] {
        check(glob, name, true);
    }
    for (glob, name) in [
        ("a*", "ba"),
        ("a*a", "a"),
        ("a*b*b", "ab"),
        ("a*bc", "abcb"),
        ("ü", "u\u{308}"),
    ] {
        check(glob, name, false);
    }
}
