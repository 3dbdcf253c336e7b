//! The bytes of a component, and a stamp by which they are known again.

use std::io;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use jig_runtime::{Component, ComponentSource};

use crate::ComponentError;

/// Tells, without reading, whether bytes are the ones that were seen before.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum ComponentFileStamp {
    /// Bytes in memory, by where they are.
    Memory(HeldBytes),
    /// A file, by what changes with it.
    File {
        place: (i128, i128),
        size: u64,
        modified: (i128, i128),
        changed: (i128, i128),
    },
}

/// Bytes in memory. They are held, so that nothing else can come to be where they are.
#[derive(Debug, Clone)]
pub(super) struct HeldBytes(Bytes);

impl PartialEq for HeldBytes {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const *self.0, &raw const *other.0)
    }
}

impl Eq for HeldBytes {}

impl std::hash::Hash for HeldBytes {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        std::ptr::hash(&raw const *self.0, state);
    }
}

impl ComponentFileStamp {
    /// The stamp of a component; none for a file that tells too little.
    pub(super) fn of(component: &Component) -> Result<Option<Self>, ComponentError> {
        let stamp = match &component.source {
            ComponentSource::Embedded(bytes) => Self::Memory(HeldBytes(Bytes::from_static(bytes))),
            ComponentSource::Bytes(bytes) => Self::Memory(HeldBytes(bytes.clone())),
            ComponentSource::File(file) => match Self::of_file(file) {
                Ok(stamp) => stamp,
                Err(error) => return Err(unreadable(component, &error)),
            },
        };
        Ok(Some(stamp))
    }

    #[expect(
        clippy::disallowed_types,
        reason = "the file was opened by whoever owns files"
    )]
    fn of_file(file: &std::fs::File) -> io::Result<Self> {
        let stat = rustix::fs::fstat(file)?;
        if rustix::fs::FileType::from_raw_mode(stat.st_mode) != rustix::fs::FileType::RegularFile {
            return Err(io::Error::other("it is not a file"));
        }
        Ok(Self::File {
            // Their types differ between platforms.
            place: (stat.st_dev.into(), stat.st_ino.into()),
            size: u64::try_from(stat.st_size).unwrap_or(0),
            modified: (stat.st_mtime.into(), stat.st_mtime_nsec.into()),
            changed: (stat.st_ctime.into(), stat.st_ctime_nsec.into()),
        })
    }

    /// How many bytes are kept in memory by it.
    pub(super) fn held(&self) -> usize {
        match self {
            Self::Memory(HeldBytes(bytes)) => bytes.len(),
            Self::File { .. } => 0,
        }
    }

    /// Whether a change from now on would change the stamp. Clocks of file systems are coarse: one that was
    /// changed a moment ago may be changed again within the same moment.
    fn is_settled(&self) -> bool {
        let Self::File {
            modified, changed, ..
        } = self
        else {
            return true;
        };
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or(Duration::ZERO);
        [modified, changed]
            .into_iter()
            .all(|(seconds, nanoseconds)| {
                let seconds = Duration::from_secs(u64::try_from(*seconds).unwrap_or(0));
                let nanoseconds = Duration::from_nanos(u64::try_from(*nanoseconds).unwrap_or(0));
                seconds + nanoseconds + COARSE < now
            })
    }
}

/// The bytes of a component, and the stamp that they have, if they can be known by it.
pub(super) fn read(
    component: &Component,
) -> Result<(Bytes, Option<ComponentFileStamp>), ComponentError> {
    let file = match &component.source {
        ComponentSource::Embedded(bytes) => {
            return Ok((
                Bytes::from_static(bytes),
                ComponentFileStamp::of(component)?,
            ));
        }
        ComponentSource::Bytes(bytes) => {
            return Ok((bytes.clone(), ComponentFileStamp::of(component)?));
        }
        ComponentSource::File(file) => file,
    };
    let failed = |error: io::Error| unreadable(component, &error);
    let before = ComponentFileStamp::of_file(file).map_err(failed)?;
    let ComponentFileStamp::File { size, .. } = before else {
        return Err(failed(io::ErrorKind::Unsupported.into()));
    };
    if size > MAX_BYTES {
        let why = format!("it has {size} bytes, and {MAX_BYTES} are the most");
        return Err(failed(io::Error::other(why)));
    }
    let bytes = read_at(file, size).map_err(failed)?;
    let after = ComponentFileStamp::of_file(file).map_err(failed)?;
    let stamp = (before == after && after.is_settled()).then_some(after);
    Ok((Bytes::from(bytes), stamp))
}

/// The file from its beginning, whatever was read of it before: its position is shared.
#[expect(
    clippy::disallowed_types,
    reason = "the file was opened by whoever owns files"
)]
fn read_at(file: &std::fs::File, size: u64) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt as _;
    let mut bytes = vec![0; usize::try_from(size).map_err(io::Error::other)?];
    let mut have = 0;
    while have < bytes.len() {
        match file.read_at(&mut bytes[have..], have as u64) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(have);
    Ok(bytes)
}

fn unreadable(component: &Component, error: &io::Error) -> ComponentError {
    ComponentError::unreadable(&component.shown, error)
}

/// The largest component. Those that carry a whole interpreter have some ten million bytes.
const MAX_BYTES: u64 = 256 << 20;

/// How coarse the clock of a file system may be. Those of Linux tick every 10 ms at the least; some network
/// file systems count seconds.
const COARSE: Duration = Duration::from_millis(2500);
