//! `wasi:clocks`.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use wasmtime::component::{HasSelf, Linker, Resource};

use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::clocks::{monotonic_clock, wall_clock};
use crate::guest::Guest;
use crate::wasi::io::Pollable;

#[cfg(test)]
mod tests;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    monotonic_clock::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    wall_clock::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl monotonic_clock::Host for Guest {
    fn now(&mut self) -> wasmtime::Result<u64> {
        Ok(shown(Instant::now()))
    }

    fn resolution(&mut self) -> wasmtime::Result<u64> {
        Ok(1)
    }

    fn subscribe_instant(&mut self, when: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.hold(at(when))
    }

    fn subscribe_duration(&mut self, duration: u64) -> wasmtime::Result<Resource<Pollable>> {
        self.hold(after(Instant::now(), duration))
    }
}

impl wall_clock::Host for Guest {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        Ok(datetime(SystemTime::now()))
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(Datetime {
            seconds: 0,
            nanoseconds: 1,
        })
    }
}

/// A time as interfaces write it: since 1970. There is nothing before.
pub(crate) fn datetime(time: SystemTime) -> Datetime {
    let since = time.duration_since(SystemTime::UNIX_EPOCH);
    let since = since.unwrap_or_default();
    Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    }
}

/// The moment that guests count from, which tells them nothing about the machine.
fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}

/// A moment as guests see it.
fn shown(moment: Instant) -> u64 {
    let since = moment.saturating_duration_since(base()) + AGE;
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

/// Ready at a moment that a guest names.
fn at(when: u64) -> Pollable {
    match Duration::from_nanos(when).checked_sub(AGE) {
        Some(since) => base()
            .checked_add(since)
            .map_or(Pollable::Never, Pollable::At),
        // Before anything that it has seen.
        None => Pollable::Ready,
    }
}

/// Ready after some time.
fn after(now: Instant, nanoseconds: u64) -> Pollable {
    match nanoseconds {
        0 => Pollable::Ready,
        _ => {
            let moment = now.checked_add(Duration::from_nanos(nanoseconds));
            moment.map_or(Pollable::Never, Pollable::At)
        }
    }
}

/// How long the clock of guests seems to have run at the beginning: programs count back from now, and a clock
/// that begins with 0 makes them fail.
const AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);
