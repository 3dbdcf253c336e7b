//! Using up the machine. Each is told how much is too much.

use std::ffi::c_int;
use std::fs;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;
use std::thread;
use std::time::{Duration, Instant};

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict, held};

pub(crate) const PROGRAMS: &[Program] = &[
    ("processes", |args| {
        let wanted: usize = args.number(0)?;
        many_children(wanted, || {
            sys::pause_for(20_000);
            0
        })
    }),
    ("zombies", |args| many_children(args.number(0)?, || 0)),
    ("processes-in-sessions", |args| {
        many_children(args.number(0)?, || {
            let _ = call!(libc::SYS_setsid);
            sys::pause_for(20_000);
            0
        })
    }),
    ("threads", threads),
    ("memory", |args| {
        let bytes = args.number(0)?;
        touch(bytes)?;
        hold(bytes)
    }),
    ("memory-of-many", memory_of_many),
    ("memory-by-brk", |args| {
        let bytes: i64 = args.number(0)?;
        let start = call!(libc::SYS_brk, 0)?;
        if call!(libc::SYS_brk, start + bytes)? != start + bytes {
            return held("the heap does not grow");
        }
        touch_all(start as *mut u8, bytes as usize);
        hold(bytes as usize)
    }),
    ("memory-shared", |args| {
        let bytes: usize = args.number(0)?;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let kind = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        let address = call!(libc::SYS_mmap, 0, bytes, protection, kind, -1, 0)?;
        touch_all(address as *mut u8, bytes);
        hold(bytes)
    }),
    ("memory-in-file", memory_in_file),
    ("memory-in-deleted-files", memory_in_deleted_files),
    ("memory-in-memfd", |args| {
        let bytes: usize = args.number(0)?;
        let file = sys::open(libc::SYS_memfd_create, &[c"x".into(), 0.into()])?;
        fill(&mut fs::File::from(file), bytes)?;
        hold(bytes)
    }),
    ("memory-in-segments", memory_in_segments),
    ("memory-in-messages", memory_in_messages),
    ("memory-in-semaphores", memory_in_semaphores),
    ("memory-in-names", memory_in_names),
    ("memory-in-page-tables", |args| {
        // A page of zeros is mapped again and again, which costs no memory but that of the tables.
        const STRIDE: usize = 2 << 20;
        let tables: usize = args.number(0)?;
        let bytes = tables / PAGE * STRIDE;
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        let address = call!(libc::SYS_mmap, 0, bytes, libc::PROT_READ, kind, -1, 0)?;
        call!(libc::SYS_madvise, address, bytes, libc::MADV_NOHUGEPAGE)?;
        for offset in (0..bytes).step_by(STRIDE) {
            // SAFETY: that many bytes are mapped there for reading.
            unsafe { (address as *const u8).add(offset).read_volatile() };
        }
        hold(tables)
    }),
    ("memory-in-pipes", memory_in_pipes),
    ("memory-in-sockets", memory_in_sockets),
    ("file-size", |args| {
        let bytes: u64 = args.number(1)?;
        let mut file = fs::File::create(args.text(0)?)?;
        io::Seek::seek(&mut file, io::SeekFrom::Start(bytes))?;
        file.write_all(b"x")?;
        Ok(format!("wrote a file of {bytes} bytes"))
    }),
    ("file-size-by-truncate", |args| {
        let bytes: u64 = args.number(1)?;
        fs::File::create(args.text(0)?)?.set_len(bytes)?;
        Ok(format!("made a file of {bytes} bytes"))
    }),
    ("descriptors", |args| {
        let wanted: usize = args.number(0)?;
        let mut files = Vec::new();
        while files.len() < wanted {
            files.push(sys::open_file(c"/dev/null", libc::O_RDONLY)?);
        }
        Ok(format!("opened {wanted} files"))
    }),
    ("raise-limit", |args| {
        let resource: u32 = args.number(0)?;
        let wanted = libc::rlimit64 {
            rlim_cur: args.number(1)?,
            rlim_max: args.number(1)?,
        };
        let words = [0.into(), resource.into(), sys::at(&wanted), 0.into()];
        sys::raw(libc::SYS_prlimit64, &words)?;
        Ok("raised its own limit".to_owned())
    }),
    ("raise-priority", |_| {
        const PROCESS: i32 = 0;
        call!(libc::SYS_setpriority, PROCESS, 0, -5)?;
        Ok("goes before others".to_owned())
    }),
    ("real-time", |_| {
        let first = 1_i32;
        let words = [0.into(), libc::SCHED_FIFO.into(), sys::at(&first)];
        sys::raw(libc::SYS_sched_setscheduler, &words)?;
        Ok("goes before everybody".to_owned())
    }),
    ("spare-from-killer", |_| {
        fs::write("/proc/self/oom_score_adj", "-500")?;
        Ok("others are killed first when memory runs out".to_owned())
    }),
    ("leave-core", |args| {
        // An image of its memory, left where others can read it.
        let code = sys::in_child(|| {
            let _ = std::env::set_current_dir(args.text(0).unwrap_or("."));
            // SAFETY: `abort` has no preconditions.
            unsafe { libc::abort() }
        })?;
        let mut limit: libc::rlimit64 = sys::zeroed();
        let words = [
            0.into(),
            libc::RLIMIT_CORE.into(),
            0.into(),
            sys::into(&mut limit),
        ];
        sys::raw(libc::SYS_prlimit64, &words)?;
        match limit.rlim_max {
            0 => held(format!("it ended with {code}, and left none")),
            most => Ok(format!("may leave images of {most} bytes")),
        }
    }),
];

/// How long what was taken is kept: longer than any watcher sleeps.
const HOLD: Duration = Duration::from_millis(900);

fn hold(bytes: usize) -> Verdict {
    thread::sleep(HOLD);
    Ok(format!("held {bytes} bytes"))
}

const PAGE: usize = 4096;

/// Takes memory, and writes to each page of it, so that it is really there.
fn touch(bytes: usize) -> io::Result<()> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    let address = call!(libc::SYS_mmap, 0, bytes, protection, kind, -1, 0)?;
    touch_all(address as *mut u8, bytes);
    Ok(())
}

fn touch_all(start: *mut u8, bytes: usize) {
    for offset in (0..bytes).step_by(PAGE) {
        // SAFETY: the callers have mapped that many bytes there for writing.
        unsafe { start.add(offset).write_volatile(1) };
    }
}

/// Starts children that all run `body`, and ends them again.
fn many_children(wanted: usize, body: impl Fn() -> i32) -> Verdict {
    let mut children: Vec<c_int> = Vec::new();
    let mut refusal = None;
    while children.len() < wanted {
        match sys::fork(&body) {
            Ok(child) => children.push(child),
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
    }
    let count = children.len();
    for child in children {
        let _ = call!(libc::SYS_kill, child, libc::SIGKILL);
        let _ = sys::wait(child);
    }
    match refusal {
        None => Ok(format!("had {count} processes")),
        Some(error) => held(format!("{error} after {count}")),
    }
}

fn threads(args: &Args) -> Verdict {
    let wanted: usize = args.number(0)?;
    let mut all = Vec::new();
    while all.len() < wanted {
        let builder = thread::Builder::new().stack_size(1 << 16);
        match builder.spawn(thread::park) {
            Ok(thread) => all.push(thread),
            Err(error) => return held(format!("{error} after {}", all.len())),
        }
    }
    Ok(format!("had {wanted} threads"))
}

/// Each child stays below what one process may have; together they are above.
fn memory_of_many(args: &Args) -> Verdict {
    let (count, bytes): (usize, usize) = (args.number(0)?, args.number(1)?);
    let mut children = Vec::new();
    for _ in 0..count {
        children.push(sys::fork(|| match touch(bytes).map(|()| hold(bytes)) {
            Ok(_) => 0,
            Err(_) => 1,
        })?);
    }
    let mut whole = 0;
    for child in children {
        whole += usize::from(sys::wait(child)? == 0);
    }
    if whole == count {
        return Ok(format!("{count} processes held {bytes} bytes each"));
    }
    held(format!("only {whole} of {count} got their memory"))
}

fn fill(file: &mut fs::File, bytes: usize) -> io::Result<()> {
    let block = vec![1_u8; 1 << 20];
    for _ in 0..bytes.div_ceil(block.len()) {
        file.write_all(&block)?;
    }
    Ok(())
}

/// Files in memory, each below what a file may have; together too much. They are removed in the end.
fn memory_in_file(args: &Args) -> Verdict {
    in_files(args, false)
}

/// The same, but they have no name any more, so that nobody finds them.
fn memory_in_deleted_files(args: &Args) -> Verdict {
    in_files(args, true)
}

fn in_files(args: &Args, nameless: bool) -> Verdict {
    const EACH: usize = 8 << 20;
    let (directory, bytes): (&str, usize) = (args.text(0)?, args.number(1)?);
    let mut files = Vec::new();
    let mut result = Ok(());
    for number in 0..bytes.div_ceil(EACH) {
        let path = format!("{directory}/jig-hostile-{}-{number}", std::process::id());
        let mut file = fs::File::create(&path)?;
        if nameless {
            fs::remove_file(&path)?;
        }
        result = fill(&mut file, EACH);
        files.push((path, file));
        if result.is_err() {
            break;
        }
    }
    let verdict = match result {
        Ok(()) => hold(bytes),
        Err(error) => Err(error.into()),
    };
    for (path, _) in files.iter().filter(|_| !nameless) {
        fs::remove_file(path)?;
    }
    verdict
}

/// Segments of System V, which nobody has mapped any more and which stay all the same.
fn memory_in_segments(args: &Args) -> Verdict {
    const EACH: usize = 16 << 20;
    let bytes: usize = args.number(0)?;
    let mut segments = Vec::new();
    let mut result = Ok(());
    for _ in 0..bytes.div_ceil(EACH) {
        result = segment(EACH).map(|id| segments.push(id));
        if result.is_err() {
            break;
        }
    }
    let verdict = match result {
        Ok(()) => hold(bytes),
        Err(error) => Err(error.into()),
    };
    for id in segments {
        let _ = call!(libc::SYS_shmctl, id, libc::IPC_RMID, 0);
    }
    verdict
}

fn segment(bytes: usize) -> io::Result<i64> {
    let id = call!(
        libc::SYS_shmget,
        libc::IPC_PRIVATE,
        bytes,
        libc::IPC_CREAT | 0o600
    )?;
    let address = call!(libc::SYS_shmat, id, 0, 0);
    if let Ok(address) = address {
        touch_all(address as *mut u8, bytes);
        call!(libc::SYS_shmdt, address)?;
    }
    address.map(|_| id)
}

/// Messages that nobody receives.
fn memory_in_messages(args: &Args) -> Verdict {
    const EACH: usize = 8192;
    let bytes: usize = args.number(0)?;
    let message = [1_u64; 1 + EACH / 8];
    let (mut queues, mut sent) = (Vec::new(), 0);
    let mut refusal = None;
    while sent < bytes && refusal.is_none() {
        match call!(libc::SYS_msgget, libc::IPC_PRIVATE, libc::IPC_CREAT | 0o600) {
            Ok(queue) => queues.push(queue),
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
        let Some(queue) = queues.last().copied() else {
            break;
        };
        while call!(
            libc::SYS_msgsnd,
            queue,
            message.as_slice(),
            EACH,
            libc::IPC_NOWAIT
        )
        .is_ok()
        {
            sent += EACH;
        }
    }
    let verdict = match refusal {
        None => hold(sent),
        Some(error) => held(format!("{error} after {sent} bytes")),
    };
    for queue in queues {
        let _ = call!(
            libc::SYS_msgctl,
            queue,
            libc::IPC_RMID,
            ptr::null::<u8>() as usize
        );
    }
    verdict
}

/// Sets of semaphores, which cost the kernel some bytes each.
fn memory_in_semaphores(args: &Args) -> Verdict {
    const EACH: usize = 32_000;
    const COST: usize = 64;
    let bytes: usize = args.number(0)?;
    let mut sets = Vec::new();
    let mut refusal = None;
    for _ in 0..bytes.div_ceil(EACH * COST) {
        match call!(
            libc::SYS_semget,
            libc::IPC_PRIVATE,
            EACH,
            libc::IPC_CREAT | 0o600
        ) {
            Ok(set) => sets.push(set),
            Err(error) => {
                refusal = Some(error);
                break;
            }
        }
    }
    let count = sets.len();
    let verdict = match refusal {
        None => hold(bytes),
        Some(error) => held(format!("{error} after {count} sets")),
    };
    for set in sets {
        let _ = call!(libc::SYS_semctl, set, 0, libc::IPC_RMID, 0);
    }
    verdict
}

/// Empty files in memory: only their names and what is known about them costs something.
fn memory_in_names(args: &Args) -> Verdict {
    let (directory, count): (&str, usize) = (args.text(0)?, args.number(1)?);
    let place = format!("{directory}/jig-hostile-{}", std::process::id());
    fs::create_dir(&place)?;
    let mut made = 0;
    let refusal = loop {
        if made == count {
            break None;
        }
        let name = crate::verdict::c_string(format!("{place}/{made}"))?;
        match call!(
            libc::SYS_mknodat,
            libc::AT_FDCWD,
            &name,
            libc::S_IFREG | 0o600,
            0
        ) {
            Ok(_) => made += 1,
            Err(error) => break Some(error),
        }
    };
    let verdict = match refusal {
        None => Ok(format!("made {made} files")),
        Some(error) => held(format!("{error} after {made} files")),
    };
    fs::remove_dir_all(place)?;
    verdict
}

/// Full pipes that nobody reads.
fn memory_in_pipes(args: &Args) -> Verdict {
    const EACH: usize = 1 << 20;
    let bytes: usize = args.number(0)?;
    let block = vec![1_u8; EACH];
    let (mut pipes, mut stored) = (Vec::new(), 0);
    let mut idle = 0;
    while stored < bytes && idle < 64 {
        let Ok((reader, writer)) = io::pipe() else {
            break;
        };
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let _ = call!(libc::SYS_fcntl, &writer, libc::F_SETPIPE_SZ, EACH);
        let _ = call!(libc::SYS_fcntl, &writer, libc::F_SETFL, libc::O_NONBLOCK);
        let written = call!(libc::SYS_write, &writer, block.as_slice(), EACH).unwrap_or(0);
        idle = if written < 65_536 { idle + 1 } else { 0 };
        stored += written as usize;
        pipes.push((reader, writer));
    }
    if stored < bytes {
        return held(format!("{stored} bytes in {} pipes", pipes.len()));
    }
    hold(stored)
}

/// Full sockets that nobody reads.
fn memory_in_sockets(args: &Args) -> Verdict {
    let bytes: usize = args.number(0)?;
    let block = vec![1_u8; 1 << 16];
    let (mut sockets, mut stored) = (Vec::new(), 0_usize);
    let start = Instant::now();
    while stored < bytes && start.elapsed() < Duration::from_secs(3) {
        let Ok((one, other)) = std::os::unix::net::UnixStream::pair() else {
            break;
        };
        one.set_nonblocking(true)?;
        let most = i32::MAX;
        let words = [
            one.as_raw_fd().into(),
            libc::SOL_SOCKET.into(),
            libc::SO_SNDBUF.into(),
            sys::at(&most),
            size_of::<c_int>().into(),
        ];
        let _ = sys::raw(libc::SYS_setsockopt, &words);
        while let Ok(written) = (&one).write(&block) {
            stored += written;
        }
        sockets.push((one, other));
    }
    if stored < bytes {
        return held(format!("{stored} bytes in {} sockets", sockets.len()));
    }
    hold(stored)
}
