//! The vocabulary of jig and its JSON.

mod path;

pub use path::{PathSyntaxError, ProjectPath};
