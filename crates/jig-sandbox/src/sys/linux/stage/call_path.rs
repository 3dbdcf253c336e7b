//! [`CallPath`]: the copy of a path that a call names, and what of it stands for the caller itself.

use core::ffi::CStr;

use super::makers::OwnedHandle;
use super::raw::RawErrno;

/// The copy of a path.
pub(crate) struct CallPath {
    pub(crate) start: PathStart,
    pub(crate) text: [u8; LONGEST_PATH],
    pub(crate) length: usize,
    /// The directory at which it begins, if nobody else holds it.
    kept: Option<OwnedHandle>,
}

impl CallPath {
    pub(crate) fn new(start: PathStart) -> Self {
        Self {
            start,
            text: [0; LONGEST_PATH],
            length: 0,
            kept: None,
        }
    }

    pub(crate) fn keep(&mut self, fd: i32) {
        self.start = PathStart::Handle(fd);
        self.kept = Some(OwnedHandle(fd));
    }

    pub(crate) fn set(&mut self, text: &[u8]) -> Result<(), RawErrno> {
        self.set_parts(&[text])
    }

    pub(crate) fn set_parts(&mut self, parts: &[&[u8]]) -> Result<(), RawErrno> {
        self.length = 0;
        for part in parts {
            let room = self.text.get_mut(self.length..self.length + part.len());
            room.ok_or(RawErrno::NAMETOOLONG)?.copy_from_slice(part);
            self.length += part.len();
        }
        Ok(())
    }

    /// A part of it as a C string. What comes after it is lost.
    pub(crate) fn until(&mut self, from: usize, end: usize) -> Result<&CStr, RawErrno> {
        let text = self.text.get(from..end).ok_or(RawErrno::NAMETOOLONG)?;
        // A slash at its end says that it is a directory, which it is to be anyway; alone it is the root.
        let last = end - 1;
        let (keeps, byte) = match text {
            [b'/'] => (true, 0),
            _ => (false, self.text[last]),
        };
        if keeps || byte != b'/' {
            *self.text.get_mut(end).ok_or(RawErrno::NAMETOOLONG)? = 0;
        } else {
            self.text[last] = 0;
        }
        CStr::from_bytes_until_nul(&self.text[from..]).map_err(|_| RawErrno::NAMETOOLONG)
    }
}

/// An absolute path with a name at its end.
pub(crate) struct PathText(pub(crate) [u8; LONGEST_PATH + LONGEST_NAME + 1]);

impl PathText {
    pub(crate) fn new() -> Self {
        Self([0; LONGEST_PATH + LONGEST_NAME + 1])
    }
}

/// What is left of a path that begins in what `/proc` says about whoever asks.
pub(crate) fn own_proc(path: &[u8]) -> Option<&[u8]> {
    let mut own = [&b"/proc/self/"[..], b"/proc/thread-self/"].into_iter();
    let rest = own.find_map(|own| path.strip_prefix(own));
    // Of `/dev/fd/3` the `fd` stays: it is a link to `/proc/self/fd`.
    rest.or_else(|| {
        path.strip_prefix(b"/dev/")
            .filter(|rest| rest.starts_with(b"fd/"))
    })
}

/// The length of the link that such a rest begins with, with the slash after it; 0 for none.
pub(crate) fn link_of_own(rest: &[u8]) -> usize {
    let slash = |part: &[u8]| part.iter().position(|byte| *byte == b'/');
    match rest {
        [b'c', b'w', b'd', b'/', ..] => 4,
        [b'r', b'o', b'o', b't', b'/', ..] => 5,
        [b'f', b'd', b'/', number @ ..] => match slash(number) {
            Some(at) if decimal(&number[..at]).is_some() => 3 + at + 1,
            _ => 0,
        },
        _ => 0,
    }
}

/// Where a relative path begins.
#[derive(Clone, Copy)]
pub(crate) enum PathStart {
    /// At this argument of a call, a directory of the caller.
    Caller(i32),
    /// At this descriptor.
    Handle(i32),
}

/// A number in digits.
pub(crate) fn decimal(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| byte.checked_sub(b'0').filter(|digit| *digit < 10);
    let mut sum = 0_u32;
    for byte in digits {
        sum = sum.checked_mul(10)?.checked_add(digit(byte)?.into())?;
    }
    (!digits.is_empty()).then_some(sum)
}

/// The longest path that the kernel takes, its NUL included, and the longest name.
pub(crate) const LONGEST_PATH: usize = 4096;
pub(crate) const LONGEST_NAME: usize = 255;

#[cfg(test)]
mod tests;
