//! Threads for tools that run inside this process, kept for the next one.
//!
//! A thread costs more than the whole call of a small component: its stack, its signal stack, its first page
//! faults. A few that have nothing to do wait for a while.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SendError, Sender, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

#[cfg(test)]
mod tests;

/// What a thread is given to do. It must not unwind.
type WorkerJob = Box<dyn FnOnce() + Send>;

/// The threads that have nothing to do. Whoever takes one out of here gives it a job.
static IDLE: Mutex<Vec<IdleWorker>> = Mutex::new(Vec::new());

struct IdleWorker {
    thread: thread::ThreadId,
    jobs: Sender<WorkerJob>,
}

/// Has a thread of its own do something.
///
/// # Errors
///
/// If there is no thread to be had.
pub(crate) fn spawn(job: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let mut job: WorkerJob = Box::new(job);
    loop {
        // Not in the condition: the lock would be held while the job is sent.
        let idle = idle().pop();
        let Some(idle) = idle else {
            break;
        };
        match idle.jobs.send(job) {
            Ok(()) => return Ok(()),
            Err(SendError(back)) => job = back,
        }
    }
    let (jobs, received) = channel();
    thread::Builder::new()
        .name("jig-tool".to_owned())
        .spawn(move || {
            job();
            stay(&jobs, &received);
        })
        .map(|_| ())
}

/// Does one job after the other, until none has come for a while.
fn stay(jobs: &Sender<WorkerJob>, received: &Receiver<WorkerJob>) {
    let thread = thread::current().id();
    loop {
        {
            let mut idle = idle();
            if idle.len() >= MOST_IDLE {
                return;
            }
            let jobs = jobs.clone();
            idle.push(IdleWorker { thread, jobs });
        }
        let job = match received.recv_timeout(PATIENCE) {
            Ok(job) => job,
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let mut idle = idle();
                let place = idle.iter().position(|idle| idle.thread == thread);
                if let Some(place) = place {
                    idle.swap_remove(place);
                    return;
                }
                drop(idle);
                // Somebody has just taken this thread, and its job is on the way.
                match received.recv() {
                    Ok(job) => job,
                    Err(_) => return,
                }
            }
        };
        job();
    }
}

fn idle() -> MutexGuard<'static, Vec<IdleWorker>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How many threads wait at most.
const MOST_IDLE: usize = 8;

/// How long one waits.
const PATIENCE: Duration = Duration::from_secs(10);
