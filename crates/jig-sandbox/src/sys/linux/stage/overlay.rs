//! Layers: overlayfs over directories of the host, by descriptors.

#![expect(unsafe_code, reason = "system calls take addresses")]

use core::ffi::CStr;
use core::ptr;

use super::calls;
use super::mounts::MountRestrictions;
use super::raw::{self, RawErrno, call};
use super::root::NewRoot;

/// What a layer is made of, as absolute paths of the host.
pub(crate) struct OverlayDirectories<'a> {
    pub(crate) lower: &'a CStr,
    pub(crate) upper: &'a CStr,
    pub(crate) work: &'a CStr,
}

/// A new overlayfs, attached nowhere.
///
/// All three directories are opened without following a link and named by their descriptors, which older
/// kernels cannot do (before Linux 6.15). There the lower one, in which tools write, is the working
/// directory and the other two, in which nobody but us does, are named by their paths.
pub(crate) fn new(
    root: &NewRoot,
    parts: &OverlayDirectories<'_>,
    attributes: MountRestrictions,
) -> Result<i32, RawErrno> {
    let lower = open(root, parts.lower)?;
    let made = match by_descriptors(root, lower, parts, attributes) {
        Err(RawErrno::NOSYS) => by_paths(lower, parts, attributes),
        result => result,
    };
    calls::close(lower);
    made
}

fn by_descriptors(
    root: &NewRoot,
    lower: i32,
    parts: &OverlayDirectories<'_>,
    attributes: MountRestrictions,
) -> Result<i32, RawErrno> {
    let upper = open(root, parts.upper)?;
    let made = open(root, parts.work).and_then(|work| {
        let made = mount(attributes, |context| {
            // Older kernels have several words for it, which also mean other things later on.
            set_descriptor(context, c"lowerdir+", lower).map_err(|_| RawErrno::NOSYS)?;
            set_descriptor(context, c"upperdir", upper)?;
            set_descriptor(context, c"workdir", work)
        });
        calls::close(work);
        made
    });
    calls::close(upper);
    made
}

fn by_paths(
    lower: i32,
    parts: &OverlayDirectories<'_>,
    attributes: MountRestrictions,
) -> Result<i32, RawErrno> {
    calls::enter_directory(lower)?;
    mount(attributes, |context| {
        set_string(context, c"lowerdir", c".")?;
        set_string(context, c"upperdir", parts.upper)?;
        set_string(context, c"workdir", parts.work)
    })
}

fn open(root: &NewRoot, path: &CStr) -> Result<i32, RawErrno> {
    let fd = root.source(path)?;
    match calls::facts(fd, c"") {
        Ok(facts) if facts.is_directory => Ok(fd),
        Ok(_) => {
            calls::close(fd);
            Err(RawErrno::NOTDIR)
        }
        Err(errno) => {
            calls::close(fd);
            Err(errno)
        }
    }
}

/// Makes it with what `set` says of its parts.
fn mount(
    attributes: MountRestrictions,
    set: impl FnOnce(i32) -> Result<(), RawErrno>,
) -> Result<i32, RawErrno> {
    const CLOSE_ON_EXEC: i32 = 1;
    // SAFETY: the kind is a live C string.
    let context = unsafe { call!(FSOPEN, c"overlay".as_ptr(), CLOSE_ON_EXEC) }? as i32;
    let made = (|| {
        // What it notes for itself are attributes that need no privilege. A tool that sets one of these
        // names sets another: the kernel sees to that.
        set_flag(context, c"userxattr")?;
        // The layer is read as soon as the tool has ended, by this machine, or not at all.
        set_flag(context, c"volatile")?;
        set_string(context, c"index", c"off")?;
        set(context)?;
        create(context)?;
        // SAFETY: the call takes no addresses.
        unsafe { call!(FSMOUNT, context, CLOSE_ON_EXEC, attributes.bits()) }
    })();
    calls::close(context);
    made.map(|fd| fd as i32)
}

fn set_flag(context: i32, key: &CStr) -> Result<(), RawErrno> {
    const SET_FLAG: i32 = 0;
    let nothing = ptr::null::<u8>();
    // SAFETY: the key is a live C string; this command reads no value.
    unsafe { call!(FSCONFIG, context, SET_FLAG, key.as_ptr(), nothing, 0) }.map(drop)
}

fn set_string(context: i32, key: &CStr, value: &CStr) -> Result<(), RawErrno> {
    const SET_STRING: i32 = 1;
    let (key, value) = (key.as_ptr(), value.as_ptr());
    // SAFETY: both are live C strings.
    unsafe { call!(FSCONFIG, context, SET_STRING, key, value, 0) }.map(drop)
}

fn set_descriptor(context: i32, key: &CStr, fd: i32) -> Result<(), RawErrno> {
    const SET_FD: i32 = 5;
    let nothing = ptr::null::<u8>();
    // SAFETY: the key is a live C string; this command reads no value.
    unsafe { call!(FSCONFIG, context, SET_FD, key.as_ptr(), nothing, fd) }.map(drop)
}

fn create(context: i32) -> Result<(), RawErrno> {
    const CREATE: i32 = 6;
    let nothing = ptr::null::<u8>();
    // SAFETY: this command reads no memory.
    unsafe { call!(FSCONFIG, context, CREATE, nothing, nothing, 0) }.map(drop)
}
