//! What went wrong, as a number that a guest's library understands.

use jig_proto::vfs::{ErrorKind, ErrorReply};
use jig_tool::vfs::RequestError;
use wasmtime::component::ResourceTableError;

use crate::bindings::wasi::filesystem::types::ErrorCode;
use crate::limits::GuestEndReason;

/// Why something was not done.
#[derive(Debug)]
pub(super) enum FilesystemFailure {
    /// The guest is told, and goes on.
    Code(ErrorCode),
    /// The call is over.
    Ended(wasmtime::Error),
}

/// What a host function of `wasi:filesystem` returns.
pub(super) type WasiFilesResult<T> = wasmtime::Result<Result<T, ErrorCode>>;

/// What was done, as a host function returns it.
pub(super) fn answer<T>(done: Result<T, FilesystemFailure>) -> WasiFilesResult<T> {
    match done {
        Ok(done) => Ok(Ok(done)),
        Err(FilesystemFailure::Code(code)) => Ok(Err(code)),
        Err(FilesystemFailure::Ended(error)) => Err(error),
    }
}

impl From<ErrorCode> for FilesystemFailure {
    fn from(code: ErrorCode) -> Self {
        Self::Code(code)
    }
}

impl From<ErrorReply> for FilesystemFailure {
    fn from(reply: ErrorReply) -> Self {
        match reply.kind() {
            ErrorKind::Cancelled => Self::Ended(GuestEndReason::Cancelled.into()),
            kind => Self::Code(code_of(kind)),
        }
    }
}

impl From<RequestError> for FilesystemFailure {
    fn from(error: RequestError) -> Self {
        match error {
            RequestError::Refused(reply) => reply.into(),
            RequestError::Cancelled => Self::Ended(GuestEndReason::Cancelled.into()),
            error => Self::Ended(wasmtime::Error::new(error)),
        }
    }
}

/// For a handle that is none of the guest's. It cannot make one up, so that is a fault of the guest's own
/// binding, and ends it.
impl From<ResourceTableError> for FilesystemFailure {
    fn from(error: ResourceTableError) -> Self {
        Self::Ended(error.into())
    }
}

/// The number for an answer of the broker.
///
/// A rule or a person that says no is `access`; what lies outside of all that there is for the guest is
/// `not-permitted`.
pub(super) fn code_of(kind: ErrorKind) -> ErrorCode {
    match kind {
        ErrorKind::Escape => ErrorCode::NotPermitted,
        kind if kind.is_denial() => ErrorCode::Access,
        ErrorKind::NotFound => ErrorCode::NoEntry,
        ErrorKind::AlreadyExists => ErrorCode::Exist,
        ErrorKind::IsDir => ErrorCode::IsDirectory,
        ErrorKind::NotDir => ErrorCode::NotDirectory,
        ErrorKind::TooLarge => ErrorCode::FileTooLarge,
        // Somebody else has changed what was to be changed.
        ErrorKind::Stale => ErrorCode::Busy,
        ErrorKind::InvalidParams => ErrorCode::Invalid,
        ErrorKind::Timeout => ErrorCode::Interrupted,
        _ => ErrorCode::Io,
    }
}

#[cfg(test)]
mod tests {
    use jig_proto::vfs::ErrorKind;

    use super::code_of;
    use crate::bindings::wasi::filesystem::types::ErrorCode;

    #[test]
    fn every_denial_is_access_but_what_lies_outside_is_not_permitted() {
        for kind in ErrorKind::ALL {
            let expected = match kind {
                ErrorKind::Escape => ErrorCode::NotPermitted,
                _ => ErrorCode::Access,
            };
            assert_eq!(code_of(kind) == expected, kind.is_denial(), "{kind}");
        }
    }

    #[test]
    fn errors_are_told_by_the_numbers_that_libraries_know() {
        let check = |kind: ErrorKind, expected: ErrorCode| assert_eq!(code_of(kind), expected);
        check(ErrorKind::NotFound, ErrorCode::NoEntry);
        check(ErrorKind::AlreadyExists, ErrorCode::Exist);
        check(ErrorKind::IsDir, ErrorCode::IsDirectory);
        check(ErrorKind::NotDir, ErrorCode::NotDirectory);
        check(ErrorKind::TooLarge, ErrorCode::FileTooLarge);
        check(ErrorKind::Stale, ErrorCode::Busy);
        check(ErrorKind::InvalidParams, ErrorCode::Invalid);
        check(ErrorKind::Internal, ErrorCode::Io);
    }
}
