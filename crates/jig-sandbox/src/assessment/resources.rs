//! What keeps a tool within its means: control groups, privileges, and what Wasm needs.

use super::Finding;
use crate::machine::{CgroupLayout, Container, Machine};

pub(super) fn cgroup(machine: &Machine) -> Finding {
    const NAME: &str = "cgroup";
    const GAP: &str = "memory, processes and processor time of a tool together with all that it starts; \
        limits hold for each process alone, and the sum is only watched";
    let cgroup = &machine.cgroup;
    let lacking: Vec<&str> = WANTED
        .into_iter()
        .filter(|wanted| !cgroup.controllers.iter().any(|held| held == wanted))
        .collect();
    let has_none = lacking.len() == WANTED.len();
    match cgroup.layout {
        CgroupLayout::Absent => Finding::missing(
            NAME,
            "no control groups are mounted",
            GAP,
            in_container(machine).unwrap_or_else(|| {
                "run `sudo mount -t cgroup2 none /sys/fs/cgroup`, or start the machine with systemd"
                    .to_owned()
            }),
        ),
        CgroupLayout::V1Only => Finding::missing(
            NAME,
            "only version 1 of control groups is mounted",
            GAP,
            unify(machine),
        ),
        CgroupLayout::Hybrid if has_none => Finding::missing(
            NAME,
            "control groups of version 2 are mounted without memory, pids and cpu, which version 1 holds",
            GAP,
            unify(machine),
        ),
        _ if !cgroup.delegated => {
            let own = cgroup.path.as_deref().unwrap_or("unknown");
            Finding::missing(
                NAME,
                format!("the own control group, {own}, is not handed over to this user"),
                GAP,
                delegate(machine),
            )
        }
        CgroupLayout::Hybrid if !lacking.is_empty() => {
            Finding::partial(NAME, without(&lacking), only(&lacking), unify(machine))
        }
        _ if !lacking.is_empty() => {
            let finding = if has_none {
                Finding::missing
            } else {
                Finding::partial
            };
            finding(NAME, without(&lacking), only(&lacking), enable(machine))
        }
        _ => Finding::ok(
            NAME,
            "the own control group is handed over with memory, pids and cpu; this version of jig watches \
             the sums itself",
        ),
    }
}

pub(super) fn privileges(machine: &Machine) -> Finding {
    const NAME: &str = "privileges";
    let privileges = &machine.privileges;
    let held = privileges.capabilities.as_deref().unwrap_or_default();
    if privileges.is_root() {
        return Finding::partial(
            NAME,
            "jig runs as root",
            "nothing, but if the sandbox has a flaw, a tool has root's rights",
            as_user(machine),
        );
    }
    if !held.is_empty() {
        return Finding::partial(
            NAME,
            format!("jig holds capabilities: {}", held.join(", ")),
            "nothing, but if the sandbox has a flaw, a tool has these capabilities",
            "start jig without them: `setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all jig …`, \
             and remove file capabilities from the program (`sudo setcap -r PROGRAM`)",
        );
    }
    match privileges.uid {
        Some(uid) => Finding::ok(NAME, format!("jig runs as user {uid} without capabilities")),
        None => Finding::partial(
            NAME,
            "the rights of this process are not known, because /proc cannot be read",
            "nothing, but jig may run with more rights than it needs",
            "mount /proc: `sudo mount -t proc proc /proc`",
        ),
    }
}

pub(super) fn wasm_compiler(machine: &Machine) -> Finding {
    const NAME: &str = "wasm-compiler";
    if machine.wasm.compiler {
        return Finding::ok(
            NAME,
            format!("Wasm tools are compiled for {}", machine.arch),
        );
    }
    Finding::missing(
        NAME,
        format!("there is no Wasm compiler for {}", machine.arch),
        "nothing, but Wasm tools do not run",
        "run jig on x86_64, aarch64, riscv64 or s390x",
    )
}

pub(super) fn wasm_memory(machine: &Machine) -> Finding {
    const NAME: &str = "wasm-memory";
    match machine.wasm.address_space {
        Some(limit) if limit < POOL => Finding::partial(
            NAME,
            format!("the address space is limited to {} MiB", limit >> 20),
            "nothing, but memory for Wasm tools cannot be reserved ahead, and each call is slower",
            "run `ulimit -v unlimited` in the shell that starts jig, or set `LimitAS=infinity` in its \
             systemd unit",
        ),
        Some(_) => Finding::ok(
            NAME,
            "the limit on address space leaves room for Wasm tools",
        ),
        None => Finding::ok(NAME, "the address space is not limited"),
    }
}

fn without(lacking: &[&str]) -> String {
    format!(
        "the own control group has no controller for {}",
        lacking.join(", ")
    )
}

fn only(lacking: &[&str]) -> String {
    let what: Vec<&str> = lacking
        .iter()
        .map(|controller| match *controller {
            "memory" => "memory",
            "pids" => "the number of processes",
            _ => "processor time",
        })
        .collect();
    format!(
        "{} of a tool together with all that it starts",
        what.join(", ")
    )
}

/// How to leave version 1 behind.
fn unify(machine: &Machine) -> String {
    if let Some(remedy) = in_container(machine) {
        return remedy;
    }
    if machine.is_wsl() {
        return "put `kernelCommandLine = cgroup_no_v1=all` under [wsl2] in %UserProfile%\\.wslconfig and \
             `systemd=true` under [boot] in /etc/wsl.conf, then run `wsl --shutdown`"
            .to_owned();
    }
    if machine.surroundings.systemd {
        return "add `systemd.unified_cgroup_hierarchy=1` to GRUB_CMDLINE_LINUX in /etc/default/grub, run \
             `sudo update-grub` (Fedora: `sudo grub2-mkconfig -o /boot/grub2/grub.cfg`) and reboot"
            .to_owned();
    }
    "boot with `cgroup_no_v1=all` on the kernel's command line and mount version 2: \
     `mount -t cgroup2 none /sys/fs/cgroup`"
        .to_owned()
}

/// How to get a group of one's own.
fn delegate(machine: &Machine) -> String {
    if let Some(remedy) = in_container(machine) {
        return remedy;
    }
    match (machine.surroundings.systemd, machine.privileges.is_root()) {
        (true, true) => "start jig with `systemd-run --scope -p Delegate=yes jig …`".to_owned(),
        (true, false) => {
            "start jig with `systemd-run --user --scope -p Delegate=yes jig …`".to_owned()
        }
        (false, _) => {
            let parent = machine
                .cgroup
                .directory
                .as_deref()
                .unwrap_or("/sys/fs/cgroup");
            format!(
                "hand over a group as root: `mkdir {parent}/jig`, `chown -R USER {parent}/jig`, and write \
                 the id of the shell that starts jig to {parent}/jig/cgroup.procs"
            )
        }
    }
}

/// How to get controllers that the group above keeps to itself.
fn enable(machine: &Machine) -> String {
    if let Some(remedy) = in_container(machine) {
        return remedy;
    }
    if machine.surroundings.systemd {
        return "write `[Service]` and `Delegate=cpu cpuset io memory pids` as two lines to \
             /etc/systemd/system/user@.service.d/delegate.conf, run `sudo systemctl daemon-reload`, log \
             out and in again, and start jig with `systemd-run --user --scope -p Delegate=yes jig …`"
            .to_owned();
    }
    "write `+memory +pids +cpu` to cgroup.subtree_control of every group above the own one, as root"
        .to_owned()
}

/// In a container the limits of the container itself are the ones that a person can set.
fn in_container(machine: &Machine) -> Option<String> {
    match machine.container()? {
        Container::Docker => Some(
            "limit the container as a whole: `docker run --memory 4g --pids-limit 1000 --cpus 2 …`"
                .to_owned(),
        ),
        Container::Podman => Some(
            "limit the container as a whole: `podman run --memory 4g --pids-limit 1000 --cpus 2 …`"
                .to_owned(),
        ),
        Container::Kubernetes => Some(
            "limit the container as a whole: `resources: {limits: {memory: 4Gi, cpu: 2}}`, and the \
             kubelet's `podPidsLimit`"
                .to_owned(),
        ),
        Container::Other(name) => {
            Some(format!("limit {name} as a whole: memory, processes and processor time"))
        }
    }
}

fn as_user(machine: &Machine) -> String {
    match machine.container() {
        Some(Container::Docker) => {
            "start the container with `docker run --user 1000:1000 …`".to_owned()
        }
        Some(Container::Podman) => {
            "start the container with `podman run --user 1000:1000 …`".to_owned()
        }
        Some(Container::Kubernetes) => {
            "set `runAsUser: 1000` and `runAsNonRoot: true` in the container's securityContext"
                .to_owned()
        }
        _ => "run jig as an ordinary user, for example `sudo -u USER jig …`".to_owned(),
    }
}

/// The controllers that limits need.
const WANTED: [&str; 3] = ["memory", "pids", "cpu"];

/// The address space that the pool of Wasm memories needs beside the rest of the process: 16
/// memories of at most 512 MiB, and as much again to spare.
const POOL: u64 = 16 << 30;
