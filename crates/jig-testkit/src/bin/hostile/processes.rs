//! Other processes: a victim of the same user, and the parent, which in confinement is the keeper.

use std::ffi::c_int;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsRawFd;
use std::os::unix::process::parent_id;
use std::process::ExitCode;

use jig_testkit::MARK;

use crate::reading::{has_secret, secret_in, secret_of};
use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Stopped, Verdict, c_string, held, untried};

pub(crate) const PROGRAMS: &[Program] = &[
    ("signal", |args| {
        call!(libc::SYS_kill, pid(args)?, libc::SIGCONT)?;
        Ok("sent a signal".to_owned())
    }),
    ("signal-thread", |args| {
        call!(libc::SYS_tgkill, pid(args)?, pid(args)?, libc::SIGCONT)?;
        Ok("sent a signal".to_owned())
    }),
    ("signal-queued", |args| {
        let mut info: libc::siginfo_t = sys::zeroed();
        info.si_code = libc::SI_QUEUE;
        let words = [
            pid(args)?.into(),
            libc::SIGCONT.into(),
            sys::into(&mut info),
        ];
        sys::raw(libc::SYS_rt_sigqueueinfo, &words)?;
        Ok("sent a signal".to_owned())
    }),
    ("signal-by-pidfd", |args| {
        let process = sys::open(libc::SYS_pidfd_open, &[pid(args)?.into(), 0.into()])?;
        call!(libc::SYS_pidfd_send_signal, &process, libc::SIGCONT, 0, 0)?;
        Ok("sent a signal".to_owned())
    }),
    ("signal-by-owner", signal_by_owner),
    ("signal-all", |_| {
        // Signal 0 reaches nobody, and fails if there is nobody.
        call!(libc::SYS_kill, -1, 0)?;
        Ok("there are others to be signalled".to_owned())
    }),
    ("signal-parent", |_| {
        call!(libc::SYS_kill, parent_id(), 0)?;
        Ok("may signal its parent".to_owned())
    }),
    ("ptrace", |args| {
        const PTRACE_SEIZE: i32 = 0x4206;
        call!(libc::SYS_ptrace, PTRACE_SEIZE, pid(args)?, 0, 0)?;
        Ok("traces it".to_owned())
    }),
    ("ptrace-parent", |_| {
        const PTRACE_SEIZE: i32 = 0x4206;
        call!(libc::SYS_ptrace, PTRACE_SEIZE, parent_id(), 0, 0)?;
        Ok("traces its parent".to_owned())
    }),
    ("ptrace-child", ptrace_child),
    ("read-memory", |args| {
        memory(args, libc::SYS_process_vm_readv)
    }),
    ("write-memory", |args| {
        memory(args, libc::SYS_process_vm_writev)
    }),
    ("take-descriptor", take_descriptor),
    ("prlimit", |args| {
        let mut old: libc::rlimit64 = sys::zeroed();
        let words = [
            pid(args)?.into(),
            libc::RLIMIT_CORE.into(),
            0.into(),
            sys::into(&mut old),
        ];
        sys::raw(libc::SYS_prlimit64, &words)?;
        let words = [
            pid(args)?.into(),
            libc::RLIMIT_CORE.into(),
            sys::at(&old),
            0.into(),
        ];
        sys::raw(libc::SYS_prlimit64, &words)?;
        Ok("set a limit of it".to_owned())
    }),
    ("set-priority", |args| {
        const PROCESS: i32 = 0;
        call!(libc::SYS_setpriority, PROCESS, pid(args)?, 1)?;
        Ok("set its priority".to_owned())
    }),
    ("set-io-priority", |args| {
        const PROCESS: i32 = 1;
        const BEST_EFFORT: i32 = (2 << 13) | 4;
        call!(libc::SYS_ioprio_set, PROCESS, pid(args)?, BEST_EFFORT)?;
        Ok("set its priority".to_owned())
    }),
    ("set-affinity", |args| {
        let mut set: libc::cpu_set_t = sys::zeroed();
        let size = size_of::<libc::cpu_set_t>();
        let words = [pid(args)?.into(), size.into(), sys::into(&mut set)];
        sys::raw(libc::SYS_sched_getaffinity, &words)?;
        let words = [pid(args)?.into(), size.into(), sys::at(&set)];
        sys::raw(libc::SYS_sched_setaffinity, &words)?;
        Ok("set its processors".to_owned())
    }),
    ("set-scheduler", |args| {
        let param: libc::sched_param = sys::zeroed();
        let words = [pid(args)?.into(), libc::SCHED_OTHER.into(), sys::at(&param)];
        sys::raw(libc::SYS_sched_setscheduler, &words)?;
        Ok("set how it is scheduled".to_owned())
    }),
    ("compare", |args| {
        const FILES: i32 = 2;
        call!(libc::SYS_kcmp, pid(args)?, pid(args)?, FILES, 0, 0)?;
        Ok("compared its resources".to_owned())
    }),
    ("robust-list", |args| {
        let (mut head, mut length) = (0_u64, 0_u64);
        let words = [
            pid(args)?.into(),
            sys::into(&mut head),
            sys::into(&mut length),
        ];
        sys::raw(libc::SYS_get_robust_list, &words)?;
        Ok("read an address of it".to_owned())
    }),
    ("move-pages", |args| {
        let nothing: &[u64] = &[];
        call!(libc::SYS_move_pages, pid(args)?, 0, nothing, 0, nothing, 0)?;
        Ok("may move its memory".to_owned())
    }),
    ("session-of", |args| {
        let session = call!(libc::SYS_getsid, pid(args)?)?;
        Ok(format!("it is in session {session}"))
    }),
    ("proc-file", |args| {
        has_secret(&fs::read(format!(
            "/proc/{}/{}",
            args.text(0)?,
            args.text(1)?
        ))?)
    }),
    ("proc-any", |args| {
        // Nothing of a process of the host may be seen at all.
        let bytes = fs::read(format!("/proc/{}/{}", args.text(0)?, args.text(1)?))?;
        match bytes.len() {
            0 => held("it is empty"),
            length => Ok(format!("read {length} bytes")),
        }
    }),
    ("proc-memory", proc_memory),
    ("proc-descriptor", |args| {
        secret_in(&c_string(format!(
            "/proc/{}/fd/{}",
            args.text(0)?,
            args.text(1)?
        ))?)
    }),
    ("proc-scan", proc_scan),
    ("proc-write", |args| {
        let path = c_string(format!("/proc/{}/{}", args.text(0)?, args.text(1)?))?;
        sys::open_file(&path, libc::O_WRONLY)?;
        Ok("opened it for writing".to_owned())
    }),
    ("parent-environment", |_| {
        has_secret(&fs::read(of_parent("environ"))?)
    }),
    ("parent-arguments", |args| {
        let arguments = fs::read(of_parent("cmdline"))?;
        let wanted = args.text(0)?.as_bytes();
        if arguments
            .split(|byte| *byte == 0)
            .any(|word| word == wanted)
        {
            return Ok("read the arguments of the host".to_owned());
        }
        held(format!("`{}`", String::from_utf8_lossy(&arguments)))
    }),
    ("parent-program", |_| {
        fs::File::open(of_parent("exe"))?;
        Ok("opened the program of its parent".to_owned())
    }),
    ("parent-take-descriptor", |_| {
        let process = sys::open(libc::SYS_pidfd_open, &[parent_id().into(), 0.into()])?;
        for number in 0..64 {
            let words = [(&process).into(), number.into(), 0.into()];
            if sys::open(libc::SYS_pidfd_getfd, &words).is_ok() {
                return Ok(format!("took descriptor {number} of its parent"));
            }
        }
        held("none can be taken")
    }),
    ("parent-memory", parent_memory),
    ("parent-maps", |_| {
        match fs::read(of_parent("maps"))?.len() {
            0 => held("no memory is shown"),
            length => Ok(format!("read {length} bytes")),
        }
    }),
    ("parent-descriptors", parent_descriptors),
    ("kill-keeper", kill_keeper),
    ("stop-keeper", stop_keeper),
];

fn pid(args: &Args) -> Result<c_int, Stopped> {
    args.number(0)
}

fn of_parent(file: &str) -> String {
    format!("/proc/{}/{file}", parent_id())
}

/// The victim: keeps the secret of its arguments in its memory and a file open, until its input ends.
pub(crate) fn victim(args: &Args) -> ExitCode {
    let (Ok(file), Ok(secret)) = (args.path(0), args.text(1)) else {
        return ExitCode::from(2);
    };
    let Ok(kept) = sys::open_file(&file, libc::O_RDONLY) else {
        return ExitCode::from(2);
    };
    let memory = secret.to_owned();
    println!("{} {}", memory.as_ptr() as usize, kept.as_raw_fd());
    let _ = io::stdin().read(&mut [0]);
    // Both are in use to the end.
    ExitCode::from(u8::from(memory.is_empty() || kept.as_raw_fd() < 0))
}

/// The owner of a pipe gets a signal when it becomes readable; the owner is whoever one names.
fn signal_by_owner(args: &Args) -> Verdict {
    let (reader, _writer) = io::pipe()?;
    let reader = std::os::fd::OwnedFd::from(reader);
    call!(libc::SYS_fcntl, &reader, libc::F_SETOWN, pid(args)?)?;
    Ok("named it as the one to be signalled".to_owned())
}

/// Tracing one's own child gives power over its system calls, past a filter that checked them.
fn ptrace_child(_: &Args) -> Verdict {
    let child = sys::fork(|| {
        let _ = call!(libc::SYS_ptrace, 0, 0, 0, 0);
        let _ = call!(libc::SYS_kill, std::process::id(), libc::SIGSTOP);
        0
    })?;
    sys::pause_for(30);
    let traced = fs::read_to_string(format!("/proc/{child}/status"))?;
    let tracer = traced
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    let is_traced = tracer.is_some_and(|pid| pid.trim() != "0");
    call!(libc::SYS_kill, child, libc::SIGKILL)?;
    if is_traced {
        return Ok("traces its child".to_owned());
    }
    held("its child is not traced")
}

/// Copies the secret out of the victim's memory, or writes back what is there.
fn memory(args: &Args, number: i64) -> Verdict {
    let mut bytes = [0_u8; 64];
    let length = MARK.len();
    bytes[..length].copy_from_slice(MARK.as_bytes());
    if number == libc::SYS_process_vm_readv {
        bytes.fill(0);
    }
    let address: usize = args.number(1)?;
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: length,
    };
    let remote = libc::iovec {
        iov_base: address as *mut _,
        iov_len: length,
    };
    let words = [
        pid(args)?.into(),
        sys::at(&local),
        1.into(),
        sys::at(&remote),
        1.into(),
        0.into(),
    ];
    sys::raw(number, &words)?;
    has_secret(&bytes)
}

fn take_descriptor(args: &Args) -> Verdict {
    let process = sys::open(libc::SYS_pidfd_open, &[pid(args)?.into(), 0.into()])?;
    let wanted: i32 = args.number(1)?;
    let words = [(&process).into(), wanted.into(), 0.into()];
    let mut file = fs::File::from(sys::open(libc::SYS_pidfd_getfd, &words)?);
    file.seek(SeekFrom::Start(0))?;
    secret_of(file.into())
}

fn proc_memory(args: &Args) -> Verdict {
    let mut memory = fs::File::open(format!("/proc/{}/mem", args.text(0)?))?;
    memory.seek(SeekFrom::Start(args.number(1)?))?;
    let mut bytes = [0; MARK.len()];
    memory.read_exact(&mut bytes)?;
    has_secret(&bytes)
}

/// Looks for the victim by the secret in its arguments.
fn proc_scan(_: &Args) -> Verdict {
    // SAFETY: it has no preconditions.
    let own = unsafe { libc::getpid() }.to_string();
    let mut seen = 0;
    for entry in fs::read_dir("/proc")? {
        let name = entry?.file_name();
        let Some(pid) = name.to_str().filter(|name| name.parse::<u32>().is_ok()) else {
            continue;
        };
        seen += 1;
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        if pid != own && has_secret(&arguments).is_ok() {
            return Ok(format!("found process {pid} among {seen}"));
        }
    }
    held(format!("{seen} processes, none of the host"))
}

/// Looks through all memory of the parent that can be read.
fn parent_memory(_: &Args) -> Verdict {
    let maps = fs::read_to_string(of_parent("maps"))?;
    let mut memory = fs::File::open(of_parent("mem"))?;
    let first = maps.lines().find_map(|line| {
        let (start, _) = line.split_once('-')?;
        u64::from_str_radix(start, 16).ok()
    });
    let Some(start) = first else {
        return held("its memory is not shown");
    };
    memory.seek(SeekFrom::Start(start))?;
    let mut bytes = [0; 16];
    memory.read_exact(&mut bytes)?;
    Ok("read the memory of its parent".to_owned())
}

/// Through `/proc`, what the parent has open; that it can be listed is too much.
fn parent_descriptors(_: &Args) -> Verdict {
    let mut links = Vec::new();
    for entry in fs::read_dir(of_parent("fd"))? {
        links.push(fs::read_link(entry?.path())?);
    }
    match links.len() {
        0 => held("none is shown"),
        count => Ok(format!("sees {count} descriptors of its parent")),
    }
}

/// Kills the process that holds the tree together, then goes on.
fn kill_keeper(args: &Args) -> Verdict {
    let keeper = parent_id();
    let killed = call!(libc::SYS_kill, keeper, libc::SIGKILL);
    sys::pause_for(200);
    if parent_id() != keeper {
        crate::survival::beat(args.text(0)?);
        return Ok("outlived its keeper".to_owned());
    }
    killed?;
    held("the keeper lives on")
}

/// Stops it, so that it neither watches nor ends anything.
fn stop_keeper(_: &Args) -> Verdict {
    let keeper = parent_id();
    call!(libc::SYS_kill, keeper, libc::SIGSTOP)?;
    sys::pause_for(50);
    let state = fs::read_to_string(format!("/proc/{keeper}/stat"))?;
    let _ = call!(libc::SYS_kill, keeper, libc::SIGCONT);
    match state.rsplit_once(") ") {
        Some((_, rest)) if rest.starts_with('T') => Ok("stopped its keeper".to_owned()),
        Some(_) => held("the keeper goes on"),
        None => untried("/proc is unreadable"),
    }
}
