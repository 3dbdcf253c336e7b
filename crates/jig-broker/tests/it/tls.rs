//! HTTPS: who the server is decides whether anything is sent.
//!
//! The certificates are made for these tests alone: `root.der` signed `server.der`, which is for
//! `api.test`. The root's key was thrown away.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread;

use jig_broker::Broker;
use jig_proto::vfs::{ErrorKind, HttpGet, Payload, VfsReply, VfsRequest};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::world::{World, ask, kind};

/// Serves one connection, and tells whether a request came through.
fn serve() -> (u16, mpsc::Receiver<bool>) {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let certificate = CertificateDer::from(include_bytes!("tls/server.der").to_vec());
    let key = PrivatePkcs8KeyDer::from(include_bytes!("tls/server.key.der").to_vec());
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
        let mut buffer = [0; 4096];
        let came = matches!(stream.read(&mut buffer), Ok(length) if length > 0);
        if came {
            let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nsecured";
            let _ = stream.write_all(answer);
            let _ = stream.flush();
        }
        let _ = told.send(came);
    });
    (port, tells)
}

fn request(host: &str, port: u16) -> VfsRequest<'static> {
    VfsRequest::HttpGet(HttpGet {
        url: format!("https://{host}:{port}/").into(),
        headers: Vec::new(),
    })
}

fn broker(host: &str, port: u16, roots: &[&[u8]]) -> Broker {
    let world = World::in_memory()
        .net(host, port, true)
        .net("127.0.0.1", port, true);
    world.names.put(host, &[&["127.0.0.1"]]);
    let mut parts = world.parts();
    parts.http.roots = Some(roots.iter().map(|root| root.to_vec()).collect());
    Broker::new(parts)
}

const ROOT: &[u8] = include_bytes!("tls/root.der");

#[test]
fn a_server_with_a_trusted_certificate_for_its_name_is_reached() {
    let (port, came) = serve();
    let reply = ask(
        &broker("api.test", port, &[ROOT]),
        &request("api.test", port),
    );
    match reply {
        Ok(VfsReply::Http(reply)) => assert_eq!(reply.body, Payload::Text("secured".into())),
        other => panic!("{other:?}"),
    }
    assert!(came.recv().unwrap());
}

#[test]
fn a_server_that_cannot_prove_its_name_gets_no_request() {
    let check = |host: &str, roots: &[&[u8]]| {
        let (port, came) = serve();
        let reply = ask(&broker(host, port, roots), &request(host, port));
        let error = reply.clone().unwrap_err();
        assert!(
            error.message.ends_with("certificate is not valid"),
            "{error}"
        );
        assert_eq!(kind(reply), Err(ErrorKind::Internal));
        assert!(!came.recv().unwrap());
    };
    check("api.test", &[]);
    check("other.test", &[ROOT]);
}
