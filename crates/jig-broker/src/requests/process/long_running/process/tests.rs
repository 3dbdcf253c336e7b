//! What is missing in output is told, with what can be done about it.

use jig_proto::View;
use jig_pty::{Log, Screen, Size, Transcript, TranscriptPiece};

use super::{StayLook, clean, cut};
use crate::scrub::Secrets;

#[test]
fn what_is_missing_is_told() {
    let check = |view, is_terminal, (lost, left), expected: Option<(u64, &str)>| {
        let piece = TranscriptPiece {
            text: "text".to_owned(),
            seq: 10,
            lost,
            left,
        };
        let told = cut(&piece, view, is_terminal).map(|cut| (cut.bytes, cut.hint));
        let expected = expected.map(|(bytes, hint)| (bytes, hint.to_owned()));
        assert_eq!(told, expected, "{view} {is_terminal} {lost} {left}");
    };
    let older = "a larger `max_bytes` shows more";
    for is_terminal in [false, true] {
        for view in [View::New, View::Screen, View::All] {
            check(view, is_terminal, (0, 0), None);
        }
        let next = "read again for what follows";
        check(View::New, is_terminal, (0, 5), Some((5, next)));
        check(View::All, is_terminal, (0, 5), Some((5, older)));
        check(View::Screen, is_terminal, (0, 5), Some((5, older)));
        check(View::Screen, is_terminal, (7, 0), None);
    }
    let gone = "7 earlier bytes are gone, because they were not read in time";
    check(View::New, false, (7, 0), Some((7, gone)));
    let gone = "7 earlier lines are gone, because they were not read in time";
    check(View::New, true, (7, 0), Some((0, gone)));
    let both = format!("read again for what follows; {gone}");
    check(View::New, true, (7, 5), Some((5, &both)));
}

/// Looks at all pieces that a tool could ask for, and expects no part of the secret in any of them.
fn check_pieces(transcript: &Transcript) {
    let secrets = Secrets::new();
    secrets.remember("hunter22");
    let scrubber = secrets.scrubber();
    for view in [View::New, View::Screen, View::All] {
        for max in 0..60 {
            let mut after = 0;
            for _ in 0..60 {
                let look = StayLook {
                    view,
                    after: None,
                    max,
                };
                let piece = clean(transcript, &look, after, scrubber.as_ref());
                for part in ["hu", "un", "nt", "te", "er", "r2", "22"] {
                    assert!(
                        !piece.text.contains(part),
                        "{view} {after} {max}: {:?}",
                        piece.text
                    );
                }
                after = piece.seq;
            }
        }
    }
    let look = StayLook {
        view: View::All,
        after: None,
        max: 1000,
    };
    let shown = clean(transcript, &look, 0, None).text.replace('\n', "");
    assert!(shown.contains("hunter22"), "{shown}");
}

#[test]
fn no_piece_shows_a_part_of_what_became_a_secret_later() {
    let mut log = Log::new(1000);
    log.push("some ä word, hunter22, and hunter22\nmore\n".as_bytes());
    check_pieces(&Transcript::Log(log));
}

#[test]
fn no_piece_shows_a_part_of_what_was_drawn() {
    let mut screen = Screen::new(Size::new(5, 10), 100);
    for text in [
        "one\r\n",
        "two hun\x1b[0mter22\r\n",
        "three\r\n",
        "hun\x1b[1mter22",
        "\x1b[2;3H",
    ] {
        screen.feed(text.as_bytes());
    }
    check_pieces(&Transcript::Screen(screen));
}
