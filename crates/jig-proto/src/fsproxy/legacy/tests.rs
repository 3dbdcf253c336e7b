use super::{CommandBuffer, LegacyCommand, MAX_LINE};

/// What a buffer makes of these chunks, in words, and what it says at the end.
fn read(max: usize, chunks: &[&[u8]]) -> Vec<String> {
    let mut buffer = CommandBuffer::new(max);
    let mut found = Vec::new();
    for chunk in chunks {
        let mut chunk = *chunk;
        while !chunk.is_empty() {
            let space = buffer.space();
            assert!(!space.is_empty());
            let count = space.len().min(chunk.len());
            space[..count].copy_from_slice(&chunk[..count]);
            buffer.filled(count);
            chunk = &chunk[count..];
            loop {
                match buffer.next() {
                    Ok(Some(command)) => found.push(words(&command)),
                    Ok(None) => break,
                    Err(refused) if refused.fatal => found.push(format!("FATAL {refused}")),
                    Err(refused) => found.push(format!("ERROR {refused}")),
                }
            }
            assert!(buffer.memory() <= max + MAX_LINE + 2);
        }
    }
    if let Some(refused) = buffer.finish() {
        assert!(refused.fatal);
        assert!(!buffer.is_empty());
        found.push(format!("END {refused}"));
    }
    found
}

fn words(command: &LegacyCommand<'_>) -> String {
    match command {
        LegacyCommand::Open {
            path,
            mode,
            is_top_level,
        } => format!("open {path} {mode} {is_top_level}"),
        LegacyCommand::Read { handle, size } => format!("read {handle} {size}"),
        LegacyCommand::Write { handle, data } => {
            format!("write {handle} {}", String::from_utf8_lossy(data))
        }
        LegacyCommand::Close { handle } => format!("close {handle}"),
        LegacyCommand::LlmChat {
            is_top_level,
            stdin,
            stdout,
            stderr,
            files,
            prompt,
        } => format!("chat {is_top_level} {stdin} {stdout} {stderr} {files:?} {prompt:?}"),
        LegacyCommand::LlmQuota => "quota".to_owned(),
    }
}

/// Checks the input as a whole, byte by byte, and split in two at every byte.
fn check(input: &[u8], expected: &[&str]) {
    const MAX: usize = 100;
    assert_eq!(read(MAX, &[input]), expected);
    let bytes: Vec<&[u8]> = input.chunks(1).collect();
    assert_eq!(read(MAX, &bytes), expected, "byte by byte");
    for split in 0..=input.len() {
        let (head, tail) = input.split_at(split);
        assert_eq!(read(MAX, &[head, tail]), expected, "split at {split}");
    }
}

/// A line, and the command behind it, which is found whatever the line was.
fn line(line: &str, expected: &str) {
    check(
        format!("{line}\nCLOSE 9\n").as_bytes(),
        &[expected, "close 9"],
    );
    check(
        format!("{line}\r\nCLOSE 9\r\n").as_bytes(),
        &[expected, "close 9"],
    );
}

/// A line after which nothing can be found.
fn fatal(line: &str, expected: &str) {
    check(
        format!("{line}\nCLOSE 9\n").as_bytes(),
        &[&format!("FATAL {expected}")],
    );
}

#[test]
fn f061_x63_commands() {
    line("OPEN a/b.txt r true", "open a/b.txt r true");
    line("READ 3 4096", "read 3 4096");
    line("READ 0 18446744073709551615", "read 0 18446744073709551615");
    line("CLOSE 3", "close 3");
    line("LLM_QUOTA", "quota");
    line("  READ \t 3  10 ", "read 3 10");
    check(b"WRITE 3 5\nhello", &["write 3 hello"]);
    check(b"WRITE 3 0\nCLOSE 3\n", &["write 3 ", "close 3"]);
    // What is written may look like commands.
    check(
        b"WRITE 3 8\nCLOSE 3\nWRITE 3 1\n\nLLM_QUOTA\n",
        &["write 3 CLOSE 3\n", "write 3 \n", "quota"],
    );
    check(b"", &[]);
}

#[test]
fn f063_f067_x26_x26b_open() {
    for mode in ["r", "w", "a", "r+", "w+", "a+"] {
        line(
            &format!("OPEN a {mode} false"),
            &format!("open a {mode} false"),
        );
    }
    line("OPEN é w", "open é w false");
    for missing in ["OPEN", "OPEN ", "OPEN a"] {
        line(missing, "ERROR OPEN requires filename and mode");
    }
    line("OPEN a rw", "ERROR invalid mode: rw");
    line("OPEN my file r", "ERROR invalid mode: file");
    line("OPEN a r maybe", "ERROR invalid is_top_level: maybe");
    line("OPEN a r True", "ERROR invalid is_top_level: True");
    line("OPEN a r true x", "ERROR unexpected parameter: x");
    check(b"OPEN \xff r\n", &["ERROR invalid filename: \u{fffd}"]);
}

#[test]
fn f064_f067_read_write_close() {
    line("CLOSE", "ERROR CLOSE requires fileno");
    line("CLOSE 3 4", "ERROR unexpected parameter: 4");
    for wrong in [
        "abc",
        "-1",
        "+3",
        "3.0",
        "0x3",
        "18446744073709551616",
        "３",
    ] {
        let expected = format!("ERROR invalid fileno: {wrong}");
        line(&format!("CLOSE {wrong}"), &expected);
        line(&format!("READ {wrong} 10"), &expected);
        // Its bytes go with it.
        check(
            format!("WRITE {wrong} 8\nCLOSE 3\nCLOSE 9\n").as_bytes(),
            &[&expected, "close 9"],
        );
    }
    for wrong in ["xyz", "0", "-5", "1.5"] {
        line(
            &format!("READ 3 {wrong}"),
            &format!("ERROR invalid size: {wrong}"),
        );
    }
    line("READ", "ERROR READ requires fileno and size");
    line("READ 3", "ERROR READ requires fileno and size");
    line("READ 3 10 true", "read 3 10");
    line("READ 3 10 x", "ERROR invalid is_top_level: x");
    line("READ 3 10 true x", "ERROR unexpected parameter: x");
    line("LLM_QUOTA x", "ERROR unexpected parameter: x");
}

#[test]
fn f065_f066_no_command() {
    line("", "ERROR empty request");
    line(" \t", "ERROR empty request");
    line("INVALID", "ERROR unknown command: INVALID");
    line("open a r", "ERROR unknown command: open");
    line("OPEN\u{0} a r", "ERROR unknown command: OPEN\\u{0}");
    line(
        &"X".repeat(100),
        &format!("ERROR unknown command: {}…", "X".repeat(60)),
    );
    check(b"\xff\xfe\n", &["ERROR unknown command: \u{fffd}\u{fffd}"]);
}

#[test]
fn a_write_whose_size_is_unknown_ends_the_stream() {
    // Otherwise the content of a file would be taken for commands.
    fatal("WRITE", "WRITE requires fileno and size");
    fatal("WRITE 3", "WRITE requires fileno and size");
    fatal("WRITE 3 xyz", "invalid size: xyz");
    fatal("WRITE 3 -1", "invalid size: -1");
    fatal("WRITE abc xyz", "invalid size: xyz");
    fatal(
        "WRITE 3 18446744073709551616",
        "invalid size: 18446744073709551616",
    );
}

#[test]
fn f061_a_write_that_is_refused_takes_its_bytes_with_it() {
    check(
        b"WRITE 3 5 x\nCLOSECLOSE 9\n",
        &["ERROR unexpected parameter: x", "close 9"],
    );
    let large = [b"WRITE 3 101\n", &[b'\n'; 101][..], b"CLOSE 9\n"].concat();
    check(
        &large,
        &["ERROR size 101 exceeds the limit of 100", "close 9"],
    );
    check(
        &[b"WRITE 3 100\n", &[b'x'; 100][..]].concat(),
        &[&format!("write 3 {}", "x".repeat(100))],
    );
    // However long, it is never kept; the rest of the stream may be all of it.
    check(
        b"WRITE 3 18446744073709551615\nCLOSE 9\n",
        &["ERROR size 18446744073709551615 exceeds the limit of 100"],
    );
}

#[test]
fn f070_f071_chat() {
    check(
        b"LLM_CHAT true 0 1 2 4 8\na\nb\nSay: \xc3\xa9.LLM_QUOTA\n",
        &[r#"chat true 0 1 2 "a\nb\n" "Say: é.""#, "quota"],
    );
    check(
        b"LLM_CHAT false 3 4 5 0 0\n",
        &[r#"chat false 3 4 5 "" """#],
    );
    check(
        b"LLM_CHAT false 0 1 2 0 2\nhiCLOSE 9\n",
        &[r#"chat false 0 1 2 "" "hi""#, "close 9"],
    );
}

#[test]
fn f078_f079_chat_refused() {
    let requires = "LLM_CHAT requires is_top_level, stdin_fd, stdout_fd, stderr_fd, \
                    input_files_count, and prompt_length";
    for missing in ["LLM_CHAT", "LLM_CHAT true", "LLM_CHAT true 0 1 2 0"] {
        fatal(missing, requires);
    }
    line(
        "LLM_CHAT invalid 0 1 2 0 0",
        "ERROR invalid is_top_level: invalid",
    );
    line(
        "LLM_CHAT maybe 0 1 2 0 0",
        "ERROR invalid is_top_level: maybe",
    );
    line("LLM_CHAT true -1 1 2 0 0", "ERROR invalid stdin_fd: -1");
    line("LLM_CHAT true 0 -1 2 0 0", "ERROR invalid stdout_fd: -1");
    line("LLM_CHAT true 0 1 -1 0 0", "ERROR invalid stderr_fd: -1");
    line("LLM_CHAT true 0 1 2 0 0 0", "ERROR unexpected parameter: 0");
    check(
        b"LLM_CHAT true -1 1 2 0 12\n\nTest promptLLM_QUOTA\n",
        &["ERROR invalid stdin_fd: -1", "quota"],
    );
    // What was told first is what is wrong first; whether the stream goes on is another matter.
    fatal("LLM_CHAT true -1 1 2 x 0", "invalid stdin_fd: -1");
    fatal("LLM_CHAT true 0 1 2 x 0", "invalid input_files_count: x");
    fatal("LLM_CHAT true 0 1 2 0 -1", "invalid prompt_length: -1");
    fatal(
        "LLM_CHAT true 0 1 2 18446744073709551615 1",
        "invalid prompt_length: 1",
    );
    let large = [
        b"LLM_CHAT true 0 1 2 50 51\n",
        &[b'\n'; 101][..],
        b"CLOSE 9\n",
    ]
    .concat();
    check(
        &large,
        &[
            "ERROR input files and prompt have 101 bytes; the limit is 100",
            "close 9",
        ],
    );
}

#[test]
fn f078_chat_whose_text_cannot_be_read() {
    check(
        b"LLM_CHAT true 0 1 2 1 1\n\xffaCLOSE 9\n",
        &["ERROR failed to read input files data", "close 9"],
    );
    check(
        b"LLM_CHAT true 0 1 2 1 1\na\xffCLOSE 9\n",
        &["ERROR failed to read prompt data", "close 9"],
    );
    // A character that lies in both is in neither.
    check(
        b"LLM_CHAT true 0 1 2 1 1\n\xc3\xa9",
        &["ERROR failed to read input files data"],
    );
    check(
        b"LLM_CHAT true 0 1 2 3 3\nab",
        &["END failed to read input files data"],
    );
    check(
        b"LLM_CHAT true 0 1 2 3 3\nabcde",
        &["END failed to read prompt data"],
    );
    check(
        b"LLM_CHAT true 0 1 2 0 3\n",
        &["END failed to read prompt data"],
    );
    check(b"WRITE 3 5\nhell", &["END failed to read data"]);
    check(b"CLOSE 9", &["END the request has no end"]);
    // What was refused is not asked for again.
    check(b"WRITE x 5\nhell", &["ERROR invalid fileno: x"]);
}

#[test]
fn x35_a_line_without_end() {
    let text = "FATAL the request has more than 8192 bytes in its line";
    let line = vec![b'A'; 100_000];
    assert_eq!(read(100, &[&line]), [text]);
    let pieces: Vec<&[u8]> = line.chunks(7).collect();
    assert_eq!(read(100, &pieces), [text]);
    let path = "p".repeat(MAX_LINE - "OPEN  r".len());
    let longest = format!("OPEN {path} r\r\n");
    assert_eq!(
        read(100, &[longest.as_bytes()]),
        [format!("open {path} r false")]
    );
}

#[test]
fn x35_a_promise_allocates_nothing() {
    let mut buffer = CommandBuffer::new(1 << 30);
    buffer.feed(b"WRITE 3 1000000000\n");
    assert_eq!(buffer.next(), Ok(None));
    buffer.space();
    assert!(buffer.memory() <= 8 * 1024, "{}", buffer.memory());
}

#[test]
fn x27_what_was_read_elsewhere_is_fed() {
    let mut buffer = CommandBuffer::new(100_000);
    assert!(buffer.is_empty());
    let content = vec![b'x'; 90_000];
    buffer.feed(&[b"WRITE 3 90000\n", content.as_slice()].concat());
    assert_eq!(
        buffer.next(),
        Ok(Some(LegacyCommand::Write {
            handle: 3,
            data: &content
        }))
    );
    assert!(buffer.is_empty());
}

mod answers {
    use crate::fsproxy::legacy::{
        LegacyCommand, LegacyOpenMode, write_chat, write_command, write_error, write_ok,
        write_payload,
    };

    fn check(expected: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        assert_eq!(out, expected, "{}", String::from_utf8_lossy(&out));
    }

    #[test]
    fn f062_x63_exact_bytes() {
        check(b"OK\n", |out| write_ok(out, ""));
        check(b"OK 3\n", |out| write_ok(out, "3"));
        check(b"OK 5\nhello", |out| write_payload(out, b"hello"));
        check(b"OK 2\n\n\xff", |out| write_payload(out, b"\n\xff"));
        check(b"OK 0\n", |out| write_payload(out, b""));
        check(
            b"OK 1250.5/5000 weighted tokens (25.0% used, 3749.5 remaining)\n",
            |out| {
                write_ok(
                    out,
                    "1250.5/5000 weighted tokens (25.0% used, 3749.5 remaining)",
                );
            },
        );
        check(b"ERROR LLM quota access denied\n", |out| {
            write_error(out, "LLM quota access denied");
        });
        check(b"ERROR unknown command: INVALID\n", |out| {
            write_error(out, "unknown command: INVALID");
        });
    }

    #[test]
    fn f077_chat() {
        check(
            "OK 12 1250.5/5000 weighted tokens\n{\"a\":\"\u{e9}\\n\"}".as_bytes(),
            |out| write_chat(out, "{\"a\":\"\u{e9}\\n\"}", "1250.5/5000 weighted tokens"),
        );
    }

    #[test]
    fn an_answer_is_one_line_whatever_its_text_holds() {
        check("ERROR a b  c\u{e9} d\n".as_bytes(), |out| {
            write_error(out, "a\nb\r\nc\u{e9}\u{1b}d");
        });
        check(b"OK a OK 5\n", |out| write_ok(out, "a\nOK 5"));
        check(b"OK 2 a b\n{}", |out| write_chat(out, "{}", "a\nb"));
    }

    #[test]
    fn f061_f063_f070_commands() {
        let command = |expected: &[u8], command: LegacyCommand<'_>| {
            check(expected, |out| write_command(out, &command));
        };
        command(
            b"OPEN a.txt w+ true\n",
            LegacyCommand::Open {
                path: "a.txt",
                mode: LegacyOpenMode::WPlus,
                is_top_level: true,
            },
        );
        command(
            b"READ 3 10\n",
            LegacyCommand::Read {
                handle: 3,
                size: 10,
            },
        );
        command(
            b"WRITE 3 2\n\n\n",
            LegacyCommand::Write {
                handle: 3,
                data: b"\n\n",
            },
        );
        command(b"CLOSE 3\n", LegacyCommand::Close { handle: 3 });
        command(
            b"LLM_CHAT false 0 1 2 2 3\na\nb c",
            LegacyCommand::LlmChat {
                is_top_level: false,
                stdin: 0,
                stdout: 1,
                stderr: 2,
                files: "a\n",
                prompt: "b c",
            },
        );
        command(b"LLM_QUOTA\n", LegacyCommand::LlmQuota);
    }
}
