use super::*;

fn text(text: &str) -> Input {
    Input::Text(text.to_owned())
}

fn line(text: &str) -> Input {
    Input::Line(text.to_owned())
}

fn keys(names: &[&str]) -> Input {
    Input::Keys(names.iter().map(|name| name.parse().unwrap()).collect())
}

/// A console on a pipe, and the end from which the program would read.
fn pipe() -> (Console, PipeReader) {
    let (theirs, ours) = io::pipe().unwrap();
    (Console::piped(Some(ours), None, None).unwrap(), theirs)
}

#[test]
fn a_pipe_is_given_text_and_signals() {
    let check = |input: &[Input], bytes: &str, signals: &[Signal]| {
        let (mut console, mut reader) = pipe();
        let sent = console.send(input, None).unwrap();
        assert_eq!(sent.signals, signals, "{input:?}");
        assert_eq!(sent.resized, None);
        assert_eq!(console.unwritten(), 0);
        drop(console);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, bytes, "{input:?}");
    };
    check(&[], "", &[]);
    check(&[text("a\nb")], "a\nb", &[]);
    check(&[line("a"), line("b\n"), line("")], "a\nb\n\n", &[]);
    check(&[keys(&["y", "enter", "tab", "space"])], "y\n\t ", &[]);
    check(
        &[text("x"), keys(&["ctrl-c", "ctrl-\\", "ctrl-z"])],
        "x",
        &[Signal::Interrupt, Signal::Quit, Signal::Suspend],
    );
    check(&[line("last"), keys(&["ctrl-d"])], "last\n", &[]);
    check(&[line("last"), Input::End], "last\n", &[]);
}

#[test]
fn what_a_pipe_cannot_carry_is_refused_as_a_whole() {
    let check = |input: &[Input], expected: &str| {
        let (mut console, mut reader) = pipe();
        let error = console.send(input, None).expect_err("refused");
        assert!(error.to_string().contains(expected), "{error}");
        drop(console);
        let mut read = Vec::new();
        reader.read_to_end(&mut read).unwrap();
        assert_eq!(read, b"", "nothing was sent of {input:?}");
    };
    check(&[text("x"), keys(&["up"])], "cannot be sent the key `up`");
    check(&[text("x"), keys(&["ctrl-a"])], "the key `ctrl-a`");
    check(&[text("x"), keys(&["alt-c"])], "the key `alt-c`");
    check(&[text("x"), keys(&["shift-tab"])], "the key `shift-tab`");
    check(
        &[text("x"), Input::Resize(Size::default())],
        "no terminal that could be resized",
    );
    check(&[text("x"), Input::End, text("y")], "has ended");
    check(&[Input::End, keys(&["y"])], "has ended");
    check(&[text(&"x".repeat(MOST_QUEUED + 1))], "0 bytes wait");
}

#[test]
fn an_ended_input_takes_nothing() {
    let (mut console, reader) = pipe();
    console.send(&[Input::End], None).unwrap();
    assert!(matches!(
        console.send(&[text("x")], None),
        Err(SendError::Ended)
    ));
    // Ending it again, and signals, are no input.
    console
        .send(&[Input::End, keys(&["ctrl-c"])], None)
        .unwrap();
    drop(reader);

    // A reader that went away is noticed when something is written, and is no error then.
    let (mut console, reader) = pipe();
    drop(reader);
    console.send(&[text("x")], None).unwrap();
    assert_eq!(console.unwritten(), 0);
    assert!(matches!(
        console.send(&[text("x")], None),
        Err(SendError::Ended)
    ));
}

#[test]
fn a_program_that_does_not_read_is_fed_no_further() {
    let (mut console, mut reader) = pipe();
    let block = [text(&"x".repeat(100_000))];
    let mut sent = 0;
    let waiting = loop {
        match console.send(&block, None) {
            Ok(_) => sent += 100_000,
            Err(SendError::Full { waiting }) => break waiting,
            Err(error) => panic!("{error}"),
        }
        assert!(sent < 10_000_000);
    };
    assert_eq!(waiting, console.unwritten());
    assert!(waiting <= MOST_QUEUED && waiting > MOST_QUEUED - 100_000);
    assert!(console.writer().is_some());

    // When it reads again, it gets everything, in order.
    let mut received = 0;
    let mut buffer = [0; 65_536];
    while received < sent {
        received += reader.read(&mut buffer).unwrap();
        console.flush();
    }
    assert_eq!(received, sent);
    assert!(console.writer().is_none());
}

#[test]
fn a_terminal_is_given_what_a_keyboard_sends() {
    let check = |printed: &str, input: &[Input], bytes: &str| {
        let mut typed = EncodedInput::default();
        let mut screen = Screen::new(Size::default(), 0);
        screen.feed(printed.as_bytes());
        for one in input {
            typed.add_to_terminal(one, Some(&screen));
        }
        assert_eq!(String::from_utf8(typed.bytes).unwrap(), bytes, "{input:?}");
        assert_eq!(typed.sent.signals, []);
    };
    check("", &[text("y")], "y");
    check("", &[text("a\nb\r\nc")], "a\rb\rc");
    check("", &[line("ls")], "ls\r");
    check("", &[line("ls\n")], "ls\r");
    check("", &[line("a\nb")], "a\rb\r");
    // A block that ends with an empty line, as a Python prompt wants it.
    check("", &[line("if a:\n  b\n")], "if a:\r  b\r\r");
    check(
        "\x1b[?2004h",
        &[line("if a:\n  b\n")],
        "\x1b[200~if a:\r  b\r\x1b[201~\r",
    );
    check("", &[Input::End], "\x04");
    check("", &[keys(&["ctrl-c", "up"])], "\x03\x1b[A");
    check("\x1b[?1h", &[keys(&["ctrl-c", "up"])], "\x03\x1bOA");
    // An editor that knows what is pasted gets several lines as one block.
    check("\x1b[?2004h", &[line("a")], "a\r");
    check("\x1b[?2004h", &[text("a\nb")], "a\rb");
    check("\x1b[?2004h", &[line("a\nb")], "\x1b[200~a\rb\x1b[201~\r");
    check(
        "\x1b[?2004h",
        &[line("a\n\x1b[201~rm -rf /\u{9b}201~")],
        "\x1b[200~a\r[201~rm -rf /201~\x1b[201~\r",
    );
}

#[test]
fn a_terminal_can_be_resized_and_ends() {
    let (pty, program) = Pty::open(Size::default()).unwrap();
    let mut console = Console::terminal(pty);
    let sent = console.send(&[Input::Resize(Size::new(40, 100))], None);
    assert_eq!(sent.unwrap().resized, Some(Size::new(40, 100)));
    let size = rustix::termios::tcgetwinsize(&program).unwrap();
    assert_eq!((size.ws_row, size.ws_col), (40, 100));
    assert!(!console.is_ended());
    assert_eq!(console.readers().count(), 1);

    drop(program);
    let mut buffer = [0; 100];
    console.read(&mut buffer, &mut |_, _| panic!("nothing was printed"));
    assert!(console.is_ended());
    assert_eq!(console.readers().count(), 0);
    assert!(matches!(
        console.send(&[text("x")], None),
        Err(SendError::Ended)
    ));
    console.write_answers(b"x");
    assert_eq!(console.unwritten(), 0);
}

#[test]
fn answers_are_dropped_while_nobody_reads() {
    // In raw mode, so that the terminal keeps what is typed until it is read.
    let (pty, program) = Pty::open(Size::default()).unwrap();
    let mut attributes = rustix::termios::tcgetattr(&program).unwrap();
    attributes.make_raw();
    let now = rustix::termios::OptionalActions::Now;
    rustix::termios::tcsetattr(&program, now, &attributes).unwrap();
    let mut console = Console::terminal(pty);
    for _ in 0..100_000 {
        console.write_answers(b"\x1b[?62;22c");
    }
    assert!(console.unwritten() > 0);
    assert!(console.unwritten() <= 64 << 10);
    drop(program);
}
