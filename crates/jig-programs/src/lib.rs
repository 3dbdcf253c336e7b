//! What the words of a command run: files of the workspace, and packages of registries.
//!
//! [`split_line`] makes words of a line. [`workspace_code()`] names the files of the workspace that a command runs, and
//! [`Download`] the packages that it fetches first. Both read the words and never start anything. jig-config and
//! jig-engine ask this crate: they have no tables of interpreters and package runners (`npx`, `uvx`) of their own.
//!
//! ```
//! use camino::Utf8Path;
//! use jig_programs::{split_line, workspace_code};
//!
//! let words = split_line("python3 'tools/serve.py'").expect("no quote is open");
//! let words: Vec<&str> = words.iter().map(String::as_str).collect();
//! let code = workspace_code(Utf8Path::new("/nowhere"), &words);
//! assert_eq!(code[0].as_str(), "tools/serve.py");
//! ```

mod command_words;
mod download;
mod workspace_code;

pub use command_words::{SplitError, split_line, template_end};
pub use download::{Download, Launcher, host_rule, registry_rule};
pub use workspace_code::{workspace_code, workspace_code_of_shell};
