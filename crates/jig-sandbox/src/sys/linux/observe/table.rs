//! The table: which calls are watched, and what each says about a path or an address.
//!
//! Calls that only use a descriptor are not in it: it was opened before, or given. Nor are `close` and `fork`,
//! which programs do not expect to be interrupted.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::sys::linux::confine::{self, UnwatchedCondition};
use crate::sys::linux::creation;
use crate::sys::linux::order::Instruction;

/// What a call says.
#[derive(Debug, Clone, Copy)]
pub(super) enum CallShape {
    /// It does something to what one path names.
    One(PathArgument, PathEffect),
    /// It moves what the first path names to the second; with the number of the argument that has flags.
    Move(PathArgument, PathArgument, Option<u8>),
    /// It makes what the first path names known under the second too.
    Link(PathArgument, PathArgument),
    /// It reaches for the address at this argument, whose length is in that one.
    Reach(u8, u8),
    /// It gives a socket the address at this argument, whose length is in that one.
    Name(u8, u8),
    /// It sends a message to the address in the structure at this argument.
    Message(u8),
    /// As `Message`, with an array of them, whose length is in that argument.
    Messages(u8, u8),
}

/// Where a path is found.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathArgument {
    /// The argument with the directory at which a relative path begins, if it is not the working directory.
    pub(super) directory: Option<u8>,
    /// The argument with the path.
    pub(super) path: u8,
    /// What becomes of a link at its end.
    pub(super) last: FinalLinkRule,
}

/// What becomes of a symbolic link at the end of a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum FinalLinkRule {
    /// It is followed.
    Followed,
    /// The link itself is meant.
    Kept,
    /// It is followed, unless this argument has `AT_SYMLINK_NOFOLLOW`.
    FollowedUnless(u8),
    /// It is followed only if this argument has `AT_SYMLINK_FOLLOW`.
    FollowedIf(u8),
}

/// What is done to what a path names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PathEffect {
    /// It is asked whether it is there, or what it is.
    Look,
    /// It is opened, with the flags in this argument.
    Open(u8),
    /// It is opened, with the flags at the start of the structure at this argument.
    OpenAsTold(u8),
    /// It is opened as `creat` does.
    Empty,
    Make,
    Remove,
    Change,
    Execute,
    /// It becomes the root of the process.
    Enter,
}

/// The filter that shows the calls of the table; empty where there is none for this processor.
pub(in crate::sys::linux) fn filter() -> &'static [Instruction] {
    static FILTER: OnceLock<Vec<Instruction>> = OnceLock::new();
    FILTER.get_or_init(|| {
        let calls = CALLS.iter().map(|(name, _, unless)| (*name, *unless));
        confine::watching(calls)
    })
}

/// The filter that shows the calls of the table, and those that a supervisor performs.
pub(in crate::sys::linux) fn filter_with_creation() -> &'static [Instruction] {
    static FILTER: OnceLock<Vec<Instruction>> = OnceLock::new();
    FILTER.get_or_init(|| {
        let seen = CALLS.iter().map(|(name, _, unless)| (*name, *unless));
        // Those are in the table too, but for the few that name nothing.
        let is_new = |name: &str| CALLS.iter().all(|(other, ..)| *other != name);
        let more = creation::calls().filter(|(name, _)| is_new(name));
        confine::watching(seen.chain(more))
    })
}

/// What the call with this number says.
pub(super) fn shape(number: u32) -> Option<CallShape> {
    static BY_NUMBER: OnceLock<HashMap<u32, CallShape>> = OnceLock::new();
    let by_number = BY_NUMBER.get_or_init(|| {
        let numbered = |(name, shape, _): &(&str, CallShape, UnwatchedCondition)| {
            Some((confine::number_here(name)?, *shape))
        };
        CALLS.iter().filter_map(numbered).collect()
    });
    by_number.get(&number).copied()
}

/// A path at an argument.
const fn path(path: u8) -> PathArgument {
    PathArgument {
        directory: None,
        path,
        last: FinalLinkRule::Followed,
    }
}

/// A path at an argument, which begins at the directory in the one before it.
const fn below(path: u8) -> PathArgument {
    PathArgument {
        directory: Some(path - 1),
        path,
        last: FinalLinkRule::Followed,
    }
}

impl PathArgument {
    const fn kept(self) -> Self {
        self.last(FinalLinkRule::Kept)
    }

    const fn last(self, last: FinalLinkRule) -> Self {
        Self { last, ..self }
    }
}

/// With it in the flags, the path is mostly empty, and the descriptor itself is meant.
const EMPTY_PATH: u32 = 0x1000;

/// Names, what they say, and when they go unseen.
#[rustfmt::skip]
const CALLS: &[(&str, CallShape, UnwatchedCondition)] = {
    use PathEffect::*;
    use FinalLinkRule::*;
    use CallShape::*;
    use UnwatchedCondition::*;
    &[
        ("open", One(path(0), Open(1)), Never),
        ("openat", One(below(1), Open(2)), Never),
        ("openat2", One(below(1), OpenAsTold(2)), Never),
        ("creat", One(path(0), Empty), Never),
        ("execve", One(path(0), Execute), Own),
        ("execveat", One(below(1).last(FollowedUnless(4)), Execute), Never),
        ("mkdir", One(path(0).kept(), Make), Never),
        ("mkdirat", One(below(1).kept(), Make), Never),
        ("mknod", One(path(0).kept(), Make), Never),
        ("mknodat", One(below(1).kept(), Make), Never),
        // What the new link leads to is just text.
        ("symlink", One(path(1).kept(), Make), Never),
        ("symlinkat", One(below(2).kept(), Make), Never),
        ("link", Link(path(0).kept(), path(1).kept()), Never),
        ("linkat", Link(below(1).last(FollowedIf(4)), below(3).kept()), Never),
        ("rename", Move(path(0).kept(), path(1).kept(), None), Never),
        ("renameat", Move(below(1).kept(), below(3).kept(), None), Never),
        ("renameat2", Move(below(1).kept(), below(3).kept(), Some(4)), Never),
        ("unlink", One(path(0).kept(), Remove), Never),
        ("unlinkat", One(below(1).kept(), Remove), Never),
        ("rmdir", One(path(0).kept(), Remove), Never),
        ("truncate", One(path(0), Change), Never),
        ("chmod", One(path(0), Change), Never),
        ("fchmodat", One(below(1), Change), Never),
        ("fchmodat2", One(below(1).last(FollowedUnless(3)), Change), AnyBit(3, EMPTY_PATH)),
        ("chown", One(path(0), Change), Never),
        ("lchown", One(path(0).kept(), Change), Never),
        ("fchownat", One(below(1).last(FollowedUnless(4)), Change), AnyBit(4, EMPTY_PATH)),
        ("utime", One(path(0), Change), Never),
        ("utimes", One(path(0), Change), Never),
        // Without a path the descriptor itself is meant.
        ("futimesat", One(below(1), Change), Null(1)),
        ("utimensat", One(below(1).last(FollowedUnless(3)), Change), Null(1)),
        ("setxattr", One(path(0), Change), Never),
        ("lsetxattr", One(path(0).kept(), Change), Never),
        ("removexattr", One(path(0), Change), Never),
        ("lremovexattr", One(path(0).kept(), Change), Never),
        ("setxattrat", One(below(1).last(FollowedUnless(2)), Change), AnyBit(2, EMPTY_PATH)),
        ("removexattrat", One(below(1).last(FollowedUnless(2)), Change), AnyBit(2, EMPTY_PATH)),
        ("stat", One(path(0), Look), Never),
        ("lstat", One(path(0).kept(), Look), Never),
        ("newfstatat", One(below(1).last(FollowedUnless(3)), Look), AnyBit(3, EMPTY_PATH)),
        ("statx", One(below(1).last(FollowedUnless(2)), Look), AnyBit(2, EMPTY_PATH)),
        ("statfs", One(path(0), Look), Never),
        ("access", One(path(0), Look), Never),
        ("faccessat", One(below(1), Look), Never),
        ("faccessat2", One(below(1).last(FollowedUnless(3)), Look), AnyBit(3, EMPTY_PATH)),
        ("readlink", One(path(0).kept(), Look), Never),
        ("readlinkat", One(below(1).kept(), Look), Never),
        ("getxattr", One(path(0), Look), Never),
        ("lgetxattr", One(path(0).kept(), Look), Never),
        ("listxattr", One(path(0), Look), Never),
        ("llistxattr", One(path(0).kept(), Look), Never),
        ("getxattrat", One(below(1).last(FollowedUnless(2)), Look), AnyBit(2, EMPTY_PATH)),
        ("listxattrat", One(below(1).last(FollowedUnless(2)), Look), AnyBit(2, EMPTY_PATH)),
        ("inotify_add_watch", One(path(1), Look), Never),
        ("chdir", One(path(0), Look), Never),
        ("chroot", One(path(0), Enter), Never),
        ("connect", Reach(1, 2), Never),
        ("bind", Name(1, 2), Never),
        ("sendto", Reach(4, 5), Null(4)),
        ("sendmsg", Message(1), Own),
        ("sendmmsg", Messages(1, 2), Never),
    ]
};
