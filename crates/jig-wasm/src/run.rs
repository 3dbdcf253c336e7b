//! One call: the guest is run, and run again after each answer, until it has a result.

use jig_proto::{Action, Content, ToolError};
use jig_runtime::InProcess;
use serde_json::{Map, Value};
use wasmtime::{Engine, Store, UpdateDeadline};

use crate::bindings::GuestPre;
use crate::bindings::jp::tool::types::{Action as GuestAction, Context};
use crate::engine::WasmMachine;
use crate::guest::{CallStart, Guest};
use crate::limits::CALL_BYTES;
use crate::outcome::{self, GuestResult};

/// What a guest is called with.
struct GuestCall {
    context: Context,
    name: String,
    arguments: String,
    answers: Map<String, Value>,
}

/// Does a call.
///
/// # Errors
///
/// If it failed, or was given up.
pub(crate) fn call(
    machine: &WasmMachine,
    pre: &GuestPre<Guest>,
    mut door: InProcess,
) -> Result<Content, ToolError> {
    let mut call = GuestCall::of(&door);
    let began = CallStart::now(&door);
    for _ in 0..MAX_RUNS {
        let (came, back) = once(machine, pre, door, began, &call);
        door = back;
        match came? {
            GuestResult::Done(content) => return Ok(content),
            GuestResult::Asks(question) => {
                let id = question.id.clone();
                let answer = door.ask(question)?;
                call.answers.insert(id, answer);
            }
        }
    }
    let name = &door.plan().name;
    let asked = format!("`{name}` asked {MAX_RUNS} questions in one call and was given up");
    Err(ToolError::new(asked))
}

impl GuestCall {
    fn of(door: &InProcess) -> Self {
        let plan = door.plan();
        let mount = plan.component.as_ref().and_then(|one| one.mounts.first());
        let root = mount.map_or(plan.context.root.as_str(), |mount| &mount.guest);
        let name = plan.implementation.as_ref().unwrap_or(&plan.input.name);
        Self {
            context: Context {
                root: root.to_owned(),
                action: match plan.context.action {
                    Action::FormatArguments => GuestAction::FormatArguments,
                    _ => GuestAction::Run,
                },
            },
            name: name.clone(),
            arguments: written(&plan.input.arguments),
            answers: plan.input.answers.clone(),
        }
    }
}

/// Runs the guest in a store of its own: nothing of one run is seen by the next.
fn once(
    machine: &WasmMachine,
    pre: &GuestPre<Guest>,
    door: InProcess,
    began: CallStart,
    call: &GuestCall,
) -> (Result<GuestResult, ToolError>, InProcess) {
    let mut store = store(&machine.engine, door, began);
    let answers = written(&call.answers);
    let GuestCall {
        context,
        name,
        arguments,
        ..
    } = call;
    let ticking = machine.ticker.tick();
    let outcome = match pre.instantiate(&mut store) {
        Ok(guest) => guest
            .call_run(&mut store, context, name, arguments, &answers)
            .map_err(outcome::GuestStop::Ran),
        Err(error) => Err(outcome::GuestStop::Started(error)),
    };
    drop(ticking);
    // With the store goes everything that the guest held, before anybody hears of the end.
    let mut guest = store.into_data();
    let came = outcome::came(&mut guest, outcome);
    (came, guest.door)
}

/// A store for one run, under the limits of the call.
pub(crate) fn store(engine: &Engine, door: InProcess, began: CallStart) -> Store<Guest> {
    let mut store = Store::new(engine, Guest::new(door, began));
    store.limiter(|guest| &mut guest.meter);
    store.set_hostcall_fuel(CALL_BYTES);
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|mut store| {
        store.data_mut().check()?;
        Ok(UpdateDeadline::Continue(1))
    });
    store
}

fn written(object: &Map<String, Value>) -> String {
    serde_json::to_string(object).unwrap_or_default()
}

/// How often a guest is run for one call. One that asks the same again and again, and whose answers come
/// from a program too, would otherwise run for ever.
const MAX_RUNS: usize = 100;
