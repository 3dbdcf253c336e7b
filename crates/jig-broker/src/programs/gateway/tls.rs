//! The first message of a TLS client: which name it asks for.

/// What is read of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ClientHello {
    /// The name, as it was spelled.
    pub(super) name: Option<String>,
    /// Whether it also carries a name that only the server can read.
    pub(super) encrypted: bool,
}

/// Reads the message, which may come in several records; `None` if it is not there as a whole.
///
/// # Errors
///
/// If it is not such a message, or can be read in two ways.
pub(super) fn read_hello(bytes: &[u8]) -> Result<Option<ClientHello>, &'static str> {
    let mut records = TlsReader(bytes);
    let mut message = Vec::new();
    loop {
        if let Some(length) = length_of(&message)?
            && let Some(body) = message.get(4..4 + length)
        {
            return read_body(body).map(Some);
        }
        let Some([kind, major, _, high, low]) = records.take(5) else {
            break;
        };
        let length = usize::from(u16::from_be_bytes([*high, *low]));
        if *kind != HANDSHAKE || *major != 3 || length == 0 || length > MAX_RECORD {
            return Err("its first records are not those of TLS");
        }
        let Some(fragment) = records.take(length) else {
            break;
        };
        message.extend_from_slice(fragment);
    }
    if bytes.len() > MAX_BYTES {
        return Err("its first message is too long");
    }
    Ok(None)
}

/// The length of the message that begins in this way.
fn length_of(message: &[u8]) -> Result<Option<usize>, &'static str> {
    let Some([kind, a, b, c]) = message.first_chunk() else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([0, *a, *b, *c]) as usize;
    match (*kind, length) {
        (CLIENT_HELLO, ..=MAX_HELLO) => Ok(Some(length)),
        (CLIENT_HELLO, _) => Err("its first message is too long"),
        _ => Err("it does not begin as TLS clients do"),
    }
}

fn read_body(body: &[u8]) -> Result<ClientHello, &'static str> {
    parse_body(&mut TlsReader(body)).ok_or("its first message is malformed")?
}

fn parse_body(body: &mut TlsReader<'_>) -> Option<Result<ClientHello, &'static str>> {
    body.take(2 + 32)?;
    body.list8()?;
    body.list16()?;
    body.list8()?;
    let mut hello = ClientHello {
        name: None,
        encrypted: false,
    };
    // Clients of before 2003 have no extensions.
    if body.0.is_empty() {
        return Some(Ok(hello));
    }
    let mut extensions = TlsReader(body.list16()?);
    if !body.0.is_empty() {
        return None;
    }
    let mut names = 0;
    while !extensions.0.is_empty() {
        let kind = extensions.u16()?;
        let content = extensions.list16()?;
        match kind {
            SERVER_NAME => {
                names += 1;
                hello.name = Some(server_name(content)?);
            }
            ENCRYPTED_HELLO | ENCRYPTED_NAME => hello.encrypted = true,
            _ => {}
        }
    }
    if names > 1 {
        return Some(Err("it asks for two names"));
    }
    Some(Ok(hello))
}

/// The one name in the list; a list of several, or of something else than a name, is not read.
fn server_name(content: &[u8]) -> Option<String> {
    let mut content = TlsReader(content);
    let mut list = TlsReader(content.list16()?);
    let kind = list.take(1)?;
    let name = list.list16()?;
    let alone = content.0.is_empty() && list.0.is_empty() && kind == [0];
    let name = std::str::from_utf8(name).ok()?;
    (alone && name.is_ascii()).then(|| name.to_owned())
}

/// A fatal alert, in the form in which it is understood before any key is there.
pub(super) fn alert(description: u8) -> [u8; 7] {
    [21, 3, 3, 0, 2, 2, description]
}

/// Says that the connection was refused.
pub(super) const ACCESS_DENIED: u8 = 49;

/// Says that the connection failed for a reason that is not the client's.
pub(super) const INTERNAL_ERROR: u8 = 80;

/// The rest of some bytes.
struct TlsReader<'a>(&'a [u8]);

impl<'a> TlsReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes: [u8; 2] = self.take(2)?.try_into().ok()?;
        Some(u16::from_be_bytes(bytes))
    }

    fn list8(&mut self) -> Option<&'a [u8]> {
        let length = *self.take(1)?.first()?;
        self.take(length.into())
    }

    fn list16(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }
}

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const SERVER_NAME: u16 = 0;

/// The extension in which a client hides what it asks for, and the one that was tried before it.
const ENCRYPTED_HELLO: u16 = 0xfe0d;
const ENCRYPTED_NAME: u16 = 0xffce;

/// The longest content of a record.
const MAX_RECORD: usize = 16 * 1024;

/// The longest message that is read. Those of real clients have at most a few thousand bytes, with keys
/// that are safe from quantum computers.
const MAX_HELLO: usize = 16 * 1024;

/// The most bytes that it may take with its records, each of which may hold as little as one byte of it. It is read
/// from the beginning whenever more comes, so that a program could have us read a long one very often.
const MAX_BYTES: usize = 32 * 1024;

#[cfg(test)]
mod tests;
