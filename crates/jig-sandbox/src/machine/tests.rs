use super::*;

#[test]
fn releases_are_parsed() {
    #[track_caller]
    fn check(release: &str, expected: Option<(u32, u32, bool)>) {
        let found =
            Kernel::parse(release).map(|kernel| (kernel.major, kernel.minor, kernel.is_wsl()));
        assert_eq!(found, expected, "{release}");
    }
    check("6.18.44", Some((6, 18, false)));
    check("6.8.0-45-generic", Some((6, 8, false)));
    check("5.10.0-28-amd64", Some((5, 10, false)));
    check("7.0-rc3", Some((7, 0, false)));
    check("6.12", Some((6, 12, false)));
    check("5.15.153.1-microsoft-standard-WSL2", Some((5, 15, true)));
    check("4.4.0-19041-Microsoft", Some((4, 4, true)));
    check("", None);
    check("6", None);
    check("six.one", None);
    check("99999999999.1", None);
}

#[test]
fn trials_read_as_the_end_of_a_sentence() {
    #[track_caller]
    fn check(trial: ProbeResult, expected: &str) {
        assert_eq!(trial.to_string(), expected);
    }
    check(ProbeResult::Works, "worked");
    check(
        ProbeResult::Failed { errno: Errno::PERM },
        "failed with EPERM",
    );
    check(
        ProbeResult::Failed { errno: Errno(5) },
        "failed with errno 5",
    );
    check(ProbeResult::NoEffect, "was accepted but had no effect");
    check(
        ProbeResult::Killed { signal: 31 },
        "got the process killed by signal 31",
    );
    check(ProbeResult::TimedOut, "hung");
    check(ProbeResult::NotTried, "was not tried");
}

/// The names are for programs that read `jig doctor --json`.
#[test]
fn facts_serialize_by_stable_names() {
    #[track_caller]
    fn check(fact: impl Serialize, expected: &str) {
        assert_eq!(serde_json::to_string(&fact).unwrap(), expected);
    }
    check(ProbeResult::Works, r#"{"result":"works"}"#);
    check(
        ProbeResult::Failed {
            errno: Errno::NOSPC,
        },
        r#"{"result":"failed","errno":28}"#,
    );
    check(
        ProbeResult::Killed { signal: 31 },
        r#"{"result":"killed","signal":31}"#,
    );
    check(
        Landlock::Available {
            abi: 7,
            enforced: ProbeResult::Works,
        },
        r#"{"state":"available","abi":7,"enforced":{"result":"works"}}"#,
    );
    check(Landlock::DisabledAtBoot, r#"{"state":"disabled_at_boot"}"#);
    check(CgroupLayout::V1Only, r#""v1_only""#);
    check(Container::Other("lxc".to_owned()), r#"{"other":"lxc"}"#);
}

#[test]
fn seccomp_is_blocked_only_when_it_exists() {
    #[track_caller]
    fn check(filters: ProbeResult, expected: bool) {
        let seccomp = Seccomp {
            filters,
            notify: ProbeResult::NotTried,
            listener: ProbeResult::NotTried,
        };
        assert_eq!(seccomp.is_blocked(), expected, "{filters}");
    }
    check(ProbeResult::Works, false);
    check(ProbeResult::Failed { errno: Errno::PERM }, true);
    check(ProbeResult::Killed { signal: 31 }, true);
    check(
        ProbeResult::Failed {
            errno: Errno::NOSYS,
        },
        false,
    );
    check(
        ProbeResult::Failed {
            errno: Errno::INVAL,
        },
        false,
    );
}
