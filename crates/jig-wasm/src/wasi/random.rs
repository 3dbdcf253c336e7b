//! `wasi:random`: bytes of the operating system, also where worse ones would do.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::wasi::random::{insecure, insecure_seed, random};
use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    random::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    insecure::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    insecure_seed::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl random::Host for Guest {
    fn get_random_bytes(&mut self, count: u64) -> wasmtime::Result<Vec<u8>> {
        bytes(count)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl insecure::Host for Guest {
    fn get_insecure_random_bytes(&mut self, count: u64) -> wasmtime::Result<Vec<u8>> {
        bytes(count)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        number()
    }
}

impl insecure_seed::Host for Guest {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((number()?, number()?))
    }
}

/// As many as are asked for: the interface knows no fewer, so too many end the guest.
fn bytes(count: u64) -> wasmtime::Result<Vec<u8>> {
    if count > MOST {
        wasmtime::bail!("the guest asks for {count} random bytes at once; {MOST} are the most");
    }
    let mut bytes = vec![0; usize::try_from(count)?];
    fill(&mut bytes)?;
    Ok(bytes)
}

fn number() -> wasmtime::Result<u64> {
    let mut bytes = [0; 8];
    fill(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

fn fill(bytes: &mut [u8]) -> wasmtime::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(count) => filled += count,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// The most random bytes of one call. A guest names any number, and must not have us set aside that much.
const MOST: u64 = 16 << 20;

#[cfg(test)]
mod tests {
    use super::{MOST, bytes, number};

    #[test]
    fn as_many_bytes_as_asked_for_and_not_without_end() {
        let check = |count: u64| assert_eq!(bytes(count).unwrap().len() as u64, count);
        check(0);
        check(1);
        check(300);
        check(1 << 20);
        assert!(bytes(MOST + 1).is_err());
        assert!(bytes(u64::MAX).is_err());
    }

    #[test]
    fn no_two_are_alike() {
        assert_ne!(bytes(32).unwrap(), bytes(32).unwrap());
        assert_ne!(bytes(32).unwrap(), vec![0; 32]);
        assert_ne!(number().unwrap(), number().unwrap());
    }
}
