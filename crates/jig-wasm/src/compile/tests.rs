use super::{ComponentFileKind, compile, kind};
use crate::ComponentError;

#[test]
fn what_a_file_seems_to_be() {
    let check =
        |bytes: &[u8], expected: ComponentFileKind| assert_eq!(kind(bytes), expected, "{bytes:?}");
    check(b"", ComponentFileKind::Empty);
    check(b"\0asm\x0d\0\x01\0", ComponentFileKind::Component);
    check(b"\0asm\x01\0\0\0", ComponentFileKind::Module);
    check(b"\0asm", ComponentFileKind::Component);
    check(b"\n (module)", ComponentFileKind::Text);
    check(b"\x7fELF", ComponentFileKind::Other);
    check(b"#!/bin/sh", ComponentFileKind::Other);
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
    for (depth, expected) in [(50, None), (2000, Some("nested"))] {
        let mut bytes = HEADER.to_vec();
        for _ in 0..depth {
            bytes = [HEADER, &section(4, &bytes)].concat();
        }
        let told = compile(&engine, &bytes)
            .err()
            .map(|error| error.to_string());
        match expected {
            Some(expected) => assert!(told.is_some_and(|told| told.contains(expected))),
            None => assert_eq!(told, None),
        }
    }
}

/// The compiler takes more than its share for one large function.
#[test]
fn a_function_without_end_is_not_compiled() {
    let engine = wasmtime::Engine::default();
    let module = |size: usize, locals: usize| {
        // So many numbers, so many times `nop`, and `end`.
        let locals = [&[1][..], &leb(locals), &[0x7f]].concat();
        let body = [&locals[..], &vec![0x01; size], &[0x0b]].concat();
        let code = [&[1][..], &leb(body.len()), &body].concat();
        let parts = [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, &[1, 0x60, 0, 0]),
            section(3, &[1, 0]),
            section(10, &code),
        ];
        [HEADER, &section(1, &parts.concat())].concat()
    };
    let told = |size: usize, locals: usize| {
        let error = compile(&engine, &module(size, locals)).err();
        error.map(|error| error.to_string())
    };
    assert_eq!(told(1000, 0), None);
    // Both of them are seen in components that people have.
    assert_eq!(told(60_000, 500), None);
    // The other one takes gigabytes and minutes where its instructions are chosen for that.
    for (size, locals) in [(super::MAX_FUNCTION + 1, 0), (128 << 10, 10_000)] {
        let long = told(size, locals).unwrap_or_default();
        assert!(long.contains("one of its functions"), "{long}");
    }
}

/// A name in a component, quoted by the compiler.
#[test]
fn what_the_compiler_quotes_reaches_no_terminal() {
    let engine = wasmtime::Engine::default();
    let text = "(component
                  (core module $a (import \"m\" \"\\1b[2J\\1b]0;x\\07\" (func)))
                  (core module $b)
                  (core instance $i (instantiate $b))
                  (core instance (instantiate $a (with \"m\" (instance $i)))))";
    let error = compile(&engine, &wat::parse_str(text).unwrap())
        .err()
        .unwrap();
    assert!(
        !error.to_string().contains(['\u{1b}', '\u{7}']),
        "{error:?}"
    );
}
