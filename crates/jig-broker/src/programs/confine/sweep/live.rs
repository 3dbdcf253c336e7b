//! [`LiveSweep`]: the sweep of a program that runs.
//!
//! One thread serves all programs of this process. When a program has run for a moment, the thread has the kernel tell
//! it what comes into being in every directory in which the program can make something (inotify), and looks at each
//! such name at once. Where the kernel cannot watch that many directories, it looks at everything from time to time.

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
mod watched_directories;

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use jig_sandbox::{Interest, Waker, poll};

use super::SweptProgram;
use crate::programs::confine::walk::WalkScope;
#[cfg(not(target_os = "linux"))]
use unsupported::WatchedDirectories;
#[cfg(target_os = "linux")]
use watched_directories::WatchedDirectories;

#[cfg(target_os = "linux")]
#[cfg(test)]
mod tests;

/// A program that is looked after while it runs. Dropping this ends that, and waits for a look that is under way.
#[derive(Debug)]
pub(crate) struct LiveSweep {
    program: Arc<LiveProgram>,
    newcomers: Arc<Newcomers>,
}

/// A program that runs, for the thread.
#[derive(Debug)]
struct LiveProgram {
    swept: Weak<SweptProgram>,
    since: Instant,
    /// Held while the thread looks.
    looking: Mutex<()>,
    is_over: AtomicBool,
    is_watched: AtomicBool,
    /// Whether something can come into being without being seen at once.
    is_unwatched: AtomicBool,
}

/// What the thread and those who start programs share.
#[derive(Debug)]
struct Newcomers {
    waker: Waker,
    queue: Mutex<NewcomerQueue>,
}

#[derive(Debug, Default)]
struct NewcomerQueue {
    programs: Vec<Arc<LiveProgram>>,
    /// Whether the thread will look into the queue soon by itself.
    is_awake: bool,
}

impl LiveSweep {
    /// Looks after a program from now on.
    pub(super) fn begin(swept: &Arc<SweptProgram>) -> io::Result<Self> {
        let newcomers = newcomers()?;
        let program = Arc::new(LiveProgram {
            swept: Arc::downgrade(swept),
            since: Instant::now(),
            looking: Mutex::new(()),
            is_over: AtomicBool::new(false),
            is_watched: AtomicBool::new(false),
            is_unwatched: AtomicBool::new(false),
        });
        let mut queue = newcomers.queue();
        queue.programs.push(Arc::clone(&program));
        if !std::mem::replace(&mut queue.is_awake, true) {
            newcomers.waker.wake();
        }
        drop(queue);
        Ok(Self { program, newcomers })
    }

    /// Whether something may stay for longer than a moment until it is seen, because there are more directories than
    /// the kernel watches.
    pub(crate) fn is_unwatched(&self) -> bool {
        self.program.is_unwatched.load(Ordering::SeqCst)
    }
}

impl Drop for LiveSweep {
    fn drop(&mut self) {
        self.program.is_over.store(true, Ordering::SeqCst);
        drop(lock(&self.program.looking));
        // What is watched for nobody takes room in the kernel.
        if self.program.is_watched.load(Ordering::SeqCst) {
            self.newcomers.waker.wake();
        }
    }
}

impl Newcomers {
    fn queue(&self) -> MutexGuard<'_, NewcomerQueue> {
        lock(&self.queue)
    }
}

/// The queue of the thread, which is started for the first program.
fn newcomers() -> io::Result<Arc<Newcomers>> {
    static STARTED: OnceLock<Arc<Newcomers>> = OnceLock::new();
    static STARTING: Mutex<()> = Mutex::new(());
    if let Some(started) = STARTED.get() {
        return Ok(Arc::clone(started));
    }
    let _starting = lock(&STARTING);
    if let Some(started) = STARTED.get() {
        return Ok(Arc::clone(started));
    }
    let newcomers = Arc::new(Newcomers {
        waker: Waker::new()?,
        queue: Mutex::default(),
    });
    let sweeper = Sweeper {
        newcomers: Arc::clone(&newcomers),
        waiting: Vec::new(),
        watched: Vec::new(),
        directories: WatchedDirectories::default(),
    };
    let thread = thread::Builder::new().name("jig-sweep".to_owned());
    thread.spawn(move || sweeper.run())?;
    Ok(Arc::clone(STARTED.get_or_init(|| newcomers)))
}

/// What the thread knows.
struct Sweeper {
    newcomers: Arc<Newcomers>,
    /// Programs that may be over before watching them pays.
    waiting: Vec<Arc<LiveProgram>>,
    watched: Vec<WatchedProgram>,
    directories: WatchedDirectories,
}

struct WatchedProgram {
    live: Arc<LiveProgram>,
    /// When everything is next to be looked at; `None` if all is watched.
    next_look: Option<Instant>,
    /// No earlier than this: looking must take a small part of the time only.
    rests_until: Instant,
}

impl Sweeper {
    fn run(mut self) {
        loop {
            self.take_newcomers();
            self.forget_ended();
            self.watch_waiting();
            self.look_at_unwatched();
            if !self.may_rest() {
                continue;
            }
            let limit = self
                .next_due()
                .map(|at| at.saturating_duration_since(Instant::now()));
            let mut interests = vec![Interest::Woken(&self.newcomers.waker)];
            interests.extend(self.directories.descriptor().map(Interest::Readable));
            if poll(&interests, limit).is_err() {
                // Nobody could do anything about it; all is looked at when the programs have ended.
                thread::park_timeout(LONG_LIVED);
            }
            self.newcomers.waker.clear();
            if self.look_at_news() {
                // What comes together is looked at together.
                let _ = poll(&[Interest::Woken(&self.newcomers.waker)], Some(BREATH));
            }
        }
    }

    fn take_newcomers(&mut self) {
        self.waiting.append(&mut self.newcomers.queue().programs);
    }

    /// Whether no newcomer has to be taken. Those who come from now on wake the thread, unless it wakes soon by itself.
    fn may_rest(&self) -> bool {
        let mut queue = self.newcomers.queue();
        queue.is_awake = !self.waiting.is_empty();
        queue.programs.is_empty()
    }

    /// Forgets about programs that are over, and stops watching when nobody is left for whom that is done.
    fn forget_ended(&mut self) {
        let is_over = |live: &LiveProgram| live.is_over.load(Ordering::SeqCst);
        self.waiting.retain(|live| !is_over(live));
        let before = self.watched.len();
        self.watched.retain(|program| !is_over(&program.live));
        if self.watched.is_empty() {
            self.directories = WatchedDirectories::default();
        } else if self.watched.len() < before {
            let swept = self.watched.iter();
            let swept: Vec<_> = swept.filter_map(|one| one.live.swept.upgrade()).collect();
            let roots = swept.iter().flat_map(|swept| {
                let bases = swept.bases().map(Path::to_owned);
                bases.chain([swept.root.clone()])
            });
            self.directories.keep(&roots.collect::<Vec<_>>());
        }
    }

    /// Begins to watch what has run for a while.
    fn watch_waiting(&mut self) {
        let (due, waiting) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition(|live: &Arc<LiveProgram>| live.since.elapsed() >= LONG_LIVED);
        self.waiting = waiting;
        let due: Vec<Arc<LiveProgram>> = due;
        for live in due {
            live.is_watched.store(true, Ordering::SeqCst);
            let mut program = WatchedProgram {
                live,
                next_look: None,
                rests_until: Instant::now(),
            };
            program.watch_all(&mut self.directories);
            self.watched.push(program);
        }
    }

    /// Looks at everything that a program may have made and nobody told of.
    fn look_at_unwatched(&mut self) {
        for program in &mut self.watched {
            if program.next_look.is_some_and(|at| at <= Instant::now()) {
                program.watch_all(&mut self.directories);
            }
        }
    }

    /// Looks at what the kernel tells of; says whether there was something.
    fn look_at_news(&mut self) -> bool {
        let news = self.directories.news();
        for program in &mut self.watched {
            if news.is_lost {
                program.look_soon();
            }
            let mut is_complete = true;
            let directories = &mut self.directories;
            program.live.with(|swept| {
                let mut places = BTreeSet::new();
                let mut is_beside = false;
                for place in &news.places {
                    is_beside |= swept.bases().any(|base| place.path.starts_with(base));
                    let Ok(relative) = place.path.strip_prefix(&swept.root) else {
                        continue;
                    };
                    if place.is_directory {
                        is_complete &= directories.add(swept, relative);
                    }
                    places.extend(swept.place_to_look_at(relative));
                }
                if is_beside || !places.is_empty() {
                    swept.look(WalkScope::Places(&places));
                }
            });
            if !is_complete {
                program.look_soon();
            }
        }
        news.is_lost || !news.places.is_empty()
    }

    fn next_due(&self) -> Option<Instant> {
        let waiting = self.waiting.iter().map(|live| live.since + LONG_LIVED);
        let looks = self.watched.iter().filter_map(|program| program.next_look);
        waiting.chain(looks).min()
    }
}

impl WatchedProgram {
    /// Watches all directories in which the program can make something, and looks at what is there by then. If that
    /// are too many, says when to come again.
    fn watch_all(&mut self, directories: &mut WatchedDirectories) {
        let start = Instant::now();
        let mut is_complete = true;
        self.live.with(|swept| {
            is_complete = directories.add_all(swept);
            swept.look(WalkScope::Everything);
        });
        self.live
            .is_unwatched
            .fetch_or(!is_complete, Ordering::SeqCst);
        let pause = (start.elapsed() * PAUSE_PER_LOOK).max(SHORTEST_PAUSE);
        self.rests_until = Instant::now() + pause;
        self.next_look = (!is_complete).then_some(self.rests_until);
    }

    fn look_soon(&mut self) {
        let soon = self.rests_until.max(Instant::now());
        self.next_look.get_or_insert(soon);
    }
}

impl LiveProgram {
    /// Does something with a program that is not over, and keeps its end from coming before that is done.
    fn with(&self, act: impl FnOnce(&SweptProgram)) {
        let _looking = lock(&self.looking);
        if !self.is_over.load(Ordering::SeqCst)
            && let Some(swept) = self.swept.upgrade()
        {
            act(&swept);
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Programs that end sooner are looked after at their end only: most calls do, and watching costs more than they do.
const LONG_LIVED: Duration = Duration::from_millis(30);

/// How often everything is looked at where the kernel cannot watch.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// How much longer than a look the pause after it is.
const PAUSE_PER_LOOK: u32 = 20;

/// How long news are collected: far less than the time in which something has to be gone.
const BREATH: Duration = Duration::from_millis(5);
