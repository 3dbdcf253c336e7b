use super::{folded, name_matches};

#[track_caller]
fn check(pattern: &str, yes: &[&str], no: &[&str]) {
    for name in yes {
        assert!(name_matches(pattern, &folded(name)), "{pattern} is {name}");
    }
    for name in no {
        assert!(
            !name_matches(pattern, &folded(name)),
            "{pattern} is not {name}"
        );
    }
}

#[test]
fn names_are_compared_as_the_loosest_file_system_does() {
    let spellings = [
        ".vscode",
        ".VSCode",
        ".vſcode",
        ".vs\u{200d}code",
        "\u{feff}.vscode",
        ".vscode.",
        ".vscode ",
        ".vscode. .",
    ];
    check(
        ".vscode",
        &spellings,
        &[".vscodex", "vscode", ".vs code", "..vscode", ".vscod", ""],
    );
    check(".kiro", &[".\u{212a}iro", ".KIRO"], &[".kir"]);
    check(".ssh", &[".ßh", ".ẞh", ".SSH"], &[".sh"]);
    check("config", &["conﬁg", "CONFIG"], &["confg"]);
    check("müll", &["MÜLL", "Müll"], &["mull"]);
}

#[test]
fn a_star_is_any_run_of_characters() {
    check(
        ".env*",
        &[".env", ".ENV.local", ".envrc"],
        &[".en", "x.env", "env"],
    );
    check(
        "*.code-workspace",
        &["a.code-workspace", ".Code-Workspace"],
        &["a.code-workspace.bak", "code-workspace"],
    );
    check(
        "lefthook*.y*ml",
        &["lefthook.yml", "lefthook-local.YAML"],
        &["lefthook.toml", "left.yml"],
    );
    check("*", &["", "x"], &[]);
    check("a*b*c", &["abc", "aXbXc", "abcbc"], &["ab", "acb", "ac"]);
}
