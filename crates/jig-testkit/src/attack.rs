//! [`Attack`]: one line of the table: what is tried, with what, and what is expected of it.

use std::fmt;
use std::io;

use crate::arena::Arena;

/// One thing that a hostile program tries, or, in the class [`Class::Work`], that an honest one needs.
#[derive(Debug)]
pub struct Attack {
    /// Its name, which no other has.
    pub name: &'static str,
    /// Its kind.
    pub class: Class,
    /// What it is after, in one line.
    pub about: &'static str,
    /// The name under which `hostile` knows it. Several attacks may share one program.
    pub program: &'static str,
    /// What the program is given besides its name.
    pub args: fn(&Arena) -> Vec<String>,
    /// A whole command line of `hostile` that runs before, in a call of its own.
    pub before: Option<fn(&Arena) -> Vec<String>>,
    /// What the host does while the program runs.
    pub meanwhile: Option<fn(&Arena) -> io::Result<()>>,
    /// Who knows whether it got what it wanted.
    pub judge: Judge,
    /// What is expected without confinement.
    pub twin: Twin,
    /// What is expected under namespaces, Landlock and the filter together.
    pub tier_a: Confined,
    /// What is expected under all of these, in a network that ends at a gateway.
    pub gateway: Confined,
    /// What is expected under Landlock and the filter alone.
    pub tier_b: Confined,
}

impl Attack {
    /// An attack that its program judges, that anybody can do, and that both tiers hold.
    pub(crate) const fn new(
        class: Class,
        name: &'static str,
        program: &'static str,
        about: &'static str,
        args: fn(&Arena) -> Vec<String>,
    ) -> Self {
        Self {
            name,
            class,
            about,
            program,
            args,
            before: None,
            meanwhile: None,
            judge: Judge::Program,
            twin: Twin::Anybody,
            tier_a: Confined::Held,
            gateway: Confined::Held,
            tier_b: Confined::Held,
        }
    }

    pub(crate) const fn before(mut self, command: fn(&Arena) -> Vec<String>) -> Self {
        self.before = Some(command);
        self
    }

    pub(crate) const fn meanwhile(mut self, act: fn(&Arena) -> io::Result<()>) -> Self {
        self.meanwhile = Some(act);
        self
    }

    pub(crate) const fn judge(mut self, judge: Judge) -> Self {
        self.judge = judge;
        self
    }

    pub(crate) const fn twin(mut self, twin: Twin) -> Self {
        self.twin = twin;
        self
    }

    /// Tier A does not claim to hold it, though tier B does.
    pub(crate) const fn open_in_a(mut self, reason: &'static str) -> Self {
        self.tier_a = Confined::Open(reason);
        self.gateway = Confined::Open(reason);
        self
    }

    /// Only where there is a gateway is there something to hold.
    pub(crate) const fn only_with_gateway(mut self, reason: &'static str) -> Self {
        self.tier_a = Confined::Open(reason);
        self
    }

    /// With a gateway tier A does not claim to hold it.
    pub(crate) const fn open_with_gateway(mut self, reason: &'static str) -> Self {
        self.gateway = Confined::Open(reason);
        self
    }

    /// Tier B does not claim to hold it.
    pub(crate) const fn open_in_b(mut self, reason: &'static str) -> Self {
        self.tier_b = Confined::Open(reason);
        self
    }

    /// It makes sense only where process 1 is the keeper: elsewhere it is the machine's own.
    pub(crate) const fn against_process_1(mut self) -> Self {
        const REASON: &str = "process 1 of the machine is nobody's to try";
        self.twin = Twin::Never(REASON);
        self.tier_b = Confined::Never(REASON);
        self
    }

    /// No tier claims to hold it.
    pub(crate) const fn open(mut self, reason: &'static str) -> Self {
        self.tier_a = Confined::Open(reason);
        self.gateway = Confined::Open(reason);
        self.tier_b = Confined::Open(reason);
        self
    }
}

/// What kind of thing an attack is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    /// Files outside of the workspace.
    Outside,
    /// Files inside of the workspace that are denied, read-only or protected.
    Inside,
    /// Mounts, roots and namespaces.
    Mounts,
    /// Rights that a process does not have: capabilities, users, set-uid programs.
    Privileges,
    /// Files and devices of the machine.
    Machine,
    /// Talking to somebody.
    Network,
    /// Shared memory, semaphores and queues.
    Ipc,
    /// Other processes.
    Processes,
    /// Rarely used parts of the kernel.
    Kernel,
    /// Running what may not be run.
    Execution,
    /// The user's terminal.
    Terminal,
    /// Outliving the call.
    Survival,
    /// Using up the machine.
    Limits,
    /// What the tool writes and when.
    Output,
    /// What the tool got from its host without being meant to.
    Inheritance,
    /// Not an attack: ordinary work, which must go on working.
    Work,
}

/// In lower case.
impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// Who knows whether an attack got what it wanted.
#[derive(Debug, Clone, Copy)]
pub enum Judge {
    /// The program itself says so.
    Program,
    /// The host finds a trace of it, as this function tells; the program cannot know. Asked after the call.
    Host(fn(&Arena) -> Option<String>),
    /// What it left behind goes on beating after the call: see [`Arena::is_beating`].
    Heartbeat,
    /// It does not end by itself. The host ends it after a moment, and then nothing may go on beating.
    Ended,
}

/// What is expected of an attack that nothing confines. An attack that fails here proves nothing there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twin {
    /// It succeeds, whoever runs it.
    Anybody,
    /// It succeeds with the privileges of root.
    Root,
    /// It may succeed or not, as the machine is made; the reason.
    Machine(&'static str),
    /// It is not run: it makes sense only in confinement, or would do harm outside; the reason.
    Never(&'static str),
}

/// What is expected of an attack in confinement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Confined {
    /// It fails.
    Held,
    /// The layer does not claim to hold it; the reason.
    Open(&'static str),
    /// It is not run, because it would reach for what no test may touch; the reason.
    Never(&'static str),
}
