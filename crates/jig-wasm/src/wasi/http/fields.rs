//! [`Fields`]: headers.

use wasmtime::component::Resource;

use super::budget::{BudgetShare, GuestHttpBudget};
use crate::bindings::wasi::http::types::{HeaderError, HostFields};
use crate::guest::Guest;

#[cfg(test)]
mod tests;

/// The headers of a message, in their order and spelling. Names are the same whatever their case.
#[derive(Debug)]
pub struct Fields {
    entries: Vec<(String, Vec<u8>)>,
    held: BudgetShare,
    is_mutable: bool,
}

impl Fields {
    /// No headers yet.
    pub(super) fn new(budget: &GuestHttpBudget) -> wasmtime::Result<Self> {
        Ok(Self {
            entries: Vec::new(),
            held: budget.take(0).ok_or_else(too_many)?,
            is_mutable: true,
        })
    }

    /// The headers of something that is as it is.
    pub(super) fn frozen(&self) -> wasmtime::Result<Self> {
        Ok(Self {
            is_mutable: false,
            ..self.copied()?
        })
    }

    pub(super) fn copied(&self) -> wasmtime::Result<Self> {
        let size = self.entries.iter().map(size_of).sum();
        Ok(Self {
            entries: self.entries.clone(),
            held: self.held.budget().take(size).ok_or_else(too_many)?,
            is_mutable: true,
        })
    }

    /// All of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        let entries = self.entries.iter();
        entries.map(|(name, value)| (name.as_str(), value.as_slice()))
    }

    /// The values of one header.
    pub(super) fn values(&self, name: &str) -> impl Iterator<Item = &[u8]> {
        let same = move |(one, _): &(&str, &[u8])| one.eq_ignore_ascii_case(name);
        self.iter().filter(same).map(|(_, value)| value)
    }

    /// The error that ends the guest is outside, the one that it is told inside.
    pub(super) fn append(
        &mut self,
        name: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), HeaderError>> {
        if let Err(error) = self.check(&name, std::slice::from_ref(&value)) {
            return Ok(Err(error));
        }
        self.push(name, value)?;
        Ok(Ok(()))
    }

    fn set(
        &mut self,
        name: &str,
        values: Vec<Vec<u8>>,
    ) -> wasmtime::Result<Result<(), HeaderError>> {
        if let Err(error) = self.check(name, &values) {
            return Ok(Err(error));
        }
        self.remove(name);
        for value in values {
            self.push(name.to_owned(), value)?;
        }
        Ok(Ok(()))
    }

    fn delete(&mut self, name: &str) -> Result<(), HeaderError> {
        self.check(name, &[])?;
        self.remove(name);
        Ok(())
    }

    /// Whether a header with these values may stand here.
    fn check(&self, name: &str, values: &[Vec<u8>]) -> Result<(), HeaderError> {
        if !self.is_mutable {
            return Err(HeaderError::Immutable);
        }
        if !is_token(name) || !values.iter().all(|value| is_value(value)) {
            return Err(HeaderError::InvalidSyntax);
        }
        if is_forbidden(name) {
            return Err(HeaderError::Forbidden);
        }
        Ok(())
    }

    fn push(&mut self, name: String, value: Vec<u8>) -> wasmtime::Result<()> {
        let entry = (name, value);
        if self.entries.len() >= MAX_ENTRIES || !self.held.grow(size_of(&entry)) {
            return Err(too_many());
        }
        self.entries.push(entry);
        Ok(())
    }

    /// What was held for them stays held: a guest that sets a header again and again pays for each.
    fn remove(&mut self, name: &str) {
        let is_other = |(one, _): &(String, Vec<u8>)| !one.eq_ignore_ascii_case(name);
        self.entries.retain(is_other);
    }
}

impl HostFields for Guest {
    fn new(&mut self) -> wasmtime::Result<Resource<Fields>> {
        let fields = Fields::new(&self.http)?;
        self.hold(fields)
    }

    fn from_list(
        &mut self,
        entries: Vec<(String, Vec<u8>)>,
    ) -> wasmtime::Result<Result<Resource<Fields>, HeaderError>> {
        let mut fields = Fields::new(&self.http)?;
        for (name, value) in entries {
            if let Err(error) = fields.append(name, value)? {
                return Ok(Err(error));
            }
        }
        Ok(Ok(self.hold(fields)?))
    }

    fn get(&mut self, fields: Resource<Fields>, name: String) -> wasmtime::Result<Vec<Vec<u8>>> {
        let fields = self.table.get(&fields)?;
        Ok(fields.values(&name).map(<[u8]>::to_vec).collect())
    }

    fn has(&mut self, fields: Resource<Fields>, name: String) -> wasmtime::Result<bool> {
        Ok(self.table.get(&fields)?.values(&name).next().is_some())
    }

    fn set(
        &mut self,
        fields: Resource<Fields>,
        name: String,
        values: Vec<Vec<u8>>,
    ) -> wasmtime::Result<Result<(), HeaderError>> {
        self.table.get_mut(&fields)?.set(&name, values)
    }

    fn delete(
        &mut self,
        fields: Resource<Fields>,
        name: String,
    ) -> wasmtime::Result<Result<(), HeaderError>> {
        Ok(self.table.get_mut(&fields)?.delete(&name))
    }

    fn append(
        &mut self,
        fields: Resource<Fields>,
        name: String,
        value: Vec<u8>,
    ) -> wasmtime::Result<Result<(), HeaderError>> {
        self.table.get_mut(&fields)?.append(name, value)
    }

    fn entries(&mut self, fields: Resource<Fields>) -> wasmtime::Result<Vec<(String, Vec<u8>)>> {
        Ok(self.table.get(&fields)?.entries.clone())
    }

    fn clone(&mut self, fields: Resource<Fields>) -> wasmtime::Result<Resource<Fields>> {
        let fields = self.table.get(&fields)?.copied()?;
        self.hold(fields)
    }

    fn drop(&mut self, fields: Resource<Fields>) -> wasmtime::Result<()> {
        self.table.delete(fields)?;
        Ok(())
    }
}

/// Whether it can be the name of a header or of a method.
pub(super) fn is_token(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME && name.bytes().all(is_part)
}

fn is_value(value: &[u8]) -> bool {
    let is_part = |byte: &u8| *byte == b'\t' || (*byte >= b' ' && *byte != 0x7f);
    value.iter().all(is_part)
}

fn is_forbidden(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FORBIDDEN.contains(&name.as_str()) || PREFIXES.iter().any(|one| name.starts_with(one))
}

/// What an entry takes, with what keeping it takes.
fn size_of((name, value): &(String, Vec<u8>)) -> usize {
    name.len() + value.len() + ENTRY
}

/// A guest that goes so far is not one that a sentence would help.
fn too_many() -> wasmtime::Error {
    wasmtime::format_err!("the guest has more headers than are kept for it")
}

/// Headers that the broker sets, or refuses because they decide where a request goes or how long it is. Two
/// that it refuses as well are allowed here, since a client sets them without being asked, and are left out
/// when the request is sent: `content-length`, which has to be right, and `accept-encoding`.
const FORBIDDEN: [&str; 11] = [
    "connection",
    "content-encoding",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "x-http-method-override",
];

const PREFIXES: [&str; 2] = ["proxy-", "sec-"];

/// The longest name.
const MAX_NAME: usize = 256;

/// Far more than a server takes. They are looked through one by one.
const MAX_ENTRIES: usize = 1000;

/// What an entry takes beside its bytes.
const ENTRY: usize = 64;
