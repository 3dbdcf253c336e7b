//! [`LimitWatch`]: limits of a whole tree, looked at from time to time.
//!
//! The kernel counts memory by process, or by control group where there is one. Here the keeper adds up
//! what it sees in `/proc`. That is too slow for a tree that takes all memory within a moment, and of
//! memory that no process has mapped only private directories and System V objects are seen.
//!
//! A tree that works is looked at every [`REST`] milliseconds. One that stands still, which is to say that
//! none of its processes has run between two looks, cannot have changed: all that the keeper does then is to
//! read their clocks, and less and less often. So what a tree does that has stood still for some seconds is
//! noticed after [`LONGEST`] milliseconds at the latest, and from then on every [`REST`] again. That is the
//! price for thousands of trees that wait for input; the limits of each process, which the kernel holds,
//! know no such delay.

use core::ffi::CStr;

use super::calls::{self, O_PATH, O_RDONLY, WORKING_DIRECTORY};
use super::clocks;
use super::namespaces;
use super::order::OrderHeader;
use super::raw::{O_DIRECTORY, RawErrno};
use super::record::{self, NAME, ProcessNames};
use super::root::MOST_PRIVATE;

/// What to look at, and what was seen.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LimitWatch {
    /// The most processes and threads, bytes of memory and descriptors in a process; 0 for no limit.
    tasks: u64,
    memory: u64,
    descriptors: u64,
    /// By how many bytes and files its file system may become fuller; 0 for no limit.
    space: [u64; 2],
    /// What of that was in use when the tool began.
    space_before: [u64; 2],
    /// The working directory of the tool; -1 for none.
    pub(crate) directory: i32,
    page: u64,
    /// A `/proc` of the tree's process namespace; -1 to go from process to process, from this one down.
    pub(crate) proc: i32,
    /// File systems in memory that are the tree's own; -1 for none.
    pub(crate) private: [i32; MOST_PRIVATE],
    /// Limits that the tree came up against: bits of [`record::REACHED_TASKS`] and so on.
    pub(crate) reached: u32,
    /// When to look next, and how long after that, in milliseconds.
    due: i64,
    rest: i64,
    /// The processes at the last look.
    seen: ProcessTimes,
    /// Whether those were the same as at the look before, and none of them had run in between.
    is_still: bool,
}

impl LimitWatch {
    /// For the limits of an order.
    pub(crate) fn new(header: &OrderHeader) -> Self {
        Self {
            tasks: header.tasks,
            memory: header.memory,
            descriptors: header.descriptors,
            space: [header.disk, header.files],
            space_before: [0; 2],
            directory: -1,
            page: header.page.into(),
            proc: -1,
            private: [-1; MOST_PRIVATE],
            reached: 0,
            due: 0,
            rest: REST,
            seen: ProcessTimes::new(),
            is_still: false,
        }
    }

    /// Whether there is a limit to watch.
    pub(crate) fn is_needed(&self) -> bool {
        (self.tasks, self.memory, self.descriptors) != (0, 0, 0) || self.space != [0; 2]
    }

    /// Watches the file system of this directory, if there is a limit on it.
    pub(crate) fn watch_space(&mut self, directory: Result<&CStr, RawErrno>) {
        if self.space == [0; 2] {
            return;
        }
        let flags = O_PATH | O_DIRECTORY;
        let opened = directory.and_then(|path| calls::open_at(WORKING_DIRECTORY, path, flags));
        let opened = opened.and_then(|fd| Ok((fd, calls::used_space(fd)?)));
        if let Ok((fd, used)) = opened {
            self.directory = fd;
            self.space_before = used;
        }
    }

    /// The tool runs from now on.
    pub(crate) fn begin(&mut self) {
        self.due = clocks::now() + FIRST;
    }

    /// How long to wait for other things before the next look, in milliseconds; negative for ever.
    pub(crate) fn pause(&self) -> i64 {
        match self.is_needed() {
            true => (self.due - clocks::now()).max(0),
            false => -1,
        }
    }

    /// Looks at the tree if it is time to; says whether it uses more than it may.
    pub(crate) fn look_if_due(&mut self) -> bool {
        if !self.is_needed() || clocks::now() < self.due {
            return false;
        }
        let stands_still = self.is_still && self.seen.stands_still();
        let too_much = !stands_still && (self.look() | self.look_at_space());
        self.rest = match stands_still {
            true => (self.rest * 2).min(LONGEST),
            false => REST,
        };
        self.due = clocks::now() + self.rest;
        too_much
    }

    /// Says whether the file system became fuller than it may.
    fn look_at_space(&mut self) -> bool {
        if self.directory < 0 {
            return false;
        }
        let Ok(used) = calls::used_space(self.directory) else {
            return false;
        };
        let bits = [record::REACHED_DISK, record::REACHED_FILES];
        for (place, bit) in bits.into_iter().enumerate() {
            let more = used[place].saturating_sub(self.space_before[place]);
            if self.space[place] != 0 && more > self.space[place] {
                self.reached |= bit;
            }
        }
        self.reached & (record::REACHED_DISK | record::REACHED_FILES) != 0
    }

    fn look(&mut self) -> bool {
        let mut sum = UsageSum::new();
        if self.proc >= 0 {
            // All processes of the namespace but the first, which is the keeper.
            each_number(self.proc, c".", &mut |pid| {
                if pid != 1 {
                    sum.add(self.proc, b"", pid);
                }
            });
        } else {
            sum.add_below(calls::id(), DEEPEST);
        }
        // One look would not do: a process that is made while the others are read can be missed. At the
        // second it is either seen, or whoever made it has run.
        self.is_still = sum.seen.is_same(&self.seen);
        self.seen = sum.seen;
        if self.tasks != 0 && sum.tasks >= self.tasks {
            self.reached |= record::REACHED_TASKS;
        }
        if self.descriptors != 0 && sum.descriptors >= self.descriptors {
            self.reached |= record::REACHED_DESCRIPTORS;
        }
        let memory = sum.pages.saturating_mul(self.page);
        let private = self.private.iter().filter(|fd| **fd >= 0);
        let private = private.map(|fd| calls::used_space(*fd).map_or(0, |[bytes, _]| bytes));
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
}

/// Processes, each with the processor time that it had used.
#[derive(Debug, Clone, Copy)]
struct ProcessTimes {
    processes: [(i32, i64); MOST_SEEN],
    /// How many there were, those beyond the room included.
    count: usize,
}

impl ProcessTimes {
    fn new() -> Self {
        Self {
            processes: [(0, 0); MOST_SEEN],
            count: 0,
        }
    }

    fn add(&mut self, pid: i32) {
        if let Some(slot) = self.processes.get_mut(self.count) {
            // One that has ended by now is not the same at the next look, whatever is noted.
            *slot = (pid, clocks::processor_time(pid).unwrap_or(-1));
        }
        self.count += 1;
    }

    /// Of more processes than there is room for, nothing is known.
    fn known(&self) -> Option<&[(i32, i64)]> {
        self.processes.get(..self.count)
    }

    fn is_same(&self, other: &Self) -> bool {
        self.known().is_some() && self.known() == other.known()
    }

    /// Whether none of them has run since. Others can only have been made by one that has.
    fn stands_still(&self) -> bool {
        self.known().is_some_and(|processes| {
            let mut processes = processes.iter();
            processes.all(|(pid, time)| clocks::processor_time(*pid) == Ok(*time))
        })
    }
}

struct UsageSum {
    pages: u64,
    /// Bytes of page tables, which resident pages do not include.
    tables: u64,
    tasks: u64,
    /// The most in one process.
    descriptors: u64,
    seen: ProcessTimes,
}

impl UsageSum {
    fn new() -> Self {
        Self {
            pages: 0,
            tables: 0,
            tasks: 0,
            descriptors: 0,
            seen: ProcessTimes::new(),
        }
    }

    /// The children of a process, and theirs. Each thread has its own.
    fn add_below(&mut self, pid: i32, depth: u32) {
        let mut path = ProcPath::new();
        let Ok(tasks) = path.set(b"/proc/", pid, b"/task", -1, b"") else {
            return;
        };
        each_number(WORKING_DIRECTORY, tasks, &mut |task| {
            let mut path = ProcPath::new();
            if let Ok(children) = path.set(b"/proc/", pid, b"/task/", task, b"/children") {
                each_child(children, &mut |child| {
                    self.add(WORKING_DIRECTORY, b"/proc/", child);
                    if depth > 0 {
                        self.add_below(child, depth - 1);
                    }
                });
            }
        });
    }

    /// A process that is gone by now counts for nothing.
    fn add(&mut self, directory: i32, before: &[u8], pid: i32) {
        // First of all: what it does from now on is for the next look.
        self.seen.add(pid);
        let mut path = ProcPath::new();
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

/// The names of the processes in a namespace besides its first, from its `/proc`: of the first few. Those that have ended
/// are none.
pub(crate) fn names(proc: i32) -> ProcessNames {
    let mut names = ProcessNames::default();
    if proc < 0 {
        return names;
    }
    let mut free = names.iter_mut();
    each_number(proc, c".", &mut |pid| {
        if pid != 1 {
            note_name(proc, b"", pid, &mut free);
        }
    });
    names
}

/// The same without a namespace: the names of this process's children but one, of the first few. Orphans of the tree are
/// among them.
pub(crate) fn names_of_children(but: i32) -> ProcessNames {
    let mut names = ProcessNames::default();
    let mut free = names.iter_mut();
    let mut list = [0; 4096];
    let path = c"/proc/thread-self/children";
    let length = calls::read_file(WORKING_DIRECTORY, path, &mut list).unwrap_or(0);
    for pid in whole_numbers(&list[..length.min(list.len())]) {
        if pid != but {
            note_name(WORKING_DIRECTORY, b"/proc/", pid, &mut free);
        }
    }
    names
}

/// Puts the name of a process that has not ended into the next free place.
fn note_name(
    directory: i32,
    before: &[u8],
    pid: i32,
    free: &mut core::slice::IterMut<'_, [u8; NAME]>,
) {
    let mut path = ProcPath::new();
    let mut text = [0; 128];
    if let Ok(path) = path.set(before, pid, b"/stat", -1, b"")
        && let Ok(length) = calls::read_file(directory, path, &mut text)
        && let Some(name) = living(&text[..length.min(text.len())])
        && let Some(slot) = free.next()
    {
        for (to, from) in slot.iter_mut().zip(name).take(NAME - 1) {
            *to = *from;
        }
    }
}

/// The name in `12 (name) S …`, unless the process has ended. A name may have parentheses in it.
fn living(stat: &[u8]) -> Option<&[u8]> {
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let state = stat.get(close + 2)?;
    let name = stat.get(open + 1..close)?;
    (!matches!(state, b'Z' | b'X')).then_some(name)
}

/// The path of a file about a process.
pub(crate) struct ProcPath([u8; LONGEST_PATH]);

impl ProcPath {
    pub(crate) fn new() -> Self {
        Self([0; LONGEST_PATH])
    }

    /// Texts with numbers in between, of which negative ones are left out.
    pub(crate) fn set(
        &mut self,
        before: &[u8],
        one: i32,
        between: &[u8],
        other: i32,
        after: &[u8],
    ) -> Result<&CStr, RawErrno> {
        let (mut first, mut second) = ([0; 10], [0; 10]);
        let parts = [
            before,
            digits(one, &mut first),
            between,
            digits(other, &mut second),
            after,
            b"\0",
        ];
        let mut rest = &mut self.0[..];
        for part in parts {
            let (room, after) = rest
                .split_at_mut_checked(part.len())
                .ok_or(RawErrno::NAMETOOLONG)?;
            room.copy_from_slice(part);
            rest = after;
        }
        CStr::from_bytes_until_nul(&self.0).map_err(|_| RawErrno::NAMETOOLONG)
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

/// Calls `act` with every name in a directory that is a number.
fn each_number(directory: i32, path: &CStr, act: &mut dyn FnMut(i32)) {
    let Ok(directory) = calls::open_at(directory, path, O_RDONLY | O_DIRECTORY) else {
        return;
    };
    let mut bytes = [0; 1024];
    while let Ok(length @ 1..) = calls::list(directory, &mut bytes) {
        let mut rest = bytes.get(..length).unwrap_or_default();
        // Each entry: 8 bytes of inode, 8 of offset, 2 of its length, 1 of kind, then the name.
        while let Some(size) = rest.get(16..18) {
            let size = usize::from(u16::from_ne_bytes([size[0], size[1]]));
            let Some((entry, after)) = rest.split_at_checked(size.max(19)) else {
                break;
            };
            let name = entry[19..].split(|byte| *byte == 0).next();
            if let Some(number) = name.and_then(number) {
                act(number);
            }
            rest = after;
        }
    }
    calls::close(directory);
}

/// Calls `act` with every number of a list, however long, each of which ends in a blank.
fn each_child(path: &CStr, act: &mut dyn FnMut(i32)) {
    let Ok(list) = calls::open_at(WORKING_DIRECTORY, path, O_RDONLY) else {
        return;
    };
    let mut bytes = [0; 256];
    let mut child = 0_i32;
    while let Ok(length @ 1..) = calls::read(list, &mut bytes) {
        for byte in bytes.iter().take(length) {
            match byte {
                // Process ids are at most 2^22.
                b'0'..=b'9' => child = child.wrapping_mul(10).wrapping_add((byte - b'0').into()),
                _ => act(core::mem::take(&mut child)),
            }
        }
    }
    calls::close(list);
}

/// Milliseconds before the first look, so that a short call is never looked at, and between later ones.
const FIRST: i64 = 50;
const REST: i64 = 100;

/// The same for a tree that stands still, at most.
const LONGEST: i64 = 1000;

/// The most processes of a tree that can be found to stand still. It is room on a small stack; larger trees
/// are looked at as if they worked.
const MOST_SEEN: usize = 256;

/// `/proc/4194304/task/4194304/children`, with room to spare.
const LONGEST_PATH: usize = 64;

/// How many generations down to look without a namespace, on a stack that is not endless.
const DEEPEST: u32 = 24;
