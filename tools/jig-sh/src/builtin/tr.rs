//! `tr`, on bytes.

use super::echo::escape;
use crate::options::CommandOptions;
use crate::stage::CommandContext;
use crate::stream::CommandFailure;

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let given = CommandOptions::read(words, "cCds", "")?;
    let (delete, squeeze) = (given.has('d'), given.has('s'));
    let (first, second) = match given.operands.as_slice() {
        [first] if delete || squeeze => (set(first)?, None),
        [first, second] if !delete || squeeze => (set(first)?, Some(set(second)?)),
        [_] => {
            return Err(CommandFailure::Usage(
                "the second set is missing; -d deletes the first".to_owned(),
            ));
        }
        [_, _] => return Err(CommandFailure::Usage("with -d there is one set".to_owned())),
        _ => {
            let message =
                "one or two sets of characters; files come from the left: `tr a b < FILE`";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
    };
    let first = match given.has('c') || given.has('C') {
        true => (0..=u8::MAX).filter(|byte| !first.contains(byte)).collect(),
        false => first,
    };
    let mut becomes: [u8; 256] = std::array::from_fn(|byte| byte as u8);
    if let (Some(second), false) = (&second, delete) {
        let Some(last) = second.last() else {
            return Err(CommandFailure::Usage("the second set is empty".to_owned()));
        };
        for (at, byte) in first.iter().enumerate() {
            becomes[usize::from(*byte)] = *second.get(at).unwrap_or(last);
        }
    }
    let deleted = member(delete.then_some(first.as_slice()));
    let squeezed = member(squeeze.then_some(second.as_deref().unwrap_or(&first)));
    let Some(mut input) = stage.open("-") else {
        return Ok(stage.code());
    };
    let mut before = None;
    let mut changed = Vec::new();
    loop {
        let chunk = input.chunk(&mut stage.out)?;
        if chunk.is_empty() {
            return Ok(stage.code());
        }
        changed.clear();
        for byte in chunk {
            if deleted[usize::from(*byte)] {
                continue;
            }
            let byte = becomes[usize::from(*byte)];
            if !(squeezed[usize::from(byte)] && before == Some(byte)) {
                changed.push(byte);
            }
            before = Some(byte);
        }
        stage.out.write(&changed)?;
    }
}

fn member(set: Option<&[u8]>) -> [bool; 256] {
    let mut all = [false; 256];
    for byte in set.into_iter().flatten() {
        all[usize::from(*byte)] = true;
    }
    all
}

/// The bytes of a set such as `a-z\n[:digit:]`, in order.
fn set(text: &str) -> Result<Vec<u8>, CommandFailure> {
    if !text.is_ascii() {
        return Err(CommandFailure::Usage(format!(
            "`{text}`: only ASCII characters can be changed; `sed 's/é/e/g'` does others"
        )));
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        if let Some((class, length)) = class(rest) {
            bytes.extend(class?);
            rest = &rest[length..];
            continue;
        }
        let from = take(&mut rest);
        match rest {
            [b'-', _, ..] => {
                rest = &rest[1..];
                let to = take(&mut rest);
                if from > to {
                    return Err(CommandFailure::Usage(format!(
                        "`{text}`: a range goes backwards"
                    )));
                }
                bytes.extend(from..=to);
            }
            _ => bytes.push(from),
        }
    }
    Ok(bytes)
}

/// Takes one byte, which may be written as an escape. There is one.
fn take(rest: &mut &[u8]) -> u8 {
    let (byte, length) = match rest {
        [b'\\', after @ ..] => match escape(after) {
            Some((byte, length)) => (byte, length + 1),
            None => (after.first().copied().unwrap_or(b'\\'), 2.min(rest.len())),
        },
        [byte, ..] => (*byte, 1),
        [] => (0, 0),
    };
    *rest = &rest[length..];
    byte
}

/// `[:digit:]` at the beginning of `rest`, and its length.
fn class(rest: &[u8]) -> Option<(Result<Vec<u8>, CommandFailure>, usize)> {
    let inner = rest.strip_prefix(b"[:")?;
    let end = inner.windows(2).position(|two| two == b":]")?;
    let name = &inner[..end];
    let is_member: fn(&u8) -> bool = match name {
        b"alpha" => u8::is_ascii_alphabetic,
        b"digit" => u8::is_ascii_digit,
        b"alnum" => u8::is_ascii_alphanumeric,
        b"upper" => u8::is_ascii_uppercase,
        b"lower" => u8::is_ascii_lowercase,
        b"space" => |byte| byte.is_ascii_whitespace() || *byte == 11,
        b"blank" => |byte| matches!(byte, b' ' | b'\t'),
        b"punct" => u8::is_ascii_punctuation,
        b"cntrl" => u8::is_ascii_control,
        b"xdigit" => u8::is_ascii_hexdigit,
        b"print" => |byte| (b' '..=b'~').contains(byte),
        b"graph" => u8::is_ascii_graphic,
        _ => {
            let name = String::from_utf8_lossy(name);
            return Some((
                Err(CommandFailure::Usage(format!("`[:{name}:]` is not known"))),
                0,
            ));
        }
    };
    Some((Ok((0..=u8::MAX).filter(is_member).collect()), end + 4))
}
