//! The way to a server: its name resolved once, its addresses judged, one of those connected to.

use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_policy::{ConnectionTarget, NetTarget, Permit, RuleKind, Target, Verdict};
use jig_proto::Denial;
use jig_sandbox::Interest;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

use super::GatewayState;
use super::denials::{CONNECT, GatewayAuditNote};
use super::wire::GatewayConnection;
use crate::network::address::{self, HostTarget};
use crate::network::waiting::{ExchangeStop, waiting};

/// Why there is no connection.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// None of the addresses may be used.
    Refused(Box<Denial>),
    /// Something else than a rule is in the way, in words.
    Failed(String),
}

/// What a connection can be made for.
pub(super) trait DialTarget: Target + HostTarget {
    fn host(&self) -> &str;
    fn port(&self) -> u16;
}

impl DialTarget for ConnectionTarget {
    fn host(&self) -> &str {
        &self.host
    }

    fn port(&self) -> u16 {
        self.port
    }
}

/// A web socket.
impl DialTarget for NetTarget {
    fn host(&self) -> &str {
        self.host()
    }

    fn port(&self) -> u16 {
        self.port()
    }
}

/// Connects to the host of a permit, and writes the line in the log. `first` is the address that the program
/// itself used, if the host is one that has addresses of its own.
///
/// Nothing else leads to a socket outside, and this takes a permit.
pub(super) fn dial<'g, T: DialTarget>(
    shared: &'g GatewayState,
    permit: Permit<T>,
    first: Option<IpAddr>,
) -> Result<GatewayConnection<'g>, ConnectFailure> {
    let started = Instant::now();
    let note = GatewayAuditNote::of(&shared.inner, permit.target());
    let target = permit.into_target();
    let (outcome, result) = match connect_any(shared, &target, first, started) {
        Ok(wire) => ("ok", Ok(wire)),
        Err(DialError::Unfit(denial)) => {
            return Err(ConnectFailure::Refused(shared.refuse_because(*denial)));
        }
        Err(DialError::Unknown) => {
            let message = format!("the host `{}` was not found", target.host());
            ("not_found", Err(ConnectFailure::Failed(message)))
        }
        Err(DialError::Late) => {
            let message = format!("connecting to `{target}` took too long");
            ("timeout", Err(ConnectFailure::Failed(message)))
        }
        Err(DialError::Connect(error)) => {
            let why = match error.kind() {
                io::ErrorKind::ConnectionRefused => "the connection was refused",
                io::ErrorKind::ConnectionReset => "the connection was reset",
                _ => "the server cannot be reached",
            };
            let message = format!("connecting to `{target}` failed: {why}");
            ("internal", Err(ConnectFailure::Failed(message)))
        }
    };
    shared.log_connection(note, outcome, started.elapsed());
    result
}

/// What is in the way.
enum DialError {
    Unfit(Box<Denial>),
    Unknown,
    Late,
    Connect(io::Error),
}

fn connect_any<'g>(
    shared: &'g GatewayState,
    target: &impl DialTarget,
    first: Option<IpAddr>,
    started: Instant,
) -> Result<GatewayConnection<'g>, DialError> {
    let addresses = addresses(shared, target, first, started + RESOLVING)?;
    let deadline = started + RESOLVING + CONNECTING;
    let mut trouble = DialError::Unknown;
    let mut left = addresses.len() as u32;
    for address in addresses {
        // A dead address must leave time for those behind it.
        let now = Instant::now();
        let mut share = deadline.saturating_duration_since(now) / left;
        left -= 1;
        if left > 0 {
            share = share.min(PATIENCE);
        }
        match connect(shared, SocketAddr::new(address, target.port()), now + share) {
            Ok(stream) => {
                return GatewayConnection::new(shared, stream).map_err(DialError::Connect);
            }
            Err(error) if error.kind() == io::ErrorKind::TimedOut => trouble = DialError::Late,
            Err(error) => trouble = DialError::Connect(error),
        }
    }
    Err(trouble)
}

/// The addresses that may be connected to.
fn addresses(
    shared: &GatewayState,
    target: &impl DialTarget,
    first: Option<IpAddr>,
    deadline: Instant,
) -> Result<Vec<IpAddr>, DialError> {
    // The rule that was found names the address, or the machine itself.
    if let Ok(address) = target.host().parse() {
        return Ok(vec![address]);
    }
    if let Some(both) = address::loopback(target.host()) {
        let others = both.into_iter().filter(|address| Some(*address) != first);
        let all = first.into_iter().chain(others);
        // An address that a rule denies is not used under any name.
        let policy = &shared.inner.policy;
        let denied = |at: &IpAddr| {
            let at = target.at(*at);
            at.is_some_and(|at| at.decide(policy).verdict == Verdict::Deny)
        };
        let fit: Vec<IpAddr> = all.filter(|address| !denied(address)).collect();
        if fit.is_empty() {
            let why = "it is this machine, whose addresses a rule denies";
            let denial = Denial::new(CONNECT, target.to_string(), why);
            return Err(DialError::Unfit(Box::new(denial)));
        }
        return Ok(fit);
    }
    let inner = &shared.inner;
    let resolver = Arc::clone(&inner.http.resolver);
    let name = target.host().to_owned();
    let found = waiting(deadline, &shared.stop, move || resolver.resolve(&name));
    let found = match found {
        Ok(found) => found.map_err(|_| DialError::Unknown)?,
        Err(ExchangeStop::TimedOut) => return Err(DialError::Late),
        Err(ExchangeStop::Cancelled | ExchangeStop::Failed) => return Err(DialError::Unknown),
    };
    address::judged(&inner.policy, target, found).map_err(|unfit| {
        let mut denial = Denial::new(CONNECT, target.to_string(), unfit.why);
        denial.grants = crate::denial::grants(&inner.policy, RuleKind::Net);
        let suggestion = unfit.suggestion;
        denial.hint = suggestion
            .map(|suggestion| jig_proto::offered_rule(suggestion.to_toml_in(&inner.table)));
        DialError::Unfit(Box::new(denial))
    })
}

/// Connects to one address.
fn connect(shared: &GatewayState, address: SocketAddr, deadline: Instant) -> io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    match rustix::net::connect(&socket, &address) {
        Ok(()) => {}
        Err(Errno::INPROGRESS | Errno::INTR) => {
            shared.wait(&[Interest::Writable(socket.as_fd())], Some(deadline))?;
            rustix::net::sockopt::socket_error(&socket)??;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(socket.into())
}

/// How long a name may take to be resolved. A resolver that does not answer must not hold a thread.
const RESOLVING: Duration = Duration::from_secs(10);

/// How long connecting may take after that, to all addresses together.
const CONNECTING: Duration = Duration::from_secs(20);

/// How long one address may take while there are others. Often one of two families leads nowhere.
const PATIENCE: Duration = Duration::from_secs(3);
