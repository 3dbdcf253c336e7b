//! One connection of a program, from its first byte to its end.

use std::io;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd as _;
use std::time::{Duration, Instant};

use jig_policy::{OwnedSpeaks, Permit};
use jig_proto::{Denial, Hint, hint};
use jig_sandbox::{Interest, PROXY_PORT};

use super::denials::{CONNECT, GatewayAuditNote};
use super::destination::Destination;
use super::dial::{ConnectFailure, DialTarget};
use super::first_bytes::{self, ConnectionProtocol};
use super::names::AddressMeaning;
use super::relay::{self, GatewayPassage, RelayEnd};
use super::wire::GatewayConnection;
use super::{GatewayState, exchange, host_name, lookup, proxy, tls};

/// Serves a connection that arrived at the listener of this port.
pub(super) fn serve(shared: &GatewayState, stream: TcpStream, port: u16) {
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let Ok(wire) = GatewayConnection::new(shared, stream) else {
        return;
    };
    let address = local.ip().to_canonical();
    let meaning = shared.names.meaning(address);
    let is_own = match meaning {
        AddressMeaning::Gateway => true,
        AddressMeaning::Itself => address.is_loopback(),
        AddressMeaning::Name(_) | AddressMeaning::Nothing => false,
    };
    if is_own && port == LOOKUP_PORT {
        // It ends as the program wants, or when it has said nothing for a while.
        let _ = lookup::serve_stream(&wire);
        return;
    }
    let client = GatewayClient::new(wire);
    if meaning == AddressMeaning::Gateway && port == PROXY_PORT {
        return proxy::serve(client);
    }
    match Destination::of(meaning, address, port) {
        Some(destination) => converse(client, &destination),
        None => {
            let target = format!("{address}:{port}");
            let why = "no name that was looked up has this address";
            shared.refuse_because(Denial::new(CONNECT, target, why));
        }
    }
}

/// Keeps and logs that a program could not connect, if the address stands for a name and nothing is served on the
/// port.
pub(super) fn tell_unserved(shared: &GatewayState, address: SocketAddr, count: u64) {
    let port = address.port();
    let AddressMeaning::Name(name) = shared.names.meaning(address.ip()) else {
        return;
    };
    if port == 0 || shared.ports.contains(&port) {
        return;
    }
    let target = Destination::named(name.clone(), port).target(&name, OwnedSpeaks::Other);
    if let Err(refused) = shared.inner.policy.permit(target) {
        shared.refuse_often(&refused, count);
    }
}

/// The program's side of a connection, and what it has said so far.
#[derive(Debug)]
pub(super) struct GatewayClient<'g> {
    pub(super) wire: GatewayConnection<'g>,
    pub(super) heard: Vec<u8>,
}

impl<'g> GatewayClient<'g> {
    fn new(wire: GatewayConnection<'g>) -> Self {
        Self {
            wire,
            heard: Vec::new(),
        }
    }

    /// Hears more; says whether there was any.
    pub(super) fn hear(&mut self, deadline: Instant) -> io::Result<bool> {
        if Instant::now() >= deadline {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let mut buffer = [0; 8 * 1024];
        let count = self.wire.read(&mut buffer, deadline)?;
        self.heard.extend_from_slice(&buffer[..count]);
        Ok(count > 0)
    }
}

/// Finds out what a program speaks, has that judged, and passes it on.
pub(super) fn converse(mut client: GatewayClient<'_>, destination: &Destination) {
    let Some((speech, server)) = listen(&mut client, destination) else {
        return;
    };
    match speech {
        ConnectionProtocol::Http => exchange::serve(client, destination, server),
        ConnectionProtocol::Tls => converse_tls(client, destination, server),
        ConnectionProtocol::Http2 | ConnectionProtocol::Other => {
            converse_plain(client, destination, speech, server)
        }
    }
}

/// Waits until it is known what a program speaks. Where the server may be the first to speak, it is
/// connected with after a short while, and what it says is passed on.
///
/// A program that begins with a word and then waits gets that word passed on, too. Time alone does not make it
/// known what the program speaks: what comes later is kept back until it is.
fn listen<'g>(
    client: &mut GatewayClient<'g>,
    destination: &Destination,
) -> Option<(ConnectionProtocol, Option<GatewayConnection<'g>>)> {
    let shared = client.wire.shared;
    let may_wait = destination.would_allow(shared, &OwnedSpeaks::Unknown);
    let patience = match is_open(shared, destination) {
        true => FIRST_WORDS,
        false => LAST_WORDS,
    };
    let began = Instant::now();
    let mut last_heard = began;
    let mut server: Option<GatewayConnection<'g>> = None;
    // How much of what was heard the server has, and whether it said something then.
    let mut passed = 0;
    let mut has_answered = false;
    loop {
        if let Some(speech) = first_bytes::speech(&client.heard) {
            if passed > 0 && speech == ConnectionProtocol::Http {
                // The server has the beginning of what only now is known to be a request. It is asked anew,
                // by a request that was judged, unless it has answered already.
                server?.reset();
                if has_answered {
                    let why = "the request came in pieces, and cannot be judged any more";
                    shared.refuse_because(Denial::new(CONNECT, destination.to_string(), why));
                    return None;
                }
                return Some((speech, None));
            }
            client.heard.drain(..passed);
            return Some((speech, server));
        }
        let is_unclear = client.heard.len() > passed;
        let deadline = match (may_wait, &server) {
            (false, _) => Some(began + patience),
            (true, _) if is_unclear => Some(last_heard + UNCLEAR),
            (true, None) => Some(began + HESITATION),
            (true, Some(_)) => None,
        };
        let mut interests = vec![Interest::Readable(client.wire.stream.as_fd())];
        let server_side = server.as_ref().map(|server| server.stream.as_fd());
        interests.extend(server_side.map(Interest::Readable));
        let ready = match shared.wait(&interests, deadline) {
            Ok(ready) => ready,
            Err(error) if error.kind() == io::ErrorKind::TimedOut && may_wait => {
                if first_bytes::is_secured(&client.heard) {
                    return Some((ConnectionProtocol::Tls, server));
                }
                let speaks = match is_unclear {
                    true => OwnedSpeaks::Other,
                    false => OwnedSpeaks::Unknown,
                };
                let permit = destination.permit(shared, &speaks).ok()?;
                let reached = reach(shared, destination, permit, server.take()).ok()?;
                let deadline = Instant::now() + FIRST_WORDS;
                reached.write_all(&client.heard[passed..], deadline).ok()?;
                passed = client.heard.len();
                server = Some(reached);
                continue;
            }
            Err(error) => {
                if error.kind() == io::ErrorKind::TimedOut {
                    refuse_silence(shared, destination);
                }
                return None;
            }
        };
        if ready.contains(0) {
            last_heard = Instant::now();
            match client.hear(last_heard + FIRST_WORDS) {
                Ok(true) => {}
                // It came to see whether somebody is there.
                Ok(false) if client.heard.is_empty() && server.is_none() => return None,
                Ok(false) if !may_wait || first_bytes::is_secured(&client.heard) => return None,
                // It only listens, or has said all that it had to say.
                Ok(false) => {
                    client.heard.drain(..passed);
                    return Some((ConnectionProtocol::Other, server));
                }
                Err(_) => return None,
            }
        }
        if let Some(speaking) = server.as_ref().filter(|_| ready.contains(1)) {
            let mut buffer = [0; 8 * 1024];
            let deadline = Instant::now() + FIRST_WORDS;
            match speaking.read(&mut buffer, deadline) {
                // The relay finds the end again, and passes it on.
                Ok(0) if client.heard.is_empty() => {
                    return Some((ConnectionProtocol::Other, server));
                }
                Ok(0) | Err(_) => return None,
                Ok(count) => {
                    has_answered |= passed > 0;
                    client.wire.write_all(&buffer[..count], deadline).ok()?;
                }
            }
        }
    }
}

/// Whether some rule allows anything on this host and port.
pub(super) fn is_open(shared: &GatewayState, destination: &Destination) -> bool {
    let rules = shared.inner.policy.net_rules().iter();
    let mut rules = rules.filter(|rule| rule.allow() && destination.is_spoken_of(rule));
    rules.any(|rule| rule.ports().any(|port| port == destination.port))
}

/// Refuses a program that waits for its server to speak, where only what the program says could be allowed.
fn refuse_silence(shared: &GatewayState, destination: &Destination) {
    if destination.permit(shared, &OwnedSpeaks::Unknown).is_ok() {
        let why = "the program said nothing";
        shared.refuse_because(Denial::new(CONNECT, destination.to_string(), why));
    }
}

fn converse_plain(
    client: GatewayClient<'_>,
    destination: &Destination,
    speech: ConnectionProtocol,
    server: Option<GatewayConnection<'_>>,
) {
    let shared = client.wire.shared;
    let permit = match destination.permit(shared, &OwnedSpeaks::Other) {
        Ok(permit) => permit,
        Err(denial) if speech == ConnectionProtocol::Http2 => {
            let more = "HTTP/2 without TLS cannot be judged by its URL: use HTTP/1.1";
            let answer = exchange::answer(403, &format!("{denial}\n{more}\n"), false);
            return client.wire.say_last(&answer);
        }
        Err(_) => return client.wire.say_last(&[]),
    };
    match reach(shared, destination, permit, server) {
        Ok(server) => pass_on(client, server),
        Err(_) => client.wire.reset(),
    }
}

/// The server that is there already, or one that is connected with now.
pub(super) fn reach<'g>(
    shared: &'g GatewayState,
    destination: &Destination,
    permit: Permit<impl DialTarget>,
    server: Option<GatewayConnection<'g>>,
) -> Result<GatewayConnection<'g>, ConnectFailure> {
    let Some(server) = server else {
        return destination.dial(shared, permit);
    };
    // The log knows of the connection, but not of what is requested on it.
    let note = GatewayAuditNote::of(&shared.inner, permit.target());
    if note.target != destination.to_string() {
        shared.log_connection(note, "ok", Duration::ZERO);
    }
    Ok(server)
}

fn converse_tls(
    mut client: GatewayClient<'_>,
    destination: &Destination,
    server: Option<GatewayConnection<'_>>,
) {
    let shared = client.wire.shared;
    let deadline = Instant::now() + FIRST_WORDS;
    let hello = loop {
        match tls::read_hello(&client.heard) {
            Ok(Some(hello)) => break Ok(hello),
            Err(why) => break Err(why),
            Ok(None) => match client.hear(deadline) {
                Ok(true) => {}
                Ok(false) | Err(_) => return,
            },
        }
    };
    let denied = |why: String| Denial::new(CONNECT, destination.to_string(), why);
    let permit = hello
        .map_err(|why| {
            Box::new(denied(format!(
                "the TLS connection cannot be judged: {why}"
            )))
        })
        .and_then(|hello| check_hello(&hello, destination))
        .map_err(|denial| shared.refuse_because(*denial))
        .and_then(|named| Ok((named.permit(shared, &OwnedSpeaks::Tls)?, named)));
    let Ok((permit, named)) = permit else {
        return client.wire.say_last(&tls::alert(tls::ACCESS_DENIED));
    };
    match reach(shared, &named, permit, server) {
        Ok(server) => pass_on(client, server),
        Err(ConnectFailure::Refused(_)) => client.wire.say_last(&tls::alert(tls::ACCESS_DENIED)),
        Err(ConnectFailure::Failed(_)) => client.wire.say_last(&tls::alert(tls::INTERNAL_ERROR)),
    }
}

/// Whether a client asks for the server that its connection leads to; the destination under the name that it
/// asks for.
fn check_hello(
    hello: &tls::ClientHello,
    destination: &Destination,
) -> Result<Destination, Box<Denial>> {
    let denied = |why: &str| Box::new(Denial::new(CONNECT, destination.to_string(), why));
    if hello.encrypted {
        let mut denial = denied("TLS that hides the name it asks for (ECH) cannot be judged");
        denial.advice = Some(without_ech().into());
        return Err(denial);
    }
    match &hello.name {
        Some(name) => match host_name::normal(name) {
            Some(normal) if destination.is_called(&normal) => Ok(destination.also_called(&normal)),
            _ => Err(denied(&format!(
                "the TLS connection asks for `{}`, which is not the host that was looked up",
                jig_proto::visible_line_to(name, 100)
            ))),
        },
        None if destination.is_name() => Err(denied(
            "the TLS connection does not say which name it asks for (SNI)",
        )),
        None => Ok(destination.clone()),
    }
}

/// Passes on what was heard, and then everything in both directions.
fn pass_on(client: GatewayClient<'_>, server: GatewayConnection<'_>) {
    let GatewayClient { wire, heard } = client;
    match relay::run(
        &wire,
        &server,
        (GatewayPassage::Plain, heard),
        GatewayPassage::Plain,
    ) {
        RelayEnd::Done => {}
        RelayEnd::Broken | RelayEnd::BadBody(_) | RelayEnd::BadResponse(..) => {
            wire.reset();
            server.reset();
        }
    }
}

/// The port of lookups.
const LOOKUP_PORT: u16 = 53;

/// How long a program may take to say what has to be judged. One that says nothing must not hold a thread.
pub(super) const FIRST_WORDS: Duration = Duration::from_secs(30);

/// The same where nothing that it could say is allowed. It is waited for only so that it gets its answer in the
/// protocol that it speaks.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What to do about a client that always hides names, or makes as if it did.
fn without_ech() -> Hint {
    hint!(
        "turn ECH off: Chromium by `--disable-features=EncryptedClientHello`, Firefox by \
         `security.tls.ech.grease_probability = 0` and `network.dns.echconfig.enabled = false`"
    )
}

/// How long a program is waited for that may wait for its server. Most speak at once, and are then judged by
/// what they speak.
const HESITATION: Duration = Duration::from_millis(50);

/// How long a program that may say anything is waited for when it is not clear what it speaks.
const UNCLEAR: Duration = Duration::from_secs(2);
