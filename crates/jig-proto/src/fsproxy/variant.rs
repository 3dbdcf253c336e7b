//! [`Variant`]: which protocol a client speaks.

/// Which protocol a client speaks, as its first byte says.
///
/// Exhaustive: every byte is one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    /// Frames of JSON. The first byte of a length within any sensible limit is below 32.
    Framed,
    /// Lines of text: every command begins with a capital letter.
    Legacy,
    /// JSON without its length: a client that has forgotten it. It is answered with `E_ARG`.
    UnframedJson,
    /// Neither.
    Unknown,
}

impl Variant {
    /// The protocol of a client whose first byte is `first`.
    pub fn detect(first: u8) -> Self {
        match first {
            0..0x20 => Self::Framed,
            b'A'..=b'Z' => Self::Legacy,
            b'{' => Self::UnframedJson,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests;
