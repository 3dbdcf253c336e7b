//! Servers, by sockets and by `wasi:http`.

use std::net::{TcpListener, TcpStream, ToSocketAddrs as _, UdpSocket};

use serde_json::{Value, json};

use web::wasi::http::outgoing_handler;
use web::wasi::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingResponse, Method,
    OutgoingBody, OutgoingRequest, RequestOptions, Scheme,
};
use web::wasi::io::streams::StreamError;

pub fn run(action: &str, arguments: &Value) -> Option<Result<String, String>> {
    let address = arguments["address"].as_str().unwrap_or("127.0.0.1:1");
    let shown = |result: std::io::Result<String>| {
        result.map_err(|error| format!("{:?}: {error}", error.kind()))
    };
    Some(match action {
        "tcp" => shown(TcpStream::connect(address).map(|_| "connected".to_owned())),
        "listen" => shown(TcpListener::bind(address).map(|_| "listening".to_owned())),
        "udp" => shown(UdpSocket::bind(address).map(|_| "bound".to_owned())),
        "resolve" => shown(
            address
                .to_socket_addrs()
                .map(|found| format!("{:?}", found.collect::<Vec<_>>())),
        ),
        "http" => http(arguments),
        "http_hoard" => http_hoard(arguments),
        "http_late_write" => http_late_write(arguments),
        _ => return None,
    })
}

/// Sends a request in the order that `order` says, and tells of the answer.
fn http(arguments: &Value) -> Result<String, String> {
    let request = request(arguments)?;
    let body = arguments["body"].as_str();
    let answer = match arguments["order"].as_str().unwrap_or("body_first") {
        "body_first" => {
            if let Some(body) = body {
                write(request.body().map_err(|()| "no body")?, body)?;
            }
            hand_over(request)?
        }
        "handle_first" => {
            let sink = request.body().map_err(|()| "no body")?;
            let answer = hand_over(request)?;
            if answer.get().is_some() {
                return Err("there is an answer before the body".to_owned());
            }
            if answer.subscribe().ready() {
                return Err("the answer is ready before the body".to_owned());
            }
            write(sink, body.unwrap_or_default())?;
            answer
        }
        "unfinished" => {
            let sink = request.body().map_err(|()| "no body")?;
            drop(sink);
            hand_over(request)?
        }
        "fire_and_forget" => {
            drop(hand_over(request)?);
            return Ok("sent".to_owned());
        }
        other => return Err(format!("there is no order `{other}`")),
    };
    answer.subscribe().block();
    let response = match answer.get() {
        Some(Ok(Ok(response))) => response,
        Some(Ok(Err(error))) => return Err(format!("{error:?}")),
        other => return Err(format!("no answer: {other:?}")),
    };
    if !matches!(answer.get(), Some(Err(()))) {
        return Err("the answer can be had twice".to_owned());
    }
    told(&response, arguments["skip"].as_u64())
}

/// The status and the body, without its first bytes if they are to be skipped.
fn told(response: &IncomingResponse, skip: Option<u64>) -> Result<String, String> {
    let body = response.consume().map_err(|()| "no body")?;
    if response.consume().is_ok() {
        return Err("the body can be had twice".to_owned());
    }
    let stream = body.stream().map_err(|()| "no stream")?;
    let mut skipped = 0;
    if let Some(count) = skip {
        skipped = stream
            .blocking_skip(count)
            .map_err(|error| format!("{error:?}"))?;
    }
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(u64::MAX) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed) => break,
            Err(error) => return Err(format!("{error:?}")),
        }
    }
    drop(stream);
    let trailers = IncomingBody::finish(body);
    if !matches!(trailers.get(), Some(Ok(Ok(None)))) {
        return Err("there are trailers".to_owned());
    }
    let immutable = response.headers().append("x", b"y").is_err();
    Ok(json!({
        "status": response.status(),
        "body": String::from_utf8_lossy(&bytes),
        "skipped": skipped,
        "immutable": immutable,
    })
    .to_string())
}

/// Asks again and again and keeps every answer.
fn http_hoard(arguments: &Value) -> Result<String, String> {
    let mut answers = Vec::new();
    for _ in 0..arguments["count"].as_u64().unwrap_or_default() {
        let answer = hand_over(request(arguments)?)?;
        match answer.get() {
            Some(Ok(Ok(response))) => answers.push(response),
            Some(Ok(Err(error))) => return Err(format!("{}: {error:?}", answers.len())),
            other => return Err(format!("no answer: {other:?}")),
        }
    }
    Ok(answers.len().to_string())
}

/// Writes into a body that is finished.
fn http_late_write(arguments: &Value) -> Result<String, String> {
    let body = request(arguments)?.body().map_err(|()| "no body")?;
    let stream = body.write().map_err(|()| "no stream")?;
    if body.write().is_ok() {
        return Err("the stream can be had twice".to_owned());
    }
    OutgoingBody::finish(body, None).map_err(|error| format!("{error:?}"))?;
    match stream.blocking_write_and_flush(b"late") {
        Ok(()) => Ok("written".to_owned()),
        Err(StreamError::Closed) => Err("closed".to_owned()),
        Err(StreamError::LastOperationFailed(error)) => Err(error.to_debug_string()),
    }
}

fn request(arguments: &Value) -> Result<OutgoingRequest, String> {
    let text = |key: &str| arguments[key].as_str().map(str::to_owned);
    let fields = Fields::new();
    for header in arguments["headers"].as_array().into_iter().flatten() {
        let (name, value) = (header[0].as_str(), header[1].as_str());
        let (name, value) = (name.unwrap_or_default(), value.unwrap_or_default());
        let appended = fields.append(name, value.as_bytes());
        appended.map_err(|error| format!("{name}: {error:?}"))?;
    }
    let request = OutgoingRequest::new(fields);
    if request.headers().append("x", b"y").is_ok() {
        return Err("the headers of a request can be changed".to_owned());
    }
    let method = match text("method").as_deref() {
        None | Some("GET") => Method::Get,
        Some("POST") => Method::Post,
        Some("PUT") => Method::Put,
        Some(other) => Method::Other(other.to_owned()),
    };
    let scheme = match text("scheme").as_deref() {
        None | Some("http") => Scheme::Http,
        Some("https") => Scheme::Https,
        Some(other) => Scheme::Other(other.to_owned()),
    };
    request.set_method(&method).map_err(|()| "the method")?;
    request
        .set_scheme(Some(&scheme))
        .map_err(|()| "the scheme")?;
    request
        .set_authority(text("authority").as_deref())
        .map_err(|()| "the authority")?;
    request
        .set_path_with_query(text("path").as_deref())
        .map_err(|()| "the path")?;
    Ok(request)
}

fn hand_over(request: OutgoingRequest) -> Result<FutureIncomingResponse, String> {
    let options = RequestOptions::new();
    if options.set_connect_timeout(Some(1)).is_ok() {
        return Err("a timeout can be set".to_owned());
    }
    let said = |error: ErrorCode| format!("{error:?}");
    outgoing_handler::handle(request, Some(options)).map_err(said)
}

fn write(body: OutgoingBody, text: &str) -> Result<(), String> {
    let stream = body.write().map_err(|()| "no stream")?;
    for piece in text.as_bytes().chunks(4096) {
        let written = stream.blocking_write_and_flush(piece);
        written.map_err(|error| format!("{error:?}"))?;
    }
    drop(stream);
    OutgoingBody::finish(body, None).map_err(|error| format!("{error:?}"))
}

mod web {
    wit_bindgen::generate!({
        path: [
            "../../crates/jig-wasm/wit/io", "../../crates/jig-wasm/wit/clocks",
            "../../crates/jig-wasm/wit/random", "../../crates/jig-wasm/wit/filesystem",
            "../../crates/jig-wasm/wit/sockets", "../../crates/jig-wasm/wit/cli",
            "../../crates/jig-wasm/wit/http",
        ],
        inline: "
            package jig:hostile-net;
            world web {
                import wasi:http/types@0.2.12;
                import wasi:http/outgoing-handler@0.2.12;
            }
        ",
        world: "jig:hostile-net/web",
        generate_all,
    });
}
