//! Answers to the lookups of a program.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};
use std::time::{Duration, Instant};

use super::wire::GatewayConnection;
use super::{GatewayState, host_name};
use crate::network::dns::query::{
    DnsQueryError, DnsResponseCode, read_query, write_answer, write_refusal,
};
use crate::network::dns::{KIND_A, KIND_AAAA};

/// Answers what waits at a socket.
pub(super) fn serve_datagrams(shared: &GatewayState, socket: &UdpSocket) {
    let mut buffer = [0; MAX_DATAGRAM];
    for _ in 0..AT_ONCE {
        let Ok((length, from)) = socket.recv_from(&mut buffer) else {
            return;
        };
        if let Some(answer) = answer(shared, &buffer[..length]) {
            // Whoever does not get it asks again.
            let _ = socket.send_to(&answer, from);
        }
    }
}

/// Answers what comes over one connection, each message behind its length.
pub(super) fn serve_stream(wire: &GatewayConnection<'_>) -> io::Result<()> {
    let mut heard: Vec<u8> = Vec::new();
    let mut buffer = [0; MAX_DATAGRAM];
    loop {
        let deadline = Instant::now() + SILENCE;
        while let Some((length, rest)) = heard.split_first_chunk() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(message) = rest.get(..length) else {
                break;
            };
            let Some(answer) = answer(wire.shared, message) else {
                return Ok(());
            };
            let size = u16::try_from(answer.len()).unwrap_or(u16::MAX);
            wire.write_all(&[&size.to_be_bytes(), answer.as_slice()].concat(), deadline)?;
            heard.drain(..2 + length);
        }
        match wire.read(&mut buffer, deadline)? {
            0 => return Ok(()),
            count => heard.extend_from_slice(&buffer[..count]),
        }
    }
}

/// The answer to a message; `None` if it gets none.
fn answer(shared: &GatewayState, message: &[u8]) -> Option<Vec<u8>> {
    let query = match read_query(message) {
        Ok(query) => query,
        Err(DnsQueryError::Ignored) => return None,
        Err(DnsQueryError::Answered { id, code }) => return Some(write_refusal(id, code)),
    };
    let kind = query.question.kind;
    let name = &query.question.name;
    let found = host_name::normal(name).and_then(|name| addresses(shared, &name));
    let Some((v4, v6)) = found else {
        // Names of services are no hosts that anybody wants to reach.
        let is_service = name.split('.').any(|label| label.starts_with('_'));
        if matches!(kind, KIND_A | KIND_AAAA) && !is_service {
            shared.refuse_lookup(name, kind == KIND_A);
        }
        return Some(write_answer(&query, DnsResponseCode::NoSuchName, &[], 0));
    };
    let address: Option<IpAddr> = match kind {
        KIND_A => Some(v4.into()),
        KIND_AAAA => v6.map(IpAddr::V6),
        // The name exists. What else its owner says of it, such as keys that hide the name from us, does not.
        _ => None,
    };
    Some(write_answer(
        &query,
        DnsResponseCode::Fine,
        address.as_slice(),
        TTL,
    ))
}

/// The addresses of a name that some rule allows something on, and of the program's own machine.
fn addresses(shared: &GatewayState, name: &str) -> Option<(Ipv4Addr, Option<Ipv6Addr>)> {
    let own = Some((Ipv4Addr::LOCALHOST, Some(Ipv6Addr::LOCALHOST)));
    if host_name::is_localhost(name) {
        return own;
    }
    if name.parse::<IpAddr>().is_err() && shared.inner.policy.speaks_of_host(name) {
        return shared.names.addresses(name);
    }
    own.filter(|_| name == OWN_NAME)
}

/// What the sandbox calls the machine of a program. Programs look up the name of their own machine.
const OWN_NAME: &str = "jig";

/// How long an answer holds, in seconds. The addresses do not change; a program need not know that.
const TTL: u32 = 60;

/// The largest question over UDP. Names have at most 255 bytes.
const MAX_DATAGRAM: usize = 4096;

/// How many lookups are answered before connections get their turn.
const AT_ONCE: usize = 64;

/// How long a connection for lookups may say nothing.
const SILENCE: Duration = Duration::from_secs(30);
