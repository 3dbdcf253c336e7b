//! One HTTP request of a program, and its answer.

use std::time::{Duration, Instant};

use jig_policy::OwnedSpeaks;
use jig_proto::Denial;

use super::body::GatewayBody;
use super::connection::{FIRST_WORDS, GatewayClient, reach};
use super::denials::CONNECT;
use super::destination::Destination;
use super::dial::ConnectFailure;
use super::head::{self, GatewayRequest, RequestTarget};
use super::relay::{self, GatewayPassage, RelayEnd};
use super::response::{GatewayResponse, ProtocolSwitch};
use super::wire::GatewayConnection;

/// Serves the one request of a connection that leads to this destination.
pub(super) fn serve(
    mut client: GatewayClient<'_>,
    destination: &Destination,
    server: Option<GatewayConnection<'_>>,
) {
    let shared = client.wire.shared;
    let request = match read_request(&mut client) {
        Ok(request) => request,
        Err(GatewayReadError::Gone) => return,
        Err(GatewayReadError::Wrong(why)) => {
            return refuse_request(client, &destination.to_string(), why);
        }
    };
    let fits = match &request.target {
        RequestTarget::Path(_) | RequestTarget::Server => check_host(&request, destination),
        RequestTarget::Url { host, port, .. } => {
            if destination.is_called(host) && *port == destination.port {
                check_host(&request, destination)
            } else {
                Err("its URL is not of the host that was looked up".to_owned())
            }
        }
        RequestTarget::Tunnel { .. } => Err("`CONNECT` is for proxies".to_owned()),
    };
    match fits {
        Ok(()) => forward(client, destination, &request, server),
        Err(why) => {
            let why = format!("the request is refused: {why}");
            let denial = Denial::new(CONNECT, destination.to_string(), why);
            let denial = shared.refuse_because(denial);
            refuse(client, &denial, is_head(&request));
        }
    }
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum GatewayReadError {
    /// Nobody is there any more, or said nothing for too long.
    Gone,
    /// It cannot be read; why.
    Wrong(&'static str),
}

/// Reads the head of a request. What comes behind it stays with the client.
pub(super) fn read_request(
    client: &mut GatewayClient<'_>,
) -> Result<GatewayRequest, GatewayReadError> {
    let deadline = Instant::now() + FIRST_WORDS;
    loop {
        if let Some((request, end)) = head::read(&client.heard).map_err(GatewayReadError::Wrong)? {
            client.heard.drain(..end);
            return Ok(request);
        }
        match client.hear(deadline) {
            Ok(true) => {}
            Ok(false) | Err(_) => return Err(GatewayReadError::Gone),
        }
    }
}

/// Whether the `Host` of a request is where its connection leads.
pub(super) fn check_host(
    request: &GatewayRequest,
    destination: &Destination,
) -> Result<(), String> {
    match &request.host {
        None => Ok(()),
        Some((host, port)) => {
            let fits =
                destination.is_called(host) && port.is_none_or(|port| port == destination.port);
            match fits {
                true => Ok(()),
                false => Err(format!(
                    "its `Host` is `{host}`, which is not the host that was looked up"
                )),
            }
        }
    }
}

/// Has a request judged and passes it on, with its answer.
pub(super) fn forward(
    client: GatewayClient<'_>,
    destination: &Destination,
    request: &GatewayRequest,
    server: Option<GatewayConnection<'_>>,
) {
    let shared = client.wire.shared;
    let head_only = is_head(request);
    let named = request
        .host
        .as_ref()
        .map(|(host, _)| destination.also_called(host));
    let destination = named.as_ref().unwrap_or(destination);
    let speaks = OwnedSpeaks::Http {
        method: request.method.clone(),
        path: request.path().to_owned(),
    };
    // Where only the web socket is allowed, the server must agree to it.
    let is_plain = !request.websocket || destination.would_allow(shared, &speaks);
    let permitted = match request.websocket {
        true => {
            let permit = destination.permit_web_socket(shared, request.path());
            permit.map(|permit| {
                let host = permit.target().host().to_owned();
                (host, reach(shared, destination, permit, server))
            })
        }
        false => destination.permit(shared, &speaks).map(|permit| {
            let host = permit.target().host.clone();
            (host, reach(shared, destination, permit, server))
        }),
    };
    let (host, reached) = match permitted {
        Ok(permitted) => permitted,
        Err(denial) => return refuse(client, &denial, head_only),
    };
    // An address of the machine itself may be judged under either of its names.
    let host = match &request.host {
        Some((named, _)) if destination.is_called(named) => named,
        _ => &host,
    };
    let server = match reached {
        Ok(server) => server,
        Err(ConnectFailure::Refused(denial)) => return refuse(client, &denial, head_only),
        Err(ConnectFailure::Failed(why)) => {
            let answer = answer(502, &format!("{why}\n"), head_only);
            return client.wire.say_last(&answer);
        }
    };
    let GatewayClient { wire, heard } = client;
    let mut body = GatewayBody::new(request.framing);
    let mut said = request.write(host, destination.port);
    let end = match body.pass(&heard, &mut said) {
        Ok(()) => {
            let back = match (request.websocket, is_plain) {
                (false, _) => GatewayResponse::new(ProtocolSwitch::No),
                (true, true) => GatewayResponse::new(ProtocolSwitch::Maybe),
                (true, false) => GatewayResponse::new(ProtocolSwitch::Must),
            };
            let back = GatewayPassage::Response(back);
            relay::run(&wire, &server, (GatewayPassage::Body(body), said), back)
        }
        Err(error) => RelayEnd::BadBody(error.to_string()),
    };
    match end {
        RelayEnd::Done => wire.close_gently(Instant::now() + FAREWELL),
        RelayEnd::Broken | RelayEnd::BadResponse(_, true) => {
            wire.reset();
            server.reset();
        }
        RelayEnd::BadResponse(why, false) => {
            server.reset();
            let text = format!("the request to `{destination}` failed: {why}\n");
            wire.say_last(&answer(502, &text, head_only));
        }
        RelayEnd::BadBody(why) => {
            server.reset();
            let client = GatewayClient {
                wire,
                heard: Vec::new(),
            };
            refuse_request(client, &destination.to_string(), &why);
        }
    }
}

/// Refuses a request that cannot be judged.
pub(super) fn refuse_request(client: GatewayClient<'_>, target: &str, why: &str) {
    let why = format!("the request cannot be judged: {why}");
    let denial = client
        .wire
        .shared
        .refuse_because(Denial::new(CONNECT, target, why));
    let answer = answer(400, &format!("{denial}\n"), false);
    client.wire.say_last(&answer);
}

/// Tells a program what was refused.
pub(super) fn refuse(client: GatewayClient<'_>, denial: &Denial, head_only: bool) {
    let answer = answer(403, &format!("{denial}\n"), head_only);
    client.wire.say_last(&answer);
}

/// An answer of ours.
pub(super) fn answer(status: u16, text: &str, head_only: bool) -> Vec<u8> {
    let reason = match status {
        400 => "Bad Request",
        403 => "Forbidden",
        _ => "Bad Gateway",
    };
    let length = text.len();
    let text = if head_only { "" } else { text };
    format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {length}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{text}"
    )
    .into_bytes()
}

fn is_head(request: &GatewayRequest) -> bool {
    request.method == "HEAD"
}

/// How long a program may take to read the end of an answer.
const FAREWELL: Duration = Duration::from_secs(5);
