//! A gateway, the servers behind it, and a program before it.

use std::collections::HashMap;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use jig_files::{FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredNetRule, DefaultAccess, Guards, Policy, RuleOrigin, Workspace,
};
use jig_proto::Denial;
use jig_sandbox::{GatewaySockets, NAMES_V6, PROXY_PORT};

use crate::audit::{AuditEntry, AuditSink, OnAuditFailure};
use crate::broker::{Broker, BrokerParts};
use crate::network::dns::{self, DnsAnswer, KIND_A};
use crate::network::resolver::Resolver;
use crate::programs::gateway::Gateway;
use crate::programs::gateway::names::AddressPlan;

/// Names stand for loopback addresses.
pub(super) const PLAN: AddressPlan = AddressPlan {
    v4: Ipv4Addr::new(127, 80, 0, 0),
    v6: Some(NAMES_V6.0),
    gateway: Ipv4Addr::new(127, 80, 0, 1),
};

/// Longer than anything takes on a loaded machine.
pub(super) const LONG: Duration = Duration::from_secs(60);

/// What is to be there.
#[derive(Default)]
pub(super) struct World {
    pub(super) access: DeclaredAccess,
    pub(super) names: Table,
    pub(super) log: Arc<Log>,
    pub(super) on_audit_failure: OnAuditFailure,
    ports: Vec<u16>,
}

impl World {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// Adds a rule.
    pub(super) fn rule(mut self, host: &str, change: impl FnOnce(&mut DeclaredNetRule)) -> Self {
        let mut rule = DeclaredNetRule {
            host: host.to_owned(),
            scheme: None,
            port: None,
            path_prefix: None,
            methods: None,
            allow: true,
            origin: RuleOrigin::line("jig.toml", self.access.net.len() as u32 + 1),
        };
        change(&mut rule);
        self.ports.extend(rule.port);
        self.access.net.push(rule);
        self
    }

    /// A rule on a host and port.
    pub(super) fn allow(self, host: &str, port: u16) -> Self {
        self.rule(host, |rule| rule.port = Some(port))
    }

    /// A name that leads to the loopback interface, with a rule on it and one on that address.
    pub(super) fn host(self, name: &str, port: u16) -> Self {
        self.names.put(name, &[&["127.0.0.1"]]);
        self.allow(name, port).allow("127.0.0.1", port)
    }

    /// Has a further port listened on.
    pub(super) fn listen(mut self, port: u16) -> Self {
        self.ports.push(port);
        self
    }

    pub(super) fn open(self) -> Opened {
        let names = self.names.clone();
        self.open_with(names)
    }

    pub(super) fn open_with(self, resolver: impl Resolver + 'static) -> Opened {
        let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let policy = Policy::compile(
            &self.access,
            DefaultAccess::READ_ONLY,
            &Guards::default(),
            &workspace,
        )
        .unwrap();
        let mut parts = BrokerParts::new("fetcher", "c1", files, Arc::new(policy));
        parts.http.resolver = Arc::new(resolver);
        parts.audit = Arc::clone(&self.log) as Arc<dyn AuditSink>;
        parts.on_audit_failure = self.on_audit_failure;
        let broker = Broker::new(parts);
        let mut ports = self.ports;
        ports.extend([53, PROXY_PORT]);
        ports.sort_unstable();
        ports.dedup();
        let mut places = HashMap::new();
        let mut listeners = Vec::new();
        for port in ports {
            let listener = TcpListener::bind("0.0.0.0:0").unwrap();
            places.insert(port, listener.local_addr().unwrap().port());
            listeners.push((port, listener.into()));
        }
        let lookups = UdpSocket::bind("127.0.0.1:0").unwrap();
        let lookup = lookups.local_addr().unwrap();
        let sockets = GatewaySockets {
            lookups: vec![lookups.into()],
            listeners,
        };
        let gateway = Gateway::open(&broker.inner, sockets, PLAN).unwrap();
        Opened {
            gateway,
            places,
            lookup,
            log: self.log,
            names: self.names,
            _broker: broker,
        }
    }
}

pub(super) struct Opened {
    pub(super) gateway: Gateway,
    /// Where the listener of a port really is.
    places: HashMap<u16, u16>,
    pub(super) lookup: SocketAddr,
    pub(super) log: Arc<Log>,
    pub(super) names: Table,
    _broker: Broker,
}

impl Opened {
    /// Looks a name up; `None` if there is none.
    pub(super) fn look_up(&self, name: &str) -> Option<IpAddr> {
        let query = dns::write_query(7, name, KIND_A).unwrap();
        let answer = self.ask(&query);
        match dns::read_answer(&answer, 7, name, KIND_A).unwrap() {
            DnsAnswer::Addresses(addresses) => addresses.first().copied(),
            DnsAnswer::NoSuchName => None,
            other => panic!("{other:?}"),
        }
    }

    /// Sends a datagram to where lookups go, and waits for the answer.
    pub(super) fn ask(&self, query: &[u8]) -> Vec<u8> {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        socket.set_read_timeout(Some(LONG)).unwrap();
        socket.send_to(query, self.lookup).unwrap();
        let mut buffer = [0; 4096];
        let (length, _) = socket.recv_from(&mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    /// Connects to an address of the program's network.
    pub(super) fn connect_to(&self, address: &str, port: u16) -> TcpStream {
        let address: IpAddr = address.parse().unwrap();
        let stream = TcpStream::connect((address, self.places[&port])).unwrap();
        stream.set_read_timeout(Some(LONG)).unwrap();
        stream.set_write_timeout(Some(LONG)).unwrap();
        stream
    }

    /// Looks a name up and connects.
    pub(super) fn connect(&self, name: &str, port: u16) -> TcpStream {
        let address = self.look_up(name).expect("the name is known");
        self.connect_to(&address.to_string(), port)
    }

    pub(super) fn proxy(&self) -> TcpStream {
        self.connect_to("127.80.0.1", PROXY_PORT)
    }

    /// Says something on a connection and hears all that comes back.
    pub(super) fn say(&self, name: &str, port: u16, words: impl AsRef<[u8]>) -> String {
        say(self.connect(name, port), words)
    }

    /// The one denial.
    pub(super) fn denial(&self) -> Denial {
        let mut denials = self.gateway.denials();
        assert_eq!(denials.len(), 1, "{denials:#?}");
        denials.remove(0)
    }
}

/// Says something and hears all that comes back, however the connection ends.
pub(super) fn say(mut stream: TcpStream, words: impl AsRef<[u8]>) -> String {
    let _ = stream.write_all(words.as_ref());
    String::from_utf8_lossy(&hear(&mut stream)).into_owned()
}

/// Hears all that comes, however the connection ends.
pub(super) fn hear(stream: &mut TcpStream) -> Vec<u8> {
    let mut heard = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return heard,
            Ok(count) => heard.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return heard,
            Err(error) => panic!("the connection neither speaks nor ends: {error}"),
        }
    }
}

/// Reads exactly as many bytes as expected, and compares.
pub(super) fn expect(stream: &mut TcpStream, expected: impl AsRef<[u8]>) {
    let expected = expected.as_ref();
    let mut heard = vec![0; expected.len()];
    stream.read_exact(&mut heard).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(text(&heard), text(expected));
}

/// A server whose every connection is a script. It tells what it heard on each.
pub(super) struct Server {
    pub(super) port: u16,
    heard: mpsc::Receiver<String>,
    connections: Arc<AtomicUsize>,
}

impl Server {
    /// The script returns what it heard.
    pub(super) fn start(script: impl Fn(TcpStream) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = mpsc::channel();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        let script = Arc::new(script);
        // It ends with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stream = stream.unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let (script, tell) = (Arc::clone(&script), tell.clone());
                thread::spawn(move || {
                    let heard = script(stream);
                    let _ = tell.send(String::from_utf8_lossy(&heard).into_owned());
                });
            }
        });
        Self {
            port,
            heard,
            connections,
        }
    }

    /// Answers every request in the same way as soon as its head is there, and then hears what else comes.
    pub(super) fn answering(answer: impl Into<Vec<u8>>) -> Self {
        let answer = answer.into();
        Self::start(move |mut stream| {
            let mut heard = read_head(&mut stream);
            let _ = stream.write_all(&answer);
            let _ = stream.shutdown(Shutdown::Write);
            heard.extend(hear(&mut stream));
            heard
        })
    }

    /// What the next connection to end has heard.
    pub(super) fn heard(&self) -> String {
        self.heard.recv_timeout(LONG).unwrap()
    }

    /// How many connections there were.
    pub(super) fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Reads up to the end of a head, and not further than it came with it.
pub(super) fn read_head(stream: &mut TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(LONG)).unwrap();
    let mut heard = Vec::new();
    let mut byte = [0];
    while !heard.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => heard.push(byte[0]),
            _ => return heard,
        }
    }
    heard
}

pub(super) const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A resolver that knows what it is told. Each lookup takes the next answer; the last stays.
#[derive(Debug, Clone, Default)]
pub(super) struct Table(Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>);

impl Table {
    pub(super) fn put(&self, name: &str, answers: &[&[&str]]) {
        let read = |text: &&str| text.parse().unwrap();
        let answers = answers
            .iter()
            .map(|answer| answer.iter().map(read).collect());
        let answers = answers.collect();
        self.0.lock().unwrap().insert(name.to_owned(), answers);
    }
}

impl Resolver for Table {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut names = self.0.lock().unwrap();
        let answers = names.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        match answers.len() {
            0 => Err(io::ErrorKind::NotFound.into()),
            1 => Ok(answers[0].clone()),
            _ => Ok(answers.remove(0)),
        }
    }
}

/// Keeps the audit entries.
#[derive(Debug, Default)]
pub(super) struct Log {
    entries: Mutex<Vec<AuditEntry>>,
    pub(super) fails: AtomicBool,
}

impl Log {
    /// Operation, target, decision and outcome of each entry.
    pub(super) fn lines(&self) -> Vec<String> {
        let entries = self.entries.lock().unwrap();
        let line = |entry: &AuditEntry| {
            let outcome = entry.outcome.as_deref().unwrap_or("-");
            let AuditEntry {
                operation,
                target,
                decision,
                ..
            } = entry;
            format!("{operation} {target} {decision} {outcome}")
        };
        entries.iter().map(line).collect()
    }

    pub(super) fn entries(&self) -> Vec<AuditEntry> {
        self.entries.lock().unwrap().clone()
    }
}

impl AuditSink for Log {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        if self.fails.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.entries.lock().unwrap().push(entry.clone());
        Ok(())
    }
}
