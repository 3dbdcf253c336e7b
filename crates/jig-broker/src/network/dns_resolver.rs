//! [`DnsResolver`]: names from one server.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::{Duration, Instant};

use super::dns::{self, DnsAnswer, KIND_A, KIND_AAAA};
use super::resolver::Resolver;

/// Asks one server for the addresses of names, over UDP and, where an answer does not fit, over TCP.
///
/// It knows no search list, no file of hosts and no cache: what it is asked is what the server is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DnsResolver {
    server: SocketAddr,
}

impl DnsResolver {
    /// A resolver that asks this server.
    pub fn new(server: SocketAddr) -> Self {
        Self { server }
    }

    /// Both questions on their way at the same time, and repeated until they are answered.
    fn ask_all(&self, name: &str, deadline: Instant) -> io::Result<[Option<DnsAnswer>; 2]> {
        let any: IpAddr = match self.server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        // The system chooses a port that nobody can foresee, and passes on only what comes from the server.
        let socket = UdpSocket::bind((any, 0))?;
        socket.connect(self.server)?;
        let mut said = [None, None];
        let first = random();
        let asked = [(KIND_A, first), (KIND_AAAA, first.wrapping_add(1))];
        let mut buffer = [0; MOST_READ];
        while Instant::now() < deadline && said.contains(&None) {
            for ((kind, id), _) in asked.iter().zip(&said).filter(|(_, said)| said.is_none()) {
                let query = dns::write_query(*id, name, *kind).ok_or_else(no_name)?;
                socket.send(&query)?;
            }
            let repeat = (Instant::now() + REPEAT).min(deadline);
            while said.contains(&None) {
                let left = repeat.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                socket.set_read_timeout(Some(left))?;
                let length = match socket.recv(&mut buffer) {
                    Ok(length) => length,
                    Err(error) if is_timeout(&error) => break,
                    Err(error) => return Err(error),
                };
                for ((kind, id), said) in asked.iter().zip(&mut said) {
                    let answer = dns::read_answer(&buffer[..length], *id, name, *kind);
                    if let (None, Some(answer)) = (&*said, answer) {
                        *said = Some(answer);
                    }
                }
            }
        }
        for ((kind, id), said) in asked.iter().zip(&mut said) {
            if *said == Some(DnsAnswer::Truncated) {
                let whole = self.ask_whole(*id, name, *kind, deadline);
                *said = Some(whole.unwrap_or(DnsAnswer::Failed));
            }
        }
        Ok(said)
    }

    /// Asks for one answer over TCP, where it may have any length.
    fn ask_whole(
        &self,
        id: u16,
        name: &str,
        kind: u16,
        deadline: Instant,
    ) -> io::Result<DnsAnswer> {
        let left = || {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::Error::from(io::ErrorKind::TimedOut));
            }
            Ok(left)
        };
        let mut stream = TcpStream::connect_timeout(&self.server, left()?)?;
        let query = dns::write_query(id, name, kind).ok_or_else(no_name)?;
        let length = u16::try_from(query.len()).map_err(|_| no_name())?;
        stream.set_write_timeout(Some(left()?))?;
        stream.write_all(&[&length.to_be_bytes(), query.as_slice()].concat())?;
        let mut answer = Vec::new();
        let mut buffer = [0; MOST_READ];
        loop {
            if let Some((length, rest)) = answer.split_first_chunk() {
                let length = usize::from(u16::from_be_bytes(*length));
                if let Some(message) = rest.get(..length) {
                    let said = dns::read_answer(message, id, name, kind);
                    return Ok(said
                        .filter(|said| *said != DnsAnswer::Truncated)
                        .unwrap_or(DnsAnswer::Failed));
                }
            }
            stream.set_read_timeout(Some(left()?))?;
            match stream.read(&mut buffer)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => answer.extend_from_slice(&buffer[..count]),
            }
        }
    }
}

impl Resolver for DnsResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let name = name.strip_suffix('.').unwrap_or(name);
        let [v4, v6] = self.ask_all(name, Instant::now() + LIMIT)?;
        let mut found = Vec::new();
        let mut answered = false;
        for said in [v4, v6] {
            match said {
                Some(DnsAnswer::Addresses(addresses)) => {
                    answered = true;
                    found.extend(addresses);
                }
                Some(DnsAnswer::NoSuchName) => answered = true,
                Some(DnsAnswer::Truncated | DnsAnswer::Failed) | None => {}
            }
        }
        match (found.is_empty(), answered) {
            (false, _) => Ok(found),
            (true, true) => Err(io::ErrorKind::NotFound.into()),
            (true, false) => Err(io::Error::other("the name server gave no answer")),
        }
    }
}

/// A number that others cannot foresee: the keys of a hash map are random.
fn random() -> u16 {
    RandomState::new().build_hasher().finish() as u16
}

fn no_name() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a name of a host")
}

fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// How long the server may take altogether. A server that says nothing must not hold a thread.
const LIMIT: Duration = Duration::from_secs(6);

/// After how long a question is asked again: the answer may have been lost.
const REPEAT: Duration = Duration::from_millis(1500);

/// The most that is read at once, and the largest message over UDP.
const MOST_READ: usize = 4096;

#[cfg(test)]
mod tests;
