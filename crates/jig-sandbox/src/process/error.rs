//! [`SpawnError`]: why a program could not be started.

use std::fmt;
use std::io;

/// Why a program could not be started. Each names the program and the step that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SpawnError {
    /// Neither an absolute path nor a bare name.
    #[error("program `{program}` is neither an absolute path nor a name without slashes")]
    RelativeProgram {
        /// As it was given.
        program: String,
    },
    /// A text that cannot be passed on, because C strings end at a NUL byte.
    #[error("{what} of `{program}` contains a NUL byte")]
    Nul {
        /// The program.
        program: String,
        /// `argument 2`, `variable NAME`, `the working directory`.
        what: String,
    },
    /// An environment variable whose name is empty or contains `=`.
    #[error("`{name}` cannot be the name of an environment variable of `{program}`")]
    VariableName {
        /// The program.
        program: String,
        /// The name.
        name: String,
    },
    /// No such file.
    #[error("program `{program}` was not found{}", searched_in(.searched))]
    NotFound {
        /// The program.
        program: String,
        /// The `PATH` that was searched, if a name was given; empty if the child has none.
        searched: Option<String>,
    },
    /// The file is there, but may not be run: permissions, a directory, or a file system without
    /// programs.
    #[error("`{program}` may not be executed")]
    NotExecutable {
        /// The file.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// The file is there, but the interpreter or loader that it names is not.
    #[error("`{program}` needs {}, which was not found", interpreter_name(.interpreter))]
    MissingInterpreter {
        /// The file.
        program: String,
        /// The interpreter of a script, as its first line names it.
        interpreter: Option<String>,
    },
    /// The file is no program of this machine: another architecture, or a script without `#!`.
    #[error("`{program}` is not a program that this machine can run")]
    ExecFormat {
        /// The file.
        program: String,
    },
    /// Arguments and environment exceed what the system passes on.
    #[error("the arguments and environment of `{program}` are too large: {sizes}")]
    TooLarge {
        /// The program.
        program: String,
        /// How large they are.
        sizes: ArgumentSizes,
    },
    /// The working directory cannot be entered.
    #[error("the working directory `{directory}` of `{program}` cannot be entered")]
    WorkingDirectory {
        /// The program.
        program: String,
        /// The directory.
        directory: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system, or a limit of the user, has no process left, or no memory for one.
    #[error("no process can be started for `{program}`")]
    NoProcess {
        /// The program.
        program: String,
        /// What the system said.
        source: io::Error,
    },
    /// A descriptor cannot be given that number.
    #[error("descriptor {number} cannot be passed to `{program}`")]
    Descriptor {
        /// The program.
        program: String,
        /// The number in the program.
        number: i32,
        /// What the system said.
        source: io::Error,
    },
    /// The tree cannot be held as the request demands.
    #[error("the processes of `{program}` cannot be contained: {reason}")]
    Containment {
        /// The program.
        program: String,
        /// What was refused.
        reason: String,
    },
    /// Another step failed.
    #[error("`{program}` could not be started: {step} failed")]
    Step {
        /// The program.
        program: String,
        /// The step.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// The profile cannot be enforced here, or not by anything.
    #[error("`{program}` was not started, because it cannot be confined: {reason}")]
    Confinement {
        /// The program.
        program: String,
        /// Which rule, why it cannot be held, and what to do about it.
        reason: String,
    },
    /// This system has no way to start programs yet.
    #[error("`{program}` cannot be started: jig does not run programs on {system} yet")]
    Unsupported {
        /// The program.
        program: String,
        /// The system, as Rust names it.
        system: &'static str,
    },
}

/// How large arguments and environment are, in bytes, as the system counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArgumentSizes {
    /// The arguments, the program's name included.
    pub arguments: usize,
    /// The environment.
    pub environment: usize,
    /// The longest single argument or variable.
    pub longest: usize,
    /// The most that one argument or variable may have.
    pub longest_allowed: usize,
}

impl fmt::Display for ArgumentSizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} bytes of arguments, {} bytes of environment, the longest of them {} bytes where {} are \
             allowed",
            self.arguments, self.environment, self.longest, self.longest_allowed
        )
    }
}

fn searched_in(path: &Option<String>) -> String {
    match path.as_deref() {
        None => String::new(),
        Some("") => ", and there is no PATH to search".to_owned(),
        Some(path) => format!(" on PATH `{path}`"),
    }
}

fn interpreter_name(interpreter: &Option<String>) -> String {
    match interpreter {
        Some(name) => format!("the interpreter `{name}`"),
        None => "a loader".to_owned(),
    }
}
