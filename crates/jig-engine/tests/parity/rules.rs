//! Sets of rules.

/// Rules for files, the same for every tool.
pub(crate) struct Set {
    pub(crate) name: &'static str,
    /// Each as the inside of a TOML table.
    pub(crate) rules: &'static [&'static str],
}

impl Set {
    /// Its place among the others.
    pub(crate) fn number(&self) -> usize {
        let place = SETS.iter().position(|set| set.name == self.name);
        place.unwrap_or_default()
    }
}

const ALL: &str = "read = true, create = true, update = true, delete = true";

/// Writes the rule with [`ALL`] out.
pub(crate) fn written(rule: &str) -> String {
    rule.replace("ALL", ALL)
}

pub(crate) const SETS: &[Set] = &[
    Set {
        name: "everything",
        rules: &["path = '.', ALL"],
    },
    Set {
        name: "read_only",
        rules: &["path = '.', read = true"],
    },
    Set {
        name: "one_directory",
        rules: &["path = 'src', ALL"],
    },
    Set {
        name: "deny_inside_allow",
        rules: &["path = '.', ALL", "path = 'src/deep', read = false"],
    },
    Set {
        name: "allow_inside_deny",
        rules: &[
            "path = '.', ALL",
            "path = 'src', read = false",
            "path = 'src/deep', ALL",
        ],
    },
    Set {
        name: "allow_inside_deny_inside_allow",
        rules: &[
            "path = '.', read = true",
            "path = 'src', read = false",
            "path = 'src/deep', read = true",
            "path = 'src/deep/x.txt', read = false",
        ],
    },
    Set {
        name: "a_file_is_closed",
        rules: &["path = '.', ALL", "path = 'README.md', read = false"],
    },
    Set {
        name: "only_a_file_is_open",
        rules: &["path = 'src/main.rs', read = true, update = true"],
    },
    Set {
        name: "create_only",
        rules: &["path = '.', read = true, create = true"],
    },
    Set {
        name: "update_only",
        rules: &["path = '.', read = true, update = true"],
    },
    Set {
        name: "delete_only",
        rules: &["path = '.', read = true, delete = true"],
    },
    Set {
        name: "write_without_read",
        rules: &["path = '.', create = true, update = true, delete = true"],
    },
    Set {
        name: "append_a_directory",
        rules: &["path = '.', read = true", "path = 'out', create = true"],
    },
    Set {
        name: "sensitive_is_named",
        rules: &["path = '.', ALL", "path = '.env', read = true"],
    },
    Set {
        name: "protected_is_named",
        rules: &[
            "path = '.', ALL",
            "path = '.jig', ALL",
            "path = 'jig.toml', ALL",
        ],
    },
    Set {
        name: "later_wins",
        rules: &[
            "path = 'src', ALL",
            "path = 'src', read = true",
            "path = 'README.md', read = false",
            "path = 'README.md', ALL",
        ],
    },
    Set {
        name: "the_target_of_a_link_is_closed",
        rules: &["path = '.', ALL", "path = 'secret', read = false"],
    },
    Set {
        name: "nothing",
        rules: &["path = '.', read = false"],
    },
];
