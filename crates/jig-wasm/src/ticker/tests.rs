use std::sync::Arc;
use std::sync::atomic::Ordering;

use jig_testkit::until;
use wasmtime::{Config, Engine, Store};

use super::Ticker;

fn engine() -> Engine {
    let mut config = Config::new();
    config.epoch_interruption(true);
    Engine::new(&config).unwrap()
}

#[test]
fn it_sleeps_when_nothing_runs_and_wakes_when_something_does() {
    let engine = engine();
    let ticker = Ticker::new(&engine).unwrap();
    for _ in 0..2 {
        until("it sleeps", || ticker.shared.asleep.load(Ordering::SeqCst));
        let ticking = ticker.tick();
        until("it is awake", || {
            !ticker.shared.asleep.load(Ordering::SeqCst)
        });
        drop(ticking);
    }
}

#[test]
fn it_ends_with_the_engine_or_with_itself() {
    let gone = engine();
    let ticker = Ticker::new(&gone).unwrap();
    drop(gone);
    let _ticking = ticker.tick();
    until("its thread is gone", || {
        Arc::strong_count(&ticker.shared) == 1
    });

    let engine = engine();
    let ticker = Ticker::new(&engine).unwrap();
    let shared = Arc::clone(&ticker.shared);
    drop(ticker);
    until("its thread is gone", || Arc::strong_count(&shared) == 1);
}

#[test]
fn the_epoch_moves_while_something_runs() {
    let engine = engine();
    let ticker = Ticker::new(&engine).unwrap();
    let _ticking = ticker.tick();
    // There is no other way to see an epoch than a guest that it interrupts: one that never ends.
    let module = wasmtime::Module::new(&engine, SPIN).unwrap();
    let mut store = Store::new(&engine, ());
    store.set_epoch_deadline(2);
    let instance = wasmtime::Instance::new(&mut store, &module, &[]).unwrap();
    let spin = instance.get_typed_func::<(), ()>(&mut store, "f").unwrap();
    let error = spin.call(&mut store, ()).unwrap_err();
    assert_eq!(error.downcast_ref(), Some(&wasmtime::Trap::Interrupt));
}

/// `(module (func (export "f") (loop (br 0))))`.
const SPIN: &[u8] = &[
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 7, 5, 1, 1, 0x66, 0, 0, 10,
    9, 1, 7, 0, 3, 0x40, 0x0c, 0, 0x0b, 0x0b,
];
