#![expect(unsafe_code, reason = "orders are blocks of bytes")]

use super::order::{OrderBlock, OrderHeader, OrderSpan, PackedMove};
use super::raw::RawErrno;
use super::raw::number::*;
use super::record::{KeeperMessage, KeeperReport, ProgramEndRecord, StartStep, StepFailure};
use super::tree_limits;
use super::zygote::{Demand, ZygoteAnswer};

/// The C library's word for each number.
#[test]
fn numbers_are_the_kernels() {
    let pairs = [
        (BIND, libc::SYS_bind),
        (CAPGET, libc::SYS_capget),
        (CAPSET, libc::SYS_capset),
        (CHDIR, libc::SYS_chdir),
        (CLOCK_GETTIME, libc::SYS_clock_gettime),
        (CLONE, libc::SYS_clone),
        (CLOSE, libc::SYS_close),
        (CLOSE_RANGE, libc::SYS_close_range),
        (CONNECT, libc::SYS_connect),
        (DUP3, libc::SYS_dup3),
        (EXECVE, libc::SYS_execve),
        (EXECVEAT, libc::SYS_execveat),
        (EXIT_GROUP, libc::SYS_exit_group),
        (FCHDIR, libc::SYS_fchdir),
        (FCNTL, libc::SYS_fcntl),
        (FSCONFIG, libc::SYS_fsconfig),
        (FSMOUNT, libc::SYS_fsmount),
        (FSOPEN, libc::SYS_fsopen),
        (FSTATFS, libc::SYS_fstatfs),
        (FUTEX, libc::SYS_futex),
        (GETCWD, libc::SYS_getcwd),
        (GETDENTS64, libc::SYS_getdents64),
        (GETPGID, libc::SYS_getpgid),
        (GETPID, libc::SYS_getpid),
        (GETPPID, libc::SYS_getppid),
        (IOCTL, libc::SYS_ioctl),
        (KILL, libc::SYS_kill),
        (LANDLOCK_ADD_RULE, libc::SYS_landlock_add_rule),
        (LANDLOCK_CREATE_RULESET, libc::SYS_landlock_create_ruleset),
        (LANDLOCK_RESTRICT_SELF, libc::SYS_landlock_restrict_self),
        (EXIT, libc::SYS_exit),
        (LINKAT, libc::SYS_linkat),
        (LISTEN, libc::SYS_listen),
        (MKNODAT, libc::SYS_mknodat),
        (PIDFD_GETFD, libc::SYS_pidfd_getfd),
        (PROCESS_VM_READV, libc::SYS_process_vm_readv),
        (READLINKAT, libc::SYS_readlinkat),
        (RENAMEAT2, libc::SYS_renameat2),
        (MKDIRAT, libc::SYS_mkdirat),
        (MMAP, libc::SYS_mmap),
        (MOUNT, libc::SYS_mount),
        (MOUNT_SETATTR, libc::SYS_mount_setattr),
        (MOVE_MOUNT, libc::SYS_move_mount),
        (MUNMAP, libc::SYS_munmap),
        (OPEN_TREE, libc::SYS_open_tree),
        (OPENAT, libc::SYS_openat),
        (OPENAT2, libc::SYS_openat2),
        (PIDFD_OPEN, libc::SYS_pidfd_open),
        (PIVOT_ROOT, libc::SYS_pivot_root),
        (PPOLL, libc::SYS_ppoll),
        (PRCTL, libc::SYS_prctl),
        (PRLIMIT64, libc::SYS_prlimit64),
        (READ, libc::SYS_read),
        (RECVMSG, libc::SYS_recvmsg),
        (RT_SIGACTION, libc::SYS_rt_sigaction),
        (RT_SIGPROCMASK, libc::SYS_rt_sigprocmask),
        (MSGCTL, libc::SYS_msgctl),
        (SEMCTL, libc::SYS_semctl),
        (SHMCTL, libc::SYS_shmctl),
        (SECCOMP, libc::SYS_seccomp),
        (SENDMSG, libc::SYS_sendmsg),
        (SENDTO, libc::SYS_sendto),
        (SETHOSTNAME, libc::SYS_sethostname),
        (SETSID, libc::SYS_setsid),
        (SETSOCKOPT, libc::SYS_setsockopt),
        (SET_TID_ADDRESS, libc::SYS_set_tid_address),
        (SIGNALFD4, libc::SYS_signalfd4),
        (SOCKET, libc::SYS_socket),
        (SOCKETPAIR, libc::SYS_socketpair),
        (STATX, libc::SYS_statx),
        (SYMLINKAT, libc::SYS_symlinkat),
        (UMOUNT2, libc::SYS_umount2),
        (UNLINKAT, libc::SYS_unlinkat),
        (WAIT4, libc::SYS_wait4),
        (WAITID, libc::SYS_waitid),
        (WRITE, libc::SYS_write),
    ];
    for (ours, theirs) in pairs {
        assert_eq!(ours as i64, theirs);
    }
}

#[test]
fn records_survive_the_line() {
    let refusal = StepFailure {
        step: StartStep::Execute,
        errno: RawErrno(7),
        which: 9,
    };
    let mut report = KeeperReport::default();
    report.tasks_limited = true;
    let inexact = report;
    report.tasks_exact = true;
    for place in 0..9 {
        report.note(place, RawErrno(place as i32 + 1));
    }
    let told: Vec<_> = report.failed().collect();
    assert_eq!((told.len(), report.more()), (6, 3));
    assert_eq!(told[5], (5, RawErrno(6)));
    let end = ProgramEndRecord {
        status: 0x8b,
        reached: 5,
        is_empty: true,
        left: [*b"a name\0\0\0\0\0\0\0\0\0\0", [0; 16], [255; 16]],
    };
    for record in [
        KeeperMessage::Door,
        KeeperMessage::Sockets,
        KeeperMessage::Started(KeeperReport::default()),
        KeeperMessage::Started(inexact),
        KeeperMessage::Started(report),
        KeeperMessage::Refused(refusal),
        KeeperMessage::Ended(end),
        KeeperMessage::Listener,
        KeeperMessage::Unwatched(RawErrno::ACCES),
    ] {
        assert_eq!(KeeperMessage::decode(&record.encode()), Some(record));
    }
    // Nothing, a part, too much, and a kind or a step that does not exist.
    let mut odd_step = KeeperMessage::Refused(refusal).encode();
    odd_step[4..8].copy_from_slice(&99_i32.to_ne_bytes());
    for bytes in [&[][..], &[0; 63], &[0; 64], &[0; 65], &odd_step] {
        assert_eq!(KeeperMessage::decode(bytes), None);
    }
}

#[test]
fn every_step_has_a_number_and_a_name() {
    let mut names: Vec<&str> = Vec::new();
    for (place, step) in (1..).zip(StartStep::ALL) {
        assert_eq!(
            (step as i32, StartStep::from_number(place)),
            (place, Some(step))
        );
        names.push(step.name());
    }
    let beyond = StartStep::ALL.len() as i32 + 1;
    assert_eq!(
        (StartStep::from_number(0), StartStep::from_number(beyond)),
        (None, None)
    );
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), StartStep::ALL.len());
}

#[test]
fn a_zygote_understands_its_host() {
    let demand = Demand {
        count: 3,
        generation: u32::MAX,
    };
    assert_eq!(Demand::decode(&demand.encode()), Some(demand));
    let answer = ZygoteAnswer {
        generation: 7,
        pid: -11,
    };
    assert_eq!(ZygoteAnswer::decode(&answer.encode()), Some(answer));
    for bytes in [&[][..], &[0; 7], &[0; 9]] {
        assert_eq!(
            (Demand::decode(bytes), ZygoteAnswer::decode(bytes)),
            (None, None)
        );
    }
}

/// An order of so many words whose header says what it does.
fn order(words: &mut Vec<u64>, header: OrderHeader) -> Result<OrderBlock, RawErrno> {
    let length = size_of_val(words.as_slice());
    if length >= size_of::<OrderHeader>() {
        // SAFETY: the words are long enough, and aligned as a header is.
        unsafe { words.as_mut_ptr().cast::<OrderHeader>().write(header) };
    }
    // SAFETY: the block is aligned, writable, and only used here.
    unsafe { OrderBlock::new(words.as_mut_ptr().cast(), length) }
}

/// Whatever an order says, nothing outside of it is read or written.
#[test]
fn places_outside_of_an_order_are_refused() {
    const WORDS: usize = 64;
    let mut words = vec![u64::MAX; WORDS];
    let length = (WORDS * 8) as u64;
    let header = |arguments| OrderHeader {
        length,
        arguments,
        ..OrderHeader::default()
    };
    let span = |at: usize, count: usize| OrderSpan {
        at: at as u32,
        count: count as u32,
    };
    let none = span(0, 0);
    assert!(order(&mut vec![0; 2], header(none)).is_err());
    let longer = OrderHeader {
        length: length + 8,
        ..OrderHeader::default()
    };
    assert!(order(&mut words, longer).is_err());

    let whole = order(&mut words, header(none)).expect("it is an order");
    let last = span(WORDS * 8 - 8, 1);
    assert_eq!(whole.item::<u64>(last, 0), Ok(u64::MAX));
    assert_eq!(whole.item::<u64>(last, 1), Err(RawErrno::BADMSG));
    for span in [
        span(WORDS * 8 - 7, 1),
        span(WORDS * 8, 1),
        span(u32::MAX as usize, 1),
    ] {
        assert_eq!(whole.item::<u64>(span, 0), Err(RawErrno::BADMSG));
        assert!(whole.set_item(span, 0, PackedMove::default()).is_err());
        assert!(whole.address(span, 8).is_err());
    }
    assert!(whole.bytes(span(WORDS * 8 - 1, 2)).is_err());
    assert!(whole.address(span(0, u32::MAX as usize), 8).is_err());
    // A string without an end, and one that begins beyond it.
    assert!(whole.string(WORDS as u32 * 8 - 8).is_err());
    assert!(whole.string(u32::MAX).is_err());
    // Tables without an end, with one in the middle, and with a place that is none.
    assert!(whole.relocate().is_err());
    for table in [span(WORDS * 8 - 8, 1), span(WORDS * 8 - 16, 2), span(0, 1)] {
        let broken = order(&mut words, header(table)).expect("it is an order");
        assert!(broken.relocate().is_err());
    }
}

#[test]
fn cut_numbers_are_left_out() {
    #[track_caller]
    fn check(list: &[u8], expected: &[i32]) {
        assert_eq!(
            tree_limits::whole_numbers(list).collect::<Vec<_>>(),
            expected
        );
    }
    check(b"", &[]);
    check(b"12 ", &[12]);
    check(b"12 345 67", &[12, 345]);
    check(b"12", &[]);
    check(b"x 1 99999999999 2 ", &[1, 2]);
}
