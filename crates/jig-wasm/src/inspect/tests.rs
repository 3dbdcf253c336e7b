use wasmtime::component::Component;

use super::{PROVIDED, provided, unknown};
use crate::engine::Machine;

#[test]
fn a_version_that_ours_can_stand_for_is_provided() {
    let check = |interface: &str, expected: bool| {
        assert_eq!(provided(interface).is_some(), expected, "{interface}");
    };
    check("wasi:clocks/wall-clock@0.2.0", true);
    check("wasi:clocks/wall-clock@0.2.12", true);
    check("wasi:clocks/wall-clock@0.3.0", false);
    check("wasi:clocks/wall-clock@0.20.1", false);
    check("wasi:clocks/wall-clock@0.2.0-rc-2023-11-10", false);
    check("wasi:clocks/wall-clock@0.2", false);
    check("wasi:clocks/wall-clock", false);
    check("wasi:clocks/no-clock@0.2.0", false);
    check("jp:host/http@0.1.0", true);
    check("jp:host/http@0.2.0", false);
    check("", false);
}

/// The table and the linker say the same: a component that imports nothing but the name of an interface
/// links if, and only if, it is there.
#[test]
fn the_table_is_what_the_linker_has() {
    let machine = Machine::shared().unwrap();
    let links = |interface: &str| {
        let text = format!("(component (import \"{interface}\" (instance)))");
        let bytes = wat::parse_str(text).unwrap();
        let component = Component::from_binary(&machine.engine, &bytes).unwrap();
        let pre = machine.linker.instantiate_pre(&component);
        assert_eq!(pre.is_ok(), unknown(&component).is_empty(), "{interface}");
        pre.is_ok()
    };
    for (name, version, _) in PROVIDED {
        assert!(links(&format!("{name}@{version}.0")), "{name}");
    }
    for absent in ["wasi:nn/tensor@0.2.0", "wasi:clocks/wall-clock@0.3.0", "a:b/c"] {
        assert!(!links(absent), "{absent}");
    }
}
