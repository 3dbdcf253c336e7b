//! What the tests of the network stand on, as far as it is needed here.

#![expect(
    dead_code,
    reason = "not everything of the network's tests is needed here"
)]

#[path = "../net/fixture/authority.rs"]
pub(crate) mod authority;
#[path = "../net/fixture/http.rs"]
pub(crate) mod http;
#[path = "../net/fixture/names.rs"]
pub(crate) mod names;
#[path = "../net/fixture/site.rs"]
pub(crate) mod site;
