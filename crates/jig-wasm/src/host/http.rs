//! `jp:host/http`: servers, as far as `access.net` allows them.

use jig_proto::vfs::{self, HttpGet, HttpPost, Payload, VfsReply, VfsRequest};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::jp::host::http::{self, Header, Host, Response};
use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    http::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl Host for Guest {
    fn get(
        &mut self,
        url: String,
        headers: Vec<Header>,
    ) -> wasmtime::Result<Result<Response, String>> {
        let get = HttpGet {
            url: url.into(),
            headers: sent(headers),
        };
        self.hosted(&VfsRequest::HttpGet(get), response)
    }

    fn post(
        &mut self,
        url: String,
        headers: Vec<Header>,
        body: Vec<u8>,
    ) -> wasmtime::Result<Result<Response, String>> {
        let post = HttpPost {
            url: url.into(),
            headers: sent(headers),
            body: Payload::from(body),
        };
        self.hosted(&VfsRequest::HttpPost(post), response)
    }
}

fn sent(headers: Vec<Header>) -> Vec<vfs::Header<'static>> {
    let headers = headers.into_iter().map(|header| vfs::Header {
        name: header.name.into(),
        value: header.value.into(),
    });
    headers.collect()
}

fn response(reply: VfsReply<'static>) -> Option<Response> {
    match reply {
        VfsReply::Http(http) => Some(Response {
            status: http.status,
            body: http.body.into_bytes(),
        }),
        _ => None,
    }
}
