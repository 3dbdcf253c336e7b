//! Hints that a test follows.

/// A test did what the hint of this template says, after `message` had said it: `again` is what it was told
/// then, and must not be the same. The check of all hints (`cargo xtask test`) knows it by that.
#[track_caller]
pub(crate) fn follow(hint: &str, message: &str, again: &str) {
    assert!(is_said(hint, message), "`{hint}` is not in: {message}");
    assert!(!is_said(hint, again), "`{hint}` is said again: {again}");
    jig_proto::followed_hint(hint);
}

/// Whether a message holds a hint, whatever stands for the `{}` in it.
pub(crate) fn is_said(hint: &str, message: &str) -> bool {
    let parts = parts(hint);
    // As JSON has it, too.
    let message = &message.replace("\\\"", "\"");
    // A few words could stand anywhere.
    let mark = if parts[0].len() < 8 { "hint: " } else { "" };
    let begin = format!("{mark}{}", parts[0]);
    let mut begins = message.match_indices(&begin);
    begins.any(|(at, _)| {
        let mut rest = &message[at + begin.len()..];
        parts[1..].iter().all(|part| {
            let after = rest.split_once(part.as_str()).map(|(_, after)| after);
            rest = after.unwrap_or_default();
            after.is_some()
        })
    })
}

/// The text of a hint between what is filled in.
fn parts(hint: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut characters = hint.chars().peekable();
    while let Some(character) = characters.next() {
        let is_doubled = characters.peek() == Some(&character);
        match character {
            '{' | '}' if is_doubled => {
                characters.next();
                parts.last_mut().unwrap().push(character);
            }
            '{' => {
                while characters.next().is_some_and(|inside| inside != '}') {}
                parts.push(String::new());
            }
            character => parts.last_mut().unwrap().push(character),
        }
    }
    parts
}
