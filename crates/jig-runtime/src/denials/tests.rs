use jig_broker::MAX_DENIALS;
use jig_proto::{Denial, ToolError};

use super::{add, is_told};

fn denial(target: &str) -> Denial {
    Denial {
        hint: Some("[[tools.t.access.fs]]\npath = \"a\"\n".to_owned()),
        ..Denial::new("read", target, "no rule grants it")
    }
}

#[test]
fn each_is_told_once_and_not_too_many() {
    let mut error = ToolError::new("m");
    add(&mut error, vec![denial("a"), denial("b")]);
    let again = Denial {
        count: 7,
        ..denial("a")
    };
    add(&mut error, vec![again, denial("c")]);
    let targets: Vec<&str> = error
        .denials
        .iter()
        .map(|one| one.target.as_str())
        .collect();
    assert_eq!(targets, ["a", "b", "c"]);
    let many = (0..100).map(|number| denial(&number.to_string())).collect();
    add(&mut error, many);
    assert_eq!(error.denials.len(), MAX_DENIALS);
}

#[test]
fn what_the_tool_has_passed_on_is_not_told_twice() {
    let check = |error: ToolError, denial: &Denial, expected: bool| {
        assert_eq!(is_told(&error, denial), expected, "{error:?}");
    };
    let told = "access denied\nhint: this would allow it:\n\n[[tools.t.access.fs]]\npath = \"a\"";
    check(ToolError::new(told), &denial("a"), true);
    check(
        ToolError::new("access denied: read on `a`"),
        &denial("a"),
        false,
    );
    let mut traced = ToolError::new("m");
    traced
        .trace
        .push(format!("hint: {}", denial("a").hint.unwrap()));
    check(traced, &denial("a"), true);
    // Without a rule to add, the reason has to be there.
    let bare = Denial::new("read", "a", "no rule grants it");
    check(
        ToolError::new("read on `a`: no rule grants it"),
        &bare,
        true,
    );
    check(ToolError::new("it failed"), &bare, false);
}
