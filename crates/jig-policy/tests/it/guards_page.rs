//! The table of guards in the documentation is the one in the code.

#[path = "../../examples/guards.rs"]
#[expect(dead_code, reason = "an example has a `main`")]
mod guards;

#[test]
fn the_table_of_guards_in_the_docs_is_the_one_in_the_code() {
    let docs = include_str!("../../../../docs/policy.md");
    let (_, rest) = docs
        .split_once("<!-- guards:begin -->\n")
        .expect("the mark");
    let (table, _) = rest.split_once("<!-- guards:end -->").expect("the mark");
    assert_eq!(table, guards::page(), "run `cargo xtask generate`");
}

#[test]
fn the_table_of_guards_in_the_sdk_for_python_is_the_one_in_the_code() {
    let module = include_str!("../../../../sdk/python/src/jig_tool/_guard_table.py");
    assert_eq!(module, guards::python(), "run `cargo xtask generate`");
}
