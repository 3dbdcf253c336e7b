use jig_programs::SplitError;

use super::*;

#[test]
fn a_line_is_split_into_words_before_templates_are_filled_in() {
    // J-002.
    let check = |line: &str, words: &[&str]| {
        let command = Command::parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let all: Vec<&str> = std::iter::once(&command.program)
            .chain(&command.args)
            .map(String::as_str)
            .collect();
        assert_eq!(all, words, "{line}");
        assert!(!command.shell);
    };
    check(
        "just serve-tools {{context}} {{tool}}",
        &["just", "serve-tools", "{{context}}", "{{tool}}"],
    );
    check("  a\tb\nc  ", &["a", "b", "c"]);
    check("a 'b c' \"d e\"", &["a", "b c", "d e"]);
    check("a '{{ tool.name }}'", &["a", "{{ tool.name }}"]);
    check(r#"a "\"\\\$\n" b\ c"#, &["a", "\"\\$\\n", "b c"]);
    // A template is a part of its word, with spaces, quotes and braces in it.
    check("a {{ tool }} b", &["a", "{{ tool }}", "b"]);
    check(
        "just x {{tool.arguments.mmm | default('')}} --y={{ a ~ \" }} \" }}z",
        &[
            "just",
            "x",
            "{{tool.arguments.mmm | default('')}}",
            "--y={{ a ~ \" }} \" }}z",
        ],
    );
    check(
        "{% if a %}--b{% endif %} c",
        &["{% if a %}--b{% endif %}", "c"],
    );
    check("jq '{a: {b: .x}}'", &["jq", "{a: {b: .x}}"]);
    check("echo { x }", &["echo", "{", "x", "}"]);
    check("a '' \"\"", &["a", "", ""]);
    check("a b'c'd", &["a", "bcd"]);
    check(
        "a # b ; c | d && e",
        &["a", "#", "b", ";", "c", "|", "d", "&&", "e"],
    );
}

#[test]
fn a_line_that_can_not_be_split_is_refused() {
    let check = |line: &str, error: CommandSyntaxError| {
        assert_eq!(Command::parse(line), Err(error), "{line}");
    };
    check("", CommandSyntaxError::Empty);
    check(" \t ", CommandSyntaxError::Empty);
    check("''", CommandSyntaxError::Empty);
    check(
        "a 'b",
        CommandSyntaxError::Line(SplitError::OpenQuote('\'')),
    );
    check(
        "a \"b",
        CommandSyntaxError::Line(SplitError::OpenQuote('"')),
    );
    check(
        "a \"b\\",
        CommandSyntaxError::Line(SplitError::OpenQuote('"')),
    );
    check(
        "a \\",
        CommandSyntaxError::Line(SplitError::TrailingBackslash),
    );
    check("a \0", CommandSyntaxError::Nul);
    for line in [
        "a {{ tool",
        "a {{",
        "a {% if",
        "a '{{ x'",
        "a {{ }}",
        "a {{ x | }}",
    ] {
        let error = Command::parse(line).expect_err(line);
        assert!(
            matches!(error, CommandSyntaxError::Template { .. }),
            "{line}: {error}"
        );
    }
}
