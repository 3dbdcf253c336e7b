use super::*;

#[cfg(unix)]
#[track_caller]
fn check(host: &[(&str, &str)], expected: &[(&str, &str)]) {
    let pairs = |pairs: &[(&str, &str)]| -> ProgramEnvironment {
        pairs
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    };
    let found = minimal(Path::new("/private"), pairs(host));
    let mut expected = pairs(expected);
    expected.insert("HOME".into(), "/private".into());
    assert_eq!(found, expected);
}

/// J-001: what is not on the short list stays with the host.
#[cfg(unix)]
#[test]
fn only_the_harmless_is_taken() {
    let path = ("PATH", "/bin");
    check(&[], &[("PATH", DEFAULT_PATH)]);
    check(
        &[
            path,
            ("HOME", "/home/alice"),
            ("USER", "alice"),
            ("LANG", "de_DE.UTF-8@euro"),
            ("LC_ALL", "C.UTF-8"),
            ("LC_TIME", "en_GB"),
            ("TERM", "xterm-256color"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("BASH_ENV", "/tmp/evil"),
            ("LC_", "x"),
            ("LC_evil", "x"),
            ("LANGUAGE", "de"),
        ],
        &[
            path,
            ("USER", "alice"),
            ("LANG", "de_DE.UTF-8@euro"),
            ("LC_ALL", "C.UTF-8"),
            ("LC_TIME", "en_GB"),
            ("TERM", "xterm-256color"),
        ],
    );
    // Names that are paths, or that say more than a name.
    check(
        &[
            path,
            ("LANG", "/tmp/locale"),
            ("LC_ALL", "../x"),
            ("TERM", "a b"),
            ("USER", ""),
        ],
        &[path],
    );
    check(&[path, ("TERM", &"x".repeat(LONGEST_NAME + 1))], &[path]);
    check(
        &[("PATH", ":.:/usr/bin:bin:/bin")],
        &[("PATH", "/usr/bin:/bin")],
    );
    check(&[("PATH", ".")], &[("PATH", DEFAULT_PATH)]);
}
