//! What a guest sends.

use std::sync::Arc;

use wasmtime::component::Resource;

use super::Fields;
use super::exchange::WasiHttpExchange;
use super::fields::is_token;
use crate::bindings::wasi::http::types::{
    ErrorCode, HostOutgoingBody, HostOutgoingRequest, HostOutgoingResponse, HostRequestOptions,
    Method, Scheme,
};
use crate::guest::Guest;
use crate::wasi::io::OutputStream;

#[cfg(test)]
mod tests;

/// A request that is put together.
#[derive(Debug)]
pub struct OutgoingRequest {
    pub(super) method: Method,
    pub(super) scheme: Option<Scheme>,
    pub(super) authority: Option<String>,
    pub(super) path: Option<String>,
    pub(super) headers: Fields,
    /// Where its body goes, if it has one.
    pub(super) exchange: Option<Arc<WasiHttpExchange>>,
}

/// How long things may take. None of it can be set: the broker has its own limit.
#[derive(Debug)]
pub struct RequestOptions;

/// A response that nobody waits for: guests are no servers.
#[derive(Debug)]
pub struct OutgoingResponse {
    status: u16,
    headers: Fields,
    has_body: bool,
}

/// The body of a request.
#[derive(Debug)]
pub struct OutgoingBody {
    exchange: Arc<WasiHttpExchange>,
    /// How long the headers say that it is.
    declared: Option<u64>,
    has_stream: bool,
}

impl OutgoingBody {
    fn new(exchange: Arc<WasiHttpExchange>, headers: &Fields) -> Self {
        let declared = headers.values("content-length").next();
        let declared = declared.and_then(|value| str::from_utf8(value).ok());
        Self {
            exchange,
            declared: declared.and_then(|value| value.trim().parse().ok()),
            has_stream: false,
        }
    }
}

impl HostOutgoingRequest for Guest {
    fn new(&mut self, headers: Resource<Fields>) -> wasmtime::Result<Resource<OutgoingRequest>> {
        let headers = self.table.delete(headers)?;
        self.hold(OutgoingRequest {
            method: Method::Get,
            scheme: None,
            authority: None,
            path: None,
            headers,
            exchange: None,
        })
    }

    fn body(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Result<Resource<OutgoingBody>, ()>> {
        let exchange = WasiHttpExchange::new(&self.http, true).ok_or_else(super::too_much)?;
        let request = self.table.get_mut(&request)?;
        if request.exchange.is_some() {
            return Ok(Err(()));
        }
        request.exchange = Some(Arc::clone(&exchange));
        let body = OutgoingBody::new(exchange, &request.headers);
        Ok(Ok(self.hold(body)?))
    }

    fn method(&mut self, request: Resource<OutgoingRequest>) -> wasmtime::Result<Method> {
        Ok(self.table.get(&request)?.method.clone())
    }

    fn set_method(
        &mut self,
        request: Resource<OutgoingRequest>,
        method: Method,
    ) -> wasmtime::Result<Result<(), ()>> {
        if let Method::Other(name) = &method
            && !is_token(name)
        {
            return Ok(Err(()));
        }
        self.table.get_mut(&request)?.method = method;
        Ok(Ok(()))
    }

    fn path_with_query(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&request)?.path.clone())
    }

    fn set_path_with_query(
        &mut self,
        request: Resource<OutgoingRequest>,
        path: Option<String>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if path.as_deref().is_some_and(|path| !is_path(path)) {
            return Ok(Err(()));
        }
        self.table.get_mut(&request)?.path = path;
        Ok(Ok(()))
    }

    fn scheme(&mut self, request: Resource<OutgoingRequest>) -> wasmtime::Result<Option<Scheme>> {
        Ok(self.table.get(&request)?.scheme.clone())
    }

    fn set_scheme(
        &mut self,
        request: Resource<OutgoingRequest>,
        scheme: Option<Scheme>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if let Some(Scheme::Other(name)) = &scheme
            && !is_scheme(name)
        {
            return Ok(Err(()));
        }
        self.table.get_mut(&request)?.scheme = scheme;
        Ok(Ok(()))
    }

    fn authority(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        Ok(self.table.get(&request)?.authority.clone())
    }

    fn set_authority(
        &mut self,
        request: Resource<OutgoingRequest>,
        authority: Option<String>,
    ) -> wasmtime::Result<Result<(), ()>> {
        if authority.as_deref().is_some_and(|name| !is_authority(name)) {
            return Ok(Err(()));
        }
        self.table.get_mut(&request)?.authority = authority;
        Ok(Ok(()))
    }

    fn headers(
        &mut self,
        request: Resource<OutgoingRequest>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.table.get(&request)?.headers.frozen()?;
        self.hold(headers)
    }

    fn drop(&mut self, request: Resource<OutgoingRequest>) -> wasmtime::Result<()> {
        self.table.delete(request)?;
        Ok(())
    }
}

impl HostOutgoingBody for Guest {
    fn write(
        &mut self,
        body: Resource<OutgoingBody>,
    ) -> wasmtime::Result<Result<Resource<OutputStream>, ()>> {
        let most = self.door.plan().message_limit;
        let body = self.table.get_mut(&body)?;
        if std::mem::replace(&mut body.has_stream, true) {
            return Ok(Err(()));
        }
        let stream = OutputStream::new(body.exchange.stream(most));
        Ok(Ok(self.hold(stream)?))
    }

    fn finish(
        &mut self,
        body: Resource<OutgoingBody>,
        trailers: Option<Resource<Fields>>,
    ) -> wasmtime::Result<Result<(), ErrorCode>> {
        let body = self.table.delete(body)?;
        let trailers = match trailers {
            Some(trailers) => self.table.delete(trailers)?.iter().count(),
            None => 0,
        };
        let written = body.exchange.written();
        let result = if body.declared.is_some_and(|declared| declared != written) {
            Err(ErrorCode::HttpRequestBodySize(Some(written)))
        } else if trailers > 0 {
            let why = "trailers are not sent".to_owned();
            Err(ErrorCode::InternalError(Some(why)))
        } else {
            Ok(())
        };
        match result {
            Ok(()) => body.exchange.finish(),
            Err(_) => body.exchange.give_up(),
        }
        self.send_if_whole(&body.exchange)?;
        Ok(result)
    }

    /// Without an end it is not whole.
    fn drop(&mut self, body: Resource<OutgoingBody>) -> wasmtime::Result<()> {
        let body = self.table.delete(body)?;
        body.exchange.give_up();
        self.send_if_whole(&body.exchange)
    }
}

impl HostRequestOptions for Guest {
    fn new(&mut self) -> wasmtime::Result<Resource<RequestOptions>> {
        self.hold(RequestOptions)
    }

    fn connect_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(None)
    }

    fn set_connect_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
        _timeout: Option<u64>,
    ) -> wasmtime::Result<Result<(), ()>> {
        Ok(Err(()))
    }

    fn first_byte_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(None)
    }

    fn set_first_byte_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
        _timeout: Option<u64>,
    ) -> wasmtime::Result<Result<(), ()>> {
        Ok(Err(()))
    }

    fn between_bytes_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
    ) -> wasmtime::Result<Option<u64>> {
        Ok(None)
    }

    fn set_between_bytes_timeout(
        &mut self,
        _options: Resource<RequestOptions>,
        _timeout: Option<u64>,
    ) -> wasmtime::Result<Result<(), ()>> {
        Ok(Err(()))
    }

    fn drop(&mut self, options: Resource<RequestOptions>) -> wasmtime::Result<()> {
        self.table.delete(options)?;
        Ok(())
    }
}

impl HostOutgoingResponse for Guest {
    fn new(&mut self, headers: Resource<Fields>) -> wasmtime::Result<Resource<OutgoingResponse>> {
        let headers = self.table.delete(headers)?;
        self.hold(OutgoingResponse {
            status: 200,
            headers,
            has_body: false,
        })
    }

    fn status_code(&mut self, response: Resource<OutgoingResponse>) -> wasmtime::Result<u16> {
        Ok(self.table.get(&response)?.status)
    }

    fn set_status_code(
        &mut self,
        response: Resource<OutgoingResponse>,
        status: u16,
    ) -> wasmtime::Result<Result<(), ()>> {
        if !(100..1000).contains(&status) {
            return Ok(Err(()));
        }
        self.table.get_mut(&response)?.status = status;
        Ok(Ok(()))
    }

    fn headers(
        &mut self,
        response: Resource<OutgoingResponse>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = self.table.get(&response)?.headers.frozen()?;
        self.hold(headers)
    }

    fn body(
        &mut self,
        response: Resource<OutgoingResponse>,
    ) -> wasmtime::Result<Result<Resource<OutgoingBody>, ()>> {
        let exchange = WasiHttpExchange::new(&self.http, true).ok_or_else(super::too_much)?;
        let response = self.table.get_mut(&response)?;
        if std::mem::replace(&mut response.has_body, true) {
            return Ok(Err(()));
        }
        let body = OutgoingBody::new(exchange, &response.headers);
        Ok(Ok(self.hold(body)?))
    }

    fn drop(&mut self, response: Resource<OutgoingResponse>) -> wasmtime::Result<()> {
        self.table.delete(response)?;
        Ok(())
    }
}

/// Whether it can follow a host. Without the slash it could make another host of it.
fn is_path(path: &str) -> bool {
    path.len() <= super::MAX_URL
        && path.starts_with(['/', '?'])
        && !path.contains(|c: char| c.is_control() || c == ' ' || c == '#')
}

/// Whether it can be a host with a port, and nothing else.
fn is_authority(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_graphic() && !b"/?#@\\".contains(&byte);
    !name.is_empty() && name.len() <= super::MAX_URL && name.bytes().all(is_part)
}

fn is_scheme(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    name.len() <= 32
        && name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(is_part)
}
