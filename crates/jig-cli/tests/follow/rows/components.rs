//! Components, and projects that make them.

use crate::Row;

pub(crate) fn core_module() -> Row {
    Row {
        hint: "build for `wasm32-wasip2`, which makes components, or turn it into one with `wasm-tools component new`",
        wrong: "printf '\\0asm\\001\\0\\0\\0' > tool.wasm; jig wasm inspect tool.wasm",
        right: "cp \"$REPO/target/guests/noop.wasm\" tool.wasm; jig wasm inspect tool.wasm",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn text_of_a_module() -> Row {
    Row {
        hint: "`wasm-tools parse` makes a binary of it",
        wrong: "echo '(component)' > tool.wasm; jig wasm inspect tool.wasm",
        // What `wasm-tools parse` makes of it.
        right: "printf '\\0asm\\r\\0\\001\\0' > tool.wasm; jig wasm inspect tool.wasm; true",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn folder_is_taken() -> Row {
    Row {
        hint: "choose another name, or another folder with --dir; nothing was changed",
        wrong: "mkdir word-count; touch word-count/mine; jig wasm new word-count",
        right: "jig wasm new count-words && jig wasm new word-count «--dir» other && test -e word-count/mine",
        works: "made other",
        ..Row::default()
    }
}

pub(crate) fn name_of_a_project() -> Row {
    Row {
        hint: "{problem}; did you mean `{other}`?",
        wrong: "jig wasm new 'Word Count'",
        right: "jig wasm new «word-count»",
        works: "made word-count",
        ..Row::default()
    }
}

pub(crate) fn long_name_of_a_project() -> Row {
    Row {
        hint: "{problem}",
        wrong: "jig wasm new '!!!'",
        right: "jig wasm new «word-count»",
        works: "made word-count",
        ..Row::default()
    }
}

pub(crate) fn no_arguments() -> Row {
    Row {
        hint: "give the arguments that it needs as NAME=VALUE or with --input; here it may only read the workspace",
        wrong: "mkdir -p docs; echo '# Rust' > docs/rust.md; jig wasm bench --calls 1 \"$REPO/crates/jig-wasm/guests/learn.wasm\"",
        right: "jig wasm bench --calls 1 \"$REPO/target/guests/noop.wasm\" name=value && jig wasm bench --calls 1 \"$REPO/target/guests/noop.wasm\" «--input» '{}'",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn words_that_are_no_arguments_of_a_component() -> Row {
    Row {
        hint: "write name=value, or all of them as one object with --input",
        wrong: "jig wasm bench --calls 1 \"$REPO/target/guests/noop.wasm\" hello",
        right: "jig wasm bench --calls 1 \"$REPO/target/guests/noop.wasm\" name=hello && jig wasm bench --calls 1 \"$REPO/target/guests/noop.wasm\" «--input» '{ \"name\": \"hello\" }'",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn several_tools() -> Row {
    Row {
        hint: "name one with --tool: {}",
        wrong: "jig wasm bench --calls 1 \"$REPO/target/guests/tools.wasm\"",
        right: "tool=${HINT##*: }; jig wasm bench --calls 1 \"$REPO/target/guests/tools.wasm\" «--tool» ${tool%%,*} path=server.py",
        works: "",
        ..Row::default()
    }
}

pub(crate) fn no_function_of_a_tool() -> Row {
    Row {
        hint: "`jig wasm new` makes a tool that does",
        config: COMPONENT,
        wrong: "printf '\\0asm\\r\\0\\001\\0' > tool.wasm; jig call check",
        // What it makes, built.
        right: "«jig wasm new» mine && cp \"$REPO/target/guests/noop.wasm\" tool.wasm && jig call check",
        works: "",
    }
}

pub(crate) fn unknown_import() -> Row {
    Row {
        hint: "a tool can import WASI 0.2, `jp:host` and `jig:tool/vfs`",
        config: COMPONENT,
        wrong: "printf '\\0asm\\r\\0\\001\\0\\007\\016\\001\\102\\002\\001\\100\\0\\001\\0\\004\\0\\001f\\001\\0\\012\\032\\001\\0\\025some:where/else@1.0.0\\005\\0' > tool.wasm; jig call check",
        right: "cp \"$REPO/target/guests/hosted.wasm\" tool.wasm; jig wasm inspect tool.wasm | grep -E 'wasi:|jp:host'; jig call check; true",
        works: "jp:host",
    }
}

pub(crate) fn newer_import() -> Row {
    Row {
        hint: "build it for WASI 0.2 (`wasm32-wasip2`): WASI 0.3 is not supported",
        config: COMPONENT,
        wrong: "printf '\\0asm\\r\\0\\001\\0\\007\\016\\001\\102\\002\\001\\100\\0\\001\\0\\004\\0\\001f\\001\\0\\012\\041\\001\\0\\034wasi:clocks/wall-clock@0.3.0\\005\\0' > tool.wasm; jig call check",
        right: "cp \"$REPO/target/guests/noop.wasm\" tool.wasm; jig call check",
        works: "",
    }
}

/// A component that declares the type of a function which is `async`.
pub(crate) fn asynchronous_function() -> Row {
    Row {
        hint: "functions that are `async`, and WASI 0.3, are not supported: build for WASI 0.2 (`wasm32-wasip2`)",
        config: COMPONENT,
        wrong: "printf '\\0asm\\r\\0\\001\\0\\007\\005\\001\\103\\0\\001\\0' > tool.wasm; jig call check",
        right: "cp \"$REPO/target/guests/noop.wasm\" tool.wasm; jig call check",
        works: "",
    }
}

/// A tool that is a component.
const COMPONENT: &str =
    "[tools.check]\nsource = \"local\"\nwasm = \"tool.wasm\"\nrun = \"unattended\"\n";
