//! What all tools share of the network.

use std::net::{IpAddr, SocketAddr};

use crate::value::ConfigNode;

/// What all tools share of the network: `[network]`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NetworkSettings {
    /// The server that turns the names of hosts into addresses; `None` if the system does.
    pub resolver: Option<SocketAddr>,
}

impl NetworkSettings {
    /// Reads the checked table.
    pub(super) fn read(node: Option<&ConfigNode>) -> Self {
        let resolver = node
            .and_then(|node| node.get("resolver"))
            .and_then(ConfigNode::text);
        Self {
            resolver: resolver.and_then(|text| parse_resolver(text).ok().flatten()),
        }
    }
}

/// `system`, or the address of a server. `Err` says what is wrong.
pub(crate) fn parse_resolver(text: &str) -> Result<Option<SocketAddr>, &'static str> {
    if text == "system" {
        return Ok(None);
    }
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = match bare.unwrap_or(text).parse::<IpAddr>() {
        Ok(address) => SocketAddr::new(address, DNS_PORT),
        Err(_) => text
            .parse()
            .map_err(|_| "it is neither `system` nor the address of a server")?,
    };
    if address.port() == 0 {
        return Err("port 0 cannot be asked");
    }
    if address.ip().is_unspecified() {
        return Err("it is the address of no machine");
    }
    Ok(Some(address))
}

const DNS_PORT: u16 = 53;
