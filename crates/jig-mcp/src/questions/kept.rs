//! [`KeptQuestions`]: the questions of a workspace that were refused, and the answers to them, for whoever makes the
//! same call next.
//!
//! An agent without a person in front of it ends soon after a refusal, and so does its server. Therefore both are kept
//! in the [`Memory`] of the workspace, where no tool comes, and not in the process. A record is changed under the lock of
//! that memory: every name is given once, and every answer is used once, however many servers there are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use jig_engine::Answer;
use jig_proto::Question;
use jig_proto::json::{self, JsonLimits};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::asked::{BoardQuestion, Fingerprint, QuestionTopic};
use super::{MOST_GIVEN, MOST_REFUSED, QuestionId, Unanswerable};
use crate::client::servers::{ForgetfulMemory, Memory};

/// What is kept of the questions of a workspace.
pub(super) struct KeptQuestions {
    memory: Mutex<Arc<dyn Memory>>,
    times: KeptTimes,
}

/// How long things are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptTimes {
    /// A refused question: as long as a person may take to come back.
    pub(super) refused: Duration,
    /// The answer to one: as long as it may take to start an agent again.
    pub(super) given: Duration,
}

/// All that is kept, as it stands in its file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct KeptRecord {
    /// The number of the last question.
    last: u64,
    /// Those that were refused, the latest last.
    refused: Vec<KeptQuestion>,
    /// The answers, the latest last.
    given: Vec<KeptAnswer>,
}

/// A refused question.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptQuestion {
    number: u64,
    caller: Option<String>,
    tool: Option<String>,
    topic: QuestionTopic,
    question: Question,
    hidden: usize,
    fingerprint: String,
    /// When, in milliseconds since 1970.
    at: u64,
}

/// An answer to a question that was refused.
#[derive(Debug, Serialize, Deserialize)]
struct KeptAnswer {
    fingerprint: String,
    answer: KeptAnswerValue,
    by: String,
    at: u64,
}

/// An answer that a person can give to a question which nobody waits for.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptAnswerValue {
    Given(Value),
    Turn(Value),
    Rejected(String),
}

impl KeptQuestions {
    pub(super) fn new(memory: Arc<dyn Memory>, times: KeptTimes) -> Self {
        Self {
            memory: Mutex::new(memory),
            times,
        }
    }

    /// A number that no other question of the workspace has.
    pub(super) fn number(&self) -> u64 {
        self.change(|record| {
            record.last += 1;
            Some(record.last)
        })
        .unwrap_or_default()
    }

    /// Keeps a refused question. The same again keeps its name, which is returned, unless it has one already.
    pub(super) fn refuse(&self, asked: &BoardQuestion) -> u64 {
        let fingerprint = asked.fingerprint.to_hex();
        self.change(|record| {
            let mut all = record.refused.iter();
            let same = all.find(|kept| kept.fingerprint == fingerprint);
            let number = match (asked.number, same) {
                (0, Some(same)) => same.number,
                (0, None) => {
                    record.last += 1;
                    record.last
                }
                (number, _) => number,
            };
            record
                .refused
                .retain(|kept| kept.fingerprint != fingerprint && kept.number != number);
            record.refused.push(KeptQuestion {
                number,
                caller: asked.caller.clone(),
                tool: asked.tool.clone(),
                topic: asked.topic,
                question: asked.question.clone(),
                hidden: asked.hidden,
                fingerprint: fingerprint.clone(),
                at: now(),
            });
            Some(number)
        })
        .unwrap_or_default()
    }

    /// Takes a refused question away: nobody is to answer it any more.
    pub(super) fn forget(&self, number: u64) {
        self.change(|record| {
            let before = record.refused.len();
            record.refused.retain(|kept| kept.number != number);
            (record.refused.len() < before).then_some(())
        });
    }

    /// Answers a refused question, for the next call that asks the same.
    pub(super) fn answer(
        &self,
        id: QuestionId,
        answer: Answer,
        by: &str,
    ) -> Result<(), Unanswerable> {
        let Some(answer) = KeptAnswerValue::of(answer) else {
            self.forget(id.0);
            return Ok(());
        };
        let mut answer = Some(answer);
        let mut last = 0;
        let answered = self.change(|record| {
            last = record.last;
            let mut all = record.refused.iter();
            let fingerprint = all.find(|kept| kept.number == id.0)?.fingerprint.clone();
            record.refused.retain(|kept| kept.number != id.0);
            record.given.push(KeptAnswer {
                fingerprint,
                answer: answer.take()?,
                by: by.to_owned(),
                at: now(),
            });
            Some(())
        });
        match answered {
            Some(()) => Ok(()),
            None if id.0 <= last => Err(Unanswerable::Gone(id)),
            None => Err(Unanswerable::Unknown(id)),
        }
    }

    /// The answer to exactly this question, and whose it is. It is struck off before anything is done with it: if it
    /// cannot be, there is none.
    pub(super) fn take(&self, fingerprint: &Fingerprint) -> Option<(Answer, String)> {
        let fingerprint = fingerprint.to_hex();
        let is_it = |given: &KeptAnswer| given.fingerprint == fingerprint;
        if !self.read().given.iter().any(is_it) {
            return None;
        }
        self.strictly(|record| {
            let place = record.given.iter().position(is_it)?;
            let given = record.given.remove(place);
            Some((given.answer.into_answer(), given.by))
        })
        .ok()
        .flatten()
    }

    /// The refused questions, and when each was.
    pub(super) fn refused(&self) -> Vec<(BoardQuestion, Instant)> {
        let record = self.read();
        let asked = record.refused.into_iter().map(|kept| {
            let age = Duration::from_millis(now().saturating_sub(kept.at));
            let since = Instant::now().checked_sub(age);
            (kept.into_asked(since), since.unwrap_or_else(Instant::now))
        });
        asked.collect()
    }

    /// Whether a question of this number was ever asked.
    pub(super) fn was_asked(&self, number: u64) -> bool {
        number <= self.read().last
    }

    #[cfg(test)]
    pub(super) fn given(&self) -> usize {
        self.read().given.len()
    }

    fn read(&self) -> KeptRecord {
        let bytes = self.memory().get(FILE);
        let mut record = KeptRecord::read(bytes);
        record.prune(self.times);
        record
    }

    /// Changes the record. Where it cannot be written, it is kept in this process from now on.
    fn change<T>(&self, mut change: impl FnMut(&mut KeptRecord) -> Option<T>) -> Option<T> {
        if let Ok(done) = self.strictly(&mut change) {
            return done;
        }
        // What cannot be struck off would be used by every server.
        let record = KeptRecord {
            given: Vec::new(),
            ..self.read()
        };
        let forgetful: Arc<dyn Memory> = Arc::new(ForgetfulMemory::default());
        let _ = forgetful.update(FILE, &mut |_| Some(record.write()));
        *self.memory.lock().unwrap_or_else(PoisonError::into_inner) = forgetful;
        self.strictly(change).ok().flatten()
    }

    /// Changes the record, or fails. `None` of `change` leaves it as it was.
    fn strictly<T>(
        &self,
        mut change: impl FnMut(&mut KeptRecord) -> Option<T>,
    ) -> Result<Option<T>, String> {
        let mut done = None;
        self.memory().update(FILE, &mut |bytes| {
            let mut record = KeptRecord::read(bytes);
            record.prune(self.times);
            done = change(&mut record);
            done.is_some().then(|| record.write())
        })?;
        Ok(done)
    }

    fn memory(&self) -> Arc<dyn Memory> {
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&memory)
    }
}

impl std::fmt::Debug for KeptQuestions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeptQuestions").finish_non_exhaustive()
    }
}

impl KeptRecord {
    /// What a file holds. What is none of ours counts as absent.
    fn read(bytes: Option<Vec<u8>>) -> Self {
        let limits = JsonLimits::for_bytes(LARGEST * 2);
        let read = bytes.and_then(|bytes| json::from_slice(&bytes, &limits).ok());
        read.unwrap_or_default()
    }

    fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Leaves out what is too old or too much.
    fn prune(&mut self, times: KeptTimes) {
        let now = now();
        // What is to come was written by a clock that went wrong: it is not believed to be young.
        let is_kept = |at: u64, time: Duration| at <= now && Duration::from_millis(now - at) < time;
        self.refused.retain(|kept| is_kept(kept.at, times.refused));
        self.given.retain(|kept| is_kept(kept.at, times.given));
        let too_many = |count: usize, most: usize| count.saturating_sub(most);
        self.refused
            .drain(..too_many(self.refused.len(), MOST_REFUSED));
        self.given.drain(..too_many(self.given.len(), MOST_GIVEN));
        let mut size = 0;
        let fits = |kept: &KeptQuestion| {
            size += serde_json::to_vec(kept).map_or(LARGEST, |bytes| bytes.len());
            size <= LARGEST
        };
        let kept = self
            .refused
            .iter()
            .rev()
            .map(fits)
            .take_while(|fits| *fits)
            .count();
        self.refused.drain(..self.refused.len() - kept);
    }
}

impl KeptQuestion {
    fn into_asked(self, since: Option<Instant>) -> BoardQuestion {
        BoardQuestion {
            number: self.number,
            caller: self.caller,
            tool: self.tool,
            topic: self.topic,
            question: self.question,
            hidden: self.hidden,
            fingerprint: Fingerprint::from_hex(&self.fingerprint),
            outlives_server: true,
            since: since.unwrap_or_else(Instant::now),
        }
    }
}

impl KeptAnswerValue {
    /// `None` for what answers nothing.
    fn of(answer: Answer) -> Option<Self> {
        match answer {
            Answer::Given(value) => Some(Self::Given(value)),
            Answer::GivenForTurn(value) => Some(Self::Turn(value)),
            Answer::Rejected(reason) => Some(Self::Rejected(reason)),
            _ => None,
        }
    }

    fn into_answer(self) -> Answer {
        match self {
            Self::Given(value) => Answer::Given(value),
            Self::Turn(value) => Answer::GivenForTurn(value),
            Self::Rejected(reason) => Answer::Rejected(reason),
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// The file of the memory.
const FILE: &str = "questions.json";

/// How many bytes of refused questions are kept: an agent chooses how long they are, and every call that asks reads
/// them.
const LARGEST: usize = 2 << 20;

#[cfg(test)]
mod tests;
