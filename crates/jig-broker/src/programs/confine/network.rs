//! What a confined program finds of the network: connections that end at jig's gateway, and settings with
//! which it looks names up there.

use std::ffi::OsString;

use jig_policy::Policy;
use jig_sandbox::{GATEWAY_V4, GatewayProfile, Network, PROXY_PORT, PrivateContent, PrivateFile};

/// The network under a policy: none, or a gateway if some rule allows a host. One that is watched has a gateway
/// in any case, since it is by the lookup of a name that one learns which host was wanted.
pub(super) fn of(policy: &Policy, watched: bool) -> Network {
    let mut ports = policy.ports();
    if ports.is_empty() && !watched {
        return Network::None;
    }
    ports.sort_unstable();
    let explained = EXPLAINED.into_iter().filter(|port| !ports.contains(port));
    Network::Gateway(GatewayProfile {
        explained: explained.collect(),
        ports,
        addresses: policy.address_hosts(),
    })
}

/// The files by which resolvers find the gateway. Names that the host's own file lists are the business of
/// the host's resolver: an address in it would lead nowhere from inside.
pub(super) fn settings() -> Vec<PrivateFile> {
    let text = |path: &str, text: String| PrivateFile {
        path: path.into(),
        content: PrivateContent::Text(text.into_bytes()),
    };
    vec![
        text(
            "/etc/resolv.conf",
            format!("nameserver {GATEWAY_V4}\nsearch .\noptions timeout:10 attempts:2\n"),
        ),
        text(
            "/etc/hosts",
            "127.0.0.1 localhost jig\n::1 localhost ip6-localhost ip6-loopback\n".to_owned(),
        ),
    ]
}

/// The variables by which programs that want a proxy find it.
pub(super) fn proxy_variables() -> impl Iterator<Item = (OsString, OsString)> {
    let proxy = format!("http://{GATEWAY_V4}:{PROXY_PORT}");
    let own = "localhost,127.0.0.1,::1".to_owned();
    let pairs = [
        ("HTTP_PROXY", proxy.clone()),
        ("HTTPS_PROXY", proxy.clone()),
        ("http_proxy", proxy.clone()),
        ("https_proxy", proxy),
        ("NO_PROXY", own.clone()),
        ("no_proxy", own),
    ];
    pairs
        .into_iter()
        .map(|(name, value)| (name.into(), value.into()))
}

/// Ports at which a refused connection is explained, whether a rule names them or not. No program can listen
/// on them anyway.
const EXPLAINED: [u16; 3] = [22, 80, 443];
