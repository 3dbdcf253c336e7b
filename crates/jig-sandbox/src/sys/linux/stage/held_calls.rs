//! [`HeldCall`]: a system call of the tool that waits at a listener until it was answered.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use super::calls::{self, O_CLOEXEC};
use super::raw::{self, RawErrno, call};

/// A call that waits: `struct seccomp_notif`, which is ten words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeldCall {
    /// The cookie by which it is answered.
    id: u64,
    /// The thread that makes it, by its number in this process namespace.
    pub(crate) thread: i32,
    /// The number of the call.
    pub(crate) number: u32,
    pub(crate) arguments: [u64; 6],
}

/// The length of a held call, in bytes.
pub(crate) const LENGTH: usize = 80;

impl HeldCall {
    /// Waits for the next one. `ENOENT`: it was given up meanwhile.
    pub(crate) fn receive(listener: i32) -> Result<Self, RawErrno> {
        const RECEIVE: u32 = 0xc050_2100;
        // The kernel refuses a place that is not empty.
        let mut words = [0_u64; LENGTH / 8];
        // SAFETY: the words are a live local of the size that is part of the command.
        unsafe { call!(IOCTL, listener, RECEIVE, words.as_mut_ptr()) }?;
        Ok(Self::of(words))
    }

    /// The next one that the host passes on; `None` if the host is gone.
    pub(crate) fn passed_on(socket: i32) -> Option<Self> {
        let mut bytes = [0; LENGTH];
        let received = calls::receive::<0>(socket, &mut bytes, &mut []);
        if received.ok()?.0 != LENGTH {
            return None;
        }
        let mut words = [0; LENGTH / 8];
        for (word, bytes) in words.iter_mut().zip(bytes.chunks_exact(8)) {
            *word = u64::from_ne_bytes(bytes.try_into().unwrap_or_default());
        }
        Some(Self::of(words))
    }

    fn of(words: [u64; LENGTH / 8]) -> Self {
        // Both architectures store the lower half first.
        let [id, thread, number, _instruction, arguments @ ..] = words;
        Self {
            id,
            thread: (thread as u32).cast_signed(),
            number: number as u32,
            arguments,
        }
    }

    /// Whether its thread still waits. Only then is what was read of it its own.
    pub(crate) fn is_valid(&self, listener: i32) -> bool {
        const IS_VALID: u32 = 0x4008_2102;
        // SAFETY: the id is a live local.
        unsafe { call!(IOCTL, listener, IS_VALID, &raw const self.id) }.is_ok()
    }

    /// Puts a copy of a descriptor into its process; the number there.
    pub(crate) fn give(&self, listener: i32, fd: i32, flags: i32) -> Result<i32, RawErrno> {
        const ADD_DESCRIPTOR: u32 = 0x4018_2103;
        let high = |number: i32| u64::from(number.cast_unsigned()) << 32;
        // Id; flags and source; target, which is the next that is free, and its flags.
        let words = [self.id, high(fd), high(flags & O_CLOEXEC)];
        // SAFETY: the words are a live local of the size that is part of the command.
        unsafe { call!(IOCTL, listener, ADD_DESCRIPTOR, words.as_ptr()) }.map(calls::descriptor)
    }

    /// Answers with a result.
    pub(crate) fn answer(&self, listener: i32, result: Result<i32, RawErrno>) {
        match result {
            Ok(value) => self.send(listener, i64::from(value), 0, 0),
            Err(errno) => self.send(listener, 0, -errno.0, 0),
        }
    }

    /// Lets it go on. For calls that name nothing in memory only: that could be another by now.
    pub(crate) fn let_go(&self, listener: i32) {
        const CONTINUE: u32 = 1;
        self.send(listener, 0, 0, CONTINUE);
    }

    fn send(&self, listener: i32, value: i64, error: i32, flags: u32) {
        const SEND: u32 = 0xc018_2101;
        let last = u64::from(error.cast_unsigned()) | u64::from(flags) << 32;
        let words = [self.id, value.cast_unsigned(), last];
        // SAFETY: the words are a live local of the size that is part of the command. A caller that is gone
        // needs no answer.
        let _ = unsafe { call!(IOCTL, listener, SEND, words.as_ptr()) };
    }

    /// Reads memory of its process: all of the slice.
    pub(crate) fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), RawErrno> {
        match self.read_some(address, bytes)? {
            count if count == bytes.len() => Ok(()),
            _ => Err(RawErrno::FAULT),
        }
    }

    fn read_some(&self, address: u64, bytes: &mut [u8]) -> Result<usize, RawErrno> {
        let local = [bytes.as_mut_ptr().expose_provenance(), bytes.len()];
        let remote = [address as usize, bytes.len()];
        // SAFETY: both are live locals; what the first points to is a live slice of that length, and of this
        // process nothing else is written.
        unsafe {
            call!(
                PROCESS_VM_READV,
                self.thread,
                local.as_ptr(),
                1,
                remote.as_ptr(),
                1,
                0
            )
        }
    }

    /// Reads the string at an address; its length without the NUL.
    pub(crate) fn read_string(&self, address: u64, text: &mut [u8]) -> Result<usize, RawErrno> {
        const SMALLEST_PAGE: usize = 4096;
        let mut length = 0;
        while length < text.len() {
            // Not over the end of a page: beyond it there may be nothing.
            let at = address.wrapping_add(length as u64);
            let room = SMALLEST_PAGE - at as usize % SMALLEST_PAGE;
            let end = text.len().min(length + room);
            let part = &mut text[length..end];
            self.read(at, part)?;
            if let Some(nul) = part.iter().position(|byte| *byte == 0) {
                return Ok(length + nul);
            }
            length = end;
        }
        Err(RawErrno::NAMETOOLONG)
    }
}

/// Has the kernel pass the processor from the caller to the listener and back, as both wait for each other
/// anyway. Linux 6.6; without it all is the same, and slower.
pub(crate) fn wake_synchronously(listener: i32) {
    const SET_FLAGS: u32 = 0x4008_2104;
    const SYNCHRONOUS: u64 = 1;
    // SAFETY: this command takes a number, and no address.
    let _ = unsafe { call!(IOCTL, listener, SET_FLAGS, SYNCHRONOUS) };
}
