//! The head of an HTTP request: read strictly, written anew.
//!
//! Two programs that read one request differently are how requests are smuggled past a judge. So what
//! is not exactly as the standard says is refused, and what goes on is not what was read but what was
//! understood.

use memchr::memmem;
use url::Url;

use super::host_name;

/// What a program asks of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GatewayRequest {
    pub(super) method: String,
    pub(super) target: RequestTarget,
    /// Whether it is HTTP/1.0.
    old: bool,
    /// What the `Host` header says.
    pub(super) host: Option<(String, Option<u16>)>,
    /// How its body is delimited.
    pub(super) framing: Framing,
    /// Whether the connection is to become a web socket.
    pub(super) websocket: bool,
    /// The headers that go on, as they were.
    headers: Vec<(String, Vec<u8>)>,
}

/// What stands behind the method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RequestTarget {
    /// A path, with its query.
    Path(String),
    /// A whole URL, as proxies get it: host, port, and path with query.
    Url {
        host: String,
        port: u16,
        path: String,
    },
    /// The server as such (`OPTIONS *`).
    Server,
    /// A host and port to be connected with (`CONNECT`).
    Tunnel { host: String, port: u16 },
}

/// How a body is delimited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Framing {
    /// There is none, and nothing says so.
    None,
    /// By this length.
    Length(u64),
    /// It comes in chunks.
    Chunked,
}

/// Reads a head and says where it ends; `None` if it is not there as a whole.
///
/// # Errors
///
/// What is wrong with it, in words.
pub(super) fn read(bytes: &[u8]) -> Result<Option<(GatewayRequest, usize)>, &'static str> {
    let end = memmem::find(bytes, b"\r\n\r\n");
    let head = &bytes[..end.map_or(bytes.len(), |end| end + 2)];
    // Before it is whole: what is wrong already will not become right.
    check_line_ends(head)?;
    if head.len() > MAX_HEAD {
        return Err("its head is too long");
    }
    let Some(end) = end else {
        return Ok(None);
    };
    let head = &bytes[..end];
    let mut lines = memmem::find_iter(head, b"\r\n").map(Some).chain([None]);
    let mut start = 0;
    let mut next = || {
        let end = lines.next()?;
        let line = &head[start..end.unwrap_or(head.len())];
        start = end.map_or(head.len(), |end| end + 2);
        Some(line)
    };
    let first = next().unwrap_or_default();
    let mut headers = Vec::new();
    while let Some(line) = next() {
        if headers.len() >= MAX_HEADERS {
            return Err("it has too many headers");
        }
        headers.push(read_header(line)?);
    }
    understand(first, headers).map(|request| Some((request, end + 4)))
}

/// No line ends but CR LF, and no NUL.
fn check_line_ends(head: &[u8]) -> Result<(), &'static str> {
    for at in memchr::memchr3_iter(b'\r', b'\n', 0, head) {
        let fine = match head[at] {
            // The last byte may be one whose LF is still to come.
            b'\r' => head.get(at + 1).is_none_or(|next| *next == b'\n'),
            b'\n' => at > 0 && head[at - 1] == b'\r',
            _ => false,
        };
        if !fine {
            return Err("a line of its head does not end as it should");
        }
    }
    Ok(())
}

type GatewayHeader = (String, Vec<u8>);

fn read_header(line: &[u8]) -> Result<GatewayHeader, &'static str> {
    if line.starts_with(b" ") || line.starts_with(b"\t") {
        return Err("a header goes on in a second line");
    }
    let colon = memchr::memchr(b':', line).ok_or("a header has no colon")?;
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.is_empty() || !name.iter().all(|byte| is_token(*byte)) {
        return Err("a header's name is not one");
    }
    let printable = |byte: &u8| matches!(byte, b'\t' | b' '..=b'~' | 0x80..);
    if !value.iter().all(printable) {
        return Err("a header's value has control characters");
    }
    let name = name.iter().map(|byte| char::from(*byte)).collect();
    Ok((name, value.to_vec()))
}

fn understand(first: &[u8], headers: Vec<GatewayHeader>) -> Result<GatewayRequest, &'static str> {
    let first = std::str::from_utf8(first)
        .ok()
        .filter(|line| line.is_ascii());
    let first = first.ok_or("its first line is not ASCII")?;
    let mut words = first.split(' ');
    let parts = (words.next(), words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some(version), None) = parts else {
        return Err("its first line does not have three words");
    };
    let old = match version {
        "HTTP/1.1" => false,
        "HTTP/1.0" => true,
        _ => return Err("its version is not HTTP/1.1"),
    };
    if method.is_empty() || method.len() > 32 || !method.bytes().all(is_token) {
        return Err("its method is not one");
    }
    let target = read_target(method, target)?;
    let all = |name: &str| values(&headers, name);
    let host = match all("host").as_slice() {
        [] if old => None,
        [] => return Err("it has no `Host`"),
        [value] => {
            let text = std::str::from_utf8(value).map_err(|_| BAD_HOST)?;
            Some(host_name::with_port(text).ok_or(BAD_HOST)?)
        }
        _ => return Err("it has two `Host`"),
    };
    let framing = read_framing(&all("transfer-encoding"), &all("content-length"), old)?;
    let options = tokens(&all("connection"));
    let upgrades = tokens(&all("upgrade"));
    let websocket = !old
        && method == "GET"
        && framing == Framing::None
        && options.iter().any(|option| option == "upgrade")
        && upgrades == ["websocket"];
    let goes_on = |(name, _): &GatewayHeader| {
        let name = name.to_ascii_lowercase();
        !NOT_PASSED_ON.contains(&name.as_str()) && !options.contains(&name)
    };
    let headers = headers.into_iter().filter(goes_on).collect();
    Ok(GatewayRequest {
        method: method.to_owned(),
        target,
        old,
        host,
        framing,
        websocket,
        headers,
    })
}

fn read_target(method: &str, target: &str) -> Result<RequestTarget, &'static str> {
    if target
        .bytes()
        .any(|byte| byte <= b' ' || byte == 0x7f || byte == b'#')
    {
        return Err("its path has characters that no path has");
    }
    if method == "CONNECT" {
        return match host_name::with_port(target) {
            Some((host, Some(port))) => Ok(RequestTarget::Tunnel { host, port }),
            _ => Err("`CONNECT` needs a host and a port"),
        };
    }
    if target == "*" && method == "OPTIONS" {
        return Ok(RequestTarget::Server);
    }
    if target.starts_with('/') {
        let path = normal_path(target).ok_or("its path is not one")?;
        return Ok(RequestTarget::Path(path));
    }
    let scheme = target
        .get(..7)
        .filter(|scheme| scheme.eq_ignore_ascii_case("http://"));
    let Some(rest) = scheme.and(target.get(7..)) else {
        return Err("its target is neither a path nor a URL of HTTP");
    };
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (host, port) = host_name::with_port(authority).ok_or("the host of its URL is not one")?;
    let path = match path.starts_with('/') {
        true => normal_path(path),
        false => normal_path(&format!("/{path}")),
    };
    Ok(RequestTarget::Url {
        host,
        port: port.unwrap_or(80),
        path: path.ok_or("its path is not one")?,
    })
}

/// The path and query as they are judged, and as they are sent: without dot segments, so that the two
/// are the same.
fn normal_path(path: &str) -> Option<String> {
    let url = Url::parse(&format!("http://host{path}")).ok()?;
    let path = url.path();
    Some(match url.query() {
        Some(query) => format!("{path}?{query}"),
        None => path.to_owned(),
    })
}

fn read_framing(codings: &[&[u8]], lengths: &[&[u8]], old: bool) -> Result<Framing, &'static str> {
    match (codings, lengths) {
        ([], []) => Ok(Framing::None),
        ([], [length]) => {
            let digits = !length.is_empty() && length.iter().all(u8::is_ascii_digit);
            let length = std::str::from_utf8(length).ok().filter(|_| digits);
            let length = length.and_then(|length| length.parse().ok());
            length
                .map(Framing::Length)
                .ok_or("its `Content-Length` is not a number")
        }
        ([], _) => Err("it has two `Content-Length`"),
        ([coding], []) if coding.eq_ignore_ascii_case(b"chunked") && !old => Ok(Framing::Chunked),
        (_, []) => Err("its `Transfer-Encoding` is not `chunked`"),
        _ => Err("it has both `Content-Length` and `Transfer-Encoding`"),
    }
}

fn values<'h>(headers: &'h [GatewayHeader], wanted: &str) -> Vec<&'h [u8]> {
    let wanted = headers
        .iter()
        .filter(|(name, _)| name.eq_ignore_ascii_case(wanted));
    wanted.map(|(_, value)| value.as_slice()).collect()
}

/// The words of lists, in lower case.
fn tokens(lists: &[&[u8]]) -> Vec<String> {
    let words = lists
        .iter()
        .flat_map(|list| list.split(|byte| *byte == b','));
    let words = words.map(|word| String::from_utf8_lossy(word.trim_ascii()).to_ascii_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether a byte may be part of a method or of the name of a header.
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

impl GatewayRequest {
    /// The path that is judged, without its query.
    pub(super) fn path(&self) -> &str {
        match &self.target {
            RequestTarget::Path(path) | RequestTarget::Url { path, .. } => {
                path.split_once('?').map_or(path, |(path, _)| path)
            }
            RequestTarget::Server | RequestTarget::Tunnel { .. } => "/",
        }
    }

    /// The head as a server gets it: for one request, and for this host.
    pub(super) fn write(&self, host: &str, port: u16) -> Vec<u8> {
        let target = match &self.target {
            RequestTarget::Path(path) | RequestTarget::Url { path, .. } => path.as_str(),
            RequestTarget::Server | RequestTarget::Tunnel { .. } => "*",
        };
        let version = if self.old { "1.0" } else { "1.1" };
        let mut head = format!("{} {target} HTTP/{version}\r\nHost: ", self.method).into_bytes();
        head.extend(authority(host, port).into_bytes());
        for (name, value) in &self.headers {
            head.extend(b"\r\n");
            head.extend(name.as_bytes());
            head.extend(b": ");
            head.extend(value);
        }
        match self.framing {
            Framing::None => {}
            Framing::Length(length) => {
                head.extend(format!("\r\nContent-Length: {length}").into_bytes());
            }
            Framing::Chunked => head.extend(b"\r\nTransfer-Encoding: chunked"),
        }
        head.extend(match self.websocket {
            true => b"\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n".as_slice(),
            false => b"\r\nConnection: close\r\n\r\n",
        });
        head
    }
}

/// Host and port as a URL of HTTP has them.
fn authority(host: &str, port: u16) -> String {
    let host = match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    };
    match port {
        80 => host,
        port => format!("{host}:{port}"),
    }
}

const BAD_HOST: &str = "its `Host` is not a host";

/// Headers that are about the connection with us, that are written anew, or by which some servers let a client or
/// a proxy before them say another path or method than the one that was judged.
const NOT_PASSED_ON: [&str; 17] = [
    "connection",
    "content-length",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-original-url",
    "x-rewrite-url",
];

/// The longest head. A program could send one that never ends.
pub(super) const MAX_HEAD: usize = 64 * 1024;

/// The most headers.
const MAX_HEADERS: usize = 128;

#[cfg(test)]
mod tests;
