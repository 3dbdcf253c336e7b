//! [`Observer`]: what a tree of processes asks the kernel for.

use std::net::SocketAddr;
use std::path::PathBuf;

use crate::profile::Rights;
use crate::sys::Watcher;

/// Watches what a tree asks the kernel for, from its start to its end.
///
/// It answers every question of the kernel with "go on": it sees, and decides nothing. What it tells is a
/// hint, since a program can change a path between the moment at which it is seen and that at which it is
/// used.
///
/// Dropping it stops the noting. The tree is answered to its end in any case.
#[derive(Debug)]
pub struct Observer(pub(crate) Watcher);

impl Observer {
    /// What was seen since this was last asked, or since the start: for a tree that stays. What it asked for
    /// before something that it did is in it when that is noticed.
    pub fn take(&self) -> Observation {
        self.0.take()
    }

    /// What was seen. To be called when the tree has ended; it ends the watching.
    pub fn finish(self) -> Observation {
        self.0.finish()
    }
}

/// What was seen of a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Observation {
    /// What was asked for, each thing once, in the order in which it first was.
    pub seen: Vec<ObservedAccess>,
    /// How many calls there were about more things than are kept.
    pub lost: u64,
    /// How many calls there were of which it could not be read what they were about, such as those of a
    /// program that closes itself to inspection.
    pub unread: u64,
}

/// Something that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedAccess {
    /// On what.
    pub target: ObservedTarget,
    /// What was wanted there. Of an address: [`Rights::NONE`].
    pub wanted: Rights,
    /// Whether it was only asked about: whether it is there, or what it is. Then [`Rights::READ`] stands for
    /// that. Always false for addresses and sockets.
    pub looked: bool,
    /// The programs that wanted it, by their names.
    pub programs: Vec<String>,
    /// How often.
    pub count: u64,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ObservedTarget {
    /// A path, absolute and without `..`, with links followed as far as it exists for the tree.
    Path(PathBuf),
    /// A unix socket to connect to, or to send to. One without a file begins with an `@` instead of a slash.
    Socket(PathBuf),
    /// An address to connect to, or to send to.
    Address(SocketAddr),
}
