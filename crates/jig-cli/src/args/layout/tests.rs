use super::{lay_out, words};

#[track_caller]
fn check(text: &str, width: usize, expected: &str) {
    assert_eq!(lay_out(text, width), expected);
}

#[test]
fn a_paragraph_is_broken_once() {
    let text = "one two three four\nfive six\n\nseven";
    check(text, 40, "one two three four five six\n\nseven");
    check(text, 13, "one two three\nfour five six\n\nseven");
    // A word that is too long stands alone.
    check(
        "a https://example.com/long b",
        10,
        "a\nhttps://example.com/long\nb",
    );
}

#[test]
fn an_example_stays_on_its_line_where_it_fits() {
    let text = "Examples:\n  jig ps        what runs\n  jig ps --all  everywhere\nAnd more.";
    check(text, 40, text);
}

#[test]
fn what_a_command_does_stands_beside_it_or_below() {
    let text = "  jig call x path=a   read a file of the workspace, all of it\n  jig ps              what runs";
    check(
        text,
        55,
        "  jig call x path=a   read a file of the workspace, all\n                      of it\n  jig ps              what runs",
    );
    check(
        text,
        45,
        "  jig call x path=a\n      read a file of the workspace, all of it\n  jig ps\n      what runs",
    );
    check(
        "  4  the answer was deny or uncovered, or else",
        40,
        "  4  the answer was deny or uncovered,\n     or else",
    );
    // One that is too long for its column stands alone.
    check(
        "  jig a   short\n  jig call fs_read_file path=README.md   a long one that has no room here",
        60,
        "  jig a   short\n  jig call fs_read_file path=README.md\n      a long one that has no room here",
    );
}

#[test]
fn a_long_command_can_still_be_copied() {
    check(
        "  jig run --net pypi.org --net files.pythonhosted.org -- pip install x",
        40,
        "  jig run --net pypi.org --net \\\n      files.pythonhosted.org -- pip \\\n      install x",
    );
    assert_eq!(
        words("jig call t --args '{\"a b\": \"c d\"}' \"x y\" z"),
        [
            "jig",
            "call",
            "t",
            "--args",
            "'{\"a b\": \"c d\"}'",
            "\"x y\"",
            "z"
        ]
    );
}
