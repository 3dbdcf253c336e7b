use super::*;

/// A script as one line: words in `[]`, pieces that are not bare in `""`.
fn shown(text: &str) -> String {
    let script = match parse(text) {
        Ok(script) => script,
        Err(error) => return format!("{error}"),
    };
    let mut all = String::new();
    for (when, pipeline) in script.items {
        all.push_str(match when {
            PipelineCondition::Always => "; ",
            PipelineCondition::AfterSuccess => "&& ",
            PipelineCondition::AfterFailure => "|| ",
        });
        if pipeline.negated {
            all.push_str("! ");
        }
        let commands: Vec<String> = pipeline.commands.iter().map(command).collect();
        all.push_str(&commands.join(" | "));
        all.push(' ');
    }
    all.trim_end().to_owned()
}

fn command(command: &ShellCommand) -> String {
    let words = command.words.iter().map(word);
    let redirects = command.redirects.iter().map(|redirect| match redirect {
        Redirect::Input(from) => format!("<{}", word(from)),
        Redirect::Text(text) => format!("<<<{}", word(text)),
        Redirect::Output {
            streams,
            to,
            append,
        } => {
            let arrow = if *append { ">>" } else { ">" };
            format!("{streams:?}{arrow}{}", word(to))
        }
        Redirect::ErrorToOutput => "2>&1".to_owned(),
        Redirect::OutputToError => ">&2".to_owned(),
    });
    words.chain(redirects).collect::<Vec<_>>().join(" ")
}

fn word(word: &ShellWord) -> String {
    let pieces = word.0.iter().map(|piece| match piece {
        WordPiece::Bare(text) => text.clone(),
        WordPiece::Quoted(text) => format!("{text:?}"),
        WordPiece::Status => "<status>".to_owned(),
    });
    pieces.collect()
}

#[test]
fn scripts_are_read() {
    for (text, expected) in [
        ("", ""),
        ("\n\n # nothing\n", ""),
        ("cat a", "; cat a"),
        ("cat a | grep x>out.txt", "; cat a | grep x Output>out.txt"),
        ("a<in 2>err", "; a <in Error>err"),
        ("a 2 >out", "; a 2 Output>out"),
        ("a2>out", "; a2 Output>out"),
        ("a >> b 2>&1", "; a Output>>b 2>&1"),
        ("a &> b", "; a Both>b"),
        ("a >&2", "; a >&2"),
        ("a <<< 'b c'", "; a <<<\"b c\""),
        ("a && b || c; d\ne", "; a && b || c ; d ; e"),
        ("a &&\n\nb |\n c", "; a && b | c"),
        ("! a | b", "; ! a | b"),
        (
            "echo 'a b' \"c $? d\" e\\ f",
            "; echo \"a b\" \"c \"<status>\" d\" e\" \"f",
        ),
        ("grep 'x$' \"y$\" z$", "; grep \"x$\" \"y$\" z$"),
        ("echo a'b'\"c\"", "; echo a\"b\"\"c\""),
        (r#"echo "\"\\\n\$""#, r#"; echo "\"\\\\n$""#),
        ("echo a#b # c", "; echo a#b"),
        ("echo '' \"\"", "; echo \"\" \"\""),
        ("echo é\\\n a", "; echo é a"),
        ("a;", "; a"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}

#[test]
fn what_is_not_known_is_said() {
    for (text, expected) in [
        ("a | | b", "a command is missing beside `|` (at byte 4)"),
        ("| b", "a command is missing beside `|` (at byte 0)"),
        ("a |", "a command is missing here (at byte 3)"),
        ("a && ; b", "a command is missing here (at byte 5)"),
        ("; a", "a command is missing here (at byte 0)"),
        ("a || ", "a command is missing here (at byte 5)"),
        ("a >", "the file of a redirection is missing (at byte 3)"),
        (
            "> a",
            "a redirection needs a command before it, such as `cat` (at byte 0)",
        ),
        ("echo 'a", "this quote has no end: `'` (at byte 5)"),
        ("echo \"a", "this quote has no end: `\"` (at byte 5)"),
        ("echo a\\", "a backslash stands at the end (at byte 6)"),
        (
            "sleep 1 &",
            "nothing runs in the background in this shell; quote the `&` if it is text (at byte 8)",
        ),
        (
            "echo $HOME",
            "there are no variables in this shell; write '$' in single quotes if it is text (at byte 5)",
        ),
        (
            "A=b cat",
            "there are no variables in this shell (at byte 0)",
        ),
        (
            "cat $(ls)",
            "a command's output cannot be put into a line in this shell; use a pipe (at byte 4)",
        ),
        (
            "cat `ls`",
            "a command's output cannot be put into a line in this shell; use a pipe (at byte 4)",
        ),
        (
            "cat ~/a",
            "`~` has no meaning in this shell: there is no home; quote it if it is text (at byte 4)",
        ),
        (
            "for i in a; do b; done",
            "`for`: there are no loops, conditions or functions in this shell (at byte 0)",
        ),
        (
            "(a)",
            "there are no subshells in this shell; quote the `(` if it is text (at byte 0)",
        ),
        (
            "cat << E",
            "here-documents are not known in this shell; write `<<< 'TEXT'` (at byte 4)",
        ),
        ("a 2>&3", "only `2>&1` and `>&2` are known (at byte 2)"),
    ] {
        assert_eq!(shown(text), expected, "{text:?}");
    }
}
