//! The tool between the fork and its program: sets itself up, and executes it.
//!
//! It borrows the keeper's memory, on a stack of its own, and the keeper stands still meanwhile. What is
//! to bind the program but not its keeper belongs here.

use core::cell::Cell;

use super::bounds;
use super::calls::{self, KeeperExitOnDrop};
use super::keeper;
use super::listen;
use super::order::{self, OrderBlock, PackedMove, PackedRlimit};
use super::raw::RawErrno;
use super::record::{StartStep, StepFailure};
use super::supervisor::SupervisorEnds;

/// What the tool is told, and where it leaves the reason if it fails.
pub(crate) struct ToolTask {
    pub(crate) order: OrderBlock,
    /// The keeper's process id.
    pub(crate) keeper: i32,
    /// The ruleset of Landlock, or -1.
    pub(crate) ruleset: i32,
    /// The mask for the modes of new files that the program is to have, if the keeper has another.
    pub(crate) mask: Option<u32>,
    /// The line to the host.
    pub(crate) line: i32,
    /// Where its supervisor waits, if it has one.
    pub(crate) supervisor: Option<SupervisorEnds>,
    /// Why the program does not run. The tool writes it, in memory that the keeper shares.
    pub(crate) failure: Cell<Option<StepFailure>>,
}

/// Executes the program, or leaves the reason and ends. `argument` is a [`ToolTask`].
pub(crate) extern "C" fn run(argument: *mut u8) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    #[expect(
        unsafe_code,
        reason = "a task comes through a system call as an address"
    )]
    // SAFETY: the keeper passes its task, which lives on and which it does not touch meanwhile.
    let task = unsafe { &*argument.cast::<ToolTask>() };
    let refusal = match prepare(task) {
        Err(refusal) => refusal,
        Ok(()) => finish(task),
    };
    task.failure.set(Some(refusal));
    calls::exit(0)
}

fn prepare(task: &ToolTask) -> Result<(), StepFailure> {
    if task.order.has(order::FILTERED_AHEAD) {
        // This process is not the one that has the filter.
        return Err(StepFailure::at(StartStep::Filter)(RawErrno::INVAL));
    }
    bind(&task.order)?;
    if !task.order.has(order::NAMESPACES) {
        tie_to_parent(task.keeper).map_err(StepFailure::at(StartStep::Parent))?;
    }
    Ok(())
}

/// What can be done without a task: binds this process to a session of its own and, with a confinement,
/// to its filter, without any privilege.
///
/// The filter lets through what is done from here on: that is no more than programs do.
pub(crate) fn bind(order: &OrderBlock) -> Result<(), StepFailure> {
    calls::leave_session().map_err(StepFailure::at(StartStep::Session))?;
    if order.has(order::CONFINED) {
        give_up_privileges().map_err(StepFailure::at(StartStep::Privileges))?;
    }
    install_filter(order).map_err(StepFailure::at(StartStep::Filter))
}

/// Does the rest, and executes the program. Returns only if something failed.
pub(crate) fn finish(task: &ToolTask) -> StepFailure {
    match settle(task) {
        Err(refusal) => refusal,
        Ok(()) => execute(&task.order),
    }
}

fn settle(task: &ToolTask) -> Result<(), StepFailure> {
    let order = &task.order;
    if let Some(mask) = task.mask {
        calls::set_file_mask(mask);
    }
    let directory = order.string(order.header.directory);
    directory
        .and_then(calls::change_directory)
        .map_err(StepFailure::at(StartStep::Directory))?;
    if order.has(order::LANDLOCK) {
        bounds::restrict_self(task.ruleset).map_err(StepFailure::at(StartStep::Landlock))?;
    }
    listen::begin(order, task.line, task.supervisor).map_err(StepFailure::at(StartStep::Filter))?;
    take_descriptors(order)?;
    if order.has(order::TERMINAL) {
        calls::take_terminal(STANDARD_INPUT).map_err(StepFailure::at(StartStep::Terminal))?;
    }
    for number in 0..order.header.limits.count {
        order
            .item(order.header.limits, number)
            .and_then(|limit: PackedRlimit| calls::set_limit(limit.resource, limit.value))
            .map_err(StepFailure::one_of(StartStep::Limit, number as usize))?;
    }
    // Every signal has its default action since the keeper's start, so none can run code here.
    calls::set_blocked(0);
    Ok(())
}

/// The keeper has one thread, so that its end is what the signal stands for. One that ended before the
/// call has left this process to another parent.
fn tie_to_parent(keeper: i32) -> Result<(), RawErrno> {
    calls::die_with_parent()?;
    if calls::parent() == keeper {
        Ok(())
    } else {
        Err(RawErrno::SRCH)
    }
}

/// No capability is left, and no program brings one back. That user 0 and files with capabilities have
/// no special power either is the keeper's doing, where it has the right to it.
fn give_up_privileges() -> Result<(), RawErrno> {
    calls::set_no_new_privs()?;
    calls::clear_ambient()?;
    calls::set_capabilities([0; 3])
}

/// Puts each descriptor at its number and closes all others.
///
/// First they are parked above all numbers that are wanted: a target may be another one's source.
fn take_descriptors(order: &OrderBlock) -> Result<(), StepFailure> {
    let refuse = |number: u32| StepFailure::one_of(StartStep::Descriptor, number as usize);
    let header = &order.header;
    let floor = match header.targets.count.checked_sub(1) {
        Some(last) => order.item::<i32>(header.targets, last).map_err(refuse(0))? + 1,
        None => 0,
    };
    for number in 0..header.moves.count {
        let parked = order
            .item(header.moves, number)
            .and_then(|one: PackedMove| {
                let copy = calls::copy_above(one.source, floor)?;
                order.set_item(header.moves, number, PackedMove { copy, ..one })
            });
        parked.map_err(refuse(number))?;
    }
    for number in 0..header.moves.count {
        let one = order.item(header.moves, number);
        one.and_then(|one: PackedMove| calls::copy_onto(one.copy, one.target))
            .map_err(refuse(number))?;
    }
    keeper::close_all_but(order, header.targets)
        .map_err(StepFailure::at(StartStep::CloseDescriptors))
}

fn install_filter(order: &OrderBlock) -> Result<(), RawErrno> {
    let filter = order.header.filter;
    if filter.count == 0 {
        return Ok(());
    }
    let instructions = order.address(filter, 8)?;
    let count = u16::try_from(filter.count).map_err(|_| RawErrno::INVAL)?;
    #[expect(unsafe_code, reason = "a filter is given by its address")]
    // SAFETY: the order was asked for the address of so many instructions of this size.
    unsafe {
        bounds::install_filter(instructions, count)
    }
}

/// Tries the candidates as a shell does: one that is missing or forbidden does not end the search.
fn execute(order: &OrderBlock) -> StepFailure {
    let mut refusal = StepFailure::at(StartStep::Execute)(RawErrno::NOENT);
    let tables = order
        .pointers(order.header.arguments)
        .and_then(|arguments| Ok((arguments, order.pointers(order.header.environment)?)));
    let (arguments, environment) = match tables {
        Ok(tables) => tables,
        Err(errno) => return StepFailure::at(StartStep::Order)(errno),
    };
    for which in 0..order.header.candidates.count {
        let place = order.item(order.header.candidates, which);
        let path = match place.and_then(|place| order.string(place)) {
            Ok(path) => path,
            Err(errno) => return StepFailure::at(StartStep::Order)(errno),
        };
        let mut wait = FIRST_WAIT;
        let errno = loop {
            #[expect(unsafe_code, reason = "execve takes arrays of pointers")]
            // SAFETY: the keeper has made the order's tables into pointers to its strings, with a null
            // pointer at the end.
            let errno = unsafe { calls::execute(path, arguments, environment) };
            // A process that another thread of the host is just forking may hold a fresh program open
            // for writing. That passes.
            if errno != RawErrno::TXTBSY || wait > LAST_WAIT {
                break errno;
            }
            calls::pause(wait);
            wait *= 2;
        };
        match errno {
            RawErrno::NOENT | RawErrno::NOTDIR => {}
            errno => {
                refusal = StepFailure::one_of(StartStep::Execute, which as usize)(errno);
                if errno != RawErrno::ACCES {
                    break;
                }
            }
        }
    }
    refusal
}

const STANDARD_INPUT: i32 = 0;

/// Milliseconds between attempts at a program that is being written.
const FIRST_WAIT: i64 = 1;
const LAST_WAIT: i64 = 64;
