//! What is said and read: properties of the codecs, and transcripts to the byte.

mod fsproxy_properties;
mod fuzz_smoke;
mod properties;
mod published;
mod vfs_properties;
mod vfs_transcripts;

// The bodies of the fuzz targets find it at the root.
use fuzz_smoke::splits;
