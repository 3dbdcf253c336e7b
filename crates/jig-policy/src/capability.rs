//! The five capabilities on files, and sets of them.

use std::fmt;
use std::ops::{BitAnd, BitOr, Sub};

/// What can be done to a file or a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Capability {
    /// Read contents, list entries, ask whether it exists.
    Read = 1,
    /// Make a new file or directory.
    Create = 2,
    /// Change what exists.
    Update = 4,
    /// Remove it, or move it away.
    Delete = 8,
    /// Run it as a program.
    Execute = 16,
}

impl Capability {
    /// All five, in the order in which they are written.
    pub const ALL: [Capability; 5] = [
        Capability::Read,
        Capability::Create,
        Capability::Update,
        Capability::Delete,
        Capability::Execute,
    ];

    /// The name, as in configuration and on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Capability::Read => "read",
            Capability::Create => "create",
            Capability::Update => "update",
            Capability::Delete => "delete",
            Capability::Execute => "execute",
        }
    }
}

impl fmt::Display for Capability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of [`Capability`]s.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct FileCapabilities(u8);

impl FileCapabilities {
    /// No capability: a rule that denies.
    pub const NONE: FileCapabilities = FileCapabilities(0);
    /// Create, update and delete: what `write = true` stands for.
    pub const WRITE: FileCapabilities = FileCapabilities(2 | 4 | 8);
    /// All five.
    pub const ALL: FileCapabilities = FileCapabilities(31);

    /// The set of one.
    pub const fn just(one: Capability) -> Self {
        Self(one as u8)
    }

    /// This set and `other` together.
    #[must_use]
    pub const fn with(self, other: FileCapabilities) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn bits(self) -> u8 {
        self.0
    }

    /// Whether the set holds `capability`.
    pub fn has(self, capability: Capability) -> bool {
        self.0 & capability as u8 != 0
    }

    /// Whether the set holds all of `other`.
    pub fn covers(self, other: FileCapabilities) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order in which they are written.
    pub fn iter(self) -> impl Iterator<Item = Capability> {
        Capability::ALL
            .into_iter()
            .filter(move |one| self.has(*one))
    }
}

impl From<Capability> for FileCapabilities {
    fn from(one: Capability) -> Self {
        Self::just(one)
    }
}

impl FromIterator<Capability> for FileCapabilities {
    fn from_iter<I: IntoIterator<Item = Capability>>(all: I) -> Self {
        all.into_iter()
            .fold(Self::NONE, |set, one| set | one.into())
    }
}

impl BitOr for FileCapabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for FileCapabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Sub for FileCapabilities {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

/// `read + write`, `read`, or `nothing`.
impl fmt::Display for FileCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("nothing");
        }
        let mut names = Vec::with_capacity(5);
        for one in self.iter() {
            match one {
                Capability::Create if self.covers(Self::WRITE) => names.push("write"),
                Capability::Update | Capability::Delete if self.covers(Self::WRITE) => {}
                one => names.push(one.name()),
            }
        }
        f.write_str(&names.join(" + "))
    }
}

impl fmt::Debug for FileCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Capabilities({self})")
    }
}
