use super::{Kind, compile, kind};
use crate::ComponentError;

#[test]
fn what_a_file_seems_to_be() {
    let check = |bytes: &[u8], expected: Kind| assert_eq!(kind(bytes), expected, "{bytes:?}");
    check(b"", Kind::Empty);
    check(b"\0asm\x0d\0\x01\0", Kind::Component);
    check(b"\0asm\x01\0\0\0", Kind::Module);
    check(b"\0asm", Kind::Component);
    check(b"\n (module)", Kind::Text);
    check(b"\x7fELF", Kind::Other);
    check(b"#!/bin/sh", Kind::Other);
}

/// W-061: infrastructure errors begin with the words of the document, and say what to do.
#[test]
fn w061_each_mistake_has_its_words() {
    let engine = wasmtime::Engine::default();
    let check = |bytes: &[u8], expected: &str| {
        let Err(error) = compile(&engine, bytes) else {
            panic!("{bytes:?} is a component");
        };
        assert!(matches!(error, ComponentError::Compile(_)));
        let text = error.to_string();
        assert!(
            text.starts_with("Failed to compile Wasm component: "),
            "{text}"
        );
        assert!(text.contains(expected), "{text}");
    };
    check(b"", "the file is empty");
    check(b"\0asm\x01\0\0\0", "hint: build for `wasm32-wasip2`");
    check(b"(component)", "`wasm-tools parse`");
    check(b"#!/bin/sh", "it is no Wasm");
    check(b"\0asm\x0d\0\x01\0\xff", "");
    check(b"\0asm", "");
}
