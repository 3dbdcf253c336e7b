//! [`Pty`]: the host's end of a pseudo-terminal.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
use rustix::termios::{
    InputModes, OptionalActions, Winsize, tcgetattr, tcgetwinsize, tcsetattr, tcsetwinsize,
};

use crate::Size;

/// The host's end of a pseudo-terminal: what is written to it is typed, what is read from it was
/// printed. It never blocks and is closed on `exec`.
#[derive(Debug)]
pub struct Pty {
    host: OwnedFd,
}

impl Pty {
    /// Opens a pseudo-terminal. The second value is the program's end, for its three standard
    /// streams; the caller closes its own copy once the program has it, or the end of the program
    /// would go unnoticed.
    pub fn open(size: Size) -> io::Result<(Pty, OwnedFd)> {
        // Without NOCTTY a host that leads a session without a terminal would get this one.
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        rustix::io::fcntl_setfd(&host, rustix::io::FdFlags::CLOEXEC)?;
        grantpt(&host)?;
        unlockpt(&host)?;
        let program = open_program_end(&host)?;
        let pty = Self { host };
        pty.resize(size)?;
        set_nonblocking(pty.host.as_fd())?;
        let mut attributes = tcgetattr(&program)?;
        // Backspace in a line takes a whole character then, not one of its bytes.
        attributes.input_modes |= InputModes::IUTF8;
        tcsetattr(&program, OptionalActions::Now, &attributes)?;
        Ok((pty, program))
    }

    /// Gives the terminal another size. The programs in it are told by SIGWINCH.
    pub fn resize(&self, size: Size) -> io::Result<()> {
        let size = size.clamped();
        let winsize = Winsize {
            ws_row: size.rows,
            ws_col: size.cols,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        Ok(tcsetwinsize(&self.host, winsize)?)
    }

    /// The size, which a program can change too.
    pub fn size(&self) -> io::Result<Size> {
        let winsize = tcgetwinsize(&self.host)?;
        Ok(Size::new(winsize.ws_row, winsize.ws_col))
    }

    /// Reads what was printed. `WouldBlock` if there is nothing now; 0 at the end, when nobody has
    /// the program's end open any more.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match rustix::io::read(&self.host, buffer) {
            // Linux says it this way.
            Err(rustix::io::Errno::IO) => Ok(0),
            other => Ok(other?),
        }
    }

    /// Types bytes. `WouldBlock` if the terminal takes none now.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(&self.host, bytes)?)
    }
}

impl AsFd for Pty {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.host.as_fd()
    }
}

/// From the host's end itself: a path could name something else where `/dev/pts` is another one.
#[cfg(target_os = "linux")]
fn open_program_end(host: &OwnedFd) -> io::Result<OwnedFd> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    Ok(rustix::pty::ioctl_tiocgptpeer(host, flags)?)
}

#[cfg(not(target_os = "linux"))]
fn open_program_end(host: &OwnedFd) -> io::Result<OwnedFd> {
    use rustix::fs::{Mode, OFlags};
    let name = rustix::pty::ptsname(host, Vec::new())?;
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(name, flags, Mode::empty())?)
}

pub(crate) fn set_nonblocking(end: BorrowedFd<'_>) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(end)?;
    Ok(rustix::fs::fcntl_setfl(
        end,
        flags | rustix::fs::OFlags::NONBLOCK,
    )?)
}

#[cfg(test)]
mod tests;
