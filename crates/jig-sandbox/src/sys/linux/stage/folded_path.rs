//! [`FoldedPath`]: a path as it is compared with names that are guarded, as the loosest file system would compare it.
//!
//! Case plays no part, dots and spaces at the end of a name are left out, and so are characters that some file systems
//! pass over. Names that are guarded are written in ASCII, so only what folds to ASCII is folded here.

use super::call_path::{LONGEST_NAME, LONGEST_PATH};

/// A folded path or name. What does not fit is cut off: nothing that long is a name of the kernel's.
pub(crate) struct FoldedPath {
    text: [u8; LONGEST_FOLDED],
    length: usize,
}

impl FoldedPath {
    pub(crate) fn of(path: &[u8]) -> Self {
        let mut folded = Self {
            text: [0; LONGEST_FOLDED],
            length: 0,
        };
        for (number, name) in path.split(|byte| *byte == b'/').enumerate() {
            if number > 0 {
                folded.put(b'/');
            }
            folded.put_name(name);
        }
        folded
    }

    pub(crate) fn text(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }

    fn put_name(&mut self, name: &[u8]) {
        let start = self.length;
        match core::str::from_utf8(name) {
            Ok(text) if !name.is_ascii() => text.chars().for_each(|one| self.put_character(one)),
            _ => name.iter().for_each(|byte| self.put(*byte)),
        }
        while self.length > start && matches!(self.text.get(self.length - 1), Some(b'.' | b' ')) {
            self.length -= 1;
        }
    }

    fn put_character(&mut self, character: char) {
        let ascii: &[u8] = match character {
            'ſ' => b"s",
            '\u{212a}' => b"k",
            'ß' | 'ẞ' => b"ss",
            'ﬀ' => b"ff",
            'ﬁ' => b"fi",
            'ﬂ' => b"fl",
            'ﬃ' => b"ffi",
            'ﬄ' => b"ffl",
            'ﬅ' | 'ﬆ' => b"st",
            ignored if is_ignored(ignored) => b"",
            other => {
                let mut bytes = [0; 4];
                let bytes = other.encode_utf8(&mut bytes);
                return bytes.bytes().for_each(|byte| self.put(byte));
            }
        };
        ascii.iter().for_each(|byte| self.put(*byte));
    }

    fn put(&mut self, byte: u8) {
        if let Some(room) = self.text.get_mut(self.length) {
            *room = byte.to_ascii_lowercase();
            self.length += 1;
        }
    }
}

/// Characters that file systems with case folding leave out of names (`Default_Ignorable_Code_Point`).
fn is_ignored(character: char) -> bool {
    matches!(
        u32::from(character),
        0xAD | 0x34F
            | 0x61C
            | 0x115F..=0x1160
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x202A..=0x202E
            | 0x2060..=0x206F
            | 0x3164
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xFFA0
            | 0xFFF0..=0xFFF8
            | 0xE0000..=0xE0FFF
    )
}

/// Nothing becomes longer by folding.
const LONGEST_FOLDED: usize = LONGEST_PATH + LONGEST_NAME + 1;

#[cfg(test)]
mod tests;
