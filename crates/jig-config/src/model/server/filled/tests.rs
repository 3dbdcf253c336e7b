use super::*;

fn fill(text: &str) -> Result<String, FillError> {
    let filled = ServerSettingText::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let mut look = |name: &str| match name {
        "A" => Some("1".to_owned()),
        "EMPTY" => Some(String::new()),
        "LINES" => Some("a\nX-Evil: b".to_owned()),
        _ => None,
    };
    filled.fill(&mut look, &mut |_| Err("no".to_owned()))
}

#[test]
fn texts_are_filled() {
    let check = |text: &str, expected: &str| assert_eq!(fill(text).as_deref(), Ok(expected));
    check("", "");
    check("plain", "plain");
    check("${A}", "1");
    check("a${A}b${A}", "a1b1");
    check("$$", "$");
    check("$${A}", "${A}");
    check("$$$${A}", "$${A}");
    check("$A $ 5$", "$A $ 5$");
    check("${EMPTY}", "");
    check("${EMPTY:-x y}", "x y");
    check("${NONE:-}", "");
    check("${NONE:-a:-b}", "a:-b");
    check("two\nlines", "two\nlines");
    check("é${A}é", "é1é");
}

#[test]
fn what_is_missing_is_named_and_nothing_else() {
    let error = fill("secret ${NONE}").expect_err("it is not set");
    assert_eq!(error, FillError::Variable("NONE".to_owned()));
    assert_eq!(error.to_string(), "the variable `NONE` is not set");
    // A value with a line's end would end a header.
    let error = fill("${LINES}").expect_err("it has lines").to_string();
    assert!(
        error.contains("LINES") && !error.contains("Evil"),
        "{error}"
    );
}

#[test]
fn texts_that_cannot_be_read() {
    let check = |text: &str, expected: FilledError| {
        assert_eq!(ServerSettingText::parse(text), Err(expected), "{text}");
    };
    check("${", FilledError::Open);
    check("a${A", FilledError::Open);
    check("${}", FilledError::Name);
    check("${1A}", FilledError::Name);
    check("${A B}", FilledError::Name);
    check("${A:-${B}}", FilledError::Nested);
    check("${env:A}", FilledError::Foreign);
    check("${input:token}", FilledError::Foreign);
    check("${workspaceFolder}", FilledError::Foreign);
    check("a\0", FilledError::Nul);
}

#[test]
fn commands_print_values() {
    let words = vec!["gh".to_owned(), "auth".to_owned()];
    let filled = ServerSettingText::from_command(words.clone());
    assert!(filled.is_secret());
    assert_eq!(filled.command(), Some(words.as_slice()));
    assert_eq!(filled.to_string(), "{ command = [\"gh\", \"auth\"] }");
    let check = |printed: Result<&str, &str>, expected: Result<&str, &str>| {
        let printed = printed.map(str::to_owned).map_err(str::to_owned);
        let value = filled.fill(&mut |_| None, &mut |asked| {
            assert_eq!(asked, words);
            printed.clone()
        });
        let value = value.map_err(|error| error.to_string());
        assert_eq!(value, expected.map(str::to_owned).map_err(str::to_owned));
    };
    check(Ok("token\n"), Ok("token"));
    check(Ok("token\r\n"), Ok("token"));
    check(Ok(" token "), Ok(" token "));
    check(
        Ok("\n"),
        Err("the command `gh` did not give a value: it printed nothing"),
    );
    check(
        Err("it failed"),
        Err("the command `gh` did not give a value: it failed"),
    );
    check(
        Ok("one\ntwo\n"),
        Err("the value of the command `gh` holds a line break or a NUL byte"),
    );
}

#[test]
fn what_is_written_is_kept_and_not_debugged() {
    for text in ["", "a", "${A}", "a${B:-c}$$", "$"] {
        let filled = ServerSettingText::parse(text).expect("it can be read");
        assert_eq!(filled.to_string(), text);
    }
    let filled = ServerSettingText::parse("hunter2 ${A}").expect("it can be read");
    assert!(!format!("{filled:?}").contains("hunter2"), "{filled:?}");
    assert_eq!(filled.plain(), None);
    let literal = ServerSettingText::literal("a${B}$c");
    assert_eq!(literal.plain(), Some("a${B}$c"));
    let again = ServerSettingText::parse(&literal.to_string()).expect("it can be read");
    assert_eq!(again.plain(), Some("a${B}$c"));
    assert!(!literal.is_secret());
}
