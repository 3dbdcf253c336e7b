//! [`Listeners`]: one socket of each kind, which tell the secret to whoever comes.

use std::fs;
use std::io::{self, PipeWriter, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Sockets of the host and the thread that answers on them.
#[derive(Debug)]
pub(crate) struct Listeners {
    /// The port on 127.0.0.1.
    pub(crate) tcp: u16,
    /// The port on ::1, if the machine has it.
    pub(crate) tcp6: Option<u16>,
    /// The port on 127.0.0.1.
    pub(crate) udp: u16,
    /// Without the leading zero byte.
    pub(crate) abstract_stream: String,
    /// Without the leading zero byte.
    pub(crate) abstract_datagram: String,
    /// Stream sockets by path: beside the workspaces, in `/tmp`, and in `/run` if it is writable.
    pub(crate) paths: Vec<PathBuf>,
    /// A datagram socket by path.
    pub(crate) datagram_path: PathBuf,
    /// Closing it ends the thread.
    line: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Listeners {
    pub(super) fn start(root: &Path, name: &str, secret: &str) -> io::Result<Self> {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let tcp6 = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).ok();
        let udp = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        let abstract_stream = format!("{name}-stream");
        let abstract_datagram = format!("{name}-datagram");
        let stream_address = SocketAddr::from_abstract_name(&abstract_stream)?;
        let datagram_address = SocketAddr::from_abstract_name(&abstract_datagram)?;
        let datagram_path = root.join("datagram.sock");

        let mut paths = Vec::new();
        let mut sockets = vec![
            Socket::Unix(UnixListener::bind_addr(&stream_address)?),
            Socket::UnixDatagram(UnixDatagram::bind_addr(&datagram_address)?),
            Socket::UnixDatagram(UnixDatagram::bind(&datagram_path)?),
        ];
        for directory in [root, Path::new("/tmp"), Path::new("/run")] {
            let path = directory.join(format!("{name}.sock"));
            if let Ok(listener) = UnixListener::bind(&path) {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o666))?;
                sockets.push(Socket::Unix(listener));
                paths.push(path);
            }
        }
        let ports = (tcp.local_addr()?.port(), udp.local_addr()?.port());
        let port6 = match &tcp6 {
            Some(listener) => Some(listener.local_addr()?.port()),
            None => None,
        };
        sockets.extend([Socket::Tcp(tcp), Socket::Udp(udp)]);
        sockets.extend(tcp6.map(Socket::Tcp));

        let (reader, line) = io::pipe()?;
        let secret = secret.to_owned();
        let thread = thread::spawn(move || serve(&sockets, &OwnedFd::from(reader), &secret));
        Ok(Self {
            tcp: ports.0,
            tcp6: port6,
            udp: ports.1,
            abstract_stream,
            abstract_datagram,
            paths,
            datagram_path,
            line: Some(line),
            thread: Some(thread),
        })
    }

    /// The stream socket in a directory, or a path at which there is none.
    pub(crate) fn path_in(&self, directory: &str) -> String {
        let found = self.paths.iter().find(|path| path.starts_with(directory));
        match found {
            Some(path) => path.to_string_lossy().into_owned(),
            None => format!("{directory}/no-such-socket"),
        }
    }
}

impl Drop for Listeners {
    fn drop(&mut self) {
        drop(self.line.take());
        if let Some(thread) = self.thread.take() {
            // A panic there has failed an attack already.
            let _ = thread.join();
        }
        for path in self.paths.iter().chain([&self.datagram_path]) {
            let _ = fs::remove_file(path);
        }
    }
}

enum Socket {
    Tcp(TcpListener),
    Udp(UdpSocket),
    Unix(UnixListener),
    UnixDatagram(UnixDatagram),
}

impl Socket {
    fn descriptor(&self) -> RawFd {
        match self {
            Socket::Tcp(socket) => socket.as_raw_fd(),
            Socket::Udp(socket) => socket.as_raw_fd(),
            Socket::Unix(socket) => socket.as_raw_fd(),
            Socket::UnixDatagram(socket) => socket.as_raw_fd(),
        }
    }

    /// Answers one visitor. Whoever leaves before hears nothing, which is no error of the host.
    fn answer(&self, secret: &[u8]) -> io::Result<()> {
        let mut buffer = [0; 512];
        match self {
            Socket::Tcp(socket) => {
                let (mut visitor, _) = socket.accept()?;
                visitor.write_all(secret)?;
                // What the visitor sent is read to its end: closing before would take the answer back.
                visitor.shutdown(Shutdown::Write)?;
                visitor.set_read_timeout(Some(Duration::from_millis(200)))?;
                visitor.read(&mut buffer).map(drop)
            }
            Socket::Unix(socket) => socket.accept()?.0.write_all(secret),
            Socket::Udp(socket) => {
                let (_, from) = socket.recv_from(&mut buffer)?;
                socket.send_to(secret, from).map(drop)
            }
            Socket::UnixDatagram(socket) => {
                let (_, from) = socket.recv_from(&mut buffer)?;
                socket.send_to_addr(secret, &from).map(drop)
            }
        }
    }
}

fn serve(sockets: &[Socket], end: &OwnedFd, secret: &str) {
    let all = sockets.iter().map(Socket::descriptor);
    let mut waits: Vec<libc::pollfd> = all
        .chain([end.as_raw_fd()])
        .map(|fd| libc::pollfd {
            fd,
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    loop {
        wait_for_any(&mut waits);
        if waits.last().is_none_or(|end| end.revents != 0) {
            return;
        }
        for (socket, wait) in sockets.iter().zip(&waits) {
            if wait.revents != 0 {
                let _ = socket.answer(secret.as_bytes());
            }
        }
    }
}

#[expect(unsafe_code, reason = "the standard library has no poll")]
fn wait_for_any(waits: &mut [libc::pollfd]) {
    // SAFETY: the pointer and the length are those of a live slice of the kernel's own type.
    unsafe {
        libc::poll(waits.as_mut_ptr(), waits.len() as libc::nfds_t, -1);
    }
}
