//! Components that no compiler makes: the contract is kept to the letter, and everything else is an attack.
//!
//! The text of all of them is `raw/tool.wat`.

use std::time::Duration;

use crate::common::{On, Tried};
use jig_proto::ToolError;
use jig_runtime::ComponentSource;

/// What is put into the text of the tool.
#[derive(Default)]
struct Raw<'a> {
    /// Core modules and instances beside the tool's own.
    modules: &'a str,
    /// Memories, tables and functions of the tool's module.
    fields: &'a str,
    /// What it does before it answers.
    body: &'a str,
    /// What it does after its answer is in the memory, at 0.
    result: &'a str,
}

impl Raw<'_> {
    fn tried(&self) -> Tried {
        let text = include_str!("raw/tool.wat")
            .replace("(; modules ;)", self.modules)
            .replace("(; fields ;)", self.fields)
            .replace("(; body ;)", self.body)
            .replace("(; result ;)", self.result);
        let component = wat::parse_str(&text).expect("the text is a component");
        Tried::of(On::Memory, "raw", ComponentSource::Bytes(component.into()))
    }
}

/// That the call fails with a message that has this in it, whatever the component is about to do.
#[track_caller]
fn check(raw: &Raw<'_>, expected: &str) -> ToolError {
    let done = raw.tried().run();
    let error = done.error();
    assert!(error.message.contains(expected), "{error:?}");
    // A component that is in nobody's way gets its answer as before.
    assert_eq!(Raw::default().tried().run().text(), "refused");
    error.clone()
}

#[test]
fn a_tool_that_does_no_harm_answers() {
    assert_eq!(Raw::default().tried().run().text(), "refused");
}

#[test]
fn a_table_that_grows_without_end_is_ended() {
    for step in [1, 1000, i32::MAX] {
        let grow = format!(
            "(loop $again
               (br_if $again
                 (i32.ne
                   (table.grow $t (ref.null func) (i32.const {step}))
                   (i32.const -1))))"
        );
        let raw = Raw {
            fields: "(table $t 1 funcref)",
            body: &grow,
            ..Raw::default()
        };
        check(&raw, "table");
    }
}

#[test]
fn many_tables_do_not_have_the_elements_of_many() {
    // Each of them is small enough.
    let grow =
        |table: &str| format!("(drop (table.grow {table} (ref.null func) (i32.const 50000)))");
    let body = [grow("$t"), grow("$u"), grow("$v")].concat();
    let raw = Raw {
        fields: "(table $t 1 funcref) (table $u 1 funcref) (table $v 1 funcref)",
        body: &body,
        ..Raw::default()
    };
    check(&raw, "table");
}

#[test]
fn a_table_that_is_declared_too_large_never_runs() {
    let raw = Raw {
        fields: "(table 100000000 funcref)",
        ..Raw::default()
    };
    check(&raw, "table");
}

#[test]
fn a_memory_that_is_declared_too_large_never_runs() {
    let raw = Raw {
        fields: "(memory 65536)",
        ..Raw::default()
    };
    check(&raw, "memory");
}

#[test]
fn memories_count_together() {
    // 0.6 of the limit in each.
    let raw = Raw {
        fields: "(memory $second 1)",
        body: "(drop (memory.grow 0 (i32.const 600)))
               (drop (memory.grow $second (i32.const 600)))",
        ..Raw::default()
    };
    let bytes = 1000 * (64 << 10);
    let done = raw
        .tried()
        .limits(|limits| limits.tree.memory = Some(bytes))
        .run();
    let error = done.error();
    assert!(error.message.contains("memory"), "{error:?}");
    // The twin, below the limit.
    let done = raw
        .tried()
        .limits(|limits| limits.tree.memory = Some(2 * bytes))
        .run();
    assert_eq!(done.text(), "refused");
}

#[test]
fn many_memories_and_many_instances_never_run() {
    let memories = "(memory 1)".repeat(50);
    let raw = Raw {
        fields: &memories,
        ..Raw::default()
    };
    check(&raw, "memor");
    for (module, expected) in [("(memory 1)", "memory count"), ("", "instance count")] {
        let instances = format!(
            "(core module $other {module}) {}",
            "(core instance (instantiate $other))".repeat(500)
        );
        let raw = Raw {
            modules: &instances,
            ..Raw::default()
        };
        check(&raw, expected);
    }
}

#[test]
fn what_runs_before_the_call_has_its_limits_too() {
    let raw = Raw {
        modules: "(core module $spins (func $spin (loop $again (br $again))) (start $spin))
                  (core instance (instantiate $spins))",
        ..Raw::default()
    };
    let done = raw
        .tried()
        .limits(|limits| limits.time = Some(Duration::from_millis(200)))
        .run();
    let error = done.error();
    assert_eq!(error.denials.len(), 1, "{error:?}");
    let raw = Raw {
        modules: "(core module $grows
                    (memory 1)
                    (func $grow
                      (loop $again
                        (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))))
                    (start $grow))
                  (core instance (instantiate $grows))",
        ..Raw::default()
    };
    check(&raw, "memory");
}

#[test]
fn an_answer_that_is_none_ends_the_call() {
    for (result, what) in [
        ("(return (i32.const -4))", "a pointer behind the memory"),
        ("(return (i32.const 3))", "a pointer that is not aligned"),
        ("(i32.store8 (i32.const 0) (i32.const 9))", "no case"),
        (
            "(i32.store (i32.const 8) (i32.const -1))",
            "a length behind the memory",
        ),
        (
            "(i32.store (i32.const 4) (i32.const -8))",
            "a string behind the memory",
        ),
        ("(i32.store8 (i32.const 17) (i32.const 255))", "no UTF-8"),
    ] {
        let raw = Raw {
            result,
            ..Raw::default()
        };
        let done = raw.tried().run();
        assert!(done.result.is_err(), "{what}: {:?}", done.result);
    }
    assert_eq!(Raw::default().tried().run().text(), "refused");
}

/// A list whose elements are all the same long string: a page of memory that stands for 200 MB.
#[test]
fn an_answer_cannot_be_larger_than_what_the_host_takes() {
    let raw = Raw {
        // The case `error`: an empty message, a trace of 7,000 times the same 28,768 bytes (all of which
        // are ASCII, the list too), not transient.
        result: "(local.set 0 (i32.const 0))
                 (loop $again
                   (i32.store (i32.add (i32.const 4096) (local.get 0)) (i32.const 0))
                   (i32.store (i32.add (i32.const 4100) (local.get 0)) (i32.const 28768))
                   (local.set 0 (i32.add (local.get 0) (i32.const 8)))
                   (br_if $again (i32.lt_u (local.get 0) (i32.const 56000))))
                 (i32.store8 (i32.const 0) (i32.const 1))
                 (i32.store (i32.const 4) (i32.const 16))
                 (i32.store (i32.const 8) (i32.const 0))
                 (i32.store (i32.const 12) (i32.const 4096))
                 (i32.store (i32.const 16) (i32.const 7000))
                 (i32.store8 (i32.const 20) (i32.const 0))",
        ..Raw::default()
    };
    let done = raw.tried().run();
    let error = done.error();
    assert!(error.message.contains("handed over more"), "{error:?}");
}

/// A table of 64 bits, told to grow by more than there are numbers: that fails, and must not give back what
/// another one has taken.
#[test]
fn growth_that_fails_does_not_make_room_for_more() {
    let grow =
        |table: &str| format!("(drop (table.grow {table} (ref.null func) (i64.const 50000)))");
    let fail = "(drop (table.grow $t (ref.null func) (i64.const -1)))";
    let body = [&grow("$t"), fail, &grow("$u"), fail, &grow("$v"), fail].concat();
    let raw = Raw {
        fields: "(table $t i64 1 funcref) (table $u i64 1 funcref) (table $v i64 1 funcref)",
        body: &body,
        ..Raw::default()
    };
    check(&raw, "table");
}

/// Each run takes a part of the time, and each question begins another run.
#[test]
fn questions_do_not_give_a_guest_more_time() {
    let raw = Raw {
        fields: "(data (i32.const 600) \"q?text\")",
        body: "(local.set 0 (i32.const 20000000))
               (loop $again
                 (br_if $again (local.tee 0 (i32.sub (local.get 0) (i32.const 1)))))",
        result: "(i32.store8 (i32.const 0) (i32.const 2))
                 (i32.store (i32.const 4) (i32.const 600))
                 (i32.store (i32.const 8) (i32.const 1))
                 (i32.store (i32.const 12) (i32.const 601))
                 (i32.store (i32.const 16) (i32.const 1))
                 (i32.store (i32.const 20) (i32.const 602))
                 (i32.store (i32.const 24) (i32.const 4))
                 (i32.store8 (i32.const 28) (i32.const 0))",
        ..Raw::default()
    };
    let time = |time| move |limits: &mut jig_runtime::RunLimits| limits.time = Some(time);
    let asking = |tried: Tried| (0..150).fold(tried, |tried, _| tried.answer("x"));
    let tried = raw.tried().limits(time(Duration::from_millis(300)));
    let done = asking(tried).run();
    assert_eq!(done.error().denials.len(), 1, "{:?}", done.error());
    // The twin has the time for all of them.
    let tried = raw.tried().limits(time(Duration::from_secs(100)));
    let done = asking(tried).run();
    assert!(
        done.error().message.contains("asked 100 questions"),
        "{:?}",
        done.error()
    );
}
