use super::*;

fn mount(root: &str, target: &str, kind: &str) -> MountinfoLine {
    MountinfoLine {
        root: root.to_owned(),
        target: target.to_owned(),
        kind: kind.to_owned(),
    }
}

#[test]
fn the_own_path_is_that_of_version_2() {
    #[track_caller]
    fn check(cgroup: &str, expected: Option<&str>) {
        assert_eq!(own_path(cgroup).as_deref(), expected);
    }
    check(
        "0::/user.slice/session-2.scope\n",
        Some("/user.slice/session-2.scope"),
    );
    check("9:name=systemd:/\n4:memory:/a\n0::/b\n", Some("/b"));
    check("10:memory:/a\n", None);
    check("", None);
}

#[test]
fn layouts_are_told_apart() {
    #[track_caller]
    fn check(kinds: &[&str], expected: CgroupLayout) {
        let mounts: Vec<MountinfoLine> = kinds.iter().map(|kind| mount("/", "/x", kind)).collect();
        assert_eq!(layout(&mounts), expected, "{kinds:?}");
    }
    check(&["ext4", "cgroup2"], CgroupLayout::Unified);
    check(&["cgroup", "cgroup2"], CgroupLayout::Hybrid);
    check(&["cgroup", "cgroup"], CgroupLayout::V1Only);
    check(&["ext4"], CgroupLayout::Absent);
}

#[test]
fn directories_are_found_through_the_mount_that_shows_them() {
    #[track_caller]
    fn check(mounts: &[(&str, &str)], path: &str, expected: Option<&str>) {
        let mut all = vec![mount("/", "/", "ext4")];
        all.extend(
            mounts
                .iter()
                .map(|(root, target)| mount(root, target, "cgroup2")),
        );
        assert_eq!(
            directory(&all, path).as_deref(),
            expected,
            "{path} in {mounts:?}"
        );
    }
    let whole = [("/", "/sys/fs/cgroup")];
    check(&whole, "/", Some("/sys/fs/cgroup"));
    check(&whole, "/a/b", Some("/sys/fs/cgroup/a/b"));
    check(&whole, "/../other", None);
    // A container without a cgroup namespace sees its own part only.
    let part = [("/docker/abc", "/sys/fs/cgroup")];
    check(&part, "/docker/abc", Some("/sys/fs/cgroup"));
    check(&part, "/docker/abc/x", Some("/sys/fs/cgroup/x"));
    check(&part, "/docker/abcd", None);
    check(&part, "/", None);
    check(&[part[0], ("/", "/all")], "/other", Some("/all/other"));
    check(&[], "/", None);
}
