//! What is told of a configuration that is not in force.

use super::not_in_force;
use crate::configuration::reload::ReloadState;

#[test]
fn what_is_held_is_told_and_what_is_broken_without_its_text() {
    assert_eq!(not_in_force(&ReloadState::default()), "");
    let state = ReloadState {
        held: Some((
            "q_3".to_owned(),
            vec!["`t` may now write `src/`".to_owned()],
        )),
        broken: Some(
            "error: this is no TOML\n --> jig.toml:2:5\n  |\n2 | key = hunter2\n  |     ^"
                .to_owned(),
        ),
    };
    let text = not_in_force(&state);
    for part in [
        "jig approve q_3",
        "  `t` may now write `src/`\n",
        "error: this is no TOML",
        "--> jig.toml:2:5",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}
