//! Layers in the steps. Where they come to, tests on the kernel of the machine show.

use super::*;

/// The mounts of the call. The tree has the layer's own directories besides.
#[track_caller]
fn check(tree: &str, text: &str, expected: &[&str]) {
    let tree = format!("{tree} /state/u/ /state/w/");
    let confinement = compiled(&tree, &profile(text), Tier::A, 7).unwrap();
    let base = lines(&confinement.base);
    assert!(
        !base.iter().any(|line| line.contains("overlay")),
        "{base:?}"
    );
    let steps: Vec<String> = lines(&confinement.steps)
        .into_iter()
        .filter(|line| !line.starts_with("allow"))
        .collect();
    assert_eq!(steps, expected, "{text}");
}

#[test]
fn a_layer_takes_the_place_of_a_bind() {
    let whole = "overlay w /state/u /state/w";
    check("/w/", "d rcudx /w\nlayer /w", &["dir w", whole]);
    check(
        "/w/",
        "d r /w\nlayer /w",
        &["dir w", &format!("{whole} ro,noexec")],
    );
    // Also for what is otherwise made ahead of time, before it is known for whom.
    check(
        "/w/",
        "s rx /w\nlayer /w",
        &["dir w", &format!("{whole} ro")],
    );
    check(
        "/h/w/",
        "d rcudx /h\nd rcudx /h/w\nlayer /h/w",
        &["dir h", "bind h", "overlay h/w /state/u /state/w"],
    );
}

/// None of these steps may show what the host has in the layered directory.
#[test]
fn rules_in_a_layer_never_show_the_host() {
    let whole = "overlay w /state/u /state/w";
    check(
        "/w/out/",
        "d rx /w\nd rcudx /w/out\nlayer /w",
        &["dir w", &format!("{whole} ro"), "anew w/out"],
    );
    check(
        "/w/a/b/",
        "d rcudx /w\nd r /w/a/b\nlayer /w",
        &["dir w", whole, "again w/a", "again w/a/b ro,noexec"],
    );
    check(
        "/w/a/b/",
        "d rcudx /w\nd - /w/a\nd rcud /w/a/b\nlayer /w",
        &[
            "dir w",
            whole,
            "mount w/a tmpfs(1048576,111) noexec",
            "dir w/a/b",
            "again w/a ro,noexec",
            "layer 0 a/b w/a/b noexec",
        ],
    );
    // Down to what is deeper than that.
    check(
        "/w/a/b/c/",
        "d rcudx /w\nd - /w/a\nd r /w/a/b\nd rcud /w/a/b/c\nlayer /w",
        &[
            "dir w",
            whole,
            "mount w/a tmpfs(1048576,111) noexec",
            "dir w/a/b",
            "again w/a ro,noexec",
            "layer 0 a/b w/a/b ro,noexec",
            "anew w/a/b/c noexec",
        ],
    );
}

#[test]
fn what_a_layer_is_made_of_is_hidden() {
    check(
        "/w/",
        "d rcudx /state\nd rcudx /w\nlayer /w",
        &[
            "dir state",
            "bind state",
            "mask state/u",
            "mask state/w",
            "dir w",
            "overlay w /state/u /state/w",
        ],
    );
}

#[test]
fn a_layer_that_cannot_be_is_refused_whatever_was_accepted() {
    let cases = [
        ("d rcud /w\nlayer /other", Tier::A, "no rule shows"),
        ("d - /w\nlayer /w", Tier::A, "no rule shows"),
        ("d rcud /w\nlayer /missing", Tier::A, "no rule shows"),
        ("d rcud /f\nlayer /f", Tier::A, "not a directory"),
        ("p /w\nlayer /w", Tier::A, "no rule shows"),
        ("d rcud /state\nlayer /state", Tier::A, "lies in the other"),
        ("d rcud /w\nlayer /w\nlayer /w", Tier::A, "no rule shows"),
        ("d rcud /w\nlayer /w", Tier::B, "without namespaces"),
        ("d rcud /w\nlayer /w", Tier::None, "without namespaces"),
    ];
    for (text, tier, expected) in cases {
        let mut asked = profile(text);
        asked.enforce = Enforce::BestEffort;
        let tree = "/w/ /other/ /f /state/u/ /state/w/";
        let refused = compiled(tree, &asked, tier, 7)
            .map(drop)
            .map_err(|refused| refused.to_string());
        let sentence = refused.expect_err(text);
        assert!(sentence.contains(expected), "{text}: {sentence}");
    }
}
