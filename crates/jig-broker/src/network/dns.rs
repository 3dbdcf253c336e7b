//! Messages of the domain name system, as far as names of hosts need them.
//!
//! Here is the side that asks a server; [`query`] is the side that is asked. The bytes of both come from
//! outside; whatever they are, reading them ends, and takes no more memory than the message itself.

#[cfg(any(target_os = "linux", test))]
pub(crate) mod query;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DnsQuestion {
    /// The name without its final dot, as it was spelled. Bytes that no host name has are escaped, so
    /// that no two names look alike.
    pub(crate) name: String,
    /// The type of record.
    pub(crate) kind: u16,
    /// The class; always that of the internet in questions that are answered.
    pub(crate) class: u16,
}

/// A question to a server; `None` if the name cannot be one.
pub(crate) fn write_query(id: u16, name: &str, kind: u16) -> Option<Vec<u8>> {
    let mut message = Vec::with_capacity(64);
    write_header(&mut message, id, RECURSION_WANTED, 0, 0);
    write_name(&mut message, name)?;
    message.extend(kind.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    Some(message)
}

/// What a server said to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DnsAnswer {
    /// These addresses; none if the name has none of this type.
    Addresses(Vec<IpAddr>),
    /// There is no such name.
    NoSuchName,
    /// More than fits: the question is to be asked over TCP.
    Truncated,
    /// It could not or would not answer.
    Failed,
}

/// Reads the answer to the question with this number, name and type; `None` if it is not that.
pub(crate) fn read_answer(message: &[u8], id: u16, name: &str, kind: u16) -> Option<DnsAnswer> {
    let header = DnsHeader::read(message)?;
    if header.id != id || header.flags & ANSWER == 0 || header.flags & OPERATION != 0 {
        return None;
    }
    let mut reader = DnsReader::new(message, HEADER);
    let question = (header.questions == 1).then(|| reader.question())??;
    let asked = question.kind == kind
        && question.class == INTERNET
        && question.name.eq_ignore_ascii_case(name);
    if !asked {
        return None;
    }
    if header.flags & TRUNCATED != 0 {
        return Some(DnsAnswer::Truncated);
    }
    Some(match header.flags & CODE {
        0 => match addresses(reader, header.answers, name, kind) {
            Some(addresses) => DnsAnswer::Addresses(addresses),
            None => DnsAnswer::Failed,
        },
        3 => DnsAnswer::NoSuchName,
        _ => DnsAnswer::Failed,
    })
}

/// The addresses of the name, and of the names that it stands for. Servers put them in order; records
/// of other names are nobody's question.
fn addresses(mut reader: DnsReader<'_>, count: u16, name: &str, kind: u16) -> Option<Vec<IpAddr>> {
    let mut owner = name.to_owned();
    let mut found = Vec::new();
    for _ in 0..count {
        let record = reader.record()?;
        if record.class != INTERNET || !record.name.eq_ignore_ascii_case(&owner) {
            continue;
        }
        if record.kind == KIND_CNAME {
            owner = DnsReader::new(reader.message, record.data_at).name()?;
        } else if record.kind == kind {
            match (kind, record.data) {
                (KIND_A, data) => {
                    let octets: [u8; 4] = data.try_into().ok()?;
                    found.push(Ipv4Addr::from(octets).into());
                }
                (KIND_AAAA, data) => {
                    let octets: [u8; 16] = data.try_into().ok()?;
                    found.push(Ipv6Addr::from(octets).into());
                }
                _ => {}
            }
        }
        if found.len() >= MAX_FOUND {
            break;
        }
    }
    Some(found)
}

struct DnsHeader {
    id: u16,
    flags: u16,
    questions: u16,
    answers: u16,
}

impl DnsHeader {
    fn read(message: &[u8]) -> Option<Self> {
        let mut reader = DnsReader::new(message, 0);
        Some(Self {
            id: reader.u16()?,
            flags: reader.u16()?,
            questions: reader.u16()?,
            answers: reader.u16()?,
        })
    }
}

struct DnsRecord<'m> {
    name: String,
    kind: u16,
    class: u16,
    data: &'m [u8],
    /// Where the data begins in the message, for names in it that point back.
    data_at: usize,
}

struct DnsReader<'m> {
    message: &'m [u8],
    at: usize,
}

impl<'m> DnsReader<'m> {
    fn new(message: &'m [u8], at: usize) -> Self {
        Self { message, at }
    }

    fn take(&mut self, count: usize) -> Option<&'m [u8]> {
        let end = self.at.checked_add(count)?;
        let bytes = self.message.get(self.at..end)?;
        self.at = end;
        Some(bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        let bytes: [u8; 2] = self.take(2)?.try_into().ok()?;
        Some(u16::from_be_bytes(bytes))
    }

    fn question(&mut self) -> Option<DnsQuestion> {
        Some(DnsQuestion {
            name: self.name()?,
            kind: self.u16()?,
            class: self.u16()?,
        })
    }

    fn record(&mut self) -> Option<DnsRecord<'m>> {
        let name = self.name()?;
        let kind = self.u16()?;
        let class = self.u16()?;
        self.take(4)?;
        let length = usize::from(self.u16()?);
        let data_at = self.at;
        let data = self.take(length)?;
        Some(DnsRecord {
            name,
            kind,
            class,
            data,
            data_at,
        })
    }

    /// Reads a name, of at most the length that a name can have. A pointer leads to an earlier place
    /// than the one before it did, so that no chain of them has a circle.
    fn name(&mut self) -> Option<String> {
        let mut name = String::new();
        let mut octets = 0;
        let mut lowest = self.at;
        let mut after = None;
        loop {
            let length = *self.take(1)?.first()?;
            match length {
                0 => break,
                1..=MAX_LABEL => {
                    octets += usize::from(length) + 1;
                    if octets >= MAX_NAME {
                        return None;
                    }
                    if !name.is_empty() {
                        name.push('.');
                    }
                    push_label(&mut name, self.take(length.into())?);
                }
                0xc0.. => {
                    let low = *self.take(1)?.first()?;
                    after.get_or_insert(self.at);
                    let to = usize::from(length & 0x3f) << 8 | usize::from(low);
                    if !(HEADER..lowest).contains(&to) {
                        return None;
                    }
                    lowest = to;
                    self.at = to;
                }
                _ => return None,
            }
        }
        if let Some(after) = after {
            self.at = after;
        }
        Some(name)
    }
}

/// Adds a label. What no host name has is written as an escape, as zone files do it: a dot inside a
/// label is not the dot between two.
fn push_label(name: &mut String, label: &[u8]) {
    for byte in label {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => name.push(char::from(*byte)),
            other => name.push_str(&format!("\\{other:03}")),
        }
    }
}

fn write_header(message: &mut Vec<u8>, id: u16, flags: u16, answers: u16, extra: u16) {
    for word in [id, flags, 1, answers, 0, extra] {
        message.extend(word.to_be_bytes());
    }
}

fn write_name(message: &mut Vec<u8>, name: &str) -> Option<()> {
    let name = name.strip_suffix('.').unwrap_or(name);
    if name.len() + 2 > MAX_NAME || name.contains('\\') {
        return None;
    }
    let labels = name.split('.').filter(|_| !name.is_empty());
    for label in labels {
        let length = u8::try_from(label.len()).ok();
        let length = length.filter(|length| (1..=MAX_LABEL).contains(length))?;
        message.push(length);
        message.extend(label.as_bytes());
    }
    message.push(0);
    Some(())
}

/// An IPv4 address.
pub(crate) const KIND_A: u16 = 1;

/// An IPv6 address.
pub(crate) const KIND_AAAA: u16 = 28;

/// Another name for the name.
const KIND_CNAME: u16 = 5;

const INTERNET: u16 = 1;
const HEADER: usize = 12;
const ANSWER: u16 = 0x8000;
const OPERATION: u16 = 0x7800;
const TRUNCATED: u16 = 0x0200;
const RECURSION_WANTED: u16 = 0x0100;
const CODE: u16 = 0x000f;

/// The longest label, and the longest name with its lengths and its end.
const MAX_LABEL: u8 = 63;
const MAX_NAME: usize = 255;

/// The most addresses of one answer that are kept.
const MAX_FOUND: usize = 64;

#[cfg(test)]
mod tests;
