//! What is done with a path: each is one thing that the broker is asked for.

use std::borrow::Cow;

use jig_broker::{Broker, JudgedRequest, OpenRequest, PathStat, Work};
use jig_files::PlaceKind;
use jig_proto::vfs::{ErrorKind, ErrorReply, FsDelete, Method, VfsReply, VfsRequest};

use super::error_codes::FilesystemFailure;
use super::path::{GuestPath, stays_inside};
use super::{Descriptor, GuestDirectory, GuestFileHandle};
use crate::bindings::wasi::filesystem::types::{DescriptorFlags, ErrorCode, OpenFlags};
use crate::guest::Guest;

/// What an `open-at` asks for.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpenAtOptions {
    pub(super) follow: bool,
    pub(super) open: OpenFlags,
    pub(super) flags: DescriptorFlags,
}

impl OpenAtOptions {
    /// Whether it is to be a directory, by what is asked for.
    fn directory(self) -> bool {
        self.open.contains(OpenFlags::DIRECTORY)
    }

    /// Whether it changes something, or leads to something that can.
    fn changes(self) -> bool {
        let changing = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        self.open.intersects(changing) || self.flags.contains(DescriptorFlags::WRITE)
    }
}

impl Guest {
    /// Opens a file or a directory.
    pub(super) fn open(
        &mut self,
        base: &GuestDirectory,
        path: &str,
        wanted: OpenAtOptions,
    ) -> Result<Descriptor, FilesystemFailure> {
        let method = match wanted.changes() {
            true => Method::FsWrite,
            false => Method::FsRead,
        };
        let spot = self.spot(base, path, method)?;
        let making = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        if wanted.directory() && wanted.open.intersects(making) {
            return Err(ErrorCode::Invalid.into());
        }
        if wanted.changes() {
            self.expect_mutable(base, path, method)?;
        }
        if wanted.directory() || spot.directory {
            return match wanted.changes() {
                true => Err(ErrorCode::IsDirectory.into()),
                false => self.open_directory(base, &spot, wanted),
            };
        }
        match self.open_file(base, &spot, wanted) {
            // A directory can be opened by whoever does not know yet that it is one.
            Err(FilesystemFailure::Code(ErrorCode::IsDirectory)) if !wanted.changes() => {
                self.open_directory(base, &spot, wanted)
            }
            opened => opened,
        }
    }

    fn open_directory(
        &mut self,
        base: &GuestDirectory,
        spot: &GuestPath<'_>,
        wanted: OpenAtOptions,
    ) -> Result<Descriptor, FilesystemFailure> {
        let look = self.look(base, spot, wanted.follow)?;
        match look.kind {
            PlaceKind::Directory => Ok(Descriptor::Directory(GuestDirectory {
                path: look.path,
                mount: base.mount,
                // Libraries change directories that they have opened without asking for that, as a
                // descriptor of POSIX can be used. It is never more than the directory above allows.
                mutable: base.mutable,
            })),
            PlaceKind::Link(_) => Err(ErrorCode::Loop.into()),
            _ => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn open_file(
        &mut self,
        base: &GuestDirectory,
        spot: &GuestPath<'_>,
        wanted: OpenAtOptions,
    ) -> Result<Descriptor, FilesystemFailure> {
        self.expect_room()?;
        if wanted.changes() {
            self.files.change();
        }
        let write = wanted.flags.contains(DescriptorFlags::WRITE);
        let read = wanted.flags.contains(DescriptorFlags::READ);
        let open = OpenRequest {
            // What is opened for nothing can still be looked at.
            read: read || !write,
            write,
            create: wanted.open.contains(OpenFlags::CREATE),
            exclusive: wanted
                .open
                .contains(OpenFlags::CREATE | OpenFlags::EXCLUSIVE),
            truncate: wanted.open.contains(OpenFlags::TRUNCATE),
            follow: wanted.follow,
            most: self.door.plan().limits.tree.file_size,
            ..OpenRequest::new(&*spot.path)
        };
        let opened = self
            .permitted(base, |broker| broker.judge_open(&open))
            .and_then(|work| Ok(work.open()?));
        let opened = match opened {
            // A link at the end is the one thing that is wrong only if it is not to be followed.
            Err(FilesystemFailure::Code(ErrorCode::Invalid)) if !wanted.follow => {
                return Err(ErrorCode::Loop.into());
            }
            opened => opened?,
        };
        let sync = DescriptorFlags::FILE_INTEGRITY_SYNC | DescriptorFlags::DATA_INTEGRITY_SYNC;
        Ok(Descriptor::File(GuestFileHandle {
            open: self.counted(opened),
            read,
            write,
            sync: wanted.flags.intersects(sync),
        }))
    }

    /// Looks at what stands somewhere.
    pub(super) fn look(
        &mut self,
        base: &GuestDirectory,
        spot: &GuestPath<'_>,
        follow: bool,
    ) -> Result<PathStat, FilesystemFailure> {
        // With a slash after it, a link is the directory that it leads to.
        let follow = follow || spot.directory;
        let work = self.permitted(base, |broker| broker.judge_look(&spot.path, follow))?;
        let look = work.look()?;
        match spot.directory && look.kind != PlaceKind::Directory {
            true => Err(ErrorCode::NotDirectory.into()),
            false => Ok(look),
        }
    }

    /// The target of a link, if it is one that the guest could have any use of.
    pub(super) fn read_link(
        &mut self,
        base: &GuestDirectory,
        path: &str,
    ) -> Result<String, FilesystemFailure> {
        let spot = self.spot(base, path, Method::FsMetadata)?;
        let look = self.look(base, &spot, false)?;
        let PlaceKind::Link(target) = look.kind else {
            return Err(ErrorCode::Invalid.into());
        };
        match stays_inside(&self.mounts[base.mount].path, &look.path, &target) {
            true => Ok(target),
            false => Err(ErrorCode::NotPermitted.into()),
        }
    }

    /// Makes a directory.
    pub(super) fn make_directory(
        &mut self,
        base: &GuestDirectory,
        path: &str,
    ) -> Result<(), FilesystemFailure> {
        let spot = self.to_change(base, path, Method::FsMkdir)?;
        let done = self.perform(base, |broker| broker.judge_make_dir(&spot.path));
        done.map(|_| ())
    }

    /// Removes an empty directory.
    pub(super) fn remove_directory(
        &mut self,
        base: &GuestDirectory,
        path: &str,
    ) -> Result<(), FilesystemFailure> {
        let spot = self.to_change(base, path, Method::FsDelete)?;
        base.refuse_itself(&spot)?;
        match self.perform(base, |broker| broker.judge_remove_dir(&spot.path)) {
            Err(FilesystemFailure::Code(ErrorCode::Exist)) => Err(ErrorCode::NotEmpty.into()),
            done => done.map(|_| ()),
        }
    }

    /// Removes a file or a link.
    pub(super) fn unlink(
        &mut self,
        base: &GuestDirectory,
        path: &str,
    ) -> Result<(), FilesystemFailure> {
        let spot = self.to_change(base, path, Method::FsDelete)?;
        if spot.directory {
            // Whatever it is, it is no file: which of both is wrong is told by what stands there.
            self.look(base, &spot, true)?;
            return Err(ErrorCode::IsDirectory.into());
        }
        let request = VfsRequest::FsDelete(FsDelete {
            path: spot.path,
            recursive: false,
            if_match: None,
        });
        let done = self.perform(base, |broker| broker.judge(&request));
        done.map(|_| ())
    }

    /// Moves something to another name, in place of what stands there.
    pub(super) fn rename(
        &mut self,
        base: &GuestDirectory,
        from: &str,
        target: &GuestDirectory,
        to: &str,
    ) -> Result<(), FilesystemFailure> {
        let from = self.to_change(base, from, Method::FsRename)?;
        let to = self.to_change(target, to, Method::FsRename)?;
        base.refuse_itself(&from)?;
        target.refuse_itself(&to)?;
        if base.mount != target.mount {
            return Err(ErrorCode::CrossDevice.into());
        }
        if from.directory || to.directory {
            // Only a directory may be written with a slash after it, and it is the source that is one.
            let source = GuestPath {
                directory: true,
                ..from
            };
            self.look(base, &source, false)?;
            return self.move_to(base, &source, &to);
        }
        self.move_to(base, &from, &to)
    }

    fn move_to(
        &mut self,
        base: &GuestDirectory,
        from: &GuestPath<'_>,
        to: &GuestPath<'_>,
    ) -> Result<(), FilesystemFailure> {
        match self.perform(base, |broker| broker.judge_rename(&from.path, &to.path)) {
            // A file is replaced, so what is in the way is a directory.
            Err(FilesystemFailure::Code(ErrorCode::Exist)) => Err(ErrorCode::NotEmpty.into()),
            done => done.map(|_| ()),
        }
    }

    /// Has something judged and done.
    pub(super) fn perform(
        &mut self,
        base: &GuestDirectory,
        judge: impl FnOnce(&Broker) -> JudgedRequest,
    ) -> Result<VfsReply<'static>, FilesystemFailure> {
        let work = self.permitted(base, judge)?;
        self.files.change();
        let done = work.perform();
        self.door.plan().broker.flush_audit();
        Ok(done?)
    }

    /// Has something judged that is to be in the mount of a directory: whatever lies elsewhere, once links are
    /// followed, is refused before any rule or anybody is asked.
    pub(super) fn permitted(
        &mut self,
        base: &GuestDirectory,
        judge: impl FnOnce(&Broker) -> JudgedRequest,
    ) -> Result<Work, FilesystemFailure> {
        let mount = &self.mounts[base.mount].path;
        if mount.is_root() {
            return Ok(self.door.permitted(judge)?);
        }
        let narrowed = |broker: &Broker| judge(&broker.beneath(mount));
        Ok(self.door.permitted(narrowed)?)
    }
}

/// What is refused before the broker is asked. The audit log knows of it all the same.
impl Guest {
    /// Where a path of the guest leads, for a request of this kind.
    pub(super) fn spot<'p>(
        &self,
        base: &GuestDirectory,
        path: &'p str,
        method: Method,
    ) -> Result<GuestPath<'p>, ErrorCode> {
        GuestPath::new(&base.path, path).inspect_err(|code| {
            if *code == ErrorCode::NotPermitted {
                self.refuse_path(base, path, method, ErrorReply::escape);
            }
        })
    }

    /// The same where something is to be changed.
    pub(super) fn to_change<'p>(
        &self,
        base: &GuestDirectory,
        path: &'p str,
        method: Method,
    ) -> Result<GuestPath<'p>, ErrorCode> {
        let spot = self.spot(base, path, method)?;
        self.expect_mutable(base, path, method)?;
        Ok(spot)
    }

    fn expect_mutable(
        &self,
        base: &GuestDirectory,
        path: &str,
        method: Method,
    ) -> Result<(), ErrorCode> {
        if base.mutable {
            return Ok(());
        }
        self.refuse_path(base, path, method, |path| {
            let shown = &self.mounts[base.mount].guest;
            let why = format!("`{method}`: this component sees `{shown}` read-only");
            ErrorReply::denied(ErrorKind::Protected, why).with_path(path)
        });
        Err(ErrorCode::ReadOnly)
    }

    /// One file with two names would have two policies.
    pub(super) fn refuse_link(&self, base: &GuestDirectory, path: &str) -> ErrorCode {
        self.refuse_path(base, path, Method::FsWrite, |path| {
            let why = format!("`{path}`: a component makes no links");
            ErrorReply::denied(ErrorKind::Protected, why).with_path(path)
        });
        ErrorCode::NotPermitted
    }

    fn refuse_path(
        &self,
        base: &GuestDirectory,
        path: &str,
        method: Method,
        error: impl FnOnce(&str) -> ErrorReply,
    ) {
        // As the guest wrote it, so that one can see what was tried.
        let tried = match path.starts_with('/') || base.path.is_root() {
            true => Cow::Borrowed(path),
            false => Cow::Owned(format!("{}/{path}", base.path)),
        };
        let broker = &self.door.plan().broker;
        broker.refuse(method, &tried, error(&tried));
    }
}

impl GuestDirectory {
    /// A directory is not moved or removed by way of itself.
    fn refuse_itself(&self, spot: &GuestPath<'_>) -> Result<(), ErrorCode> {
        match *spot.path == *self.wire() {
            true => Err(ErrorCode::Invalid),
            false => Ok(()),
        }
    }
}
