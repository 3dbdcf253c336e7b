//! How much is used, and how much may be: counted before anything is sent.
//!
//! [`Quota::reserve`] takes the most that a call can cost out of what is left, under one lock, so that calls at
//! the same time cannot together go over the limit. The [`Reservation`] ends in one of three ways: the usage
//! that the provider reported is counted and the rest given back; nothing was processed and all is given back;
//! or nobody knows, and all of it is counted.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_proto::fsproxy::{QuotaReport, TokenUsage};

use super::settings::Weights;

/// The tokens of one or more calls. Those that were cached are part of the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct LlmTokens {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

/// What a token costs, in millionths of a weighted token. Integers, so that a sum of a million calls is
/// as exact as that of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TokenRates {
    input: u64,
    cached: u64,
    output: u64,
}

impl From<Weights> for TokenRates {
    /// The weights are checked: finite, not negative, bounded.
    fn from(weights: Weights) -> Self {
        let rate = |weight: f64| (weight * MILLION).round() as u64;
        Self {
            input: rate(weights.input),
            cached: rate(weights.cached),
            output: rate(weights.output),
        }
    }
}

impl TokenRates {
    fn cost(self, tokens: LlmTokens) -> u128 {
        let cost = |tokens: u64, rate: u64| u128::from(tokens) * u128::from(rate);
        let fresh = tokens.input.saturating_sub(tokens.cached);
        cost(fresh, self.input)
            .saturating_add(cost(tokens.cached, self.cached))
            .saturating_add(cost(tokens.output, self.output))
    }

    /// The usage as it is told.
    fn usage(self, tokens: LlmTokens) -> TokenUsage {
        TokenUsage {
            input_tokens: tokens.input,
            cached_tokens: tokens.cached,
            output_tokens: tokens.output,
            weighted: told(self.cost(tokens)),
        }
    }
}

/// The counter of one client tree. Clones are the same counter.
#[derive(Debug, Clone)]
pub(super) struct Quota(Arc<Mutex<QuotaCounter>>);

#[derive(Debug, Default)]
struct QuotaCounter {
    /// 0 is unlimited.
    limit: u128,
    used: u128,
    reserved: u128,
    calls: u64,
    tokens: LlmTokens,
}

impl Quota {
    /// A counter with this many weighted tokens; 0 is unlimited.
    pub(super) fn new(limit: f64) -> Self {
        let counted = (limit * MILLION).round() as u128;
        // A limit that is too small to be counted is still one.
        let limit = counted.max(u128::from(limit > 0.0));
        Self(Arc::new(Mutex::new(QuotaCounter {
            limit,
            ..QuotaCounter::default()
        })))
    }

    /// Takes the most that a call can cost: `input` tokens at the higher of their two rates and as many tokens of
    /// an answer as are asked for, or as the rest pays for (F-075). `None` if it does not pay for one.
    pub(super) fn reserve(&self, rates: TokenRates, input: u64, asked: u64) -> Option<Reservation> {
        let mut counter = self.counter();
        let most = u128::from(input) * u128::from(rates.input.max(rates.cached));
        let output = match counter.rest() {
            None => asked,
            Some(rest) => {
                let rest = rest.checked_sub(most)?;
                let affordable = rest.checked_div(u128::from(rates.output));
                let affordable = affordable.unwrap_or(u128::MAX);
                asked.min(u64::try_from(affordable).unwrap_or(u64::MAX))
            }
        };
        if output == 0 {
            return None;
        }
        // What costs nothing is still refused when nothing is left: a quota that is used up means that.
        if counter.rest() == Some(0) {
            return None;
        }
        let taken = most.saturating_add(u128::from(output) * u128::from(rates.output));
        counter.reserved = counter.reserved.saturating_add(taken);
        Some(Reservation {
            quota: self.clone(),
            rates,
            taken,
            most: LlmTokens {
                input,
                cached: 0,
                output,
            },
            ended: false,
        })
    }

    /// How it stands.
    pub(super) fn report(&self) -> QuotaReport {
        let counter = self.counter();
        let limited = counter.limit > 0;
        QuotaReport {
            used: told(counter.used),
            reserved: told(counter.reserved),
            limit: told(counter.limit),
            remaining: counter.rest().map(told),
            percent: limited.then(|| 100.0 * told(counter.used) / told(counter.limit)),
            calls: counter.calls,
            input_tokens: counter.tokens.input,
            cached_tokens: counter.tokens.cached,
            output_tokens: counter.tokens.output,
        }
    }

    fn counter(&self) -> MutexGuard<'_, QuotaCounter> {
        // A panic elsewhere cannot leave it half-changed: every change is made of plain additions.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QuotaCounter {
    /// What nobody has used or reserved; `None` if there is no limit.
    fn rest(&self) -> Option<u128> {
        let taken = self.used.saturating_add(self.reserved);
        (self.limit > 0).then(|| self.limit.saturating_sub(taken))
    }
}

/// What was taken out for one call.
///
/// One that is dropped counts in full: whoever forgets it, or panics, does not know that nothing was processed.
#[derive(Debug)]
#[must_use]
pub(super) struct Reservation {
    quota: Quota,
    rates: TokenRates,
    taken: u128,
    most: LlmTokens,
    ended: bool,
}

impl Reservation {
    /// The most tokens that the answer may have.
    pub(super) fn max_tokens(&self) -> u64 {
        self.most.output
    }

    /// Counts what the provider reported, also if that is more than was reserved.
    pub(super) fn settle(mut self, tokens: LlmTokens) -> TokenUsage {
        self.end(Some((tokens, self.rates.cost(tokens))));
        self.rates.usage(tokens)
    }

    /// Gives all of it back: nothing was processed.
    pub(super) fn give_back(mut self) {
        self.end(None);
    }

    /// Counts all of it: the provider may have processed the call, and did not say what that cost.
    pub(super) fn forfeit(mut self) -> TokenUsage {
        self.end(Some((self.most, self.taken)));
        TokenUsage {
            weighted: told(self.taken),
            ..self.rates.usage(self.most)
        }
    }

    fn end(&mut self, counted: Option<(LlmTokens, u128)>) {
        if std::mem::replace(&mut self.ended, true) {
            return;
        }
        let mut counter = self.quota.counter();
        counter.reserved = counter.reserved.saturating_sub(self.taken);
        let Some((tokens, cost)) = counted else {
            return;
        };
        counter.used = counter.used.saturating_add(cost);
        counter.calls = counter.calls.saturating_add(1);
        let sum = &mut counter.tokens;
        sum.input = sum.input.saturating_add(tokens.input);
        sum.cached = sum.cached.saturating_add(tokens.cached);
        sum.output = sum.output.saturating_add(tokens.output);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.end(Some((self.most, self.taken)));
    }
}

/// Millionths as weighted tokens.
fn told(millionths: u128) -> f64 {
    // A whole number and a fraction each fit; a quotient of the whole would lose digits earlier.
    let (whole, part) = (millionths / 1_000_000, millionths % 1_000_000);
    whole as f64 + part as f64 / MILLION
}

const MILLION: f64 = 1_000_000.0;

#[cfg(test)]
mod tests;
