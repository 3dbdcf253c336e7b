//! [`Seal`]: the `requestState` that a client takes along from a parked call to its retry.
//!
//! It says which call is meant and which of its rounds, nothing else: the call itself waits here. It is sealed,
//! so that nobody can make one, bound to its caller, tool and arguments, so that it fits no other call, and it
//! expires. That it is used once is seen to by the call, which knows the round that it waits for.

use std::time::Duration;

use rmcp::model::{RequestStateCodec, SealOptions};
use serde_json::{Map, Value};

/// Seals what clients are handed, with a key that lives as long as the server.
pub(crate) struct Seal(RequestStateCodec);

/// Which call in flight of a caller is meant, and which of its rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CallRound {
    pub(crate) call: u64,
    pub(crate) round: u64,
}

/// What a ticket is good for: a hash over caller, tool and arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TicketScope([u8; 32]);

impl Seal {
    /// A seal with a new key.
    ///
    /// # Errors
    ///
    /// If the system has no random numbers.
    pub(crate) fn new() -> Result<Self, String> {
        let key: [u8; 32] = random().map_err(|error| format!("no random numbers: {error}"))?;
        let codec = RequestStateCodec::try_new(key.to_vec()).map_err(|error| error.to_string())?;
        Ok(Self(codec))
    }

    /// What the client is handed.
    pub(crate) fn seal(&self, ticket: CallRound, bound: &TicketScope, ttl: Duration) -> String {
        let mut payload = [0; 16];
        payload[..8].copy_from_slice(&ticket.call.to_be_bytes());
        payload[8..].copy_from_slice(&ticket.round.to_be_bytes());
        let options = SealOptions::new().associated_data(&bound.0).ttl(ttl);
        self.0.seal_with(&payload, &options)
    }

    /// The ticket, if this is one of ours for exactly this call and not too old. Why not is not told: it
    /// would help nobody but whoever forges one.
    pub(crate) fn open(&self, sealed: &str, bound: &TicketScope) -> Option<CallRound> {
        if sealed.len() > LONGEST {
            return None;
        }
        let payload = self.0.open_with(sealed, &bound.0).ok()?;
        let (call, round) = payload.split_first_chunk::<8>()?;
        Some(CallRound {
            call: u64::from_be_bytes(*call),
            round: u64::from_be_bytes(round.try_into().ok()?),
        })
    }
}

impl TicketScope {
    /// What a call of this caller, of this tool and with these arguments is bound to. The order of an object's
    /// members does not matter: a client may write them anew.
    pub(crate) fn new(caller: &str, tool: &str, arguments: &Map<String, Value>) -> Self {
        let mut hasher = blake3::Hasher::new();
        hash_text(&mut hasher, caller);
        hash_text(&mut hasher, tool);
        hash_object(&mut hasher, arguments);
        Self(*hasher.finalize().as_bytes())
    }

    /// The hash itself.
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Bytes that nobody can guess.
pub(crate) fn random<const N: usize>() -> Result<[u8; N], rustix::io::Errno> {
    let mut bytes = [0; N];
    let mut filled = 0;
    while filled < N {
        let more =
            rustix::rand::getrandom(&mut bytes[filled..], rustix::rand::GetRandomFlags::empty());
        match more {
            Ok(count) => filled += count,
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(bytes)
}

// Every part is preceded by its length or count, so that no two values are written alike.
fn hash_text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_be_bytes());
    hasher.update(text.as_bytes());
}

fn hash_object(hasher: &mut blake3::Hasher, object: &Map<String, Value>) {
    let mut members: Vec<(&String, &Value)> = object.iter().collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    hasher.update(b"{");
    hasher.update(&(members.len() as u64).to_be_bytes());
    for (name, value) in members {
        hash_text(hasher, name);
        hash_value(hasher, value);
    }
}

// The transport bounds how deep a message is nested: `serde_json` reads no more than 128 levels.
fn hash_value(hasher: &mut blake3::Hasher, value: &Value) {
    match value {
        Value::Object(object) => hash_object(hasher, object),
        Value::Array(items) => {
            hasher.update(b"[");
            hasher.update(&(items.len() as u64).to_be_bytes());
            for item in items {
                hash_value(hasher, item);
            }
        }
        Value::String(text) => {
            hasher.update(b"\"");
            hash_text(hasher, text);
        }
        plain => {
            hasher.update(b"=");
            hash_text(hasher, &plain.to_string());
        }
    }
}

/// No state of ours is longer. A client sends it, and reading one costs memory.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests;
