//! A provider has to prove its name before it gets the key.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::sync::{Arc, mpsc};
use std::thread;

use jig_broker::LlmError;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::llm::world::{KEY, Names, World, ask, question, used};

const ROOT: &[u8] = include_bytes!("../tls/root.der");

/// Serves one connection as `api.test`, and tells what came through.
fn serve() -> (u16, mpsc::Receiver<String>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from(include_bytes!("../tls/server.der").to_vec());
    let key = PrivatePkcs8KeyDer::from(include_bytes!("../tls/server.key.der").to_vec());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], PrivateKeyDer::Pkcs8(key))
        .unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, tells) = mpsc::channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        let connection = ServerConnection::new(Arc::new(config)).unwrap();
        let mut stream = StreamOwned::new(connection, stream);
        let mut request = Vec::new();
        let mut buffer = [0; 4096];
        while !String::from_utf8_lossy(&request).ends_with("false}") {
            match stream.read(&mut buffer) {
                Ok(length) if length > 0 => request.extend_from_slice(&buffer[..length]),
                _ => break,
            }
        }
        if !request.is_empty() {
            let body = r#"{"choices":[{"message":{"content":"secured"}}],"usage":{"prompt_tokens":1,"completion_tokens":1}}"#;
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            let _ = stream.write_all(answer.as_bytes());
            let _ = stream.flush();
        }
        let _ = told.send(String::from_utf8_lossy(&request).into_owned());
    });
    (port, tells)
}

fn world(host: &str, port: u16, roots: &[&[u8]]) -> World {
    let mut world = World::new().with(|s| {
        s.base_url = format!("https://{host}:{port}/v1").parse().unwrap();
        s.roots = Some(roots.iter().map(|root| root.to_vec()).collect());
    });
    let here = vec![IpAddr::V4(Ipv4Addr::LOCALHOST)];
    world.resolver = Arc::new(Names([(host.to_owned(), here)].into()));
    world
}

#[test]
fn f093_a_provider_that_proves_its_name_gets_the_key() {
    let (port, came) = serve();
    let world = world("api.test", port, &[ROOT]);
    let broker = world.broker();
    assert_eq!(ask(&broker, &question("x")).unwrap().content, "secured");
    assert!(came.recv().unwrap().contains(KEY));
    assert_eq!(used(&broker), 5.0);
}

#[test]
fn f093_another_gets_nothing() {
    let check = |host: &str, roots: &[&[u8]]| {
        let (port, came) = serve();
        let world = world(host, port, roots);
        let broker = world.broker();
        let expected = LlmError::Unreachable("its certificate is not valid".to_owned());
        assert_eq!(ask(&broker, &question("x")), Err(expected));
        assert_eq!(came.recv().unwrap(), "");
        assert_eq!(used(&broker), 0.0);
    };
    check("api.test", &[]);
    check("other.test", &[ROOT]);
}
