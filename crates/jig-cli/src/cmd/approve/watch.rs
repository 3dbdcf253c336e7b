//! `jig approve --watch` at a terminal: one question after the other.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail};
use jig_proto::{hint, visible_line};
use jig_sandbox::Waker;
use jig_station::asks::ServerWelcome;
use jig_station::asks::client::{AskConnection, AskReply};
use serde_json::Value as Json;

use super::shown_question::ServerQuestion;
use super::{ApproveScope, dialog};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::prompt::PromptTerminal;

pub(super) fn run(scope: &ApproveScope, out: &mut CliOutput) -> anyhow::Result<Done> {
    let feed = Arc::new(QuestionFeed::new()?);
    let Some(mut terminal) = PromptTerminal::open(false, true) else {
        let hint = hint!("`jig approve --watch --json` is for programs");
        return Err(anyhow!(hint).context("there is no terminal to ask at"));
    };
    terminal.give_up_on(Arc::clone(&feed.waker));
    let mut told = ShownNotices::default();
    loop {
        let known = feed.lock().watched.clone();
        for server in scope.others(&known, &mut |text| told.once(out, text))? {
            feed.follow(server);
        }
        told.waiting(out, feed.lock().watched.len());
        while let Some(asked) = feed.next(BETWEEN_LOOKS) {
            let decided = dialog::ask(&mut terminal, &asked);
            // What happened elsewhere meanwhile is said first: then the answer is no use.
            if let Some(settled) = feed.settled(&asked) {
                out.note(&settled);
                continue;
            }
            match decided {
                Some(decided) => match scope.ask(asked.pid, &decided.request(&asked.id)) {
                    Ok(AskReply::Ok(reply)) => out.note(&decided.told(&asked, &reply)),
                    Ok(AskReply::Error(refusal)) => out.note(&refusal.message),
                    Err(error) => out.note(&format!("{error:#}")),
                },
                None if terminal.is_closed() => bail!("the terminal was closed"),
                None => out.note(&format!("`{}` is left as it is", asked.id)),
            }
        }
    }
}

/// What was told already.
#[derive(Default)]
struct ShownNotices {
    notes: HashSet<String>,
    servers: Option<usize>,
}

impl ShownNotices {
    fn once(&mut self, out: &mut CliOutput, text: &str) {
        if self.notes.insert(text.to_owned()) {
            out.note(text);
        }
    }

    fn waiting(&mut self, out: &mut CliOutput, servers: usize) {
        if self.servers.replace(servers) == Some(servers) {
            return;
        }
        match servers {
            0 => out.note("no MCP server runs here yet; waiting for one (Ctrl-C ends this)"),
            1 => out.note("watching 1 server; waiting for questions (Ctrl-C ends this)"),
            more => out.note(&format!("watching {more} servers; waiting for questions")),
        }
    }
}

/// What servers tell.
struct QuestionFeed {
    state: Mutex<ApproveState>,
    came: Condvar,
    /// Wakes whoever asks a question that is none any more.
    waker: Arc<Waker>,
}

#[derive(Default)]
struct ApproveState {
    waiting: VecDeque<ServerQuestion>,
    /// The question that is asked now: its server and its name, and what became of it.
    asking: Option<(u32, String, Option<String>)>,
    /// The servers that tell, by process id.
    watched: HashSet<u32>,
}

impl QuestionFeed {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            state: Mutex::default(),
            came: Condvar::new(),
            waker: Arc::new(Waker::new()?),
        })
    }

    fn lock(&self) -> MutexGuard<'_, ApproveState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in what a server tells, unless that is done already.
    fn follow(self: &Arc<Self>, server: AskConnection) {
        let welcome = server.welcome.clone();
        // One that goes just now is not there for the next look; any other is tried again then.
        let Ok((mut lines, stream)) = server.watch() else {
            return;
        };
        let pid = welcome.pid;
        self.lock().watched.insert(pid);
        let feed = Arc::clone(self);
        let started = thread::Builder::new()
            .name("jig-watch".to_owned())
            .spawn(move || {
                while let Ok(Some(event)) = lines.message::<Json>() {
                    feed.take(&welcome, &event);
                }
                drop(stream);
                feed.gone(pid);
            });
        if started.is_err() {
            self.lock().watched.remove(&pid);
        }
    }

    fn take(&self, server: &ServerWelcome, event: &Json) {
        match event["event"].as_str() {
            Some("question" | "refused") => {
                let Ok(asked) = ServerQuestion::read(server, &event["question"]) else {
                    return;
                };
                let mut state = self.lock();
                state.drop_waiting(server.pid, &asked.id);
                state.waiting.push_back(asked);
                self.came.notify_all();
            }
            Some("settled") => {
                let id = event["id"].as_str().unwrap_or_default();
                let how = match (event["by"].as_str(), event["decision"].as_str()) {
                    (Some(by), Some(decision)) => {
                        format!("was answered by {} ({decision})", visible_line(by))
                    }
                    _ => "is not asked any more".to_owned(),
                };
                self.over(server.pid, id, &how);
            }
            _ => {}
        }
    }

    fn over(&self, pid: u32, id: &str, how: &str) {
        let mut state = self.lock();
        state.drop_waiting(pid, id);
        if let Some((asking, name, settled)) = &mut state.asking
            && (*asking, &**name) == (pid, id)
        {
            *settled = Some(format!("`{}` {how}", visible_line(id)));
            self.waker.wake();
        }
    }

    /// A server has ended, and its questions with it.
    fn gone(&self, pid: u32) {
        let asking = {
            let mut state = self.lock();
            state.watched.remove(&pid);
            state.waiting.retain(|asked| asked.pid != pid);
            let asking = state.asking.as_ref();
            asking
                .filter(|(server, ..)| *server == pid)
                .map(|(_, id, _)| id.clone())
        };
        if let Some(id) = asking {
            self.over(pid, &id, "is not asked any more: its server has ended");
        }
    }

    /// The next question, if one comes within the limit.
    fn next(&self, limit: Duration) -> Option<ServerQuestion> {
        let is_empty = |state: &mut ApproveState| state.waiting.is_empty();
        let waited = self.came.wait_timeout_while(self.lock(), limit, is_empty);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let asked = state.waiting.pop_front()?;
        state.asking = Some((asked.pid, asked.id.clone(), None));
        self.waker.clear();
        Some(asked)
    }

    /// What became of the question that was asked last, if it was not answered here.
    fn settled(&self, asked: &ServerQuestion) -> Option<String> {
        let (pid, id, settled) = self.lock().asking.take()?;
        settled.filter(|_| (pid, id) == (asked.pid, asked.id.clone()))
    }
}

impl ApproveState {
    fn drop_waiting(&mut self, pid: u32, id: &str) {
        self.waiting
            .retain(|asked| (asked.pid, &*asked.id) != (pid, id));
    }
}

/// Between two looks for servers.
const BETWEEN_LOOKS: Duration = Duration::from_secs(1);
