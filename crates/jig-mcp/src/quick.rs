//! Calls that need no thread of their own: quick ones are done where connections are served, and those of servers
//! behind this one are awaited there.
//!
//! A hop to another thread and back costs as much as such a call. Whatever has to wait for a person is gone on with
//! elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use jig_broker::CancelToken;
use jig_config::Tool;
use jig_engine::{AtOnce, Call, Engine, Waits};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::Value;

use crate::caller::Caller;
use crate::in_flight::{Underway, broke};
use crate::result::result;
use crate::servers::Servers;
use crate::shared::{Options, Shared};

/// What came of trying a call here.
pub(crate) enum Tried {
    /// It is done.
    Done(CallToolResult),
    /// It has begun, and goes on while others are served.
    Begun(Begun),
    /// It is none for here.
    Not,
}

/// A call that has begun.
pub(crate) enum Begun {
    /// It waits for a person.
    Waits {
        engine: Arc<Engine>,
        waits: Box<Waits>,
        /// What cancels it.
        cancel: CancelToken,
    },
    /// It goes to a server.
    Direct(Box<Underway>),
}

/// Does a call on this thread, if it is quick, or has it ready if it goes to a server. Only then its arguments are
/// asked for.
pub(crate) fn call(
    shared: &Shared,
    caller: &Caller,
    tool: &str,
    arguments: impl FnOnce() -> JsonObject,
) -> Tried {
    let engine = caller.engine(shared);
    let Some(declared) = engine.config().tool(tool) else {
        return Tried::Not;
    };
    if let Some((server, there)) = declared.on_server() {
        return match &shared.servers {
            Some(servers) if servers.is_ready(server, there) => {
                let ready = || directly(caller, &engine, declared, servers, arguments());
                caught(catch_unwind(AssertUnwindSafe(ready)))
            }
            _ => Tried::Not,
        };
    }
    if !engine.is_quick(declared) || is_full(shared, caller) {
        return Tried::Not;
    }
    let Some(_slot) = Slot::take(shared) else {
        return Tried::Not;
    };
    let cancel = CancelToken::new();
    let mut call = Call::new(tool, Value::Object(arguments()));
    call.cancel = Some(cancel.clone());
    let tried = catch_unwind(AssertUnwindSafe(|| match engine.try_at_once(call) {
        AtOnce::Done(outcome) => Tried::Done(result(caller, &engine, declared, outcome, &[])),
        AtOnce::Waits(waits) => Tried::Begun(Begun::Waits {
            engine: Arc::clone(&engine),
            waits: Box::new(waits),
            cancel,
        }),
        AtOnce::Not(_) => Tried::Not,
    }));
    caught(tried)
}

/// What came of it, also if that is a mistake of ours: whoever waits for an answer gets one.
fn caught(tried: std::thread::Result<Tried>) -> Tried {
    tried.unwrap_or_else(|_| Tried::Done(broke().result))
}

/// Whether there is no room for another call, which is told where calls are admitted.
fn is_full(shared: &Shared, caller: &Caller) -> bool {
    let Options {
        calls_per_caller,
        calls,
        ..
    } = shared.options;
    caller.in_flight.len() >= calls_per_caller || shared.running.load(Ordering::Acquire) >= calls
}

/// Has a call ready that goes to a server, if nobody has to be asked.
fn directly(
    caller: &Caller,
    engine: &Arc<Engine>,
    tool: &Tool,
    servers: &Arc<Servers>,
    arguments: JsonObject,
) -> Tried {
    let mut call = Call::new(tool.name.as_str(), Value::Object(arguments));
    match engine.try_direct(&mut call) {
        Ok(Some((call, direct))) => {
            let underway = Underway::new(Arc::clone(engine), Arc::clone(servers), call, direct);
            Tried::Begun(Begun::Direct(Box::new(underway)))
        }
        Ok(None) => Tried::Not,
        Err(error) => Tried::Done(result(caller, engine, tool, Err(error), &[])),
    }
}

/// The right to run a quick call on a thread that serves connections. Where there are several, there is always
/// another one left to serve them: a file may lie on a disk that takes its time.
struct Slot<'s>(&'s Shared);

impl<'s> Slot<'s> {
    fn take(shared: &'s Shared) -> Option<Self> {
        let is_taken = shared.quick.swap(true, Ordering::AcqRel);
        (!is_taken).then_some(Self(shared))
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.quick.store(false, Ordering::Release);
    }
}
