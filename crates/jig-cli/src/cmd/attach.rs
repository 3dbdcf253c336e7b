//! `jig attach`: a running tool, live.
//!
//! Nothing that a tool prints reaches the user's terminal as it is: the station paints the screen anew, and
//! what has no screen is printed without what steers a terminal.

mod canvas;

use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::thread;

use anyhow::{Context, anyhow};
use jig_proto::{HandleId, hint, visible_lines};
use jig_pty::Size;
use jig_sandbox::{Interest, Waker};
use jig_station::protocol::{AttachInput, HandleEvent, MessageReader, StationRequest, send};
use rustix::io::Errno;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGWINCH};
use signal_hook::iterator::Signals;

use self::canvas::Canvas;
use super::fetch::station;
use crate::args::{AttachArgs, GlobalArgs};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::terminal::{self, RawTerminal};

pub(crate) fn run(
    args: &AttachArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let id: HandleId = args.id.parse()?;
    let mut client = station(global, &args.id)?;
    let about: AttachedTool = client.ask(&StationRequest::Attach {
        id,
        input: args.input,
    })?;
    let (stream, lines) = client.into_parts();
    // The connection is read when there is something to read, among other things to wait for.
    stream.set_nonblocking(true)?;
    let view = HandleView {
        id: &args.id,
        tool: &about.tool,
        takes_input: args.input,
        stream,
        lines,
        heard: AttachSignals::listen()?,
        half: Vec::new(),
    };
    match about.terminal {
        true => view.watch(out),
        false => view.follow(out),
    }
}

/// What the station says of the handle.
#[derive(Deserialize)]
struct AttachedTool {
    tool: String,
    terminal: bool,
}

/// A handle that is looked at.
struct HandleView<'a> {
    id: &'a str,
    tool: &'a str,
    takes_input: bool,
    stream: UnixStream,
    lines: MessageReader<UnixStream>,
    heard: Arc<AttachSignals>,
    /// The beginning of a character whose rest has not been read yet.
    half: Vec<u8>,
}

impl HandleView<'_> {
    /// Shows the screen of a tool until it stops or the person leaves.
    fn watch(mut self, out: &mut CliOutput) -> anyhow::Result<Done> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            let hint = hint!("`jig fetch {} --view screen` prints the screen", self.id);
            return Err(anyhow!(hint).context("a screen can only be shown at a terminal"));
        }
        let mut canvas = Canvas::new(self.id, self.tool, self.takes_input);
        let raw =
            RawTerminal::enter(canvas::ENTER, canvas::LEAVE).context("cannot use the terminal")?;
        let end = self.watched(&mut canvas);
        drop(raw);
        self.ended(end?, out)
    }

    fn watched(&mut self, canvas: &mut Canvas) -> anyhow::Result<AttachEnd> {
        self.pass_size(canvas.room())?;
        // The first screen may have come together with the answer.
        let mut is_news = true;
        loop {
            if is_news {
                for seen in self.received()? {
                    if let HandleEvent::Stopped(words) = seen {
                        return Ok(AttachEnd::Stopped(words));
                    }
                    canvas.take(seen);
                }
                terminal::print(&canvas.painted())?;
            }
            let stdin = io::stdin();
            let waits = [
                Interest::Woken(&self.heard.waker),
                Interest::Readable(self.stream.as_fd()),
                Interest::Readable(stdin.as_fd()),
            ];
            let ready = jig_sandbox::poll(&waits, None)?;
            if ready.contains(0) {
                if let Some(signal) = self.heard.ending() {
                    return Ok(AttachEnd::Signal(signal));
                }
                if self.heard.is_resized() {
                    self.pass_size(canvas.room())?;
                    terminal::print(&canvas.painted())?;
                }
            }
            is_news = ready.contains(1);
            if ready.contains(2) {
                match self.typed()? {
                    Some(text) if text.is_empty() => {}
                    Some(text) => self.type_in(json!({ "text": text }))?,
                    None => return Ok(AttachEnd::Left),
                }
            }
        }
    }

    /// Prints what a tool without terminal says until it stops or the person leaves. Lines that are typed
    /// go to it.
    fn follow(mut self, out: &mut CliOutput) -> anyhow::Result<Done> {
        let end = self.followed(out)?;
        self.ended(end, out)
    }

    fn followed(&mut self, out: &mut CliOutput) -> anyhow::Result<AttachEnd> {
        let is_terminal = io::stdout().is_terminal();
        let mut is_open = self.takes_input;
        let mut is_news = true;
        loop {
            if is_news {
                for seen in self.received()? {
                    match seen {
                        HandleEvent::Text(text) if is_terminal => {
                            out.text(&visible_lines(&text))?
                        }
                        HandleEvent::Text(text) => out.raw(&text)?,
                        HandleEvent::Question(asked) => {
                            out.note(&canvas::question(self.id, &asked))
                        }
                        HandleEvent::NotTaken(reason) => out.note(&format!("jig: {reason}")),
                        HandleEvent::Stopped(words) => return Ok(AttachEnd::Stopped(words)),
                        HandleEvent::Screen(_) | HandleEvent::Answered => {}
                    }
                }
            }
            let stdin = io::stdin();
            let mut waits = vec![
                Interest::Woken(&self.heard.waker),
                Interest::Readable(self.stream.as_fd()),
            ];
            if is_open {
                waits.push(Interest::Readable(stdin.as_fd()));
            }
            let ready = jig_sandbox::poll(&waits, None)?;
            if ready.contains(0)
                && let Some(signal) = self.heard.ending()
            {
                // Ctrl-C is how one leaves here: the tool has no terminal that could want it.
                return Ok(match signal {
                    SIGINT => AttachEnd::Left,
                    signal => AttachEnd::Signal(signal),
                });
            }
            is_news = ready.contains(1);
            if is_open && ready.contains(2) {
                match self.typed()? {
                    Some(text) => self.type_in(json!({ "text": text }))?,
                    None => {
                        is_open = false;
                        self.type_in(json!({ "end": true }))?;
                    }
                }
            }
        }
    }

    /// What the station has sent by now.
    fn received(&mut self) -> anyhow::Result<Vec<HandleEvent>> {
        let mut all = Vec::new();
        loop {
            while let Some(seen) = self.lines.buffered()? {
                all.push(seen);
            }
            match self.lines.fill() {
                Ok(true) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(all),
                Ok(false) if !all.is_empty() => return Ok(all),
                Ok(false) | Err(_) => {
                    return Err(anyhow!("the station has ended, and with it what it ran"));
                }
            }
        }
    }

    /// What was typed by now; `None` if the person leaves.
    fn typed(&mut self) -> io::Result<Option<String>> {
        let mut buffer = [0; 4 << 10];
        let count = match rustix::io::read(io::stdin(), &mut buffer) {
            Ok(0) | Err(Errno::IO) => return Ok(None),
            Ok(count) => count,
            Err(Errno::INTR | Errno::AGAIN) => return Ok(Some(String::new())),
            Err(error) => return Err(error.into()),
        };
        if buffer[..count].contains(&LEAVE_KEY) {
            return Ok(None);
        }
        let mut typed = std::mem::take(&mut self.half);
        typed.extend_from_slice(&buffer[..count]);
        if let Err(error) = std::str::from_utf8(&typed)
            && error.error_len().is_none()
        {
            self.half = typed.split_off(error.valid_up_to());
        }
        Ok(Some(String::from_utf8_lossy(&typed).into_owned()))
    }

    fn type_in(&self, input: Json) -> anyhow::Result<()> {
        if !self.takes_input {
            return Ok(());
        }
        // It is small, and waits in the socket's buffer at most for a moment.
        self.stream.set_nonblocking(false)?;
        let sent = send(&self.stream, &AttachInput::Input(input));
        self.stream.set_nonblocking(true)?;
        sent.map_err(|_| anyhow!("the station has ended, and with it what it ran"))
    }

    fn pass_size(&self, room: Size) -> anyhow::Result<()> {
        self.type_in(json!({ "resize": { "rows": room.rows, "cols": room.cols } }))
    }

    fn ended(&self, end: AttachEnd, out: &mut CliOutput) -> anyhow::Result<Done> {
        let id = self.id;
        match end {
            AttachEnd::Stopped(words) => {
                out.note(&format!(
                    "jig: `{id}` has {words}; `jig fetch {id}` shows its result"
                ));
            }
            AttachEnd::Left => out.note(&format!("jig: `{id}` runs on; `jig abort {id}` ends it")),
            AttachEnd::Signal(signal) => {
                // As if we had never listened: whoever started us sees what ended us.
                signal_hook::low_level::emulate_default_handler(signal)?;
            }
        }
        Ok(Done::Ok)
    }
}

/// How a look at a handle ends.
enum AttachEnd {
    /// The tool has stopped.
    Stopped(String),
    /// The person leaves.
    Left,
    /// Somebody ends jig.
    Signal(i32),
}

/// What signals have told.
struct AttachSignals {
    waker: Waker,
    ending: AtomicI32,
    resized: AtomicBool,
}

impl AttachSignals {
    fn listen() -> anyhow::Result<Arc<Self>> {
        let failed = "cannot listen for signals";
        let heard = Arc::new(Self {
            waker: Waker::new().context(failed)?,
            ending: AtomicI32::new(0),
            resized: AtomicBool::new(false),
        });
        let wanted = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH];
        let mut signals = Signals::new(wanted).context(failed)?;
        let told = Arc::clone(&heard);
        thread::Builder::new()
            .name("jig-signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    match signal {
                        SIGWINCH => told.resized.store(true, Ordering::SeqCst),
                        signal => told.ending.store(signal, Ordering::SeqCst),
                    }
                    told.waker.wake();
                }
            })
            .context(failed)?;
        Ok(heard)
    }

    /// The signal that ends jig, if there was one.
    fn ending(&self) -> Option<i32> {
        self.waker.clear();
        Some(self.ending.load(Ordering::SeqCst)).filter(|signal| *signal != 0)
    }

    /// Whether the terminal has another size than before.
    fn is_resized(&self) -> bool {
        self.resized.swap(false, Ordering::SeqCst)
    }
}

/// Ctrl-].
const LEAVE_KEY: u8 = 0x1d;
