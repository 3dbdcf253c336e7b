//! Clocks: the time, and what a process has used of it.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use super::raw::{self, RawErrno, call};

/// Milliseconds since some moment in the past.
pub(crate) fn now() -> i64 {
    const MONOTONIC: i32 = 1;
    clock(MONOTONIC).map_or(0, |[seconds, nanoseconds]| {
        seconds * 1000 + nanoseconds / 1_000_000
    })
}

/// The processor time in nanoseconds that a process has used with all its threads. Of one that runs just now,
/// what it has used since the last tick may be missing.
pub(crate) fn processor_time(pid: i32) -> Result<i64, RawErrno> {
    const SCHEDULED: i32 = 2;
    // A process's clock is a number below zero, made from the process's own.
    let [seconds, nanoseconds] = clock(!pid << 3 | SCHEDULED)?;
    Ok(seconds * 1_000_000_000 + nanoseconds)
}

fn clock(clock: i32) -> Result<[i64; 2], RawErrno> {
    let mut time = [0_i64; 2];
    // SAFETY: the time is a live local of the two words that the kernel fills.
    unsafe { call!(CLOCK_GETTIME, clock, time.as_mut_ptr()) }?;
    Ok(time)
}
