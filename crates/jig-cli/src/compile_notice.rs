//! A word to whoever waits while a component is compiled.

use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jig_wasm::WasmRuntime;

use crate::limits;
use crate::output::remark;

/// While it lives, what takes long to compile is told on stderr, each component once.
///
/// It is a whole line, and nothing is taken back: a question may come right after it.
pub(crate) struct CompileWatch {
    /// Dropped to end the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl CompileWatch {
    /// Watches. Without a thread to be had nothing is told, which harms nobody.
    pub(crate) fn over(runtime: &WasmRuntime) -> Self {
        let patience = match io::stderr().is_terminal() {
            true => PATIENCE,
            false => UNSEEN_PATIENCE,
        };
        let runtime = runtime.clone();
        let slow = move || {
            let compiling = runtime.compiling().into_iter();
            let slow = compiling.filter(|one| one.since.elapsed() >= patience);
            slow.map(|one| (one.shown, one.size)).collect()
        };
        Self::of(slow, remark)
    }

    /// Tells of everything that `slow` gives: names and sizes.
    fn of(
        slow: impl Fn() -> Vec<(String, u64)> + Send + 'static,
        tell: impl Fn(&str) + Send + 'static,
    ) -> Self {
        let (stop, stopped) = mpsc::channel();
        let watch = move || {
            let mut told: Vec<String> = Vec::new();
            while stopped.recv_timeout(EVERY) == Err(RecvTimeoutError::Timeout) {
                for (shown, size) in slow() {
                    if !told.contains(&shown) {
                        tell(&words(&shown, size));
                        told.push(shown);
                    }
                }
            }
        };
        let thread = thread::Builder::new().name("jig-waiting".to_owned());
        Self {
            stop: Some(stop),
            thread: thread.spawn(watch).ok(),
        }
    }
}

impl Drop for CompileWatch {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn words(shown: &str, size: u64) -> String {
    let size = limits::size(size);
    format!("jig: compiling {shown} ({size}), once for every version of it …")
}

/// From here on a person wonders.
const PATIENCE: Duration = Duration::from_millis(300);

/// Where nobody looks on, a word is for whoever reads the log later.
const UNSEEN_PATIENCE: Duration = Duration::from_secs(2);

const EVERY: Duration = Duration::from_millis(50);

#[cfg(test)]
mod tests;
