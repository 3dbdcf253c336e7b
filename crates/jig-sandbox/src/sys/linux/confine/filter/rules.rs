//! What the groups of the table mean: from a rule to the conditions under which a call is allowed.

use super::program::{ArgumentTest, Clause, SeccompAction};

/// What a filter has to know about the confinement around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FilterContext {
    /// Whether processes, mounts, IPC and names are the tool's own.
    pub(crate) namespaces: bool,
    /// Whether the tool may use the network of the host.
    pub(crate) network: bool,
    /// Whether Landlock decides which unix sockets are reached by their path.
    pub(crate) sockets_by_path: bool,
    /// Whether Landlock decides which files can be emptied. Before that, one who may only read a file
    /// can, by its path and by opening it.
    pub(crate) truncation: bool,
}

/// System calls that are treated alike.
pub(super) struct SyscallGroup {
    /// Why they are treated so.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "it is for whoever reads the table")
    )]
    pub(super) why: &'static str,
    pub(super) rule: FilterRule,
    /// By the names of the kernel. A name may be missing on an architecture.
    pub(super) calls: &'static [&'static str],
}

/// How a group is treated.
#[derive(Debug, Clone, Copy)]
pub(super) enum FilterRule {
    /// Always allowed.
    Allow,
    /// Always refused.
    Refuse(SeccompAction),
    /// Allowed where namespaces keep it to the tool's own processes, else refused.
    InNamespaces,
    /// In namespaces allowed, else only about the caller itself: argument `id` must be 0, and argument
    /// `kind`, if there is one, not `everybody`.
    OfItself {
        id: u8,
        not: Option<(u8, u32)>,
    },
    /// Allowed where there is a network to use.
    WithNetwork,
    /// `mode` must not make a file that lends its owner's or group's identity. Where `flags` is given,
    /// the mode counts only if they ask for a new file.
    Mode {
        mode: u8,
        flags: Option<u8>,
    },
    /// Allowed where Landlock decides about it.
    Truncate,
    /// No new namespaces.
    Clone,
    Socket,
    SocketPair,
    Ioctl,
    Personality,
}

impl FilterRule {
    /// The rule as clauses: the first that holds decides, and the last always does.
    pub(super) fn clauses(self, around: FilterContext) -> Vec<Clause> {
        match self {
            FilterRule::Allow => vec![always(ALLOW)],
            FilterRule::Refuse(outcome) => vec![always(outcome)],
            FilterRule::InNamespaces if around.namespaces => vec![always(ALLOW)],
            FilterRule::InNamespaces => vec![always(EPERM)],
            FilterRule::OfItself { .. } if around.namespaces => vec![always(ALLOW)],
            FilterRule::OfItself { id, not } => of_itself(id, not),
            FilterRule::WithNetwork if around.namespaces || around.network => vec![always(ALLOW)],
            FilterRule::WithNetwork => vec![always(EPERM)],
            FilterRule::Mode { mode, flags } => mode_without_identity(mode, flags, around),
            FilterRule::Truncate if around.truncation => vec![always(ALLOW)],
            FilterRule::Truncate => vec![always(EPERM)],
            FilterRule::Clone => vec![when([any_bit(0, NEW_NAMESPACES)], EPERM), always(ALLOW)],
            FilterRule::Socket => socket(around),
            FilterRule::SocketPair => socket_pair(around),
            FilterRule::Ioctl => ioctl(),
            FilterRule::Personality => vec![
                when([is(0, PERSONALITY_OF_LINUX)], ALLOW),
                when([is(0, PERSONALITY_QUERY)], ALLOW),
                always(EPERM),
            ],
        }
    }
}

fn of_itself(id: u8, not: Option<(u8, u32)>) -> Vec<Clause> {
    let mut clauses = Vec::new();
    if let Some((kind, everybody)) = not {
        clauses.push(when([is(kind, everybody)], EPERM));
    }
    clauses.extend([when([is(id, 0)], ALLOW), always(EPERM)]);
    clauses
}

fn mode_without_identity(mode: u8, flags: Option<u8>, around: FilterContext) -> Vec<Clause> {
    let identity = any_bit(mode, S_ISUID | S_ISGID);
    let Some(flags) = flags else {
        return vec![when([identity], EPERM), always(ALLOW)];
    };
    let mut clauses = vec![when([any_bit(flags, O_CREAT | O_TMPFILE), identity], EPERM)];
    if !around.truncation {
        let only_reads = masked(flags, O_ACCMODE, O_RDONLY);
        clauses.push(when([any_bit(flags, O_TRUNC), only_reads], EPERM));
    }
    clauses.push(always(ALLOW));
    clauses
}

/// Other address families have had holes of their own, and some lead out of every network namespace.
///
/// Without namespaces a unix socket reaches whatever listens at a path on the machine, unless Landlock
/// decides by path.
fn socket(around: FilterContext) -> Vec<Clause> {
    let mut clauses = Vec::new();
    if around.namespaces || (around.network && around.sockets_by_path) {
        clauses.push(when([is(0, AF_UNIX)], ALLOW));
    }
    if around.namespaces || around.network {
        clauses.push(when([is(0, AF_NETLINK), is(2, NETLINK_ROUTE)], ALLOW));
        for (family, echo) in [(AF_INET, IPPROTO_ICMP), (AF_INET6, IPPROTO_ICMPV6)] {
            for (kind, protocols) in [
                (SOCK_STREAM, &[0, IPPROTO_TCP][..]),
                (SOCK_DGRAM, &[0, IPPROTO_UDP, echo]),
            ] {
                clauses.extend(protocols.iter().map(|protocol| {
                    let tests = [
                        is(0, family),
                        masked(1, SOCK_TYPE_MASK, kind),
                        is(2, *protocol),
                    ];
                    when(tests, ALLOW)
                }));
            }
            // Go takes this answer for "no multipath TCP here" and uses plain TCP.
            clauses.push(when([is(0, family)], EPROTONOSUPPORT));
        }
    }
    clauses.push(always(EAFNOSUPPORT));
    clauses
}

/// A datagram socket sends to any path, also one that was born connected.
fn socket_pair(around: FilterContext) -> Vec<Clause> {
    let mut clauses = Vec::new();
    if around.namespaces || around.sockets_by_path {
        clauses.push(when([is(0, AF_UNIX)], ALLOW));
    } else {
        for kind in [SOCK_STREAM, SOCK_SEQPACKET] {
            let tests = [is(0, AF_UNIX), masked(1, SOCK_TYPE_MASK, kind)];
            clauses.push(when(tests, ALLOW));
        }
    }
    clauses.push(always(EAFNOSUPPORT));
    clauses
}

fn ioctl() -> Vec<Clause> {
    let mut clauses: Vec<Clause> = [TIOCSTI, TIOCLINUX, TIOCCONS, TIOCSETD]
        .into_iter()
        .chain(SUBVOLUMES)
        .map(|command| when([is(1, command)], EPERM))
        .collect();
    clauses.push(always(ALLOW));
    clauses
}

fn always(outcome: SeccompAction) -> Clause {
    when([], outcome)
}

fn when<const N: usize>(tests: [ArgumentTest; N], outcome: SeccompAction) -> Clause {
    Clause {
        tests: tests.to_vec(),
        outcome,
    }
}

fn is(argument: u8, value: u32) -> ArgumentTest {
    masked(argument, u32::MAX, value)
}

fn masked(argument: u8, mask: u32, value: u32) -> ArgumentTest {
    ArgumentTest::Equals {
        argument,
        mask,
        value,
    }
}

fn any_bit(argument: u8, mask: u32) -> ArgumentTest {
    ArgumentTest::AnyBit { argument, mask }
}

const ALLOW: SeccompAction = SeccompAction::Allow;
pub(super) const EPERM: SeccompAction = SeccompAction::Errno(1);
pub(super) const ENOSYS: SeccompAction = SeccompAction::Errno(38);
const EPROTONOSUPPORT: SeccompAction = SeccompAction::Errno(93);
const EAFNOSUPPORT: SeccompAction = SeccompAction::Errno(97);

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID` and `NEWNET`. That of time
/// namespaces cannot be given to `clone`: its bit is part of the signal.
const NEW_NAMESPACES: u32 = 0x7e02_0000;

const S_ISUID: u32 = 0o4000;
const S_ISGID: u32 = 0o2000;
const O_ACCMODE: u32 = 3;
const O_RDONLY: u32 = 0;
const O_CREAT: u32 = 0o100;
const O_TRUNC: u32 = 0o1000;
/// The bit of `O_TMPFILE` that `O_DIRECTORY` does not have.
const O_TMPFILE: u32 = 0o20_000_000;

const PERSONALITY_OF_LINUX: u32 = 0;
const PERSONALITY_QUERY: u32 = u32::MAX;
pub(super) const PRIO_USER: u32 = 2;
pub(super) const IOPRIO_WHO_USER: u32 = 3;

const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const NETLINK_ROUTE: u32 = 0;
const SOCK_STREAM: u32 = 1;
const SOCK_DGRAM: u32 = 2;
const SOCK_SEQPACKET: u32 = 5;
/// The rest of the argument are flags.
const SOCK_TYPE_MASK: u32 = 0xf;
const IPPROTO_ICMP: u32 = 1;
const IPPROTO_TCP: u32 = 6;
const IPPROTO_UDP: u32 = 17;
const IPPROTO_ICMPV6: u32 = 58;

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCCONS: u32 = 0x541d;
const TIOCSETD: u32 = 0x5423;

/// Those that make a subvolume or a snapshot, on btrfs and bcachefs: a name, with all that is below it, that no other
/// call makes.
const SUBVOLUMES: [u32; 5] = [
    0x5000_9401,
    0x5000_940e,
    0x5000_9417,
    0x5000_9418,
    0x4020_bc10,
];
