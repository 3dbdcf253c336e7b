//! The filter of system calls, by making them.

use super::attempts::{ALLOWED, Attempt, REFUSED, REFUSED_WITHOUT_NAMESPACES};
use super::*;

/// Not a test: what runs inside, started by those below.
#[test]
fn inside() {
    if !is_inside() {
        return;
    }
    let all = [REFUSED, REFUSED_WITHOUT_NAMESPACES, ALLOWED];
    for attempt in all.into_iter().flatten() {
        println!("tried {}: {}", attempt.name, attempt.make());
    }
    println!("tried the 32-bit way: {}", the_32_bit_way());
    println!("tried the x32 way: {}", the_x32_way());
    println!(
        "tried a descriptor of the keeper: {}",
        a_descriptor_of_the_keeper()
    );
    // SAFETY: there is nothing to clean up.
    unsafe { libc::_exit(0) };
}

/// Makes a call as 32-bit programs do, in a child. The signal that ended it, or 0.
#[cfg(target_arch = "x86_64")]
fn the_32_bit_way() -> i32 {
    const GETPID_OF_I386: u32 = 20;
    // SAFETY: the child makes one call without arguments and ends.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            std::arch::asm!("int 0x80", inout("eax") GETPID_OF_I386 => _);
            libc::_exit(0);
        }
        let mut status = 0;
        libc::waitpid(child, &raw mut status, 0);
        if libc::WIFSIGNALED(status) {
            libc::WTERMSIG(status)
        } else {
            0
        }
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn the_32_bit_way() -> i32 {
    libc::SIGSYS
}

/// A number with the bit that marks calls of the x32 kind. The error.
fn the_x32_way() -> i32 {
    // SAFETY: the call takes no arguments.
    let result = unsafe { libc::syscall(0x4000_0000 | libc::SYS_getpid) };
    let errno = std::io::Error::last_os_error().raw_os_error();
    if result == -1 { errno.unwrap_or(0) } else { 0 }
}

/// Takes a copy of what the keeper has open. The error, or 0.
fn a_descriptor_of_the_keeper() -> i32 {
    // SAFETY: the calls take numbers only.
    let result = unsafe {
        let keeper = libc::syscall(libc::SYS_pidfd_open, libc::getppid(), 0);
        libc::syscall(libc::SYS_pidfd_getfd, keeper, 0, 0)
    };
    let errno = std::io::Error::last_os_error().raw_os_error();
    if result == -1 { errno.unwrap_or(0) } else { 0 }
}

/// What each attempt inside came to.
fn attempts_under(layers: Layers) -> Vec<(String, i32)> {
    let workspace = Workspace::of("");
    let mut profile = system();
    profile.layers = layers;
    let ran = run_inside("confine::calls::inside", &workspace, profile, &[]);
    let attempts: Vec<(String, i32)> = ran
        .output
        .lines()
        .filter_map(|line| line.split_once("tried ")?.1.rsplit_once(": "))
        .map(|(name, errno)| (name.to_owned(), errno.parse().expect("it is a number")))
        .collect();
    assert!(!attempts.is_empty(), "{}{}", ran.output, ran.errors);
    attempts
}

#[track_caller]
fn errno_of(attempts: &[(String, i32)], name: &str) -> i32 {
    match attempts.iter().find(|(one, _)| one == name) {
        Some((_, errno)) => *errno,
        None => panic!("{name} was not tried; the last was {:?}", attempts.last()),
    }
}

/// Those of the attempts that did not come to what they should have.
fn surprises<'a>(
    attempts: &[(String, i32)],
    expected: impl IntoIterator<Item = &'a Attempt>,
    is_right: impl Fn(&Attempt, i32) -> bool,
) -> Vec<String> {
    expected
        .into_iter()
        .map(|attempt| (attempt, errno_of(attempts, attempt.name)))
        .filter(|(attempt, errno)| !is_right(attempt, *errno))
        .map(|(attempt, errno)| format!("{}: {errno}", attempt.name))
        .collect()
}

const NONE: [&str; 0] = [];

#[test]
fn every_refused_call_is_refused_when_it_is_made() {
    for layers in tiers() {
        let attempts = attempts_under(layers);
        let refused = |attempt: &Attempt, errno| errno == attempt.refused_with;
        assert_eq!(surprises(&attempts, REFUSED, refused), NONE, "{layers:?}");
        if !layers.namespaces {
            assert_eq!(
                surprises(&attempts, REFUSED_WITHOUT_NAMESPACES, refused),
                NONE
            );
        }
        let allowed = |_: &Attempt, errno| ![libc::EPERM, libc::ENOSYS].contains(&errno);
        assert_eq!(surprises(&attempts, ALLOWED, allowed), NONE, "{layers:?}");
        assert_eq!(errno_of(&attempts, "the 32-bit way"), libc::SIGSYS);
        assert_eq!(errno_of(&attempts, "the x32 way"), libc::ENOSYS);
        let stolen = errno_of(&attempts, "a descriptor of the keeper");
        assert_eq!(stolen, libc::EPERM, "{layers:?}");
    }
}

/// The twin: where the kernel alone would answer otherwise, it does so without the filter.
#[test]
fn without_the_filter_they_are_not_refused() {
    for layers in tiers() {
        let attempts = attempts_under(Layers {
            seccomp: false,
            ..layers
        });
        let lists = [REFUSED, REFUSED_WITHOUT_NAMESPACES];
        let by_filter = lists.into_iter().flatten().filter(|one| one.filter_alone);
        let otherwise = |attempt: &Attempt, errno| errno != attempt.refused_with;
        assert_eq!(
            surprises(&attempts, by_filter, otherwise),
            NONE,
            "{layers:?}"
        );
    }
}
