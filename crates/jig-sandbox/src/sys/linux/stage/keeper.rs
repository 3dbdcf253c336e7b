//! The keeper: the parent of a tool, which ends with it, with its host, and on demand.
//!
//! It reads nothing but its order and one-byte commands from the host. With namespaces it is the first
//! process of the tool's process namespace: its end is the end of all in there, by the kernel. Without
//! them it adopts orphans and hunts the tree down by itself.
//!
//! A keeper that was forked from its host has the host's memory, secrets included. So it is closed to
//! inspection, which holds against everything in the tool's user namespace, and its arguments and
//! environment are overwritten.

use core::cell::Cell;
use core::ffi::CStr;

use super::bounds;
use super::calls::{self, KeeperExitOnDrop, O_PATH, SIGCHLD, SIGCONT, SIGKILL, WORKING_DIRECTORY};
use super::early_tool::EarlyProcess;
use super::mounts::{self, MountRestrictions};
use super::network::NetworkNamespace;
use super::order::{self, OrderBlock, OrderSpan};
use super::raw::{self, O_DIRECTORY, RawErrno};
use super::record::{
    self, KeeperMessage, KeeperReport, ProcessNames, ProgramEndRecord, StartStep, StepFailure,
};
use super::root::{MOST_PRIVATE, NewRoot};
use super::steps::StepContext;
use super::supervisor::SupervisorThread;
use super::tool::{self, ToolTask};
use super::tree_limits::{self, LimitWatch};

/// The life of a keeper with an order of its own, from the fork to its end. All signals are blocked.
pub(crate) fn run(order: &OrderBlock) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    let line = order.header.line;
    let prepared = arrive(order).and_then(|()| PreparedKeeper::new(order, line));
    keep(order, prepared, line, order.header.host)
}

/// Starts the tool, if all went well so far, and keeps it to its end.
pub(crate) fn keep(
    order: &OrderBlock,
    prepared: Result<PreparedKeeper, StepFailure>,
    line: i32,
    host: i32,
) -> ! {
    match prepared.and_then(|prepared| prepared.start(order, line, host)) {
        Err(refusal) => say(line, KeeperMessage::Refused(refusal)),
        Ok((mut keeper, report)) => {
            say(line, KeeperMessage::Started(report));
            // The ends of the tool's pipes are the tool's alone.
            keeper.close_others();
            if let Some(supervisor) = keeper.supervisor {
                supervisor.serve();
            }
            keeper.watch();
            keeper.finish();
        }
    }
    calls::exit(0)
}

/// Leaves what came from the host: its signal handlers, descriptors and session.
fn arrive(order: &OrderBlock) -> Result<(), StepFailure> {
    // Children are waited for, also if the host ignores its own. A new program would inherit that too.
    calls::reset_signals();
    // Other keepers' lines and pipes that happened to be open would keep those from coming to an end.
    close_all_but(order, order.header.kept)
        .map_err(StepFailure::at(StartStep::CloseDescriptors))?;
    calls::leave_session().map_err(StepFailure::at(StartStep::Session))
}

/// A keeper that has taken the first steps, which may be the same for many tools.
pub(crate) struct PreparedKeeper {
    root: Option<NewRoot>,
    /// The ruleset of Landlock, or -1.
    ruleset: i32,
    /// The network namespace that is being made.
    network: Option<NetworkNamespace>,
    /// The host's mask for the modes of new files, if the keeper has put it aside.
    mask: Option<u32>,
    /// The tool's process, if it is made already.
    tool: Option<EarlyProcess>,
    report: KeeperReport,
}

impl PreparedKeeper {
    /// Takes the first steps of an order.
    pub(crate) fn new(order: &OrderBlock, line: i32) -> Result<Self, StepFailure> {
        let mut prepared = Self {
            root: None,
            ruleset: -1,
            network: None,
            mask: None,
            tool: None,
            report: KeeperReport::default(),
        };
        let confined = order.has(order::CONFINED);
        if order.has(order::NAMESPACES) {
            if order.has(order::OWN_NETWORK) {
                prepared.network =
                    Some(NetworkNamespace::begin().map_err(StepFailure::at(StartStep::Network))?);
            }
            map_users(order, line).map_err(StepFailure::at(StartStep::Map))?;
            if confined {
                prepared.root = Some(
                    NewRoot::new(order.has(order::AHEAD))
                        .map_err(StepFailure::at(StartStep::Root))?,
                );
            } else {
                prepared.report.proc = mounts::renew_proc().err();
            }
        } else {
            calls::adopt_orphans().map_err(StepFailure::at(StartStep::Adopt))?;
        }
        conceal(order).map_err(StepFailure::at(StartStep::Conceal))?;
        if confined {
            if order.has(order::LANDLOCK) {
                prepared.ruleset = bounds::new_ruleset(&order.header.ruleset)
                    .map_err(StepFailure::at(StartStep::Landlock))?;
            }
            close_ways_to_privileges().map_err(StepFailure::at(StartStep::Privileges))?;
            // What the keeper makes has the mode that the steps say.
            prepared.mask = Some(calls::set_file_mask(0));
            prepared.take(order, order.header.base, 0, line)?;
        }
        if let Some(network) = prepared.network.take() {
            // Nobody asked whether its loopback is up.
            let _ = network
                .enter()
                .map_err(StepFailure::at(StartStep::Network))?;
        }
        if let Some(root) = &mut prepared.root
            && order.has(order::AHEAD)
        {
            root.enter_ahead()
                .map_err(StepFailure::at(StartStep::EnterRoot))?;
        }
        if order.has(order::FILTERED_AHEAD) {
            prepared.tool =
                Some(EarlyProcess::begin(order).map_err(StepFailure::at(StartStep::Fork))?);
        }
        Ok(prepared)
    }

    fn take(
        &mut self,
        order: &OrderBlock,
        acts: OrderSpan,
        first: u32,
        line: i32,
    ) -> Result<(), StepFailure> {
        let mut site = StepContext {
            root: self.root,
            ruleset: self.ruleset,
            network: self.network,
            line,
            report: &mut self.report,
        };
        let taken = site.take_all(order, acts, first);
        self.root = site.root;
        self.network = site.network;
        taken
    }

    /// Takes the other steps, and starts the tool.
    fn start(
        mut self,
        order: &OrderBlock,
        line: i32,
        host: i32,
    ) -> Result<(Keeper, KeeperReport), StepFailure> {
        let header = &order.header;
        order
            .relocate()
            .map_err(StepFailure::at(StartStep::Order))?;
        self.take(order, header.steps, header.taken, line)?;
        let mut watch = LimitWatch::new(header);
        let needs_proc = watch.is_needed() || header.highest_id != 0;
        if let Some(root) = &mut self.root {
            if needs_proc && root.proc < 0 {
                // For the keeper alone. Without one, it goes without watching.
                root.proc = mounts::new(c"proc", &[], MountRestrictions::default()).unwrap_or(-1);
            }
            watch.proc = root.proc;
            watch.private = root.private;
            root.enter()
                .map_err(StepFailure::at(StartStep::EnterRoot))?;
        } else if needs_proc && order.has(order::NAMESPACES) && self.report.proc.is_none() {
            let flags = O_PATH | O_DIRECTORY;
            watch.proc = calls::open_at(WORKING_DIRECTORY, c"/proc", flags).unwrap_or(-1);
        }
        let supervisor = match order.has(order::SUPERVISED) {
            true => {
                let mask = self.mask.unwrap_or(0);
                Some(SupervisorThread::begin(order, self.ruleset, mask)?)
            }
            false => None,
        };
        if watch.proc >= 0 {
            let early = u64::from(self.tool.is_some());
            let limited = limit_tasks(watch.proc, header.highest_id, early);
            (self.report.tasks_limited, self.report.tasks_exact) = limited;
        }
        watch.watch_space(order.string(header.directory));
        if !watch.is_needed() {
            watch.proc = -1;
            watch.private = [-1; MOST_PRIVATE];
        }

        let signals = calls::child_signals().map_err(StepFailure::at(StartStep::Signals))?;
        let task = ToolTask {
            order: *order,
            keeper: calls::id(),
            ruleset: self.ruleset,
            mask: self.mask,
            line,
            supervisor: supervisor.map(SupervisorThread::ends),
            failure: Cell::new(None),
        };
        let tool = match (self.tool, supervisor) {
            (None, Some(supervisor)) => supervisor.start(&task)?,
            (Some(tool), _) => tool.release(&task)?,
            (None, None) => begin(&task)?,
        };
        let keeper = Keeper {
            tool,
            line,
            host,
            signals,
            // Asked of the kernel, because the answer is what makes signals to "all" safe to send.
            is_first: task.keeper == 1,
            said: false,
            left: ProcessNames::default(),
            watch,
            supervisor,
        };
        let _ = calls::change_directory(c"/");
        Ok((keeper, self.report))
    }
}

/// Starts a process that becomes the tool, and waits until it has.
pub(crate) fn begin(task: &ToolTask) -> Result<i32, StepFailure> {
    const SHARE_MEMORY: u64 = 0x100;
    const UNTIL_EXEC: u64 = 0x4000;
    let refuse = StepFailure::at(StartStep::Fork);
    let stack = calls::new_stack(STACK).map_err(&refuse)?;
    let flags = SHARE_MEMORY | UNTIL_EXEC | SIGCHLD.cast_unsigned() as u64;
    let argument = (&raw const *task).cast_mut().cast();
    #[expect(
        unsafe_code,
        reason = "the tool begins as a process that borrows this memory"
    )]
    // SAFETY: the stack is new; the argument is the task that `tool::run` takes, and lives on; this
    // process has one thread, which stands still until the tool has executed its program or ended.
    let tool = unsafe { raw::clone_running(flags, stack, tool::run, argument) }.map_err(&refuse)?;
    match task.failure.get() {
        None => Ok(tool),
        Some(refusal) => {
            let _ = calls::reap(tool);
            Err(refusal)
        }
    }
}

/// Maps the users of a new user namespace, or waits until that was done from outside.
fn map_users(order: &OrderBlock, line: i32) -> Result<(), RawErrno> {
    if order.has(order::MAPPED_FROM_OUTSIDE) {
        if calls::receive_byte(line) != Some(record::GO) {
            // The host is gone, or has given up.
            calls::exit(0);
        }
        return Ok(());
    }
    // Of a process that nobody may inspect, the files in /proc belong to root. The host may be such.
    calls::set_inspectable(true)?;
    let write = |path, text| calls::write_file(WORKING_DIRECTORY, path, text);
    write(c"/proc/self/uid_map", order.bytes(order.header.uid_map)?)?;
    // Unprivileged users must give up `setgroups` first.
    write(c"/proc/self/setgroups", b"deny")?;
    write(c"/proc/self/gid_map", order.bytes(order.header.gid_map)?)
}

fn conceal(order: &OrderBlock) -> Result<(), RawErrno> {
    calls::set_inspectable(false)?;
    let [start, end] = order.header.traces;
    if start != 0 {
        #[expect(unsafe_code, reason = "overwrites memory by address")]
        // SAFETY: the kernel named this range as the arguments and the environment, which lie on the
        // first stack of the process. In this copy nothing reads them: the tool gets its own.
        unsafe {
            calls::overwrite(start as usize, end as usize, NAME.to_bytes());
        }
    }
    calls::set_name(NAME);
    Ok(())
}

/// The tool inherits it. A keeper without capabilities has nothing to close: what it starts cannot gain
/// privileges, because of `no_new_privs`.
fn close_ways_to_privileges() -> Result<(), RawErrno> {
    const SETPCAP: u64 = 1 << 8;
    let [effective, permitted, _] = calls::capabilities()?;
    if effective & SETPCAP == 0 && permitted == 0 {
        return Ok(());
    }
    calls::close_ways_to_privileges()
}

/// Limits the processes and threads of this process namespace to the numbers below `highest_id`. Says whether the
/// kernel did, and whether the tool can have no more of them than the limit says.
///
/// The first [`RESERVED_IDS`] numbers are given out only once, and are more than the limit: so they are passed over.
/// `early` of them belong to the tool already.
fn limit_tasks(proc: i32, highest_id: u64, early: u64) -> (bool, bool) {
    if highest_id == 0 {
        return (false, false);
    }
    let write = |path, number| {
        let mut text = [0; 20];
        calls::write_file(proc, path, decimal(number, &mut text)).is_ok()
    };
    let skips = write(c"sys/kernel/ns_last_pid", RESERVED_IDS);
    let exact = highest_id - early.min(highest_id);
    if skips && write(c"sys/kernel/pid_max", exact) {
        return (true, true);
    }
    (write(c"sys/kernel/pid_max", highest_id), false)
}

fn decimal(mut number: u64, text: &mut [u8; 20]) -> &[u8] {
    let mut at = text.len();
    while at > 0 && (number > 0 || at == text.len()) {
        at -= 1;
        text[at] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    &text[at..]
}

/// A keeper whose tool runs.
struct Keeper {
    tool: i32,
    line: i32,
    host: i32,
    signals: i32,
    /// Whether this is the first process of a process namespace.
    is_first: bool,
    /// Whether the host was told how the tool ended.
    said: bool,
    /// Without namespaces, the processes that were still there when the tool had ended.
    left: ProcessNames,
    watch: LimitWatch,
    supervisor: Option<SupervisorThread>,
}

impl Keeper {
    /// Closes all descriptors but its own.
    fn close_others(&self) {
        let mut own = [-1; 5 + MOST_PRIVATE];
        let (proc, directory) = (self.watch.proc, self.watch.directory);
        let all = [self.line, self.host, self.signals, proc, directory];
        for (slot, fd) in own
            .iter_mut()
            .zip(all.into_iter().chain(self.watch.private))
        {
            *slot = fd;
        }
        own.sort_unstable();
        let _ = close_all_but_these(&own);
    }

    /// Until the tool has ended, the host has, the host wants the end, or the tree must end.
    fn watch(&mut self) {
        self.watch.begin();
        loop {
            let fds = [self.signals, self.line, self.host];
            let [ended, line, host] = calls::wait_readable(fds, self.watch.pause());
            // The tool's own end comes first, so that a kill at the same moment does not hide it.
            if ended && self.tool_has_ended() || host {
                return;
            }
            if line {
                match calls::receive_byte(self.line) {
                    None | Some(record::KILL) => return,
                    Some(signal) => {
                        self.signal_tree(signal.into());
                        // One that is stopped would not notice.
                        self.signal_tree(SIGCONT);
                    }
                }
            }
            // Whatever else happened: a tree that keeps its keeper busy is looked at all the same.
            if self.watch.look_if_due() {
                return;
            }
        }
    }

    /// Reaps orphans, and looks whether the tool is among the dead. It is not reaped here: its number,
    /// which is also that of its process group, must not become another's yet.
    fn tool_has_ended(&self) -> bool {
        calls::drain(self.signals);
        while let Ok(Some(pid)) = calls::ended_child() {
            if pid == self.tool {
                return true;
            }
            let _ = calls::reap(pid);
        }
        false
    }

    /// Ends what is left, and tells the host how the tool ended.
    fn finish(&mut self) {
        if self.is_first {
            // The exit of this process ends the rest, and is complete only when all are gone.
            if self.tool_has_ended() {
                self.reap(self.tool);
            } else if self.watch.reached & record::REACHED_END != 0 {
                calls::signal(-1, SIGKILL);
                self.reap(self.tool);
            }
            return;
        }
        if self.tool_has_ended() {
            self.left = tree_limits::names_of_children(self.tool);
        }
        calls::signal(-self.tool, SIGKILL);
        for _ in 0..PASSES {
            self.signal_children(SIGKILL);
            loop {
                match calls::ended_child() {
                    Ok(Some(pid)) => self.reap(pid),
                    Ok(None) => break,
                    // No child is left.
                    Err(_) => return,
                }
            }
            // The children of those that ended became children of this process: another pass.
            calls::wait_readable([self.signals], PASS);
            calls::drain(self.signals);
        }
    }

    fn reap(&mut self, pid: i32) {
        if let Ok(status) = calls::reap(pid)
            && pid == self.tool
            && !self.said
        {
            self.said = true;
            let mut reached = self.watch.reached;
            if status & 0x7f == calls::SIGXFSZ {
                reached |= record::REACHED_FILE_SIZE;
            }
            let is_empty = self.is_first && calls::ended_child().is_err();
            let left = match self.is_first && !is_empty {
                true => tree_limits::names(self.watch.proc),
                false => self.left,
            };
            let end = ProgramEndRecord {
                status,
                reached,
                is_empty,
                left,
            };
            say(self.line, KeeperMessage::Ended(end));
        }
    }

    /// Sends a signal to all processes of the tree, to each once.
    fn signal_tree(&self, signal: i32) {
        if self.is_first {
            // "All" ends at the process namespace.
            calls::signal(-1, signal);
        } else {
            calls::signal(-self.tool, signal);
            self.signal_children(signal);
        }
    }

    /// Sends a signal to all children outside of the tool's group: the tool, and orphans. Those are not
    /// reaped but here, so that their numbers are theirs.
    fn signal_children(&self, signal: i32) {
        let mut list = [0; 4096];
        let path = c"/proc/thread-self/children";
        let Ok(length) = calls::read_file(WORKING_DIRECTORY, path, &mut list) else {
            return;
        };
        // What was cut off is for the next pass.
        for pid in tree_limits::whole_numbers(&list[..length.min(list.len())]) {
            if pid > 1 && calls::group_of(pid) != Ok(self.tool) {
                calls::signal(pid, signal);
            }
        }
    }
}

/// Closes all descriptors but those of a span of numbers in rising order.
pub(crate) fn close_all_but(order: &OrderBlock, kept: OrderSpan) -> Result<(), RawErrno> {
    let mut first = 0;
    for number in 0..kept.count {
        first = close_up_to(first, order.item(kept, number)?)?;
    }
    calls::close_range(first, u32::MAX)
}

/// As [`close_all_but`], of a list in which negative numbers stand for nothing.
pub(crate) fn close_all_but_these(kept: &[i32]) -> Result<(), RawErrno> {
    let mut first = 0;
    for fd in kept.iter().filter(|fd| **fd >= 0) {
        first = close_up_to(first, *fd)?;
    }
    calls::close_range(first, u32::MAX)
}

/// Closes the descriptors from `first` up to the one before `fd`; the one after it.
fn close_up_to(first: u32, fd: i32) -> Result<u32, RawErrno> {
    // Descriptors are not negative.
    let fd = fd.cast_unsigned();
    if fd > first {
        calls::close_range(first, fd - 1)?;
    }
    Ok(fd + 1)
}

/// If nobody listens any more, nobody needs to know.
fn say(line: i32, record: KeeperMessage) {
    let _ = calls::send(line, &record.encode(), &[]);
}

/// Once numbers begin anew, the kernel leaves out those below this one.
pub(crate) const RESERVED_IDS: u64 = 300;

/// What `ps` shows.
pub(crate) const NAME: &CStr = c"jig-keeper";

/// The stack of the tool: a few frames of calls with small locals, also without optimisation.
const STACK: usize = 64 << 10;

/// Without namespaces, how often to look for what is left, and how long to wait in between, in
/// milliseconds. A process that cannot be killed, such as one of another user, must not hold the keeper.
const PASSES: usize = 200;
const PASS: i64 = 10;
