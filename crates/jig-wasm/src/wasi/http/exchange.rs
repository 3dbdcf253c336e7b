//! [`WasiHttpExchange`]: one request, from its first byte to the answer.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use jig_proto::vfs::Header;

use super::budget::{BudgetShare, GuestHttpBudget};
use crate::bindings::wasi::http::types::ErrorCode;
use crate::wasi::io::{GuestSink, GuestSource, IoError, Pollable};

/// One request, which several things of the guest are about: the body that it writes and the answer that it
/// waits for. It is sent as soon as it is handed over and its body is finished, whichever comes last.
#[derive(Debug)]
pub(super) struct WasiHttpExchange {
    state: Mutex<ExchangeState>,
    /// Whether there is an answer.
    is_answered: Arc<AtomicBool>,
}

#[derive(Debug)]
struct ExchangeState {
    body: Vec<u8>,
    held: BudgetShare,
    end: BodyState,
    request: Option<GuestRequestHead>,
    answer: Option<Result<WasiHttpAnswer, ErrorCode>>,
}

/// Where a body stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BodyState {
    /// More may come.
    Open,
    /// It is whole.
    Finished,
    /// It will never be.
    Broken,
}

/// A request without its body, as the broker takes it.
#[derive(Debug)]
pub(super) struct GuestRequestHead {
    pub(super) is_post: bool,
    pub(super) url: String,
    pub(super) headers: Vec<Header<'static>>,
}

/// What a server said.
#[derive(Debug)]
pub(super) struct WasiHttpAnswer {
    pub(super) status: u16,
    pub(super) body: AnswerBody,
}

/// The body of an answer.
#[derive(Debug)]
pub(super) struct AnswerBody {
    bytes: Bytes,
    _held: BudgetShare,
}

impl AnswerBody {
    /// `None` if there is no room for it.
    pub(super) fn new(bytes: Bytes, budget: &GuestHttpBudget) -> Option<Self> {
        let held = budget.take(bytes.len())?;
        Some(Self { bytes, _held: held })
    }
}

impl GuestSource for AnswerBody {
    fn read(&mut self, most: usize) -> Result<Option<Bytes>, IoError> {
        self.bytes.read(most)
    }
}

impl WasiHttpExchange {
    /// An exchange whose body the guest writes, or that has none.
    pub(super) fn new(budget: &GuestHttpBudget, has_body: bool) -> Option<Arc<Self>> {
        Some(Arc::new(Self {
            state: Mutex::new(ExchangeState {
                body: Vec::new(),
                held: budget.take(0)?,
                end: match has_body {
                    true => BodyState::Open,
                    false => BodyState::Finished,
                },
                request: None,
                answer: None,
            }),
            is_answered: Arc::default(),
        }))
    }

    /// The stream into the body.
    pub(super) fn stream(self: &Arc<Self>, most: usize) -> impl GuestSink + 'static {
        BodyStream {
            exchange: Arc::clone(self),
            most,
        }
    }

    /// How many bytes the body has.
    pub(super) fn written(&self) -> u64 {
        self.lock().body.len() as u64
    }

    /// Nothing more comes.
    pub(super) fn finish(&self) {
        let mut state = self.lock();
        if state.end == BodyState::Open {
            state.end = BodyState::Finished;
        }
    }

    /// The rest never comes.
    pub(super) fn give_up(&self) {
        let mut state = self.lock();
        if state.end == BodyState::Open {
            state.end = BodyState::Broken;
            state.body = Vec::new();
        }
    }

    /// Hands the request over.
    pub(super) fn hand_over(&self, request: GuestRequestHead) {
        self.lock().request = Some(request);
    }

    /// What is to be sent, once, when everything is there.
    pub(super) fn take_whole(&self) -> Option<(GuestRequestHead, Vec<u8>)> {
        let mut state = self.lock();
        match state.end {
            BodyState::Open => None,
            BodyState::Finished => {
                let request = state.request.take()?;
                Some((request, std::mem::take(&mut state.body)))
            }
            BodyState::Broken => {
                if state.request.take().is_some() {
                    let why = "the body of the request was never finished".to_owned();
                    state.answer = Some(Err(ErrorCode::InternalError(Some(why))));
                    self.is_answered.store(true, Ordering::Relaxed);
                }
                None
            }
        }
    }

    /// Keeps the answer.
    pub(super) fn answer(&self, answer: Result<WasiHttpAnswer, ErrorCode>) {
        self.lock().answer = Some(answer);
        self.is_answered.store(true, Ordering::Relaxed);
    }

    /// The answer, once: `None` if there is none yet, an error if it was taken.
    pub(super) fn take_answer(&self) -> Option<Result<Result<WasiHttpAnswer, ErrorCode>, ()>> {
        self.is_answered
            .load(Ordering::Relaxed)
            .then(|| self.lock().answer.take().ok_or(()))
    }

    /// Ready when there is an answer.
    pub(super) fn pollable(&self) -> Pollable {
        Pollable::Once(Arc::clone(&self.is_answered))
    }

    fn lock(&self) -> MutexGuard<'_, ExchangeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the body of a request.
struct BodyStream {
    exchange: Arc<WasiHttpExchange>,
    /// The most bytes of a body.
    most: usize,
}

impl GuestSink for BodyStream {
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        let failed = |message: String| IoError {
            message,
            code: None,
        };
        let mut state = self.exchange.lock();
        if state.end != BodyState::Open {
            return Err(failed("the body is finished".to_owned()));
        }
        let room = self.most.saturating_sub(state.body.len());
        if bytes.len() > room || !state.held.grow(bytes.len()) {
            // What was written is not what the guest meant: it must not be sent.
            state.end = BodyState::Broken;
            state.body = Vec::new();
            let most = self.most;
            return Err(failed(format!("a body has at most {most} bytes")));
        }
        state.body.extend_from_slice(bytes);
        Ok(())
    }
}
