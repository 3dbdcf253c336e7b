//! Control groups, privileges and what Wasm needs.

use super::*;

#[test]
fn control_groups() {
    #[track_caller]
    fn check(machine: Machine, change: fn(&mut Machine), level: Level, what: &str, remedy: &str) {
        let mut machine = machine;
        change(&mut machine);
        let found = finding(&machine, "cgroup");
        assert_eq!((found.level, found.what.as_str()), (level, what));
        let given = found.remedy.unwrap_or_default();
        assert!(given.contains(remedy), "{given}");
    }
    check(
        modern(),
        |_| {},
        Level::Ok,
        "the own control group is handed over with memory, pids and cpu; this version of jig watches the \
         sums itself",
        "",
    );
    check(
        ubuntu_24_04(),
        |_| {},
        Level::Missing,
        "the own control group, /user.slice/user-1000.slice/session-2.scope, is not handed over to \
         this user",
        "systemd-run --user --scope -p Delegate=yes jig",
    );
    check(
        modern(),
        |machine| {
            machine.cgroup.delegated = false;
            machine.privileges.uid = Some(0);
        },
        Level::Missing,
        "the own control group, /user.slice/app.slice/jig.scope, is not handed over to this user",
        "`systemd-run --scope -p Delegate=yes jig",
    );
    check(
        modern(),
        |machine| machine.cgroup.controllers = words("memory pids"),
        Level::Partial,
        "the own control group has no controller for cpu",
        "/etc/systemd/system/user@.service.d/delegate.conf",
    );
    check(
        modern(),
        |machine| machine.cgroup.controllers = Vec::new(),
        Level::Missing,
        "the own control group has no controller for memory, pids, cpu",
        "Delegate=cpu cpuset io memory pids",
    );
    check(
        modern(),
        |machine| machine.cgroup.layout = CgroupLayout::V1Only,
        Level::Missing,
        "only version 1 of control groups is mounted",
        "systemd.unified_cgroup_hierarchy=1",
    );
    check(
        image_as_vm(),
        |_| {},
        Level::Missing,
        "control groups of version 2 are mounted without memory, pids and cpu, which version 1 holds",
        "boot with `cgroup_no_v1=all`",
    );
    check(
        wsl2(),
        |_| {},
        Level::Missing,
        "control groups of version 2 are mounted without memory, pids and cpu, which version 1 holds",
        "kernelCommandLine = cgroup_no_v1=all",
    );
    check(
        docker(),
        |_| {},
        Level::Missing,
        "the own control group, /, is not handed over to this user",
        "docker run --memory 4g --pids-limit 1000",
    );
    check(
        modern(),
        |machine| machine.cgroup.layout = CgroupLayout::Absent,
        Level::Missing,
        "no control groups are mounted",
        "mount -t cgroup2",
    );
}

#[test]
fn privileges_and_wasm() {
    #[track_caller]
    fn check(machine: Machine, name: &str, level: Level, what: &str, remedy: &str) {
        let found = finding(&machine, name);
        assert_eq!((found.level, found.what.as_str()), (level, what));
        let given = found.remedy.unwrap_or_default();
        assert!(given.contains(remedy), "{given}");
    }
    let held = "jig runs as user 1000 without capabilities";
    check(modern(), "privileges", Level::Ok, held, "");
    check(
        image_as_vm(),
        "privileges",
        Level::Partial,
        "jig runs as root",
        "sudo -u USER jig",
    );
    check(
        docker(),
        "privileges",
        Level::Partial,
        "jig runs as root",
        "docker run --user 1000:1000",
    );
    let mut capable = modern();
    capable.privileges.capabilities = Some(words("net_raw"));
    check(
        capable,
        "privileges",
        Level::Partial,
        "jig holds capabilities: net_raw",
        "setpriv",
    );

    let mut limited = modern();
    limited.wasm.address_space = Some(4 << 30);
    let what = "the address space is limited to 4096 MiB";
    check(
        limited,
        "wasm-memory",
        Level::Partial,
        what,
        "ulimit -v unlimited",
    );
    let mut other = modern();
    other.arch = "powerpc64".to_owned();
    other.wasm.compiler = false;
    let what = "there is no Wasm compiler for powerpc64";
    check(
        other,
        "wasm-compiler",
        Level::Missing,
        what,
        "x86_64, aarch64",
    );
}
