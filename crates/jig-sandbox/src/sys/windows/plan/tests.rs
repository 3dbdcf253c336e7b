use super::*;
use crate::profile::{PathRule, RuleSource};

#[test]
fn a_job_ends_with_its_last_handle_and_never_lets_go() {
    const BREAKAWAY_OK: u32 = 0x0800;
    const SILENT_BREAKAWAY_OK: u32 = 0x1000;
    for limits in [ProcessLimits::default(), ProcessLimits::ROOMY] {
        let job = plan(&Profile::closed(), &limits).job;
        assert_ne!(job.limits & KILL_ON_JOB_CLOSE, 0);
        assert_eq!(job.limits & (BREAKAWAY_OK | SILENT_BREAKAWAY_OK), 0);
    }
}

#[test]
fn limits_are_those_of_the_tree() {
    let none = plan(&Profile::closed(), &ProcessLimits::default()).job;
    assert_eq!(none.limits, 0x2400);
    let roomy = plan(&Profile::closed(), &ProcessLimits::ROOMY).job;
    assert_eq!(
        (roomy.limits, roomy.processes, roomy.memory),
        (0x2608, 4096, 8 << 30)
    );
    let endless = ProcessLimits {
        tasks: Some(u64::MAX),
        ..ProcessLimits::default()
    };
    assert_eq!(plan(&Profile::closed(), &endless).job.processes, u32::MAX);
}

#[test]
fn a_token_has_no_privileges() {
    let token = plan(&Profile::closed(), &ProcessLimits::default()).token;
    assert_eq!(token.flags, 5);
    assert_eq!(token.deny_only, ["S-1-5-32-544", "S-1-5-32-547"]);
    assert_eq!(token.integrity, "S-1-16-4096");
}

#[test]
fn what_stays_open_is_named() {
    let mut profile = Profile::closed();
    profile.paths.push(PathRule {
        path: "/w".into(),
        rights: Rights::ALL,
        source: RuleSource::Declared,
    });
    assert_eq!(
        plan(&profile, &ProcessLimits::ROOMY).gaps,
        [
            "all files can be read that the user may read",
            "programs can be run wherever the user may run them",
            "`/w` cannot be written to before it is marked as of low integrity",
            "the network can be used",
            "threads are not limited, only processes",
            "open files and sizes of files are not limited",
            "how much fuller the disk becomes is not limited",
        ]
    );
}
