//! [`Creation`]: performs one call that makes a name, in the place of the tool that makes it.
//!
//! What the call names is copied once. The directory is opened, without following what `/proc` leads to from
//! here; then parent and name are judged, and used as they were judged. So it does not matter what the tool
//! changes meanwhile: its memory, its links, its directories. The kernel is never told to go on with the call.
//!
//! Whoever performs it is held to what binds the tool: its root, its mounts, its rules of Landlock, no
//! privileges over files. The caller's working directory, its descriptors and the mask for the modes of files
//! are taken from the caller.

use core::ffi::CStr;

use super::call_path::{
    CallPath, LONGEST_NAME, LONGEST_PATH, PathStart, PathText, decimal, link_of_own, own_proc,
};
use super::calls::{self, O_CREAT, O_EXCL, O_PATH, WORKING_DIRECTORY};
use super::guarded_names::NameVerdict;
use super::held_calls::HeldCall;
use super::makers::{self, FileKind, OwnedHandle};
use super::order;
use super::raw::{O_DIRECTORY, RawErrno};
use super::supervisor::Supervisor;
use super::tree_limits::ProcPath;

/// A call that is performed.
pub(crate) struct Creation<'a> {
    supervisor: &'a Supervisor<'a>,
    call: &'a HeldCall,
}

/// What comes of it.
pub(crate) enum CreationResult {
    Done,
    /// A descriptor for the caller, with the flags that it asked for.
    Opened(OwnedHandle, i32),
}

/// Where a name is: the directory that it is in, and the name.
struct NamePlace {
    directory: OwnedHandle,
    /// The name, a slash if one followed it, and a NUL.
    text: [u8; LONGEST_NAME + 2],
    length: usize,
    /// Whether it lies in what `/proc` says about the caller.
    is_own_proc: bool,
}

impl NamePlace {
    /// The name as the kernel takes it.
    fn name(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.text).unwrap_or_default()
    }

    /// The name alone.
    fn bare(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }

    fn at(&self) -> (i32, &CStr) {
        (self.directory.0, self.name())
    }

    fn exists(&self) -> bool {
        // What cannot be looked at is there.
        makers::look_at(self.directory.0, self.name(), O_NOFOLLOW, NO_MAGIC_LINKS).err()
            != Some(RawErrno::NOENT)
    }
}

impl<'a> Creation<'a> {
    pub(crate) fn new(supervisor: &'a Supervisor<'a>, call: &'a HeldCall) -> Self {
        Self { supervisor, call }
    }

    /// Performs it.
    pub(crate) fn perform(&self, kind: u32) -> Result<CreationResult, RawErrno> {
        let at = kind & order::HELD_AT != 0;
        let one = usize::from(at);
        let done = match kind & 0xff {
            order::HELD_OPEN => {
                let flags = self.number(one + 1).cast_signed();
                return self.open(self.path(at, 0)?, flags, self.number(one + 2));
            }
            order::HELD_CREAT => {
                return self.open(self.path(at, 0)?, EMPTY_FILE, self.number(one + 1));
            }
            order::HELD_MKDIR => {
                let place = self.new_place(self.path(at, 0)?)?;
                self.make(&place, false, |(directory, name)| {
                    calls::make_directory(directory, name, self.number(one + 1))
                })
            }
            order::HELD_MKNOD => {
                let place = self.new_place(self.path(at, 0)?)?;
                let (mode, device) = (self.number(one + 1), self.number(one + 2));
                self.make(&place, false, |(directory, name)| {
                    makers::make_node(directory, name, mode, device)
                })
            }
            order::HELD_SYMLINK => self.symlink(at),
            order::HELD_LINK => self.link(at),
            order::HELD_RENAME => self.rename(at, kind & order::HELD_FLAGS != 0),
            order::HELD_BIND => self.bind(),
            _ => Err(RawErrno::NOSYS),
        };
        done.map(|()| CreationResult::Done)
    }

    /// An argument that the kernel takes as a number of 32 bits.
    fn number(&self, place: usize) -> u32 {
        self.call.arguments.get(place).copied().unwrap_or(0) as u32
    }

    /// The path that comes first, or after one with its directory.
    fn path(&self, at: bool, place: usize) -> Result<CallPath, RawErrno> {
        let (start, place) = match at {
            true => (self.number(place).cast_signed(), place + 1),
            false => (WORKING_DIRECTORY, place),
        };
        let address = self.call.arguments.get(place).copied().unwrap_or(0);
        let mut path = CallPath::new(PathStart::Caller(start));
        path.length = self.call.read_string(address, &mut path.text)?;
        Ok(path)
    }

    /// Where something new is to be. From here on the call is the caller's, and its mask is taken on.
    fn new_place(&self, path: CallPath) -> Result<NamePlace, RawErrno> {
        let place = self.place(path)?;
        self.settle()?;
        Ok(place)
    }

    /// To be called when all was read, and before anything is done.
    fn settle(&self) -> Result<(), RawErrno> {
        self.supervisor.take_on_mask(self.call.thread)?;
        match self.call.is_valid(self.supervisor.listener) {
            true => Ok(()),
            // The number of the thread may be another's. Nobody waits for the answer.
            false => Err(RawErrno::SRCH),
        }
    }

    /// Makes something at a name at which there is nothing. `is_link`: it could lead to a directory.
    fn make(
        &self,
        place: &NamePlace,
        is_link: bool,
        make: impl Fn((i32, &CStr)) -> Result<(), RawErrno>,
    ) -> Result<(), RawErrno> {
        let (_alone, verdict) = self.judged(place)?;
        match verdict {
            NameVerdict::Guarded(entry) => self.refuse(place, entry),
            NameVerdict::Above(entry) if is_link => self.refuse(place, entry),
            _ => make(place.at()),
        }
    }

    fn symlink(&self, at: bool) -> Result<(), RawErrno> {
        let mut target = [0; LONGEST_PATH];
        let address = self.call.arguments[0];
        let length = self.call.read_string(address, &mut target)?;
        let target = target.get(..=length).ok_or(RawErrno::NAMETOOLONG)?;
        let target = CStr::from_bytes_until_nul(target).map_err(|_| RawErrno::FAULT)?;
        let place = self.new_place(self.path(at, 1)?)?;
        self.make(&place, true, |(directory, name)| {
            calls::make_link(target, directory, name)
        })
    }

    fn link(&self, at: bool) -> Result<(), RawErrno> {
        let flags = match at {
            true => self.number(4),
            false => 0,
        };
        if flags & !(AT_FOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(RawErrno::INVAL);
        }
        let from = self.path(at, 0)?;
        let to = self.path(at, if at { 2 } else { 1 })?;
        if from.length == 0 && flags & AT_EMPTY_PATH != 0 {
            let mut path = ProcPath::new();
            let fd = self.number(0).cast_signed();
            if fd < 0 {
                return Err(RawErrno::PERM);
            }
            let path = path.set(b"", self.call.thread, b"/fd/", fd, b"")?;
            let to = self.new_place(to)?;
            return self.make(&to, false, |to| {
                makers::make_hard_link((self.supervisor.proc, path), to, AT_FOLLOW as i32)
            });
        }
        let from = self.linked(from, flags & AT_FOLLOW != 0)?;
        let to = self.new_place(to)?;
        // What `/proc` says about the caller's own files leads to them, and is no text.
        let follow = from.is_own_proc && flags & AT_FOLLOW != 0;
        let flags = if follow { AT_FOLLOW as i32 } else { 0 };
        self.make(&to, false, |to| {
            makers::make_hard_link(from.at(), to, flags)
        })
    }

    /// What is to get another name.
    fn linked(&self, path: CallPath, follow: bool) -> Result<NamePlace, RawErrno> {
        let mut place = self.place(path)?;
        for _ in 0..MOST_LINKS {
            if !follow || place.is_own_proc {
                return Ok(place);
            }
            let handle = self.look_at(&place)?;
            if makers::kind(handle.0)? != FileKind::Link {
                return Ok(place);
            }
            let path = self.read_link(&place)?;
            place = self.place(path)?;
        }
        Err(RawErrno::LOOP)
    }

    fn rename(&self, at: bool, has_flags: bool) -> Result<(), RawErrno> {
        let flags = if has_flags { self.number(4) } else { 0 };
        let from = self.path(at, 0)?;
        let to = self.path(at, if at { 2 } else { 1 })?;
        let from = self.place(from)?;
        let to = self.new_place(to)?;
        // Whatever is in a directory comes along, so nothing is made in it meanwhile.
        let _alone = self.supervisor.alone();
        self.judge_moved(&from, &to)?;
        if flags & EXCHANGE != 0 {
            self.judge_moved(&to, &from)?;
        }
        makers::rename(from.at(), to.at(), flags)
    }

    /// Judges what a name becomes when something is moved to it.
    fn judge_moved(&self, from: &NamePlace, to: &NamePlace) -> Result<(), RawErrno> {
        let verdict = self.judge(to)?;
        if let NameVerdict::Guarded(entry) = verdict {
            return self.refuse_there(to, entry);
        }
        // A missing source is for the kernel to tell.
        let Ok(handle) = makers::look_at(from.directory.0, from.name(), O_NOFOLLOW, NO_MAGIC_LINKS)
        else {
            return Ok(());
        };
        match (makers::kind(handle.0)?, verdict) {
            (FileKind::Link, NameVerdict::Above(entry)) => self.refuse_there(to, entry),
            (FileKind::Directory, _) => self.judge_moved_directory(from, to, &handle),
            _ => Ok(()),
        }
    }

    /// Judges what comes along with a directory.
    fn judge_moved_directory(
        &self,
        from: &NamePlace,
        to: &NamePlace,
        directory: &OwnedHandle,
    ) -> Result<(), RawErrno> {
        let names = self.supervisor.names;
        let is_there = |rest: &[u8]| is_below(directory.0, rest);
        let (mut old, mut new) = (PathText::new(), PathText::new());
        let new = self.path_of(to, &mut new)?;
        if let Some(entry) = names.below(new, is_there) {
            return self.refuse_there(to, entry);
        }
        // Whoever moves hears that this takes a copy, of which every name is judged.
        match names.is_freer(self.path_of(from, &mut old)?, new, is_there) {
            true => Err(RawErrno::XDEV),
            false => Ok(()),
        }
    }

    fn bind(&self) -> Result<(), RawErrno> {
        const UNIX: u16 = 1;
        let mut address = [0_u8; LONGEST_ADDRESS + 1];
        let length = self.number(2) as usize;
        let room = address.get_mut(..length).ok_or(RawErrno::INVAL)?;
        self.call.read(self.call.arguments[1], room)?;
        let number = self.number(0).cast_signed();
        let socket = match makers::descriptor_of(self.call.thread, makers::THREAD, number) {
            Err(RawErrno::INVAL) => {
                let process = self.supervisor.process_of(self.call.thread)?;
                makers::descriptor_of(process, 0, number)?
            }
            found => found?,
        };
        let is_path = length > 2 && address[..2] == UNIX.to_ne_bytes() && address[2] != 0;
        let given = &address[..length];
        if !is_path {
            self.settle()?;
            return makers::bind(socket.0, given);
        }
        let end = address[2..].iter().position(|byte| *byte == 0);
        let name = &address[2..2 + end.ok_or(RawErrno::INVAL)?];
        let mut path = CallPath::new(PathStart::Caller(WORKING_DIRECTORY));
        path.set(name)?;
        let is_of_own = own_proc(name).is_some();
        let place = self.new_place(path)?;
        let (_alone, verdict) = self.judged(&place)?;
        match verdict {
            NameVerdict::Guarded(entry) => self.refuse(&place, entry),
            // The socket remembers the path as it was given. The name in it is one that no entry mentions, in
            // whatever directory it comes to lie, and nothing of this process's own in `/proc` is a place to
            // make a name in.
            _ if !is_of_own && !self.supervisor.names.mentions(place.bare()) => {
                let here = self.start(PathStart::Caller(WORKING_DIRECTORY))?;
                calls::enter_directory(here.0)?;
                makers::bind(socket.0, given)
            }
            _ => {
                calls::enter_directory(place.directory.0)?;
                let name = place.name().to_bytes_with_nul();
                let room = address.get_mut(2..2 + name.len());
                room.ok_or(RawErrno::NAMETOOLONG)?.copy_from_slice(name);
                makers::bind(socket.0, &address[..2 + name.len()])
            }
        }
    }

    fn open(&self, path: CallPath, flags: i32, mode: u32) -> Result<CreationResult, RawErrno> {
        let is_exclusive = flags & O_EXCL != 0;
        let mut place = self.new_place(path)?;
        let (mut links, mut attempts) = (0, 0);
        loop {
            let (alone, verdict) = self.judged(&place)?;
            if !matches!(verdict, NameVerdict::Guarded(_)) && !place.is_own_proc {
                let all = flags | O_CREAT | O_EXCL | O_NOCTTY;
                match makers::open(place.directory.0, place.name(), all, mode) {
                    Ok(fd) => return Ok(CreationResult::Opened(fd, flags)),
                    Err(RawErrno::EXIST) if is_exclusive => return Err(RawErrno::EXIST),
                    Err(RawErrno::EXIST) => {}
                    Err(_) if makers::is_of_proc(place.directory.0) => {}
                    Err(errno) => return Err(errno),
                }
            }
            drop(alone);
            if makers::is_of_proc(place.directory.0) && !place.is_own_proc {
                place = self.place(self.renamed_in_proc(&place)?)?;
            }
            let handle = match self.look_at(&place) {
                Ok(_) if is_exclusive => return Err(RawErrno::EXIST),
                Ok(handle) => handle,
                Err(RawErrno::NOENT) => {
                    if let NameVerdict::Guarded(entry) = verdict {
                        return Err(self.refused(&place, entry));
                    }
                    attempts += 1;
                    // It was removed just now, again and again.
                    if attempts > MOST_ATTEMPTS || place.is_own_proc {
                        return Err(RawErrno::NOENT);
                    }
                    continue;
                }
                Err(errno) => return Err(errno),
            };
            let kind = makers::kind(handle.0)?;
            if kind != FileKind::Link {
                let opened = self.open_existing(&handle, kind, flags);
                return opened.map(|fd| CreationResult::Opened(fd, flags));
            }
            links += 1;
            if flags & O_NOFOLLOW != 0 || links > MOST_LINKS {
                return Err(RawErrno::LOOP);
            }
            if place.is_own_proc {
                // It leads to what the caller has open, whatever that is.
                self.supervisor.make_room()?;
                let flags = existing(flags);
                let opened = makers::open(place.directory.0, place.name(), flags, 0);
                return opened.map(|fd| CreationResult::Opened(fd, flags));
            }
            place = self.place(self.read_link(&place)?)?;
        }
    }

    /// Opens what is there already. It is opened as the very file that was looked at.
    fn open_existing(
        &self,
        handle: &OwnedHandle,
        kind: FileKind,
        flags: i32,
    ) -> Result<OwnedHandle, RawErrno> {
        let flags = existing(flags);
        let again = |handle: &OwnedHandle| {
            let mut path = ProcPath::new();
            let path = path.set(b"thread-self/fd/", handle.0, b"", -1, b"")?;
            makers::open(self.supervisor.proc, path, flags, 0)
        };
        match kind {
            FileKind::Directory => Err(RawErrno::ISDIR),
            FileKind::Device(5, 0) => again(&self.terminal()?),
            // It may wait for whoever opens the other end.
            FileKind::Fifo | FileKind::Device(..) => {
                self.supervisor.make_room()?;
                again(handle)
            }
            _ => again(handle),
        }
    }

    /// The terminal that controls the caller's session: what `/dev/tty` is for it.
    fn terminal(&self) -> Result<OwnedHandle, RawErrno> {
        let mut text = [0; 512];
        let mut path = ProcPath::new();
        let path = path.set(b"", self.call.thread, b"/stat", -1, b"")?;
        let length = calls::read_file(self.supervisor.proc, path, &mut text)?;
        let text = text.get(..length).unwrap_or_default();
        // After the name: state, parent, group, session, and the terminal as a number.
        let after = text.iter().rposition(|byte| *byte == b')').unwrap_or(0);
        let mut fields = text[after..].split(|byte| *byte == b' ').skip(5);
        let number = fields.next().and_then(decimal).unwrap_or(0);
        let (major, minor) = (number >> 8 & 0xfff, number & 0xff | number >> 12 & 0xf_ff00);
        let mut path = ProcPath::new();
        let index = (minor + (major.wrapping_sub(136) << 8)).cast_signed();
        let place = path.set(b"/dev/pts/", index.max(0), b"", -1, b"")?;
        for place in [c"/dev/console", place] {
            if let Ok(found) = makers::look_at(WORKING_DIRECTORY, place, 0, NO_MAGIC_LINKS)
                && makers::kind(found.0) == Ok(FileKind::Device(major, minor))
            {
                return Ok(found);
            }
        }
        Err(RawErrno::NXIO)
    }

    /// Judges a name. If an entry mentions it, nobody else makes such names until the guard is dropped: what
    /// is below what, could change in between.
    fn judged(
        &self,
        place: &NamePlace,
    ) -> Result<(Option<super::supervisor::Alone<'a>>, NameVerdict), RawErrno> {
        let is_mentioned = self.supervisor.names.mentions(place.bare());
        let alone = is_mentioned.then(|| self.supervisor.alone());
        let verdict = self.judge(place)?;
        Ok((alone, verdict))
    }

    fn judge(&self, place: &NamePlace) -> Result<NameVerdict, RawErrno> {
        let names = self.supervisor.names;
        let mut path = PathText::new();
        // What cannot be looked at is there.
        let has = |name: &CStr| {
            makers::look_at(place.directory.0, name, O_NOFOLLOW, NO_MAGIC_LINKS).err()
                != Some(RawErrno::NOENT)
        };
        match self.path_of(place, &mut path) {
            Ok(path) => Ok(names.judge(path, has)),
            // So deep that nobody can name it as a whole.
            Err(RawErrno::NAMETOOLONG) if !names.mentions(place.bare()) => Ok(NameVerdict::Free),
            Err(errno) => Err(errno),
        }
    }

    /// The absolute path of a place, as the tool sees it.
    fn path_of<'p>(&self, place: &NamePlace, path: &'p mut PathText) -> Result<&'p [u8], RawErrno> {
        let mut link = ProcPath::new();
        let link = link.set(b"thread-self/fd/", place.directory.0, b"", -1, b"")?;
        let mut length =
            makers::read_link(self.supervisor.proc, link, &mut path.0[..LONGEST_PATH])?;
        if path.0[..length] != *b"/" {
            path.0[length] = b'/';
            length += 1;
        }
        let name = place.bare();
        path.0[length..length + name.len()].copy_from_slice(name);
        Ok(&path.0[..length + name.len()])
    }

    /// Refuses to make a name. That there is something already is the more exact answer.
    fn refuse(&self, place: &NamePlace, entry: u32) -> Result<(), RawErrno> {
        match place.exists() {
            true => Err(RawErrno::EXIST),
            false => Err(self.refused(place, entry)),
        }
    }

    /// As `refuse`, where what is there does not matter.
    fn refuse_there(&self, place: &NamePlace, entry: u32) -> Result<(), RawErrno> {
        Err(self.refused(place, entry))
    }

    fn refused(&self, place: &NamePlace, entry: u32) -> RawErrno {
        let mut path = PathText::new();
        if let Ok(path) = self.path_of(place, &mut path) {
            self.supervisor.tell(entry, path);
        }
        RawErrno::ACCES
    }

    fn look_at(&self, place: &NamePlace) -> Result<OwnedHandle, RawErrno> {
        let (directory, name) = place.at();
        makers::look_at(directory, name, O_NOFOLLOW, 0)
    }

    /// Where a link leads, from the directory that it is in.
    fn read_link(&self, place: &NamePlace) -> Result<CallPath, RawErrno> {
        let mut path = CallPath::new(PathStart::Handle(place.directory.0));
        path.length = makers::read_link(place.directory.0, place.name(), &mut path.text)?;
        path.keep(calls::copy_above(place.directory.0, 0)?);
        Ok(path)
    }

    /// The path of something in `/proc` that was reached by another way than its own path, so that it can be
    /// told whether it is the caller's.
    fn renamed_in_proc(&self, place: &NamePlace) -> Result<CallPath, RawErrno> {
        let mut path = PathText::new();
        let found = self.path_of(place, &mut path)?;
        let rest = found.strip_prefix(b"/proc/").ok_or(RawErrno::ACCES)?;
        let slash = rest.iter().position(|byte| *byte == b'/');
        let (number, rest) = rest.split_at(slash.ok_or(RawErrno::ACCES)?);
        let number = decimal(number).ok_or(RawErrno::ACCES)?.cast_signed();
        // What is said about this process stands for what is said about the caller: whoever looked followed
        // `/proc/self` here, or asks for what nobody gets.
        if number != calls::id() && !self.supervisor.is_of(self.call.thread, number) {
            return Err(RawErrno::ACCES);
        }
        let mut renamed = CallPath::new(PathStart::Caller(WORKING_DIRECTORY));
        let rest = match rest.strip_prefix(b"/task/") {
            Some(task) => task
                .iter()
                .position(|byte| *byte == b'/')
                .map(|at| &task[at..]),
            None => Some(rest),
        };
        renamed.set_parts(&[b"/proc/self", rest.ok_or(RawErrno::ACCES)?])?;
        Ok(renamed)
    }

    /// Opens the directory that a path is in.
    fn place(&self, mut path: CallPath) -> Result<NamePlace, RawErrno> {
        let length = path.length;
        let whole = path.text.get(..length).unwrap_or_default();
        if whole.is_empty() {
            return Err(RawErrno::NOENT);
        }
        let (own, skipped) = match own_proc(whole) {
            Some(rest) => (true, length - rest.len()),
            None => (false, 0),
        };
        let end = whole
            .iter()
            .rposition(|byte| *byte != b'/')
            .map_or(0, |at| at + 1);
        let start = whole[..end]
            .iter()
            .rposition(|byte| *byte == b'/')
            .map_or(0, |at| at + 1);
        let name = match &whole[start.min(end)..end] {
            b"" => b".",
            name => name,
        };
        let mut text = [0; LONGEST_NAME + 2];
        let count = name.len();
        let room = text.get_mut(..count).filter(|_| count <= LONGEST_NAME);
        room.ok_or(RawErrno::NAMETOOLONG)?.copy_from_slice(name);
        if end < length && end > 0 {
            text[count] = b'/';
        }
        let (directory, is_own_proc) = match own {
            true => self.own_directory(&mut path, skipped, start)?,
            false => (self.directory(&mut path, 0, start)?, false),
        };
        Ok(NamePlace {
            is_own_proc,
            directory,
            text,
            length: count,
        })
    }

    /// Opens the part of a path from `from` up to `end`.
    fn directory(
        &self,
        path: &mut CallPath,
        from: usize,
        end: usize,
    ) -> Result<OwnedHandle, RawErrno> {
        if end <= from {
            return self.start(path.start);
        }
        let is_absolute = path.text[from] == b'/';
        let text = path.until(from, end)?;
        let flags = O_DIRECTORY;
        if is_absolute {
            return makers::look_at(WORKING_DIRECTORY, text, flags, NO_MAGIC_LINKS);
        }
        let start = self.start(path.start)?;
        makers::look_at(start.0, path.until(from, end)?, flags, NO_MAGIC_LINKS)
    }

    /// As `directory`, of a path that goes on from `skipped` in what `/proc` says about the caller, and whether it
    /// is still there: a link leads out of it, and nothing else does.
    fn own_directory(
        &self,
        path: &mut CallPath,
        skipped: usize,
        end: usize,
    ) -> Result<(OwnedHandle, bool), RawErrno> {
        let mut own = ProcPath::new();
        let own = own.set(b"", self.call.thread, b"", -1, b"")?;
        let own = makers::look_at(self.supervisor.proc, own, O_DIRECTORY, NO_MAGIC_LINKS)?;
        let link = link_of_own(path.text.get(skipped..end).unwrap_or_default());
        if link == 0 {
            if end <= skipped {
                return Ok((own, true));
            }
            let text = path.until(skipped, end)?;
            let found = makers::look_at(own.0, text, O_DIRECTORY, NO_MAGIC_LINKS | BENEATH)?;
            return Ok((found, true));
        }
        let text = path.until(skipped, skipped + link)?;
        let there = makers::look_at(own.0, text, O_DIRECTORY, 0)?;
        if skipped + link >= end {
            return Ok((there, false));
        }
        let mut rest = CallPath::new(PathStart::Handle(there.0));
        let part = path.text.get(skipped + link..end).unwrap_or_default();
        let slashes = part.iter().take_while(|byte| **byte == b'/').count();
        rest.set(&part[slashes..])?;
        let length = rest.length;
        Ok((self.directory(&mut rest, 0, length)?, false))
    }

    /// Opens the directory at which relative paths begin.
    fn start(&self, start: PathStart) -> Result<OwnedHandle, RawErrno> {
        let mut path = ProcPath::new();
        let thread = self.call.thread;
        let path = match start {
            PathStart::Handle(fd) => return calls::copy_above(fd, 0).map(OwnedHandle),
            PathStart::Caller(WORKING_DIRECTORY) => path.set(b"", thread, b"/cwd", -1, b"")?,
            PathStart::Caller(fd) if fd < 0 => return Err(RawErrno::BADF),
            PathStart::Caller(fd) => path.set(b"", thread, b"/fd/", fd, b"")?,
        };
        match makers::look_at(self.supervisor.proc, path, O_DIRECTORY, 0) {
            // The number stands for nothing.
            Err(RawErrno::NOENT) => Err(RawErrno::BADF),
            opened => opened,
        }
    }
}

/// Whether the rest of a pattern may be there below a directory. Where it leaves a name open, all that could
/// match is.
fn is_below(directory: i32, rest: &[u8]) -> bool {
    let mut text = [0; LONGEST_PATH];
    let open = rest.iter().position(|byte| *byte == b'*');
    let literal = match open {
        Some(at) => {
            &rest[..rest[..at]
                .iter()
                .rposition(|byte| *byte == b'/')
                .unwrap_or(0)]
        }
        None => rest,
    };
    let Some(room) = text.get_mut(..literal.len()) else {
        return true;
    };
    room.copy_from_slice(literal);
    match CStr::from_bytes_until_nul(&text) {
        Err(_) => true,
        Ok(path) if path.is_empty() => true,
        Ok(path) => {
            let found = makers::look_at(directory, path, O_NOFOLLOW, NO_LINKS);
            !matches!(found, Err(RawErrno::NOENT | RawErrno::NOTDIR))
        }
    }
}

/// The flags for opening what exists, by a handle or by what the caller has open.
fn existing(flags: i32) -> i32 {
    flags & !(O_CREAT | O_EXCL | O_NOFOLLOW | O_PATH) | O_NOCTTY
}

/// What `creat` opens with.
const EMPTY_FILE: i32 = O_CREAT | calls::O_WRONLY | 0o1000;

const O_NOCTTY: i32 = 0o400;
#[cfg(target_arch = "x86_64")]
const O_NOFOLLOW: i32 = 0o400_000;
#[cfg(target_arch = "aarch64")]
const O_NOFOLLOW: i32 = 0o100_000;

/// Flags of `openat2`.
const NO_MAGIC_LINKS: u64 = 0x02;
const NO_LINKS: u64 = 0x04;
const BENEATH: u64 = 0x08;

/// Flags of `linkat` and `renameat2`.
const AT_FOLLOW: u32 = 0x400;
const AT_EMPTY_PATH: u32 = 0x1000;
const EXCHANGE: u32 = 2;

/// `struct sockaddr_un`.
const LONGEST_ADDRESS: usize = 110;

/// As many as the kernel follows.
const MOST_LINKS: usize = 40;

/// How often something may be removed while it is opened.
const MOST_ATTEMPTS: usize = 16;
