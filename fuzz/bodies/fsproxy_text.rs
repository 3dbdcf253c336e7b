//! What must hold for every stream of an older client: [`run`].
//!
//! An input is two bytes that say how it is used, and a stream. The first byte is the seed of the
//! pieces in which the stream arrives; the second chooses how much a command may have behind its line.

use jig_proto::fsproxy::legacy::{
    CommandBuffer, LegacyCommand, MAX_LINE, write_command, write_error,
};

use crate::splits::pieces;

/// Panics if anything is not as it must be.
pub(crate) fn run(input: &[u8]) {
    let [seed, limit, stream @ ..] = input else {
        return;
    };
    let limit = [0, 16, 4096, 1 << 20][usize::from(limit % 4)];
    let whole = read(&[stream], limit);
    let in_pieces = read(&pieces(stream, *seed), limit);
    assert_eq!(
        whole, in_pieces,
        "the pieces of a stream change its commands"
    );

    // What was understood is understood again, and nothing else is.
    let understood: Vec<u8> = whole
        .iter()
        .filter_map(Found::command)
        .flatten()
        .copied()
        .collect();
    let again = read(&[&understood], limit);
    let commands: Vec<Found> = whole
        .into_iter()
        .filter(|found| found.command().is_some())
        .collect();
    assert_eq!(again, commands, "not the same commands");
}

/// What comes out of a stream.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// A command, as it is written again.
    LegacyCommand(Vec<u8>),
    /// A refusal.
    Refused { text: String, fatal: bool },
}

impl Found {
    fn command(&self) -> Option<&Vec<u8>> {
        match self {
            Self::LegacyCommand(bytes) => Some(bytes),
            Self::Refused { .. } => None,
        }
    }
}

fn read(pieces: &[&[u8]], limit: usize) -> Vec<Found> {
    let mut buffer = CommandBuffer::new(limit);
    let mut found = Vec::new();
    for piece in pieces {
        let mut piece = *piece;
        while !piece.is_empty() {
            let space = buffer.space();
            assert!(!space.is_empty(), "there is no space");
            let count = space.len().min(piece.len());
            let (now, later) = piece.split_at(count);
            space[..count].copy_from_slice(now);
            buffer.filled(count);
            piece = later;
            while let Some(one) = next(&mut buffer, limit) {
                assert!(!is_over(&found), "something comes after the end");
                found.push(one);
            }
            assert!(
                buffer.memory() <= limit + MAX_LINE + 2,
                "the memory exceeds the limit"
            );
        }
    }
    if let Some(refused) = buffer.finish() {
        assert!(refused.fatal && !is_over(&found));
        found.push(Found::Refused {
            text: refused.text,
            fatal: true,
        });
    }
    found
}

fn next(buffer: &mut CommandBuffer, limit: usize) -> Option<Found> {
    match buffer.next() {
        Ok(command) => command.map(|command| {
            check(&command, limit);
            let mut out = Vec::new();
            write_command(&mut out, &command);
            Found::LegacyCommand(out)
        }),
        Err(refused) => {
            let mut out = Vec::new();
            write_error(&mut out, &refused.text);
            let lines = out.iter().filter(|byte| **byte == b'\n').count();
            assert!(lines == 1 && out.ends_with(b"\n"), "an answer is one line");
            assert!(out.len() < 1024, "a refusal of {} bytes", out.len());
            Some(Found::Refused {
                text: refused.text,
                fatal: refused.fatal,
            })
        }
    }
}

fn check(command: &LegacyCommand<'_>, limit: usize) {
    match command {
        LegacyCommand::Open { path, .. } => assert!(!path.is_empty() && path.len() <= MAX_LINE),
        LegacyCommand::Read { size, .. } => assert!(*size > 0),
        LegacyCommand::Write { data, .. } => assert!(data.len() <= limit),
        LegacyCommand::LlmChat { files, prompt, .. } => {
            assert!(files.len() + prompt.len() <= limit)
        }
        LegacyCommand::Close { .. } | LegacyCommand::LlmQuota => {}
    }
}

fn is_over(found: &[Found]) -> bool {
    matches!(found.last(), Some(Found::Refused { fatal: true, .. }))
}
