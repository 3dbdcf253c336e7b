use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context};
use serde_json::json;

use super::command_shown;
use crate::CommandWord;

#[track_caller]
fn check(program: &str, args: &[&str], shell: bool, what: &str, expected: &str) {
    let arguments = json!({ "what": what });
    let input = ToolInput {
        name: "t".to_owned(),
        arguments: arguments.as_object().cloned().unwrap_or_default(),
        ..ToolInput::default()
    };
    let context = Context::new("/w", Action::Run);
    let args: Vec<CommandWord> = args.iter().map(|arg| CommandWord::parse(*arg)).collect();
    let shown = command_shown(
        &CommandWord::parse(program),
        &args,
        shell,
        (&input, &context),
        false,
    );
    assert_eq!(shown.as_deref(), Ok(expected));
}

#[test]
fn words_are_filled_in_and_quoted() {
    let args = ["-w", "{{tool.arguments.what}}"];
    check("wc", &args, false, "README.md", "wc -w README.md");
    check("wc", &args, false, "a b", "wc -w 'a b'");
    check("wc", &args, false, "", "wc -w ''");
    check("wc", &args, false, "x; rm -rf /", "wc -w 'x; rm -rf /'");
    check("wc", &args, false, "it's", "wc -w 'it'\\''s'");
}

/// A value must not look like another line, another word, or nothing.
#[test]
fn nothing_in_a_value_is_hidden() {
    let args = ["{{tool.arguments.what}}"];
    check("t", &args, false, "a\n$ ls", "t $'a\\n$ ls'");
    check("t", &args, false, "\u{1b}[2Ka\r", "t $'\\U0000001b[2Ka\\r'");
    check(
        "t",
        &args,
        false,
        "a\u{202e}b'\\",
        "t $'a\\U0000202eb\\'\\\\'",
    );
    let long = "x".repeat(5000);
    let shown = format!("t '{}… (4700 more characters)' -v", "x".repeat(300));
    check(
        "t",
        &["{{tool.arguments.what}}", "-v"],
        false,
        &long,
        &shown,
    );
}

/// A tool that is handed the whole call as JSON, as those of JP are, is shown as it is declared.
#[test]
fn a_whole_call_is_not_spelled_out() {
    let args = ["{{context}}", "{{ tool }}", "{{tool.name}}"];
    check("./t", &args, false, "x", "./t {{context}} {{ tool }} t");
}

#[test]
fn values_stay_apart_from_a_script() {
    check(
        "grep -r {{tool.arguments.what}} . | head",
        &["-n", "3"],
        true,
        "a b",
        "jig_1='a b' sh -c 'grep -r \"${jig_1}\" . | head -n 3'",
    );
}
