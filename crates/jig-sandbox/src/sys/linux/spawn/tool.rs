//! The tool between the fork and its program: sets itself up, and executes it.
//!
//! It borrows the keeper's memory, on a stack of its own, and the keeper stands still meanwhile. The
//! rules of a forked child hold. What is to bind the program but not its keeper belongs here.

use std::ffi::{c_int, c_void};
use std::sync::atomic::Ordering;

use super::keeper;
use super::plan::{Hold, Plan};
use super::record::{Refusal, Step};
use crate::machine::Errno;
use crate::sys::linux::uapi::{self, ExitOnDrop, process};

/// Executes the program, or leaves the reason in the plan and ends. `argument` is a [`Plan`].
pub(super) extern "C" fn run(argument: *mut c_void) -> c_int {
    let _no_unwinding = ExitOnDrop;
    #[expect(unsafe_code, reason = "a plan comes through a C function as a pointer")]
    // SAFETY: the keeper passes its plan, which lives on and which it does not touch meanwhile.
    let plan = unsafe { &*argument.cast::<Plan>() };
    plan.failure.set(attempt(plan));
    uapi::exit()
}

/// Returns only if something failed.
fn attempt(plan: &Plan) -> Refusal {
    match prepare(plan) {
        Err(refusal) => refusal,
        Ok(()) => execute(plan),
    }
}

fn prepare(plan: &Plan) -> Result<(), Refusal> {
    process::leave_session().map_err(Refusal::at(Step::Session))?;
    if matches!(plan.hold, Hold::Adoption) {
        tie_to_parent(plan.keeper).map_err(Refusal::at(Step::Parent))?;
    }
    process::change_directory(&plan.directory).map_err(Refusal::at(Step::Directory))?;
    take_descriptors(plan)?;
    for (which, (resource, value)) in plan.limits.iter().enumerate() {
        process::set_limit(*resource, *value).map_err(|errno| Refusal {
            step: Step::Limit,
            errno,
            which,
        })?;
    }
    // Every signal has its default action since the keeper's start, so none can run code here.
    process::unblock_signals();
    Ok(())
}

/// The keeper has one thread, so that its end is what the signal stands for. One that ended before the
/// call has left this process to another parent.
fn tie_to_parent(keeper: c_int) -> Result<(), Errno> {
    process::die_with_parent()?;
    if process::parent() == keeper {
        Ok(())
    } else {
        Err(Errno(libc::ESRCH))
    }
}

/// Puts each descriptor at its number and closes all others.
///
/// First they are parked above all numbers that are wanted: a target may be another one's source.
fn take_descriptors(plan: &Plan) -> Result<(), Refusal> {
    let refuse = |which| {
        move |errno| Refusal {
            step: Step::Descriptor,
            errno,
            which,
        }
    };
    let floor = plan.floor();
    for (which, one) in plan.moves.iter().enumerate() {
        let copy = process::copy_above(one.source, floor).map_err(refuse(which))?;
        one.copy.store(copy, Ordering::Relaxed);
    }
    for (which, one) in plan.moves.iter().enumerate() {
        process::copy_onto(one.copy.load(Ordering::Relaxed), one.target).map_err(refuse(which))?;
    }
    keeper::close_all_but(&plan.targets).map_err(Refusal::at(Step::CloseDescriptors))
}

/// Tries the candidates as a shell does: one that is missing or forbidden does not end the search.
fn execute(plan: &Plan) -> Refusal {
    let mut refusal = Refusal::at(Step::Execute)(Errno(libc::ENOENT));
    for (which, path) in plan.candidates.iter().enumerate() {
        let mut wait = FIRST_WAIT;
        let errno = loop {
            #[expect(unsafe_code, reason = "execve takes arrays of pointers")]
            // SAFETY: the plan's arrays end in null pointers, and their strings live as long as it.
            let errno = unsafe {
                process::execute(path, plan.arguments.pointers(), plan.environment.pointers())
            };
            // A process that another thread of the host is just forking may hold a fresh program open
            // for writing. That passes.
            if errno != Errno(libc::ETXTBSY) || wait > LAST_WAIT {
                break errno;
            }
            process::pause(wait);
            wait *= 2;
        };
        match errno.0 {
            libc::ENOENT | libc::ENOTDIR => {}
            libc::EACCES => {
                refusal.errno = errno;
                refusal.which = which;
            }
            _ => {
                refusal.errno = errno;
                refusal.which = which;
                break;
            }
        }
    }
    refusal
}

/// Milliseconds between attempts at a program that is being written.
const FIRST_WAIT: c_int = 1;
const LAST_WAIT: c_int = 64;
