use super::*;

/// Keeps what it is shown.
#[derive(Debug, Default)]
struct Seen(Mutex<Vec<String>>);

impl Tracer for Seen {
    fn sent(&self, _: &[u8]) {}

    fn received(&self, line: &[u8]) {
        let line = String::from_utf8_lossy(line).into_owned();
        self.0.lock().unwrap().push(line);
    }
}

fn print(captured: &CapturedGuestOutput, pieces: &[(bool, &str)]) {
    let (mut output, mut errors) = (captured.stdout(), captured.stderr());
    for (is_errors, piece) in pieces {
        match is_errors {
            true => errors.write(piece.as_bytes()).unwrap(),
            false => output.write(piece.as_bytes()).unwrap(),
        }
    }
}

const OUT: bool = false;
const ERR: bool = true;

#[test]
fn both_streams_are_kept_apart() {
    let captured = CapturedGuestOutput::new(None, None, Secrets::new());
    assert!(captured.is_empty());
    print(&captured, &[(OUT, "a\n"), (ERR, "b\n"), (OUT, "c\n")]);
    assert!(!captured.is_empty());
    assert_eq!(captured.printed(100), "a\nc\n");
    assert_eq!(captured.errors(100), "b\n");
}

#[test]
fn of_the_output_the_beginning_is_told_and_of_the_errors_the_end() {
    let captured = CapturedGuestOutput::new(None, None, Secrets::new());
    print(&captured, &[(OUT, "0123456789"), (ERR, "0123456789")]);
    assert_eq!(captured.printed(4), "0123\n... [6 bytes more]");
    assert_eq!(captured.errors(4), "[6 bytes before] ...\n6789");
}

#[test]
fn what_is_cut_is_cut_between_characters() {
    let captured = CapturedGuestOutput::new(None, None, Secrets::new());
    print(&captured, &[(OUT, "aéé"), (ERR, "ééa")]);
    assert_eq!(captured.printed(2), "a\n... [4 bytes more]");
    assert_eq!(captured.errors(2), "[4 bytes before] ...\na");
}

#[test]
fn a_flood_is_taken_and_not_kept() {
    let captured = CapturedGuestOutput::new(Some(1 << 30), None, Secrets::new());
    let piece = "x".repeat(4096);
    for _ in 0..1000 {
        print(&captured, &[(OUT, &piece), (ERR, &piece)]);
    }
    let printed = captured.lock();
    assert!(printed.output.len() <= KEPT);
    assert!(printed.errors.len() <= 2 * KEPT);
    assert_eq!(printed.output_total, 1000 * 4096);
    drop(printed);
    assert!(captured.printed(10).starts_with("xxxxxxxxxx\n... ["));
}

#[test]
fn what_is_beyond_the_limit_is_left_out_with_a_word() {
    let captured = CapturedGuestOutput::new(Some(6), None, Secrets::new());
    print(&captured, &[(OUT, "1234"), (ERR, "5678"), (OUT, "90")]);
    assert_eq!(captured.printed(100), "1234");
    assert_eq!(
        captured.errors(100),
        "56\n[4 more bytes were printed and left out: `sandbox.limits.output` is 6]"
    );
}

#[test]
fn x40_half_a_secret_is_not_told_either() {
    let secrets = Secrets::new();
    let captured = CapturedGuestOutput::new(None, None, secrets.clone());
    print(&captured, &[(OUT, "a hunter22"), (ERR, "hunter22 b")]);
    // It may be remembered after it was printed.
    secrets.remember("hunter22");
    for most in 0..20 {
        let told = captured.printed(most) + &captured.errors(most);
        assert!(!told.contains("hun") && !told.contains("22"), "{told}");
    }
}

#[test]
fn a_terminal_is_not_commanded() {
    let captured = CapturedGuestOutput::new(None, None, Secrets::new());
    print(&captured, &[(ERR, "a\u{1b}[2Jb\tc\u{7}\n")]);
    assert_eq!(captured.errors(100), "ab\tc\n");
}

#[test]
fn whole_lines_are_shown_to_whoever_traces() {
    let check = |limit: Option<u64>, pieces: &[(bool, &str)], expected: &[&str]| {
        let seen = Arc::new(Seen::default());
        let tracer = Arc::clone(&seen) as Arc<dyn Tracer>;
        let captured = CapturedGuestOutput::new(limit, Some(tracer), Secrets::new());
        print(&captured, pieces);
        captured.finish();
        assert_eq!(*seen.0.lock().unwrap(), expected);
    };
    check(None, &[(OUT, "a\nb"), (OUT, "c\n")], &["a", "bc"]);
    check(
        None,
        &[(OUT, "a"), (ERR, "b\n"), (OUT, "c\n")],
        &["b", "ac"],
    );
    check(None, &[(ERR, "open")], &["open"]);
    check(
        Some(3),
        &[(OUT, "a\nbc\nd\n"), (OUT, "e\n")],
        &[
            "a",
            "b",
            "[it printed more than 3 bytes: the rest is left out]",
        ],
    );
    let long = "y".repeat(LINE + 2);
    check(None, &[(OUT, &long)], &[&long[..LINE], "yy"]);
}
