//! What a guest gets.

use std::sync::Arc;

use wasmtime::component::Resource;

use super::exchange::{AnswerBody, WasiHttpExchange};
use super::{Fields, OutgoingResponse};
use crate::bindings::wasi::http::types::{
    ErrorCode, HostFutureIncomingResponse, HostFutureTrailers, HostIncomingBody,
    HostIncomingRequest, HostIncomingResponse, HostResponseOutparam, Method, Scheme,
};
use crate::guest::Guest;
use crate::wasi::io::{InputStream, Pollable};

/// A request to a guest, which is no server.
#[derive(Debug)]
pub enum IncomingRequest {}

/// Where a server puts its response; a guest is none.
#[derive(Debug)]
pub enum ResponseOutparam {}

/// The answer to a request, once it is there.
#[derive(Debug)]
pub struct FutureResponse(pub(super) Arc<WasiHttpExchange>);

/// The answer to a request.
#[derive(Debug)]
pub struct IncomingResponse {
    status: u16,
    /// `None` once it was taken.
    body: Option<AnswerBody>,
}

/// The body of an answer.
#[derive(Debug)]
pub struct IncomingBody(Option<AnswerBody>);

/// The trailers of an answer, of which the broker tells nothing; whether that was said already.
#[derive(Debug, Default)]
pub struct FutureTrailers {
    is_taken: bool,
}

impl HostFutureIncomingResponse for Guest {
    fn subscribe(
        &mut self,
        future: Resource<FutureResponse>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        let pollable = self.table.get(&future)?.0.pollable();
        self.hold(pollable)
    }

    fn get(
        &mut self,
        future: Resource<FutureResponse>,
    ) -> wasmtime::Result<Option<Result<Result<Resource<IncomingResponse>, ErrorCode>, ()>>> {
        let answer = match self.table.get(&future)?.0.take_answer() {
            None => return Ok(None),
            Some(Err(())) => return Ok(Some(Err(()))),
            Some(Ok(Err(error))) => return Ok(Some(Ok(Err(error)))),
            Some(Ok(Ok(answer))) => answer,
        };
        let response = self.hold(IncomingResponse {
            status: answer.status,
            body: Some(answer.body),
        })?;
        Ok(Some(Ok(Ok(response))))
    }

    fn drop(&mut self, future: Resource<FutureResponse>) -> wasmtime::Result<()> {
        self.table.delete(future)?;
        Ok(())
    }
}

impl HostIncomingResponse for Guest {
    fn status(&mut self, response: Resource<IncomingResponse>) -> wasmtime::Result<u16> {
        Ok(self.table.get(&response)?.status)
    }

    /// The broker tells of none: headers of an answer can hold what was sent as a secret.
    fn headers(
        &mut self,
        _response: Resource<IncomingResponse>,
    ) -> wasmtime::Result<Resource<Fields>> {
        let headers = Fields::new(&self.http)?.frozen()?;
        self.hold(headers)
    }

    fn consume(
        &mut self,
        response: Resource<IncomingResponse>,
    ) -> wasmtime::Result<Result<Resource<IncomingBody>, ()>> {
        match self.table.get_mut(&response)?.body.take() {
            Some(body) => Ok(Ok(self.hold(IncomingBody(Some(body)))?)),
            None => Ok(Err(())),
        }
    }

    fn drop(&mut self, response: Resource<IncomingResponse>) -> wasmtime::Result<()> {
        self.table.delete(response)?;
        Ok(())
    }
}

impl HostIncomingBody for Guest {
    fn stream(
        &mut self,
        body: Resource<IncomingBody>,
    ) -> wasmtime::Result<Result<Resource<InputStream>, ()>> {
        match self.table.get_mut(&body)?.0.take() {
            Some(body) => Ok(Ok(self.hold(InputStream::new(body))?)),
            None => Ok(Err(())),
        }
    }

    fn finish(
        &mut self,
        body: Resource<IncomingBody>,
    ) -> wasmtime::Result<Resource<FutureTrailers>> {
        self.table.delete(body)?;
        self.hold(FutureTrailers::default())
    }

    fn drop(&mut self, body: Resource<IncomingBody>) -> wasmtime::Result<()> {
        self.table.delete(body)?;
        Ok(())
    }
}

impl HostFutureTrailers for Guest {
    fn subscribe(
        &mut self,
        _future: Resource<FutureTrailers>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        self.hold(Pollable::Ready)
    }

    fn get(
        &mut self,
        future: Resource<FutureTrailers>,
    ) -> wasmtime::Result<Option<Result<Result<Option<Resource<Fields>>, ErrorCode>, ()>>> {
        let future = self.table.get_mut(&future)?;
        Ok(Some(match std::mem::replace(&mut future.is_taken, true) {
            false => Ok(Ok(None)),
            true => Err(()),
        }))
    }

    fn drop(&mut self, future: Resource<FutureTrailers>) -> wasmtime::Result<()> {
        self.table.delete(future)?;
        Ok(())
    }
}

impl HostIncomingRequest for Guest {
    fn method(&mut self, never: Resource<IncomingRequest>) -> wasmtime::Result<Method> {
        match *self.table.get(&never)? {}
    }

    fn path_with_query(
        &mut self,
        never: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Option<String>> {
        match *self.table.get(&never)? {}
    }

    fn scheme(&mut self, never: Resource<IncomingRequest>) -> wasmtime::Result<Option<Scheme>> {
        match *self.table.get(&never)? {}
    }

    fn authority(&mut self, never: Resource<IncomingRequest>) -> wasmtime::Result<Option<String>> {
        match *self.table.get(&never)? {}
    }

    fn headers(&mut self, never: Resource<IncomingRequest>) -> wasmtime::Result<Resource<Fields>> {
        match *self.table.get(&never)? {}
    }

    fn consume(
        &mut self,
        never: Resource<IncomingRequest>,
    ) -> wasmtime::Result<Result<Resource<IncomingBody>, ()>> {
        match *self.table.get(&never)? {}
    }

    fn drop(&mut self, never: Resource<IncomingRequest>) -> wasmtime::Result<()> {
        match self.table.delete(never)? {}
    }
}

impl HostResponseOutparam for Guest {
    fn send_informational(
        &mut self,
        never: Resource<ResponseOutparam>,
        _status: u16,
        _headers: Resource<Fields>,
    ) -> wasmtime::Result<Result<(), ErrorCode>> {
        match *self.table.get(&never)? {}
    }

    fn set(
        &mut self,
        never: Resource<ResponseOutparam>,
        _response: Result<Resource<OutgoingResponse>, ErrorCode>,
    ) -> wasmtime::Result<()> {
        match self.table.delete(never)? {}
    }

    fn drop(&mut self, never: Resource<ResponseOutparam>) -> wasmtime::Result<()> {
        match self.table.delete(never)? {}
    }
}
