//! The proxy, for programs that want one: the same judge, asked in another way.

use std::time::Instant;

use jig_policy::OwnedSpeaks;
use jig_proto::Denial;

use super::GatewayState;
use super::connection::{FIRST_WORDS, GatewayClient, converse, is_open};
use super::denials::CONNECT;
use super::destination::Destination;
use super::exchange::{self, GatewayReadError, read_request};
use super::head::{GatewayRequest, RequestTarget};

/// Serves one request to the proxy.
pub(super) fn serve(mut client: GatewayClient<'_>) {
    let shared = client.wire.shared;
    let request = match read_request(&mut client) {
        Ok(request) => request,
        Err(GatewayReadError::Gone) => return,
        Err(GatewayReadError::Wrong(why)) => return exchange::refuse_request(client, "proxy", why),
    };
    let head_only = request.method == "HEAD";
    match &request.target {
        RequestTarget::Tunnel { host, port } => match destination(shared, host, *port) {
            Ok(destination) => tunnel(client, &destination),
            Err(denial) => exchange::refuse(client, &denial, head_only),
        },
        RequestTarget::Url { host, port, .. } => {
            let checked = destination(shared, host, *port)
                .and_then(|destination| check(shared, &request, destination));
            match checked {
                Ok(destination) => exchange::forward(client, &destination, &request, None),
                Err(denial) => exchange::refuse(client, &denial, head_only),
            }
        }
        RequestTarget::Path(_) | RequestTarget::Server => {
            let why = "this is a proxy, which needs a whole URL";
            exchange::refuse_request(client, "proxy", why);
        }
    }
}

fn destination(shared: &GatewayState, host: &str, port: u16) -> Result<Destination, Box<Denial>> {
    Destination::asked_for(shared, host.to_owned(), port).ok_or_else(|| {
        let why = "no name that was looked up has this address";
        shared.refuse_because(Denial::new(CONNECT, format!("{host}:{port}"), why))
    })
}

fn check(
    shared: &GatewayState,
    request: &GatewayRequest,
    destination: Destination,
) -> Result<Destination, Box<Denial>> {
    match exchange::check_host(request, &destination) {
        Ok(()) => Ok(destination),
        Err(why) => {
            let why = format!("the request is refused: {why}");
            let denial = Denial::new(CONNECT, destination.to_string(), why);
            Err(shared.refuse_because(denial))
        }
    }
}

/// Makes the connection one to the destination, if something may be said on it. What that is, is judged when
/// it is said.
fn tunnel(client: GatewayClient<'_>, destination: &Destination) {
    let shared = client.wire.shared;
    let http = OwnedSpeaks::Http {
        method: "GET".to_owned(),
        path: "/".to_owned(),
    };
    let all = [OwnedSpeaks::Tls, OwnedSpeaks::Other, http.clone()];
    let may_say = |speaks| destination.would_allow(shared, speaks);
    if !all.iter().any(may_say) && !is_open(shared, destination) {
        let expected = if destination.port == 80 {
            http
        } else {
            OwnedSpeaks::Tls
        };
        if let Err(denial) = destination.permit(shared, &expected) {
            exchange::refuse(client, &denial, false);
        }
        return;
    }
    let deadline = Instant::now() + FIRST_WORDS;
    let agreed = b"HTTP/1.1 200 Connection established\r\n\r\n";
    if client.wire.write_all(agreed, deadline).is_ok() {
        converse(client, destination);
    }
}
