//! [`Components`]: every component that was asked for, compiled and linked once.
//!
//! A component is known by the hash of its bytes. Which bytes a file has is remembered by its stamp, so that
//! one that was replaced or changed is noticed. A component is loaded by a thread of its own while all
//! calls of it wait, each until it is given up; other components are not held up by that.

mod bytes;
mod memo;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use ::bytes::Bytes;
use jig_proto::hint;
use jig_runtime::Component;
use wasmtime::component;

use crate::ComponentError;
use crate::bindings::GuestPre;
use crate::cache::{CacheEntryId, ComponentCache, SealedBytes};
use crate::describe::{ComponentTool, DescribeIndex};
use crate::engine::WasmMachine;
use crate::guest::Guest;
use memo::{ComponentMemo, MemoEntry};

#[cfg(test)]
mod tests;

/// A component that is compiled.
pub(crate) struct CompiledComponent {
    pub(crate) hash: blake3::Hash,
    /// The size of its binary.
    pub(crate) size: u64,
    pub(crate) component: component::Component,
    /// The component with everything that it imports, if it is a tool that can run.
    pub(crate) pre: Result<GuestPre<Guest>, ComponentError>,
    /// Where it describes itself, if it does.
    pub(crate) describe: Option<DescribeIndex>,
    /// Where the code came from, and how long that took.
    pub(crate) loaded: (CodeSource, Duration),
    /// Why the code could not be kept for other processes.
    pub(crate) not_kept: Option<String>,
}

/// Where the code of a component comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CodeSource {
    /// It was there already.
    Memory,
    /// From the disk, where a process had left it.
    Disk,
    /// It was compiled.
    Compiled,
}

/// A component that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadingComponent {
    /// The component as messages name it.
    pub shown: String,
    /// Since when.
    pub since: Instant,
    /// The size of its binary.
    pub size: u64,
}

/// The components of one runtime.
pub(crate) struct Components {
    machine: Arc<WasmMachine>,
    cache: Option<ComponentCache>,
    memo: Mutex<ComponentMemo>,
    /// A component is ready, or never will be.
    changed: Condvar,
    /// How long anybody waits for a component.
    longest: Duration,
}

impl Components {
    pub(crate) fn new(machine: Arc<WasmMachine>, cache: Option<ComponentCache>) -> Self {
        Self {
            machine,
            cache,
            memo: Mutex::default(),
            changed: Condvar::new(),
            longest: LONGEST,
        }
    }

    pub(crate) fn machine(&self) -> &Arc<WasmMachine> {
        &self.machine
    }

    /// The component, ready; says also where it comes from. `give_up` is asked now and then while it waits.
    ///
    /// # Errors
    ///
    /// If it cannot be compiled, or was given up.
    pub(crate) fn get(
        self: &Arc<Self>,
        component: &Component,
        mut give_up: impl FnMut() -> bool,
    ) -> Result<(Arc<CompiledComponent>, CodeSource), ComponentError> {
        let (mut hash, mut bytes) = self.identify(component)?;
        let began = Instant::now();
        let mut memo = self.lock();
        let mut was_there = true;
        loop {
            match memo.entry(&hash) {
                Some(MemoEntry::Ready(ready)) => {
                    let from = match was_there {
                        true => CodeSource::Memory,
                        false => ready.loaded.0,
                    };
                    return Ok((Arc::clone(ready), from));
                }
                Some(MemoEntry::Failed(error)) => return Err(error.clone()),
                Some(MemoEntry::Loading(_)) => {
                    was_there = false;
                    let waited = self.changed.wait_timeout(memo, PATIENCE);
                    memo = waited.unwrap_or_else(PoisonError::into_inner).0;
                    if give_up() {
                        return Err(ComponentError::Cancelled);
                    }
                    if began.elapsed() > self.longest {
                        return Err(self.too_slow());
                    }
                }
                None => match &bytes {
                    Some(bytes) => {
                        was_there = false;
                        memo.begin(hash, &component.shown, bytes.len() as u64);
                        drop(memo);
                        self.load(hash, bytes.clone());
                        memo = self.lock();
                    }
                    // Its hash was known, but it was forgotten meanwhile. It may also have been replaced: what
                    // is read now has a hash of its own, or it would be kept under the name of another.
                    None => {
                        drop(memo);
                        let read = bytes::read(component)?.0;
                        hash = blake3::hash(&read);
                        bytes = Some(read);
                        memo = self.lock();
                    }
                },
            }
        }
    }

    fn too_slow(&self) -> ComponentError {
        let seconds = self.longest.as_secs();
        ComponentError::Compile(format!(
            "it has not been compiled in {seconds} s\n{}",
            hint!("it goes on as long as this process does; a later call may find it ready")
        ))
    }

    /// Whether a call would start without compiling.
    pub(crate) fn is_ready(&self, component: &Component) -> bool {
        let Ok((hash, _)) = self.identify(component) else {
            return false;
        };
        match self.lock().entry(&hash) {
            Some(MemoEntry::Ready(_)) => return true,
            Some(MemoEntry::Failed(_) | MemoEntry::Loading(_)) => return false,
            None => {}
        }
        let identity = CacheEntryId::code(&hash, &self.machine.engine);
        self.cache
            .as_ref()
            .is_some_and(|cache| cache.has(&identity))
    }

    /// What is known of how a component describes itself: here, or on disk.
    pub(crate) fn description(&self, hash: &blake3::Hash) -> Option<Option<Vec<ComponentTool>>> {
        if let Some(known) = self.lock().description(hash) {
            return Some(known);
        }
        let sealed = self
            .cache
            .as_ref()?
            .load(&CacheEntryId::description(hash))?;
        let known: Option<Vec<ComponentTool>> = serde_json::from_slice(&sealed).ok()?;
        self.lock().describe(*hash, known.clone());
        Some(known)
    }

    /// Keeps how a component describes itself.
    pub(crate) fn keep_description(
        &self,
        hash: blake3::Hash,
        described: &Option<Vec<ComponentTool>>,
    ) {
        self.lock().describe(hash, described.clone());
        if let Some(cache) = &self.cache
            && let Ok(written) = serde_json::to_vec(described)
        {
            // Without it, it is asked again.
            let _ = cache.store(&CacheEntryId::description(&hash), &written);
        }
    }

    /// What is being loaded now.
    pub(crate) fn compiling(&self) -> Vec<LoadingComponent> {
        self.lock().loading()
    }

    /// The hash of a component, and its bytes if they had to be read for that.
    pub(crate) fn identify(
        &self,
        component: &Component,
    ) -> Result<(blake3::Hash, Option<Bytes>), ComponentError> {
        let stamp = bytes::ComponentFileStamp::of(component)?;
        if let Some(hash) = stamp.as_ref().and_then(|stamp| self.lock().hash(stamp)) {
            return Ok((hash, None));
        }
        let (bytes, stamp) = bytes::read(component)?;
        let hash = blake3::hash(&bytes);
        if let Some(stamp) = stamp {
            self.lock().remember(stamp, hash);
        }
        Ok((hash, Some(bytes)))
    }

    /// Loads a component on a thread of its own, because a call that waits for it may be given up.
    fn load(self: &Arc<Self>, hash: blake3::Hash, bytes: Bytes) {
        let this = Arc::clone(self);
        let theirs = bytes.clone();
        let spawned = thread::Builder::new()
            .name("jig-wasm-load".to_owned())
            .stack_size(STACK)
            .spawn(move || this.load_here(hash, &theirs));
        if spawned.is_err() {
            self.load_here(hash, &bytes);
        }
    }

    fn load_here(&self, hash: blake3::Hash, bytes: &[u8]) {
        // Whatever happens, nobody may be left waiting.
        let made = catch_unwind(AssertUnwindSafe(|| self.make(hash, bytes)));
        let made = made.unwrap_or_else(|_| {
            let why = "the compiler failed by a bug".to_owned();
            Err(ComponentError::Compile(why))
        });
        self.lock().finish(hash, made.map(Arc::new));
        self.changed.notify_all();
    }

    fn make(&self, hash: blake3::Hash, bytes: &[u8]) -> Result<CompiledComponent, ComponentError> {
        let start = Instant::now();
        let engine = &self.machine.engine;
        let identity = CacheEntryId::code(&hash, engine);
        let kept = self.cache.as_ref().and_then(|cache| cache.load(&identity));
        let kept = kept.and_then(|sealed| self.trusted(&sealed).ok());
        let mut not_kept = None;
        let (component, from) = match kept {
            Some(component) => (component, CodeSource::Disk),
            None => {
                let component = crate::compile::compile(engine, bytes)?;
                if let Some(cache) = &self.cache {
                    let code = component.serialize().map_err(|error| error.to_string());
                    not_kept = code.and_then(|code| cache.store(&identity, &code)).err();
                }
                (component, CodeSource::Compiled)
            }
        };
        Ok(CompiledComponent {
            hash,
            size: bytes.len() as u64,
            pre: crate::link::prepare(&self.machine.linker, &component),
            describe: DescribeIndex::of(&component),
            component,
            loaded: (from, start.elapsed()),
            not_kept,
        })
    }

    /// Code that is known to be our own.
    #[expect(
        unsafe_code,
        reason = "loading compiled code runs what it is given: there is no safe way to do it"
    )]
    fn trusted(&self, sealed: &SealedBytes) -> wasmtime::Result<component::Component> {
        // SAFETY: the bytes must be what `Component::serialize` of this version of wasmtime has made, and
        // unchanged. A `Sealed` is made only by checking a keyed hash over the very bytes that are used here,
        // together with the identity of the entry, which covers the hash of the component, the version of
        // wasmtime and all settings of the engine. Nothing but `make` above seals code, and the key is
        // readable by the user alone. The bytes are in our memory: nobody changes them after the check.
        unsafe { component::Component::deserialize(&self.machine.engine, &**sealed) }
    }

    fn lock(&self) -> MutexGuard<'_, ComponentMemo> {
        self.memo.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The stack of the thread that compiles. The compiler calls itself for nested things, some of which it bounds.
const STACK: usize = 8 << 20;

/// How long anybody waits for a component, at most. The largest ones, on a small machine, take a minute; the
/// compiler cannot be interrupted, and who has it describe itself cannot give up.
const LONGEST: Duration = Duration::from_secs(300);

/// How long a call waits before it asks whether it was given up.
const PATIENCE: Duration = Duration::from_millis(20);
