use serde_json::json;

use super::Notice;
use crate::{HandleId, StateName};

#[test]
fn s082_a_notice_is_a_sentence_and_an_object() {
    let check = |state: StateName, dropped: bool, sentence: &str, object: serde_json::Value| {
        let notice = Notice {
            id: HandleId::numbered(1),
            tool: "git".to_owned(),
            state,
            dropped,
        };
        assert_eq!(notice.to_string(), sentence);
        assert_eq!(serde_json::to_value(&notice).unwrap(), object);
    };
    check(
        StateName::Running,
        false,
        "`h_1` of the tool `git` runs",
        json!({"id": "h_1", "tool": "git", "state": "running"}),
    );
    check(
        StateName::Waiting,
        false,
        "`h_1` of the tool `git` waits for an answer; fetch it to see its question",
        json!({"id": "h_1", "tool": "git", "state": "waiting"}),
    );
    check(
        StateName::Stopped,
        false,
        "`h_1` of the tool `git` has stopped; fetch it to see its result",
        json!({"id": "h_1", "tool": "git", "state": "stopped"}),
    );
    check(
        StateName::Stopped,
        true,
        "`h_1` of the tool `git` has stopped, and its result was dropped: too many results waited to \
         be fetched",
        json!({"id": "h_1", "tool": "git", "state": "stopped", "dropped": true}),
    );
}
