//! Parts of the kernel that ordinary tools do not need, and in which most of its flaws are found.
//!
//! What would change the machine is asked with arguments that the kernel refuses only after it has found
//! that the caller may ask.

use std::ffi::c_int;
use std::io;

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("bpf", |_| {
        const MAP_CREATE: i32 = 0;
        const ARRAY: u32 = 2;
        // Type, size of a key, size of a value, number of entries.
        let attributes = [ARRAY, 4, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        let length = size_of_val(&attributes);
        let words = [
            MAP_CREATE.into(),
            attributes.as_slice().into(),
            length.into(),
        ];
        sys::open(libc::SYS_bpf, &words)?;
        Ok("made a map".to_owned())
    }),
    ("perf", perf),
    ("userfaultfd", |_| {
        const USER_MODE_ONLY: i32 = 1;
        sys::open(libc::SYS_userfaultfd, &[USER_MODE_ONLY.into()])?;
        Ok("may delay the kernel's accesses".to_owned())
    }),
    ("io-uring", |_| {
        let mut parameters = [0_u32; 30];
        let words = [2.into(), parameters.as_mut_slice().into()];
        sys::open(libc::SYS_io_uring_setup, &words)?;
        Ok("has a ring, past the filter of system calls".to_owned())
    }),
    ("memfd", |_| {
        sys::open(libc::SYS_memfd_create, &[c"x".into(), 0.into()])?;
        Ok("has a file that no rule sees".to_owned())
    }),
    ("memfd-secret", |_| {
        sys::open(libc::SYS_memfd_secret, &[0.into()])?;
        Ok("has memory that the host cannot see".to_owned())
    }),
    ("calls-of-32-bit", calls_of_32_bit),
    ("calls-of-x32", calls_of_x32),
    ("personality", |_| {
        const READ_IMPLIES_EXEC: u64 = 0x0040_0000;
        call!(libc::SYS_personality, READ_IMPLIES_EXEC)?;
        Ok("all it reads can be executed".to_owned())
    }),
    ("add-key", |_| {
        const PROCESS_KEYRING: i32 = -2;
        let value = b"x".as_slice();
        call!(
            libc::SYS_add_key,
            c"user",
            c"jig",
            value,
            value.len(),
            PROCESS_KEYRING
        )?;
        Ok("made a key".to_owned())
    }),
    ("request-key", |_| {
        // A key that nobody has: the kernel looks for it, and may run a program of the host to make it.
        match call!(libc::SYS_request_key, c"user", c"jig-no-such-key", 0, 0) {
            Err(error) if sys::is(&error, libc::ENOKEY) => Ok("asked for a key".to_owned()),
            Err(error) => Err(error.into()),
            Ok(_) => Ok("got a key".to_owned()),
        }
    }),
    ("session-keyring", |_| {
        const GET_KEYRING_ID: i32 = 0;
        const USER_KEYRING: i32 = -4;
        let id = call!(libc::SYS_keyctl, GET_KEYRING_ID, USER_KEYRING, 1)?;
        Ok(format!("has keyring {id}"))
    }),
    ("kexec", |_| {
        const NO_SUCH_FLAG: u64 = 1 << 40;
        refused_late(
            call!(libc::SYS_kexec_load, 0, 0, 0, NO_SUCH_FLAG),
            &[libc::EINVAL],
        )
    }),
    ("reboot", |_| {
        const NOT_MAGIC: u32 = 1;
        refused_late(
            call!(libc::SYS_reboot, NOT_MAGIC, NOT_MAGIC, 0, 0),
            &[libc::EINVAL],
        )
    }),
    ("load-module", |_| {
        const NO_FILE: c_int = -1;
        let late = [libc::EBADF, libc::EINVAL, libc::ENOEXEC];
        refused_late(call!(libc::SYS_finit_module, NO_FILE, c"", 0), &late)
    }),
    ("unload-module", |_| {
        let name = c"jig_no_such_module";
        refused_late(
            call!(libc::SYS_delete_module, name, libc::O_NONBLOCK),
            &[libc::ENOENT],
        )
    }),
    ("swap-on", |_| {
        let nothing = c"/jig-no-such-file";
        refused_late(call!(libc::SYS_swapon, nothing, 0), &[libc::ENOENT])
    }),
    ("swap-off", |_| {
        let nothing = c"/jig-no-such-file";
        refused_late(call!(libc::SYS_swapoff, nothing), &[libc::ENOENT])
    }),
    ("account", |_| {
        let nothing = c"/jig-no-such-file";
        refused_late(call!(libc::SYS_acct, nothing), &[libc::ENOENT])
    }),
    ("set-clock", |_| {
        const REALTIME: i32 = 0;
        let mut clock: libc::timex = sys::zeroed();
        sys::raw(
            libc::SYS_clock_adjtime,
            &[REALTIME.into(), sys::into(&mut clock)],
        )?;
        // To the present length of a tick: what counts is that it is allowed.
        clock.modes = libc::ADJ_TICK;
        sys::raw(
            libc::SYS_clock_adjtime,
            &[REALTIME.into(), sys::into(&mut clock)],
        )?;
        Ok("may set the clock".to_owned())
    }),
    ("io-ports", io_ports),
    ("segment-table", segment_table),
    ("quota", |_| {
        const GET_FORMAT: u32 = 0x0080_0004 << 8;
        let late = [libc::ENOENT, libc::ENODEV, libc::ENOTBLK, libc::ESRCH];
        refused_late(
            call!(libc::SYS_quotactl, GET_FORMAT, c"/jig-no-such-device", 0, 0),
            &late,
        )
    }),
    ("file-handle", |_| {
        let mut handle = [0_u32; 40];
        handle[0] = 128;
        let mut mount = 0;
        let words = [
            libc::AT_FDCWD.into(),
            c"/".into(),
            handle.as_mut_slice().into(),
            sys::into(&mut mount),
            0.into(),
        ];
        sys::raw(libc::SYS_name_to_handle_at, &words)?;
        Ok("has a name for a file that no path rule sees".to_owned())
    }),
    ("unknown-call", |_| {
        // Far above every call that there is: it must be answered, not fatal.
        const NUMBER: i64 = 0x3ff;
        match call!(NUMBER) {
            Err(error) if sys::is(&error, libc::ENOSYS) => held("there is no such call"),
            Err(error) => held(error.to_string()),
            Ok(_) => Ok("an unknown call did something".to_owned()),
        }
    }),
    ("listmount", |_| {
        // Tells of mounts by number, also of those that no path shows.
        const SYS_LISTMOUNT: i64 = 458;
        const ROOT: u64 = u64::MAX;
        // Size, spare, mount, parameter.
        let request = [24_u64, ROOT, 0];
        let mut found = [0_u64; 64];
        let words = [
            request.as_slice().into(),
            found.as_mut_slice().into(),
            64.into(),
            0.into(),
        ];
        let count = sys::raw(SYS_LISTMOUNT, &words)?;
        Ok(format!("knows {count} mounts"))
    }),
    ("handle-of-process", |_| {
        // Watching every process of the machine as it starts and ends.
        const CONNECTOR: i32 = 11;
        let words = [
            libc::AF_NETLINK.into(),
            libc::SOCK_DGRAM.into(),
            CONNECTOR.into(),
        ];
        sys::open(libc::SYS_socket, &words)?;
        Ok("may hear of all processes".to_owned())
    }),
];

/// The kernel looked at the arguments, so it had found that the caller may ask.
fn refused_late(result: io::Result<i64>, late: &[c_int]) -> Verdict {
    match result {
        Ok(_) => Ok("it was done".to_owned()),
        Err(error) if late.iter().any(|number| sys::is(&error, *number)) => {
            Ok(format!("only the arguments were wrong: {error}"))
        }
        Err(error) => Err(error.into()),
    }
}

/// Counts the time of this process by software, the least that there is.
fn perf(_: &Args) -> Verdict {
    const SOFTWARE: u32 = 1;
    const TASK_CLOCK: u64 = 1;
    const SIZE: u64 = 128;
    // `struct perf_event_attr`: type and size, what to count, and in the sixth word the flags, of which
    // the two here leave out the kernel and the hypervisor.
    let mut attributes = [0_u64; 16];
    attributes[0] = u64::from(SOFTWARE) | (SIZE << 32);
    attributes[1] = TASK_CLOCK;
    attributes[5] = (1 << 5) | (1 << 6);
    let words = [
        attributes.as_slice().into(),
        0.into(),
        (-1).into(),
        (-1).into(),
        0.into(),
    ];
    sys::open(libc::SYS_perf_event_open, &words)?;
    Ok("measures".to_owned())
}

/// `getpid` by the old gate, whose numbers mean other calls: a filter that looks at numbers alone is
/// deceived.
#[cfg(target_arch = "x86_64")]
fn calls_of_32_bit(_: &Args) -> Verdict {
    const GETPID: u32 = 20;
    let code = sys::in_child(|| {
        let result: i32;
        // SAFETY: the call takes no arguments and writes nothing; the gate clobbers what is declared.
        unsafe {
            std::arch::asm!(
                "int 0x80",
                inlateout("eax") GETPID => result,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _,
            );
        }
        i32::from(result <= 0)
    })?;
    match code {
        0 => Ok("made a call of 32 bits".to_owned()),
        code => held(format!("it ended with {code}")),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn calls_of_32_bit(_: &Args) -> Verdict {
    crate::verdict::untried("this architecture has no such gate")
}

/// `getpid` by its other number.
#[cfg(target_arch = "x86_64")]
fn calls_of_x32(_: &Args) -> Verdict {
    const X32: i64 = 0x4000_0000;
    let code = sys::in_child(|| match call!(X32 | libc::SYS_getpid) {
        Ok(_) => 0,
        Err(error) => error.raw_os_error().unwrap_or(1),
    })?;
    match code {
        0 => Ok("made a call of x32".to_owned()),
        libc::ENOSYS => held("there is no such call"),
        code => held(format!("it ended with {code}")),
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn calls_of_x32(_: &Args) -> Verdict {
    crate::verdict::untried("this architecture has no such numbers")
}

#[cfg(target_arch = "x86_64")]
fn io_ports(_: &Args) -> Verdict {
    call!(libc::SYS_iopl, 3).or_else(|_| call!(libc::SYS_ioperm, 0x80, 1, 1))?;
    Ok("may talk to devices".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn io_ports(_: &Args) -> Verdict {
    crate::verdict::untried("this architecture has no ports")
}

/// Reads the table of segments, whose code in the kernel is old and has had flaws.
#[cfg(target_arch = "x86_64")]
fn segment_table(_: &Args) -> Verdict {
    const WRITE: i32 = 0x11;
    // An entry that describes nothing: number, base, limit, flags "not present".
    let entry = [0_u32, 0, 0, 0x38];
    let length = size_of_val(&entry);
    call!(libc::SYS_modify_ldt, WRITE, entry.as_slice(), length)?;
    Ok("changed its segments".to_owned())
}

#[cfg(not(target_arch = "x86_64"))]
fn segment_table(_: &Args) -> Verdict {
    crate::verdict::untried("this architecture has no segments")
}
