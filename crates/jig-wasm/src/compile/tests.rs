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

fn leb(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = u8::try_from(number & 0x7f).unwrap();
        number >>= 7;
        match number {
            0 => {
                bytes.push(low);
                return bytes;
            }
            _ => bytes.push(low | 0x80),
        }
    }
}

fn section(id: u8, content: &[u8]) -> Vec<u8> {
    [&[id][..], &leb(content.len()), content].concat()
}

const HEADER: &[u8] = b"\0asm\x0d\0\x01\0";

/// Readers of nested things call themselves: a few bytes for each level must not take our stack with them,
/// which would end the whole process.
#[test]
fn a_type_of_types_of_types_does_not_end_the_process() {
    let engine = wasmtime::Engine::default();
    for (name, opened) in [("component", 0x41), ("instance", 0x42)] {
        for depth in [1000, 100_000, 3_000_000] {
            // A type of one declaration, which is a type of one declaration, …
            let mut content = vec![1];
            content.extend([opened, 1, 1].repeat(depth));
            content.extend([opened, 0]);
            let bytes = [HEADER, &section(7, &content)].concat();
            // Whether it is good or not, somebody has to hear it.
            let told = compile(&engine, &bytes).err();
            if depth > 1000 {
                let told = told.unwrap_or_else(|| panic!("{name} {depth}")).to_string();
                assert!(told.contains("nested"), "{name} {depth}: {told}");
            }
        }
    }
}

#[test]
fn a_component_in_a_component_in_a_component_does_not_end_the_process() {
    let engine = wasmtime::Engine::default();
    for depth in [100, 5000] {
        let mut bytes = HEADER.to_vec();
        for _ in 0..depth {
            bytes = [HEADER, &section(4, &bytes)].concat();
        }
        let _ = compile(&engine, &bytes);
    }
}
