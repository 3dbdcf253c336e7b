use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use jig_proto::StateName;

use super::*;
use crate::HandleError;

fn page(after: u64, max: usize) -> Fetch {
    Fetch {
        after_seq: Some(after),
        max_bytes: Some(max),
        ..Fetch::default()
    }
}

fn at_most(max: usize) -> Fetch {
    Fetch {
        max_bytes: Some(max),
        ..Fetch::default()
    }
}

/// S-011: each fetch shows what came since the last.
#[test]
fn s011_a_fetch_shows_what_is_new() {
    let (handles, id, tool) = one();
    tool.says("one\n");
    assert_eq!(text(&fetch(&handles, &id)), "one\n");
    assert_eq!(text(&fetch(&handles, &id)), "");
    tool.says("two\n");
    tool.says("three\n");
    let report = fetch(&handles, &id);
    assert_eq!(text(&report), "two\nthree\n");
    assert_eq!(report.details.seq, Some(14));
    assert_eq!(report.details.cut, None);
    assert_eq!(report.state.status(), StateName::Running);
}

/// S-024: what is said right after the start is in the first report.
#[test]
fn s024_the_first_report_holds_the_first_output() {
    let (handles, id, tool) = one();
    let speaker = thread::spawn(move || {
        tool.says("hello\n");
        tool.says("$ ");
        tool
    });
    let report = handles.settle(&id, None).unwrap();
    assert_eq!(text(&report), "hello\n$ ");
    let _tool = speaker.join().unwrap();
    assert_eq!(text(&fetch(&handles, &id)), "");
}

/// Too much is cut at the front, with one line that says so, and the report says how to get the rest.
#[test]
fn s083_the_newest_is_kept_and_the_rest_can_be_read() {
    let (handles, id, tool) = one();
    tool.says("seen\n");
    fetch(&handles, &id);
    tool.says("aaaaaaaaabbbbbbbbbb");
    let report = handles.fetch("t", &id, &at_most(10), None).unwrap();
    assert_eq!(text(&report), "[… 9 bytes are left out here …]\nbbbbbbbbbb");
    let cut = report.details.cut.unwrap();
    assert_eq!(cut.bytes, 9);
    assert!(cut.hint.contains("`after_seq` 5"), "{}", cut.hint);
    assert!(cut.hint.contains("`max_bytes`"), "{}", cut.hint);
    // It counts as told.
    assert_eq!(text(&fetch(&handles, &id)), "");
    // The way that the hint names leads there, page by page.
    let report = handles.fetch("t", &id, &page(5, 9), None).unwrap();
    assert_eq!(text(&report), "aaaaaaaaa\n[… 10 bytes are left out here …]");
    let next = report.details.seq.unwrap();
    let hint = report.details.cut.unwrap().hint;
    assert!(hint.contains(&format!("`after_seq` {next}")), "{hint}");
    let report = handles.fetch("t", &id, &page(next, 100), None).unwrap();
    assert_eq!(text(&report), "bbbbbbbbbb");
    assert_eq!(report.details.cut, None);
}

/// What fell out of the log is gone, and the report says so.
#[test]
fn lost_output_is_named() {
    let (handles, id, tool) = one();
    tool.says(&"x".repeat(KEPT));
    tool.says("yyyyy");
    let report = fetch(&handles, &id);
    assert!(text(&report).starts_with("[… 5 bytes are gone …]\nx"));
    let cut = report.details.cut.unwrap();
    assert_eq!(cut.bytes, 5);
    assert!(cut.hint.contains("5 bytes are gone"), "{}", cut.hint);
    assert!(!cut.hint.contains("after_seq"), "{}", cut.hint);
    // Both at once are one line.
    tool.says(&"z".repeat(2 * KEPT));
    let report = handles.fetch("t", &id, &at_most(3), None).unwrap();
    let expected = format!("[… {KEPT} bytes are gone, 997 bytes are left out here …]\nzzz");
    assert_eq!(text(&report), expected);
    assert_eq!(report.details.cut.unwrap().bytes, 1997);
}

/// Paging back does not make old output new again, and paging ahead does not lose what lies between.
#[test]
fn pages_neither_go_back_nor_lose_news() {
    let (handles, id, tool) = one();
    tool.says("0123456789");
    assert_eq!(text(&fetch(&handles, &id)), "0123456789");
    let report = handles.fetch("t", &id, &page(2, 3), None).unwrap();
    assert!(text(&report).starts_with("234\n"));
    assert_eq!(text(&fetch(&handles, &id)), "");
    tool.says("abcdef");
    // From the middle of what is new: the rest stays new.
    let report = handles.fetch("t", &id, &page(13, 100), None).unwrap();
    assert_eq!(text(&report), "def");
    assert_eq!(text(&fetch(&handles, &id)), "abcdef");
    tool.says("ghi");
    // From where the last look ended: what is shown is told.
    let report = handles.fetch("t", &id, &page(16, 2), None).unwrap();
    assert!(text(&report).starts_with("gh"));
    assert_eq!(text(&fetch(&handles, &id)), "i");
}

/// A look at the state alone takes nothing away.
#[test]
fn nothing_shown_is_nothing_told() {
    let (handles, id, tool) = one();
    tool.says("news");
    let report = handles.fetch("t", &id, &at_most(0), None).unwrap();
    assert_eq!(report.details.cut.unwrap().bytes, 4);
    assert_eq!(text(&fetch(&handles, &id)), "news");
}

/// The views `screen` and `all` lose no news: what they did not show is shown by the next fetch.
#[test]
fn other_views_lose_no_news() {
    let check = |look: Fetch, shown: &str, next: &str| {
        let (handles, id, tool) = one();
        tool.says("old\n");
        fetch(&handles, &id);
        tool.says("one\ntwo\n");
        let report = handles.fetch("t", &id, &look, None).unwrap();
        assert_eq!(text(&report), shown, "{look:?}");
        assert_eq!(text(&fetch(&handles, &id)), next, "{look:?}");
    };
    check(view(View::All), "old\none\ntwo\n", "");
    check(view(View::Screen), "old\none\ntwo\n", "");
    let short = |view| Fetch { view, ..at_most(4) };
    let cut = "[… 8 bytes are left out here …]\ntwo\n";
    check(short(View::All), cut, "one\ntwo\n");
    check(short(View::Screen), cut, "one\ntwo\n");
}

/// On a terminal, a screen that shows all that is new tells it; lines that scrolled away stay news.
#[test]
fn a_screen_tells_what_it_shows() {
    let handles = Handles::default();
    let (session, tool) = Tool::on_terminal();
    let id = add(&handles, None, session);
    tool.says("$ ls\r\na  b\r\n$ ");
    let report = handles.fetch("t", &id, &view(View::Screen), None).unwrap();
    assert_eq!(text(&report).trim_end(), "$ ls\na  b\n$");
    let terminal = report.details.terminal.unwrap();
    assert_eq!((terminal.rows, terminal.cols), (4, 20));
    assert_eq!(terminal.cursor, [2, 2]);
    assert_eq!(text(&fetch(&handles, &id)), "");
    tool.says("seq 9\r\n1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n$ ");
    let report = handles.fetch("t", &id, &view(View::Screen), None).unwrap();
    assert_eq!(text(&report).trim_end(), "7\n8\n9\n$");
    assert!(text(&fetch(&handles, &id)).contains("1\n2\n3\n4\n5\n"));
}

/// S-013, S-060, S-063: the end is told once, with what was not told before; then the handle is gone.
#[test]
fn s013_s063_the_end_is_told_once() {
    let (handles, id, tool) = one();
    tool.says("working\n");
    fetch(&handles, &id);
    tool.says("last words\n");
    tool.stops("Staged 3 hunks.");
    let report = fetch(&handles, &id);
    assert_eq!(text(&report), "last words\n");
    assert_eq!(result(&report), Ok("Staged 3 hunks.".to_owned()));
    let gone = handles
        .fetch("t", &id, &Fetch::default(), None)
        .unwrap_err();
    assert!(matches!(gone, HandleError::Unknown(_)), "{gone}");
    assert!(gone.to_string().contains("its result was told"), "{gone}");
    assert_eq!((handles.counts().live, handles.counts().stopped), (0, 0));
}

/// A handle whose last output was cut can be read to its end.
#[test]
fn s063_a_stopped_handle_stays_until_all_is_read() {
    let (handles, id, tool) = one();
    tool.says("0123456789");
    tool.stops("done");
    let report = handles.fetch("t", &id, &at_most(4), None).unwrap();
    assert_eq!(result(&report), Ok("done".to_owned()));
    assert!(text(&report).ends_with("\n6789"));
    let report = handles.fetch("t", &id, &page(0, 4), None).unwrap();
    assert!(text(&report).starts_with("0123\n"));
    assert_eq!(report.state.status(), StateName::Stopped);
    let report = handles.fetch("t", &id, &page(4, 100), None).unwrap();
    assert_eq!(text(&report), "456789");
    assert!(handles.fetch("t", &id, &Fetch::default(), None).is_err());
}

/// A view that did not show the last output leaves it to the next fetch.
#[test]
fn s063_a_view_does_not_swallow_the_last_output() {
    let (handles, id, tool) = one();
    tool.says("0123456789");
    tool.stops("done");
    let look = Fetch {
        view: View::Screen,
        ..at_most(3)
    };
    let report = handles.fetch("t", &id, &look, None).unwrap();
    assert_eq!(result(&report), Ok("done".to_owned()));
    assert_eq!(text(&fetch(&handles, &id)), "0123456789");
    assert!(handles.fetch("t", &id, &Fetch::default(), None).is_err());
}

/// Many that fetch at once share the output: each byte reaches one of them.
#[test]
fn concurrent_fetches_neither_lose_nor_repeat() {
    let (handles, id, tool) = one();
    let handles = Arc::new(handles);
    let read = Arc::new(AtomicUsize::new(0));
    let heard = Arc::clone(&read);
    let speaker = thread::spawn(move || {
        for number in 0..500 {
            tool.says(&format!("{number}\n"));
            // The readers are never far behind, so that no line falls out of the log.
            let began = Instant::now();
            while heard.load(Ordering::Relaxed) + 20 < number {
                assert!(
                    began.elapsed() < Duration::from_secs(60),
                    "nobody reads `{number}`"
                );
                thread::yield_now();
            }
        }
        tool.stops("done");
    });
    let readers = (0..4).map(|_| {
        let (handles, id) = (Arc::clone(&handles), id.clone());
        let read = Arc::clone(&read);
        thread::spawn(move || {
            let mut lines: Vec<String> = Vec::new();
            let look = Fetch {
                wait: Some(Duration::from_millis(50)),
                ..Fetch::default()
            };
            while let Ok(report) = handles.fetch("t", &id, &look, None) {
                assert_eq!(report.details.cut, None);
                let before = lines.len();
                lines.extend(text(&report).lines().map(str::to_owned));
                read.fetch_add(lines.len() - before, Ordering::Relaxed);
            }
            lines
        })
    });
    let mut lines: Vec<u32> = all(readers.collect())
        .concat()
        .iter()
        .map(|line| line.parse().unwrap())
        .collect();
    speaker.join().unwrap();
    lines.sort_unstable();
    assert_eq!(lines, (0..500).collect::<Vec<_>>());
}
