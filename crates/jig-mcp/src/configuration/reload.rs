//! [`watch()`]: a configuration that changes while it is served.
//!
//! Once a second the files are looked at. What narrows, or only describes, comes into force at once. What
//! allows more is *held*: the old configuration goes on, and a question on the board says what would change.
//! A person accepts it, and then exactly what was loaded and shown comes into force: it is not loaded again.
//! What does not load is reported, and the old configuration goes on.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jig_broker::CancelToken;
use jig_config::{Config, Server};
use jig_engine::Answer;
use jig_proto::visible_lines;
use serde_json::Value;
use tokio::sync::watch;

use crate::questions::{LONGEST_CONTEXT, StandingQuestion};
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
    denied: Option<Digest>,
    /// Nobody answers this: it is what the thread sleeps on while nothing is held.
    idle: Arc<EndableSleep>,
}

/// A configuration that waits for a person.
struct HeldConfig {
    config: Arc<Config>,
    digest: Digest,
    /// The servers of the workspace that a person is shown with it, and accepts with it.
    servers: Vec<Arc<Server>>,
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
            Answer::Given(Value::Bool(true)) => {
                self.report("the changed configuration was accepted");
                for server in &held.servers {
                    self.accept(server);
                }
                self.put_in_force(held.config);
            }
            _ => {
                self.denied = Some(held.digest);
                self.report("the changed configuration was not accepted: the old one stays");
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
        let is_first = self.seen.replace(before).is_none();
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
        let digest = Digest::of(&config);
        if is_first && digest == Digest::of(&current.loaded) {
            return;
        }
        let widened = jig_config::widening(&current.loaded, &config);
        if widened.is_empty() {
            self.held = None;
            self.denied = None;
            self.put_in_force(config);
            return;
        }
        if self.denied == Some(digest) {
            self.held = None;
            shared.reload.set(ReloadState::default());
            return;
        }
        if self.held.as_ref().is_some_and(|held| held.digest == digest) {
            return;
        }
        let lines: Vec<String> = widened
            .iter()
            .map(|one| visible_lines(&one.to_string()))
            .collect();
        self.hold(config, digest, lines);
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

    fn hold(&mut self, config: Arc<Config>, digest: Digest, lines: Vec<String>) {
        // The question that it replaces goes first: there is one at a time.
        self.held = None;
        let list: Vec<String> = lines.iter().map(|line| format!("- {line}")).collect();
        let mut context = format!(
            "The configuration has changed and would allow more. Nothing of it is in force yet:\n{}",
            list.join("\n")
        );
        let mut servers = self.unaccepted(&config);
        servers.retain(|server| {
            let about = format!(
                "\n\nThe MCP server `{}` would be started:\n{}",
                server.name,
                server.described().join("\n")
            );
            // What cannot be shown whole is not accepted with it: it is asked about on its own.
            let fits = context.len() + about.len() <= LONGEST_CONTEXT;
            if fits {
                context.push_str(&about);
            }
            fits
        });
        let question = self.shared.questions.put_config(QUESTION, context);
        let id = question.id().to_string();
        self.report(&format!(
            "the configuration has changed and would allow more; the old one goes on until a person \
             accepts it: `jig approve {id}`\n{}",
            list.join("\n")
        ));
        self.held = Some(HeldConfig {
            config,
            digest,
            servers,
            question,
        });
        let held = Some((id, lines));
        let broken = None;
        self.shared.reload.set(ReloadState { held, broken });
    }

    /// The servers of a configuration that nobody has accepted, and that are not in force. Whoever accepts the
    /// configuration is shown what they are, and is not asked once more.
    fn unaccepted(&self, config: &Config) -> Vec<Arc<Server>> {
        let Some(servers) = &self.shared.servers else {
            return Vec::new();
        };
        let current = self.shared.current();
        let is_new = |server: &Server| {
            let known = current.loaded.servers.get(&server.name);
            known.is_none_or(|known| known.fingerprint() != server.fingerprint())
        };
        let all = config.servers.values().filter(|server| server.enable);
        let new = all.filter(|server| is_new(server) && !servers.ledger.may_start(server));
        new.take(MOST_SHOWN).cloned().collect()
    }

    fn accept(&self, server: &Server) {
        let servers = self.shared.servers.as_ref();
        let accepted = servers.map_or(Ok(()), |servers| servers.ledger.accept_server(server));
        if let Err(why) = accepted {
            let name = &server.name;
            self.report(&format!(
                "that the MCP server `{name}` was accepted is not kept: {why}"
            ));
        }
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

const QUESTION: &str = "Let the changed configuration come into force?";

/// Servers that are shown with a configuration: more than that nobody reads. The others are asked about on their
/// own.
const MOST_SHOWN: usize = 8;

/// Between two looks at the files.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
