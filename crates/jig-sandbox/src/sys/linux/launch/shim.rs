//! The shim: stands on a tool's search path under the name of a program, and has the host start it.
//!
//! It says at the door what it was called with and hands its standard streams over; then it waits, and
//! ends as the program ended. If it is killed, the door sees the line go, and ends the program.
//!
//! It holds no right and decides nothing: all that it says, the tool could say itself. The line is a
//! stream. To the host: the length of what follows as four bytes, least significant first, with the three
//! descriptors; the working directory, the name, and the arguments, each with a NUL at its end. Back: a
//! byte that is 0 if it exited and 1 if a signal ended it, one with the code or the signal, the length of a
//! text as four bytes, and the text, which is for whoever reads the errors.

use core::ffi::{CStr, c_char};

use crate::stage::calls::{self, O_CLOEXEC, O_RDONLY, O_WRONLY, WORKING_DIRECTORY};
use crate::stage::raw::{self, RawErrno, call};

/// The life of a shim. `stack` is what the kernel left on it.
///
/// # Safety
///
/// There are the number of arguments, so many pointers to C strings, a null pointer, pointers to the
/// variables, a null pointer, and pairs of words that end in one of zeros. All live as long as the process.
pub(crate) unsafe fn run(stack: *const usize) -> ! {
    // SAFETY: the caller's promise.
    let called = unsafe { ShimCall::read(stack) };
    match ask(&called) {
        Ok(ShimEnd { how: KILLED, value }) => end_by(value.into()),
        Ok(ShimEnd { value, .. }) => calls::exit(value.into()),
        Err(why) => {
            for part in [b"jig: ", called.name.to_bytes(), b": ", why, b"\n"] {
                write_all(ERRORS, part);
            }
            calls::exit(NOT_STARTED)
        }
    }
}

/// What the shim was called with.
struct ShimCall {
    name: &'static CStr,
    /// Pointers to the arguments after the first, and their number.
    arguments: *const *const c_char,
    count: usize,
}

impl ShimCall {
    /// # Safety
    ///
    /// That of [`run`].
    unsafe fn read(stack: *const usize) -> Self {
        // SAFETY: the caller's promise. Each walk ends at the zero that the kernel wrote.
        unsafe {
            let count = *stack;
            let strings = stack.add(1).cast::<*const c_char>();
            let mut at = strings.add(count + 1);
            while !(*at).is_null() {
                at = at.add(1);
            }
            // Not the first argument, which is whatever the caller wants: a login shell is `-sh`.
            let mut name = CStr::from_ptr(*strings);
            let mut pair = at.add(1).cast::<usize>();
            while *pair != 0 {
                if *pair == EXECUTED_PATH {
                    let path = core::ptr::with_exposed_provenance::<c_char>(*pair.add(1));
                    name = CStr::from_ptr(path);
                }
                pair = pair.add(2);
            }
            Self {
                name: last_component(name),
                arguments: strings.add(1),
                count: count.saturating_sub(1),
            }
        }
    }

    fn arguments(&self) -> impl Iterator<Item = &CStr> {
        // SAFETY: so many pointers to C strings are there, which live as long as the process.
        (0..self.count).map(|at| unsafe { CStr::from_ptr(*self.arguments.add(at)) })
    }
}

fn last_component(path: &'static CStr) -> &'static CStr {
    let bytes = path.to_bytes_with_nul();
    let start = bytes.iter().rposition(|byte| *byte == b'/');
    let name = bytes.get(start.map_or(0, |slash| slash + 1)..);
    name.and_then(|name| CStr::from_bytes_with_nul(name).ok())
        .unwrap_or(path)
}

/// How the program ended.
struct ShimEnd {
    how: u8,
    value: u8,
}

/// Has the program started, and waits for its end.
fn ask(called: &ShimCall) -> Result<ShimEnd, &'static [u8]> {
    fill_streams();
    let mut room = [0; LONGEST_PATH];
    // One that was removed, or that nobody can see, is no place to start a program in.
    let directory = working_directory(&mut room).unwrap_or(c"/");
    let words = || {
        [directory, called.name]
            .into_iter()
            .chain(called.arguments())
    };
    let length: usize = words().map(|word| word.to_bytes_with_nul().len()).sum();
    if length > MOST {
        return Err(b"the arguments are too large");
    }
    let door = connect().map_err(|_| &b"nobody is there any more to start it"[..])?;
    let header = (length as u32).to_le_bytes();
    // If the host hangs up early, it may have said why.
    let _ = calls::send(door, &header, &[0, 1, 2])
        .and_then(|()| words().try_for_each(|word| send_all(door, word.to_bytes_with_nul())));
    let mut answer = [0; 6];
    receive_all(door, &mut answer)?;
    let [how, value, length @ ..] = answer;
    let mut left = u32::from_le_bytes(length) as usize;
    let mut piece = [0; 1024];
    while left > 0 {
        let room = piece.len().min(left);
        let part = &mut piece[..room];
        receive_all(door, part)?;
        write_all(ERRORS, part);
        left -= part.len();
    }
    Ok(ShimEnd { how, value })
}

/// Puts something where a standard stream is closed, because all three are sent: what cannot be read in
/// place of the input, and what cannot be written in place of the others. Using it fails as it would have.
fn fill_streams() {
    for (fd, flags) in [(0, O_WRONLY), (1, O_RDONLY), (2, O_RDONLY)] {
        if calls::facts(fd, c"").is_err() {
            // The lowest number that is free: this one.
            let _ = calls::open_at(WORKING_DIRECTORY, c"/dev/null", flags);
        }
    }
}

fn working_directory(room: &mut [u8]) -> Option<&CStr> {
    // SAFETY: address and length are those of a live slice.
    let length = unsafe { call!(GETCWD, room.as_mut_ptr(), room.len()) }.ok()?;
    let path = CStr::from_bytes_with_nul(room.get(..length)?).ok()?;
    // One outside of this root is told as `(unreachable)/…`.
    path.to_bytes().starts_with(b"/").then_some(path)
}

fn connect() -> Result<i32, RawErrno> {
    const UNIX: u16 = 1;
    const STREAM: i32 = 1;
    let path = DOOR.to_bytes_with_nul();
    let mut address = [0_u8; 110];
    address[..2].copy_from_slice(&UNIX.to_ne_bytes());
    address[2..2 + path.len()].copy_from_slice(path);
    // SAFETY: the call takes no addresses.
    let socket = unsafe { call!(SOCKET, i32::from(UNIX), STREAM | O_CLOEXEC, 0) }? as i32;
    // SAFETY: the address is a live local, of which as much is read as the length says.
    unsafe { call!(CONNECT, socket, address.as_ptr(), 2 + path.len()) }?;
    Ok(socket)
}

/// Without a signal if the other end is gone.
fn send_all(socket: i32, mut rest: &[u8]) -> Result<(), RawErrno> {
    const NO_SIGNAL: i32 = 0x4000;
    let nobody = core::ptr::null::<u8>();
    while !rest.is_empty() {
        // SAFETY: address and length are those of a live slice; no address is given.
        match unsafe {
            call!(
                SENDTO,
                socket,
                rest.as_ptr(),
                rest.len(),
                NO_SIGNAL,
                nobody,
                0
            )
        } {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(RawErrno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

fn receive_all(socket: i32, bytes: &mut [u8]) -> Result<(), &'static [u8]> {
    let mut filled = 0;
    while filled < bytes.len() {
        match calls::read(socket, &mut bytes[filled..]) {
            Err(RawErrno::INTR) => {}
            Ok(0) | Err(_) => return Err(b"the host hung up"),
            Ok(count) => filled += count,
        }
    }
    Ok(())
}

/// As far as somebody takes it.
fn write_all(fd: i32, mut rest: &[u8]) {
    while !rest.is_empty() {
        match calls::write(fd, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(RawErrno::INTR) => {}
            Err(RawErrno::AGAIN) => calls::pause(10),
            Err(_) => return,
        }
    }
}

/// Ends as a program does that a signal ended.
fn end_by(signal: i32) -> ! {
    const CORE: u32 = 4;
    // It was not this process that crashed.
    let _ = calls::set_limit(CORE, 0);
    calls::reset_signals();
    calls::set_blocked(0);
    calls::signal(calls::id(), signal);
    // One that ends nobody. As shells tell it.
    calls::exit(128 + signal)
}

/// Where the host listens. The library names the same path, as `DOOR`.
const DOOR: &CStr = c"/run/jig/door";

/// A signal ended it; the value is the signal's number.
const KILLED: u8 = 1;

/// As shells tell that a program was found and not started.
const NOT_STARTED: i32 = 126;

/// As much as the host reads.
const MOST: usize = 1 << 20;

const ERRORS: i32 = 2;

/// The longest path that the kernel tells, its NUL included.
const LONGEST_PATH: usize = 4096;

/// `AT_EXECFN`: the path that was executed, as it was given.
const EXECUTED_PATH: usize = 31;
