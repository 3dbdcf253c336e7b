//! What is left out for clients that would not understand it.

use super::*;

#[test]
fn an_event_without_data_is_told_from_a_message() {
    let check = |text: &'static str, expected: bool| {
        assert_eq!(
            is_priming(&Bytes::from_static(text.as_bytes())),
            expected,
            "{text:?}"
        );
    };
    check("id: 0\nretry: 3000\ndata: \n\n", true);
    check("id: 0/0\ndata:\nretry: 3000\n\n", true);
    check("data: {}\n\n", false);
    check("id: 1\ndata: {\"jsonrpc\":\"2.0\"}\n\n", false);
    // What keeps a stream open is no event.
    check(":\n\n", false);
    check("", false);
    check("event: message\ndata: 1\n\n", false);
}
