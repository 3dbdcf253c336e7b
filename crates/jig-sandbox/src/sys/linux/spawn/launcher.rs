//! The keeper as a small program of its own, executed from memory.
//!
//! The process that becomes it borrows the host's memory until it has executed the program, on a stack of
//! its own, so that nothing of the host is copied. What it does before is freestanding, as all of
//! [`crate::sys::linux::stage`] is: other threads of the host run on meanwhile, with their locks.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::ptr;

use rustix::fs::MemfdFlags;

use super::direct;
use super::failure;
use super::packed_order::{self, KeeperDescriptors};
use super::plan::SpawnPlan;
use super::process::KeeperHandle;
use crate::process::{SpawnError, SpawnRequest};
use crate::sys::linux::stage::order;
use crate::sys::linux::stage::raw::{self, RawErrno};
use crate::sys::linux::stage::record::{StartStep, StepFailure};
use crate::sys::linux::stage::{calls, keeper};
use crate::sys::linux::uapi::{self, BlockedSignals};

/// Starts a launcher that keeps the tool.
pub(super) fn start(
    request: &SpawnRequest,
    plan: &SpawnPlan,
    program: BorrowedFd<'_>,
) -> Result<Result<KeeperHandle, StepFailure>, SpawnError> {
    let (ours, theirs) = super::new_line()
        .map_err(|errno| failure::step(request, "making a line to its keeper", errno))?;
    let host = super::own_descriptor()
        .map_err(|errno| failure::step(request, "opening a process descriptor", errno))?;
    let seat = KeeperDescriptors {
        line: theirs.as_raw_fd(),
        host: host.as_raw_fd(),
        traces: None,
    };
    let packed = packed_order::whole(plan, &seat);
    let file = in_memory(packed.as_bytes())
        .map_err(|errno| failure::step(request, "writing the order for its keeper", errno))?;
    let mut kept: Vec<RawFd> = packed_order::sources(plan).collect();
    kept.extend([seat.line, seat.host, file.as_raw_fd()]);
    let capabilities = match packed.header {
        header if !header.has(order::NAMESPACES) => 0,
        header if header.has(order::CONFINED) => NEEDED,
        // A program that gains capabilities by being executed is closed to its own children.
        _ => ALL_BUT_PTRACE,
    };
    let job = LauncherJob::new(program, keeper::NAME, file.as_raw_fd(), &kept, capabilities);
    let pid = match job.run(packed.header.namespaces()) {
        Ok(pid) => pid,
        Err(refusal) => return Ok(Err(refusal)),
    };
    drop(theirs);
    let keeper = KeeperHandle::new(pid, ours)
        .map_err(|error| failure::step(request, "opening a process descriptor", error))?;
    Ok(direct::map(plan, keeper))
}

/// An order in a file that exists in memory only.
pub(super) fn in_memory(order: &[u8]) -> rustix::io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create(c"jig-order", MemfdFlags::CLOEXEC)?;
    write_all(&file, order)?;
    Ok(file)
}

fn write_all(file: &OwnedFd, mut rest: &[u8]) -> rustix::io::Result<()> {
    while !rest.is_empty() {
        match rustix::io::write(file, rest) {
            Ok(count) => rest = &rest[count..],
            Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// The launcher, as a file in memory that nobody can change; the reason if there is none.
pub(super) fn program() -> io::Result<BorrowedFd<'static>> {
    #[cfg(jig_launcher)]
    {
        use std::os::fd::AsFd;
        use std::sync::OnceLock;
        static PROGRAM: OnceLock<OwnedFd> = OnceLock::new();
        if let Some(program) = PROGRAM.get() {
            return Ok(program.as_fd());
        }
        let program = sealed(LAUNCHER)?;
        // Of two threads that come here at once, one keeps its copy.
        Ok(PROGRAM.get_or_init(|| program).as_fd())
    }
    #[cfg(not(jig_launcher))]
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "this build of jig carries no launcher, because it could not be linked",
    ))
}

/// The launcher's bytes; `None` if there is none. Under another name it is a shim.
pub(crate) fn shim() -> Option<&'static [u8]> {
    #[cfg(jig_launcher)]
    return Some(LAUNCHER);
    #[cfg(not(jig_launcher))]
    None
}

#[cfg(jig_launcher)]
static LAUNCHER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/launcher"));

#[cfg(jig_launcher)]
fn sealed(bytes: &[u8]) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::SealFlags;
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 know no such flag, and allow execution without it.
    let file = rustix::fs::memfd_create(c"jig-launcher", flags | MemfdFlags::EXEC)
        .or_else(|_| rustix::fs::memfd_create(c"jig-launcher", flags))?;
    write_all(&file, bytes)?;
    rustix::fs::fcntl_add_seals(
        &file,
        SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL,
    )?;
    Ok(file)
}

/// What a process does until it has executed the launcher.
pub(super) struct LauncherJob<'a> {
    program: RawFd,
    /// Its name and the number of a descriptor.
    arguments: [CString; 2],
    /// The descriptors that stay open.
    kept: &'a [RawFd],
    /// The capabilities that it keeps of those that a new user namespace gives.
    capabilities: u64,
    /// Why it failed. Written in memory that is shared.
    failure: Cell<Option<RawErrno>>,
}

impl<'a> LauncherJob<'a> {
    pub(super) fn new(
        program: BorrowedFd<'_>,
        name: &CStr,
        descriptor: RawFd,
        kept: &'a [RawFd],
        capabilities: u64,
    ) -> Self {
        Self {
            program: program.as_raw_fd(),
            arguments: [
                name.to_owned(),
                CString::new(descriptor.to_string()).unwrap_or_default(),
            ],
            kept,
            capabilities,
            failure: Cell::new(None),
        }
    }

    /// Starts the launcher, in new namespaces of these kinds; its process id.
    pub(super) fn run(&self, namespaces: u64) -> Result<i32, StepFailure> {
        let mut stack: Box<[MaybeUninit<u128>]> = Box::new_uninit_slice(STACK / size_of::<u128>());
        let pointers = [
            self.arguments[0].as_ptr(),
            self.arguments[1].as_ptr(),
            ptr::null(),
        ];
        let start = LauncherStart {
            job: self,
            arguments: pointers.as_ptr(),
        };
        let signals = BlockedSignals::all();
        let flags = namespaces | (libc::CLONE_VM | libc::CLONE_VFORK) as u64;
        #[expect(unsafe_code, reason = "begins a process that borrows this memory")]
        // SAFETY: the stack is new, aligned to 16 and large enough for a few small frames; the argument is
        // what `begin` takes, and this thread stands still, so that it lives on.
        let started = unsafe {
            let top = stack.as_mut_ptr_range().end.cast::<u8>();
            raw::clone_running(flags, top, begin, (&raw const start).cast_mut().cast())
        };
        drop(signals);
        let pid = started.map_err(StepFailure::at(StartStep::Fork))?;
        match self.failure.get() {
            None => Ok(pid),
            Some(errno) => {
                let _ = uapi::wait(pid, true);
                Err(StepFailure::at(StartStep::Launch)(errno))
            }
        }
    }
}

struct LauncherStart<'a> {
    job: &'a LauncherJob<'a>,
    arguments: *const *const c_char,
}

/// The new process, up to the launcher. `argument` is a [`LauncherStart`].
extern "C" fn begin(argument: *mut u8) -> ! {
    #[expect(
        unsafe_code,
        reason = "the job comes through a system call as an address"
    )]
    // SAFETY: the caller of the system call passes it, and stands still.
    let start = unsafe { &*argument.cast::<LauncherStart<'_>>() };
    let job = start.job;
    let prepared = keep_what_is_needed(job);
    let environment = [ptr::null::<c_char>()];
    let errno = match prepared {
        Err(errno) => errno,
        #[expect(unsafe_code, reason = "execveat takes arrays of pointers")]
        // SAFETY: both arrays end in a null pointer, and their strings live on.
        Ok(()) => unsafe {
            calls::execute_file(job.program, start.arguments, environment.as_ptr())
        },
    };
    job.failure.set(Some(errno));
    calls::exit(0)
}

fn keep_what_is_needed(job: &LauncherJob<'_>) -> Result<(), RawErrno> {
    for fd in job.kept {
        calls::keep_open(*fd)?;
    }
    if job.capabilities != 0 {
        // Executing a program takes the capabilities of a new user namespace from everybody but its
        // user 0, who is not mapped yet.
        let [effective, permitted, _] = calls::capabilities()?;
        let kept = job.capabilities & permitted;
        calls::set_capabilities([effective, permitted, kept])?;
        for capability in (0..64).filter(|one| kept & 1 << one != 0) {
            calls::raise_ambient(capability)?;
        }
    }
    Ok(())
}

/// What a keeper needs: to find sources and programs whatever their modes (where it is root), to end
/// processes of other users, to close the ways to privileges, to listen on any port, to switch the loopback on,
/// and to mount.
const NEEDED: u64 = 1 << 1 // CAP_DAC_OVERRIDE
    | 1 << 2 // CAP_DAC_READ_SEARCH
    | 1 << 5 // CAP_KILL
    | 1 << 8 // CAP_SETPCAP
    | 1 << 10 // CAP_NET_BIND_SERVICE
    | 1 << 12 // CAP_NET_ADMIN
    | 1 << 19 // CAP_SYS_PTRACE, for supervisors
    | 1 << 21; // CAP_SYS_ADMIN

/// The launcher keeps `CAP_SYS_PTRACE` from all tools.
const ALL_BUT_PTRACE: u64 = !(1 << 19);

/// A few frames of calls with small locals, also without optimisation.
const STACK: usize = 32 << 10;
