//! [`watch()`]: a configuration that changes while it is served.
//!
//! Once a second the files are looked at. What they say comes into force at once, without what the files of the workspace
//! allow and nobody has accepted: that is [held back](HeldBack), and a question on the board says what it is. A person
//! accepts it, here or by `jig trust`, and then exactly what was shown comes into force: it is not loaded again. What
//! does not load is reported, and the old configuration goes on.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jig_broker::CancelToken;
use jig_config::{Config, HeldBack};
use jig_engine::Answer;
use jig_proto::visible_lines;
use serde_json::Value;
use tokio::sync::watch;

use crate::questions::StandingQuestion;
use crate::shared::SharedServer;

/// What is known about the configuration that is not in force.
#[derive(Debug, Default)]
pub(crate) struct Reload {
    state: Mutex<ReloadState>,
    news: watch::Sender<u64>,
}

/// What stands in the files and is not in force.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ReloadState {
    /// A configuration that allows more, and waits for a person: the name of the question, and what it
    /// would change, one line each.
    pub(crate) held: Option<(String, Vec<String>)>,
    /// Why the configuration does not load, as a person reads it.
    pub(crate) broken: Option<String>,
}

impl Reload {
    /// What is not in force now.
    pub(crate) fn state(&self) -> ReloadState {
        self.lock().clone()
    }

    /// Tells of every change of [`Reload::state`], and of what is known of servers.
    pub(crate) fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Tells that something else has changed that is shown with it.
    pub(crate) fn touch(&self) {
        self.news.send_modify(|number| *number += 1);
    }

    fn set(&self, state: ReloadState) {
        let mut known = self.lock();
        if *known != state {
            *known = state;
            self.news.send_modify(|number| *number += 1);
        }
    }

    fn lock(&self) -> MutexGuard<'_, ReloadState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after the configuration until the guard is dropped.
///
/// # Errors
///
/// If no thread can be started.
pub fn watch(shared: &Arc<SharedServer>) -> io::Result<Reloading> {
    let stop = CancelToken::new();
    let mut watcher = ConfigWatcher::new(Arc::clone(shared));
    let until = stop.clone();
    let thread = thread::Builder::new()
        .name("jig-reload".to_owned())
        .spawn(move || {
            // What waits from the start is asked about at once.
            if watcher.shared.current().loaded.held_back.is_some() {
                watcher.look();
            }
            while !until.is_cancelled() {
                watcher.wait(BETWEEN_LOOKS, &until);
                watcher.look();
            }
        })?;
    Ok(Reloading {
        stop,
        thread: Some(thread),
    })
}

/// While it is there, changes of the configuration are noticed.
#[derive(Debug)]
#[must_use]
pub struct Reloading {
    stop: CancelToken,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Reloading {
    fn drop(&mut self) {
        self.stop.cancel();
        if let Some(thread) = self.thread.take() {
            // It is about to end. Had it panicked, nobody could be told here.
            let _ = thread.join();
        }
    }
}

struct ConfigWatcher {
    shared: Arc<SharedServer>,
    /// What the files looked like when they were last loaded, for the configuration in force. `None` before
    /// the first look: they may have changed since the server loaded them.
    seen: Option<u64>,
    held: Option<HeldConfig>,
    /// What a person did not want.
    denied: Option<Arc<HeldBack>>,
    /// Nobody answers this: it is what the thread sleeps on while nothing is held.
    idle: Arc<EndableSleep>,
}

/// A configuration that waits for a person.
struct HeldConfig {
    held_back: Arc<HeldBack>,
    question: StandingQuestion,
}

/// Tells whether two configurations are the same, to the last line number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Digest(blake3::Hash);

impl Digest {
    fn of(config: &Config) -> Self {
        // Each keeps its fingerprint once it was asked for: here all have it, in every configuration.
        for server in config.servers.values() {
            server.fingerprint();
        }
        // What is in force is compared, not what the files say.
        let mut config = config.clone();
        (config.content, config.held_back) = Default::default();
        Self(blake3::hash(format!("{config:?}").as_bytes()))
    }
}

impl ConfigWatcher {
    fn new(shared: Arc<SharedServer>) -> Self {
        Self {
            shared,
            seen: None,
            held: None,
            denied: None,
            idle: Arc::default(),
        }
    }

    /// Waits for a while, or for a person's word on what is held.
    fn wait(&mut self, limit: Duration, until: &CancelToken) {
        let Some(held) = &self.held else {
            self.idle.wait(limit, until);
            return;
        };
        let Some(answer) = held.question.poll(limit, until) else {
            return;
        };
        if let Some(held) = self.held.take() {
            self.settle(held, answer);
        }
    }

    /// A person has decided.
    fn settle(&mut self, held: HeldConfig, answer: Answer) {
        match answer {
            Answer::Given(Value::Bool(true)) => match self.shared.loader.accept(&held.held_back) {
                Ok(config) => {
                    self.report("what the configuration allows was accepted");
                    self.put_in_force(config);
                }
                Err(why) => self.report(&format!("the configuration is not accepted: {why}")),
            },
            _ => {
                self.shared.loader.decline(&held.held_back);
                self.denied = Some(held.held_back);
                self.report("what the configuration allows was not accepted: the rest goes on");
                self.shared.reload.set(ReloadState::default());
            }
        }
    }

    /// Looks at the files.
    fn look(&mut self) {
        let shared = Arc::clone(&self.shared);
        let current = shared.current();
        let before = shared.loader.fingerprint(&current.loaded);
        if self.seen == Some(before) {
            return;
        }
        // Whatever changes from here on is seen by the next look: the number is older than what is loaded.
        self.seen = Some(before);
        let config = match shared.loader.load() {
            Ok(config) => config,
            Err(error) => {
                // What was held is in the files no more.
                self.held = None;
                let error = visible_lines(&error);
                self.report(&format!(
                    "the configuration has changed and does not load, so that the old one goes on:\n{error}"
                ));
                let broken = Some(error);
                shared.reload.set(ReloadState { held: None, broken });
                return;
            }
        };
        let is_same = Digest::of(&config) == Digest::of(&current.loaded);
        let held_back = config.held_back.clone();
        if !is_same {
            self.put_in_force(config);
        }
        let is_content = |other: &HeldBack| {
            held_back
                .as_ref()
                .is_some_and(|one| one.config.content == other.config.content)
        };
        if self
            .held
            .as_ref()
            .is_some_and(|held| is_content(&held.held_back))
        {
            return;
        }
        let is_denied = self
            .denied
            .as_ref()
            .is_some_and(|denied| is_content(denied));
        self.held = None;
        match held_back {
            Some(held_back) if !is_denied => self.hold(held_back),
            _ if is_same => shared.reload.set(ReloadState::default()),
            _ => {}
        }
    }

    fn put_in_force(&mut self, config: Arc<Config>) {
        let shared = Arc::clone(&self.shared);
        // The new configuration may name other files. If nothing has changed since they were last loaded, this is
        // what they look like for it; else the next look loads once more.
        let after = shared.loader.fingerprint(&config);
        let before = shared.loader.fingerprint(&shared.current().loaded);
        let broken = shared
            .replace(config)
            .err()
            .map(|error| visible_lines(&error));
        if broken.is_none() && self.seen == Some(before) {
            self.seen = Some(after);
        }
        if let Some(error) = &broken {
            self.report(&format!(
                "the changed configuration cannot be used, so that the old one goes on: {error}"
            ));
        }
        shared.reload.set(ReloadState { held: None, broken });
    }

    fn hold(&mut self, held_back: Arc<HeldBack>) {
        let lines: Vec<String> = held_back
            .widened
            .iter()
            .map(|one| visible_lines(&one.to_string()))
            .collect();
        let list: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
        let context = format!(
            "The files of the workspace allow this beyond jig's defaults. Nothing of it is in force yet:\n{}",
            list.join("\n")
        );
        let question = self.shared.questions.put_config(QUESTION, context);
        let id = question.id().to_string();
        self.report(&format!(
            "the files of the workspace allow what nobody has accepted, and it does not count until a person \
             accepts it: `jig approve {id}`, or `jig trust`\n{}",
            list.join("\n")
        ));
        self.held = Some(HeldConfig {
            held_back,
            question,
        });
        let held = Some((id, lines));
        let broken = None;
        self.shared.reload.set(ReloadState { held, broken });
    }

    fn report(&self, text: &str) {
        self.shared.loader.report(text);
    }
}

/// A sleep that can be ended.
#[derive(Debug, Default)]
struct EndableSleep {
    lock: Mutex<()>,
    ended: std::sync::Condvar,
}

impl EndableSleep {
    fn wait(self: &Arc<Self>, limit: Duration, until: &CancelToken) {
        let idle = Arc::clone(self);
        let _hook = until.on_cancel(move || {
            // Nobody is between looking and waiting while this is held.
            let _lock = idle.lock.lock();
            idle.ended.notify_all();
        });
        let lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        let is_waiting = |(): &mut ()| !until.is_cancelled();
        drop(self.ended.wait_timeout_while(lock, limit, is_waiting));
    }
}

const QUESTION: &str = "Accept what the files of the workspace allow?";

/// Between two looks at the files.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
