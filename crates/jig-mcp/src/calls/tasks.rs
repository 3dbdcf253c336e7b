//! [`Tasks`]: calls in flight that their client asks about instead of waiting.
//!
//! A task is a call in flight under a name that nobody can guess, and nothing more: its states are those of the
//! call, its questions are on the board, and to cancel it is to cancel the call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rmcp::model::{
    CreateTaskResult, DetailedTask, ErrorData, GetTaskResult, InputResponses, JsonObject, Task,
    TaskPayload, TaskStatus,
};
use serde::Serialize;
use serde_json::Value;

use crate::calls::in_flight::{InFlight, InFlightStatus};
use crate::calls::request_state::random;
use crate::calls::tools_call::{ClientFeatures, deliver, input_requests};
use crate::shared::SharedServer;

/// The tasks of one caller.
#[derive(Default)]
pub(crate) struct Tasks {
    tasks: Mutex<HashMap<String, TaskEntry>>,
}

#[derive(Clone)]
struct TaskEntry {
    flight: Arc<InFlight>,
    created: SystemTime,
    since: Instant,
    /// What the client can do.
    client: ClientFeatures,
}

impl Tasks {
    /// Makes a task of a call. `None` if there are too many: the call is then waited for.
    pub(crate) fn create(
        &self,
        flight: &Arc<InFlight>,
        client: ClientFeatures,
    ) -> Option<CreateTaskResult> {
        let id = random::<16>().ok()?;
        let id: String = id.iter().map(|byte| format!("{byte:02x}")).collect();
        let entry = TaskEntry {
            flight: Arc::clone(flight),
            created: SystemTime::now(),
            since: Instant::now(),
            client,
        };
        let mut tasks = self.tasks();
        tasks.retain(|_, entry| !entry.is_over());
        if tasks.len() >= MOST {
            return None;
        }
        let task = entry.task(&id, TaskStatus::Working);
        tasks.insert(id, entry);
        Some(CreateTaskResult::new(task))
    }

    /// How a task stands.
    ///
    /// # Errors
    ///
    /// If there is none of this name.
    pub(crate) fn get(&self, id: &str) -> Result<GetTaskResult, ErrorData> {
        let entry = self.find(id)?;
        let (payload, message) = entry.payload();
        let mut task = entry.task(id, payload.status());
        task.status_message = message;
        Ok(GetTaskResult::new(DetailedTask::new(task, payload)))
    }

    /// Hands on the client's answers. Those to questions that are not open are not looked at.
    ///
    /// # Errors
    ///
    /// If there is no task of this name.
    pub(crate) fn update(
        &self,
        shared: &SharedServer,
        id: &str,
        responses: InputResponses,
    ) -> Result<(), ErrorData> {
        let entry = self.find(id)?;
        if let (_, InFlightStatus::Asking(asking)) = entry.flight.now()
            && entry.client.can(&asking)
        {
            deliver(shared, &entry.flight, &asking, responses);
        }
        Ok(())
    }

    /// Cancels the call behind a task, if it still runs.
    ///
    /// # Errors
    ///
    /// If there is no task of this name.
    pub(crate) fn cancel(&self, id: &str) -> Result<(), ErrorData> {
        let entry = self.find(id)?;
        entry.flight.cancel();
        Ok(())
    }

    fn find(&self, id: &str) -> Result<TaskEntry, ErrorData> {
        let mut tasks = self.tasks();
        tasks.retain(|_, entry| !entry.is_over());
        let entry = tasks.get(id).cloned();
        entry.ok_or_else(|| ErrorData::invalid_params("there is no such task", None))
    }

    fn tasks(&self) -> MutexGuard<'_, HashMap<String, TaskEntry>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TaskEntry {
    fn task(&self, id: &str, status: TaskStatus) -> Task {
        let changed = self.flight.changed_at().max(self.created);
        let ttl = u64::try_from(self.ttl().as_millis()).unwrap_or(u64::MAX);
        Task::new(id, status, timestamp(self.created), timestamp(changed))
            .with_ttl_ms(ttl)
            .with_poll_interval_ms(POLL)
    }

    /// How long it is kept, from its creation on: one that takes longer is kept until its client had the time
    /// to come for the result.
    fn ttl(&self) -> Duration {
        let age = self.since.elapsed();
        let ran = match self.flight.ended() {
            Some(ago) => age.saturating_sub(ago),
            None => age,
        };
        TTL.max(ran + KEPT)
    }

    fn is_over(&self) -> bool {
        self.flight.ended().is_some() && self.since.elapsed() > self.ttl()
    }

    /// What there is to tell, and in words how it goes.
    fn payload(&self) -> (TaskPayload, Option<String>) {
        match self.flight.now().1 {
            InFlightStatus::Running(text) => {
                (TaskPayload::Working, text.map(|text| text.to_string()))
            }
            InFlightStatus::Asking(asking) if self.client.can(&asking) => {
                let payload = TaskPayload::InputRequired {
                    input_requests: input_requests(&asking),
                };
                (payload, asking.complaint())
            }
            InFlightStatus::Asking(asking) => {
                let told = format!(
                    "Waiting for a person, who can answer with `jig approve {}`.",
                    asking.id
                );
                (TaskPayload::Working, Some(told))
            }
            InFlightStatus::Done(outcome) if outcome.cancelled => (TaskPayload::Cancelled, None),
            InFlightStatus::Done(outcome) => {
                let payload = match &outcome.failure {
                    Some(error) => TaskPayload::Failed {
                        error: object(error),
                    },
                    None => TaskPayload::Completed {
                        result: object(&outcome.result),
                    },
                };
                (payload, None)
            }
        }
    }
}

/// A part of the protocol as an object. All that is told of tasks are objects.
fn object(value: &impl Serialize) -> JsonObject {
    match serde_json::to_value(value) {
        Ok(Value::Object(object)) => object,
        _ => JsonObject::new(),
    }
}

/// A time as the protocol writes it.
fn timestamp(time: SystemTime) -> String {
    jiff::Timestamp::try_from(time)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_string()
}

/// How many tasks one caller may have, those that are over included. Their results are kept in memory.
const MOST: usize = 256;

/// How long a task is kept at least.
const TTL: Duration = Duration::from_secs(60 * 60);

/// How long the result of a task is kept at least.
const KEPT: Duration = Duration::from_secs(15 * 60);

/// How often a client should ask, in milliseconds.
const POLL: u64 = 500;
