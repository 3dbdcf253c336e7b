//! [`HttpSettings`]: how servers are reached; [`agent_config`]: what that means to the HTTP client.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ureq::config::Config;
use ureq::tls::{Certificate, RootCerts, TlsConfig, TlsProvider};
use url::Url;

use super::resolver::{Resolver, SystemResolver};

/// How servers are reached.
#[derive(Debug, Clone)]
pub struct HttpSettings {
    /// Who turns names into addresses. Default: the operating system.
    pub resolver: Arc<dyn Resolver>,
    /// The `User-Agent` of requests that name none.
    pub user_agent: String,
    /// The certificates (DER) that servers must descend from. Default: those that the machine
    /// trusts (or those in the file or directory that `SSL_CERT_FILE` and `SSL_CERT_DIR` of the
    /// host name), read once when the first is needed.
    pub roots: Option<Arc<[Vec<u8>]>>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            resolver: Arc::new(SystemResolver),
            user_agent: concat!("jig/", env!("CARGO_PKG_VERSION")).to_owned(),
            roots: None,
        }
    }
}

impl HttpSettings {
    fn certificates(&self) -> Arc<Vec<Certificate<'static>>> {
        static SYSTEM: OnceLock<Arc<Vec<Certificate<'static>>>> = OnceLock::new();
        let own = |der: &[u8]| Certificate::from_der(der).to_owned();
        let system = || {
            // What cannot be read is left out: fewer servers are trusted then, not more.
            let found = rustls_native_certs::load_native_certs();
            Arc::new(found.certs.iter().map(|der| own(der)).collect())
        };
        match &self.roots {
            Some(roots) => Arc::new(roots.iter().map(|der| own(der)).collect()),
            None => Arc::clone(SYSTEM.get_or_init(system)),
        }
    }
}

/// How an agent for one exchange behaves: no redirect, no proxy, no connection that is kept. `left` is the time
/// for all of it, `connect` that for making the connection.
pub(crate) fn agent_config(
    settings: &HttpSettings,
    url: &Url,
    left: Duration,
    connect: Option<Duration>,
) -> Config {
    let mut config = Config::builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .max_idle_connections(0)
        .user_agent(settings.user_agent.as_str())
        .accept_encoding("identity")
        .timeout_connect(connect)
        .timeout_global(Some(left.max(Duration::from_millis(1))));
    if url.scheme() == "https" {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let tls = TlsConfig::builder()
            .provider(TlsProvider::Rustls)
            .root_certs(RootCerts::Specific(settings.certificates()))
            .unversioned_rustls_crypto_provider(provider)
            .build();
        config = config.tls_config(tls);
    }
    config.build()
}
