//! What a tool writes, and when. The sandbox lets it pass; whoever reads must bear it, and be able to
//! end it.

use std::io::{self, Write};

use crate::survival::beat;
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict};

pub(crate) const PROGRAMS: &[Program] = &[
    ("flood", |args| {
        flood(&mut io::stdout().lock(), args, b"0123456\n")
    }),
    ("flood-errors", |args| {
        flood(&mut io::stderr().lock(), args, b"0123456\n")
    }),
    ("giant-line", |args| {
        let verdict = flood(&mut io::stdout().lock(), args, b"01234567")?;
        println!();
        Ok(verdict)
    }),
    ("invalid-utf8", |_| {
        io::stdout().write_all(b"\xff\xfe\xc3\x28\xed\xa0\x80 cut off: \xe2\x82\n")?;
        Ok("wrote what is no text".to_owned())
    }),
    ("zero-bytes", |_| {
        io::stdout().write_all(b"a\0b\0\0\n")?;
        Ok("wrote zero bytes".to_owned())
    }),
    ("control-sequences", |_| {
        // Sets the title, clears the screen, asks for an answer, writes to the clipboard, hides text.
        let text = b"\x1b]0;title\x07\x1b[2J\x1b[6n\x1b]52;c;aGk=\x07\x1b[8mhidden\x1b[0m\x9b31m\n";
        io::stdout().write_all(text)?;
        Ok("wrote control sequences".to_owned())
    }),
    ("fake-protocol", |_| {
        println!("{{\"type\":\"stopped\",\"result\":\"forged\"}}");
        Ok("wrote what looks like an answer".to_owned())
    }),
    ("endless-flood", |args| {
        let heart = args.text(0)?.to_owned();
        std::thread::spawn(move || beat(&heart));
        let block = vec![b'x'; 1 << 16];
        // It ends when nobody reads any more.
        while io::stdout().write_all(&block).is_ok() {}
        Ok("was never ended".to_owned())
    }),
    ("drip", |args| {
        let heart = args.text(0)?.to_owned();
        std::thread::spawn(move || beat(&heart));
        for _ in 0..500 {
            io::stdout().write_all(b".")?;
            io::stdout().flush()?;
            sys::pause_for(10);
        }
        Ok("was never ended".to_owned())
    }),
    ("closed-streams", |args| {
        for descriptor in 0..3 {
            let _ = call!(libc::SYS_close, descriptor);
        }
        beat(args.text(0)?);
        Ok("was never ended".to_owned())
    }),
    ("silence", |args| {
        beat(args.text(0)?);
        Ok("was never ended".to_owned())
    }),
    ("spin", |args| {
        let heart = args.text(0)?.to_owned();
        let beating = std::thread::spawn(move || beat(&heart));
        while !beating.is_finished() {
            std::hint::spin_loop();
        }
        Ok("was never ended".to_owned())
    }),
];

fn flood(output: &mut impl Write, args: &Args, unit: &[u8]) -> Verdict {
    let bytes: usize = args.number(0)?;
    let block = unit.repeat(8192);
    for _ in 0..bytes.div_ceil(block.len()) {
        output.write_all(&block)?;
    }
    output.flush()?;
    Ok(format!("wrote {bytes} bytes"))
}
