use super::*;
use crate::import::declared::PromptedInput;

fn context(client: ImportFrom, inputs: &[PromptedInput]) -> ImportContext<'_> {
    ImportContext {
        client,
        root: Utf8Path::new("/srv/space"),
        home: Some(Utf8Path::new("/home/me")),
        inputs,
    }
}

/// How a text of a client is written in jig, as a word of a command.
fn written(client: ImportFrom, text: &str) -> Result<String, String> {
    let inputs = [PromptedInput {
        id: "api-key".to_owned(),
        variable: "API_KEY".to_owned(),
        default: None,
        described: String::new(),
    }];
    read(text, ImportTextPlace::Program, &context(client, &inputs)).map(|text| text.written())
}

#[test]
fn variables_of_claude_are_those_of_a_shell() {
    let check = |text: &str, expected: &str| {
        assert_eq!(
            written(ImportFrom::Claude, text).as_deref(),
            Ok(expected),
            "{text}"
        );
    };
    check("plain", "plain");
    check("", "");
    check("${TOKEN}", "${TOKEN}");
    check("Bearer ${TOKEN:-none}!", "Bearer ${TOKEN:-none}!");
    check("a$b$$", "a$$b$$$$");
    check("${1}", "$${1}");
    check("${}", "$${}");
    check("${env:A}", "$${env:A}");
    check("${A:-${B}}", "$${A:-${B}}");
    check("${A", "$${A");
    check("${HOME}/x", "/home/me/x");
    check("${CLAUDE_PROJECT_DIR}/x", "./x");
    check("--root=${CLAUDE_PROJECT_DIR}", "--root=.");
}

#[test]
fn variables_of_editors() {
    let check = |text: &str, expected: Result<&str, &str>| {
        for client in [ImportFrom::Cursor, ImportFrom::VsCode] {
            let written = written(client, text);
            let written = written.as_deref().map_err(String::as_str);
            assert_eq!(written, expected, "{text}");
        }
    };
    check("${env:TOKEN}", Ok("${TOKEN}"));
    check("${input:api-key}", Ok("${API_KEY}"));
    check("${workspaceFolder}", Ok("."));
    check("${workspaceFolder}/src", Ok("./src"));
    check("--dir=${workspaceFolder}/src", Ok("--dir=./src"));
    check("file://${workspaceFolder}", Ok("file:///srv/space"));
    check(
        "${workspaceFolder}:${workspaceFolder}/b",
        Ok(".:/srv/space/b"),
    );
    check("${workspaceFolderBasename}", Ok("space"));
    check("${userHome}${/}x${pathSeparator}y", Ok("/home/me/x/y"));
    check("costs $5", Ok("costs $$5"));
    check("${env:1}", Err("`${env:1}` names no variable"));
    check(
        "${input:other}",
        Err("`${input:other}` is not among the `inputs` of the file"),
    );
    check(
        "${command:x}",
        Err("`${command:x}` is a variable that only the client can fill in"),
    );
}

#[test]
fn codex_has_no_variables() {
    let check = |text: &str, expected: &str| {
        assert_eq!(written(ImportFrom::Codex, text).as_deref(), Ok(expected));
    };
    check("${TOKEN}", "$${TOKEN}");
    check("a ${B", "a $${B");
}

/// Whatever a file says, jig reads what is written of it as the client read it.
#[test]
fn what_is_written_is_read_the_same() {
    for text in [
        "",
        "$",
        "$$",
        "${",
        "${}",
        "${A",
        "a}b",
        "$${A}",
        "${A}${B:-c}",
        "\u{1b}[0m\n\"'\\",
        "ä${x y}",
    ] {
        let mine = read(
            text,
            ImportTextPlace::Program,
            &context(ImportFrom::Claude, &[]),
        )
        .unwrap();
        let read = jig_config::ServerSettingText::parse(&mine.written()).unwrap();
        let look = |name: &str| Some(format!("<{name}>"));
        let theirs = read.fill(&mut |name| look(name), &mut |_| unreachable!());
        match theirs {
            Ok(theirs) => assert_eq!(mine.filled(&look), Ok(theirs), "{text:?}"),
            // A line's end cannot be filled in, but it can be written.
            Err(_) => assert!(text.contains('\n'), "{text:?}"),
        }
    }
}

#[test]
fn a_value_is_hidden_wherever_it_stands() {
    let mut text = ImportText::plain("a=SECRET, b=SECRET");
    assert!(text.hide("SECRET", "KEY"));
    assert_eq!(text.written(), "a=${KEY}, b=${KEY}");
    assert_eq!(text.filled(&|_| None), Ok("a=SECRET, b=SECRET".to_owned()));
    assert!(!text.hide("SECRET", "KEY"));
    assert!(!text.hide("", "KEY"));
}

#[test]
fn names_of_variables() {
    let check = |text: &str, expected: &str| {
        let name = as_variable(text);
        assert_eq!(name, expected);
        assert!(is_variable(&name), "{name}");
    };
    check("api-key", "API_KEY");
    check("--x.y", "X_Y");
    check("", "VALUE");
    check("日本", "VALUE");
    check("1st", "_1ST");
    check(&"a".repeat(1000), &"A".repeat(64));
}
