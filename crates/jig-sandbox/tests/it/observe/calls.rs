//! Every call of the table, made by a program and seen by the observer.

use std::ffi::{CStr, CString, c_long};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use super::*;

/// A call on a name in the working directory: how it is made, and what it is seen to want there. `file` exists,
/// `directory` too, and everything else that begins with `new` does not.
struct Case {
    call: &'static str,
    make: fn(),
    expected: &'static [(&'static str, &'static str)],
}

macro_rules! case {
    ($call:literal, $make:expr, [$($expected:tt)*]) => {
        Case { call: $call, make: || { $make; }, expected: &[$($expected)*] }
    };
}

/// Makes a call by its number; what it comes to does not matter.
fn make<const N: usize>(number: c_long, words: [usize; N]) -> c_long {
    let mut all = [0_usize; 6];
    all[..N].copy_from_slice(&words);
    let [one, two, three, four, five, six] = all;
    // SAFETY: the cases pass addresses of strings and structures that live on.
    unsafe { libc::syscall(number, one, two, three, four, five, six) }
}

fn at(text: &'static CStr) -> usize {
    text.as_ptr().expose_provenance()
}

/// The working directory as a descriptor, and as the number that stands for it.
fn directory() -> usize {
    static HERE: OnceLock<OwnedFd> = OnceLock::new();
    let open = || {
        let fd = make(
            libc::SYS_openat,
            [HERE_BY_NUMBER, at(c"."), libc::O_RDONLY as usize],
        );
        // SAFETY: the call has just opened it.
        unsafe { OwnedFd::from_raw_fd(fd as i32) }
    };
    HERE.get_or_init(open).as_raw_fd() as usize
}

const HERE_BY_NUMBER: usize = libc::AT_FDCWD as isize as usize;

/// In the order in which they are made.
fn cases() -> Vec<Case> {
    let mut cases = vec![
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [HERE_BY_NUMBER, at(c"f1"), libc::O_RDONLY as usize]
            ),
            [("f1", "read")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [directory(), at(c"f2"), libc::O_RDWR as usize]
            ),
            [("f2", "read, update")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [
                    directory(),
                    at(c"f3"),
                    (libc::O_RDONLY | libc::O_TRUNC) as usize
                ]
            ),
            [("f3", "read, update")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [directory(), at(c"f4"), libc::O_PATH as usize]
            ),
            [("f4", "?")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [
                    directory(),
                    at(c"new1"),
                    (libc::O_RDWR | libc::O_CREAT) as usize,
                    0o644
                ]
            ),
            [("new1", "read, create")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [
                    directory(),
                    at(c"f5"),
                    (libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL) as usize,
                    0o644
                ]
            ),
            [("f5", "?")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [
                    directory(),
                    at(c"d1"),
                    (libc::O_RDWR | libc::O_TMPFILE) as usize,
                    0o644
                ]
            ),
            [("d1", "read, create")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [
                    directory(),
                    at(c"link1"),
                    (libc::O_RDONLY | libc::O_NOFOLLOW) as usize
                ]
            ),
            [("link1", "read")]
        ),
        case!(
            "openat",
            make(
                libc::SYS_openat,
                [directory(), at(c"link1"), libc::O_RDONLY as usize]
            ),
            [("f6", "read")]
        ),
        case!(
            "execve",
            make(libc::SYS_execve, [at(c"f7"), 0, 0]),
            [("f7", "read, execute")]
        ),
        case!(
            "execveat",
            make(libc::SYS_execveat, [directory(), at(c"f8"), 0, 0, 0]),
            [("f8", "read, execute")]
        ),
        case!(
            "mkdirat",
            make(libc::SYS_mkdirat, [directory(), at(c"new2"), 0o755]),
            [("new2", "create")]
        ),
        case!(
            "mkdirat",
            make(libc::SYS_mkdirat, [directory(), at(c"d2"), 0o755]),
            [("d2", "?")]
        ),
        case!(
            "mknodat",
            make(
                libc::SYS_mknodat,
                [
                    directory(),
                    at(c"new3"),
                    (libc::S_IFIFO | 0o600) as usize,
                    0
                ]
            ),
            [("new3", "create")]
        ),
        case!(
            "symlinkat",
            make(
                libc::SYS_symlinkat,
                [at(c"anything"), directory(), at(c"new4")]
            ),
            [("new4", "create")]
        ),
        case!(
            "linkat",
            make(
                libc::SYS_linkat,
                [directory(), at(c"f9"), directory(), at(c"new5"), 0]
            ),
            [("f9", "?"), ("new5", "create")]
        ),
        case!(
            "renameat2",
            make(
                libc::SYS_renameat2,
                [directory(), at(c"f10"), directory(), at(c"new6"), 0]
            ),
            [("f10", "delete"), ("new6", "create")]
        ),
        case!(
            "renameat2",
            make(
                libc::SYS_renameat2,
                [directory(), at(c"f11"), directory(), at(c"f12"), 0]
            ),
            [("f11", "delete"), ("f12", "create, delete")]
        ),
        case!(
            "renameat2",
            make(
                libc::SYS_renameat2,
                [
                    directory(),
                    at(c"f13"),
                    directory(),
                    at(c"f14"),
                    libc::RENAME_EXCHANGE as usize
                ]
            ),
            [("f13", "create, delete"), ("f14", "create, delete")]
        ),
        case!(
            "unlinkat",
            make(libc::SYS_unlinkat, [directory(), at(c"f15"), 0]),
            [("f15", "delete")]
        ),
        case!(
            "unlinkat",
            make(libc::SYS_unlinkat, [directory(), at(c"link2"), 0]),
            [("link2", "delete")]
        ),
        case!(
            "unlinkat",
            make(
                libc::SYS_unlinkat,
                [directory(), at(c"d3"), libc::AT_REMOVEDIR as usize]
            ),
            [("d3", "delete")]
        ),
        case!(
            "truncate",
            make(libc::SYS_truncate, [at(c"f16"), 0]),
            [("f16", "update")]
        ),
        case!(
            "fchmodat",
            make(libc::SYS_fchmodat, [directory(), at(c"f17"), 0o600]),
            [("f17", "update")]
        ),
        case!(
            "fchownat",
            make(
                libc::SYS_fchownat,
                [directory(), at(c"f18"), usize::MAX, usize::MAX, 0]
            ),
            [("f18", "update")]
        ),
        case!(
            "utimensat",
            make(libc::SYS_utimensat, [directory(), at(c"f19"), 0, 0]),
            [("f19", "update")]
        ),
        case!(
            "setxattr",
            make(
                libc::SYS_setxattr,
                [at(c"f20"), at(c"user.a"), at(c"b"), 1, 0]
            ),
            [("f20", "update")]
        ),
        case!(
            "lsetxattr",
            make(
                libc::SYS_lsetxattr,
                [at(c"link3"), at(c"user.a"), at(c"b"), 1, 0]
            ),
            [("link3", "update")]
        ),
        case!(
            "removexattr",
            make(libc::SYS_removexattr, [at(c"f21"), at(c"user.a")]),
            [("f21", "update")]
        ),
        case!(
            "lremovexattr",
            make(libc::SYS_lremovexattr, [at(c"f22"), at(c"user.a")]),
            [("f22", "update")]
        ),
        case!(
            "newfstatat",
            make(libc::SYS_newfstatat, [directory(), at(c"f23"), 0, 0]),
            [("f23", "?")]
        ),
        case!(
            "newfstatat",
            make(
                libc::SYS_newfstatat,
                [
                    directory(),
                    at(c"link4"),
                    0,
                    libc::AT_SYMLINK_NOFOLLOW as usize
                ]
            ),
            [("link4", "?")]
        ),
        case!(
            "statx",
            make(libc::SYS_statx, [directory(), at(c"f24"), 0, 0, 0]),
            [("f24", "?")]
        ),
        case!(
            "statfs",
            make(libc::SYS_statfs, [at(c"f25"), 0]),
            [("f25", "?")]
        ),
        case!(
            "faccessat",
            make(
                libc::SYS_faccessat,
                [directory(), at(c"f26"), libc::W_OK as usize]
            ),
            [("f26", "?")]
        ),
        case!(
            "faccessat2",
            make(libc::SYS_faccessat2, [directory(), at(c"f27"), 0, 0]),
            [("f27", "?")]
        ),
        case!(
            "readlinkat",
            make(libc::SYS_readlinkat, [directory(), at(c"link5"), 0, 0]),
            [("link5", "?")]
        ),
        case!(
            "getxattr",
            make(libc::SYS_getxattr, [at(c"f28"), at(c"user.a"), 0, 0]),
            [("f28", "?")]
        ),
        case!(
            "lgetxattr",
            make(libc::SYS_lgetxattr, [at(c"link6"), at(c"user.a"), 0, 0]),
            [("link6", "?")]
        ),
        case!(
            "listxattr",
            make(libc::SYS_listxattr, [at(c"f29"), 0, 0]),
            [("f29", "?")]
        ),
        case!(
            "llistxattr",
            make(libc::SYS_llistxattr, [at(c"f30"), 0, 0]),
            [("f30", "?")]
        ),
        case!("chdir", make(libc::SYS_chdir, [at(c"d4")]), [("d4", "?")]),
        // From now on the working directory is another one, and names of the descriptor are not.
        case!(
            "openat",
            make(libc::SYS_openat, [HERE_BY_NUMBER, at(c"../f31"), 0]),
            [("f31", "read")]
        ),
        case!(
            "openat",
            make(libc::SYS_openat, [directory(), at(c"f32"), 0]),
            [("f32", "read")]
        ),
        case!(
            "openat",
            make(libc::SYS_openat, [HERE_BY_NUMBER, at(c"in-d4"), 0]),
            [("d4/in-d4", "read")]
        ),
        case!("chdir", make(libc::SYS_chdir, [at(c"..")]), []),
    ];
    #[cfg(target_arch = "x86_64")]
    cases.extend([
        case!(
            "open",
            make(
                libc::SYS_open,
                [at(c"o1"), (libc::O_WRONLY | libc::O_CREAT) as usize, 0o644]
            ),
            [("o1", "create")]
        ),
        case!(
            "creat",
            make(libc::SYS_creat, [at(c"o2"), 0o644]),
            [("o2", "create")]
        ),
        case!(
            "creat",
            make(libc::SYS_creat, [at(c"f33"), 0o644]),
            [("f33", "update")]
        ),
        case!(
            "mkdir",
            make(libc::SYS_mkdir, [at(c"o3"), 0o755]),
            [("o3", "create")]
        ),
        case!(
            "mknod",
            make(
                libc::SYS_mknod,
                [at(c"o4"), (libc::S_IFIFO | 0o600) as usize, 0]
            ),
            [("o4", "create")]
        ),
        case!(
            "symlink",
            make(libc::SYS_symlink, [at(c"anything"), at(c"o5")]),
            [("o5", "create")]
        ),
        case!(
            "link",
            make(libc::SYS_link, [at(c"f34"), at(c"o6")]),
            [("f34", "?"), ("o6", "create")]
        ),
        case!(
            "rename",
            make(libc::SYS_rename, [at(c"f35"), at(c"o7")]),
            [("f35", "delete"), ("o7", "create")]
        ),
        case!(
            "renameat",
            make(
                libc::SYS_renameat,
                [directory(), at(c"f36"), directory(), at(c"o8")]
            ),
            [("f36", "delete"), ("o8", "create")]
        ),
        case!(
            "unlink",
            make(libc::SYS_unlink, [at(c"f37")]),
            [("f37", "delete")]
        ),
        case!(
            "rmdir",
            make(libc::SYS_rmdir, [at(c"d5")]),
            [("d5", "delete")]
        ),
        case!(
            "chmod",
            make(libc::SYS_chmod, [at(c"f38"), 0o600]),
            [("f38", "update")]
        ),
        case!(
            "chown",
            make(libc::SYS_chown, [at(c"f39"), usize::MAX, usize::MAX]),
            [("f39", "update")]
        ),
        case!(
            "lchown",
            make(libc::SYS_lchown, [at(c"link7"), usize::MAX, usize::MAX]),
            [("link7", "update")]
        ),
        case!(
            "utime",
            make(libc::SYS_utime, [at(c"f40"), 0]),
            [("f40", "update")]
        ),
        case!(
            "utimes",
            make(libc::SYS_utimes, [at(c"f41"), 0]),
            [("f41", "update")]
        ),
        case!(
            "futimesat",
            make(libc::SYS_futimesat, [directory(), at(c"f42"), 0]),
            [("f42", "update")]
        ),
        case!(
            "stat",
            make(libc::SYS_stat, [at(c"f43"), 0]),
            [("f43", "?")]
        ),
        case!(
            "lstat",
            make(libc::SYS_lstat, [at(c"link8"), 0]),
            [("link8", "?")]
        ),
        case!(
            "access",
            make(libc::SYS_access, [at(c"f44"), 0]),
            [("f44", "?")]
        ),
        case!(
            "readlink",
            make(libc::SYS_readlink, [at(c"link9"), 0, 0]),
            [("link9", "?")]
        ),
    ]);
    cases
}

/// Where the kernel knows them, and no filter of a confinement refuses them.
fn newer_cases() -> Vec<Case> {
    vec![
        case!(
            "openat2",
            {
                let how = [(libc::O_WRONLY | libc::O_CREAT) as u64, 0o644, 0];
                make(
                    libc::SYS_openat2,
                    [
                        directory(),
                        at(c"new7"),
                        how.as_ptr().expose_provenance(),
                        24,
                    ],
                )
            },
            [("new7", "create")]
        ),
        case!(
            "inotify_add_watch",
            make(libc::SYS_inotify_add_watch, [usize::MAX, at(c"f45"), 1]),
            [("f45", "?")]
        ),
    ]
}

const INSIDE_TEST: &str = "observe::calls::inside_every_call_is_made";

/// The program of [`every_call_is_seen`].
#[test]
fn inside_every_call_is_made() {
    if !is_inside() {
        return;
    }
    directory();
    for case in cases().iter().chain(&newer_cases()) {
        (case.make)();
    }
}

#[test]
fn every_call_is_seen() {
    if is_inside() {
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("d1/ d2/ d3/ d4/ d5/");
        for number in 1..50 {
            fs::write(workspace.join(&format!("f{number}")), "").expect("it is ours");
        }
        for number in 1..10 {
            let link = workspace.join(&format!("link{number}"));
            std::os::unix::fs::symlink("f6", link).expect("it is ours");
        }
        let ran = run_inside(held, INSIDE_TEST, &workspace);
        assert_eq!(ran.observation.unread, 0);
        let mut cases = cases();
        if matches!(held, Held::Free | Held::Adopted) {
            cases.extend(newer_cases());
        }
        for case in cases {
            for (name, expected) in case.expected {
                let seen = seen(&ran.observation, &workspace.join(name));
                let told = seen.map(|seen| match seen.looked {
                    true => "?".to_owned(),
                    false => seen.wanted.to_string(),
                });
                assert_eq!(
                    told.as_deref(),
                    Some(*expected),
                    "{held:?}: {} of {name}",
                    case.call
                );
                let programs = seen.map(|seen| &seen.programs[..]);
                assert_eq!(programs, Some(&["program".to_owned()][..]));
            }
        }
    }
}

/// Addresses: how they are reached, and what is seen of it.
const SOCKETS_TEST: &str = "observe::calls::inside_sockets_are_used";

#[test]
fn inside_sockets_are_used() {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener, UnixStream};
    if !is_inside() {
        return;
    }
    // Whether anybody listens does not matter.
    let _ = std::net::TcpStream::connect("127.0.0.1:1001");
    let _ = std::net::TcpStream::connect("[::1]:1002");
    if let Ok(socket) = std::net::UdpSocket::bind("127.0.0.1:0") {
        let _ = socket.send_to(b"x", "127.0.0.1:1003");
        // Without an address it goes unseen.
        let _ = socket.connect("127.0.0.1:1004");
        let _ = socket.send(b"x");
        send_messages(socket.as_raw_fd());
    }
    let _ = UnixListener::bind("socket");
    let _ = UnixStream::connect("socket");
    let _ = UnixStream::connect("/run/none/socket");
    if let Ok(name) = SocketAddr::from_abstract_name("hidden") {
        let _ = UnixStream::connect_addr(&name);
    }
    if let Ok(socket) = UnixDatagram::unbound() {
        let _ = socket.send_to(b"x", "datagrams");
    }
}

/// By `sendmsg` to port 1005, and by `sendmmsg` to ports 1006 and 1007.
fn send_messages(socket: i32) {
    let address = |port: u16| libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes([127, 0, 0, 1]),
        },
        sin_zero: [0; 8],
    };
    let mut addresses = [1005, 1006, 1007].map(address);
    // SAFETY: messages are plain data, valid when zero; the addresses outlive the calls.
    unsafe {
        let mut messages: [libc::mmsghdr; 3] = std::mem::zeroed();
        for (message, address) in messages.iter_mut().zip(&mut addresses) {
            message.msg_hdr.msg_name = (&raw mut *address).cast();
            message.msg_hdr.msg_namelen = size_of::<libc::sockaddr_in>() as u32;
        }
        libc::sendmsg(socket, &raw const messages[0].msg_hdr, 0);
        libc::sendmmsg(socket, &raw mut messages[1], 2, 0);
    }
}

#[test]
fn addresses_are_seen() {
    if is_inside() {
        return;
    }
    for held in all_ways_to_hold() {
        // Without namespaces a confined program has no sockets at all.
        if held == Held::Bare {
            continue;
        }
        let workspace = Workspace::of("");
        let ran = run_inside(held, SOCKETS_TEST, &workspace);
        let mut found: Vec<String> = ran
            .observation
            .seen
            .iter()
            .filter_map(|one| match &one.target {
                ObservedTarget::Address(address) => Some(address.to_string()),
                ObservedTarget::Socket(path) => Some(path.display().to_string()),
                _ => None,
            })
            .collect();
        found.dedup();
        let below = |name| workspace.join(name).display().to_string();
        let expected = [
            "127.0.0.1:1001".to_owned(),
            "[::1]:1002".to_owned(),
            "127.0.0.1:1003".to_owned(),
            "127.0.0.1:1004".to_owned(),
            "127.0.0.1:1005".to_owned(),
            "127.0.0.1:1006".to_owned(),
            "127.0.0.1:1007".to_owned(),
            below("socket"),
            "/run/none/socket".to_owned(),
            "@hidden".to_owned(),
            below("datagrams"),
        ];
        assert_eq!(found, expected, "{held:?}");
        let made = seen(&ran.observation, &workspace.join("socket")).expect("it was bound");
        assert_eq!(made.wanted, Rights::CREATE);
    }
}

#[test]
fn the_order_of_ten_thousand_names_is_kept() {
    const TEST: &str = "observe::calls::the_order_of_ten_thousand_names_is_kept";
    const COUNT: usize = 10_000;
    if is_inside() {
        for number in 0..COUNT {
            let name = CString::new(format!("name-{number}")).expect("it has no NUL");
            make(
                libc::SYS_openat,
                [HERE_BY_NUMBER, name.as_ptr().expose_provenance(), 0],
            );
        }
        return;
    }
    let workspace = Workspace::of("");
    let ran = run_inside(Held::Free, TEST, &workspace);
    let names: Vec<&Path> = ran
        .observation
        .seen
        .iter()
        .filter_map(|one| match &one.target {
            ObservedTarget::Path(path) => path.strip_prefix(workspace.path()).ok(),
            _ => None,
        })
        .filter(|name| name.to_str().is_some_and(|name| name.starts_with("name-")))
        .collect();
    let expected: Vec<PathBuf> = (0..COUNT)
        .map(|number| format!("name-{number}").into())
        .collect();
    assert_eq!(names, expected);
    assert_eq!(ran.observation.lost, 0);
}
