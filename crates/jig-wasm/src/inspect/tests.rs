use wasmtime::component::Component;

use super::{PROVIDED, provided, unknown};
use crate::engine::WasmMachine;

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

/// The table and the linker say the same: of each interface one thing is imported, by any type, and the
/// linker complains of the type of what it has, and of the absence of what it has not.
#[test]
fn the_table_is_what_the_linker_has() {
    let machine = WasmMachine::shared().unwrap();
    let missing = |interface: &str, item: &str| {
        let text = format!(
            "(component (import \"{interface}\" (instance (export \"{item}\" (func (param \"x\" u8))))))"
        );
        let bytes = wat::parse_str(text).unwrap();
        let component = Component::from_binary(&machine.engine, &bytes).unwrap();
        assert_eq!(
            unknown(&component).is_empty(),
            provided(interface).is_some()
        );
        let Err(error) = machine.linker.instantiate_pre(&component) else {
            panic!("{interface} has a function `{item}` of that type");
        };
        format!("{error:?}").contains("implementation is missing")
    };
    for (name, version, _) in PROVIDED {
        let Some((_, item)) = ITEMS.iter().find(|(interface, _)| interface == name) else {
            // Interfaces of types alone need nothing.
            continue;
        };
        let interface = format!("{name}@{version}.0");
        assert!(!missing(&interface, item), "{interface}");
        assert!(missing(&interface, "no-such-function"), "{interface}");
    }
    for absent in [
        "wasi:nn/tensor@0.2.0",
        "wasi:clocks/wall-clock@0.3.0",
        "a:b/c",
    ] {
        assert!(missing(absent, "now"), "{absent}");
    }
}

/// A function of each interface.
const ITEMS: &[(&str, &str)] = &[
    ("wasi:io/poll", "poll"),
    ("wasi:clocks/monotonic-clock", "now"),
    ("wasi:clocks/wall-clock", "now"),
    ("wasi:random/random", "get-random-u64"),
    ("wasi:random/insecure", "get-insecure-random-u64"),
    ("wasi:random/insecure-seed", "insecure-seed"),
    ("wasi:cli/environment", "get-environment"),
    ("wasi:cli/exit", "exit"),
    ("wasi:cli/stdin", "get-stdin"),
    ("wasi:cli/stdout", "get-stdout"),
    ("wasi:cli/stderr", "get-stderr"),
    ("wasi:cli/terminal-stdin", "get-terminal-stdin"),
    ("wasi:cli/terminal-stdout", "get-terminal-stdout"),
    ("wasi:cli/terminal-stderr", "get-terminal-stderr"),
    ("wasi:filesystem/types", "filesystem-error-code"),
    ("wasi:filesystem/preopens", "get-directories"),
    ("wasi:sockets/instance-network", "instance-network"),
    ("wasi:sockets/ip-name-lookup", "resolve-addresses"),
    ("wasi:sockets/tcp-create-socket", "create-tcp-socket"),
    ("wasi:sockets/udp-create-socket", "create-udp-socket"),
    ("wasi:http/types", "http-error-code"),
    ("wasi:http/outgoing-handler", "handle"),
    ("jp:host/filesystem", "read"),
    ("jp:host/http", "get"),
    ("jp:host/process", "run"),
    ("jig:tool/vfs", "request"),
];

/// The name of an import can be an address, in which nearly everything is allowed.
#[test]
fn names_reach_no_terminal() {
    let text = "(component (import \"url=<https://x/\\1b[2J\\1b]0;x\\07>\" (func)))";
    let machine = WasmMachine::shared().unwrap();
    let bytes = wat::parse_str(text).unwrap();
    let component = Component::from_binary(&machine.engine, &bytes).unwrap();
    let [name] = unknown(&component).try_into().unwrap();
    assert_eq!(name, "url=<https://x/>");
}
