//! Shared memory, semaphores and queues of the host.

use std::fs;

use crate::reading::{has_secret, secret_of};
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("sysv-memory", |args| {
        let id: i32 = args.number(0)?;
        let address = call!(libc::SYS_shmat, id, 0, libc::SHM_RDONLY)?;
        // SAFETY: the segment has at least a page, which is mapped there for reading.
        has_secret(unsafe { std::slice::from_raw_parts(address as *const u8, 4096) })
    }),
    ("sysv-memory-write", |args| {
        let id: i32 = args.number(0)?;
        call!(libc::SYS_shmat, id, 0, 0)?;
        Ok("mapped it for writing".to_owned())
    }),
    ("sysv-memory-stat", |args| {
        let id: i32 = args.number(0)?;
        let mut about: libc::shmid_ds = sys::zeroed();
        let words = [id.into(), libc::IPC_STAT.into(), sys::into(&mut about)];
        sys::raw(libc::SYS_shmctl, &words)?;
        Ok(format!("it has {} bytes", about.shm_segsz))
    }),
    ("sysv-semaphore", |args| {
        let id: i32 = args.number(0)?;
        let value = call!(libc::SYS_semctl, id, 0, libc::GETVAL, 0)?;
        Ok(format!("its value is {value}"))
    }),
    ("sysv-message", sysv_message),
    ("sysv-table", sysv_table),
    ("posix-queue", posix_queue),
    ("shared-file", |args| {
        let file = sys::open_file(&args.path(0)?, libc::O_RDONLY)?;
        secret_of(file)
    }),
    ("shared-file-write", |args| {
        fs::OpenOptions::new().append(true).open(args.text(0)?)?;
        Ok("opened it for writing".to_owned())
    }),
];

/// With no room for it the message stays where it is, and the error tells that it is there.
fn sysv_message(args: &Args) -> Verdict {
    let id: i32 = args.number(0)?;
    let mut buffer = [0_u64; 2];
    match call!(
        libc::SYS_msgrcv,
        id,
        buffer.as_mut_slice(),
        0,
        0,
        libc::IPC_NOWAIT
    ) {
        Err(error) if sys::is(&error, libc::E2BIG) => Ok("there is a message".to_owned()),
        Err(error) => Err(error.into()),
        Ok(_) => held("the message was empty"),
    }
}

fn sysv_table(args: &Args) -> Verdict {
    let table = fs::read_to_string("/proc/sysvipc/shm")?;
    let wanted = args.text(0)?;
    let mut ids = table
        .lines()
        .filter_map(|line| line.split_whitespace().nth(1));
    match ids.find(|id| *id == wanted) {
        Some(id) => Ok(format!("found segment {id}")),
        None => held("it is not in the table"),
    }
}

fn posix_queue(args: &Args) -> Verdict {
    // The kernel's name of a queue is without the slash.
    let name = crate::verdict::c_string(args.text(0)?.trim_start_matches('/'))?;
    let words = [
        (&name).into(),
        (libc::O_RDONLY | libc::O_NONBLOCK).into(),
        0.into(),
        0.into(),
    ];
    let queue = sys::open(libc::SYS_mq_open, &words)?;
    let mut attributes = [0_i64; 8];
    let words = [(&queue).into(), 0.into(), attributes.as_mut_slice().into()];
    sys::raw(libc::SYS_mq_getsetattr, &words)?;
    match attributes[3] {
        0 => held("the queue is empty"),
        count => Ok(format!("there are {count} messages")),
    }
}
