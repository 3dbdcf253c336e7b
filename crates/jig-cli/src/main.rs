//! The `jig` program.
fn main() {}
