//! Mounts by descriptors: made or copied while attached nowhere, and then put in their place, so that no
//! path is walked twice.

#![expect(unsafe_code, reason = "system calls take addresses")]

use core::ffi::CStr;
use core::ptr;

use super::calls::close;
use super::raw::{self, RawErrno, call};

/// What a mount refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct MountRestrictions {
    pub(crate) read_only: bool,
    pub(crate) no_exec: bool,
    /// Devices work. They never do but in binds of single ones.
    pub(crate) dev: bool,
}

impl MountRestrictions {
    /// As the kernel codes them. Programs never change the user.
    pub(crate) fn bits(self) -> u64 {
        const READ_ONLY: u64 = 1;
        const NO_SUID: u64 = 2;
        const NO_DEV: u64 = 4;
        const NO_EXEC: u64 = 8;
        let bit = |set: bool, bit| if set { bit } else { 0 };
        NO_SUID
            | bit(self.read_only, READ_ONLY)
            | bit(!self.dev, NO_DEV)
            | bit(self.no_exec, NO_EXEC)
    }
}

/// A new file system of a kind, with parameters that are texts; attached nowhere.
pub(crate) fn new(
    kind: &CStr,
    parameters: &[(&CStr, &CStr)],
    attributes: MountRestrictions,
) -> Result<i32, RawErrno> {
    const CLOSE_ON_EXEC: i32 = 1;
    const SET_STRING: i32 = 1;
    const CREATE: i32 = 6;
    let nothing = ptr::null::<u8>();
    // SAFETY: the kind is a live C string.
    let context = unsafe { call!(FSOPEN, kind.as_ptr(), CLOSE_ON_EXEC) }? as i32;
    let made = (|| {
        for (key, value) in parameters {
            // SAFETY: both are live C strings.
            unsafe {
                call!(
                    FSCONFIG,
                    context,
                    SET_STRING,
                    key.as_ptr(),
                    value.as_ptr(),
                    0
                )
            }?;
        }
        // SAFETY: this command reads no memory.
        unsafe { call!(FSCONFIG, context, CREATE, nothing, nothing, 0) }?;
        // SAFETY: the call takes no addresses.
        unsafe { call!(FSMOUNT, context, CLOSE_ON_EXEC, attributes.bits()) }
    })();
    close(context);
    made.map(|fd| fd as i32)
}

/// A copy of what a descriptor shows, with what is mounted below it; attached nowhere.
pub(crate) fn copy(fd: i32) -> Result<i32, RawErrno> {
    const CLONE: i32 = 1;
    const CLOSE_ON_EXEC: i32 = 0o2_000_000;
    let flags = CLONE | CLOSE_ON_EXEC | RECURSIVE | EMPTY_PATH;
    // SAFETY: the path is a live C string.
    unsafe { call!(OPEN_TREE, fd, c"".as_ptr(), flags) }.map(|fd| fd as i32)
}

/// Adds attributes to a mount and all below it, and cuts them off from the mounts they were copied from:
/// what the host mounts later would come without these attributes.
pub(crate) fn restrict(fd: i32, attributes: MountRestrictions) -> Result<(), RawErrno> {
    set(fd, attributes.bits(), PRIVATE, RECURSIVE)
}

/// Gives a mount and all below it just these attributes, whatever they had.
pub(crate) fn renew(fd: i32, attributes: MountRestrictions) -> Result<(), RawErrno> {
    let all = MountRestrictions {
        read_only: true,
        no_exec: true,
        dev: false,
    };
    // What is taken away first may be set again by the same call.
    change(fd, attributes.bits(), all.bits(), PRIVATE, RECURSIVE)
}

/// Makes one mount read-only, and none below it.
pub(crate) fn make_read_only(fd: i32) -> Result<(), RawErrno> {
    let attributes = MountRestrictions {
        read_only: true,
        ..MountRestrictions::default()
    };
    set(fd, attributes.bits(), 0, 0)
}

fn set(fd: i32, bits: u64, propagation: u64, flags: i32) -> Result<(), RawErrno> {
    change(fd, bits, 0, propagation, flags)
}

fn change(fd: i32, set: u64, clear: u64, propagation: u64, flags: i32) -> Result<(), RawErrno> {
    // `struct mount_attr`: what to set, what to clear, the propagation, a user namespace.
    let attributes = [set, clear, propagation, 0];
    // SAFETY: the path is a live C string, the attributes a live local of the size that is given.
    unsafe {
        call!(
            MOUNT_SETATTR,
            fd,
            c"".as_ptr(),
            EMPTY_PATH | flags,
            attributes.as_ptr(),
            size_of_val(&attributes)
        )
    }
    .map(drop)
}

/// Puts a mount that is attached nowhere onto what a descriptor shows.
pub(crate) fn attach(mount: i32, target: i32) -> Result<(), RawErrno> {
    const BOTH_BY_DESCRIPTOR: i32 = 0x04 | 0x40;
    let here = c"".as_ptr();
    // SAFETY: the paths are live C strings.
    unsafe { call!(MOVE_MOUNT, mount, here, target, here, BOTH_BY_DESCRIPTOR) }.map(drop)
}

/// Makes the working directory, which is the root of a mount, the root of all; detaches the old one.
pub(crate) fn enter_as_root() -> Result<(), RawErrno> {
    const DETACH: i32 = 2;
    let here = c".".as_ptr();
    // The old root comes to lie on the new one, where the working directory stays beneath it.
    // SAFETY: the paths are live C strings.
    unsafe { call!(PIVOT_ROOT, here, here) }?;
    // SAFETY: the path is a live C string.
    unsafe { call!(UMOUNT2, here, DETACH) }.map(drop)
}

/// Mounts a `/proc` that shows the process namespace of this process, where no mount can reach the host.
pub(crate) fn renew_proc() -> Result<(), RawErrno> {
    const SLAVE_ALL: usize = 1 << 19 | 1 << 14;
    const NO_SUID_DEV_EXEC: usize = 2 | 4 | 8;
    let nothing = ptr::null::<u8>();
    // SAFETY: the path is a live C string; for a change of propagation nothing else is read.
    unsafe { call!(MOUNT, nothing, c"/".as_ptr(), nothing, SLAVE_ALL, nothing) }?;
    let kind = c"proc".as_ptr();
    // SAFETY: kind, which is also the source's name, and path are live C strings.
    unsafe {
        call!(
            MOUNT,
            kind,
            c"/proc".as_ptr(),
            kind,
            NO_SUID_DEV_EXEC,
            nothing
        )
    }
    .map(drop)
}

const EMPTY_PATH: i32 = 0x1000;
const RECURSIVE: i32 = 0x8000;
const PRIVATE: u64 = 1 << 18;
