//! [`NetworkNamespace`]: a network namespace, made by a helper while the keeper does other things.
//!
//! Making one takes the kernel longer than all other namespaces together, and needs nothing of what the
//! keeper prepares meanwhile.

use core::sync::atomic::{AtomicI32, Ordering};

use super::calls::{self, KeeperExitOnDrop};
use super::namespaces;
use super::raw::{self, RawErrno};

/// A network namespace that is being made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NetworkNamespace {
    helper: i32,
    results: &'static NetworkResults,
}

/// What the helper leaves, in memory that it shares with the keeper.
#[derive(Debug)]
struct NetworkResults {
    /// A descriptor of the namespace, or an error as a negative number.
    namespace: AtomicI32,
    /// Why its loopback is not up, or 0.
    loopback: AtomicI32,
}

impl NetworkNamespace {
    /// Begins to make one. The process has one thread, and the right to make namespaces.
    pub(crate) fn begin() -> Result<Self, RawErrno> {
        const SHARE_MEMORY_AND_DESCRIPTORS: u64 = 0x100 | 0x400;
        let start = calls::map(STACK, -1)?;
        let results = start.cast::<NetworkResults>();
        #[expect(unsafe_code, reason = "the helper runs in memory of its own")]
        // SAFETY: the block is new, large enough and never given back. The results lie at its start, the
        // stack of the helper grows down from its end and does not reach them. The helper touches
        // nothing else of the memory that it shares, and all that it writes is atomic.
        unsafe {
            results.write(NetworkResults {
                namespace: AtomicI32::new(0),
                loopback: AtomicI32::new(0),
            });
            let end = start.add(STACK);
            let helper =
                raw::clone_running(SHARE_MEMORY_AND_DESCRIPTORS, end, help, results.cast())?;
            Ok(Self {
                helper,
                results: &*results,
            })
        }
    }

    /// Waits until it is made, and enters it. With it, whether its loopback is up.
    pub(crate) fn enter(self) -> Result<Result<(), RawErrno>, RawErrno> {
        calls::reap(self.helper)?;
        let namespace = self.results.namespace.load(Ordering::Acquire);
        if namespace <= 0 {
            return Err(RawErrno(-namespace));
        }
        let entered = namespaces::enter_network(namespace);
        calls::close(namespace);
        entered?;
        Ok(match self.results.loopback.load(Ordering::Acquire) {
            0 => Ok(()),
            errno => Err(RawErrno(errno)),
        })
    }
}

/// The helper. `argument` is [`NetworkResults`].
extern "C" fn help(argument: *mut u8) -> ! {
    let _no_unwinding = KeeperExitOnDrop;
    #[expect(
        unsafe_code,
        reason = "results come through a system call as an address"
    )]
    // SAFETY: the keeper passes results that are never given back.
    let results = unsafe { &*argument.cast::<NetworkResults>() };
    let namespace = namespaces::new_network().unwrap_or_else(|errno| -errno.0);
    if namespace > 0
        && let Err(errno) = namespaces::raise_loopback()
    {
        results.loopback.store(errno.0, Ordering::Release);
    }
    results.namespace.store(namespace, Ordering::Release);
    calls::exit(0)
}

/// A few frames of calls with small locals.
const STACK: usize = 32 << 10;
