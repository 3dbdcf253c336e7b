use super::*;

fn fed(pieces: &[&str]) -> WholeOutput {
    let mut whole = WholeOutput::new(1 << 18);
    for piece in pieces {
        whole.push(piece.as_bytes());
    }
    whole
}

#[test]
fn s041_only_one_object_may_be_a_result() {
    let check = |pieces: &[&str], expected: bool| {
        assert_eq!(fed(pieces).bytes().is_some(), expected, "{pieces:?}");
    };
    check(&[], true);
    check(&[" \n"], true);
    check(&["{"], true);
    check(&["\n ", " {\"a\"", ":1}\n"], true);
    check(&["{\n", "\"type\":", "\"success\"\n}\n"], true);
    check(&["{\"a\":1}\n", " \n"], true);
    check(&["x"], false);
    check(&[" ", "x{"], false);
    check(&["[1]"], false);
    // One object after the other: not one result, and not kept.
    check(&["{\"a\":1}\n", "{\"a\":2}\n"], false);
    check(&["{\"a\":1}\n", " \n", "x"], false);
}

/// There can be thousands of sessions: none keeps more than a result may have.
#[test]
fn what_is_too_large_is_no_result() {
    let check = |max_result: usize, expected: usize| {
        let piece = vec![b'x'; 1 << 12];
        let mut whole = WholeOutput::new(max_result);
        assert!(whole.push(b"{\""));
        let taken = (0..1000).take_while(|_| whole.push(&piece)).count();
        assert_eq!(taken, expected, "{max_result}");
        assert_eq!(whole.bytes(), None);
        assert!(!whole.push(b"}"));
        whole.forget_other();
        assert_eq!(whole.kept.capacity(), 0);
    };
    check(1 << 18, 63);
    // A question may be longer than a result.
    check(10, 15);
    check(usize::MAX, 255);
}

#[test]
fn everything_is_shown_once() {
    let mut whole = fed(&["{\"a\":", "1"]);
    assert!(whole.is_held());
    let due = whole.due().unwrap();
    assert!(!whole.is_overdue(due - HELD_FOR / 2) && whole.is_overdue(due));
    assert_eq!(whole.take_unshown(), b"{\"a\":1");
    assert!(!whole.is_held() && whole.due().is_none());
    assert_eq!(whole.take_unshown(), b"");
    assert!(whole.push(b"}"));
    assert_eq!(whole.take_unshown(), b"}");
    assert_eq!(whole.bytes(), Some(&b"{\"a\":1}"[..]));
}

#[test]
fn much_is_not_held_back() {
    let mut whole = fed(&["{\""]);
    assert!(whole.push(&vec![b'x'; MOST_HELD]));
    assert!(!whole.is_held());
    assert!(whole.bytes().is_some());
}
