//! [`Watch`]: limits of a whole tree, looked at from time to time.
//!
//! The kernel counts memory by process, or by control group where there is one. Here the keeper adds up
//! what it sees in `/proc`. That is too slow for a tree that takes all memory within a moment, and of
//! memory that no process has mapped only private directories and System V objects are seen.

use super::calls::{self, O_RDONLY, WORKING_DIRECTORY};
use super::namespaces;
use super::raw::{Errno, O_DIRECTORY};
use super::record;
use super::root::{MOST_PRIVATE, Name};

/// What to look at, and what was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Watch {
    /// The most processes and threads, bytes of memory and descriptors in a process; 0 for no limit.
    pub(crate) tasks: u64,
    pub(crate) memory: u64,
    pub(crate) descriptors: u64,
    pub(crate) page: u64,
    /// A `/proc` of the tree's process namespace; -1 to go from process to process, from this one down.
    pub(crate) proc: i32,
    /// File systems in memory that are the tree's own; -1 for none.
    pub(crate) private: [i32; MOST_PRIVATE],
    /// Limits that the tree came up against: bits of [`record::REACHED_TASKS`] and so on.
    pub(crate) reached: u32,
}

impl Watch {
    /// Whether there is a limit to watch.
    pub(crate) fn is_needed(&self) -> bool {
        (self.tasks, self.memory, self.descriptors) != (0, 0, 0)
    }

    /// How long to wait for other things before the next look, in milliseconds; negative for ever.
    pub(crate) fn pause(&self, looks: u32) -> i64 {
        match looks {
            _ if !self.is_needed() => -1,
            0 => FIRST,
            _ => REST,
        }
    }

    /// Looks at the tree; says whether it uses more memory than it may.
    pub(crate) fn look(&mut self) -> bool {
        let mut sum = Sum::default();
        if self.proc >= 0 {
            let _ = self.look_at_namespace(&mut sum);
        } else {
            self.look_below(calls::id(), DEEPEST, &mut sum);
        }
        if self.tasks != 0 && sum.tasks >= self.tasks {
            self.reached |= record::REACHED_TASKS;
        }
        if self.descriptors != 0 && sum.descriptors >= self.descriptors {
            self.reached |= record::REACHED_DESCRIPTORS;
        }
        let memory = sum.pages.saturating_mul(self.page);
        let private = self.private.iter().filter(|fd| **fd >= 0);
        let private = private.map(|fd| calls::used_bytes(*fd).unwrap_or(0));
        let mut memory = private.fold(memory, u64::saturating_add);
        memory = memory.saturating_add(sum.tables);
        if self.proc >= 0 {
            // Only where these are the tree's own.
            memory = memory.saturating_add(namespaces::held_by_ipc(self.page));
        }
        let too_much = self.memory != 0 && memory > self.memory;
        if too_much {
            self.reached |= record::REACHED_MEMORY;
        }
        too_much
    }

    /// All processes of the namespace but the first, which is the keeper.
    fn look_at_namespace(&self, sum: &mut Sum) -> Result<(), Errno> {
        let directory = calls::open_at(self.proc, c".", O_RDONLY | O_DIRECTORY)?;
        let mut bytes = [0; 4096];
        while let Ok(length @ 1..) = calls::list(directory, &mut bytes) {
            let mut rest = bytes.get(..length).unwrap_or_default();
            // Each entry: 8 bytes of inode, 8 of offset, 2 of its length, 1 of kind, then the name.
            while let Some(size) = rest.get(16..18) {
                let size = usize::from(u16::from_ne_bytes([size[0], size[1]]));
                let Some((entry, after)) = rest.split_at_checked(size.max(19)) else {
                    break;
                };
                let name = entry[19..].split(|byte| *byte == 0).next();
                match name.and_then(number) {
                    Some(pid) if pid != 1 => sum.add(self.proc, pid),
                    _ => {}
                }
                rest = after;
            }
        }
        calls::close(directory);
        Ok(())
    }

    /// The children of a process, and theirs.
    fn look_below(&self, pid: i32, depth: u32, sum: &mut Sum) {
        let mut path = Path::new();
        let mut list = [0; 512];
        let children = path.set(b"/proc/", pid, b"/task/", pid, b"/children");
        let length = match children {
            Ok(path) => calls::read_file(WORKING_DIRECTORY, path, &mut list).unwrap_or(0),
            Err(_) => return,
        };
        for child in whole_numbers(&list[..length.min(list.len())]) {
            sum.add_absolute(child);
            if depth > 0 {
                self.look_below(child, depth - 1, sum);
            }
        }
    }
}

#[derive(Default)]
struct Sum {
    pages: u64,
    /// Bytes of page tables, which resident pages do not include.
    tables: u64,
    tasks: u64,
    /// The most in one process.
    descriptors: u64,
}

impl Sum {
    fn add(&mut self, proc: i32, pid: i32) {
        self.add_at(proc, b"", pid);
    }

    fn add_absolute(&mut self, pid: i32) {
        self.add_at(WORKING_DIRECTORY, b"/proc/", pid);
    }

    /// A process that is gone by now counts for nothing.
    fn add_at(&mut self, directory: i32, before: &[u8], pid: i32) {
        let mut path = Path::new();
        let mut text = [0; 128];
        if let Ok(path) = path.set(before, pid, b"/statm", -1, b"")
            && let Ok(length) = calls::read_file(directory, path, &mut text)
        {
            // The size, then what of it is resident.
            let resident = text[..length.min(text.len())]
                .split(|byte| *byte == b' ')
                .nth(1);
            self.pages += resident.and_then(large_number).unwrap_or(0);
        }
        let mut text = [0; 2048];
        if let Ok(path) = path.set(before, pid, b"/status", -1, b"")
            && let Ok(length) = calls::read_file(directory, path, &mut text)
        {
            let mut lines = text[..length.min(text.len())].split(|byte| *byte == b'\n');
            let tables = lines.find_map(|line| line.strip_prefix(b"VmPTE:"));
            let kilobytes = tables.and_then(|line| {
                let mut words = line.split(|byte| matches!(*byte, b' ' | b'\t'));
                words.find_map(large_number)
            });
            self.tables += kilobytes.unwrap_or(0).saturating_mul(1024);
        }
        // The directory of threads has a link from each, and two of its own.
        if let Ok(path) = path.set(before, pid, b"/task", -1, b"") {
            let threads = calls::facts(directory, path).map_or(0, |facts| facts.links);
            self.tasks += u64::from(threads.saturating_sub(2));
        }
        // The size of this directory is the number of descriptors, since Linux 6.2.
        if let Ok(path) = path.set(before, pid, b"/fd", -1, b"") {
            let open = calls::facts(directory, path).map_or(0, |facts| facts.size);
            self.descriptors = self.descriptors.max(open);
        }
    }
}

/// The path of a file about a process.
pub(crate) struct Path(Name);

impl Path {
    pub(crate) fn new() -> Self {
        Self(Name::new())
    }

    /// Texts with numbers in between, of which negative ones are left out.
    pub(crate) fn set(
        &mut self,
        before: &[u8],
        one: i32,
        between: &[u8],
        other: i32,
        after: &[u8],
    ) -> Result<&core::ffi::CStr, Errno> {
        let mut bytes = [0; 64];
        let mut length = 0;
        let mut push = |part: &[u8]| {
            if let Some(room) = bytes.get_mut(length..length + part.len()) {
                room.copy_from_slice(part);
                length += part.len();
            }
        };
        push(before);
        push(digits(one, &mut [0; 10]));
        push(between);
        push(digits(other, &mut [0; 10]));
        push(after);
        self.0.set(bytes.get(..length).unwrap_or_default())
    }
}

fn digits(number: i32, room: &mut [u8; 10]) -> &[u8] {
    let Ok(mut number) = u32::try_from(number) else {
        return &[];
    };
    let mut at = room.len();
    while at > 0 {
        at -= 1;
        room[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    &room[at..]
}

/// The numbers of a list that ends in a blank. One that was cut off at the end is left out.
pub(crate) fn whole_numbers(list: &[u8]) -> impl Iterator<Item = i32> + '_ {
    let whole = list.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
    list[..whole].split(|byte| *byte == b' ').filter_map(number)
}

fn number(text: &[u8]) -> Option<i32> {
    i32::try_from(large_number(text)?).ok()
}

fn large_number(text: &[u8]) -> Option<u64> {
    let mut sum = 0_u64;
    for digit in text {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum = sum.checked_mul(10)?.checked_add(digit.into())?;
    }
    (!text.is_empty()).then_some(sum)
}

/// Milliseconds before the first look, so that a short call is never looked at, and between later ones.
const FIRST: i64 = 50;
const REST: i64 = 100;

/// How many generations down to look without a namespace, on a stack that is not endless.
const DEEPEST: u32 = 24;
