use std::io::{Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, UdpSocket};
use std::thread;

use super::DnsResolver;
use crate::network::dns::KIND_A;
use crate::network::dns::query::{self, DnsQuery, DnsResponseCode};
use crate::network::resolver::Resolver as _;

/// A server on both transports. `answer` gets the question and whether it came over TCP.
fn serve(answer: impl Fn(&DnsQuery, bool) -> Vec<Vec<u8>> + Send + Sync + 'static) -> SocketAddr {
    let (socket, listener) = loop {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        if let Ok(listener) = TcpListener::bind(socket.local_addr().unwrap()) {
            break (socket, listener);
        }
    };
    let address = socket.local_addr().unwrap();
    let answer = std::sync::Arc::new(answer);
    let over_tcp = std::sync::Arc::clone(&answer);
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok((length, from)) = socket.recv_from(&mut buffer) {
            let query = query::read_query(&buffer[..length]).unwrap();
            for answer in answer(&query, false) {
                let _ = socket.send_to(&answer, from);
            }
        }
    });
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut length = [0; 2];
            stream.read_exact(&mut length).unwrap();
            let mut query = vec![0; u16::from_be_bytes(length).into()];
            stream.read_exact(&mut query).unwrap();
            let query = query::read_query(&query).unwrap();
            for answer in over_tcp(&query, true) {
                let length = u16::try_from(answer.len()).unwrap();
                stream.write_all(&length.to_be_bytes()).unwrap();
                stream.write_all(&answer).unwrap();
            }
        }
    });
    address
}

fn addresses(query: &DnsQuery, v4: &[&str], v6: &[&str]) -> Vec<u8> {
    let texts = if query.question.kind == KIND_A {
        v4
    } else {
        v6
    };
    let addresses: Vec<IpAddr> = texts.iter().map(|text| text.parse().unwrap()).collect();
    query::write_answer(query, DnsResponseCode::Fine, &addresses, 60)
}

fn resolve(server: SocketAddr, name: &str) -> Result<Vec<String>, std::io::ErrorKind> {
    let found = DnsResolver::new(server)
        .resolve(name)
        .map_err(|error| error.kind())?;
    Ok(found.iter().map(ToString::to_string).collect())
}

#[test]
fn both_kinds_of_addresses_are_found() {
    let server = serve(|query, _| {
        assert_eq!(query.question.name, "a.test");
        vec![addresses(
            query,
            &["192.0.2.1", "192.0.2.2"],
            &["2001:db8::1"],
        )]
    });
    let expected = ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
        .map(str::to_owned)
        .to_vec();
    assert_eq!(resolve(server, "a.test"), Ok(expected.clone()));
    assert_eq!(resolve(server, "a.test."), Ok(expected));
}

#[test]
fn one_kind_is_enough() {
    let server = serve(|query, _| {
        if query.question.kind == KIND_A {
            return vec![addresses(query, &["192.0.2.1"], &[])];
        }
        vec![
            query::write_refusal(query.id, DnsResponseCode::NotImplemented),
            query::write_answer(query, DnsResponseCode::NoSuchName, &[], 0),
        ]
    });
    assert_eq!(resolve(server, "a.test"), Ok(vec!["192.0.2.1".to_owned()]));
}

#[test]
fn names_that_do_not_exist_are_not_found() {
    let server = serve(|query, _| {
        vec![query::write_answer(
            query,
            DnsResponseCode::NoSuchName,
            &[],
            0,
        )]
    });
    assert_eq!(resolve(server, "a.test"), Err(std::io::ErrorKind::NotFound));
    let server = serve(|query, _| vec![addresses(query, &[], &[])]);
    assert_eq!(resolve(server, "a.test"), Err(std::io::ErrorKind::NotFound));
    assert_eq!(
        resolve(server, "a..test"),
        Err(std::io::ErrorKind::InvalidInput)
    );
}

#[test]
fn answers_to_other_questions_are_passed_over() {
    let server = serve(|query, _| {
        let mut forged = query.clone();
        forged.id = query.id.wrapping_add(7);
        let mut junk = addresses(query, &["192.0.2.66"], &["2001:db8::66"]);
        junk[12] = b'x';
        vec![
            addresses(&forged, &["192.0.2.66"], &["2001:db8::66"]),
            junk,
            b"short".to_vec(),
            addresses(query, &["192.0.2.1"], &["2001:db8::1"]),
        ]
    });
    let expected = ["192.0.2.1", "2001:db8::1"].map(str::to_owned).to_vec();
    assert_eq!(resolve(server, "a.test"), Ok(expected));
}

#[test]
fn what_does_not_fit_is_asked_for_over_tcp() {
    let server = serve(|query, tcp| {
        let mut answer = addresses(query, &["192.0.2.1"], &["2001:db8::1"]);
        if !tcp {
            answer[2] |= 0x02;
        }
        vec![answer]
    });
    let expected = ["192.0.2.1", "2001:db8::1"].map(str::to_owned).to_vec();
    assert_eq!(resolve(server, "a.test"), Ok(expected));
}

#[test]
fn a_lost_question_is_asked_again() {
    let lost = std::sync::atomic::AtomicUsize::new(2);
    let server = serve(move |query, _| {
        use std::sync::atomic::Ordering::SeqCst;
        let is_lost = lost
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
            .is_ok();
        match is_lost {
            true => Vec::new(),
            false => vec![addresses(query, &["192.0.2.1"], &[])],
        }
    });
    assert_eq!(resolve(server, "a.test"), Ok(vec!["192.0.2.1".to_owned()]));
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let began = std::time::Instant::now();
    let found = resolve(silent.local_addr().unwrap(), "a.test");
    assert_eq!(found, Err(std::io::ErrorKind::Other));
    assert!(began.elapsed() < super::LIMIT * 5);
}
