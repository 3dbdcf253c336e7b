//! A gateway: what a tool connects to arrives at the host, which sees what was meant; all else leads nowhere.

use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;

use jig_sandbox::{
    Enforce, Enforcement, GatewayProfile, GatewaySockets, Layers, Network, PathRule,
    PrivateDirectory, ProcessLimits, Profile, Rights, RuleSource,
};

use super::*;

/// What the program inside is to try, one attempt a line: see [`attempt`].
const ATTEMPTS: &str = "JIG_TEST_ATTEMPTS";

/// Not a test: what runs inside, started by those below.
#[test]
fn inside() {
    let Ok(attempts) = std::env::var(ATTEMPTS) else {
        return;
    };
    for line in attempts.lines() {
        let result = match attempt(line) {
            Ok(text) => text,
            Err(error) => error.raw_os_error().map_or_else(
                || error.to_string(),
                |number| {
                    let name = NAMES.iter().find(|(one, _)| *one == number);
                    name.map_or(number.to_string(), |(_, name)| (*name).to_owned())
                },
            ),
        };
        println!("tried {line} => {result}");
    }
}

const NAMES: [(i32, &str); 9] = [
    (libc::EACCES, "EACCES"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::EPERM, "EPERM"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
];

/// Makes one attempt: `tcp ADDRESS` and `udp ADDRESS` say what the other side answers; `bind ADDRESS`,
/// `bind-shared ADDRESS` and `bind-udp ADDRESS` that it worked, as do `icmp`, `raw` and `route`.
fn attempt(line: &str) -> std::io::Result<String> {
    let (way, address) = line.split_once(' ').unwrap_or((line, ""));
    let done = || "done".to_owned();
    match way {
        "tcp" => {
            let mut text = String::new();
            let address: SocketAddr = address.parse().expect("tests name addresses");
            let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
            stream.set_read_timeout(Some(PATIENCE))?;
            stream.read_to_string(&mut text)?;
            Ok(text)
        }
        "udp" => {
            let any = if address.starts_with('[') {
                "[::]:0"
            } else {
                "0.0.0.0:0"
            };
            let socket = UdpSocket::bind(any)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            socket.connect(address)?;
            socket.send(b"question")?;
            let mut answer = [0; 64];
            let length = socket.recv(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer[..length]).into_owned())
        }
        "bind" => TcpListener::bind(address).map(|_| done()),
        "bind-shared" => bind_shared(address).map(|_| done()),
        "bind-udp" => UdpSocket::bind(address).map(|_| done()),
        "icmp" => socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP).map(|_| done()),
        "raw" => socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_TCP).map(|_| done()),
        "route" => add_route().map(|()| done()),
        other => panic!("no attempt `{other}`"),
    }
}

fn socket(family: i32, kind: i32, protocol: i32) -> std::io::Result<OwnedFd> {
    // SAFETY: the call takes no addresses.
    let fd = unsafe { libc::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd == -1 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: it is new, and nobody else's.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Listens with everything that lets sockets share a port.
fn bind_shared(address: &str) -> std::io::Result<TcpListener> {
    let address: SocketAddr = address.parse().expect("tests name addresses");
    let SocketAddr::V4(address) = address else {
        panic!("only IPv4 is tried this way");
    };
    let socket = socket(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let name = libc::sockaddr_in {
        sin_family: libc::AF_INET as u16,
        sin_port: address.port().to_be(),
        sin_addr: libc::in_addr {
            s_addr: u32::from_ne_bytes(address.ip().octets()),
        },
        sin_zero: [0; 8],
    };
    let on = 1_i32;
    let check = |result| match result {
        -1 => Err(std::io::Error::last_os_error()),
        _ => Ok(()),
    };
    for option in [libc::SO_REUSEADDR, libc::SO_REUSEPORT] {
        let (fd, value) = (socket.as_raw_fd(), (&raw const on).cast());
        // SAFETY: the value is a live local of the size that is given.
        check(unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, option, value, 4) })?;
    }
    let size = size_of_val(&name) as u32;
    // SAFETY: the name is a live local of the size that is given.
    check(unsafe { libc::bind(socket.as_raw_fd(), (&raw const name).cast(), size) })?;
    // SAFETY: the call takes no addresses.
    check(unsafe { libc::listen(socket.as_raw_fd(), 1) })?;
    Ok(TcpListener::from(socket))
}

/// Asks the kernel to make one more address this machine's own.
fn add_route() -> std::io::Result<()> {
    let mut request = [0_u8; 44];
    request[..4].copy_from_slice(&44_u32.to_ne_bytes());
    request[4..6].copy_from_slice(&libc::RTM_NEWROUTE.to_ne_bytes());
    request[6..8].copy_from_slice(&0x405_u16.to_ne_bytes());
    request[16..24].copy_from_slice(&[2, 32, 0, 0, 255, 4, 254, 2]);
    request[28..36].copy_from_slice(&[8, 0, 1, 0, 8, 8, 8, 8]);
    request[36..44].copy_from_slice(&[8, 0, 4, 0, 1, 0, 0, 0]);
    let socket = socket(libc::AF_NETLINK, libc::SOCK_RAW, libc::NETLINK_ROUTE)?;
    // For its reading and writing, which is the same for all sockets.
    let mut socket = UnixStream::from(socket);
    socket.write_all(&request)?;
    let mut answer = [0; 256];
    let length = socket.read(&mut answer)?;
    assert!(length >= 20, "the kernel answers");
    let error = i32::from_ne_bytes([answer[16], answer[17], answer[18], answer[19]]);
    match error {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(-error)),
    }
}

/// What the test program is copied into, because the directories above it may be closed to others.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        let directory = tempfile::Builder::new()
            .prefix("jig-gateway")
            .tempdir_in("/var/tmp")
            .expect("there is a directory for temporary files");
        fs::copy("/proc/self/exe", directory.path().join("program")).expect("it can be copied");
        Self(directory)
    }

    fn profile(&self, network: Network) -> Profile {
        let mut profile = Profile::closed();
        for path in [Path::new("/usr"), Path::new("/etc"), self.0.path()] {
            profile.paths.push(PathRule {
                path: path.to_owned(),
                rights: Rights::READ.with(Rights::EXECUTE),
                source: RuleSource::System,
            });
        }
        profile.private.push(PrivateDirectory {
            path: "/tmp".into(),
            size: 1 << 20,
            executable: false,
        });
        profile.network = network;
        profile
    }

    /// The program, trying these.
    fn program(&self, network: Network, attempts: &[&str]) -> SpawnRequest {
        let program = self.0.path().join("program");
        let args = [
            "--exact",
            "gateway::inside",
            "--nocapture",
            "--test-threads=1",
        ];
        let mut request = request(program.to_str().expect("it is text"), &args);
        request
            .env
            .insert(ATTEMPTS.into(), attempts.join("\n").into());
        request.limits = ProcessLimits::ROOMY;
        request.profile = Some(Arc::new(self.profile(network)));
        request
    }
}

fn gateway(ports: &[u16], addresses: &[&str]) -> GatewayProfile {
    GatewayProfile {
        ports: ports.to_vec(),
        explained: Vec::new(),
        addresses: addresses
            .iter()
            .map(|one| one.parse().expect("tests name addresses"))
            .collect(),
    }
}

/// Answers all that arrives with the address that it was meant for, while something else happens.
fn serving<T>(sockets: GatewaySockets, meanwhile: impl FnOnce() -> T) -> T {
    let listeners: Vec<TcpListener> = sockets
        .listeners
        .into_iter()
        .map(|(port, fd)| {
            let listener = TcpListener::from(fd);
            let address = listener.local_addr().expect("it is bound");
            assert_eq!(address.port(), port);
            listener
        })
        .collect();
    let lookups: Vec<UdpSocket> = sockets.lookups.into_iter().map(UdpSocket::from).collect();
    thread::scope(|scope| {
        for listener in &listeners {
            scope.spawn(|| {
                while let Ok((mut stream, _)) = listener.accept() {
                    let meant = stream.local_addr().expect("it is connected");
                    let _ = stream.write_all(meant.to_string().as_bytes());
                    let _ = stream.shutdown(Shutdown::Write);
                }
            });
        }
        for socket in &lookups {
            scope.spawn(|| {
                let mut question = [0; 64];
                while let Ok((1.., from)) = socket.recv_from(&mut question) {
                    let at = socket.local_addr().expect("it is bound").to_string();
                    socket.send_to(at.as_bytes(), from).expect("it hears");
                }
            });
        }
        let result = meanwhile();
        let fds = listeners.iter().map(AsRawFd::as_raw_fd);
        for fd in fds.chain(lookups.iter().map(AsRawFd::as_raw_fd)) {
            // SAFETY: the call takes no addresses. It wakes whoever waits there, connected or not.
            unsafe { libc::shutdown(fd, libc::SHUT_RDWR) };
        }
        result
    })
}

/// What each attempt came to, in order.
#[track_caller]
fn outcomes(child: &mut Child) -> Vec<String> {
    let mut output = String::new();
    let mut pipe = child.stdout.take().expect("it is piped");
    pipe.read_to_string(&mut output).expect("it is text");
    let lines = output
        .lines()
        .filter_map(|line| line.split_once("tried ").map(|(_, rest)| rest.to_owned()));
    let lines: Vec<String> = lines.collect();
    assert!(child.wait().expect("waitable").is_success(), "{output}");
    lines
}

/// Attempts, each with what comes of it.
#[track_caller]
fn check(gateway: GatewayProfile, cases: &[(&str, &str)]) {
    let place = Place::new();
    let attempts: Vec<&str> = cases.iter().map(|(attempt, _)| *attempt).collect();
    let request = place.program(Network::Gateway(gateway), &attempts);
    let mut child = spawn(request).expect("it starts");
    assert_eq!(child.status.network, Enforcement::Enforced);
    let sockets = child.gateway.take().expect("its profile has one");
    let came_to = serving(sockets, || outcomes(&mut child));
    let expected: Vec<String> = cases
        .iter()
        .map(|(attempt, outcome)| format!("{attempt} => {outcome}"))
        .collect();
    assert_eq!(came_to, expected);
}

#[test]
fn the_host_sees_what_a_connection_was_meant_for() {
    let listed = ["203.0.113.9", "2001:db8::9", "127.0.0.1", "0.0.0.0"];
    check(
        gateway(&[80, 443, 8080, 80], &listed),
        &[
            ("tcp 198.18.0.20:80", "[::ffff:198.18.0.20]:80"),
            ("tcp 198.19.255.254:8080", "[::ffff:198.19.255.254]:8080"),
            (
                "tcp [fd6a:6967:6e61:6d65::14]:443",
                "[fd6a:6967:6e61:6d65::14]:443",
            ),
            // The loopback is reached as well, on ports that are listed.
            ("tcp 127.0.0.1:8080", "[::ffff:127.0.0.1]:8080"),
            ("tcp [::1]:8080", "[::1]:8080"),
            ("tcp 203.0.113.9:443", "[::ffff:203.0.113.9]:443"),
            ("tcp [2001:db8::9]:80", "[2001:db8::9]:80"),
            ("tcp 198.18.0.1:53", "[::ffff:198.18.0.1]:53"),
            ("tcp 198.18.0.1:3128", "[::ffff:198.18.0.1]:3128"),
            ("udp 198.18.0.1:53", "198.18.0.1:53"),
            ("udp 127.0.0.1:53", "127.0.0.1:53"),
        ],
    );
}

#[test]
fn all_else_leads_nowhere() {
    // A server of the host on a port that is listed, and one on a port that is not.
    let listen = || TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
    let (listed, other) = (listen(), listen());
    let address = |one: &TcpListener| one.local_addr().expect("it is bound").to_string();
    let port = |one: &TcpListener| one.local_addr().expect("it is bound").port();
    let (to_listed, to_other) = (
        format!("tcp {}", address(&listed)),
        format!("tcp {}", address(&other)),
    );
    let ours = format!("[::ffff:127.0.0.1]:{}", port(&listed));
    check(
        gateway(&[80, port(&listed)], &["203.0.113.9"]),
        &[
            (&to_listed, &ours),
            (&to_other, "ECONNREFUSED"),
            ("tcp 203.0.113.10:80", "ENETUNREACH"),
            ("tcp 169.254.169.254:80", "ENETUNREACH"),
            ("tcp [2001:db8::9]:80", "ENETUNREACH"),
            ("tcp 198.17.255.255:80", "ENETUNREACH"),
            ("tcp 198.20.0.0:80", "ENETUNREACH"),
            ("tcp [fd6a:6967:6e61:6d66::1]:80", "ENETUNREACH"),
            ("tcp 198.18.0.20:443", "ECONNREFUSED"),
            ("tcp 203.0.113.9:22", "ECONNREFUSED"),
            ("udp 198.18.0.20:53", "ECONNREFUSED"),
            ("udp 198.18.0.20:80", "ECONNREFUSED"),
            ("udp 203.0.113.9:53", "ECONNREFUSED"),
            ("udp 203.0.113.10:53", "ENETUNREACH"),
            ("udp [2001:db8::9]:53", "ENETUNREACH"),
            // The group of users that may is empty in every new network.
            ("icmp", "EACCES"),
            ("raw", "EPROTONOSUPPORT"),
            ("route", "EPERM"),
        ],
    );
    // Nobody has come to the host's own.
    for server in [listed, other] {
        server.set_nonblocking(true).expect("it is a socket");
        assert!(server.accept().is_err());
    }
}

/// Whoever listens in the host's place could read what others of the tree send.
#[test]
fn a_tool_cannot_take_the_place_of_the_host() {
    check(
        gateway(&[80, 8080], &["203.0.113.9"]),
        &[
            ("bind 0.0.0.0:80", "EACCES"),
            ("bind 198.18.0.20:53", "EACCES"),
            ("bind-udp 0.0.0.0:53", "EACCES"),
            ("bind-udp 198.18.0.20:53", "EACCES"),
            ("bind 0.0.0.0:8080", "EADDRINUSE"),
            ("bind 127.0.0.1:8080", "EADDRINUSE"),
            ("bind 198.18.0.20:8080", "EADDRINUSE"),
            ("bind 203.0.113.9:8080", "EADDRINUSE"),
            ("bind [::]:8080", "EADDRINUSE"),
            ("bind [::1]:8080", "EADDRINUSE"),
            ("bind [fd6a:6967:6e61:6d65::14]:8080", "EADDRNOTAVAIL"),
            ("bind-shared 0.0.0.0:8080", "EADDRINUSE"),
            ("bind-shared 198.18.0.20:8080", "EADDRINUSE"),
            ("bind 198.18.0.1:3128", "EADDRINUSE"),
            // Its own loopback is its own, on all other ports.
            ("bind 127.0.0.1:8081", "done"),
            ("bind-udp 127.0.0.1:8080", "done"),
        ],
    );
}

/// The sockets come in several messages.
#[test]
fn there_can_be_many_ports() {
    let ports: Vec<u16> = (1..=200).map(|number| number * 300).collect();
    check(
        gateway(&ports, &[]),
        &[
            ("tcp 198.18.0.20:300", "[::ffff:198.18.0.20]:300"),
            ("tcp 198.18.0.20:30000", "[::ffff:198.18.0.20]:30000"),
            ("tcp 198.18.0.20:60000", "[::ffff:198.18.0.20]:60000"),
            ("tcp 198.18.0.20:60300", "ECONNREFUSED"),
        ],
    );
}

#[test]
fn without_the_hosts_sockets_there_is_no_network() {
    let place = Place::new();
    let attempts = ["tcp 198.18.0.20:80", "udp 198.18.0.1:53"];
    let refused = attempts.map(|attempt| format!("{attempt} => ECONNREFUSED"));
    // A profile without a gateway has none.
    let mut child = spawn(place.program(Network::None, &attempts)).expect("it starts");
    assert!(child.gateway.is_none());
    assert_eq!(outcomes(&mut child), refused);
    let with = Network::Gateway(gateway(&[80], &[]));
    let mut request = place.program(with, &attempts);
    let (input, hold) = std::io::pipe().expect("there are pipes");
    request.stdin = jig_sandbox::Stdio::Given(input.into());
    let program = request.args.join(" ".as_ref());
    let program = program.to_str().expect("it is text");
    let script = format!(
        "read line; exec {}/program {program}",
        place.0.path().display()
    );
    request.program = Program::parse("/bin/sh").expect("it is absolute");
    request.args = vec!["-c".into(), script.into()];
    let mut child = spawn(request).expect("it starts");
    drop(child.gateway.take().expect("its profile has one"));
    drop(hold);
    assert_eq!(outcomes(&mut child), refused);
}

/// An observer and a door come by the same line as the sockets.
#[test]
fn one_that_is_watched_and_has_a_door_has_its_gateway_too() {
    let place = Place::new();
    let network = Network::Gateway(gateway(&[80], &[]));
    let mut request = place.program(network.clone(), &["tcp 198.18.0.20:80"]);
    let mut profile = place.profile(network);
    profile.door = Some("/tmp/door".into());
    request.profile = Some(Arc::new(profile));
    request.observe = true;
    let mut child = spawn(request).expect("it starts");
    assert!(child.observer.is_some() || child.unobserved.is_some());
    let door = child.door.take().expect("its profile has one");
    let door = UnixListener::from(door).local_addr();
    assert_eq!(
        door.expect("it is a unix socket").as_pathname(),
        Some("door".as_ref())
    );
    let sockets = child.gateway.take().expect("its profile has one");
    let came_to = serving(sockets, || outcomes(&mut child));
    assert_eq!(came_to, ["tcp 198.18.0.20:80 => [::ffff:198.18.0.20]:80"]);
}

/// The sockets are the host's alone.
#[test]
fn a_tool_has_no_socket_of_its_gateway() {
    let place = Place::new();
    let mut request = shell("ls -l /proc/self/fd /proc/$$/fd /proc/1/fd 2>&1; exit 0");
    let network = Network::Gateway(gateway(&[80], &[]));
    request.profile = Some(Arc::new(place.profile(network)));
    let (_, output, _) = run(request);
    assert!(output.contains("pipe:["), "{output}");
    assert!(!output.contains("socket:["), "{output}");
}

/// Machines without IPv6, as containers often are: here this thread, and all that it starts, has none.
#[test]
fn without_ipv6_there_is_ipv4() {
    if launches_by_pool() {
        // Its helper is as the whole process is.
        return;
    }
    let checked = thread::spawn(|| {
        refuse_ipv6();
        check(
            gateway(&[80], &["203.0.113.9", "2001:db8::9"]),
            &[
                ("tcp 198.18.0.20:80", "198.18.0.20:80"),
                ("tcp 203.0.113.9:80", "203.0.113.9:80"),
                ("tcp 127.0.0.1:80", "127.0.0.1:80"),
                ("udp 198.18.0.1:53", "198.18.0.1:53"),
                ("tcp [fd6a:6967:6e61:6d65::14]:80", "EAFNOSUPPORT"),
            ],
        );
    });
    checked.join().expect("it is as checked");
}

/// Has the kernel refuse sockets of IPv6 to this thread and what it starts.
fn refuse_ipv6() {
    let step = |code: u32, jf: u8, k: u32| libc::sock_filter {
        code: code as u16,
        jt: 0,
        jf,
        k,
    };
    let load = |at| step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, at);
    let is = |value, else_skip| {
        let code = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
        step(code, else_skip, value)
    };
    let give = |answer| step(libc::BPF_RET | libc::BPF_K, 0, answer);
    let mut steps = [
        load(0),
        is(libc::SYS_socket as u32, 3),
        load(16),
        is(libc::AF_INET6 as u32, 1),
        give(libc::SECCOMP_RET_ERRNO | libc::EAFNOSUPPORT as u32),
        give(libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog {
        len: steps.len() as u16,
        filter: steps.as_mut_ptr(),
    };
    // SAFETY: the program and its steps are live locals, which the kernel only reads.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let set = libc::syscall(libc::SYS_seccomp, 1_u64, 0_u64, &raw const program);
        assert_eq!(set, 0, "{}", std::io::Error::last_os_error());
    }
}

/// A host that has no numbers left for the sockets must not run a tool whose connections nobody sees.
#[test]
fn a_host_without_room_for_the_sockets_is_told_so() {
    if !is_alone("gateway::a_host_without_room_for_the_sockets_is_told_so") {
        return;
    }
    warm_up();
    let place = Place::new();
    let ports: Vec<u16> = (1..=200).collect();
    let request = place.program(Network::Gateway(gateway(&ports, &[])), &[]);
    let limit = libc::rlimit {
        rlim_cur: 100,
        rlim_max: 100,
    };
    // SAFETY: the limit is a live local.
    unsafe { assert_eq!(libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit), 0) };
    let error = spawn(request).expect_err("there is no room");
    let jig_sandbox::SpawnError::Step { step, source, .. } = error else {
        panic!("{error:?}");
    };
    assert_eq!(step, "taking on the sockets of its gateway");
    assert_eq!(source.raw_os_error(), Some(libc::EMFILE));
    // Nothing of it is left open.
    assert!(run(shell("exit")).0.is_success());
}

/// Tier B: ports are all that can be told apart, so it takes a profile that is content with that.
#[test]
fn without_namespaces_only_ports_are_filtered() {
    let place = Place::new();
    let listen = || TcpListener::bind("127.0.0.1:0").expect("there is a loopback");
    let (listed, other) = (listen(), listen());
    let port = |one: &TcpListener| one.local_addr().expect("it is bound").port();
    let attempts = [
        format!("tcp 127.0.0.1:{}", port(&other)),
        "bind 127.0.0.1:0".to_owned(),
        format!("tcp 127.0.0.1:{}", port(&listed)),
    ];
    let attempts: Vec<&str> = attempts.iter().map(String::as_str).collect();
    let network = || Network::Gateway(gateway(&[port(&listed)], &[]));
    let confined = |enforce| {
        let mut profile = place.profile(network());
        profile.layers = Layers::TIER_B;
        profile.enforce = enforce;
        profile.private.clear();
        let mut request = place.program(network(), &attempts);
        request.profile = Some(Arc::new(profile));
        spawn(request)
    };
    let refused = confined(Enforce::Required).expect_err("names cannot be told apart");
    let reason = refused.to_string();
    assert!(reason.contains("without a network namespace"), "{reason}");

    let mut child = confined(Enforce::BestEffort).expect("it starts");
    assert!(child.gateway.is_none());
    let status = child.status.network.to_string();
    if status.contains("no network at all") {
        assert!(outcomes(&mut child)[2].ends_with("EAFNOSUPPORT"));
        return;
    }
    assert!(status.contains("UDP"), "{status}");
    let served = thread::spawn(move || {
        let (mut stream, _) = listed.accept().expect("somebody comes");
        stream.write_all(b"hello").expect("it listens");
    });
    let came_to = outcomes(&mut child);
    assert_eq!(
        came_to,
        [
            format!("{} => EACCES", attempts[0]),
            format!("{} => EACCES", attempts[1]),
            format!("{} => hello", attempts[2]),
        ]
    );
    served.join().expect("it was served");
}

const PATIENCE: Duration = Duration::from_secs(20);
