#![expect(
    clippy::disallowed_methods,
    reason = "a real shell is the judge of what a shell reads"
)]

use std::process::Command;

use super::*;

#[test]
fn variables_get_the_quotes_that_their_place_needs() {
    let check = |text: &str, expected: &str| {
        let text = text.replace('@', &place(1));
        assert_eq!(with_variables(&text), expected, "{text}");
    };
    check("cat @", "cat \"${jig_1}\"");
    check("cat \"@\"", "cat \"${jig_1}\"");
    check("cat \"a@b\" @", "cat \"a${jig_1}b\" \"${jig_1}\"");
    check("cat '@'", "cat ''\"${jig_1}\"''");
    check("echo \"$(cat @)\"", "echo \"$(cat \"${jig_1}\")\"");
    check("echo \"`cat @`\"", "echo \"`cat \"${jig_1}\"`\"");
    check("echo \\\" @", "echo \\\" \"${jig_1}\"");
    check("echo it\\'s @", "echo it\\'s \"${jig_1}\"");
    check("# don't\ncat @", "# don't\ncat \"${jig_1}\"");
    check("echo a#b' @'", "echo a#b' '\"${jig_1}\"''");
    check("(cd x && cat @) | wc", "(cd x && cat \"${jig_1}\") | wc");
    check("f() { cat @; }; f", "f() { cat \"${jig_1}\"; }; f");
}

/// J-004: whatever a value says, and wherever it stands, it is data. The shell itself says so.
#[test]
fn j004_no_value_is_code() {
    let values = [
        "$(touch PWNED)",
        "`touch PWNED`",
        "; touch PWNED",
        "\n touch PWNED\n",
        "'; touch PWNED; '",
        "\"; touch PWNED; \"",
        "a && touch PWNED",
        "> PWNED",
        "${IFS}touch${IFS}PWNED",
        "\\",
        "*",
        "two words",
        "",
        "\u{10fffe}1\u{10fffe}",
    ];
    let scripts = [
        "printf %s @",
        "printf %s \"@\"",
        "printf %s '@'",
        "printf %s \"$(printf %s @)\"",
        "f() { printf %s @; }; f other",
        "x=@; printf %s \"$x\"",
        "printf %s @ # it's @",
        "case @ in *) printf %s @;; esac",
    ];
    for script in scripts {
        for value in values {
            let folder = tempfile::tempdir().expect("a folder");
            let text = script.replace('@', &place(1));
            let script = BoundScript::of_places(&text, vec![value.to_owned()]);
            let output = Command::new("sh")
                .args(script.into_arguments())
                .current_dir(folder.path())
                .output()
                .expect("a shell");
            assert_eq!(
                String::from_utf8_lossy(&output.stdout),
                value.trim_end_matches(|c| c == '\n' && text.contains("$(")),
                "{value:?} in {text:?}"
            );
            assert!(
                !folder.path().join("PWNED").exists(),
                "{value:?} in {text:?}"
            );
        }
    }
}

#[test]
fn j003_quoted_words_are_one_word_each() {
    for word in [
        "", "a b", "it's", "$HOME", "`x`", "a\nb", "=x", "-n", "ü", "*",
    ] {
        let output = Command::new("sh")
            .arg("-c")
            .arg(format!("printf '%s|' {}", quote(word)))
            .output()
            .expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{word}|"));
    }
}

#[test]
fn the_script_sees_no_arguments_of_its_own() {
    let script = BoundScript::of_places(&format!("echo $0 $# {}", place(1)), vec!["v".to_owned()]);
    let output = Command::new("sh")
        .args(script.into_arguments())
        .output()
        .expect("a shell");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sh 0 v\n");
    assert_eq!(
        BoundScript::plain("date".to_owned()).into_arguments(),
        ["-c", "date"]
    );
}
