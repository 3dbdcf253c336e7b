//! Questions that a confined program asks, and the answers it gets.

use std::net::IpAddr;

use super::{
    ANSWER, DnsHeader, DnsQuestion, DnsReader, HEADER, INTERNET, KIND_A, KIND_AAAA, OPERATION,
    RECURSION_WANTED, write_header,
};

/// A question that somebody asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DnsQuery {
    /// The number by which an answer is told from others.
    pub(crate) id: u16,
    /// Whether the flag is set that asks for the whole answer; it is given back.
    pub(crate) recursion: bool,
    /// What is asked about.
    pub(crate) question: DnsQuestion,
    /// The question as it was written, which an answer repeats.
    written: Vec<u8>,
    /// Whether the asker knows the extensions of the protocol; an answer must say so, too.
    extended: bool,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DnsResponseCode {
    Fine,
    Malformed,
    NoSuchName,
    NotImplemented,
    Refused,
}

/// Why a question was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DnsQueryError {
    /// It is not a question at all, or too short to be answered.
    Ignored,
    /// The answer says what is wrong.
    Answered {
        /// Its number.
        id: u16,
        /// What the answer says.
        code: DnsResponseCode,
    },
}

/// Reads a question. What it carries besides the first question plays no part.
pub(crate) fn read_query(message: &[u8]) -> Result<DnsQuery, DnsQueryError> {
    let header = DnsHeader::read(message).ok_or(DnsQueryError::Ignored)?;
    if header.flags & ANSWER != 0 {
        return Err(DnsQueryError::Ignored);
    }
    let wrong = |code| DnsQueryError::Answered {
        id: header.id,
        code,
    };
    if header.flags & OPERATION != 0 {
        return Err(wrong(DnsResponseCode::NotImplemented));
    }
    if header.questions != 1 {
        return Err(wrong(DnsResponseCode::Malformed));
    }
    let mut reader = DnsReader::new(message, HEADER);
    let question = reader.question().ok_or(wrong(DnsResponseCode::Malformed))?;
    if question.class != INTERNET {
        return Err(wrong(DnsResponseCode::Refused));
    }
    Ok(DnsQuery {
        id: header.id,
        recursion: header.flags & RECURSION_WANTED != 0,
        question,
        written: message[HEADER..reader.at].to_vec(),
        extended: is_extended(reader),
    })
}

/// Whether one of the records behind the question says that the sender knows the extensions.
fn is_extended(mut reader: DnsReader<'_>) -> bool {
    std::iter::from_fn(|| reader.record()).any(|record| record.kind == OPTIONS)
}

/// An answer to a question that was read.
pub(crate) fn write_answer(
    query: &DnsQuery,
    code: DnsResponseCode,
    addresses: &[IpAddr],
    ttl: u32,
) -> Vec<u8> {
    let mut message = Vec::with_capacity(128);
    let mut flags = ANSWER | RECURSION_OFFERED | code.number();
    if query.recursion {
        flags |= RECURSION_WANTED;
    }
    let extra = u16::from(query.extended);
    let count = u16::try_from(addresses.len()).unwrap_or(u16::MAX);
    write_header(&mut message, query.id, flags, count, extra);
    message.extend(&query.written);
    for address in addresses.iter().take(usize::from(count)) {
        message.extend(NAME_OF_QUESTION);
        match address {
            IpAddr::V4(address) => {
                write_record(&mut message, KIND_A, ttl, &address.octets());
            }
            IpAddr::V6(address) => {
                write_record(&mut message, KIND_AAAA, ttl, &address.octets());
            }
        }
    }
    if extra != 0 {
        message.push(0);
        message.extend(OPTIONS.to_be_bytes());
        message.extend(LARGEST_UDP.to_be_bytes());
        message.extend([0; 6]);
    }
    message
}

/// An answer to something of which only the number was read.
pub(crate) fn write_refusal(id: u16, code: DnsResponseCode) -> Vec<u8> {
    let mut message = Vec::with_capacity(HEADER);
    for word in [id, ANSWER | RECURSION_OFFERED | code.number(), 0, 0, 0, 0] {
        message.extend(word.to_be_bytes());
    }
    message
}

fn write_record(message: &mut Vec<u8>, kind: u16, ttl: u32, data: &[u8]) {
    message.extend(kind.to_be_bytes());
    message.extend(INTERNET.to_be_bytes());
    message.extend(ttl.to_be_bytes());
    message.extend(u16::try_from(data.len()).unwrap_or(u16::MAX).to_be_bytes());
    message.extend(data);
}

impl DnsResponseCode {
    fn number(self) -> u16 {
        match self {
            Self::Fine => 0,
            Self::Malformed => 1,
            Self::NoSuchName => 3,
            Self::NotImplemented => 4,
            Self::Refused => 5,
        }
    }
}

/// Not a record, but what the asker can do.
const OPTIONS: u16 = 41;

const RECURSION_OFFERED: u16 = 0x0080;

/// A pointer to the name of the question.
const NAME_OF_QUESTION: [u8; 2] = [0xc0, 0x0c];

/// The largest message over UDP, as we tell it: no network passes larger ones in one piece reliably.
const LARGEST_UDP: u16 = 1232;
