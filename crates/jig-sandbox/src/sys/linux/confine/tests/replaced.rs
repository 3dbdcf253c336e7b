//! Files in place of those of the host.

use super::*;

/// The steps of the replacements alone, and the gaps.
#[track_caller]
fn check(tree: &str, text: &str, expected: &[&str], gaps: &[&str]) {
    let asked = profile(text);
    let with = compiled(tree, &asked, Tier::A, 7).unwrap();
    let without = Profile {
        replaced: Vec::new(),
        ..asked
    };
    let without = compiled(tree, &without, Tier::A, 7).unwrap();
    // Keepers that were made ahead of time serve both.
    assert_eq!(with.base, without.base);
    let (with, before) = (lines(&with.steps), lines(&without.steps));
    assert_eq!(with[..before.len()], before);
    assert_eq!(with[before.len()..], *expected);
    let compiled = compiled(tree, &profile(text), Tier::A, 7).unwrap();
    assert_eq!(compiled.gaps, gaps);
}

#[test]
fn a_file_that_is_shown_is_covered() {
    let covered = ["replace etc/hosts 4", "allow etc/hosts read"];
    let text = "s r /etc\nreplace /etc/hosts";
    check("/etc/hosts", text, &covered, &[]);
    // One that is shown alone, and one in a tree where only some may be changed.
    let alone = "s r /etc/hosts\nreplace /etc/hosts";
    check("/etc/hosts", alone, &covered, &[]);
    let writable = "d rcud /etc\nreplace /etc/hosts";
    check("/etc/hosts", writable, &covered, &[]);
}

#[test]
fn where_nothing_is_shown_it_is_made() {
    check(
        "/etc/hosts",
        "replace /etc/hosts",
        &[
            "dir etc",
            "file etc/hosts 0",
            "replace etc/hosts 4",
            "allow etc/hosts read",
        ],
        &[],
    );
    check(
        "/w/",
        "p /w\nreplace /w/a/b",
        &[
            "dir w/a",
            "file w/a/b 0",
            "replace w/a/b 4",
            "allow w/a/b read",
        ],
        &[],
    );
    // The same place twice: the last one is what is found.
    check(
        "/etc/x->hosts",
        "s r /etc/x\nreplace /etc/x\nreplace /etc/hosts",
        &[
            "dir etc",
            "file etc/hosts 0",
            "replace etc/hosts 4",
            "allow etc/hosts read",
            "replace etc/hosts 4",
            "allow etc/hosts read",
        ],
        &[],
    );
}

/// The resolver's settings are often a link into a directory that no tool sees.
#[test]
fn links_are_followed_as_the_tool_would() {
    let made = [
        "dir run/resolve",
        "file run/resolve/stub 0",
        "replace run/resolve/stub 4",
        "allow run/resolve/stub read",
    ];
    for (tree, rules) in [
        (
            "/etc/conf->../run/resolve/stub /run/resolve/stub",
            "s r /etc",
        ),
        (
            "/etc/conf->/run/resolve/stub /run/resolve/stub",
            "s r /etc/conf",
        ),
        // It need not exist on the host.
        ("/etc/conf->/run/resolve/stub /run/", "s r /etc"),
        // Another link on the way, which the tool sees.
        (
            "/etc/conf->/var/run/resolve/stub /var/run->../run /run/resolve/stub",
            "s r /etc\ns r /var",
        ),
        (
            "/etc/conf->./one/../two /etc/one/ /etc/two->../../run/./resolve/stub",
            "s r /etc",
        ),
    ] {
        check(tree, &format!("{rules}\nreplace /etc/conf"), &made, &[]);
    }
    // A link that the tool does not see leads nowhere for it: what it would walk through is made.
    check(
        "/etc/conf->/var/run/stub /var/run->../run /run/stub",
        "s r /etc\nreplace /etc/conf",
        &[
            "dir var/run",
            "file var/run/stub 0",
            "replace var/run/stub 4",
            "allow var/run/stub read",
        ],
        &[],
    );
    // One that leads to what is shown.
    check(
        "/etc/conf->/usr/share/conf /usr/share/conf",
        "s r /etc\ns rx /usr\nreplace /etc/conf",
        &["replace usr/share/conf 4", "allow usr/share/conf read"],
        &[],
    );
}

/// Nothing is ever made on the host, so not all can be had.
#[test]
fn what_cannot_be_replaced_is_passed_over() {
    let none: &[&str] = &[];
    let missing = "because the host has nothing there, and nothing is ever made on the host";
    let told = |path: &str, why: &str| format!("`{path}` is not replaced, {why}");
    let conf = told("/etc/conf", missing);
    check("/etc/", "s r /etc\nreplace /etc/conf", none, &[&conf]);
    check(
        "/etc/conf->gone",
        "s r /etc\nreplace /etc/conf",
        none,
        &[&conf],
    );
    let circle = told("/etc/conf", "because its links lead in a circle");
    check(
        "/etc/conf->a /etc/a->conf",
        "s r /etc\nreplace /etc/conf",
        none,
        &[&circle],
    );
    let directory = told("/etc/conf", "because it is a directory");
    check(
        "/etc/conf/x",
        "s r /etc\nreplace /etc/conf",
        none,
        &[&directory],
    );
    // What the tool does not see needs no replacement.
    check(
        "/w/secret/conf",
        "d r /w\nd - /w/secret\nreplace /w/secret/conf",
        none,
        &[],
    );
    check(
        "/proc/x /dev/y",
        "replace /proc/x\nreplace /dev/y",
        none,
        &[],
    );
}

#[test]
fn only_texts_and_paths_in_their_one_form_will_do() {
    let mut asked = profile("s r /etc\nreplace /etc/hosts");
    asked.replaced[0].content = PrivateContent::Link("/x".into());
    let refused = compiled("/etc/hosts", &asked, Tier::A, 7);
    let expected = ProfileError::NoText {
        path: "/etc/hosts".into(),
    };
    assert_eq!(refused, Err(expected));
    for path in ["/etc/../hosts", "hosts"] {
        let asked = profile(&format!("replace {path}"));
        let refused = compiled("/hosts", &asked, Tier::A, 7);
        assert_eq!(
            refused,
            Err(ProfileError::NotCanonical { path: path.into() })
        );
    }
}

#[test]
fn without_namespaces_the_hosts_own_are_found() {
    let asked = profile("s r /etc\nreplace /etc/hosts");
    let confinement = compiled("/etc/hosts", &asked, Tier::B, 7).unwrap();
    assert_eq!(
        confinement.gaps,
        ["`/etc/hosts` is not replaced, because that needs a mount namespace"]
    );
}
