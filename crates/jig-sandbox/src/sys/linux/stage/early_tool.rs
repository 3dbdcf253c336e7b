//! [`EarlyProcess`]: the process of a tool that is made before it is known for whom.
//!
//! It has given up its privileges and has its filter, and waits for a task. Making it, and above all the
//! filter, takes longer than all that is left to do then.
//!
//! It borrows the keeper's memory and descriptors, as a thread does, until it executes its program.

use core::cell::Cell;
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

use super::calls::{self, KeeperExitOnDrop, SIGCHLD};
use super::order::OrderBlock;
use super::raw::{self, RawErrno};
use super::record::{StartStep, StepFailure};
use super::tool::{self, ToolTask};

/// A process that waits for its task.
#[derive(Clone, Copy)]
pub(crate) struct EarlyProcess {
    pid: i32,
    shared: &'static EarlyState,
}

/// What keeper and process share.
struct EarlyState {
    base: OrderBlock,
    task: AtomicPtr<ToolTask>,
    /// 1 once there is a task.
    go: AtomicU32,
    /// 1 while the process uses this memory. The kernel clears it when the process executes a program or
    /// ends, and wakes whoever waits for that.
    borrowed: AtomicU32,
    /// Why it ended before there was a task.
    failure: Cell<Option<StepFailure>>,
}

impl EarlyProcess {
    /// Makes a process for a tool of which only the base is known. The calling process has one thread.
    pub(crate) fn begin(base: &OrderBlock) -> Result<Self, RawErrno> {
        const SHARE_MEMORY_AND_DESCRIPTORS: u64 = 0x100 | 0x400;
        let start = calls::map(STACK, -1)?;
        let shared = start.cast::<EarlyState>();
        let flags = SHARE_MEMORY_AND_DESCRIPTORS | SIGCHLD.cast_unsigned() as u64;
        #[expect(unsafe_code, reason = "the process runs in memory of its own")]
        // SAFETY: the block is new, large enough, aligned to pages and never given back. What is shared
        // lies at its start; the stack grows down from its end and does not reach it. The two processes
        // hand over to each other what is not atomic: the keeper writes the task before it says `go` and
        // does not touch it until the memory is not borrowed any more.
        unsafe {
            shared.write(EarlyState {
                base: *base,
                task: AtomicPtr::new(ptr::null_mut()),
                go: AtomicU32::new(0),
                borrowed: AtomicU32::new(1),
                failure: Cell::new(None),
            });
            let pid = raw::clone_running(flags, start.add(STACK), run, shared.cast())?;
            Ok(Self {
                pid,
                shared: &*shared,
            })
        }
    }

    /// Gives it its task, and waits until it has executed its program; its process id.
    pub(crate) fn release(self, task: &ToolTask) -> Result<i32, StepFailure> {
        let shared = self.shared;
        let task_address = ptr::from_ref(task).cast_mut();
        shared.task.store(task_address, Ordering::Relaxed);
        shared.go.store(1, Ordering::Release);
        calls::wake(&shared.go);
        while shared.borrowed.load(Ordering::Acquire) != 0 {
            calls::wait_while(&shared.borrowed, 1);
        }
        match shared.failure.get().or(task.failure.get()) {
            None => Ok(self.pid),
            Some(refusal) => {
                let _ = calls::reap(self.pid);
                Err(refusal)
            }
        }
    }
}

/// The life of the process up to its program. `argument` is [`EarlyState`].
extern "C" fn run(argument: *mut u8) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    #[expect(unsafe_code, reason = "what is shared comes as an address")]
    // SAFETY: the keeper passes what is never given back.
    let shared = unsafe { &*argument.cast::<EarlyState>() };
    calls::clear_when_done(&shared.borrowed);
    if let Err(refusal) = tool::bind(&shared.base) {
        shared.failure.set(Some(refusal));
        calls::exit(0);
    }
    while shared.go.load(Ordering::Acquire) == 0 {
        calls::wait_while(&shared.go, 0);
    }
    let task = shared.task.load(Ordering::Relaxed);
    #[expect(unsafe_code, reason = "the task comes as an address")]
    // SAFETY: the keeper has stored it before it said `go`, and keeps it until this process is done.
    let task = unsafe { &*task };
    let refusal = match calls::own_descriptors() {
        Ok(()) => tool::finish(task),
        Err(errno) => StepFailure::at(StartStep::CloseDescriptors)(errno),
    };
    task.failure.set(Some(refusal));
    calls::exit(0)
}

/// A few frames of calls with small locals, also without optimisation.
const STACK: usize = 64 << 10;
