//! What an ordinary user meets.
#![expect(
    clippy::disallowed_methods,
    reason = "the test runs itself again as another user"
)]

use std::os::unix::process::CommandExt;
use std::process::Command;

use jig_sandbox::{Tier, assess, probe};

const NOBODY: u32 = 65534;

/// As root the test runs itself again as nobody; as anybody else it looks at the facts.
#[test]
fn an_ordinary_user_gets_sensible_facts() {
    let machine = probe();
    let uid = machine.privileges.uid.expect("/proc is mounted");
    if uid == 0 {
        return run_again_as_nobody();
    }
    let held = machine.privileges.capabilities.as_deref();
    assert_eq!(held, Some(&[][..]), "an ordinary user has no capabilities");
    assert!(!machine.privileges.is_root());

    // Another program's word for what works: the same calls, by util-linux.
    let unshare = Command::new("unshare")
        .args([
            "--user",
            "--map-current-user",
            "--mount",
            "--net",
            "--ipc",
            "--uts",
            "true",
        ])
        .output()
        .expect("util-linux is installed");
    let namespaces = machine.namespaces;
    let ours = [
        namespaces.user,
        namespaces.uid_map,
        namespaces.mount,
        namespaces.net,
    ];
    assert_eq!(
        ours.iter().all(|trial| trial.works()),
        unshare.status.success(),
        "{namespaces:?}"
    );

    let assessment = assess(&machine);
    if machine.landlock.works() && machine.seccomp.filters.works() {
        let expected = if unshare.status.success() {
            Tier::A
        } else {
            Tier::B
        };
        assert_eq!(assessment.tier, expected, "{}", assessment.reason);
    }
    let privileges = assessment
        .findings
        .iter()
        .find(|one| one.name == "privileges")
        .unwrap();
    assert_eq!(
        privileges.what,
        format!("jig runs as user {uid} without capabilities")
    );
}

fn run_again_as_nobody() {
    // The program is reached by its link in /proc, because the directories above it may be closed
    // to others.
    let output = Command::new("/proc/self/exe")
        .args([
            "--exact",
            "plain_user::an_ordinary_user_gets_sensible_facts",
        ])
        .current_dir("/")
        .uid(NOBODY)
        .gid(NOBODY)
        .output()
        .expect("root may become nobody");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}"
    );
}
