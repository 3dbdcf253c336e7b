//! What is told about files and directories.

use std::time::{SystemTime, UNIX_EPOCH};

use jig_broker::PathStat;
use jig_files::PlaceKind;

use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::filesystem::types::{DescriptorStat, DescriptorType, MetadataHashValue};

/// What is known, as a guest is told.
///
/// When something was last looked at, or its name last changed, is not told; it has one name, since a file
/// that has several is several files to the rules.
pub(super) fn stat(look: &PathStat) -> DescriptorStat {
    DescriptorStat {
        type_: kind(&look.kind),
        link_count: 1,
        size: match &look.kind {
            PlaceKind::Link(target) => target.len() as u64,
            _ => look.size,
        },
        data_access_timestamp: None,
        data_modification_timestamp: look.modified.and_then(datetime),
        status_change_timestamp: None,
    }
}

/// What stands at a place.
pub(super) fn kind(kind: &PlaceKind) -> DescriptorType {
    match kind {
        PlaceKind::File => DescriptorType::RegularFile,
        PlaceKind::Directory => DescriptorType::Directory,
        PlaceKind::Link(_) => DescriptorType::SymbolicLink,
        PlaceKind::Missing | PlaceKind::Other => DescriptorType::Unknown,
    }
}

/// A number for what stands at a canonical path: libraries take it for the number of a file.
///
/// It is that of the path alone. So it stays when the file is written, and is the same whichever backend holds
/// the file; a file that takes another's name takes its number.
pub(super) fn hash(path: &str) -> MetadataHashValue {
    let hash = blake3::hash(path.as_bytes());
    let (lower, rest) = hash
        .as_bytes()
        .split_first_chunk()
        .unwrap_or((&[0; 8], &[]));
    let upper = rest.first_chunk().unwrap_or(&[0; 8]);
    MetadataHashValue {
        lower: u64::from_le_bytes(*lower),
        upper: u64::from_le_bytes(*upper),
    }
}

/// A time, unless it is before the year 1970, which WASI has no words for.
fn datetime(time: SystemTime) -> Option<Datetime> {
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    Some(Datetime {
        seconds: since.as_secs(),
        nanoseconds: since.subsec_nanos(),
    })
}
