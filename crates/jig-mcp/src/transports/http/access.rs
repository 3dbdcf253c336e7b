//! Who may use a server: what `Host` and `Origin` may say, and which tokens there are.
//!
//! A page in a browser can make the browser send requests to a server on the same machine. Three things keep
//! it out, each for itself: it has no token, its origin is not allowed, and a name of its own that it makes
//! lead here is not one of ours.

use std::net::SocketAddr;
use std::sync::Arc;

use blake3::Hash;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, AUTHORIZATION, HOST, ORIGIN, VARY,
    WWW_AUTHENTICATE,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Method, Request, StatusCode, Uri};

use super::{McpHttpAnswer, PATH, refusal};

/// The tokens of a server. Each is a caller of its own.
#[derive(Clone)]
pub struct CallerTokens(Vec<CallerToken>);

#[derive(Clone)]
struct CallerToken {
    /// What is compared: hashes are, in a time that tells nothing of how much was right.
    hash: Hash,
    name: Arc<str>,
}

/// Why a text holds no tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadTokens {
    /// There is nothing but comments.
    #[error("there is no token")]
    None,
    /// There are too many.
    #[error("there are more than {MAX_TOKENS} tokens")]
    TooMany,
    /// It is too short to be a secret.
    #[error("the token on line {line} has fewer than {MIN_LENGTH} characters")]
    Short {
        /// Where it stands.
        line: usize,
    },
    /// It cannot be sent.
    #[error(
        "the token on line {line} has a character that no token has: letters, digits and `-._~+/=` are allowed"
    )]
    Character {
        /// Where it stands.
        line: usize,
    },
    /// It is there already.
    #[error("the token on line {line} stands on line {first}, too")]
    Again {
        /// Where it stands.
        line: usize,
        /// Where it stands for the first time.
        first: usize,
    },
}

impl CallerTokens {
    /// The tokens of a text: one on each line, without those that begin with `#`.
    ///
    /// # Errors
    ///
    /// If there is none, or one that cannot be a secret or cannot be sent.
    pub fn parse(text: &str) -> Result<Self, BadTokens> {
        let mut tokens: Vec<(usize, CallerToken)> = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            let text = text.trim();
            if text.is_empty() || text.starts_with('#') {
                continue;
            }
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte);
            if !text.bytes().all(is_allowed) {
                return Err(BadTokens::Character { line });
            }
            if text.len() < MIN_LENGTH {
                return Err(BadTokens::Short { line });
            }
            let hash = blake3::hash(text.as_bytes());
            if let Some((first, _)) = tokens.iter().find(|(_, token)| token.hash == hash) {
                return Err(BadTokens::Again {
                    line,
                    first: *first,
                });
            }
            let name = format!("token {}", tokens.len() + 1).into();
            tokens.push((line, CallerToken { hash, name }));
        }
        match tokens.len() {
            0 => Err(BadTokens::None),
            1..=MAX_TOKENS => Ok(Self(tokens.into_iter().map(|(_, token)| token).collect())),
            _ => Err(BadTokens::TooMany),
        }
    }

    /// Whose token it is. All are compared, whichever it is.
    fn find(&self, given: &str) -> Option<HttpCaller> {
        let given = blake3::hash(given.as_bytes());
        self.0.iter().fold(None, |found, token| {
            let is_this = token.hash == given;
            let caller = || HttpCaller {
                name: Arc::clone(&token.name),
                key: *token.hash.as_bytes(),
            };
            is_this.then(caller).or(found)
        })
    }
}

/// Who may use a server.
pub struct HttpAccess {
    tokens: Option<CallerTokens>,
    origins: Vec<HttpOrigin>,
    hosts: Vec<NamedHost>,
}

/// A name under which a server is reached from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
struct NamedHost {
    host: String,
    /// `None` if any port is right.
    port: Option<u16>,
}

/// Why a text is no host.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is no host: write a name as clients know it, such as jig.example.com or jig.example.com:8443"
)]
pub struct BadHost(String);

/// Why a text is no origin.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` is no origin: write SCHEME://HOST or SCHEME://HOST:PORT, without a path")]
pub struct BadOrigin(String);

impl HttpAccess {
    /// Whoever has one of these tokens.
    pub fn with(tokens: CallerTokens) -> Self {
        Self {
            tokens: Some(tokens),
            origins: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// Whoever can connect. Only for tools that may be anybody's, and only on this machine.
    pub fn of_anybody() -> Self {
        Self {
            tokens: None,
            origins: Vec::new(),
            hosts: Vec::new(),
        }
    }

    /// Whether no token is needed.
    pub(super) fn is_of_anybody(&self) -> bool {
        self.tokens.is_none()
    }

    /// Allows pages of an origin, too. They need a token all the same.
    ///
    /// # Errors
    ///
    /// If it is no origin.
    pub fn allow_origin(&mut self, origin: &str) -> Result<(), BadOrigin> {
        let parsed = HttpOrigin::parse(origin).ok_or_else(|| BadOrigin(origin.to_owned()))?;
        self.origins.push(parsed);
        Ok(())
    }

    /// Allows requests that name this host, too: those that come by a proxy under whose name clients know the server.
    ///
    /// # Errors
    ///
    /// If it is no host.
    pub fn allow_host(&mut self, host: &str) -> Result<(), BadHost> {
        let bad = || BadHost(host.to_owned());
        let authority: Authority = host.parse().map_err(|_| bad())?;
        if authority.host().is_empty() || host.contains('@') {
            return Err(bad());
        }
        self.hosts.push(NamedHost {
            host: authority.host().to_ascii_lowercase(),
            port: authority.port_u16(),
        });
        Ok(())
    }

    /// What is allowed at an address.
    pub(super) fn at(self, address: SocketAddr) -> ListenerAccess {
        let is_local = address.ip().is_loopback();
        let hosts = match is_local {
            true => names(address),
            false => Vec::new(),
        };
        // Pages of our own, if there were any.
        let own = hosts.iter().map(|host| HttpOrigin {
            scheme: "http".to_owned(),
            host: host.clone(),
            port: Some(address.port()),
        });
        let mut origins = self.origins;
        origins.extend(own);
        ListenerAccess {
            tokens: self.tokens,
            origins,
            hosts: is_local.then_some(hosts),
            named: self.hosts,
            port: address.port(),
        }
    }
}

/// What a server at an address of this machine may be called.
fn names(address: SocketAddr) -> Vec<String> {
    let own = match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    };
    let usual = LOCAL_HOSTS.iter().map(|host| (*host).to_owned());
    usual.chain([own]).collect()
}

/// An origin, as browsers send it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct HttpOrigin {
    scheme: String,
    host: String,
    /// The one of the scheme, where none was named.
    port: Option<u16>,
}

impl HttpOrigin {
    fn parse(text: &str) -> Option<Self> {
        let uri: Uri = text.strip_suffix('/').unwrap_or(text).parse().ok()?;
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() || text.contains('#') {
            return None;
        }
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let authority = uri.authority()?;
        if authority.as_str().contains('@') {
            return None;
        }
        let default = match &*scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        };
        Some(Self {
            host: authority.host().to_ascii_lowercase(),
            port: authority.port_u16().or(default),
            scheme,
        })
    }

    fn to_text(&self) -> String {
        let Self { scheme, host, port } = self;
        match port {
            Some(port) => format!("{scheme}://{host}:{port}"),
            None => format!("{scheme}://{host}"),
        }
    }
}

/// Who may use a server that listens.
pub(super) struct ListenerAccess {
    tokens: Option<CallerTokens>,
    origins: Vec<HttpOrigin>,
    /// What we may be called; on a network a server has names that it does not know.
    hosts: Option<Vec<String>>,
    /// What else we may be called.
    named: Vec<NamedHost>,
    port: u16,
}

/// Whose request it is.
pub(super) struct HttpCaller {
    /// What the caller is called: by the place of its token.
    pub(super) name: Arc<str>,
    /// A hash of its token.
    pub(super) key: [u8; 32],
}

/// What is to be done with a request.
pub(super) enum HttpAdmission {
    /// It is one of this caller.
    Caller(HttpCaller),
    /// It was refused, or has its answer.
    Answered(McpHttpAnswer),
}

impl ListenerAccess {
    /// Judges a request by its head.
    pub(super) fn judge<B>(&self, request: &Request<B>) -> HttpAdmission {
        match self.judged(request) {
            Ok(caller) => HttpAdmission::Caller(caller),
            Err(answer) => HttpAdmission::Answered(*answer),
        }
    }

    fn judged<B>(&self, request: &Request<B>) -> Result<HttpCaller, Box<McpHttpAnswer>> {
        let headers = request.headers();
        let refused = |status, text: &str| Err(Box::new(refusal(status, text)));
        if !self.is_our_name(request.uri(), headers) {
            return refused(StatusCode::FORBIDDEN, "no server of this name is here");
        }
        if request.uri().path() == HEALTH_PATH {
            return refused(StatusCode::OK, "ok");
        }
        if !self.is_allowed_page(headers) {
            let text = "pages of this origin are not allowed; `jig mcp --allow-origin` allows them";
            return refused(StatusCode::FORBIDDEN, text);
        }
        if request.uri().path() != PATH {
            return refused(StatusCode::NOT_FOUND, "the only path here is /mcp");
        }
        if request.method() == Method::OPTIONS
            && let Some(origin) = self.allowed_origin(headers)
        {
            return Err(Box::new(preflight(origin)));
        }
        let Some(tokens) = &self.tokens else {
            return Ok(HttpCaller {
                name: ANYBODY.into(),
                key: [0; 32],
            });
        };
        // Something in between may have looked at another one than we would.
        let mut given = headers.get_all(AUTHORIZATION).iter();
        let (given, None) = (given.next(), given.next()) else {
            return refused(StatusCode::BAD_REQUEST, "`Authorization` is there twice");
        };
        let given = given.map(|value| value.to_str());
        let (challenge, text) = match given {
            None => (
                r#"Bearer realm="jig""#,
                "a token is needed: `Authorization: Bearer TOKEN`",
            ),
            Some(given) => {
                let found = given
                    .ok()
                    .and_then(bearer)
                    .and_then(|given| tokens.find(given));
                if let Some(caller) = found {
                    return Ok(caller);
                }
                (
                    r#"Bearer realm="jig", error="invalid_token""#,
                    "this token is not one of this server",
                )
            }
        };
        let mut answer = refusal(StatusCode::UNAUTHORIZED, text);
        let challenge = HeaderValue::from_static(challenge);
        answer.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Err(Box::new(answer))
    }

    /// The origin of the page that sent a request, if it may read the answer.
    pub(super) fn allowed_origin(&self, headers: &HeaderMap) -> Option<HeaderValue> {
        let value = headers.get(ORIGIN)?;
        let origin = HttpOrigin::parse(value.to_str().ok()?)?;
        self.origins.contains(&origin).then(|| value.clone())
    }

    /// Whether it was sent by no page, or by one that is allowed.
    fn is_allowed_page(&self, headers: &HeaderMap) -> bool {
        match headers.get_all(ORIGIN).iter().count() {
            0 => true,
            1 => self.allowed_origin(headers).is_some(),
            _ => false,
        }
    }

    /// Whether a request was meant for us: on this machine it names it so. A page that has its own name lead
    /// here (DNS rebinding) is told apart by that.
    fn is_our_name(&self, uri: &Uri, headers: &HeaderMap) -> bool {
        let Some(hosts) = &self.hosts else {
            return true;
        };
        let mut named = headers.get_all(HOST).iter();
        let (Some(host), None) = (named.next(), named.next()) else {
            return false;
        };
        let authority = |text: &[u8]| Authority::try_from(text).ok();
        let is_ours = |authority: &Authority| {
            let host = authority.host().to_ascii_lowercase();
            let port = authority.port_u16().unwrap_or(80);
            let is_named = |named: &NamedHost| {
                let mut ports = named.port.into_iter();
                named.host == host && ports.all(|wanted| authority.port_u16() == Some(wanted))
            };
            let is_own = hosts.contains(&host) && port == self.port;
            (is_own || self.named.iter().any(is_named)) && !authority.as_str().contains('@')
        };
        // A request line may name a host, too, and then that counts.
        authority(host.as_bytes()).is_some_and(|host| is_ours(&host))
            && uri.authority().is_none_or(is_ours)
    }

    /// The same for rmcp, which looks again.
    pub(super) fn hosts(&self) -> Option<Vec<String>> {
        let named = self.named.iter().map(|named| named.host.clone());
        let hosts = self.hosts.clone()?;
        Some(hosts.into_iter().chain(named).collect())
    }

    /// The same for rmcp.
    pub(super) fn origins(&self) -> Vec<String> {
        self.origins.iter().map(HttpOrigin::to_text).collect()
    }
}

/// The token of an `Authorization`.
fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim_matches(' '))
}

/// Tells a browser what a page of an allowed origin may send.
fn preflight(origin: HeaderValue) -> McpHttpAnswer {
    let mut answer = refusal(StatusCode::NO_CONTENT, "");
    *answer.body_mut() = http_body_util::BodyExt::boxed(http_body_util::Empty::new());
    let headers = answer.headers_mut();
    headers.clear();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    let names = "authorization, content-type, last-event-id, mcp-method, mcp-name, \
                 mcp-protocol-version, mcp-session-id";
    let names = HeaderValue::from_static(names);
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    share(&mut answer, origin);
    answer
}

/// Lets a page of an allowed origin read an answer.
pub(super) fn share(answer: &mut McpHttpAnswer, origin: HeaderValue) {
    let headers = answer.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    let exposed =
        HeaderValue::from_static("mcp-session-id, mcp-protocol-version, www-authenticate");
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    headers.append(VARY, HeaderValue::from_static("origin"));
}

/// What this machine calls itself.
const LOCAL_HOSTS: &[&str] = &["localhost", "127.0.0.1", "[::1]"];

/// Where whoever looks after the server asks whether it serves. It tells that and nothing else, to anybody.
const HEALTH_PATH: &str = "/healthz";

/// What the caller is called where there are no tokens.
const ANYBODY: &str = "anybody";

/// The shortest token. A shorter one could be guessed.
const MIN_LENGTH: usize = 16;

/// The most tokens: every request is compared with all.
const MAX_TOKENS: usize = 256;

#[cfg(test)]
mod tests;
