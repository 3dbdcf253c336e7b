#![expect(
    clippy::disallowed_methods,
    reason = "a limit of a process is tried in a process of its own"
)]

use std::process::Command;

use wasmtime::component::Component;
use wasmtime::{Engine, Instance, Module, Store};

use super::{AddressSpace, MEMORY_BYTES, WasmMachine, engine};

/// A module whose function grows its memory by one page and gives what is in the last.
fn grown(engine: &Engine) -> i32 {
    let text = "(module (memory 1) (func (export \"f\") (result i32)
        (drop (memory.grow (i32.const 100)))
        (i32.store (i32.const 6000000) (i32.const 7))
        (i32.load (i32.const 6000000))))";
    let module = Module::new(engine, wat::parse_str(text).unwrap()).unwrap();
    let mut store = Store::new(engine, ());
    store.set_epoch_deadline(1_000_000);
    let instance = Instance::new(&mut store, &module, &[]).unwrap();
    let function = instance.get_typed_func::<(), i32>(&mut store, "f").unwrap();
    function.call(&mut store, ()).unwrap()
}

#[test]
fn every_room_runs_components() {
    for room in AddressSpace::ALL {
        let engine = Engine::new(&room.config()).unwrap();
        assert_eq!(grown(&engine), 7, "{room:?}");
        let component = wat::parse_str("(component)").unwrap();
        assert!(Component::from_binary(&engine, &component).is_ok());
        assert!(WasmMachine::on(engine).is_ok());
    }
}

#[test]
fn where_there_is_little_address_space_there_is_no_pool() {
    const INSIDE: &str = "JIG_TEST_LITTLE_ADDRESS_SPACE";
    if std::env::var_os(INSIDE).is_some() {
        assert!(Engine::new(&AddressSpace::POOL.config()).is_err());
        assert!(Engine::new(&AddressSpace::SMALL_POOL.config()).is_err());
        assert_eq!(grown(&engine().unwrap()), 7);
        return;
    }
    // In kilobytes: less than ten of the memories that a pool has.
    let limit = 10 * (MEMORY_BYTES >> 10);
    let script = format!("ulimit -v {limit} && exec \"$0\" \"$@\"");
    let name = "engine::tests::where_there_is_little_address_space_there_is_no_pool";
    let status = Command::new("/bin/sh")
        .args(["-c", &script])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", name])
        .env(INSIDE, "1")
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}
