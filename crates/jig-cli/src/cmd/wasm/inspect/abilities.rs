//! What a component could ask for, in plain words.

use jig_wasm::{ComponentNeed, Inspection};

/// Something that a component can do by what it imports.
pub(super) struct Ability {
    pub(super) want: ComponentNeed,
    /// For programs.
    pub(super) name: &'static str,
    pub(super) what: &'static str,
    /// Who decides about it.
    pub(super) how: &'static str,
    /// What is said of a component that does not import it.
    pub(super) never: &'static str,
}

/// All abilities, each with whether the component has imported it.
pub(super) fn abilities(found: &Inspection) -> impl Iterator<Item = (&'static Ability, bool)> {
    ABILITIES
        .iter()
        .map(|ability| (ability, found.wants.contains(&ability.want)))
}

const ABILITIES: [Ability; 9] = [
    Ability {
        want: ComponentNeed::Files,
        name: "files",
        what: "files of the workspace",
        how: "by the rules of access.fs, for every file anew",
        never: "read or change any file",
    },
    Ability {
        want: ComponentNeed::Http,
        name: "http",
        what: "requests to servers",
        how: "by the rules of access.net; none without a rule",
        never: "reach any server",
    },
    Ability {
        want: ComponentNeed::Programs,
        name: "programs",
        what: "programs",
        how: "by the rules of access.commands, confined; none without a rule",
        never: "run any program",
    },
    Ability {
        want: ComponentNeed::Environment,
        name: "environment",
        what: "variables of the environment",
        how: "by the rules of access.env; none without a rule",
        never: "read any variable of the environment",
    },
    Ability {
        want: ComponentNeed::Questions,
        name: "questions",
        what: "a conversation with its caller while it runs",
        how: "states, questions and input, as of a mediated tool",
        never: "take input while it runs",
    },
    Ability {
        want: ComponentNeed::Stdio,
        name: "stdio",
        what: "text on stdout and stderr",
        how: "kept apart and bounded; stdin is empty",
        never: "print anything but its result",
    },
    Ability {
        want: ComponentNeed::Clock,
        name: "clock",
        what: "the time, and waiting",
        how: "always allowed, within the limit of time",
        never: "know the time",
    },
    Ability {
        want: ComponentNeed::Random,
        name: "random",
        what: "random numbers",
        how: "always allowed",
        never: "get random numbers",
    },
    Ability {
        want: ComponentNeed::Sockets,
        name: "sockets",
        what: "sockets",
        how: "always refused; servers are reached by http",
        never: "even ask for a socket",
    },
];

/// What no component can do, whatever it imports.
pub(super) const NEVER: [&str; 3] = [
    "leave the workspace: what lies outside has no name there",
    "make hard or symbolic links, or open a socket",
    "see the memory of jig, or of another call",
];
