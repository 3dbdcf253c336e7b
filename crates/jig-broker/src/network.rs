//! How jig itself reaches a host: what requests, the gateway of a program and the LLM client share.
//!
//! A name is resolved here, and its addresses are judged ([`address`]). Whether a host may be reached at all is
//! decided before, by whoever comes here.

pub(crate) mod address;
pub(crate) mod dns;
mod dns_resolver;
pub(crate) mod http_settings;
pub(crate) mod resolver;
pub(crate) mod waiting;

pub use dns_resolver::DnsResolver;
pub use http_settings::HttpSettings;
pub use resolver::{Resolver, SystemResolver};
