#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at the log from outside"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jiff::Timestamp;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};

use super::{
    AuditDecision, AuditEntry, AuditFilter, AuditReader, AuditSink, FileSink, FileSinkOptions,
    MAX_LINE,
};

fn entry(target: &str) -> AuditEntry {
    AuditEntry {
        time: "2026-03-04T05:06:07.0891Z".parse().unwrap(),
        tool: "editor".to_owned(),
        call: "c1".to_owned(),
        handle: Some("h_1".to_owned()),
        operation: "fs.read".to_owned(),
        target: target.to_owned(),
        decision: AuditDecision::Allow,
        reason: "the rule grants it".to_owned(),
        rule: None,
        origin: None,
        hint: None,
        outcome: Some("ok".to_owned()),
        duration_us: Some(12),
    }
}

struct Log {
    _folder: tempfile::TempDir,
    path: Utf8PathBuf,
}

impl Log {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap().join("log");
        Self {
            _folder: folder,
            path,
        }
    }

    fn sink(&self, max_bytes: u64, keep: u32) -> FileSink {
        let options = FileSinkOptions {
            max_bytes,
            keep,
            buffered: false,
        };
        FileSink::open(&self.path, options).unwrap()
    }

    fn reader(&self, filter: AuditFilter) -> AuditReader {
        AuditReader::open(&self.path, filter).unwrap()
    }

    fn targets(&self) -> Vec<String> {
        targets(&mut self.reader(AuditFilter::default()))
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn targets(reader: &mut AuditReader) -> Vec<String> {
    std::iter::from_fn(|| reader.next_entry().unwrap())
        .map(|entry| entry.target)
        .collect()
}

#[test]
fn a_line_has_its_fields_in_order_and_milliseconds() {
    assert_eq!(
        entry("src/a.rs").to_line(),
        "{\"time\":\"2026-03-04T05:06:07.089Z\",\"tool\":\"editor\",\"call\":\"c1\",\
         \"handle\":\"h_1\",\"operation\":\"fs.read\",\"target\":\"src/a.rs\",\
         \"decision\":\"allow\",\"reason\":\"the rule grants it\",\"outcome\":\"ok\",\
         \"duration_us\":12}\n"
    );
}

#[test]
fn names_cannot_forge_lines_or_drive_a_terminal() {
    let line = entry("a\nb\r\u{1b}[2J\u{9b}31m\u{202e}x\u{7f}\u{2028}").to_line();
    assert_eq!(line.matches('\n').count(), 1);
    assert!(line.ends_with('\n'));
    let odd = line
        .trim_end()
        .chars()
        .find(|c| c.is_control() || *c == '\u{202e}');
    assert_eq!(odd, None, "{line:?}");
    let back: AuditEntry = serde_json::from_str(&line).unwrap();
    assert_eq!(
        back.target,
        "a\nb\r\u{1b}[2J\u{9b}31m\u{202e}x\u{7f}\u{2028}"
    );
}

#[test]
fn a_line_is_bounded_whatever_is_asked_for() {
    for text in [
        "x".repeat(1 << 20),
        "\u{1}".repeat(1 << 16),
        "ä\u{9b}".repeat(1 << 16),
    ] {
        let mut entry = entry(&text);
        entry.reason.clone_from(&text);
        entry.rule = Some(text);
        let line = entry.to_line();
        assert!(line.len() <= MAX_LINE, "{}", line.len());
        let back: AuditEntry = serde_json::from_str(&line).unwrap();
        assert!(back.target.ends_with('…'));
    }
}

#[test]
fn the_log_is_appended_to_and_private() {
    let log = Log::new();
    log.sink(1 << 20, 2).record(&entry("one")).unwrap();
    let path = log.path.join("audit.jsonl");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    log.sink(1 << 20, 2).record(&entry("two")).unwrap();
    assert_eq!(log.targets(), ["one", "two"]);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
    assert_eq!(
        fs::metadata(&log.path).unwrap().permissions().mode() & 0o777,
        0o700
    );
}

#[test]
fn a_link_in_place_of_the_log_is_not_followed() {
    let log = Log::new();
    fs::create_dir(&log.path).unwrap();
    let victim = log.path.join("victim");
    fs::write(&victim, "").unwrap();
    symlink(&victim, log.path.join("audit.jsonl")).unwrap();
    assert!(FileSink::open(&log.path, FileSinkOptions::default()).is_err());
    assert_eq!(fs::read(&victim).unwrap(), b"");
}

#[test]
fn full_files_are_put_aside_and_the_oldest_goes() {
    let log = Log::new();
    let sink = log.sink(1, 2);
    for target in ["1", "2", "3", "4"] {
        sink.record(&entry(target)).unwrap();
    }
    assert_eq!(
        log.names(),
        ["audit.jsonl", "audit.jsonl.1", "audit.jsonl.2"]
    );
    assert_eq!(log.targets(), ["2", "3", "4"]);
}

#[test]
fn two_writers_rotate_without_losing_a_line() {
    let log = Log::new();
    let sinks = [Arc::new(log.sink(600, 200)), Arc::new(log.sink(600, 200))];
    let threads: Vec<_> = (0..4)
        .map(|number| {
            let sink = Arc::clone(&sinks[number % 2]);
            thread::spawn(move || {
                for line in 0..50 {
                    sink.record(&entry(&format!("{number}/{line}"))).unwrap();
                }
            })
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
    let mut all = log.targets();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 200);
}

#[test]
fn damaged_lines_are_skipped_and_counted() {
    let log = Log::new();
    let sink = log.sink(1 << 20, 2);
    sink.record(&entry("good")).unwrap();
    let path = log.path.join("audit.jsonl");
    let mut text = fs::read_to_string(&path).unwrap();
    text.push_str("not json\n\n{\"time\":\"yesterday\"}\n");
    text.push_str(&"x".repeat(300_000));
    text.push('\n');
    text.push_str(
        "{\"time\":\"2026-01-01T00:00:00Z\",\"tool\":\"t\",\"decision\":\"deny\",\"new\":1}\n",
    );
    fs::write(&path, text).unwrap();
    let mut reader = log.reader(AuditFilter::default());
    assert_eq!(targets(&mut reader), ["good", ""]);
    assert_eq!(reader.skipped(), 3);
}

#[test]
fn entries_are_filtered() {
    let check = |filter: AuditFilter, expected: bool| {
        assert_eq!(filter.wants(&entry("x")), expected, "{filter:?}");
    };
    let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
    let all = AuditFilter::default;
    check(all(), true);
    check(
        AuditFilter {
            tool: Some("editor".to_owned()),
            ..all()
        },
        true,
    );
    check(
        AuditFilter {
            tool: Some("edit".to_owned()),
            ..all()
        },
        false,
    );
    check(
        AuditFilter {
            call: Some("c2".to_owned()),
            ..all()
        },
        false,
    );
    check(
        AuditFilter {
            decision: Some(AuditDecision::Allow),
            ..all()
        },
        true,
    );
    check(
        AuditFilter {
            decision: Some(AuditDecision::Deny),
            ..all()
        },
        false,
    );
    check(
        AuditFilter {
            since: at("2026-03-04T05:06:07Z"),
            ..all()
        },
        true,
    );
    check(
        AuditFilter {
            since: at("2026-03-04T05:06:08Z"),
            ..all()
        },
        false,
    );
    check(
        AuditFilter {
            until: at("2026-03-04T05:06:07Z"),
            ..all()
        },
        false,
    );
    check(
        AuditFilter {
            until: at("2026-03-04T05:06:08Z"),
            ..all()
        },
        true,
    );
}

#[test]
fn a_waiting_reader_follows_across_rotations() {
    let log = Log::new();
    let sink = log.sink(1, 20);
    sink.record(&entry("0")).unwrap();
    let mut reader = log.reader(AuditFilter::default());
    assert_eq!(targets(&mut reader), ["0"]);
    assert_eq!(reader.wait_for_entry(Duration::ZERO).unwrap(), None);
    let writer = thread::spawn(move || {
        for number in 1..=5 {
            sink.record(&entry(&number.to_string())).unwrap();
        }
    });
    let mut seen = Vec::new();
    while seen.len() < 5 {
        let next = reader.wait_for_entry(Duration::from_secs(10)).unwrap();
        seen.push(next.expect("the writer is at work").target);
    }
    writer.join().unwrap();
    assert_eq!(seen, ["1", "2", "3", "4", "5"]);
    assert_eq!(reader.skipped(), 0);
}

/// Halfway through a rotation a name is missing between two others. A reader that looked then would lose the files
/// behind the gap.
#[test]
fn a_reader_waits_for_the_end_of_a_rotation() {
    let log = Log::new();
    let sink = log.sink(1, 20);
    sink.record(&entry("0")).unwrap();
    let mut reader = log.reader(AuditFilter::default());
    assert_eq!(targets(&mut reader), ["0"]);
    for target in ["1", "2"] {
        sink.record(&entry(target)).unwrap();
    }
    let moved = |from: &str, to: &str| fs::rename(log.path.join(from), log.path.join(to)).unwrap();
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(log.path.as_std_path(), flags, Mode::empty()).unwrap();
    flock(&directory, FlockOperation::LockExclusive).unwrap();
    moved("audit.jsonl.2", "audit.jsonl.3");
    moved("audit.jsonl.1", "audit.jsonl.2");
    let (tell, told) = mpsc::channel();
    let reading = thread::spawn(move || tell.send(targets(&mut reader)).unwrap());
    assert_eq!(
        told.recv_timeout(Duration::from_millis(200)),
        Err(mpsc::RecvTimeoutError::Timeout)
    );
    moved("audit.jsonl", "audit.jsonl.1");
    flock(&directory, FlockOperation::Unlock).unwrap();
    assert_eq!(told.recv().unwrap(), ["1", "2"]);
    reading.join().unwrap();
}

/// A buffered sink writes when it is told to, when much waits, and when it goes.
#[test]
fn what_waits_is_written() {
    let log = Log::new();
    let options = FileSinkOptions {
        buffered: true,
        ..FileSinkOptions::default()
    };
    let sink = FileSink::open(&log.path, options).unwrap();
    sink.record(&entry("a")).unwrap();
    sink.record(&entry("b")).unwrap();
    assert!(log.targets().is_empty(), "it waits");
    sink.flush().unwrap();
    assert_eq!(log.targets(), ["a", "b"]);
    for _ in 0..1000 {
        sink.record(&entry("many")).unwrap();
    }
    assert!(log.targets().len() > 500, "not without end");
    drop(sink);
    assert_eq!(log.targets().len(), 1002);
}

/// Of a target, an event holds no more than the path, the host or the program.
#[test]
fn events_hold_no_arguments() {
    let check = |operation: &str, target: &str, expected: Option<&str>| {
        let entry = AuditEntry {
            operation: operation.to_owned(),
            ..entry(target)
        };
        assert_eq!(entry.traced_target(), expected, "{operation} {target}");
    };
    check("fs.read", "src/a file.rs", Some("src/a file.rs"));
    check(
        "http.get",
        "https://me:key@api.test:8443/key?key#key",
        Some("api.test:8443"),
    );
    check("net.connect", "api.test:443", Some("api.test:443"));
    check("process.run", "curl -H key", Some("curl"));
    check("ask.access", "Allow `t` to run `curl key`?", None);
    check("call", "token=key", None);
}
