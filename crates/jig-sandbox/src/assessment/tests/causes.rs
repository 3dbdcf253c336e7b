//! Why namespaces are refused, and what to do about it.

use super::*;

#[test]
fn causes_of_refused_namespaces() {
    #[track_caller]
    fn check(machine: Machine, what: &str, remedy: &str) {
        let found = finding(&machine, "namespaces");
        assert_eq!(found.what, what);
        let given = found.remedy.unwrap_or_default();
        assert!(given.contains(remedy), "{given}");
    }
    let with = |user: ProbeResult, change: fn(&mut Machine)| {
        let mut machine = modern();
        machine.namespaces = refused(user);
        change(&mut machine);
        machine
    };
    check(
        ubuntu_24_04(),
        "the uid map failed with EPERM: AppArmor restricts unprivileged user namespaces",
        "`printf 'abi <abi/4.0>,\\nprofile jig /usr/bin/jig flags=(unconfined) {\\n  userns,\\n}\\n' \
         | sudo tee /etc/apparmor.d/jig && sudo apparmor_parser -r /etc/apparmor.d/jig`",
    );
    check(
        ubuntu_24_04(),
        "the uid map failed with EPERM: AppArmor restricts unprivileged user namespaces",
        "echo 'kernel.apparmor_restrict_unprivileged_userns = 0'",
    );
    // A shell inside an editor that has a profile in unconfined mode is restricted all the same.
    let mut editor = ubuntu_24_04();
    editor.privileges.security_label = Some("code (unconfined)".to_owned());
    editor.program = Some("/home/me/my tools/jig".to_owned());
    check(
        editor,
        "the uid map failed with EPERM: AppArmor restricts unprivileged user namespaces",
        "profile jig /usr/local/bin/jig flags",
    );
    check(
        with(EACCES, |machine| {
            machine
                .surroundings
                .sysctls
                .apparmor_restrict_unprivileged_userns = Some(1);
        }),
        "the user namespace failed with EACCES: AppArmor restricts unprivileged user namespaces",
        "apparmor_parser",
    );
    check(
        docker(),
        "the user namespace failed with EPERM: the system-call filter of Docker most likely refuses it",
        "docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined",
    );
    // The filter was lifted, the profile was not: now mounts are refused.
    let mut half = docker();
    half.privileges.seccomp_filtered = Some(false);
    half.namespaces = Namespaces {
        private_mounts: EACCES,
        ..Namespaces::all(ProbeResult::Works)
    };
    check(
        half,
        "the private mounts failed with EACCES: the security profile `docker-default (enforce)` of \
         this process most likely refuses it",
        "--security-opt apparmor=unconfined",
    );
    let mut podman = docker();
    podman.surroundings.container = Some(Container::Podman);
    check(
        podman,
        "the user namespace failed with EPERM: the system-call filter of Podman most likely refuses it",
        "podman run --security-opt seccomp=unconfined",
    );
    let mut pod = docker();
    pod.surroundings.container = Some(Container::Kubernetes);
    check(
        pod,
        "the user namespace failed with EPERM: the system-call filter of Kubernetes most likely \
         refuses it",
        "seccompProfile: {type: Unconfined}",
    );
    check(
        with(ProbeResult::Killed { signal: 31 }, |machine| {
            machine.privileges.seccomp_filtered = Some(true);
        }),
        "the user namespace got the process killed by signal 31: a system-call filter most likely \
         refuses it",
        "RestrictNamespaces=no",
    );
    check(
        with(ENOSPC, |machine| {
            machine.surroundings.sysctls.max_user_namespaces = Some(0)
        }),
        "the user namespace failed with ENOSPC: user.max_user_namespaces is 0",
        "echo 'user.max_user_namespaces = 15000'",
    );
    check(
        with(ENOSPC, |_| {}),
        "the user namespace failed with ENOSPC: the limit user.max_user_namespaces of 60000 is reached",
        "`lsns`",
    );
    let mut without_net = modern();
    without_net.namespaces.net = ENOSPC;
    without_net.surroundings.sysctls.max_net_namespaces = Some(0);
    check(
        without_net,
        "the network namespace failed with ENOSPC: user.max_net_namespaces is 0",
        "echo 'user.max_net_namespaces = 15000'",
    );
    check(
        with(EPERM, |machine| {
            machine.surroundings.sysctls.unprivileged_userns_clone = Some(0);
        }),
        "the user namespace failed with EPERM: kernel.unprivileged_userns_clone is 0",
        "echo 'kernel.unprivileged_userns_clone = 1'",
    );
    check(
        with(EPERM, |machine| machine.surroundings.chroot = true),
        "the user namespace failed with EPERM: the process runs in a chroot",
        "systemd-nspawn -D",
    );
    check(
        with(EINVAL, |_| {}),
        "the user namespace failed with EINVAL: the kernel was built without it",
        "CONFIG_USER_NS",
    );
    check(
        with(EACCES, |machine| {
            machine.privileges.security_label = Some("staff_u:staff_r:staff_t:s0".to_owned());
        }),
        "the user namespace failed with EACCES: the security profile `staff_u:staff_r:staff_t:s0` of \
         this process most likely refuses it",
        "journalctl -k",
    );
    check(
        with(ProbeResult::NoChild { errno: Errno(11) }, |_| {}),
        "the user namespace could not be tried, because no process could be started (EAGAIN): no \
         process could be started to try it",
        "ulimit -u",
    );
    check(
        with(EPERM, |_| {}),
        "the user namespace failed with EPERM: the cause is not known",
        "unshare --user",
    );
}
