//! [`Seat`]: somebody at a terminal, who sees what a program paints and types into it.

use std::os::fd::OwnedFd;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use jig_pty::{Pty, Screen, Size};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{Termios, tcgetattr};

use super::workspace_user::Desk;

/// A terminal, and a program that runs in it.
pub(crate) struct Seat {
    pty: Pty,
    /// The program's end, held to see what becomes of its settings.
    end: OwnedFd,
    screen: Screen,
    /// All that was printed, as it came.
    pub(crate) printed: Vec<u8>,
    child: Child,
    before: Settings,
}

/// What can be compared of a terminal's settings.
pub(crate) type Settings = String;

impl Seat {
    /// Sits down at a terminal of 24 rows and 80 columns, and starts `jig` there.
    pub(crate) fn new(desk: &Desk, args: &[&str]) -> Self {
        Self::of(desk, &desk.jig(args))
    }

    /// The same with any program of the desk.
    pub(crate) fn of(desk: &Desk, program: &Command) -> Self {
        let (pty, end) = Pty::open(Size::default()).unwrap();
        let before = settings(&end);
        // It makes the terminal the controlling one, and then becomes the program.
        let mut command = desk.command("setsid");
        command
            .arg("--ctty")
            .arg(program.get_program())
            .args(program.get_args())
            .env("TERM", "xterm-256color")
            .stdin(end.try_clone().unwrap())
            .stdout(end.try_clone().unwrap())
            .stderr(end.try_clone().unwrap());
        Self {
            pty,
            end,
            screen: Screen::new(Size::default(), 1000),
            printed: Vec::new(),
            child: command.spawn().unwrap(),
            before,
        }
    }

    /// Waits until the screen is as it should be.
    #[track_caller]
    pub(crate) fn sees(&mut self, what: &str, is_seen: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            self.look();
            let text = self.screen.text();
            if is_seen(&text) {
                return text;
            }
            assert!(start.elapsed() < LIMIT, "not seen: {what}\n{text}");
            self.await_output();
        }
    }

    /// Waits until a text is on the screen.
    #[track_caller]
    pub(crate) fn sees_text(&mut self, text: &str) -> String {
        self.sees(text, |screen| screen.contains(text))
    }

    pub(crate) fn types(&mut self, keys: &str) {
        let mut bytes = keys.as_bytes();
        while !bytes.is_empty() {
            match self.pty.write(bytes) {
                Ok(count) => bytes = &bytes[count..],
                // It is full until the program reads, which may first have to print.
                Err(_) => self.await_output(),
            }
            self.look();
        }
    }

    pub(crate) fn resize(&mut self, rows: u16, cols: u16) {
        let size = Size::new(rows, cols);
        self.pty.resize(size).unwrap();
        self.screen.resize(size);
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until the program has ended, and shows its last screen. The terminal is as it was before.
    #[track_caller]
    pub(crate) fn ends(mut self) -> (ExitStatus, String) {
        let mut status = None;
        let has_ended = jig_testkit::within(LIMIT, || {
            self.look();
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        self.look();
        assert!(has_ended, "it does not end\n{}", self.screen.text());
        let status = status.unwrap();
        assert_eq!(settings(&self.end), self.before);
        assert!(!self.screen.is_alternate(), "the alternate screen stays");
        assert!(self.screen.cursor().visible, "the cursor stays hidden");
        (status, self.screen.text())
    }

    /// Whether the terminal has the settings that it had before.
    pub(crate) fn is_as_before(&self) -> bool {
        settings(&self.end) == self.before
    }

    /// Waits until the program has printed something, or for a moment: what it prints is not all that changes.
    fn await_output(&self) {
        let mut events = [PollFd::new(&self.pty, PollFlags::IN)];
        let _ = poll(&mut events, Some(&MOMENT));
    }

    fn look(&mut self) {
        let mut buffer = [0; 16 << 10];
        while let Ok(count @ 1..) = self.pty.read(&mut buffer) {
            self.printed.extend_from_slice(&buffer[..count]);
            self.screen.feed(&buffer[..count]);
        }
        // What a terminal answers when it is asked where its cursor is and the like.
        let answers = self.screen.answers();
        let _ = self.pty.write(&answers);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn settings(end: &OwnedFd) -> Settings {
    let Termios {
        input_modes,
        output_modes,
        control_modes,
        local_modes,
        special_codes,
        ..
    } = tcgetattr(end).unwrap();
    format!("{input_modes:?} {output_modes:?} {control_modes:?} {local_modes:?} {special_codes:?}")
}

const LIMIT: Duration = Duration::from_secs(60);
const MOMENT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};
