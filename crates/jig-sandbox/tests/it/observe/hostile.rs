//! Programs that mean harm to whoever watches.

use std::ffi::c_long;

use super::*;

const TEST: &str = "observe::hostile::a_program_that_means_harm_does_none";

/// What it does inside comes to what the kernel says, and it ends.
#[test]
fn a_program_that_means_harm_does_none() {
    if is_inside() {
        bad_addresses();
        endless_strings();
        odd_descriptors();
        odd_addresses();
        deep_paths();
        changing_memory();
        dying_callers();
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("file");
        let ran = run_inside(held, TEST, &workspace);
        let longest = ran.observation.seen.iter().map(|one| match &one.target {
            ObservedTarget::Path(path) | ObservedTarget::Socket(path) => path.as_os_str().len(),
            _ => 0,
        });
        assert!(longest.max().expect("something was seen") < 4096);
    }
}

#[track_caller]
fn expect_error(result: c_long, errno: i32) {
    let error = std::io::Error::last_os_error();
    assert_eq!((result, error.raw_os_error()), (-1, Some(errno)));
}

fn open_at(directory: i32, address: usize) -> c_long {
    // SAFETY: the kernel checks the address, and writes nothing.
    unsafe { libc::syscall(libc::SYS_openat, directory, address, libc::O_RDONLY) }
}

fn bad_addresses() {
    for address in [
        0,
        1,
        4096,
        0x7fff_ffff_f000,
        usize::MAX,
        usize::MAX - 4096,
        1 << 63,
    ] {
        expect_error(open_at(libc::AT_FDCWD, address), libc::EFAULT);
        // SAFETY: as above.
        unsafe {
            expect_error(
                libc::syscall(libc::SYS_newfstatat, -100, address, address, 0),
                libc::EFAULT,
            );
            libc::syscall(libc::SYS_connect, -1, address, usize::MAX);
            libc::syscall(libc::SYS_sendmsg, -1, address, 0);
            libc::syscall(libc::SYS_sendmmsg, -1, address, u32::MAX, 0);
            libc::syscall(libc::SYS_sendto, -1, 0, 0, 0, address, usize::MAX);
            libc::syscall(libc::SYS_openat2, -100, address, address, 24);
            libc::syscall(libc::SYS_execve, address, 0, 0);
        }
    }
}

/// Two pages of which the second cannot be read.
fn page_before_nothing() -> *mut u8 {
    // SAFETY: new memory, of which the second page is taken away again.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        let start = libc::mmap(std::ptr::null_mut(), 8192, protection, flags, -1, 0);
        assert_ne!(start, libc::MAP_FAILED);
        libc::munmap(start.byte_add(4096), 4096);
        start.cast()
    }
}

fn endless_strings() {
    let page = page_before_nothing();
    // SAFETY: the page is writable.
    unsafe { page.write_bytes(b'x', 4096) };
    // Half a page: a whole one would be too long for a path.
    expect_error(
        open_at(libc::AT_FDCWD, page.expose_provenance() + 2048),
        libc::EFAULT,
    );
    // SAFETY: the last bytes of the page.
    unsafe { std::ptr::copy_nonoverlapping(c"file".as_ptr().cast(), page.add(4091), 5) };
    let fd = open_at(libc::AT_FDCWD, page.expose_provenance() + 4091);
    assert!(fd >= 0, "a string that ends with its page is one");
    let long = [b'y'; 10_000];
    expect_error(
        open_at(libc::AT_FDCWD, long.as_ptr().expose_provenance()),
        libc::ENAMETOOLONG,
    );
}

fn odd_descriptors() {
    let name = c"name".as_ptr().expose_provenance();
    let (reader, _writer) = std::io::pipe().expect("there are pipes");
    expect_error(open_at(-1, name), libc::EBADF);
    expect_error(open_at(i32::MAX, name), libc::EBADF);
    expect_error(
        open_at(std::os::fd::AsRawFd::as_raw_fd(&reader), name),
        libc::ENOTDIR,
    );
    expect_error(open_at(0, c"".as_ptr().expose_provenance()), libc::ENOENT);
}

fn odd_addresses() {
    for length in 0..40_u8 {
        for family in [
            libc::AF_UNIX,
            libc::AF_INET,
            libc::AF_INET6,
            libc::AF_UNSPEC,
            77,
        ] {
            let mut bytes = [length; 40];
            bytes[..2].copy_from_slice(&(family as u16).to_ne_bytes());
            // SAFETY: the kernel reads at most so many bytes of a live array.
            unsafe { libc::syscall(libc::SYS_connect, -1, bytes.as_ptr(), usize::from(length)) };
        }
    }
}

/// Paths of thousands of parts, and links that never end.
fn deep_paths() {
    let _ = std::os::unix::fs::symlink("loop", "loop");
    let _ = std::os::unix::fs::symlink(".", "here");
    expect_error(
        open_at(libc::AT_FDCWD, c"loop".as_ptr().expose_provenance()),
        libc::ELOOP,
    );
    for part in ["here/", "a/", "../", "./", "loop/", "//"] {
        let path = part.repeat(4000 / part.len()) + "\0";
        open_at(libc::AT_FDCWD, path.as_ptr().expose_provenance());
    }
}

/// A path that another thread changes all the time.
fn changing_memory() {
    use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
    static PATH: [AtomicU8; 64] = [const { AtomicU8::new(b'a') }; 64];
    static DONE: AtomicBool = AtomicBool::new(false);
    let changer = std::thread::spawn(|| {
        let mut round = 0_u8;
        while !DONE.load(Ordering::Relaxed) {
            round = round.wrapping_add(1);
            for (place, byte) in PATH.iter().enumerate() {
                let value = if place == 63 {
                    0
                } else {
                    b"/.a\0"[usize::from(round) % 4]
                };
                byte.store(value, Ordering::Relaxed);
            }
        }
    });
    PATH[63].store(0, Ordering::Relaxed);
    for _ in 0..500 {
        let fd = open_at(libc::AT_FDCWD, PATH.as_ptr().expose_provenance());
        if fd >= 0 {
            // SAFETY: it was just opened.
            unsafe { libc::close(fd as i32) };
        }
    }
    DONE.store(true, Ordering::Relaxed);
    changer.join().expect("it does not panic");
}

/// Processes that are killed in the middle of their calls, many at a time.
fn dying_callers() {
    for _ in 0..20 {
        // SAFETY: the child makes plain system calls until it is killed.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            loop {
                open_at(
                    libc::AT_FDCWD,
                    c"file-of-the-dead".as_ptr().expose_provenance(),
                );
            }
        }
        std::thread::yield_now();
        // SAFETY: the child is not reaped yet, so that the number is its own.
        unsafe {
            libc::kill(pid, libc::SIGKILL);
            libc::waitpid(pid, std::ptr::null_mut(), 0);
        }
    }
}
