//! What a keeper and its host say to each other, one record at a time.
//!
//! Keeper to host: sixteen words of 4 bytes. Host to keeper: one byte.

use super::raw::RawErrno;

/// What the keeper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeeperMessage {
    /// The listening socket of the tool's door comes with this record.
    Door,
    /// The next of the sockets that the host serves come with this record.
    Sockets,
    /// The program runs.
    Started(KeeperReport),
    /// The program does not run.
    Refused(StepFailure),
    /// The program has ended.
    Ended(ProgramEndRecord),
    /// What the tool asks for is heard at the descriptor that comes with this record.
    Listener,
    /// The kernel refused to have the tool watched. It runs all the same.
    Unwatched(RawErrno),
    /// What the supervisor refuses is told at the descriptor that comes with this record.
    Supervised,
    /// The kernel refused to have the tool supervised. It runs all the same.
    Unsupervised(RawErrno),
}

/// What the kernel accepted of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct KeeperReport {
    /// Without a confinement: why the tree has no `/proc` of its own, if it has none.
    pub(crate) proc: Option<RawErrno>,
    /// Whether the kernel took the limit on processes and threads.
    pub(crate) tasks_limited: bool,
    /// Whether it counts them exactly, also for root.
    pub(crate) tasks_exact: bool,
    /// The optional steps that failed, by their place and with the error; the rest is zero.
    failed: [(u32, i32); TOLD_APART],
    /// How many failed.
    count: u32,
}

impl KeeperReport {
    /// Notes an optional step that failed. Those beyond the first few are only counted.
    pub(crate) fn note(&mut self, place: u32, errno: RawErrno) {
        if let Some(slot) = self.failed.get_mut(self.count as usize) {
            *slot = (place, errno.0);
        }
        self.count = self.count.saturating_add(1);
    }

    /// The failed steps that were told apart.
    pub(crate) fn failed(&self) -> impl Iterator<Item = (u32, RawErrno)> + '_ {
        let told = self.failed.iter().take(self.count as usize);
        told.map(|(place, errno)| (*place, RawErrno(*errno)))
    }

    /// How many more failed.
    pub(crate) fn more(&self) -> u32 {
        self.count.saturating_sub(TOLD_APART as u32)
    }
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProgramEndRecord {
    /// As the kernel codes it.
    pub(crate) status: i32,
    /// The limits that the tree came up against: bits of [`REACHED_TASKS`] and so on.
    pub(crate) reached: u32,
    /// Whether the keeper has seen that no other process is left.
    pub(crate) is_empty: bool,
    /// The names of the first few that are left.
    pub(crate) left: ProcessNames,
}

/// The names of a few processes, as the kernel cuts them; what is zero is no name.
pub(crate) type ProcessNames = [[u8; NAME]; NAMES];

/// A step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StepFailure {
    pub(crate) step: StartStep,
    pub(crate) errno: RawErrno,
    /// Which of several: the act, the candidate, the descriptor or the limit.
    pub(crate) which: u32,
}

impl StepFailure {
    pub(crate) fn at(step: StartStep) -> impl Fn(RawErrno) -> Self {
        Self::one_of(step, 0)
    }

    pub(crate) fn one_of(step: StartStep, which: usize) -> impl Fn(RawErrno) -> Self {
        move |errno| Self {
            step,
            errno,
            which: which as u32,
        }
    }
}

/// The steps between the fork and the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum StartStep {
    Fork = 1,
    Launch,
    Order,
    CloseDescriptors,
    Map,
    Adopt,
    Network,
    Root,
    Act,
    EnterRoot,
    Conceal,
    Signals,
    Session,
    Parent,
    Directory,
    Privileges,
    Landlock,
    Descriptor,
    Limit,
    Filter,
    Execute,
    Terminal,
    Supervisor,
}

impl StartStep {
    /// In words, to come before "failed".
    pub(crate) fn name(self) -> &'static str {
        match self {
            StartStep::Fork => "making a process",
            StartStep::Launch => "executing the launcher",
            StartStep::Order => "reading the order",
            StartStep::CloseDescriptors => "closing descriptors",
            StartStep::Map => "mapping users into a new namespace",
            StartStep::Adopt => "becoming the parent of orphans",
            StartStep::Network => "making a network namespace",
            StartStep::Root => "making a new root",
            StartStep::Act => "a step of its confinement",
            StartStep::EnterRoot => "entering the new root",
            StartStep::Conceal => "hiding the keeper's memory",
            StartStep::Signals => "listening for signals",
            StartStep::Session => "beginning a session",
            StartStep::Parent => "tying it to its keeper",
            StartStep::Directory => "entering the working directory",
            StartStep::Privileges => "giving up privileges",
            StartStep::Landlock => "confining it by Landlock",
            StartStep::Descriptor => "passing a descriptor",
            StartStep::Limit => "setting a limit",
            StartStep::Filter => "filtering its system calls",
            StartStep::Execute => "executing it",
            StartStep::Terminal => "taking on its terminal",
            StartStep::Supervisor => "starting its supervisor",
        }
    }

    pub(crate) fn from_number(number: i32) -> Option<Self> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        Self::ALL.get(place).copied()
    }

    pub(crate) const ALL: [Self; 23] = [
        StartStep::Fork,
        StartStep::Launch,
        StartStep::Order,
        StartStep::CloseDescriptors,
        StartStep::Map,
        StartStep::Adopt,
        StartStep::Network,
        StartStep::Root,
        StartStep::Act,
        StartStep::EnterRoot,
        StartStep::Conceal,
        StartStep::Signals,
        StartStep::Session,
        StartStep::Parent,
        StartStep::Directory,
        StartStep::Privileges,
        StartStep::Landlock,
        StartStep::Descriptor,
        StartStep::Limit,
        StartStep::Filter,
        StartStep::Execute,
        StartStep::Terminal,
        StartStep::Supervisor,
    ];
}

impl KeeperMessage {
    pub(crate) fn encode(self) -> [u8; LENGTH] {
        let mut words = [0; WORDS];
        match self {
            KeeperMessage::Door => words[0] = DOOR,
            KeeperMessage::Sockets => words[0] = SOCKETS,
            KeeperMessage::Started(report) => {
                words[0] = STARTED;
                words[1] = report.proc.map_or(0, |errno| errno.0);
                words[2] = i32::from(report.tasks_limited) + i32::from(report.tasks_exact);
                words[3] = report.count.cast_signed();
                for (pair, (place, errno)) in words[4..].chunks_exact_mut(2).zip(report.failed) {
                    pair.copy_from_slice(&[place.cast_signed(), errno]);
                }
            }
            KeeperMessage::Refused(refusal) => {
                words[0] = REFUSED;
                words[1] = refusal.step as i32;
                words[2] = refusal.errno.0;
                words[3] = refusal.which.cast_signed();
            }
            KeeperMessage::Ended(end) => {
                words[0] = ENDED;
                words[1] = end.status;
                words[2] = end.reached.cast_signed();
                words[3] = i32::from(end.is_empty);
                let names = end.left.as_flattened().chunks_exact(4);
                for (word, bytes) in words[4..].iter_mut().zip(names) {
                    *word = i32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
                }
            }
            KeeperMessage::Listener => words[0] = LISTENER,
            KeeperMessage::Unwatched(errno) => {
                words[0] = UNWATCHED;
                words[1] = errno.0;
            }
            KeeperMessage::Supervised => words[0] = SUPERVISED,
            KeeperMessage::Unsupervised(errno) => {
                words[0] = UNSUPERVISED;
                words[1] = errno.0;
            }
        }
        let mut bytes = [0; LENGTH];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// `None` for what no keeper sends.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let mut words = [0; WORDS];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = i32::from_ne_bytes(bytes.try_into().ok()?);
        }
        match words {
            [DOOR, ..] => Some(KeeperMessage::Door),
            [SOCKETS, ..] => Some(KeeperMessage::Sockets),
            [STARTED, proc, tasks, count, pairs @ ..] => {
                let mut failed = [(0, 0); TOLD_APART];
                for (slot, pair) in failed.iter_mut().zip(pairs.chunks_exact(2)) {
                    *slot = (pair[0].cast_unsigned(), pair[1]);
                }
                Some(KeeperMessage::Started(KeeperReport {
                    proc: Some(RawErrno(proc)).filter(|errno| errno.0 != 0),
                    tasks_limited: tasks != 0,
                    tasks_exact: tasks > 1,
                    failed,
                    count: count.cast_unsigned(),
                }))
            }
            [REFUSED, step, number, which, ..] => Some(KeeperMessage::Refused(StepFailure {
                step: StartStep::from_number(step)?,
                errno: RawErrno(number),
                which: which.cast_unsigned(),
            })),
            [ENDED, status, reached, is_empty, names @ ..] => {
                let mut left = ProcessNames::default();
                let slots = left.as_flattened_mut().chunks_exact_mut(4);
                for (slot, word) in slots.zip(names) {
                    slot.copy_from_slice(&word.to_ne_bytes());
                }
                Some(KeeperMessage::Ended(ProgramEndRecord {
                    status,
                    reached: reached.cast_unsigned(),
                    is_empty: is_empty != 0,
                    left,
                }))
            }
            [LISTENER, ..] => Some(KeeperMessage::Listener),
            [UNWATCHED, number, ..] => Some(KeeperMessage::Unwatched(RawErrno(number))),
            [SUPERVISED, ..] => Some(KeeperMessage::Supervised),
            [UNSUPERVISED, number, ..] => Some(KeeperMessage::Unsupervised(RawErrno(number))),
            _ => None,
        }
    }
}

/// The length of a record, in words and in bytes.
const WORDS: usize = 16;
pub(crate) const LENGTH: usize = WORDS * 4;

/// As many failed steps as a record has room for.
const TOLD_APART: usize = 6;

/// The length of a process's name with the zero at its end, and how many a record has room for.
pub(crate) const NAME: usize = 16;
const NAMES: usize = 3;

const STARTED: i32 = 1;
const REFUSED: i32 = 2;
const ENDED: i32 = 3;
const DOOR: i32 = 4;
const SOCKETS: i32 = 5;
const LISTENER: i32 = 8;
const UNWATCHED: i32 = 9;
const SUPERVISED: i32 = 10;
const UNSUPERVISED: i32 = 11;

/// The most descriptors that come with one record.
pub(crate) const MOST_DESCRIPTORS: usize = 16;

/// Limits that a tree came up against.
pub(crate) const REACHED_TASKS: u32 = 1;
pub(crate) const REACHED_MEMORY: u32 = 2;
pub(crate) const REACHED_DESCRIPTORS: u32 = 4;
pub(crate) const REACHED_FILE_SIZE: u32 = 8;
pub(crate) const REACHED_DISK: u32 = 16;
pub(crate) const REACHED_FILES: u32 = 32;
/// Those for which the keeper ends the tree.
pub(crate) const REACHED_END: u32 = REACHED_MEMORY | REACHED_DISK | REACHED_FILES;

/// Host to keeper: the users are mapped, go on.
pub(crate) const GO: u8 = 0;
/// Host to keeper: end everything. Any other byte is a signal for the whole tree.
pub(crate) const KILL: u8 = 9;
