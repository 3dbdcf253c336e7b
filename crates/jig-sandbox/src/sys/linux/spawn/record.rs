//! What a keeper and its host say to each other, one record at a time.
//!
//! Keeper to host: four words of 4 bytes. Host to keeper: one byte.

use std::ffi::c_int;

use crate::machine::Errno;

/// What the keeper says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    /// The program runs. If the tree has no `/proc` of its own, the error of mounting one.
    Started { proc: Option<Errno> },
    /// The program does not run.
    Refused(Refusal),
    /// The program has ended, with the status as the kernel codes it.
    Ended { status: c_int },
}

/// A step that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) step: Step,
    pub(super) errno: Errno,
    /// Which of several: the candidate, the descriptor or the limit.
    pub(super) which: usize,
}

impl Refusal {
    pub(super) fn at(step: Step) -> impl Fn(Errno) -> Self {
        move |errno| Self {
            step,
            errno,
            which: 0,
        }
    }
}

/// The steps between the fork and the program, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(super) enum Step {
    Fork = 1,
    CloseDescriptors,
    Map,
    Adopt,
    Conceal,
    Signals,
    Session,
    Parent,
    Directory,
    Descriptor,
    Limit,
    Execute,
}

impl Step {
    /// In words, to come before "failed".
    pub(super) fn name(self) -> &'static str {
        match self {
            Step::Fork => "making a process",
            Step::CloseDescriptors => "closing descriptors",
            Step::Map => "mapping users into a new namespace",
            Step::Adopt => "becoming the parent of orphans",
            Step::Conceal => "hiding the keeper's memory",
            Step::Signals => "listening for signals",
            Step::Session => "beginning a session",
            Step::Parent => "tying it to its keeper",
            Step::Directory => "entering the working directory",
            Step::Descriptor => "passing a descriptor",
            Step::Limit => "setting a limit",
            Step::Execute => "executing it",
        }
    }

    pub(super) fn from_number(number: i32) -> Option<Self> {
        Self::ALL.into_iter().find(|step| *step as i32 == number)
    }

    const ALL: [Step; 12] = [
        Step::Fork,
        Step::CloseDescriptors,
        Step::Map,
        Step::Adopt,
        Step::Conceal,
        Step::Signals,
        Step::Session,
        Step::Parent,
        Step::Directory,
        Step::Descriptor,
        Step::Limit,
        Step::Execute,
    ];
}

impl Record {
    /// Does not allocate: the keeper calls it.
    pub(super) fn encode(self) -> [u8; LENGTH] {
        let words = match self {
            Record::Started { proc } => [STARTED, proc.map_or(0, |errno| errno.0), 0, 0],
            Record::Refused(refusal) => [
                REFUSED,
                refusal.step as i32,
                refusal.errno.0,
                refusal.which as i32,
            ],
            Record::Ended { status } => [ENDED, status, 0, 0],
        };
        let mut bytes = [0; LENGTH];
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }

    /// `None` for what no keeper sends.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        let mut words = [0; 4];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = i32::from_ne_bytes(bytes.try_into().ok()?);
        }
        let errno = |number| Some(Errno(number)).filter(|errno| errno.0 != 0);
        match words {
            [STARTED, proc, _, _] => Some(Record::Started { proc: errno(proc) }),
            [REFUSED, step, number, which] => Some(Record::Refused(Refusal {
                step: Step::from_number(step)?,
                errno: Errno(number),
                which: usize::try_from(which).ok()?,
            })),
            [ENDED, status, _, _] => Some(Record::Ended { status }),
            _ => None,
        }
    }
}

/// The length of a record, in bytes.
pub(super) const LENGTH: usize = 16;

const STARTED: i32 = 1;
const REFUSED: i32 = 2;
const ENDED: i32 = 3;

/// Host to keeper: the users are mapped, go on.
pub(super) const GO: u8 = 0;
/// Host to keeper: end everything. Any other byte is a signal for the whole tree.
pub(super) const KILL: u8 = libc::SIGKILL as u8;
