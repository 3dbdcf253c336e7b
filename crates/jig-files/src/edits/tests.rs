use super::*;

fn check(content: &str, edits: &[FileEdit], expected: Result<&str, (usize, EditProblem)>) {
    let found = apply(content.as_bytes(), edits);
    let found = found.map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(
        found.as_deref().map_err(Clone::clone),
        expected,
        "{edits:?} on {content:?}"
    );
}

fn bytes(range: Range<u64>, with: &str) -> FileEdit {
    FileEdit::Bytes {
        range,
        with: with.into(),
    }
}

fn lines(first: u64, last: u64, with: &str) -> FileEdit {
    FileEdit::Lines {
        first,
        last,
        with: with.into(),
    }
}

fn text(find: &str, with: &str, all: bool) -> FileEdit {
    FileEdit::Text {
        find: find.into(),
        with: with.into(),
        all,
    }
}

fn range(first: u64, end: u64, size: u64, unit: &'static str) -> EditProblem {
    EditProblem::Range {
        first,
        end,
        size,
        unit,
    }
}

#[test]
fn byte_ranges() {
    check("abcdef", &[bytes(1..3, "X")], Ok("aXdef"));
    check("abcdef", &[bytes(6..6, "!")], Ok("abcdef!"));
    check("abcdef", &[bytes(0..6, "")], Ok(""));
    check("", &[bytes(0..0, "a")], Ok("a"));
    check("abc", &[bytes(2..4, "")], Err((1, range(2, 4, 3, "bytes"))));
    #[expect(
        clippy::reversed_empty_ranges,
        reason = "the reversed range is the case"
    )]
    check("abc", &[bytes(2..1, "")], Err((1, range(2, 1, 3, "bytes"))));
    check(
        "abc",
        &[bytes(0..u64::MAX, "")],
        Err((1, range(0, u64::MAX, 3, "bytes"))),
    );
}

#[test]
fn line_ranges() {
    check("a\nb\nc\n", &[lines(2, 2, "B\n")], Ok("a\nB\nc\n"));
    check("a\nb\nc\n", &[lines(1, 3, "")], Ok(""));
    check("a\nb\nc\n", &[lines(2, 1, "new\n")], Ok("a\nnew\nb\nc\n"));
    check("a\nb\nc\n", &[lines(4, 3, "d\n")], Ok("a\nb\nc\nd\n"));
    check("a\nb", &[lines(2, 2, "B")], Ok("a\nB"));
    check("a\r\nb\r\n", &[lines(1, 1, "A\r\n")], Ok("A\r\nb\r\n"));
    check("", &[lines(1, 0, "a\n")], Ok("a\n"));
    check("a\n", &[lines(2, 2, "")], Err((1, range(2, 2, 1, "lines"))));
    check("a\n", &[lines(0, 1, "")], Err((1, range(0, 1, 1, "lines"))));
    check("a\n", &[lines(3, 2, "")], Err((1, range(3, 2, 1, "lines"))));
    check(
        "a\nb\n",
        &[lines(2, 0, "")],
        Err((1, range(2, 0, 2, "lines"))),
    );
    check(
        "a\n",
        &[lines(1, u64::MAX, "")],
        Err((1, range(1, u64::MAX, 1, "lines"))),
    );
}

#[test]
fn exact_text() {
    check("one two", &[text("two", "2", false)], Ok("one 2"));
    check("aXbXc", &[text("X", "", true)], Ok("abc"));
    check("aaa", &[text("aa", "b", true)], Ok("ba"));
    check(
        "aXbX",
        &[text("X", "", false)],
        Err((1, EditProblem::Ambiguous { count: 2 })),
    );
    check(
        "abc",
        &[text("X", "", true)],
        Err((1, EditProblem::NotThere)),
    );
    check("abc", &[text("", "y", true)], Err((1, EditProblem::Empty)));
}

#[test]
fn edits_see_what_the_ones_before_them_did_and_fail_as_a_whole() {
    check("ab", &[text("a", "cc", false), bytes(0..1, "d")], Ok("dcb"));
    check(
        "ab",
        &[text("a", "c", false), text("a", "", false)],
        Err((2, EditProblem::NotThere)),
    );
}
