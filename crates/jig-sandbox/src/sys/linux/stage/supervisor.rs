//! [`SupervisorThread`]: performs the calls of a tool that make names.
//!
//! It is a few threads of the keeper, which nothing in the process namespace can signal or look into, and which
//! ends with it as all of the tree does. The first of them takes on what binds the tool, and starts it: what the
//! tool is bound to then lies within what binds its supervisor, never the other way round. So the supervisor can
//! look into the tool, and can do nothing that the tool cannot.
//!
//! Each thread has a working directory and a mask for modes of its own, and they share descriptors of their own.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicI32, AtomicPtr, AtomicU32, Ordering};

use super::bounds;
use super::call_path;
use super::calls::{self, KeeperExitOnDrop, O_PATH, WORKING_DIRECTORY};
use super::creation::{Creation, CreationResult};
use super::guarded_names::GuardedNames;
use super::held_calls::{self, HeldCall};
use super::keeper;
use super::makers;
use super::order::{self, HeldNumber, OrderBlock};
use super::raw::{self, O_DIRECTORY, RawErrno};
use super::record::{StartStep, StepFailure};
use super::tool::ToolTask;
use super::tree_limits::ProcPath;

/// The supervisor, as the keeper knows it.
#[derive(Clone, Copy)]
pub(crate) struct SupervisorThread(&'static SupervisorState);

/// The ends of sockets that the tool uses on its way to its program.
#[derive(Clone, Copy)]
pub(crate) struct SupervisorEnds {
    /// Where the supervisor waits for its listener.
    pub(crate) arrival: i32,
    /// What the host is to have.
    pub(crate) host: i32,
}

/// What its threads and the keeper share.
struct SupervisorState {
    order: OrderBlock,
    ruleset: i32,
    /// The mask for the modes of new files that the tool begins with.
    mask: u32,
    /// The supervisor's ends, and the others.
    arrival: i32,
    line: i32,
    ends: SupervisorEnds,
    proc: AtomicI32,
    listener: AtomicI32,
    /// 1 once the supervisor is ready to start the tool, has a task, has started it, and may serve. What is 2
    /// has failed.
    ready: AtomicU32,
    go: AtomicU32,
    done: AtomicU32,
    serve: AtomicU32,
    task: AtomicPtr<ToolTask>,
    failure: Cell<Option<StepFailure>>,
    tool: AtomicI32,
    /// How many threads there are, and how many of them wait for a call.
    threads: AtomicU32,
    idle: AtomicU32,
    /// 1 while somebody makes a name that an entry mentions.
    busy: AtomicU32,
    /// Whether a process of the tool has set another mask.
    mask_changed: AtomicU32,
}

impl SupervisorThread {
    /// Begins it in the tool's root. The calling process has one thread.
    pub(crate) fn begin(order: &OrderBlock, ruleset: i32, mask: u32) -> Result<Self, StepFailure> {
        let failed = StepFailure::at(StartStep::Supervisor);
        let [arrival, theirs] = makers::socket_pair().map_err(&failed)?;
        let [line, host] = makers::socket_pair().map_err(&failed)?;
        let start = calls::map(STATE, -1).map_err(&failed)?;
        let state = start.cast::<SupervisorState>();
        #[expect(unsafe_code, reason = "what threads share lies in memory of its own")]
        // SAFETY: the block is new, large enough, aligned to pages and never given back. What is not atomic in
        // there is written by one thread before it says so in a word that the other waits for.
        let shared: &'static SupervisorState = unsafe {
            state.write(SupervisorState {
                order: *order,
                ruleset,
                mask,
                arrival,
                line,
                ends: SupervisorEnds {
                    arrival: theirs,
                    host,
                },
                proc: AtomicI32::new(-1),
                listener: AtomicI32::new(-1),
                ready: AtomicU32::new(0),
                go: AtomicU32::new(0),
                done: AtomicU32::new(0),
                serve: AtomicU32::new(0),
                task: AtomicPtr::new(ptr::null_mut()),
                failure: Cell::new(None),
                tool: AtomicI32::new(-1),
                threads: AtomicU32::new(0),
                idle: AtomicU32::new(0),
                busy: AtomicU32::new(0),
                mask_changed: AtomicU32::new(0),
            });
            &*state
        };
        shared.begin_thread(first, 0).map_err(&failed)?;
        wait_for(&shared.ready);
        match shared.failure.get() {
            None => Ok(Self(shared)),
            Some(failure) => Err(failure),
        }
    }

    pub(crate) fn ends(self) -> SupervisorEnds {
        self.0.ends
    }

    /// Has it start the tool; the tool's process id.
    pub(crate) fn start(self, task: &ToolTask) -> Result<i32, StepFailure> {
        let shared = self.0;
        let task = ptr::from_ref(task).cast_mut();
        shared.task.store(task, Ordering::Relaxed);
        say(&shared.go);
        wait_for(&shared.done);
        match shared.failure.get() {
            None => Ok(shared.tool.load(Ordering::Relaxed)),
            Some(failure) => Err(failure),
        }
    }

    /// From now on it answers. The keeper has closed what it does not need: by `/proc/self` a path could lead
    /// there.
    pub(crate) fn serve(self) {
        say(&self.0.serve);
        calls::wake(&self.0.serve);
    }
}

fn say(word: &AtomicU32) {
    word.store(1, Ordering::Release);
    calls::wake(word);
}

fn wait_for(word: &AtomicU32) {
    while word.load(Ordering::Acquire) == 0 {
        calls::wait_while(word, 0);
    }
}

impl SupervisorState {
    /// Begins a thread of this process.
    fn begin_thread(
        &'static self,
        job: extern "C" fn(*mut u8) -> !,
        flags: u64,
    ) -> Result<(), RawErrno> {
        const MEMORY_AND_SIGNALS: u64 = 0x100 | 0x800;
        const THREAD: u64 = 0x1_0000 | 0x4_0000;
        let stack = calls::new_stack(STACK)?;
        let argument = ptr::from_ref(self).cast_mut().cast();
        self.threads.fetch_add(1, Ordering::Relaxed);
        #[expect(unsafe_code, reason = "a thread runs on a stack of its own")]
        // SAFETY: the stack is new; the argument is what the job takes, and is never given back.
        let begun = unsafe {
            let flags = MEMORY_AND_SIGNALS | THREAD | flags;
            raw::clone_running(flags, stack, job, argument)
        };
        if begun.is_err() {
            self.threads.fetch_sub(1, Ordering::Relaxed);
        }
        begun.map(drop)
    }

    /// As the first thread: takes on what binds the tool, and has what it needs.
    fn prepare(&'static self) -> Result<(), StepFailure> {
        let failed = StepFailure::at(StartStep::Supervisor);
        let proc = calls::open_at(WORKING_DIRECTORY, c"/proc", O_PATH | O_DIRECTORY);
        self.proc.store(proc.map_err(&failed)?, Ordering::Relaxed);
        if self.order.has(order::LANDLOCK) {
            bounds::restrict_self(self.ruleset).map_err(StepFailure::at(StartStep::Landlock))?;
        }
        // Before the limit on the numbers of processes counts.
        self.begin_thread(other, SHARE_DESCRIPTORS).map_err(&failed)
    }

    /// As the first thread: starts the tool, and takes its listener; `None` if there is none.
    fn start(&self) -> Option<()> {
        wait_for(&self.go);
        let task = self.task.load(Ordering::Relaxed);
        #[expect(unsafe_code, reason = "the task comes as an address")]
        // SAFETY: the keeper has stored it before it said `go`, and waits until this is done.
        let started = keeper::begin(unsafe { &*task });
        match started {
            Ok(tool) => self.tool.store(tool, Ordering::Relaxed),
            Err(failure) => self.failure.set(Some(failure)),
        }
        say(&self.done);
        if started.is_err() {
            return None;
        }
        let mut fds = [-1];
        let received = calls::receive(self.arrival, &mut [0], &mut fds);
        let (Ok((1, 1)), [listener]) = (received, fds) else {
            return None;
        };
        self.listener.store(listener, Ordering::Relaxed);
        let mut kept = [self.proc.load(Ordering::Relaxed), listener, self.line];
        kept.sort_unstable();
        let _ = keeper::close_all_but_these(&kept);
        held_calls::wake_synchronously(listener);
        Some(())
    }

    /// As any thread: answers to the end.
    fn answer(&'static self) -> ! {
        wait_for(&self.serve);
        let listener = self.listener.load(Ordering::Relaxed);
        if listener < 0 || give_up_capabilities().is_err() {
            // Without a listener nobody waits; else all do, and the end of this process is theirs.
            if listener >= 0 {
                calls::exit(0);
            }
            makers::exit_thread();
        }
        let supervisor = Supervisor {
            names: GuardedNames(&self.order),
            listener,
            proc: self.proc.load(Ordering::Relaxed),
            state: self,
            mask: Cell::new(None),
        };
        loop {
            self.idle.fetch_add(1, Ordering::Relaxed);
            let call = match self.order.has(order::PASSED_ON) {
                true => match HeldCall::passed_on(self.line) {
                    Some(call) => Ok(call),
                    // The host is gone, and nobody would ever answer.
                    None => calls::exit(0),
                },
                false => HeldCall::receive(listener),
            };
            self.idle.fetch_sub(1, Ordering::Relaxed);
            match call {
                Ok(call) => supervisor.answer(&call),
                // The caller was killed, or a signal took it away from the call.
                Err(RawErrno::NOENT | RawErrno::INTR) => {}
                Err(_) => makers::exit_thread(),
            }
        }
    }
}

/// Of a thread: keeps only the right to look into processes that closed themselves to others. It has no privilege
/// over files, and performs nothing that the tool could not.
fn give_up_capabilities() -> Result<(), RawErrno> {
    const SYS_PTRACE: u64 = 1 << 19;
    let [_, permitted, _] = calls::capabilities()?;
    let kept = permitted & SYS_PTRACE;
    calls::clear_ambient()?;
    calls::set_capabilities([kept, kept, 0])
}

/// The life of the first thread. `argument` is [`SupervisorState`].
extern "C" fn first(argument: *mut u8) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    let shared = shared(argument);
    if let Err(failure) = shared.prepare() {
        shared.failure.set(Some(failure));
        say(&shared.ready);
        makers::exit_thread();
    }
    say(&shared.ready);
    let _ = shared.start();
    shared.answer()
}

/// The life of another.
extern "C" fn other(argument: *mut u8) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    shared(argument).answer()
}

fn shared(argument: *mut u8) -> &'static SupervisorState {
    #[expect(unsafe_code, reason = "what is shared comes as an address")]
    // SAFETY: whoever begins a thread passes what is never given back.
    unsafe {
        &*argument.cast::<SupervisorState>()
    }
}

/// One thread, with what performing a call takes.
pub(crate) struct Supervisor<'a> {
    pub(crate) names: GuardedNames<'a>,
    pub(crate) listener: i32,
    /// The tool's `/proc`.
    pub(crate) proc: i32,
    state: &'static SupervisorState,
    /// The mask that this thread has taken on.
    mask: Cell<Option<u32>>,
}

impl Supervisor<'_> {
    fn answer(&self, call: &HeldCall) {
        let kind = self.kind(call.number);
        if kind & 0xff == order::HELD_UMASK {
            // What it sets is in a register, and its own.
            if call.arguments[0] as u32 & MODES != self.state.mask {
                self.state.mask_changed.store(1, Ordering::Relaxed);
            }
            return call.let_go(self.listener);
        }
        let performed = Creation::new(self, call).perform(kind);
        let result = match performed {
            Ok(CreationResult::Done) => Ok(0),
            Ok(CreationResult::Opened(fd, flags)) => {
                // Closed here before the caller goes on: a copy that stays open holds locks, and keeps a program
                // from being executed.
                call.give(self.listener, fd.0, flags)
            }
            Err(errno) => Err(errno),
        };
        call.answer(self.listener, result);
    }

    fn kind(&self, number: u32) -> u32 {
        let held = self.names.0.header.held;
        let mut all = (0..held.count).filter_map(|place| self.names.0.item(held, place).ok());
        all.find(|one: &HeldNumber| one.number == number)
            .map_or(0, |one| one.kind)
    }

    /// Takes on the mask for the modes of new files that a thread has.
    pub(crate) fn take_on_mask(&self, thread: i32) -> Result<(), RawErrno> {
        let mask = match self.state.mask_changed.load(Ordering::Relaxed) {
            0 => self.state.mask,
            _ => self.status(thread, b"Umask:\t", 8)?,
        };
        if self.mask.get() != Some(mask) {
            calls::set_file_mask(mask);
            self.mask.set(Some(mask));
        }
        Ok(())
    }

    /// Whether a thread is of the process with this number.
    pub(crate) fn is_of(&self, thread: i32, process: i32) -> bool {
        self.process_of(thread) == Ok(process)
    }

    pub(crate) fn process_of(&self, thread: i32) -> Result<i32, RawErrno> {
        self.status(thread, b"Tgid:\t", 10).map(u32::cast_signed)
    }

    /// A number that the kernel tells of a thread.
    fn status(&self, thread: i32, name: &[u8], base: u32) -> Result<u32, RawErrno> {
        let mut path = ProcPath::new();
        let path = path.set(b"", thread, b"/status", -1, b"")?;
        // Both are near the start.
        let mut text = [0; 512];
        let length = calls::read_file(self.proc, path, &mut text)?;
        let text = text.get(..length).unwrap_or_default();
        let mut lines = text.split(|byte| *byte == b'\n');
        let digits = lines.find_map(|line| line.strip_prefix(name));
        match base {
            8 => digits.and_then(octal),
            _ => digits.and_then(call_path::decimal),
        }
        .ok_or(RawErrno::SRCH)
    }

    /// Lets nobody else make names that an entry mentions, until it is dropped.
    pub(crate) fn alone<'s>(&self) -> Alone<'s> {
        let busy = &self.state.busy;
        while busy.swap(1, Ordering::Acquire) != 0 {
            calls::wait_while(busy, 1);
        }
        Alone(busy, core::marker::PhantomData)
    }

    /// To be called before this thread may wait for the tool itself: another one goes on.
    pub(crate) fn make_room(&self) -> Result<(), RawErrno> {
        let state = self.state;
        if state.idle.load(Ordering::Relaxed) > 0 {
            return Ok(());
        }
        if state.threads.load(Ordering::Relaxed) >= MOST_THREADS {
            return Err(RawErrno::AGAIN);
        }
        state.begin_thread(other, SHARE_DESCRIPTORS)
    }

    /// Tells the host what was refused, if there is room for it.
    pub(crate) fn tell(&self, entry: u32, path: &[u8]) {
        let mut record = [0; LONGEST_RECORD];
        let (number, text) = record.split_at_mut(4);
        number.copy_from_slice(&entry.to_ne_bytes());
        let length = path.len().min(text.len());
        text[..length].copy_from_slice(&path[..length]);
        let _ = makers::offer(self.state.line, &record[..4 + length]);
    }
}

/// Whoever holds it makes a name that an entry mentions.
pub(crate) struct Alone<'s>(&'static AtomicU32, core::marker::PhantomData<&'s ()>);

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Release);
        calls::wake(self.0);
    }
}

fn octal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0_u32, |sum, byte| {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 8)?;
        Some(sum.checked_mul(8)? + u32::from(digit))
    })
}

/// What `umask` looks at.
const MODES: u32 = 0o777;

/// Threads after the first share its descriptors.
const SHARE_DESCRIPTORS: u64 = 0x400;

/// A page would do.
const STATE: usize = 4 << 10;

/// Copies of a few paths, also without optimisation.
const STACK: usize = 256 << 10;

/// A tool can open any number of pipes that nobody reads.
const MOST_THREADS: u32 = 64;

/// The number of an entry, and a path that may be as long as its directory can be, and its name.
const LONGEST_RECORD: usize = 4 + 4096 + 256;
