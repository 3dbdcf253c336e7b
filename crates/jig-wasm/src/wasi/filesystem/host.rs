//! The functions that a guest calls. What they do is in [`act`](super::path_operations).

use jig_proto::vfs::Method;
use wasmtime::component::Resource;

use super::error_codes::{FilesystemFailure, WasiFilesResult, answer};
use super::path::GuestPath;
use super::path_operations::OpenAtOptions;
use super::stat::{hash, stat};
use super::streams::{GuestFileReader, GuestFileWriter, MAX_READ, StreamPosition};
use super::{Descriptor, Entries, GuestDirectory, GuestFileHandle};
use crate::bindings::wasi::filesystem::types::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use crate::guest::Guest;
use crate::wasi::io::{InputStream, OutputStream};

impl Guest {
    fn directory(
        &self,
        descriptor: &Resource<Descriptor>,
    ) -> Result<GuestDirectory, FilesystemFailure> {
        Ok(self.table.get(descriptor)?.directory()?.clone())
    }

    fn file(
        &self,
        descriptor: &Resource<Descriptor>,
    ) -> Result<&GuestFileHandle, FilesystemFailure> {
        Ok(self.table.get(descriptor)?.file()?)
    }

    fn held<T: Send + 'static>(&mut self, thing: T) -> Result<Resource<T>, FilesystemFailure> {
        self.hold(thing).map_err(FilesystemFailure::Ended)
    }

    fn reader(
        &mut self,
        descriptor: &Resource<Descriptor>,
        position: u64,
    ) -> Result<Resource<InputStream>, FilesystemFailure> {
        let file = self.file(descriptor)?.readable()?.clone();
        self.held(InputStream::new(GuestFileReader { file, position }))
    }

    fn writer(
        &mut self,
        descriptor: &Resource<Descriptor>,
        at: StreamPosition,
    ) -> Result<Resource<OutputStream>, FilesystemFailure> {
        let file = self.file(descriptor)?;
        let sync = file.sync;
        let file = file.writable()?.clone();
        self.held(OutputStream::new(GuestFileWriter { file, at, sync }))
    }

    fn write_at(
        &self,
        descriptor: &Resource<Descriptor>,
        bytes: &[u8],
        offset: u64,
    ) -> Result<Filesize, FilesystemFailure> {
        let file = self.file(descriptor)?;
        file.writable()?.changing().write_at(offset, bytes)?;
        if file.sync {
            file.open.file().sync()?;
        }
        Ok(bytes.len() as u64)
    }

    fn stat_of(
        &mut self,
        descriptor: &Resource<Descriptor>,
    ) -> Result<DescriptorStat, FilesystemFailure> {
        match self.table.get(descriptor)? {
            Descriptor::File(file) => Ok(stat(&file.open.file().look()?)),
            Descriptor::Directory(directory) => {
                let directory = directory.clone();
                let spot = GuestPath::new(&directory.path, ".")?;
                Ok(stat(&self.look(&directory, &spot, true)?))
            }
        }
    }

    fn stat_of_path(
        &mut self,
        base: &Resource<Descriptor>,
        follow: bool,
        path: String,
    ) -> Result<DescriptorStat, FilesystemFailure> {
        let base = self.directory(base)?;
        if let Some(told) = self.files.told_look(&base.path, &path, follow) {
            return Ok(stat(&told));
        }
        let spot = self.spot(&base, &path, Method::FsMetadata)?;
        let look = self.look(&base, &spot, follow)?;
        let stat = stat(&look);
        self.files.looked(base.path, path, follow, look);
        Ok(stat)
    }

    fn hash_at(
        &mut self,
        base: &Resource<Descriptor>,
        follow: bool,
        path: String,
    ) -> Result<MetadataHashValue, FilesystemFailure> {
        let base = self.directory(base)?;
        if let Some(told) = self.files.told_path(&base.path, &path, follow) {
            return Ok(hash(told.as_str()));
        }
        let spot = self.spot(&base, &path, Method::FsMetadata)?;
        let look = self.look(&base, &spot, follow)?;
        let hash = hash(look.path.as_str());
        self.files.looked(base.path, path, follow, look);
        Ok(hash)
    }
}

impl HostDescriptor for Guest {
    fn read_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: Filesize,
    ) -> WasiFilesResult<Resource<InputStream>> {
        answer(self.reader(&descriptor, offset))
    }

    fn write_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
        offset: Filesize,
    ) -> WasiFilesResult<Resource<OutputStream>> {
        answer(self.writer(&descriptor, StreamPosition::Position(offset)))
    }

    fn append_via_stream(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> WasiFilesResult<Resource<OutputStream>> {
        answer(self.writer(&descriptor, StreamPosition::End))
    }

    /// Advice changes nothing.
    fn advise(
        &mut self,
        descriptor: Resource<Descriptor>,
        _offset: Filesize,
        _length: Filesize,
        _advice: Advice,
    ) -> WasiFilesResult<()> {
        answer(self.file(&descriptor).map(|_| ()))
    }

    fn sync_data(&mut self, descriptor: Resource<Descriptor>) -> WasiFilesResult<()> {
        self.sync(descriptor)
    }

    fn get_flags(&mut self, descriptor: Resource<Descriptor>) -> WasiFilesResult<DescriptorFlags> {
        let flag = |flag: DescriptorFlags, set: bool| match set {
            true => flag,
            false => DescriptorFlags::empty(),
        };
        Ok(Ok(match self.table.get(&descriptor)? {
            Descriptor::File(file) => {
                flag(DescriptorFlags::READ, file.read)
                    | flag(DescriptorFlags::WRITE, file.write)
                    | flag(DescriptorFlags::FILE_INTEGRITY_SYNC, file.sync)
            }
            Descriptor::Directory(directory) => {
                let mutable = flag(DescriptorFlags::MUTATE_DIRECTORY, directory.mutable);
                DescriptorFlags::READ | mutable
            }
        }))
    }

    fn get_type(&mut self, descriptor: Resource<Descriptor>) -> WasiFilesResult<DescriptorType> {
        Ok(Ok(match self.table.get(&descriptor)? {
            Descriptor::File(_) => DescriptorType::RegularFile,
            Descriptor::Directory(_) => DescriptorType::Directory,
        }))
    }

    fn set_size(
        &mut self,
        descriptor: Resource<Descriptor>,
        size: Filesize,
    ) -> WasiFilesResult<()> {
        let file = self.file(&descriptor);
        answer(file.and_then(|file| Ok(file.writable()?.changing().set_size(size)?)))
    }

    fn set_times(
        &mut self,
        descriptor: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> WasiFilesResult<()> {
        self.table.get(&descriptor)?;
        Ok(set_times(accessed, modified))
    }

    fn read(
        &mut self,
        descriptor: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> WasiFilesResult<(Vec<u8>, bool)> {
        let most = usize::try_from(length).map_or(MAX_READ, |length| length.min(MAX_READ));
        let file = self.file(&descriptor);
        answer(file.and_then(|file| {
            let bytes = file.readable()?.file().read_at(offset, most)?;
            let at_end = bytes.is_empty() && most > 0;
            Ok((bytes.into(), at_end))
        }))
    }

    fn write(
        &mut self,
        descriptor: Resource<Descriptor>,
        bytes: Vec<u8>,
        offset: Filesize,
    ) -> WasiFilesResult<Filesize> {
        answer(self.write_at(&descriptor, &bytes, offset))
    }

    fn read_directory(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> WasiFilesResult<Resource<Entries>> {
        let directory = self.directory(&descriptor);
        let entries = directory.and_then(|directory| self.list(directory));
        answer(entries.and_then(|entries| self.held(entries)))
    }

    fn sync(&mut self, descriptor: Resource<Descriptor>) -> WasiFilesResult<()> {
        match self.table.get(&descriptor)? {
            Descriptor::File(file) if file.write => {
                answer(file.open.file().sync().map_err(FilesystemFailure::from))
            }
            // There is nothing that could be on its way.
            _ => Ok(Ok(())),
        }
    }

    fn create_directory_at(
        &mut self,
        base: Resource<Descriptor>,
        path: String,
    ) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        answer(base.and_then(|base| self.make_directory(&base, &path)))
    }

    fn stat(&mut self, descriptor: Resource<Descriptor>) -> WasiFilesResult<DescriptorStat> {
        answer(self.stat_of(&descriptor))
    }

    fn stat_at(
        &mut self,
        base: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> WasiFilesResult<DescriptorStat> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        answer(self.stat_of_path(&base, follow, path))
    }

    fn set_times_at(
        &mut self,
        base: Resource<Descriptor>,
        _flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        let spot =
            base.and_then(|base| Ok(self.spot(&base, &path, Method::FsWrite).map(|_| ())?));
        match answer(spot)? {
            Ok(()) => Ok(set_times(accessed, modified)),
            Err(code) => Ok(Err(code)),
        }
    }

    /// One file with two names would have two policies.
    fn link_at(
        &mut self,
        base: Resource<Descriptor>,
        _flags: PathFlags,
        path: String,
        target: Resource<Descriptor>,
        new_path: String,
    ) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        let spot =
            base.and_then(|base| Ok(self.spot(&base, &path, Method::FsWrite).map(|_| ())?));
        answer(spot.and_then(|()| {
            let target = self.directory(&target)?;
            self.to_change(&target, &new_path, Method::FsWrite)?;
            Err(self.refuse_link(&target, &new_path).into())
        }))
    }

    fn open_at(
        &mut self,
        base: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open: OpenFlags,
        flags: DescriptorFlags,
    ) -> WasiFilesResult<Resource<Descriptor>> {
        let wanted = OpenAtOptions {
            follow: path_flags.contains(PathFlags::SYMLINK_FOLLOW),
            open,
            flags,
        };
        let base = self.directory(&base);
        let opened = base.and_then(|base| self.open(&base, &path, wanted));
        answer(opened.and_then(|opened| self.held(opened)))
    }

    fn readlink_at(&mut self, base: Resource<Descriptor>, path: String) -> WasiFilesResult<String> {
        let base = self.directory(&base);
        answer(base.and_then(|base| self.read_link(&base, &path)))
    }

    fn remove_directory_at(
        &mut self,
        base: Resource<Descriptor>,
        path: String,
    ) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        answer(base.and_then(|base| self.remove_directory(&base, &path)))
    }

    fn rename_at(
        &mut self,
        base: Resource<Descriptor>,
        path: String,
        target: Resource<Descriptor>,
        new_path: String,
    ) -> WasiFilesResult<()> {
        let bases = self.directory(&base).and_then(|base| {
            let target = self.directory(&target)?;
            Ok((base, target))
        });
        answer(bases.and_then(|(base, target)| self.rename(&base, &path, &target, &new_path)))
    }

    /// A link is a second name for whatever it leads to, also later.
    fn symlink_at(
        &mut self,
        base: Resource<Descriptor>,
        _target: String,
        path: String,
    ) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        answer(base.and_then(|base| {
            self.to_change(&base, &path, Method::FsWrite)?;
            Err(self.refuse_link(&base, &path).into())
        }))
    }

    fn unlink_file_at(&mut self, base: Resource<Descriptor>, path: String) -> WasiFilesResult<()> {
        let base = self.directory(&base);
        answer(base.and_then(|base| self.unlink(&base, &path)))
    }

    fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        Ok(match (self.table.get(&one)?, self.table.get(&other)?) {
            (Descriptor::File(one), Descriptor::File(other)) => {
                one.open.file().is_same(other.open.file())
            }
            (Descriptor::Directory(one), Descriptor::Directory(other)) => one.path == other.path,
            _ => false,
        })
    }

    fn metadata_hash(
        &mut self,
        descriptor: Resource<Descriptor>,
    ) -> WasiFilesResult<MetadataHashValue> {
        Ok(Ok(match self.table.get(&descriptor)? {
            Descriptor::File(file) => hash(file.open.file().path().as_str()),
            Descriptor::Directory(directory) => hash(directory.path.as_str()),
        }))
    }

    fn metadata_hash_at(
        &mut self,
        base: Resource<Descriptor>,
        flags: PathFlags,
        path: String,
    ) -> WasiFilesResult<MetadataHashValue> {
        let follow = flags.contains(PathFlags::SYMLINK_FOLLOW);
        answer(self.hash_at(&base, follow, path))
    }

    fn drop(&mut self, descriptor: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(descriptor)?;
        Ok(())
    }
}

impl HostDirectoryEntryStream for Guest {
    fn read_directory_entry(
        &mut self,
        stream: Resource<Entries>,
    ) -> WasiFilesResult<Option<DirectoryEntry>> {
        answer(self.next_entry(&stream))
    }

    fn drop(&mut self, stream: Resource<Entries>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

/// Nothing in the workspace has its times set: only what asks for no change is done.
fn set_times(accessed: NewTimestamp, modified: NewTimestamp) -> Result<(), ErrorCode> {
    match (accessed, modified) {
        (NewTimestamp::NoChange, NewTimestamp::NoChange) => Ok(()),
        _ => Err(ErrorCode::Unsupported),
    }
}
