use super::*;
use crate::profile::{PrivateDirectory, RuleSource};

fn rule(path: &str, rights: Rights) -> PathRule {
    PathRule {
        path: path.into(),
        rights,
        source: RuleSource::Declared,
    }
}

/// The lines after those that every profile has.
#[track_caller]
fn check(profile: &Profile, expected: &str) {
    let text = seatbelt(profile).unwrap();
    assert_eq!(text.strip_prefix(BASE).unwrap(), expected);
}

#[test]
fn a_closed_profile_is_the_base_alone() {
    check(&Profile::closed(), "");
    assert!(BASE.starts_with("(version 1)\n(deny default)\n"));
    assert!(!BASE.contains("network"));
    for text in [BASE, NETWORK] {
        assert_eq!(text.matches('(').count(), text.matches(')').count());
    }
}

/// The last rule that matches counts, so a rule inside another comes after it.
#[test]
fn rules_are_written_from_the_outside_in() {
    let mut profile = Profile::closed();
    profile.paths = vec![
        rule("/w/out", Rights::READ.with(Rights::WRITE)),
        rule("/w/.env", Rights::NONE),
        rule("/w", Rights::READ.with(Rights::EXECUTE)),
        rule("/w/out", Rights::READ.with(Rights::CREATE)),
    ];
    check(
        &profile,
        r#"(deny file-write* (subpath "/w"))
(allow file-read* process-exec* file-map-executable (subpath "/w"))
(deny file-read-data file-read-xattr file-write* process-exec* file-map-executable (subpath "/w/.env"))
(deny process-exec* file-map-executable (subpath "/w/out"))
(allow file-read* file-write* (subpath "/w/out"))
"#,
    );
}

#[test]
fn pins_private_directories_and_the_network() {
    let mut profile = Profile::closed();
    profile.paths = vec![rule("/w", Rights::ALL)];
    profile.pins = vec!["/w/a".into()];
    profile.private = vec![PrivateDirectory {
        path: "/tmp".into(),
        size: 1,
        executable: false,
    }];
    profile.network = Network::Host;
    check(
        &profile,
        &(r#"(allow file-read* file-write* process-exec* file-map-executable (subpath "/w"))
(deny file-read-data file-write* (subpath "/tmp"))
(deny file-write-unlink (literal "/w/a"))
"#
        .to_owned()
            + NETWORK),
    );
}

/// Whoever names a directory must not write rules with it.
#[test]
fn paths_are_quoted_or_refused() {
    let mut profile = Profile::closed();
    profile.paths = vec![rule(r#"/w") (allow default) ("\"#, Rights::READ)];
    let text = seatbelt(&profile).unwrap();
    assert!(text.ends_with("(allow file-read* (subpath \"/w\\\") (allow default) (\\\"\\\\\"))\n"));
    for path in ["relative", "/a\nb", "/a\0b"] {
        profile.paths = vec![rule(path, Rights::READ)];
        assert_eq!(seatbelt(&profile), Err(UnspeakablePath(path.into())));
    }
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        let path = Path::new(std::ffi::OsStr::from_bytes(b"/\xff"));
        profile.pins = vec![path.to_owned()];
        profile.paths.clear();
        assert_eq!(seatbelt(&profile), Err(UnspeakablePath(path.to_owned())));
    }
}

/// G-120: creating, changing and deleting collapse here, and that is said.
#[test]
fn what_collapses_is_a_gap() {
    let mut profile = Profile::closed();
    profile.paths = vec![
        rule("/all", Rights::ALL),
        rule("/some", Rights::READ.with(Rights::CREATE)),
        rule("/none", Rights::READ),
    ];
    assert_eq!(
        status(&profile, &ProcessLimits::default())
            .files
            .to_string(),
        "partly enforced: names, sizes and times of all files can be asked for; `/some` is open to all \
         changes, because macOS does not tell create from the others"
    );
    assert!(
        status(&profile, &ProcessLimits::ROOMY)
            .limits
            .to_string()
            .contains("memory")
    );
}

/// Nothing is opened for want of means.
#[test]
fn a_gateway_is_no_network() {
    let mut profile = Profile::closed();
    let closed = seatbelt(&profile);
    // One that only explains refusals loses nothing.
    profile.network = Network::Gateway(crate::profile::GatewayProfile::default());
    let explaining = status(&profile, &ProcessLimits::default()).network;
    assert_eq!(explaining, Enforcement::Enforced);
    profile.network = Network::Gateway(crate::profile::GatewayProfile {
        ports: vec![80],
        ..crate::profile::GatewayProfile::default()
    });
    profile.replaced = vec![crate::profile::PrivateFile {
        path: "/etc/hosts".into(),
        content: crate::profile::PrivateContent::Text(Vec::new()),
    }];
    assert_eq!(seatbelt(&profile), closed);
    let status = status(&profile, &ProcessLimits::default());
    assert!(status.network.to_string().contains("no network at all"));
    assert!(
        status
            .files
            .to_string()
            .contains("`/etc/hosts` is not replaced")
    );
}

#[test]
fn a_terminal_is_named_or_left_out() {
    let session = "(allow file-read* file-write* file-ioctl (literal \"/dev/tty\"))\n";
    assert_eq!(terminal(None), session);
    assert_eq!(terminal(Some(Path::new("/dev/a\nb"))), session);
    let own = "(allow file-read* file-write* file-ioctl (literal \"/dev/ttys007\"))\n";
    let both = format!("{session}{own}");
    assert_eq!(terminal(Some(Path::new("/dev/ttys007"))), both);
}
