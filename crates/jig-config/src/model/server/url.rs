//! The URLs of servers that run elsewhere.

use std::net::IpAddr;

use url::{Host, Url};

/// Why a text is not the URL of a server. Does not repeat the text, which may hold a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerUrlError {
    /// It is no URL with a host.
    #[error("it is no URL")]
    NoUrl,
    /// Neither `https` nor `http`.
    #[error("it begins neither with `https://` nor with `http://`")]
    Scheme,
    /// `http` to another machine: everyone on the way reads and changes what is sent.
    #[error("`http` is not encrypted, and its host is not this machine")]
    Plain,
    /// A user or a password before the host.
    #[error("it holds a user or a password")]
    User,
    /// A part behind `#`, which is never sent.
    #[error("it holds a fragment, which is never sent")]
    Fragment,
}

/// Reads the URL of a server: `https`, or `http` to this machine, without user and fragment.
///
/// A URL with variables in it must pass this once they are filled in.
///
/// # Errors
///
/// Says why it is none; never repeats it.
pub fn server_url(text: &str) -> Result<Url, ServerUrlError> {
    let url = Url::parse(text).map_err(|_| ServerUrlError::NoUrl)?;
    let Some(host) = url.host() else {
        return Err(ServerUrlError::NoUrl);
    };
    match url.scheme() {
        "https" => {}
        "http" if is_loopback(&host) => {}
        "http" => return Err(ServerUrlError::Plain),
        _ => return Err(ServerUrlError::Scheme),
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(ServerUrlError::User);
    }
    if url.fragment().is_some() {
        return Err(ServerUrlError::Fragment);
    }
    Ok(url)
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        // Names below it are asked of a DNS server by some machines.
        Host::Domain(name) => *name == "localhost",
        Host::Ipv4(address) => IpAddr::V4(*address).is_loopback(),
        Host::Ipv6(address) => {
            let mapped = address.to_ipv4_mapped();
            address.is_loopback() || mapped.is_some_and(|address| address.is_loopback())
        }
    }
}

#[cfg(test)]
mod tests;
