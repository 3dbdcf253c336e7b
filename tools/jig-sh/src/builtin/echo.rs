//! `echo`.

use crate::stage::CommandContext;
use crate::stream::CommandFailure;

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    let (mut newline, mut escapes) = (true, false);
    let mut rest = words;
    // Only what consists of its options is one; `-x` is text.
    while let [word, after @ ..] = rest
        && let Some(letters) = word.strip_prefix('-')
        && !letters.is_empty()
        && letters.chars().all(|letter| "neE".contains(letter))
    {
        for letter in letters.chars() {
            match letter {
                'n' => newline = false,
                letter => escapes = letter == 'e',
            }
        }
        rest = after;
    }
    let text = rest.join(" ");
    match escapes {
        true => stage.out.write(&unescaped(&text))?,
        false => stage.out.write(text.as_bytes())?,
    }
    if newline {
        stage.out.write(b"\n")?;
    }
    Ok(0)
}

fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [byte, after @ ..] = rest {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        match escape(rest) {
            Some((byte, length)) => {
                bytes.push(byte);
                rest = &rest[length..];
            }
            None => bytes.push(b'\\'),
        }
    }
    bytes
}

/// What an escape after its backslash stands for, and how long it is.
pub(super) fn escape(rest: &[u8]) -> Option<(u8, usize)> {
    let byte = match rest.first()? {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'v' => 11,
        b'e' => 27,
        b'\\' => b'\\',
        b'0'..=b'7' => {
            let digits = rest
                .iter()
                .take(3)
                .take_while(|c| (b'0'..=b'7').contains(c));
            let (value, length) = digits.fold((0_u32, 0), |(value, length), digit| {
                (value * 8 + u32::from(digit - b'0'), length + 1)
            });
            return u8::try_from(value).ok().map(|value| (value, length));
        }
        _ => return None,
    };
    Some((byte, 1))
}
