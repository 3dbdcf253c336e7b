//! TLS: judged by the name that it asks for, and passed on untouched.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::Arc;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{
    ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned,
};

use super::world::{Server, World, hear};

/// A server for `api.test`, with the certificates of the tests of `http.*`.
fn serve() -> Server {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = include_bytes!("../../../../tests/it/tls/server.der");
    let key = include_bytes!("../../../../tests/it/tls/server.key.der");
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.to_vec()));
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![CertificateDer::from(certificate.to_vec())], key)
        .unwrap();
    let config = Arc::new(config);
    Server::start(move |stream| {
        let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut buffer = [0; 4096];
        let Ok(count @ 1..) = stream.read(&mut buffer) else {
            return b"no request".to_vec();
        };
        stream.write_all(b"secured").unwrap();
        stream.conn.send_close_notify();
        let _ = stream.flush();
        buffer[..count].to_vec()
    })
}

/// A client that asks for this name; returns what it gets, or why it gets nothing.
fn ask(stream: TcpStream, name: &str, with_name: bool) -> Result<String, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    let root = include_bytes!("../../../../tests/it/tls/root.der");
    roots.add(CertificateDer::from(root.to_vec())).unwrap();
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.enable_sni = with_name;
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(connection, stream);
    stream
        .write_all(b"a secret request")
        .map_err(|error| error.to_string())?;
    let mut answer = String::new();
    match stream.read_to_string(&mut answer) {
        Ok(_) => Ok(answer),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_connection_that_asks_for_its_name_is_passed_on() {
    let server = serve();
    let world = World::new().host("api.test", server.port).open();
    let answer = ask(world.connect("api.test", server.port), "api.test", true);
    assert_eq!(answer, Ok("secured".to_owned()));
    assert_eq!(server.heard(), "a secret request");
    let line = format!("net.connect api.test:{} allow ok", server.port);
    assert_eq!(world.log.lines(), [line]);
}

#[test]
fn a_name_that_lies_is_refused_with_an_alert() {
    let server = serve();
    let world = World::new()
        .host("api.test", server.port)
        .host("other.test", server.port)
        .open();
    let check = |asked: &str, with_name: bool, why: &str| {
        let error = ask(world.connect("other.test", server.port), asked, with_name).unwrap_err();
        assert!(error.contains("AccessDenied"), "{asked}: {error}");
        let denials = world.gateway.denials();
        let denial = denials.last().unwrap();
        assert!(denial.why.contains(why), "{denial}");
        assert_eq!(denial.target, format!("other.test:{}", server.port));
    };
    // A name that is allowed, but not the one that was looked up.
    check("api.test", true, "asks for `api.test`");
    check("evil.test", true, "asks for `evil.test`");
    check("other.test", false, "SNI");
    assert_eq!(server.connections(), 0);
    let lines = world.log.lines();
    assert_eq!(lines.len(), 3);
    assert!(
        lines.iter().all(|line| line.ends_with("deny -")),
        "{lines:?}"
    );
}

#[test]
fn a_path_rule_refuses_tls_and_says_so() {
    let server = serve();
    let world = World::new()
        .host("api.test", server.port)
        .rule("api.test", |rule| {
            rule.port = Some(server.port);
            rule.path_prefix = Some("/pub".to_owned());
        })
        .open();
    let error = ask(world.connect("api.test", server.port), "api.test", true).unwrap_err();
    assert!(error.contains("AccessDenied"), "{error}");
    let denial = world.denial();
    assert!(
        denial
            .why
            .contains("path of a TLS connection cannot be seen"),
        "{denial}"
    );
    assert_eq!(denial.hint, None);
    assert_eq!(server.connections(), 0);
}

#[test]
fn private_addresses_are_refused_under_tls_too() {
    let server = serve();
    let world = World::new().allow("api.test", server.port);
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world.open();
    let error = ask(world.connect("api.test", server.port), "api.test", true).unwrap_err();
    assert!(error.contains("AccessDenied"), "{error}");
    assert!(world.denial().why.contains("127.0.0.1, a loopback address"));
    assert_eq!(server.connections(), 0);
}

#[test]
fn the_machine_itself_needs_no_name_in_tls() {
    let server = serve();
    let world = World::new().allow("localhost", server.port).open();
    let stream = world.connect_to("127.0.0.1", server.port);
    // The certificate is for another name, which the client finds out from the server itself.
    let error = ask(stream, "localhost", false).unwrap_err();
    assert!(error.contains("certificate"), "{error}");
    let error = ask(world.connect_to("127.0.0.1", server.port), "api.test", true).unwrap_err();
    assert!(error.contains("AccessDenied"), "{error}");
}

#[test]
fn a_hello_that_never_becomes_one_is_refused() {
    let server = serve();
    let world = World::new().host("api.test", server.port).open();
    for words in [
        b"\x16\x03\x01\x00\x05nope!".as_slice(),
        b"\x16\x03\x01\x00\x00",
        b"\x16\x03\x01\xff\xff",
        b"\x16\x03\x01\x00\x04\x01\xff\xff\xff",
    ] {
        let mut stream = world.connect("api.test", server.port);
        stream.write_all(words).unwrap();
        assert_eq!(hear(&mut stream), [21, 3, 3, 0, 2, 2, 49], "{words:?}");
    }
    // Records of one byte each, without end.
    let mut stream = world.connect("api.test", server.port);
    let _ = stream.write_all(b"\x16\x03\x01\x00\x04\x01\x00\x40\x00");
    for _ in 0..40_000 {
        if stream.write_all(b"\x16\x03\x01\x00\x01\x03").is_err() {
            break;
        }
    }
    hear(&mut stream);
    assert!(
        world
            .gateway
            .denials()
            .iter()
            .any(|denial| denial.why.contains("too long"))
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn a_connection_that_hides_a_second_name_is_refused() {
    let server = serve();
    let world = World::new().host("api.test", server.port).open();
    let hello = |extra: &[u8]| {
        let name = b"\0\0\0\x0d\0\x0b\0\0\x08api.test".as_slice();
        let extensions = [name, extra].concat();
        let size = |bytes: &[u8]| (bytes.len() as u16).to_be_bytes();
        let body = [
            b"\x03\x03".as_slice(),
            &[7; 32],
            b"\0\0\x02\x13\x01\x01\0",
            &size(&extensions),
            &extensions,
        ]
        .concat();
        let message = [b"\x01\0".as_slice(), &size(&body), &body].concat();
        [b"\x16\x03\x01".as_slice(), &size(&message), &message].concat()
    };
    // The twin: without the hidden name it reaches the server, which does not like it.
    let mut stream = world.connect("api.test", server.port);
    stream.write_all(&hello(b"")).unwrap();
    assert_ne!(hear(&mut stream), [21, 3, 3, 0, 2, 2, 49]);
    assert_eq!(server.heard(), "no request");
    let mut stream = world.connect("api.test", server.port);
    stream.write_all(&hello(b"\xfe\x0d\0\x01\0")).unwrap();
    assert_eq!(hear(&mut stream), [21, 3, 3, 0, 2, 2, 49]);
    let denial = world.denial();
    assert!(denial.why.contains("ECH"), "{denial}");
    assert!(denial.advice.unwrap().contains("turn ECH off"));
    assert_eq!(server.connections(), 1);
}
