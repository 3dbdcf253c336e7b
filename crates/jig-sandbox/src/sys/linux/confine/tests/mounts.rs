//! With namespaces.

use super::*;
use crate::profile::{Network, PrivateContent, PrivateFile};

/// The mounts of the call, and the gaps, of rules that are all declared. Rights are left to other tests.
#[track_caller]
fn check(tree: &str, text: &str, expected: &[&str]) {
    check_with_gaps(tree, text, expected, &[]);
}

#[track_caller]
fn check_with_gaps(tree: &str, text: &str, expected: &[&str], gaps: &[&str]) {
    let mut asked = profile(text);
    asked.enforce = Enforce::BestEffort;
    let confinement = compiled(tree, &asked, Tier::A, 7).unwrap();
    let steps: Vec<String> = lines(&confinement.steps)
        .into_iter()
        .filter(|line| !line.starts_with("allow"))
        .collect();
    assert_eq!(steps, expected);
    assert_eq!(confinement.gaps, gaps);
}

#[test]
fn a_rule_shows_a_path_of_the_host() {
    check("/w/", "d rcud /w", &["dir w", "bind w noexec"]);
    check("/w/", "d rcudx /w", &["dir w", "bind w"]);
    check("/w/", "d r /w", &["dir w", "bind w ro,noexec"]);
    check("/w/", "d rx /w", &["dir w", "bind w ro"]);
    check(
        "/a/b/c/",
        "d r /a/b/c",
        &["dir a/b/c", "bind a/b/c ro,noexec"],
    );
    check("/f", "d ru /f", &["file f 0", "bind f noexec"]);
    // Whether a file may be created or removed is up to its directory.
    check("/f", "d rcd /f", &["file f 0", "bind f ro,noexec"]);
    check("/w/", "d - /w", &[]);
    check("/w/", "g - /w", &[]);
}

#[test]
fn the_last_rule_for_a_path_counts() {
    check("/w/", "d rcud /w\nd r /w", &["dir w", "bind w ro,noexec"]);
}

#[test]
fn what_does_not_exist_is_not_made() {
    check(
        "/w/",
        "d rcud /missing\ns r /gone\nd r /w",
        &["dir w", "bind w ro,noexec"],
    );
    check("/w/", "d r /w\ng - /w/.env", &["dir w", "bind w ro,noexec"]);
    check(
        "/w/",
        "d rcud /w\nd rcud /w/out",
        &["dir w", "bind w noexec"],
    );
    check_with_gaps(
        "/w/",
        "d rcud /w\ng - /w/.env\nd r /w/a/b",
        &["dir w", "bind w noexec"],
        &[
            "`/w/.env` does not exist yet, so nothing keeps the tool from creating it; it is looked for \
             after the call",
            "`/w/a/b` does not exist yet, so nothing keeps the tool from creating it; it is looked for \
             after the call",
        ],
    );
}

#[test]
fn a_rule_inside_another_withholds() {
    check(
        "/w/.env /w/.git/ /w/lib/",
        "d rcudx /w\ng - /w/.env\nd r /w/.git\nd rx /w/lib",
        &[
            "dir w",
            "bind w",
            "mask w/.env",
            "again w/.git ro,noexec",
            "again w/lib ro",
        ],
    );
    check(
        "/w/a/",
        "d rcud /w\nd rcud /w/a",
        &["dir w", "bind w noexec"],
    );
    check(
        "/w/a/",
        "d rcudx /w\nd rcud /w/a",
        &["dir w", "bind w", "again w/a noexec"],
    );
    // Below what is hidden there is nothing to withhold.
    check(
        "/w/a/b/",
        "d rcud /w\nd - /w/a\nd - /w/a/b",
        &["dir w", "bind w noexec", "mask w/a"],
    );
}

/// Flags are only ever added to a mount, so more than the outer rule allows is shown anew from the host.
#[test]
fn a_rule_inside_another_gives_back() {
    check(
        "/w/out/",
        "d r /w\nd rcud /w/out",
        &["dir w", "bind w ro,noexec", "bind w/out noexec"],
    );
    check(
        "/w/out/keep/",
        "d r /w\nd rcud /w/out\nd r /w/out/keep",
        &[
            "dir w",
            "bind w ro,noexec",
            "bind w/out noexec",
            "again w/out/keep ro,noexec",
        ],
    );
    check(
        "/w/bin/",
        "d rcud /w\nd rx /w/bin",
        &["dir w", "bind w noexec", "bind w/bin ro"],
    );
}

#[test]
fn something_can_be_seen_inside_what_is_hidden() {
    check(
        "/w/secret/pub/deep/ /w/secret/file /w/secret/x/",
        "d rcud /w\nd - /w/secret\nd r /w/secret/pub\nd rcud /w/secret/pub/deep\nd ru /w/secret/file\n\
         d r /w/secret/missing\nd - /w/secret/x",
        &[
            "dir w",
            "bind w noexec",
            "mount w/secret tmpfs(1048576,111) noexec",
            "dir w/secret",
            "file w/secret/file 0",
            "dir w/secret/pub",
            "again w/secret ro,noexec",
            "bind w/secret/file noexec",
            "bind w/secret/pub ro,noexec",
            "bind w/secret/pub/deep noexec",
        ],
    );
}

/// whoever renames a directory takes along the mounts in it, and can put others in their place.
#[test]
fn directories_above_a_mount_are_pinned_from_the_outside_in() {
    check(
        "/w/a/b/secret /w/a/b/other /w/a/c/",
        "d rcud /w\ng - /w/a/b/secret\ng - /w/a/b/other\nd r /w/a/c",
        &[
            "dir w",
            "bind w noexec",
            "again w/a",
            "again w/a/b",
            "mask w/a/b/other",
            "mask w/a/b/secret",
            "again w/a/c ro,noexec",
        ],
    );
    check(
        "/w/a/b/c/",
        "d rcud /w\npin /w/a/b\npin /w/a\npin /w/missing",
        &["dir w", "bind w noexec", "again w/a", "again w/a/b"],
    );
    // A pin holds also where a rule changes nothing.
    check(
        "/w/a/",
        "d rcud /w\nd rcud /w/a\npin /w/a",
        &["dir w", "bind w noexec", "again w/a noexec"],
    );
    // Where nothing can be renamed, nothing needs a pin.
    check(
        "/w/a/b",
        "d r /w\npin /w/a\ng - /w/a/b",
        &["dir w", "bind w ro,noexec", "mask w/a/b"],
    );
    check("/w/a/", "p /w\npin /w/a", &[]);
    // A nested mount that gives back is pinned too: a later pin would hide it.
    check(
        "/w/a/bin/ /w/a/key",
        "d rcud /w\nd rcudx /w/a/bin\ng - /w/a/key",
        &[
            "dir w",
            "bind w noexec",
            "again w/a",
            "bind w/a/bin",
            "mask w/a/key",
        ],
    );
}

#[test]
fn a_file_is_held_by_being_a_mount() {
    // It can be changed, but neither removed nor replaced.
    check(
        "/w/f",
        "d rcud /w\nd ru /w/f",
        &["dir w", "bind w noexec", "again w/f noexec"],
    );
    check(
        "/w/f",
        "d rcud /w\nd r /w/f",
        &["dir w", "bind w noexec", "again w/f ro,noexec"],
    );
    check(
        "/w/f",
        "d rcud /w\nd rcud /w/f",
        &["dir w", "bind w noexec"],
    );
}

/// A mount holds one name of a file.
#[test]
fn other_names_of_a_file_are_a_gap() {
    check_with_gaps(
        "/w/linked /w/other",
        "d rcud /w\ng - /w/linked\ng - /w/other",
        &["dir w", "bind w noexec", "mask w/linked", "mask w/other"],
        &["`/w/linked` has other names (hard links), for which its rule does not count"],
    );
    check(
        "/w/linked",
        "d rcud /w\nd rcud /w/linked",
        &["dir w", "bind w noexec"],
    );
}

#[test]
fn a_part_of_writing_cannot_be_withheld_below() {
    let way_out = "allow all changes there or none, or set `sandbox.enforce = \"best-effort\"`";
    for (tree, text, path, open) in [
        ("/w/a/", "d rcud /w\nd ru /w/a", "/w/a", "create, delete"),
        ("/w/a/", "d rcud /w\nd rcu /w/a", "/w/a", "delete"),
        ("/w/a/", "d rcud /w\nd cud /w/a", "/w/a", "read"),
        // Landlock adds up: what the outermost grants counts below what is read-only.
        (
            "/w/a/b/",
            "d ru /w\nd r /w/a\nd rd /w/a/b",
            "/w/a/b",
            "update",
        ),
        ("/p/w/", "p /p\nd ru /p/w", "/p/w", "create, delete"),
    ] {
        let why =
            "what is above it allows that, and the kernel takes back only all changes at once";
        assert_eq!(
            refusal(tree, text, Tier::A),
            format!(
                "the rule for `{path}` cannot be held: it withholds {open}, but {why}; {way_out}"
            )
        );
        let mut asked = profile(text);
        asked.enforce = Enforce::BestEffort;
        let gap = format!("`{path}` is open to {open}, because {why}");
        assert!(
            compiled(tree, &asked, Tier::A, 7)
                .unwrap()
                .gaps
                .contains(&gap)
        );
        // What nobody declared is held no less.
        let guarded = text.replace("\nd", "\ng");
        assert_eq!(
            refusal(tree, &guarded, Tier::A),
            refusal(tree, text, Tier::A)
        );
    }
}

/// G-120: creating without changing collapses, and is reported instead of refused.
#[test]
fn creating_without_changing_is_granted_coarser() {
    let create = profile("d rc /w");
    assert_eq!(
        compiled("/w/", &create, Tier::A, 7).unwrap().gaps,
        [
            "what exists in `/w` can be changed too, because the kernel does not tell that from creating"
        ]
    );
    let nested = profile("d rcud /w\nd rcd /w/a");
    assert!(compiled("/w/a/", &nested, Tier::A, 7).is_ok());
    let delete = profile("d rd /w");
    assert_eq!(
        compiled("/w/", &delete, Tier::A, 7).unwrap().gaps,
        ["modes, times and attributes of what exists in `/w` can be changed"]
    );
    for exact in ["d r /w", "d ru /w", "d rud /w", "d rcud /w", "d rcud /f"] {
        assert!(
            compiled("/w/ /f", &profile(exact), Tier::A, 7)
                .unwrap()
                .gaps
                .is_empty()
        );
    }
}

#[test]
fn links_are_never_followed() {
    for text in ["d r /link", "d r /link/x"] {
        assert!(refusal("/w/x/ /link->w /link/x/", text, Tier::A).contains("symbolic link"));
    }
    // A link inside a tree cannot be masked.
    let text = "d rcud /w\nd - /w/link";
    assert!(refusal("/w/link->/x /x/", text, Tier::A).contains("symbolic link"));
    check(
        "/w/ /link->w",
        "g - /link\nd r /w",
        &["dir w", "bind w ro,noexec"],
    );
}

#[test]
fn what_the_sandbox_makes_itself_is_not_shown() {
    for path in ["/proc", "/proc/1", "/dev", "/dev/kvm"] {
        let tree = "/proc/1/ /dev/kvm";
        let text = refusal(tree, &format!("d r {path}"), Tier::A);
        assert!(
            text.contains(path) && text.contains("one of its own"),
            "{text}"
        );
        check(tree, &format!("s r {path}\ng - {path}"), &[]);
    }
    check("/w/", "g - /\nd r /w", &["dir w", "bind w ro,noexec"]);
    assert_eq!(
        refusal("/w/", "d r /", Tier::A),
        "`/` cannot be granted as a whole: name the directories that the tool needs"
    );
}

/// What is the same for many calls comes first, so that it can be done ahead.
#[test]
fn the_base_does_not_depend_on_what_is_declared() {
    let tree = "/usr/lib/x /usr/bin/ /etc/ssl/ /etc/passwd /w/.env /tmp/ /tmp/w/ /bin->usr/bin";
    let system =
        "s rx /usr\ns r /etc/ssl\ns r /etc/passwd\np /tmp\npx /home/jig\ndoor /home/jig/d\n";
    let base = |more: &str| {
        let asked = profile(&format!("{system}{more}"));
        lines(&compiled(tree, &asked, Tier::A, 7).unwrap().base)
    };
    let alone = base("");
    assert_eq!(alone, base("d rcud /w\ng - /w/.env\npin /w"));
    assert_eq!(alone, base("d rcud /tmp/w\ng - /usr/lib"));
    assert_eq!(
        alone,
        [
            "link bin usr/bin",
            "dir proc",
            "mount proc proc ro,noexec?",
            "allow proc read+list",
            "dir dev",
            "allow dev write+read+list+truncate+ioctl",
            "link dev/fd /proc/self/fd",
            "link dev/stdin /proc/self/fd/0",
            "link dev/stdout /proc/self/fd/1",
            "link dev/stderr /proc/self/fd/2",
            "link dev/ptmx pts/ptmx",
            "dir dev/shm",
            "mount dev/shm tmpfs(268435456,1777) noexec",
            "allow dev/shm write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate",
            "dir dev/pts",
            "mount dev/pts devpts noexec,dev?",
            "dir etc",
            "file etc/passwd 0",
            "bind etc/passwd ro,noexec?",
            "allow etc/passwd read?",
            "dir etc/ssl",
            "bind etc/ssl ro,noexec?",
            "allow etc/ssl read+list?",
            "dir home/jig",
            "mount home/jig tmpfs(1048576,700)",
            "allow home/jig execute+write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate",
            "dir tmp",
            "mount tmp tmpfs(1048576,1777) noexec",
            "allow tmp write+read+list+rmdir+rm+mkdir+reg+sock+fifo+sym+refer+truncate",
            "dir usr",
            "bind usr ro?",
            "allow usr execute+read+list?",
            "loopback?",
            "local 198.18.0.0/15?",
            "local fd6a:6967:6e61:6d65::/64?",
            "name jig?",
            "dir home/jig",
            "listen home/jig/d",
        ]
    );
}

#[test]
fn devices_and_processors_are_those_of_the_host_if_it_has_them() {
    let tree = "/dev/null /dev/urandom /dev/tty /dev/kmsg /sys/devices/system/cpu/";
    let asked = profile("");
    let base = lines(&compiled(tree, &asked, Tier::A, 7).unwrap().base);
    for expected in [
        "file dev/null 0",
        "bind dev/null ro,noexec,dev?",
        "allow dev write+read+list+truncate+ioctl",
        "bind dev/urandom ro,noexec,dev?",
        "bind sys/devices/system/cpu ro,noexec?",
    ] {
        assert!(base.contains(&expected.to_owned()), "{expected}");
    }
    assert!(
        !base
            .iter()
            .any(|line| line.contains("tty") || line.contains("kmsg"))
    );
    assert!(!base.iter().any(|line| line.contains("dev/zero")));
}

#[test]
fn links_of_the_system_are_links_again() {
    let tree = "/usr/lib/ /lib->usr/lib /etc/localtime->/usr/share/zoneinfo/UTC";
    let asked = profile("s rx /lib\ns rx /usr\ns r /etc/localtime\ns r /lib/x");
    let base = lines(&compiled(tree, &asked, Tier::A, 7).unwrap().base);
    let lib = |line: &&String| line.as_str() == "link lib usr/lib";
    assert_eq!(base.iter().filter(lib).count(), 1);
    assert!(base.contains(&"link etc/localtime /usr/share/zoneinfo/UTC".to_owned()));
    assert!(!base.iter().any(|line| line.starts_with("bind lib")));
}

#[test]
fn private_directories_inside_trees_of_the_host() {
    check(
        "/w/cache/",
        "d rcud /w\np /w/cache",
        &[
            "dir w",
            "bind w noexec",
            "mount w/cache tmpfs(1048576,700) noexec",
        ],
    );
    assert!(refusal("/w/", "d rcud /w\np /w/cache", Tier::A).contains("private directory"));
    check(
        "/tmp/w/",
        "p /tmp\nd rcud /tmp/w",
        &["dir tmp/w", "bind tmp/w noexec"],
    );
    // What is made in it is made after it.
    check(
        "/w/cache/",
        "d rcud /w\np /w/cache\ndoor /w/cache/door",
        &[
            "dir w",
            "bind w noexec",
            "mount w/cache tmpfs(1048576,700) noexec",
            "dir w/cache",
            "listen w/cache/door",
        ],
    );
    // And what is sealed is sealed when all is made.
    check(
        "/w/cache/",
        "d rcud /w\np /w/cache\ndoor /w/cache/door\nseal /w/cache",
        &[
            "dir w",
            "bind w noexec",
            "mount w/cache tmpfs(1048576,700) noexec",
            "dir w/cache",
            "listen w/cache/door",
            "again w/cache ro",
        ],
    );
    // Where it leads to something, what that takes is made first, and then nothing more.
    check(
        "/tmp/w/a/b/ /tmp/w/c",
        "p /tmp\np /tmp/w\nseal /tmp/w\nd rcud /tmp/w/a/b\nd r /tmp/w/c",
        &[
            "dir tmp/w",
            "mount tmp/w tmpfs(1048576,700) noexec",
            "dir tmp/w/a/b",
            "file tmp/w/c 0",
            "again tmp/w ro,noexec",
            "bind tmp/w/a/b noexec",
            "bind tmp/w/c ro,noexec",
        ],
    );
    // The private directory hides what a rule at the same path would show.
    check("/tmp/", "p /tmp\nd rcud /tmp", &[]);
}

#[test]
fn private_files_are_made_before_the_call() {
    let mut asked = profile("px /h");
    let file = |path: &str, content| PrivateFile {
        path: path.into(),
        content,
    };
    asked.files = vec![
        file("/h/.gitconfig", PrivateContent::Text(b"[core]".to_vec())),
        file("/h/bin/x", PrivateContent::Program(b"#!".to_vec())),
        file("/h/link", PrivateContent::Link("bin/x".into())),
    ];
    let base = compiled("/w/", &asked, Tier::A, 7).unwrap().base;
    let text = lines(&base).join("\n");
    assert!(
        text.contains("file h/.gitconfig 6\ndir h/bin\nfile h/bin/x 2\ndir h\nlink h/link bin/x")
    );
    asked
        .files
        .push(file("/w/x", PrivateContent::Text(Vec::new())));
    assert!(matches!(
        compiled("/w/", &asked, Tier::A, 7),
        Err(ProfileError::NotPrivate { .. })
    ));
}

/// A sealed directory gets its files and its door first.
#[test]
fn sealed_directories_are_closed_last() {
    let mut asked = profile("px /h\np /tmp\ndoor /h/door");
    asked.files = vec![PrivateFile {
        path: "/h/x".into(),
        content: PrivateContent::Program(Vec::new()),
    }];
    asked.sealed = vec!["/h".into()];
    let base = compiled("/w/", &asked, Tier::A, 7).unwrap().base;
    let text = lines(&base).join("\n");
    assert!(
        text.ends_with("dir h\nfile h/x 0\ndir h\nlisten h/door\nagain h ro"),
        "{text}"
    );
    asked.sealed = vec!["/w".into()];
    assert!(matches!(
        compiled("/w/", &asked, Tier::A, 7),
        Err(ProfileError::NotPrivate { .. })
    ));
}

#[test]
fn the_network_is_the_hosts_or_its_own() {
    let mut asked = profile("d r /w");
    let own = compiled("/w/", &asked, Tier::A, 7).unwrap();
    assert!(own.own_network && lines(&own.base).contains(&"loopback?".to_owned()));
    asked.network = Network::Host;
    let host = compiled("/w/", &asked, Tier::A, 7).unwrap();
    assert!(!host.own_network && !lines(&host.base).contains(&"loopback?".to_owned()));
}
