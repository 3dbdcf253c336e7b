//! [`Profile`]: what a program and all that it starts may reach, as plain data.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use serde::Serialize;

#[cfg(test)]
mod tests;

/// What a program and all that it starts may reach. What is not named here does not exist for it.
///
/// A profile starts closed: [`Profile::closed`] lets a program reach nothing, not even its own file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Profile {
    /// What may be done where. For any path the deepest rule at or above it decides, and only that one;
    /// of several at one path, the last. Without a rule a path cannot be seen.
    pub paths: Vec<PathRule>,
    /// Directories that exist for this program alone, and end with it.
    pub private: Vec<PrivateDirectory>,
    /// Small files in private directories, such as a configuration that a program reads from its home.
    pub files: Vec<PrivateFile>,
    /// Those of the private directories that nothing can be changed in once their files are there.
    pub sealed: Vec<PathBuf>,
    /// Directories that may be neither renamed nor removed, because something below them is restricted:
    /// under another name it would not be. Where a rule inside another one is held by a mount, the
    /// directories between them are pinned without being named here.
    pub pins: Vec<PathBuf>,
    /// Small files that it finds in place of those that the host has at these absolute paths, such as the
    /// settings of a resolver. They can be read, and not changed.
    pub replaced: Vec<PrivateFile>,
    /// Shown directories of which it changes a layer, while the host keeps what it has. Where there can be
    /// no layers (they need namespaces) the program is not started, whatever `enforce` says; only a cache
    /// is done without.
    pub overlays: Vec<Overlay>,
    /// Names that may not come into being, wherever a rule lets the program make names. The first that speaks of a
    /// name decides. It takes namespaces: see [`Child::supervisor`](crate::Child::supervisor).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guarded_names: Vec<GuardedName>,
    /// What it can talk to.
    pub network: Network,
    /// Where the program finds a socket that the host listens on, below a private directory. The host
    /// finds it in [`Child::door`](crate::Child::door).
    pub door: Option<PathBuf>,
    /// What happens when a part cannot be enforced on this machine.
    pub enforce: Enforce,
    /// Which layers to use.
    pub layers: Layers,
}

impl Profile {
    /// Nothing is reachable, and everything must be enforced.
    pub fn closed() -> Self {
        Self {
            paths: Vec::new(),
            private: Vec::new(),
            files: Vec::new(),
            sealed: Vec::new(),
            pins: Vec::new(),
            replaced: Vec::new(),
            overlays: Vec::new(),
            guarded_names: Vec::new(),
            network: Network::None,
            door: None,
            enforce: Enforce::Required,
            layers: Layers::ALL,
        }
    }

    /// The same without the layers that are caches; `None` if there are none.
    pub(crate) fn without_caches(&self) -> Option<Self> {
        let mut without = self.clone();
        without.overlays.retain(|overlay| !overlay.cache);
        (without.overlays.len() < self.overlays.len()).then_some(without)
    }
}

/// A name that may not come into being: not as a file, a directory, a link or a socket, and not by moving something
/// there. What is there already is not its business.
///
/// Names are compared as the loosest file system would: without case, and without dots and spaces at their ends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct GuardedName {
    /// Absolute and canonical: the directory that the name is in, or below which it is.
    pub base: PathBuf,
    /// The rest of the path. `*` stands for any run of bytes in a part of it.
    pub pattern: PathBuf,
    /// Whether the pattern counts in every directory below `base`, or only in `base`.
    pub at_any_depth: bool,
    /// What is said of the name.
    pub verdict: GuardVerdict,
    /// The name of directories below which the entry says nothing, such as those of installed packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_below: Option<PathBuf>,
}

/// What a [`GuardedName`] says of the names that it speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GuardVerdict {
    /// The name may not come into being, and nothing below it.
    Refused,
    /// The name may not come into being. What is below it, if it is there, is not meant.
    RefusedItself,
    /// The name may come into being all the same, and whatever is below it. It is meant to the letter.
    Free,
    /// No directory below `base` may become a bare repository of git: `HEAD` beside `objects` and `refs`, or beside
    /// `commondir`. A `.git` is not meant, nor what git keeps in one of worktrees and submodules. The pattern plays no part.
    BareRepository,
}

/// What may be done at a path and below it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PathRule {
    /// Absolute and canonical: without symbolic links, `.` and `..`.
    pub path: PathBuf,
    /// What is allowed. [`Rights::NONE`] hides the content of what a rule above allows.
    pub rights: Rights,
    /// Why the rule is there.
    pub source: RuleSource,
}

/// Why a rule is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleSource {
    /// Programs and libraries of the system. What does not exist is passed over.
    System,
    /// A person declared it: if it cannot be enforced, [`Enforce::Required`] refuses the start.
    Declared,
    /// It withholds something that exists and that nobody declared, such as a sensitive file. It is held as a
    /// declared one is, but for the names in a directory, which can be seen without namespaces.
    Implied,
    /// It withholds something that nobody declared and that need not exist. It is held as a declared one
    /// is; only for a path that does not exist yet does the status say that it cannot be.
    Guard,
}

/// A set of things that may be done with files.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rights(u8);

impl Rights {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// Reading files and listing directories.
    pub const READ: Self = Self(1);
    /// Making new files, directories and links.
    pub const CREATE: Self = Self(2);
    /// Changing what exists.
    pub const UPDATE: Self = Self(4);
    /// Removing, and renaming away.
    pub const DELETE: Self = Self(8);
    /// Running programs.
    pub const EXECUTE: Self = Self(16);
    /// Every change.
    pub const WRITE: Self = Self(2 | 4 | 8);
    /// Everything.
    pub const ALL: Self = Self(31);

    /// Both sets together.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What is in this set and not in the other.
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// What is in both sets.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Whether all of `other` is in this set.
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether any of `other` is in this set.
    pub const fn has_any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The names of what is in the set, in a fixed order.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .into_iter()
            .filter(move |(right, _)| self.has(*right))
            .map(|(_, name)| name)
    }
}

/// `read, update`; `nothing`.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Rights::NONE {
            return f.write_str("nothing");
        }
        let names: Vec<&str> = self.names().collect();
        f.write_str(&names.join(", "))
    }
}

impl fmt::Debug for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// As a list of names.
impl Serialize for Rights {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.names())
    }
}

const NAMES: [(Rights, &str); 5] = [
    (Rights::READ, "read"),
    (Rights::CREATE, "create"),
    (Rights::UPDATE, "update"),
    (Rights::DELETE, "delete"),
    (Rights::EXECUTE, "execute"),
];

/// An empty directory in memory, of which the host sees nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivateDirectory {
    /// Absolute. What the host has there is hidden.
    pub path: PathBuf,
    /// The most bytes it can hold.
    pub size: u64,
    /// Whether programs in it may be run.
    pub executable: bool,
}

/// A small file in a private directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PrivateFile {
    /// Absolute, below a private directory.
    pub path: PathBuf,
    /// What it is.
    pub content: PrivateContent,
}

/// What a file in a private directory is. Its bytes are told nowhere: they may be secret.
#[derive(Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PrivateContent {
    /// A file that can be read.
    Text(#[serde(skip)] Vec<u8>),
    /// A file that can be read and run.
    Program(#[serde(skip)] Vec<u8>),
    /// A symbolic link to this path.
    Link(PathBuf),
}

impl fmt::Debug for PrivateContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PrivateContent::Text(bytes) => write!(f, "Text({} bytes)", bytes.len()),
            PrivateContent::Program(bytes) => write!(f, "Program({} bytes)", bytes.len()),
            PrivateContent::Link(to) => write!(f, "Link({to:?})"),
        }
    }
}

/// A layer over a directory that a rule shows: what is changed there goes into the layer, and only there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Overlay {
    /// Absolute and canonical: the path of one of the rules.
    pub path: PathBuf,
    /// An existing directory of the host for what is changed. It must not lie in `path`, nor `path` in it.
    /// The program never sees it, whatever the rules show. It should have the permissions of `path`, whose
    /// own it stands for.
    pub upper: PathBuf,
    /// An existing, empty directory of the host on the same file system, for the kernel's own use.
    pub work: PathBuf,
    /// Whether the layer is a cache: the program may change it whatever the rule at `path` allows, and
    /// where this layer cannot be made the program starts without it, held to that rule.
    pub cache: bool,
}

/// What a program can talk to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Network {
    /// Nobody but itself: in tier A a loopback of its own, in tier B not even that.
    None,
    /// Whatever the host can.
    Host,
    /// Itself, and whoever the host connects it with: its connections end at sockets that the host serves.
    /// See [`Child::gateway`](crate::Child::gateway). It needs a network namespace; without one, and if less
    /// will do, Landlock lets it connect to any address on the ports.
    Gateway(GatewayProfile),
}

/// Which connections of a program reach the sockets of [`Network::Gateway`]; all others lead nowhere.
///
/// Connections to [`NAMES_V4`] and [`NAMES_V6`] do, on these ports, as do those to [`GATEWAY_V4`] on the
/// ports of lookups (53) and of the proxy (3128). Datagrams reach the host on the port of lookups only, there
/// and at 127.0.0.1, where resolvers without settings ask.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct GatewayProfile {
    /// The ports of rules. The program itself cannot listen on them. Without any, nobody can be reached: then the
    /// gateway only tells what was wanted, and without a network namespace there is no network at all.
    pub ports: Vec<u16>,
    /// Further ports at which a connection is refused with an explanation. They are open nowhere else: without
    /// a network namespace nothing connects to them.
    pub explained: Vec<u16>,
    /// Further addresses that reach them, beside those that stand for names. Loopback addresses always do.
    pub addresses: Vec<IpAddr>,
}

/// The addresses that stand for names, as a network and the length of its prefix.
pub const NAMES_V4: (Ipv4Addr, u8) = (Ipv4Addr::new(198, 18, 0, 0), 15);

/// As [`NAMES_V4`], for IPv6.
pub const NAMES_V6: (Ipv6Addr, u8) = (
    Ipv6Addr::new(0xfd6a, 0x6967, 0x6e61, 0x6d65, 0, 0, 0, 0),
    64,
);

/// The address at which the host itself answers: lookups of names, and the proxy.
pub const GATEWAY_V4: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);

/// The port of the proxy at [`GATEWAY_V4`].
pub const PROXY_PORT: u16 = 3128;

/// What happens when a part cannot be enforced. Not `non_exhaustive`: whoever starts programs must have
/// an answer to each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Enforce {
    /// The program is not started.
    Required,
    /// It runs with what can be enforced; the status says what is missing.
    BestEffort,
}

/// Which layers of confinement to use. Each is worth nothing to a program, only to whoever wants to see
/// what it is good for, or how a machine without it would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
pub struct Layers {
    /// Namespaces: processes, mounts, network, IPC, names. Without them: tier B.
    pub namespaces: bool,
    /// Landlock, up to this version of its interface; 0 for none.
    pub landlock: u8,
    /// The filter of system calls.
    pub seccomp: bool,
    /// The supervisor that refuses [guarded names](Profile::guarded_names).
    pub supervisor: bool,
}

impl Layers {
    /// All that the machine has.
    pub const ALL: Self = Self {
        namespaces: true,
        landlock: u8::MAX,
        seccomp: true,
        supervisor: true,
    };

    /// What a machine without user namespaces has.
    pub const TIER_B: Self = Self {
        namespaces: false,
        ..Self::ALL
    };
}
