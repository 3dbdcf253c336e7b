//! What is done about servers while there is somebody to serve: their news come into force, and what of them waits
//! for a person stands on the board.
//!
//! There is one question for each server: whether it may be started, or whether its tools may be what they are now.
//! It goes when the same is accepted anywhere else, by a call or by another jig, and is not put again after a no,
//! before there is something else to accept.

mod request;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use jig_engine::{Answer, HeldOffer, ToolServers as _};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, sleep, sleep_until};

use self::request::AcceptRequest;
use crate::client::servers::Servers;
use crate::questions::{QuestionId, StandingQuestion};
use crate::shared::SharedServer;

/// Looks after the servers of `shared` for as long as the runtime lives, and has them run there.
pub(crate) fn begin(shared: &Arc<SharedServer>, runtime: &Handle) {
    let Some(servers) = &shared.servers else {
        return;
    };
    servers.on(runtime.clone());
    let (tell, answers) = mpsc::unbounded_channel();
    let attendant = Attendant {
        shared: Arc::clone(shared),
        servers: Arc::clone(servers),
        asked: BTreeMap::new(),
        put: 0,
        denied: HashSet::new(),
        tell,
        asking: None,
        retry: ServerRetry::default(),
    };
    runtime.spawn(attendant.attend(answers));
}

/// Whoever looks after the servers.
struct Attendant {
    shared: Arc<SharedServer>,
    servers: Arc<Servers>,
    /// What stands on the board, by server.
    asked: BTreeMap<String, HeldQuestion>,
    /// How many questions were put.
    put: u64,
    /// What a person did not want, by what makes it what it is.
    denied: HashSet<Vec<String>>,
    tell: mpsc::UnboundedSender<ServerQuestionAnswer>,
    /// Servers are being asked for their tools.
    asking: Option<JoinHandle<()>>,
    retry: ServerRetry,
}

/// A question on the board.
struct HeldQuestion {
    number: u64,
    request: AcceptRequest,
    pending: StandingQuestion,
}

/// The answer to one of the questions.
struct ServerQuestionAnswer {
    server: String,
    /// Which question it was: another may stand there by now.
    number: u64,
    answer: Answer,
}

impl Attendant {
    async fn attend(mut self, mut answers: mpsc::UnboundedReceiver<ServerQuestionAnswer>) {
        let mut servers = self.servers.changes();
        let mut ledger = self.servers.ledger.changes();
        let mut generations = self.shared.changes();
        // What came before anybody listened.
        self.work(|shared, _| shared.refresh()).await;
        loop {
            self.put_questions().await;
            self.ask_servers();
            let retry = self.retry.at(self.shared.current().has_problems());
            tokio::select! {
                changed = servers.changed() => if changed.is_err() { return },
                changed = ledger.changed() => if changed.is_err() { return },
                changed = generations.changed() => {
                    if changed.is_err() { return }
                    self.retry = ServerRetry::default();
                }
                Some(answered) = answers.recv() => {
                    self.settle(answered).await;
                    continue;
                }
                // Somebody may accept it elsewhere.
                () = sleep(LOOK), if !self.asked.is_empty() || !self.denied.is_empty() => {
                    self.look().await;
                    continue;
                }
                () = sleep_until(retry.unwrap_or_else(Instant::now)), if retry.is_some() => {
                    self.retry.later();
                    self.start(SharedServer::gather_again);
                    continue;
                }
                () = finished(&mut self.asking) => self.asking = None,
            }
            // What comes in a burst is looked at once.
            sleep(BURST).await;
            servers.mark_unchanged();
            ledger.mark_unchanged();
            self.work(|shared, _| shared.refresh()).await;
            self.shared.reload.touch();
        }
    }

    /// Asks servers for their tools of which nobody knows them, once somebody has wanted to know.
    fn ask_servers(&mut self) {
        if self.shared.was_listed() && self.shared.current().is_incomplete() {
            self.start(|shared| drop(shared.complete()));
        }
    }

    fn start(&mut self, work: impl FnOnce(&SharedServer) + Send + 'static) {
        if self.asking.is_none() {
            let shared = Arc::clone(&self.shared);
            self.asking = Some(spawn_blocking(move || work(&shared)));
        }
    }

    /// Has the board be what there is to accept.
    async fn put_questions(&mut self) {
        let held = self.work(held).await.unwrap_or_default();
        let wanted: Vec<(String, AcceptRequest)> = held
            .into_iter()
            .filter_map(|(server, held)| Some((server.clone(), AcceptRequest::of(&server, held)?)))
            .collect();
        let is_wanted = |server: &str, asked: &HeldQuestion| {
            let mut wanted = wanted.iter();
            wanted.any(|(name, request)| name == server && *request == asked.request)
        };
        // What has become another question goes first: there is one at a time for each server.
        self.asked.retain(|server, asked| is_wanted(server, asked));
        for (server, request) in wanted {
            if !self.asked.contains_key(&server) && !self.denied.contains(&request.key()) {
                self.put(server, request);
            }
        }
        let ids = self.asked.iter();
        let ids = ids.map(|(server, asked)| (server.clone(), asked.pending.id()));
        self.shared.set_asked(ids.collect());
    }

    fn put(&mut self, server: String, request: AcceptRequest) {
        self.put += 1;
        let (number, tell) = (self.put, self.tell.clone());
        let then = {
            let server = server.clone();
            move |answer| {
                // Nobody is left to whom it matters if this fails.
                let _ = tell.send(ServerQuestionAnswer {
                    server,
                    number,
                    answer,
                });
            }
        };
        let AcceptRequest {
            topic,
            text,
            context,
            ..
        } = request.clone();
        let pending = self
            .shared
            .questions
            .put_server(topic, &text, context, then);
        self.report(&format!(
            "{}; a person accepts it: `jig approve {}`, or `jig servers accept {server}`",
            request.told(),
            pending.id(),
        ));
        self.asked.insert(
            server,
            HeldQuestion {
                number,
                request,
                pending,
            },
        );
    }

    /// A person has decided.
    async fn settle(&mut self, answered: ServerQuestionAnswer) {
        let ServerQuestionAnswer {
            server,
            number,
            answer,
        } = answered;
        let is_this = |asked: &HeldQuestion| asked.number == number;
        if !self.asked.get(&server).is_some_and(is_this) {
            return;
        }
        let Some(HeldQuestion { request, .. }) = self.asked.remove(&server) else {
            return;
        };
        match answer {
            Answer::Given(Value::Bool(true)) => {
                let accepted = self.work(move |_, servers| {
                    let mut held = request.held.iter();
                    held.try_for_each(|held| servers.accept(held))
                });
                if let Some(Err(why)) = accepted.await {
                    self.report(&format!("the MCP server `{server}` is not accepted: {why}"));
                }
            }
            _ => {
                if self.denied.len() >= MOST_DENIED {
                    self.denied.clear();
                }
                self.denied.insert(request.key());
            }
        }
    }

    /// Looks whether another jig has accepted something.
    async fn look(&self) {
        let looked = |shared: &SharedServer, servers: &Arc<Servers>| {
            for server in shared.current().loaded.servers.values() {
                servers.ledger.look(server);
            }
        };
        self.work(looked).await;
    }

    /// Does something that may take a while, on a thread where it may.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&SharedServer, &Arc<Servers>) -> T + Send + 'static,
    ) -> Option<T> {
        let (shared, servers) = (Arc::clone(&self.shared), Arc::clone(&self.servers));
        spawn_blocking(move || work(&shared, &servers)).await.ok()
    }

    fn report(&self, text: &str) {
        self.shared.loader.report(text);
    }
}

/// What there is to accept of each server. Calls that wait for what is accepted by now go on.
fn held(shared: &SharedServer, servers: &Arc<Servers>) -> Vec<(String, Vec<HeldOffer>)> {
    let current = shared.current();
    let is_accepted = |tool: &str| {
        let tool = current.config.tool(tool);
        let Some((server, named)) = tool.and_then(|tool| tool.on_server()) else {
            return false;
        };
        let server = current.config.servers.get(server);
        server.is_some_and(|server| servers.ledger.held(server, named).is_none())
    };
    shared.questions.accepted(is_accepted);
    let all = current.loaded.servers.values();
    let all = all.filter(|server| server.enable);
    let held = all.map(|server| (server.name.clone(), servers.held_of(server)));
    held.filter(|(_, held)| !held.is_empty()).collect()
}

/// Waits for the end of work that may not be there.
async fn finished(work: &mut Option<JoinHandle<()>>) {
    match work {
        // Had it panicked, there would be nothing to tell of it here.
        Some(work) => drop(work.await),
        None => std::future::pending().await,
    }
}

/// When servers are asked again that could not be asked for their tools.
#[derive(Debug, Default)]
struct ServerRetry {
    at: Option<Instant>,
    pause: Option<Duration>,
}

impl ServerRetry {
    /// The next time, if there is a reason for one.
    fn at(&mut self, is_needed: bool) -> Option<Instant> {
        if !is_needed {
            *self = Self::default();
            return None;
        }
        let pause = self.pause.get_or_insert(FIRST_RETRY);
        Some(*self.at.get_or_insert_with(|| Instant::now() + *pause))
    }

    /// It was tried: the next time comes later.
    fn later(&mut self) {
        let pause = self.pause.map_or(FIRST_RETRY, |pause| pause * 2);
        let pause = pause.min(LONGEST_RETRY);
        (self.pause, self.at) = (Some(pause), Some(Instant::now() + pause));
    }
}

/// The questions on the board, by server.
pub(crate) type AskedServers = BTreeMap<String, QuestionId>;

/// How often it is looked whether something was accepted elsewhere, while there is something to accept.
const LOOK: Duration = Duration::from_secs(1);

/// How long is waited for more news: a server that starts is several.
const BURST: Duration = Duration::from_millis(20);

/// When a server is asked again for the first time, and how long the pauses get: one that is elsewhere may come
/// back at any time.
const FIRST_RETRY: Duration = Duration::from_secs(5);
const LONGEST_RETRY: Duration = Duration::from_secs(5 * 60);

/// How many refusals are remembered. A server that changes all the time would fill the memory.
const MOST_DENIED: usize = 1024;

#[cfg(test)]
mod tests;
