//! [`Express`]: calls that are begun and answered right where their lines are read.
//!
//! rmcp hands a request from task to task and reads it twice, which costs more than a quick call, or the way to a
//! server and back. What the plainest of all calls needs of it is little: a line in, a line out. So a `tools/call`
//! that is quick, or goes to a server that is ready, is done here. As soon as there is more to it than a result,
//! such as a question or progress, it is *handed over*: rmcp gets the request, and with it the call that has begun.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{CallToolResult, ProtocolVersion, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::io::AsyncWrite;
use tokio::sync::mpsc;

use super::lines::{self, Debt, Out};
use crate::call::quickly;
use crate::caller::Caller;
use crate::in_flight::{Place, Underway, broke};
use crate::object::Object;
use crate::quick::{Begun, Tried};
use crate::result::for_version;
use crate::shared::Shared;

/// The version that a client of the older era has agreed to, while it has.
pub(crate) type Greeted = Arc<Mutex<Option<ProtocolVersion>>>;

/// Whoever answers calls where they are read.
pub(super) struct Express {
    shared: Arc<Shared>,
    caller: Arc<Caller>,
    greeted: Greeted,
}

/// A call that rmcp goes on with: whoever handles the request finds it in the extensions of that, once.
#[derive(Clone)]
pub(crate) struct HandedOver(Arc<Mutex<Option<Begun>>>);

/// A request that rmcp is to get after all.
pub(super) struct Handed<W: AsyncWrite + Unpin + Send + 'static> {
    /// The line that it came in.
    pub(super) line: Vec<u8>,
    pub(super) begun: HandedOver,
    /// Whoever has owed the answer until now.
    pub(super) answering: Answering<W>,
}

/// What became of a line.
pub(super) enum Taken {
    /// It is, or will be, answered.
    Answered,
    /// It has begun, and rmcp is to go on with it.
    Begun(HandedOver),
    /// It is left to others.
    Left,
}

/// The line of a call that is nothing but a call. Whatever is said besides is for others to understand.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'l> {
    jsonrpc: &'l str,
    id: RequestId,
    method: &'l str,
    #[serde(borrow)]
    params: Object<Params<'l>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params<'l> {
    name: &'l str,
    arguments: Option<Map<String, Value>>,
    #[serde(rename = "_meta")]
    meta: Option<Map<String, Value>>,
}

impl Params<'_> {
    /// Whether it says of itself what a request of the newer era says, which others judge.
    fn is_of_newer_era(&self) -> bool {
        let mut keys = self.meta.iter().flat_map(Map::keys);
        keys.any(|key| key.starts_with("io.modelcontextprotocol/"))
    }
}

impl HandedOver {
    fn new(begun: Begun) -> Self {
        Self(Arc::new(Mutex::new(Some(begun))))
    }

    /// The call. It is there once.
    pub(crate) fn take(&self) -> Option<Begun> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Express {
    /// Answers calls of this caller, once it was `greeted`.
    pub(super) fn new(shared: Arc<Shared>, caller: Arc<Caller>, greeted: Greeted) -> Self {
        Self {
            shared,
            caller,
            greeted,
        }
    }

    /// Begins the call of a line, if it is one for here. What has to be handed over later goes to `hand`.
    pub(super) fn take<W>(
        &self,
        line: &[u8],
        out: &Arc<Out<W>>,
        hand: &mpsc::UnboundedSender<Handed<W>>,
    ) -> Taken
    where
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let greeted = self.greeted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(version) = greeted.clone().filter(|_| line.len() <= LONGEST) else {
            return Taken::Left;
        };
        drop(greeted);
        let Ok(Object(Line {
            jsonrpc: "2.0",
            id,
            method: "tools/call",
            params: Object(params),
        })) = serde_json::from_slice(line)
        else {
            return Taken::Left;
        };
        // Of two with one id, the second is refused, elsewhere.
        if params.is_of_newer_era() || out.owes(&id) {
            return Taken::Left;
        }
        let arguments = || params.arguments.unwrap_or_default();
        let tried = quickly(&self.shared, &self.caller, params.name, arguments);
        let answering = |given_up| Answering {
            out: Arc::clone(out),
            debt: out.owe(id.clone(), line.len(), given_up),
            id,
            version,
            is_due: true,
        };
        match tried {
            Some(Tried::Done(result)) => {
                let (telling, hand) = (answering(None).tell(result), hand.clone());
                tokio::spawn(async move {
                    telling.await;
                    // As long as somebody could hand something over, the connection does not end.
                    drop(hand);
                });
                Taken::Answered
            }
            Some(Tried::Begun(Begun::Direct(underway))) => {
                let given_up = underway.given_up().clone();
                // Why there is no room is told elsewhere. Nothing of the call was sent.
                let Ok(place) = Place::take(&self.shared, &self.caller, given_up.clone()) else {
                    return Taken::Left;
                };
                let call = Call {
                    caller: Arc::clone(&self.caller),
                    underway,
                    place,
                    answering: answering(Some(given_up)),
                    line: line.to_owned(),
                    hand: hand.clone(),
                };
                tokio::spawn(call.run());
                Taken::Answered
            }
            Some(Tried::Begun(begun)) => Taken::Begun(HandedOver::new(begun)),
            Some(Tried::Not) | None => Taken::Left,
        }
    }
}

/// A call that goes to a server.
struct Call<W: AsyncWrite + Unpin + Send + 'static> {
    caller: Arc<Caller>,
    underway: Box<Underway>,
    place: Place,
    answering: Answering<W>,
    line: Vec<u8>,
    hand: mpsc::UnboundedSender<Handed<W>>,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Call<W> {
    async fn run(mut self) {
        let result = loop {
            match self.underway.result().await {
                Some(result) => break result,
                // Nobody is to hear of it any more. It still comes to its end, and to its line in the log.
                None if self.underway.given_up().is_cancelled() || self.hand.is_closed() => {}
                None => return self.hand_over(),
            }
        };
        let Self {
            caller,
            underway,
            place,
            answering,
            hand,
            ..
        } = self;
        let outcome = underway.outcome(&caller, result).await;
        // Whoever hears of the result may make the next call at once: there is room for it by then.
        drop(place);
        answering.tell(outcome.result).await;
        // As long as somebody could hand something over, the connection does not end.
        drop(hand);
    }

    /// Has rmcp go on with it.
    fn hand_over(self) {
        let Self {
            underway,
            place,
            answering,
            line,
            hand,
            ..
        } = self;
        // The place is kept until the call has another one.
        let begun = Begun::Direct(Box::new(underway.in_place(place)));
        let handed = Handed {
            line,
            begun: HandedOver::new(begun),
            answering,
        };
        // If nobody reads any more, the call is given up with it.
        let _ = hand.send(handed);
    }
}

/// Whoever owes an answer. One that hits a mistake of ours says so.
pub(super) struct Answering<W: AsyncWrite + Unpin + Send + 'static> {
    out: Arc<Out<W>>,
    id: RequestId,
    debt: Arc<Debt>,
    version: ProtocolVersion,
    is_due: bool,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Answering<W> {
    async fn tell(mut self, result: CallToolResult) {
        self.is_due = false;
        if let Some(line) = line(&self.out, &self.id, &self.debt, &self.version, result) {
            // That nobody reads any more is seen where lines are read.
            let _ = self.out.write(line).await;
        }
    }

    /// Leaves the answer to rmcp; nothing if the request was given up meanwhile. What is owed for it goes along.
    pub(super) fn hand_on(mut self) -> Option<Arc<Debt>> {
        self.is_due = false;
        let is_owed = self.out.is_owed(&self.id, &self.debt);
        is_owed.then(|| Arc::clone(&self.debt))
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Drop for Answering<W> {
    fn drop(&mut self) {
        if !self.is_due {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (out, debt) = (Arc::clone(&self.out), Arc::clone(&self.debt));
        let (id, version) = (self.id.clone(), self.version.clone());
        runtime.spawn(async move {
            if let Some(line) = line(&out, &id, &debt, &version, broke().result) {
                let _ = out.write(line).await;
            }
        });
    }
}

/// The answer to a request as rmcp would write it, unless it was given up.
fn line<W>(
    out: &Out<W>,
    id: &RequestId,
    debt: &Arc<Debt>,
    version: &ProtocolVersion,
    result: CallToolResult,
) -> Option<Vec<u8>> {
    if !out.pay(id, debt) {
        return None;
    }
    let mut result = ServerResult::from(for_version(result.into(), Some(version)));
    result.strip_result_type_for_legacy_peer();
    // There is nothing in it that could not be written.
    lines::line(&ServerJsonRpcMessage::response(result, id.clone())).ok()
}

/// The longest line that is looked at here. It is kept as long as its call runs, and read once more if it is none for
/// here: a client could make jig do twice the work, and keep twice the bytes, for the longest lines that there are.
const LONGEST: usize = 64 << 10;

#[cfg(test)]
mod tests;
