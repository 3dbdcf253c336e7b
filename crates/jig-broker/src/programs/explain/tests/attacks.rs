//! A tool chooses what it asks for, and so what is offered: no rule may open more than was meant.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare the host that is explained"
)]

use super::Scene;

/// A rule on a directory opens all that is in it, so that none is offered for one with a secret in it.
#[test]
fn no_rule_opens_what_holds_a_secret() {
    let scene = Scene::new(
        &[
            "home/.docker/config.json",
            "home/project/.ssh/id",
            "home/named/.env",
            "home/harmless/file",
            "state/layers/",
        ],
        &[],
    );
    for seen in [
        "r home/.docker",
        "c home/.docker/new",
        "d home/.docker/config.json",
        "r home/project",
        "c home/project/new",
        "r home/named",
    ] {
        let denials = scene.explain(&[seen]);
        assert_eq!(denials.len(), 1, "{seen}: {denials:#?}");
        assert_eq!(denials[0].hint, None, "{seen}: {denials:#?}");
        assert!(denials[0].advice.is_some(), "{seen}: {denials:#?}");
    }
    // Where there is none, there is a rule.
    let denials = scene.explain(&["r home/harmless"]);
    assert!(denials[0].hint.is_some(), "{denials:#?}");
}

/// A link gives a secret an innocent name.
#[test]
fn a_secret_by_another_name_is_one() {
    let scene = Scene::new(&["home/.config/gh/hosts.yml"], &[]);
    let home = scene.tree.root().join("home");
    std::os::unix::fs::symlink(home.join(".config/gh"), home.join("link")).unwrap();
    for seen in ["r home/link/hosts.yml", "r home/link", "cu home/link/new"] {
        for denial in scene.explain(&[seen]) {
            assert_eq!(denial.hint, None, "{seen}: {denial:#?}");
        }
    }
}

/// What is offered speaks of one tool and one path, whatever the name of that path holds.
#[test]
fn a_name_cannot_add_to_a_rule() {
    let names = [
        "a\n[tools.pwned]\nsource = 'local'",
        "b\", write = true }, { path = \"~",
        "c]]\n#",
        "d\r[tools.pwned]",
        "e\\\"",
        "f\"\"\"\n[tools.pwned]",
    ];
    let scene = Scene::new(&["ws/src/x", "home/y"], &["r src"]);
    for name in names {
        for (place, header) in [
            ("ws", "[[tools.t.access.fs]]"),
            ("home", "[tools.t.sandbox]"),
        ] {
            std::fs::write(scene.tree.root().join(place).join(name), "").unwrap();
            let denials = scene.explain(&[&format!("r {place}/{name}")]);
            assert_eq!(denials.len(), 1, "{name:?}: {denials:#?}");
            let hint = denials[0].hint.as_deref().unwrap();
            let mut lines = hint.lines();
            assert_eq!(lines.next(), Some(header), "{hint}");
            assert!(!lines.any(|line| line.starts_with('[')), "{hint}");
            // The quote in the name is none in the rule.
            assert!(!hint.contains("b\", write = true"), "{hint}");
            // No line of the text is the tool's either.
            let text = denials[0].to_string();
            let is_forged = |line: &str| line.trim_start().starts_with("[tools.pwned");
            assert!(!text.lines().any(is_forged), "{text}");
        }
    }
}

/// A search path that leads through the home must not open the home for the sake of one program.
#[test]
fn no_rule_opens_the_home_for_a_program() {
    let mut scene = Scene::new(
        &["home/helper! = #!/bin/sh", "home/bin/other! = #!/bin/sh"],
        &[],
    );
    let home = scene.tree.root().join("home");
    scene.settings.host_path = format!("{}:{}/bin", home.display(), home.display()).into();
    let hints = |name: &str| {
        let denials = scene.explain(&[&format!("l /usr/bin/{name}")]);
        assert_eq!(denials.len(), 1, "{denials:#?}");
        denials[0].hint.clone()
    };
    assert_eq!(hints("helper"), None);
    assert!(hints("other").is_some_and(|hint| hint.contains("\"~/bin\"")));
}
