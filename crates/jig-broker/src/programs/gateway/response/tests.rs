use super::{GatewayResponse, ProtocolSwitch};

fn pass(switch: ProtocolSwitch, pieces: &[&[u8]]) -> Result<String, String> {
    let mut response = GatewayResponse::new(switch);
    let mut out = Vec::new();
    for piece in pieces {
        response
            .pass(piece, &mut out)
            .map_err(|error| error.to_string())?;
    }
    Ok(String::from_utf8_lossy(&out).into_owned())
}

#[test]
fn a_head_says_that_the_connection_closes_however_it_comes() {
    let check = |head: &str, expected: &str| {
        let whole = pass(ProtocolSwitch::No, &[head.as_bytes()]);
        assert_eq!(whole.as_deref(), Ok(expected));
        let bytes: Vec<&[u8]> = head.as_bytes().chunks(1).collect();
        assert_eq!(pass(ProtocolSwitch::No, &bytes).as_deref(), Ok(expected));
    };
    check(
        "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nX: y\r\n\r\nConnection: body\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX: y\r\nConnection: close\r\n\r\nConnection: body\r\n\r\n",
    );
    check(
        "HTTP/1.1 200 OK\nCONNECTION : x\n folded\nX: y\n folded\n\nbody",
        "HTTP/1.1 200 OK\nX: y\n folded\nConnection: close\r\n\nbody",
    );
    check(
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n",
    );
    check(
        "HTTP/1.0 200\r\n\r\n",
        "HTTP/1.0 200\r\nConnection: close\r\n\r\n",
    );
}

#[test]
fn what_is_no_answer_is_an_error() {
    for head in [
        "nonsense\r\n\r\n",
        "HTTP/2 200\r\n\r\n",
        "HTTP/1.1 2x0\r\n\r\n",
        "HTTP/1.1\r\n\r\n",
        "\r\n\r\n\r\n",
    ] {
        assert!(
            pass(ProtocolSwitch::No, &[head.as_bytes()]).is_err(),
            "{head:?}"
        );
    }
    let endless = format!("HTTP/1.1 200 OK\r\n{}", "X: y\r\n".repeat(100_000));
    assert!(pass(ProtocolSwitch::No, &[endless.as_bytes()]).is_err());
    let line = "x".repeat(300_000);
    assert!(pass(ProtocolSwitch::No, &[line.as_bytes()]).is_err());
}

#[test]
fn protocols_change_only_when_asked() {
    let head = b"HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\nframes";
    assert!(pass(ProtocolSwitch::No, &[head]).is_err());
    let passed = pass(ProtocolSwitch::Maybe, &[head]);
    assert_eq!(
        passed.as_deref(),
        Ok("HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\n\r\nframes")
    );
}
