//! [`StationPlace`]: where the station of a workspace is found, and the proxies and servers that run there.
//!
//! There are three files for each: the socket, the lock that the living process holds, and the key that a
//! client has to show. They are in jig's state, which is hidden from every tool, whatever it was
//! given: a runtime directory such as `/run/user/1000` is not, because tools may need what else is there.
//! The directory is opened once, checked, and used by its descriptor from then on, so that nobody can put
//! another in its place; that also makes every path short enough for a socket.

use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_project::{CommandEnvironment, audit_log};
use jig_proto::hint;
use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::geteuid;
use rustix::rand::{GetRandomFlags, getrandom};

use jig_project::shell_word;

/// Where the station of one workspace is found, or one proxy, or one server.
#[derive(Debug)]
pub(crate) struct StationPlace {
    directory: Arc<StationDirectory>,
    /// The names of its files, without their endings.
    name: String,
    kind: &'static StationPlaceKind,
}

/// What is at a place.
#[derive(Debug)]
struct StationPlaceKind {
    /// For people.
    what: &'static str,
    /// The endings of its files. None is that of another kind, which would find it otherwise.
    socket: &'static str,
    key: &'static str,
    lock: &'static str,
}

impl StationPlace {
    /// The place for the workspace at `root`; its directory is made if it is not there.
    pub(crate) fn make(root: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<Self> {
        let path = StationDirectory::path_for(env)?;
        make(&path).with_context(|| format!("cannot make the folder `{path}`"))?;
        match Self::find(root, env)? {
            Some(place) => Ok(place),
            None => bail!("the folder `{path}` was removed"),
        }
    }

    /// The place for the workspace at `root`. `None` if no station was ever started for this user.
    pub(crate) fn find(root: &Utf8Path, env: &CommandEnvironment) -> anyhow::Result<Option<Self>> {
        let directory = StationDirectory::open(StationDirectory::path_for(env)?)?;
        Ok(directory.map(|directory| Self {
            directory: Arc::new(directory),
            name: name(root),
            kind: &STATION,
        }))
    }

    /// The place of proxy `number` of this process, which works for the workspace at `root`; its directory
    /// is made if it is not there.
    pub(crate) fn make_proxy(
        root: &Utf8Path,
        env: &CommandEnvironment,
        number: u32,
    ) -> anyhow::Result<Self> {
        Self::make_own(&PROXY, root, env, number)
    }

    /// The places of this user in which a proxy was started: those of the workspace at `root`, or all.
    pub(crate) fn proxies(
        root: Option<&Utf8Path>,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Vec<Self>> {
        Self::own(&PROXY, root, env)
    }

    /// The place of server `number` of this process, an MCP server for the workspace at `root`; its directory
    /// is made if it is not there.
    pub(crate) fn make_server(
        root: &Utf8Path,
        env: &CommandEnvironment,
        number: u32,
    ) -> anyhow::Result<Self> {
        Self::make_own(&SERVER, root, env, number)
    }

    /// The places of this user in which a server was started: those of the workspace at `root`, or all.
    pub(crate) fn servers(
        root: Option<&Utf8Path>,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Vec<Self>> {
        Self::own(&SERVER, root, env)
    }

    /// The process that made this place; a station's is nobody's own.
    pub(crate) fn pid(&self) -> Option<u32> {
        self.name.split('-').nth(1)?.parse().ok()
    }

    fn make_own(
        kind: &'static StationPlaceKind,
        root: &Utf8Path,
        env: &CommandEnvironment,
        number: u32,
    ) -> anyhow::Result<Self> {
        let place = Self::make(root, env)?;
        Ok(Self {
            name: format!("{}-{}-{number}", place.name, std::process::id()),
            kind,
            ..place
        })
    }

    fn own(
        kind: &'static StationPlaceKind,
        root: Option<&Utf8Path>,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Vec<Self>> {
        // The lock is the first of its files that comes, and the last that goes.
        let mut places = Self::of_kind(kind, kind.lock, env)?;
        if let Some(root) = root {
            let prefix = format!("{}-", name(root));
            places.retain(|place| place.name.starts_with(&prefix));
        }
        Ok(places)
    }

    /// The places of this user in which a station was started, whatever the workspace.
    pub(crate) fn all(env: &CommandEnvironment) -> anyhow::Result<Vec<Self>> {
        Self::of_kind(&STATION, STATION.socket, env)
    }

    /// The places of one kind, found by the file of this ending.
    fn of_kind(
        kind: &'static StationPlaceKind,
        ending: &str,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Vec<Self>> {
        let Some(directory) = StationDirectory::open(StationDirectory::path_for(env)?)? else {
            return Ok(Vec::new());
        };
        let cannot = || format!("cannot list `{}`", directory.path);
        let mut names: Vec<String> = Vec::new();
        for entry in fs::Dir::read_from(&directory.handle).with_context(cannot)? {
            let entry = entry.with_context(cannot)?;
            let name = entry.file_name().to_str().unwrap_or_default();
            if let Some(name) = name.strip_suffix(ending) {
                names.push(name.to_owned());
            }
        }
        names.sort();
        let directory = Arc::new(directory);
        let place = |name| Self {
            directory: Arc::clone(&directory),
            name,
            kind,
        };
        Ok(names.into_iter().map(place).collect())
    }

    /// Connects to who is there. `None` if nobody is; what a killed process left is removed then.
    pub(crate) fn connect(&self) -> anyhow::Result<Option<UnixStream>> {
        self.connected(UnixStream::connect(self.address(self.kind.socket)))
    }

    /// The same without waiting, for a place that was listed: somebody who takes no connections is an error.
    pub(crate) fn connect_at_once(&self) -> anyhow::Result<Option<UnixStream>> {
        let stream = connect_at_once(&self.address(self.kind.socket));
        if let Err(error) = &stream
            && error.kind() == ErrorKind::NotFound
        {
            // It begins, or goes, or was killed while it did.
            self.tidy();
        }
        self.connected(stream)
    }

    fn connected(&self, stream: io::Result<UnixStream>) -> anyhow::Result<Option<UnixStream>> {
        let (what, path) = (self.kind.what, self.path(self.kind.socket));
        match stream {
            Ok(stream) => {
                let ours = is_ours(&stream);
                if !ours.with_context(|| format!("cannot tell who the {what} belongs to"))? {
                    bail!("the {what} at `{path}` belongs to another user");
                }
                Ok(Some(stream))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
                self.tidy();
                Ok(None)
            }
            Err(error) => {
                let context = format!("cannot connect to the {what} at `{path}`");
                Err(anyhow!(error).context(context))
            }
        }
    }

    /// The key of who is there.
    pub(crate) fn key(&self) -> io::Result<StationKey> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = fs::openat(
            &self.directory.handle,
            self.file(self.kind.key),
            flags,
            Mode::empty(),
        )?;
        let mut text = [0; KEY_LENGTH * 2];
        let mut filled = 0;
        while filled < text.len() {
            match rustix::io::read(&file, &mut text[filled..])? {
                0 => break,
                count => filled += count,
            }
        }
        let text = std::str::from_utf8(&text[..filled]);
        text.ok()
            .and_then(|text| StationKey::parse(text).ok())
            .ok_or_else(|| io::Error::new(ErrorKind::InvalidData, "the key is damaged"))
    }

    /// Takes the place, for a process that begins. Waits for one that is about to go. `None` if another
    /// one serves here already.
    pub(crate) fn claim(self, patience: Duration) -> anyhow::Result<Option<Claim>> {
        let start = Instant::now();
        loop {
            let lock = self.lock();
            if let Some(lock) =
                lock.with_context(|| format!("cannot lock the place of the {}", self.kind.what))?
            {
                return Ok(Some(Claim { place: self, lock }));
            }
            if self.connect()?.is_some() {
                return Ok(None);
            }
            if start.elapsed() > patience {
                bail!(
                    "another {} holds `{}`, and does not answer",
                    self.kind.what,
                    self.path(self.kind.lock)
                );
            }
            std::thread::sleep(BETWEEN_TRIES);
        }
    }

    /// Removes what a killed process left, if nobody holds the place.
    fn tidy(&self) {
        if let Ok(Some(_lock)) = self.lock() {
            self.remove_all();
        }
    }

    /// The lock goes last, while it is held: whoever opened it before finds out.
    fn remove_all(&self) {
        self.remove(&[self.kind.socket, self.kind.key, self.kind.lock]);
    }

    fn remove(&self, endings: &[&str]) {
        for ending in endings {
            // What is not there need not be removed; the rest is for who comes next.
            let _ = fs::unlinkat(&self.directory.handle, self.file(ending), AtFlags::empty());
        }
    }

    /// The lock, if nobody holds it.
    fn lock(&self) -> io::Result<Option<OwnedFd>> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let lock = fs::openat(
                &self.directory.handle,
                self.file(self.kind.lock),
                flags,
                PRIVATE_FILE,
            )?;
            match fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => {}
                Err(Errno::WOULDBLOCK) => return Ok(None),
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            // Its last owner removes the file: then what we hold is not what others will find.
            let held = fs::fstat(&lock)?;
            match fs::statat(
                &self.directory.handle,
                self.file(self.kind.lock),
                AtFlags::SYMLINK_NOFOLLOW,
            ) {
                Ok(found) if (found.st_dev, found.st_ino) == (held.st_dev, held.st_ino) => {
                    return Ok(Some(lock));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn file(&self, ending: &str) -> String {
        format!("{}{ending}", self.name)
    }

    /// The path of a file, for people.
    fn path(&self, ending: &str) -> Utf8PathBuf {
        self.directory.path.join(self.file(ending))
    }

    /// The path of a file, for a socket: it goes through the directory that was checked.
    #[cfg(target_os = "linux")]
    fn address(&self, ending: &str) -> Utf8PathBuf {
        use std::os::fd::AsRawFd as _;
        let directory = format!("/proc/self/fd/{}", self.directory.handle.as_raw_fd());
        Utf8PathBuf::from(directory).join(self.file(ending))
    }

    #[cfg(not(target_os = "linux"))]
    fn address(&self, ending: &str) -> Utf8PathBuf {
        self.path(ending)
    }
}

/// The right to serve at a place. What belongs to it is removed when it goes.
#[derive(Debug)]
pub(crate) struct Claim {
    place: StationPlace,
    #[expect(dead_code, reason = "it is held, which is all that a lock is for")]
    lock: OwnedFd,
}

impl Claim {
    /// Makes a key and listens. The key is there before the socket, so that whoever connects can read it.
    pub(crate) fn listen(&self) -> anyhow::Result<(UnixListener, StationKey)> {
        let place = &self.place;
        let cannot = || format!("cannot listen at `{}`", place.path(place.kind.socket));
        self.close();
        let key = StationKey::random().with_context(cannot)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = fs::openat(
            &place.directory.handle,
            place.file(place.kind.key),
            flags,
            PRIVATE_FILE,
        );
        let file = file.with_context(cannot)?;
        let written = rustix::io::write(&file, key.to_string().as_bytes()).with_context(cannot)?;
        if written != KEY_LENGTH * 2 {
            bail!("cannot write the key in `{}`", place.directory.path);
        }
        let listener = UnixListener::bind(place.address(place.kind.socket)).with_context(cannot)?;
        // The directory keeps others out already; this says it once more.
        let (folder, socket) = (&place.directory.handle, place.file(place.kind.socket));
        fs::chmodat(folder, socket, PRIVATE_FILE, AtFlags::empty()).with_context(cannot)?;
        Ok((listener, key))
    }

    /// Takes the socket away, so that nobody finds it any more. The place stays claimed.
    pub(crate) fn close(&self) {
        let StationPlaceKind { socket, key, .. } = self.place.kind;
        self.place.remove(&[socket, key]);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.place.remove_all();
    }
}

/// Connects without waiting for a place in the queue of who listens: somebody who was stopped never makes one.
fn connect_at_once(path: &Utf8Path) -> io::Result<UnixStream> {
    use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, connect, socket};
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    let stream = UnixStream::from(socket);
    stream.set_nonblocking(true)?;
    connect(&stream, &SocketAddrUnix::new(path.as_str())?)?;
    stream.set_nonblocking(false)?;
    Ok(stream)
}

/// What a client shows to prove that it could read the station's directory.
#[derive(Clone)]
pub(crate) struct StationKey([u8; KEY_LENGTH]);

impl StationKey {
    fn random() -> io::Result<Self> {
        let mut bytes = [0; KEY_LENGTH];
        let mut filled = 0;
        while filled < bytes.len() {
            filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
        }
        Ok(Self(bytes))
    }

    pub(crate) fn parse(text: &str) -> Result<Self, NotAKey> {
        let mut bytes = [0; KEY_LENGTH];
        if text.len() != KEY_LENGTH * 2 || !text.is_ascii() {
            return Err(NotAKey);
        }
        for (place, byte) in bytes.iter_mut().enumerate() {
            let digits = &text[place * 2..place * 2 + 2];
            *byte = u8::from_str_radix(digits, 16).map_err(|_| NotAKey)?;
        }
        Ok(Self(bytes))
    }

    /// Whether both are the same, in a time that does not tell where they differ.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        pairs.fold(0, |differing, (one, two)| differing | (one ^ two)) == 0
    }
}

/// A text that is no key.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct NotAKey;

impl std::fmt::Display for StationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A key is a secret.
impl std::fmt::Debug for StationKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key")
    }
}

/// Whether the process at the other end belongs to this user.
#[cfg(target_os = "linux")]
pub(crate) fn is_ours(stream: &UnixStream) -> io::Result<bool> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    Ok(peer.uid == geteuid())
}

/// Whether the process at the other end sees the machine as we do. A tool in a sandbox has namespaces of its
/// own: should it ever come by the socket and the key, it is turned away here. What cannot be looked at is
/// turned away, too: a tool can see to that.
#[cfg(target_os = "linux")]
pub(crate) fn is_outside_sandboxes(stream: &UnixStream) -> io::Result<bool> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    let namespace =
        |process: &str, kind: &str| fs::readlink(format!("/proc/{process}/ns/{kind}"), Vec::new());
    let pid = peer.pid.as_raw_nonzero().to_string();
    for kind in ["user", "mnt", "pid"] {
        if namespace(&pid, kind)? != namespace("self", kind)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Elsewhere the directory and the key have to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_ours(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}

/// Elsewhere the directory and the key have to do.
#[cfg(not(target_os = "linux"))]
pub(crate) fn is_outside_sandboxes(_: &UnixStream) -> io::Result<bool> {
    Ok(true)
}

/// A directory that nobody but this user can enter.
#[derive(Debug)]
struct StationDirectory {
    path: Utf8PathBuf,
    handle: OwnedFd,
}

impl StationDirectory {
    /// Where it is for this user.
    fn path_for(env: &CommandEnvironment) -> anyhow::Result<Utf8PathBuf> {
        let state = env.state().ok_or_else(|| {
            let hint = hint!("set HOME");
            anyhow!(hint).context("there is no folder for the station's socket")
        })?;
        Ok(state.join("run"))
    }

    /// Opens and checks it. `None` if it is not there.
    fn open(path: Utf8PathBuf) -> anyhow::Result<Option<Self>> {
        let cannot = || format!("cannot use the folder `{path}`");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = match fs::open(path.as_std_path(), flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                bail!("`{path}` is not a folder, so that the station's socket cannot be there");
            }
            handle => handle.with_context(cannot)?,
        };
        let about = fs::fstat(handle.as_fd()).with_context(cannot)?;
        if about.st_uid != geteuid().as_raw() {
            bail!("`{path}` belongs to another user, so that the station's socket cannot be there");
        }
        if about.st_mode & 0o077 != 0 {
            let hint = hint!("chmod 700 {}", shell_word(path.as_str()));
            return Err(anyhow!(hint).context(format!("`{path}` is open to other users")));
        }
        Ok(Some(Self { path, handle }))
    }
}

/// What the files of a workspace are called. A home may be shared by machines, each with stations of its own.
fn name(root: &Utf8Path) -> String {
    let boot = boot().unwrap_or_default();
    format!("{:016x}", audit_log::hash(&root.join(boot)))
}

/// What tells this machine, since it was started, from all others.
#[cfg(target_os = "linux")]
fn boot() -> Option<String> {
    let path = "/proc/sys/kernel/random/boot_id";
    let file = fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let mut text = [0; 64];
    let count = rustix::io::read(&file, &mut text).ok()?;
    Some(std::str::from_utf8(&text[..count]).ok()?.trim().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn boot() -> Option<String> {
    None
}

/// Makes a directory and those above it, for this user only.
fn make(path: &Utf8Path) -> Result<(), Errno> {
    match fs::mkdir(path.as_std_path(), PRIVATE_DIRECTORY) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(Errno::NOENT) => {
            make(path.parent().ok_or(Errno::NOENT)?)?;
            match fs::mkdir(path.as_std_path(), PRIVATE_DIRECTORY) {
                Err(Errno::EXIST) => Ok(()),
                made => made,
            }
        }
        Err(error) => Err(error),
    }
}

static STATION: StationPlaceKind = StationPlaceKind {
    what: "station",
    socket: ".sock",
    key: ".key",
    lock: ".lock",
};

static PROXY: StationPlaceKind = StationPlaceKind {
    what: "proxy",
    socket: ".proxy",
    key: ".proxy-key",
    lock: ".proxy-lock",
};

static SERVER: StationPlaceKind = StationPlaceKind {
    what: "server",
    socket: ".ask",
    key: ".ask-key",
    lock: ".ask-lock",
};

const PRIVATE_FILE: Mode = Mode::from_raw_mode(0o600);
const PRIVATE_DIRECTORY: Mode = Mode::from_raw_mode(0o700);

/// In bytes: nobody guesses it.
const KEY_LENGTH: usize = 32;

/// Between two looks at whether the place is free.
const BETWEEN_TRIES: Duration = Duration::from_millis(10);
