//! The keeper: the parent of a tool, which ends with it, with its host, and on demand.
//!
//! It is a copy of the host that never runs another program, so everything here keeps to the rules of a
//! forked child: no allocation, no lock, no unwinding. It reads nothing but one-byte commands from the
//! host. With namespaces it is the first process of the tool's process namespace: its end is the end of
//! all in there, by the kernel. Without them it adopts orphans and hunts the tree down by itself.
//!
//! Its memory is the host's, secrets included. So it is closed to inspection, which holds against
//! everything in the tool's user namespace, and its arguments and environment are overwritten.

use std::ffi::{CStr, c_int, c_void};
use std::os::fd::RawFd;

use super::plan::{Hold, Plan};
use super::record::{self, Record, Refusal, Step};
use super::tool;
use crate::machine::Errno;
use crate::sys::linux::uapi::{self, ExitOnDrop, process};

/// The life of a keeper, from the fork to its end. All signals are blocked.
///
/// `kept` lists in rising order the descriptors that are needed until the tool runs.
pub(super) fn run(plan: &mut Plan, kept: &[RawFd]) -> ! {
    let _no_unwinding = ExitOnDrop;
    let line = plan.line;
    match start(plan, kept) {
        Err(refusal) => say(line, Record::Refused(refusal)),
        Ok((mut keeper, proc)) => {
            say(line, Record::Started { proc });
            keeper.watch();
            keeper.finish();
        }
    }
    uapi::exit()
}

/// Starts the tool. With it, why the tree has no `/proc` of its own, if it has none.
fn start(plan: &mut Plan, kept: &[RawFd]) -> Result<(Keeper, Option<Errno>), Refusal> {
    // Children are waited for, also if the host ignores its own. A new program would inherit that too.
    process::reset_signals();
    // Other keepers' lines and pipes that happened to be open would keep those from coming to an end.
    close_all_but(kept).map_err(Refusal::at(Step::CloseDescriptors))?;
    process::leave_session().map_err(Refusal::at(Step::Session))?;
    let proc = match &plan.hold {
        Hold::Namespaces(maps) => {
            if maps.write_own().map_err(Refusal::at(Step::Map))?
                && process::receive(plan.line) != Some(record::GO)
            {
                // The host is gone, or has given up.
                uapi::exit();
            }
            renew_proc().err()
        }
        Hold::Adoption => {
            process::adopt_orphans().map_err(Refusal::at(Step::Adopt))?;
            None
        }
    };
    conceal(plan).map_err(Refusal::at(Step::Conceal))?;
    let signals = process::child_signals().map_err(Refusal::at(Step::Signals))?;

    plan.keeper = process::id();
    let stack_top = plan.stack.as_mut_ptr_range().end.cast::<c_void>();
    let argument = (&raw mut *plan).cast::<c_void>();
    #[expect(unsafe_code, reason = "the tool begins as a copy of this process")]
    // SAFETY: the stack is a block of 16-byte words that nothing else uses; the argument is the plan that
    // `tool::run` takes; this process is a copy with one thread.
    let started = unsafe { process::run_until_exec(stack_top, tool::run, argument) };
    let tool = started.map_err(Refusal::at(Step::Fork))?;
    if let Some(refusal) = plan.failure.get() {
        let _ = process::reap(tool);
        return Err(refusal);
    }

    let keeper = Keeper {
        tool,
        line: plan.line,
        host: plan.host,
        signals,
        // Asked of the kernel, because the answer is what makes signals to "all" safe to send.
        is_first: plan.keeper == 1,
        said: false,
    };
    // The ends of the tool's pipes are the tool's alone.
    let mut own = [keeper.line, keeper.host, keeper.signals];
    own.sort_unstable();
    let _ = close_all_but(&own);
    let _ = process::change_directory(c"/");
    Ok((keeper, proc))
}

/// A keeper whose tool runs.
struct Keeper {
    tool: c_int,
    line: RawFd,
    host: RawFd,
    signals: RawFd,
    /// Whether this is the first process of a process namespace.
    is_first: bool,
    /// Whether the host was told how the tool ended.
    said: bool,
}

impl Keeper {
    /// Until the tool has ended, the host has, or the host wants the end.
    fn watch(&mut self) {
        loop {
            let [ended, line, host] =
                process::wait_readable([self.signals, self.line, self.host], FOR_EVER);
            // The tool's own end comes first, so that a kill at the same moment does not hide it.
            if ended && self.tool_has_ended() || host {
                return;
            }
            if line {
                match process::receive(self.line) {
                    None | Some(record::KILL) => return,
                    Some(signal) => {
                        self.signal_tree(signal.into());
                        // One that is stopped would not notice.
                        self.signal_tree(libc::SIGCONT);
                    }
                }
            }
        }
    }

    /// Reaps orphans, and looks whether the tool is among the dead. It is not reaped here: its number,
    /// which is also that of its process group, must not become another's yet.
    fn tool_has_ended(&self) -> bool {
        process::drain(self.signals);
        while let Ok(Some(pid)) = process::ended_child() {
            if pid == self.tool {
                return true;
            }
            let _ = process::reap(pid);
        }
        false
    }

    /// Ends what is left, and tells the host how the tool ended.
    fn finish(&mut self) {
        if self.is_first {
            // The exit of this process ends the rest, and is complete only when all are gone.
            if self.tool_has_ended() {
                self.reap(self.tool);
            }
            return;
        }
        process::signal(-self.tool, libc::SIGKILL);
        for _ in 0..PASSES {
            self.signal_children(libc::SIGKILL);
            loop {
                match process::ended_child() {
                    Ok(Some(pid)) => self.reap(pid),
                    Ok(None) => break,
                    // No child is left.
                    Err(_) => return,
                }
            }
            // The children of those that ended became children of this process: another pass.
            process::wait_readable([self.signals], PASS);
            process::drain(self.signals);
        }
    }

    fn reap(&mut self, pid: c_int) {
        if let Ok(status) = process::reap(pid)
            && pid == self.tool
            && !self.said
        {
            self.said = true;
            say(self.line, Record::Ended { status });
        }
    }

    /// Sends a signal to all processes of the tree, to each once.
    fn signal_tree(&self, signal: c_int) {
        if self.is_first {
            // "All" ends at the process namespace.
            process::signal(-1, signal);
        } else {
            process::signal(-self.tool, signal);
            self.signal_children(signal);
        }
    }

    /// Sends a signal to all children outside of the tool's group: the tool, and orphans. Those are not
    /// reaped but here, so that their numbers are theirs.
    fn signal_children(&self, signal: c_int) {
        let mut list = [0; 4096];
        let Ok(length) = process::read_file(c"/proc/thread-self/children", &mut list) else {
            return;
        };
        let list = &list[..length];
        // A number at the end may be cut; what comes after it is for the next pass.
        let whole = list.iter().rposition(|byte| *byte == b' ').unwrap_or(0);
        for number in list[..whole].split(|byte| *byte == b' ') {
            let digits = number
                .iter()
                .map(|digit| c_int::from(digit.wrapping_sub(b'0')));
            let pid = digits.fold(0, |sum: c_int, digit| {
                sum.wrapping_mul(10).wrapping_add(digit)
            });
            if pid > 1 && process::group_of(pid) != Ok(self.tool) {
                process::signal(pid, signal);
            }
        }
    }
}

/// Mounts a `/proc` that shows the new process namespace, where no mount can reach the host.
fn renew_proc() -> Result<(), Errno> {
    uapi::make_mounts_slaves()?;
    uapi::mount_new(c"proc", c"/proc")
}

fn conceal(plan: &Plan) -> Result<(), Errno> {
    process::set_inspectable(false)?;
    if let Some(traces) = &plan.traces {
        #[expect(unsafe_code, reason = "overwrites memory by address")]
        // SAFETY: the kernel named this range as the arguments and the environment, which lie on the
        // first stack of the process. In this copy nothing reads them: the tool gets its own.
        unsafe {
            process::overwrite(traces.start, traces.end, NAME.to_bytes());
        }
    }
    process::set_name(NAME);
    Ok(())
}

/// Closes all descriptors but those in the list, which is in rising order.
pub(super) fn close_all_but(kept: &[RawFd]) -> Result<(), Errno> {
    let mut first = 0;
    for fd in kept {
        // Descriptors are not negative.
        let fd = fd.cast_unsigned();
        if fd > first {
            process::close_range(first, fd - 1)?;
        }
        first = fd + 1;
    }
    process::close_range(first, u32::MAX)
}

/// If nobody listens any more, nobody needs to know.
fn say(line: RawFd, record: Record) {
    let _ = process::send(line, &record.encode());
}

/// What `ps` shows.
const NAME: &CStr = c"jig-keeper";

const FOR_EVER: c_int = -1;

/// Without namespaces, how often to look for what is left, and how long to wait in between, in
/// milliseconds. A process that cannot be killed, such as one of another user, must not hold the keeper.
const PASSES: usize = 200;
const PASS: c_int = 10;
