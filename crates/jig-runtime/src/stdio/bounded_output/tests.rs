use super::*;

fn with(pieces: &[(ProgramStream, &[u8])]) -> StdioOutput {
    let mut printed = StdioOutput::default();
    for (stream, piece) in pieces {
        printed.take(*stream, piece);
    }
    printed
}

#[test]
fn the_beginning_of_the_output_is_kept_and_the_rest_is_counted() {
    let chunk = vec![b'x'; 1 << 20];
    let mut printed = StdioOutput::default();
    for _ in 0..20 {
        printed.take(ProgramStream::Output, &chunk);
    }
    assert_eq!(printed.total(), 20 << 20);
    assert_eq!(printed.whole_output(), None);
    assert_eq!(printed.output().len(), KEPT_OUTPUT);
    let text = printed.output_text(usize::MAX);
    assert!(text.ends_with("\n... [4194304 bytes more]"));
}

#[test]
fn the_end_of_the_errors_is_kept() {
    let mut printed = StdioOutput::default();
    for number in 0..100_000 {
        printed.take(ProgramStream::Errors, format!("line {number}\n").as_bytes());
    }
    let text = printed.errors_text(usize::MAX);
    assert!(text.starts_with('[') && text.contains(" bytes before] ...\n"));
    assert!(text.ends_with("line 99999\n"));
    assert!(text.len() < 3 * KEPT_ERRORS);
    // And no memory grows with what is printed.
    assert!(printed.errors.len() <= 2 * KEPT_ERRORS && printed.news.len() <= 2 * KEPT_NEWS);
}

#[test]
fn news_are_whole_lines_and_told_once() {
    let mut printed = with(&[(
        ProgramStream::Errors,
        b"\x1b[32m  Compiling\x1b[0m a\n  Compi",
    )]);
    assert!(printed.has_news());
    assert_eq!(printed.take_news().as_deref(), Some("  Compiling a"));
    assert_eq!((printed.take_news(), printed.has_news()), (None, false));
    printed.take(ProgramStream::Errors, b"ling b\n");
    assert_eq!(printed.take_news().as_deref(), Some("  Compiling b"));
    printed.take(ProgramStream::Errors, b"\n\n");
    assert_eq!(printed.take_news(), None);
    // What a program prints as its result is no news.
    printed.take(ProgramStream::Output, b"result\n");
    assert!(!printed.has_news());
}

#[test]
fn streams_are_text() {
    let printed = with(&[
        (ProgramStream::Output, b"a\xff\x1b[1mb"),
        (ProgramStream::Errors, b"\x1b]0;t\x07e"),
    ]);
    assert_eq!(printed.output_text(usize::MAX), "a\u{fffd}b");
    assert_eq!(printed.errors_text(usize::MAX), "e");
    assert_eq!(printed.whole_output(), Some(&b"a\xff\x1b[1mb"[..]));
}

#[test]
fn streams_can_be_cut_further() {
    let printed = with(&[
        (ProgramStream::Output, "üüü".as_bytes()),
        (ProgramStream::Errors, "äöü".as_bytes()),
    ]);
    assert_eq!(printed.output_text(5), "üü\n... [2 bytes more]");
    assert_eq!(printed.errors_text(3), "[4 bytes before] ...\nü");
    assert_eq!(
        (printed.output_text(6), printed.errors_text(6)),
        ("üüü".to_owned(), "äöü".to_owned())
    );
}
