//! [`UnstartedTool`]: a tool that begins on the thread of whoever drives its call.
//!
//! That thread runs the tool. As long as the tool neither says nor asks anything, there is nothing to drive; before it
//! does, a thread of its own begins to drive the call. What the tool waits for it waits for with the lent thread
//! [given back](LentThread::wait).

use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::plan::LentThread;
use crate::workers;

/// What a thread is given to do.
type Job = Box<dyn FnOnce() + Send>;

/// A tool that has not begun.
pub(crate) struct UnstartedTool {
    tool: Job,
    driver: Arc<Mutex<Option<Job>>>,
}

impl fmt::Debug for UnstartedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnstartedTool")
    }
}

impl UnstartedTool {
    /// A tool that tells by `lent` when its call is to be driven.
    pub(crate) fn new(
        lent: BorrowedThread,
        tool: impl FnOnce(BorrowedThread) + Send + 'static,
    ) -> Self {
        Self {
            driver: Arc::clone(&lent.driver),
            tool: Box::new(move || tool(lent)),
        }
    }

    /// Runs the tool to its end. Says whether `driver` was begun on another thread meanwhile.
    pub(crate) fn begin(self, driver: impl FnOnce() + Send + 'static) -> bool {
        let place = || self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        *place() = Some(Box::new(driver));
        (self.tool)();
        place().take().is_none()
    }
}

/// The thread on which a tool has begun.
pub(crate) struct BorrowedThread {
    thread: Arc<dyn LentThread>,
    driver: Arc<Mutex<Option<Job>>>,
    since: Instant,
}

impl fmt::Debug for BorrowedThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("BorrowedThread").field(&self.thread).finish()
    }
}

impl BorrowedThread {
    pub(crate) fn new(thread: Arc<dyn LentThread>) -> Self {
        Self {
            thread,
            driver: Arc::default(),
            since: Instant::now(),
        }
    }

    /// Has somebody drive the call from now on.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had. Then nobody will ever answer.
    pub(crate) fn have_driven(&self) -> io::Result<()> {
        let mut place = self.driver.lock().unwrap_or_else(PoisonError::into_inner);
        let driver = place.take();
        drop(place);
        driver.map_or(Ok(()), workers::spawn)
    }

    /// Whether the tool has used the thread for so long that others wait for it.
    pub(crate) fn is_overdue(&self) -> bool {
        self.since.elapsed() > LONGEST_USE
    }
}

/// Waits, with the thread given back if it is a lent one.
pub(crate) fn wait<T>(lent: Option<&BorrowedThread>, mut wait: impl FnMut() -> T) -> T {
    let mut waited = None;
    if let Some(lent) = lent {
        lent.thread.wait(&mut || waited = Some(wait()));
    }
    waited.unwrap_or_else(wait)
}

/// How long a tool may use a lent thread before every request gives it back: many that are quick take long together.
const LONGEST_USE: Duration = Duration::from_millis(5);
