//! [`Watcher`]: sees which files and addresses a tree asks the kernel for.
//!
//! The tool has a second filter, by [`filter()`], under which some calls wait until the kernel was told to go
//! on with them. A thread of the host reads what such a call is about, says "go on", and notes it. It never
//! says anything else, and never acts for the tool.
//!
//! All that it reads is the tool's, and can change or be wrong. So it is bounded, only looked at, and good for
//! hints. Its end is that of the tree: were it to end earlier, the calls would fail.

mod call_targets;
mod calls;
mod sightings;
mod table;
mod view;

use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use self::call_targets::{CallAccess, ObservedCall};
use self::calls::SeccompNotif;
use self::sightings::ObservationLedger;
use self::table::{CallShape, PathEffect};
pub(in crate::sys::linux) use self::table::{filter, filter_with_creation};
use self::view::{ProcThread, ProcessView};
use super::creation;
use super::uapi::BlockedSignals;
use crate::process::{Observation, ObservedTarget};
use crate::profile::Rights;

/// Watches a tree.
#[derive(Debug)]
pub(crate) struct Watcher(SharedObservations);

/// What is noted; `None` once nobody wants to know any more.
type SharedObservations = Arc<Mutex<Option<ObservationLedger>>>;

impl Watcher {
    /// Begins to answer at a listener. `programs` are the files of which the first that works is executed.
    ///
    /// Calls that make names are passed on to whoever is at the other end of `supervisor`.
    pub(super) fn start(
        listener: OwnedFd,
        programs: Vec<CString>,
        supervisor: Option<OwnedFd>,
    ) -> io::Result<Self> {
        let book = SharedObservations::new(Mutex::new(Some(ObservationLedger::default())));
        let copy = book.clone();
        // The thread inherits that: handlers of the host run on its own threads.
        let _signals = BlockedSignals::all();
        std::thread::Builder::new()
            .name(NAME.to_owned())
            .stack_size(STACK)
            .spawn(move || ObserverThread::new(listener, copy, programs, supervisor).serve())?;
        Ok(Self(book))
    }

    /// What was seen since this was last asked.
    pub(crate) fn take(&self) -> Observation {
        let ledger = lock(&self.0).as_mut().map(std::mem::take);
        ledger.unwrap_or_default().close()
    }

    /// What was seen. The tree is answered to its end all the same.
    pub(crate) fn finish(self) -> Observation {
        lock(&self.0).take().unwrap_or_default().close()
    }
}

/// Why nothing can be watched on a processor without a table of calls.
pub(super) fn no_table() -> String {
    "the numbers of system calls are not known for this processor".to_owned()
}

/// Why the kernel refused to have a tool watched, in words.
pub(super) fn why_not(errno: crate::machine::Errno) -> String {
    let reason = match errno.0 {
        libc::EBUSY => {
            "something around jig watches its system calls already, such as a container or another jig, \
             and the kernel allows only one to do so"
        }
        libc::EINVAL | libc::ENOSYS => "this kernel cannot have system calls watched",
        _ => "the kernel refuses to have its system calls watched",
    };
    format!("{reason} ({errno})")
}

/// Whoever drops it does not want to know.
impl Drop for Watcher {
    fn drop(&mut self) {
        lock(&self.0).take();
    }
}

fn lock(book: &SharedObservations) -> MutexGuard<'_, Option<ObservationLedger>> {
    book.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread that answers.
struct ObserverThread {
    listener: OwnedFd,
    book: SharedObservations,
    /// Noted with the first call, when there is a view.
    programs: Vec<CString>,
    /// Whoever called, since a program was last executed.
    callers: HashMap<u32, ObservedThread>,
    /// The view of the last caller that was new.
    view: Option<Rc<ProcessView>>,
    /// Whether processes of this tree change their root.
    roots_change: bool,
    /// The line to whoever performs calls that make names.
    supervisor: Option<OwnedFd>,
    /// The numbers of threads in their own process namespace.
    inner: HashMap<u32, (ProcThread, u32)>,
}

/// A thread of the tree.
#[derive(Clone)]
struct ObservedThread {
    thread: Rc<ProcThread>,
    /// The name of its program.
    program: Arc<str>,
    view: Rc<ProcessView>,
}

impl ObserverThread {
    fn new(
        listener: OwnedFd,
        book: SharedObservations,
        programs: Vec<CString>,
        supervisor: Option<OwnedFd>,
    ) -> Self {
        Self {
            listener,
            book,
            programs,
            callers: HashMap::new(),
            view: None,
            roots_change: false,
            supervisor,
            inner: HashMap::new(),
        }
    }

    fn serve(mut self) {
        calls::wake_synchronously(&self.listener);
        while let Some(notice) = self.next() {
            let is_wanted = lock(&self.book).is_some();
            let read = is_wanted.then(|| self.read(&notice));
            // What ends because of the answer finds its last call noted: whoever asks must wait for the lock.
            let shared = self.book.clone();
            let mut book = lock(&shared);
            // A call that was given up may have been another's by the time it was read.
            let is_valid = self.answer(&notice);
            if let (true, Some(read), Some(ledger)) = (is_valid, read, &mut *book) {
                match read {
                    Ok((program, wants)) => {
                        for (target, rights) in wants {
                            ledger.note(target, rights, &program);
                        }
                    }
                    Err(_) => ledger.note_unread(),
                }
            }
        }
    }

    /// Answers a call, or has it answered. Whether it still waited.
    fn answer(&mut self, notice: &SeccompNotif) -> bool {
        let is_held = creation::is_held(notice.number.cast_unsigned(), &notice.arguments);
        if self.supervisor.is_none() || !is_held {
            return calls::let_go(&self.listener, notice.id).is_ok();
        }
        let inner = self.inner_number(notice.thread);
        // The number was still its own after it was looked at.
        let is_valid = calls::is_valid(&self.listener, notice.id);
        let passed_on = match (inner, &self.supervisor) {
            (Some(inner), Some(line)) => creation::pass_on(line, &notice.of_thread(inner)).is_ok(),
            _ => false,
        };
        if !passed_on {
            // It is never told to go on: nobody would judge it.
            let _ = calls::refuse(&self.listener, notice.id);
        }
        is_valid
    }

    /// The number of a thread in the innermost of its process namespaces.
    fn inner_number(&mut self, number: u32) -> Option<u32> {
        // Once the thread has ended, its directory leads nowhere.
        if let Some((thread, inner)) = self.inner.get(&number)
            && thread.link("cwd").is_ok()
        {
            return Some(*inner);
        }
        let thread = ProcThread::of(number).ok()?;
        let inner = thread.inner_number()?;
        if self.inner.len() >= MOST_CALLERS {
            self.inner.clear();
        }
        self.inner.insert(number, (thread, inner));
        Some(inner)
    }

    /// The next call; `None` when nobody is left who could make one.
    fn next(&self) -> Option<SeccompNotif> {
        loop {
            // Receiving alone would, on older kernels, wait on when all have ended.
            let mut fds = [PollFd::new(&self.listener, PollFlags::IN)];
            match rustix::event::poll(&mut fds, None) {
                Ok(_) if fds[0].revents().contains(PollFlags::IN) => {}
                Err(Errno::INTR) => continue,
                _ => return None,
            }
            match calls::receive(&self.listener) {
                Ok(notice) => return Some(notice),
                // The caller was killed, or a signal took it away from the call.
                Err(Errno::NOENT | Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }

    /// Who makes a call, and what it wants.
    fn read(&mut self, notice: &SeccompNotif) -> Result<(Arc<str>, Vec<CallAccess>), Errno> {
        let caller = self.caller(notice.thread)?;
        let shape = table::shape(notice.number.cast_unsigned());
        let reader = ObservedCall {
            notice,
            thread: &caller.thread,
            view: &caller.view,
        };
        let wants = match shape {
            Some(shape) => reader.wants(shape),
            None => Ok(Vec::new()),
        };
        match shape {
            // Another program is another name.
            Some(CallShape::One(_, PathEffect::Execute)) => self.callers.clear(),
            Some(CallShape::One(_, PathEffect::Enter)) => self.roots_change = true,
            _ => {}
        }
        let mut all = Vec::new();
        if !self.programs.is_empty() {
            all.extend(executed(&std::mem::take(&mut self.programs), &caller.view));
        }
        let changes = Rights::CREATE.with(Rights::DELETE);
        for want in wants? {
            if want.1.has_any(changes) {
                caller.view.forget();
            }
            all.push(want);
        }
        Ok((caller.program, all))
    }

    fn caller(&mut self, number: u32) -> Result<ObservedThread, Errno> {
        if let Some(known) = self.callers.get(&number)
            && !self.roots_change
        {
            return Ok(known.clone());
        }
        let thread = ProcThread::of(number)?;
        let view = match self.view.take() {
            Some(view) if view.is_of(&thread) => view,
            _ => Rc::new(ProcessView::of(&thread)?),
        };
        self.view = Some(view.clone());
        let caller = ObservedThread {
            program: program(&thread),
            thread: Rc::new(thread),
            view,
        };
        if self.callers.len() >= MOST_CALLERS {
            self.callers.clear();
        }
        self.callers.insert(number, caller.clone());
        Ok(caller)
    }
}

/// The program that a tree began with: the first of these that there is.
fn executed(programs: &[CString], view: &ProcessView) -> Option<CallAccess> {
    let mut found = programs
        .iter()
        .map(|program| view.find(program.to_bytes(), true));
    let found = found.find(|found| found.exists)?;
    let path = PathBuf::from(OsStr::from_bytes(&found.path));
    Some((
        ObservedTarget::Path(path),
        Rights::READ.with(Rights::EXECUTE),
    ))
}

/// The name of the program that a thread runs, fit to be shown.
fn program(thread: &ProcThread) -> Arc<str> {
    let path = thread.link("exe").unwrap_or_default();
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = name.strip_suffix(b" (deleted)").unwrap_or(name);
    let shown: String = String::from_utf8_lossy(name)
        .chars()
        .map(|one| if one.is_control() { '?' } else { one })
        .take(LONGEST_NAME)
        .collect();
    shown.into()
}

/// What `ps` shows for the thread.
const NAME: &str = "jig-observer";

/// A few frames of calls, and nothing that recurses.
const STACK: usize = 256 << 10;

/// A tree can begin a new thread for every call, and each that is known takes a descriptor of the host.
const MOST_CALLERS: usize = 64;

/// Names of programs are the tree's to choose.
const LONGEST_NAME: usize = 64;
