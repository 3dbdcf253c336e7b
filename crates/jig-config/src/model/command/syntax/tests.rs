use super::*;

#[test]
fn what_only_a_shell_understands() {
    let operator = |word: &str| Some(Syntax::Operator(word.to_owned()));
    let expansion = |word: &str| Some(Syntax::Expansion(word.to_owned()));
    let check = |line: &str, expected: Option<Syntax>| {
        assert_eq!(shell_syntax(line), expected, "{line}");
    };
    check("cat a | grep b", operator("|"));
    check("cat a && rm *", operator("&&"));
    check("make > out.txt", operator(">"));
    check("make 2>&1", operator("2>&1"));
    check("sleep 5 &", operator("&"));
    check("echo $HOME", expansion("$HOME"));
    check("echo a=${X}", expansion("a=${X}"));
    check("echo `date`", expansion("`date`"));
    check("wc -l src/*.rs", expansion("src/*.rs"));
    check("cat ~/x", expansion("~/x"));
    check("cd src; make", expansion("src;"));
    check("make >out", expansion(">out"));
    for fine in [
        "make",
        "sh -c 'cat a | grep b > $HOME'",
        "grep -e '|' \"*.rs\"",
        "find . -exec rm {} \\;",
        "x {{tool.arguments.a | default('*')}}",
        "awk '{print $1}' a$ b~ 5$",
        "a|b",
        "x '",
    ] {
        check(fine, None);
    }
}
