use super::*;

#[test]
fn mounts_are_parsed() {
    #[track_caller]
    fn check(line: &str, expected: Option<(&str, &str, &str)>) {
        let found = parse_mount(line);
        let found = found.as_ref().map(|mount| {
            (
                mount.root.as_str(),
                mount.target.as_str(),
                mount.kind.as_str(),
            )
        });
        assert_eq!(found, expected, "{line}");
    }
    check(
        "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw,discard",
        Some(("/", "/", "ext4")),
    );
    check(
        "36 25 0:32 /docker/abc /sys/fs/cgroup ro,nosuid shared:9 master:2 - cgroup2 cgroup rw",
        Some(("/docker/abc", "/sys/fs/cgroup", "cgroup2")),
    );
    check(
        r"40 27 0:40 / /mnt/two\040words\134x rw - tmpfs none rw",
        Some(("/", r"/mnt/two words\x", "tmpfs")),
    );
    check(
        r"40 27 0:40 / /odd\9 rw - tmpfs none rw",
        Some(("/", r"/odd\9", "tmpfs")),
    );
    check("27 1 254:0 / / rw,relatime", None);
    check("27 1 - ext4", None);
    check("", None);
}

#[test]
fn status_is_parsed() {
    let status = "Name:\tjig\nUid:\t1000\t1001\t1002\t1003\nCapInh:\t0000000000000000\n\
        CapEff:\t0000020000200001\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
    let found = parse_status(status);
    assert_eq!(found.uid, Some(1001), "the effective user");
    assert_eq!(
        found.capabilities,
        Some(vec!["chown".into(), "sys_admin".into(), "41".into()])
    );
    assert_eq!(found.no_new_privs, Some(true));
    assert_eq!(found.seccomp_filtered, Some(true));

    let plain = parse_status("CapEff:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\n");
    assert_eq!(plain.capabilities, Some(Vec::new()));
    assert_eq!(
        (plain.no_new_privs, plain.seccomp_filtered),
        (Some(false), Some(false))
    );

    let unknown = parse_status("");
    assert_eq!((unknown.uid, unknown.capabilities), (None, None));
    assert_eq!(
        (unknown.no_new_privs, unknown.seccomp_filtered),
        (None, None)
    );
}

#[test]
fn only_the_first_user_namespace_maps_everything() {
    assert!(maps_everything("         0          0 4294967295\n"));
    assert!(!maps_everything("         0       1000          1\n"));
    assert!(!maps_everything("0 100000 65536\n"));
    assert!(!maps_everything(""));
}

#[test]
fn what_cannot_be_read_is_absent() {
    assert_eq!(read("/proc/no-such-file"), None);
    assert_eq!(read("/proc"), None, "a directory");
    assert_eq!(setting("/proc/sys/kernel/ostype"), None, "no number");
    assert!(setting("/proc/sys/kernel/pid_max").is_some_and(|value| value > 0));
    assert!(exists("/proc/self/status") && !exists("/proc/no-such-file"));
}
