//! Requests of a real tool on programs and servers.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::thread::{self, JoinHandle};

use serde_json::json;

use super::vfs_tool::{Probe, script_of};

/// V-080 to V-085, V-194: a clean environment, the root as the folder, and no secret in the output.
#[test]
fn v080_v194_process_run() {
    let code = "echo got $TOKEN; echo err $TOKEN >&2; echo other=$OTHER; pwd; exit 3";
    let script = format!(
        "
code = {}
def run(*envs):
    return ask('process.run', program='sh', args=['-c', code], envs=list(envs))
answers = [run('TOKEN', 'OTHER'), run(), run('HOME_OF_THE_HOST')]
answers.append(ask('process.run', program='sh', args=['-x']))
answers.append(ask('process.run', program='cat', args=['/etc/passwd']))
answers.append(ask('fs.read', path='leaked.txt'))
done(answers)",
        json!(code)
    );
    let config = "\
[[tools.probe.access.fs]]
path = '.'
read = true
[tools.probe.access.commands.sh]
args = [['-c', '**']]
envs = ['TOKEN']
";
    let secret = "hunter2-hunter2";
    let probe = Probe::with(&script, config).file("leaked.txt", format!("token: {secret}"));
    let mut jig = probe.jig();
    jig.env("TOKEN", secret).env("OTHER", "not for programs");
    let called = probe.call_as(&mut jig);
    let answers = called.result();
    let root = probe.workspace.root.as_str();
    let expected = |token: &str| {
        json!({
            "stdout": format!("got{token}\nother=\n{root}\n"),
            "stderr": format!("err{token}\n"),
            "exit_code": 3,
        })
    };
    assert_eq!(answers[0], expected(" [REDACTED]"));
    assert_eq!(answers[1], expected(""));
    assert_eq!(answers[2], expected(""));
    for denied in [&answers[3], &answers[4]] {
        assert_eq!(denied["error"]["code"], -32001, "{denied}");
    }
    // once it was given out, it is removed wherever it would come back.
    assert_eq!(answers[5]["content"], "token: [REDACTED]");
    let trace = std::fs::read_to_string(probe.trace_path()).unwrap();
    assert!(!trace.contains(secret), "{trace}");
}

/// V-002, V-007: what the protocol lets a tool read, it reads over the protocol: the sandbox shows it nothing of the
/// workspace but its own program.
#[test]
fn v007_the_sandbox_stands_behind_the_protocol() {
    let script = "
def by_itself(path):
    try:
        return open(path).read()
    except OSError as error:
        return type(error).__name__
paths = ['data.txt', sys.argv[1] + '/data.txt', '/proc/self/cwd/data.txt']
done([[by_itself(path) for path in paths], ask('fs.read', path='data.txt')['content']])";
    let probe = Probe::new(script).file("data.txt", "content");
    let told = probe.result();
    assert_eq!(told[1], "content");
    let by_itself = told[0].as_array().unwrap();
    assert!(
        by_itself.iter().all(|told| told != "content"),
        "{by_itself:?}"
    );
}

/// V-002, V-082: the tool's own environment has nothing of the host's.
#[test]
fn v082_the_tool_gets_no_environment() {
    let probe = Probe::new("done(sorted(os.environ))");
    let mut jig = probe.jig();
    jig.env("TOKEN", "hunter2-hunter2")
        .env("PYTHONSTARTUP", "x")
        .env("LD_BIND_NOW", "1");
    let names = probe.call_as(&mut jig).result();
    // The sandbox's own set, and the number of the descriptor on which open files arrive.
    let known = ["HOME", "LANG", "PATH", "TERM", "USER", "JIG_VFS_FD"];
    for name in names.as_array().unwrap() {
        let name = name.as_str().unwrap();
        assert!(known.contains(&name) || name.starts_with("LC_"), "{name}");
    }
}

/// V-070 to V-076, X-08: servers by rule, variables that the tool never sees, binary bodies.
#[test]
fn v070_v076_http() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{port}/api");
    let variable = |text: &str| json!([{"name": "Authorization", "value": text}]);
    let requests = json!([
        ["http.get", {"url": url, "headers": variable("Bearer ${TOKEN}")}],
        ["http.post", {"url": url, "headers": [], "body": "sent"}],
        ["http.get", {"url": url, "headers": variable("${OTHER}")}],
        ["http.get", {"url": url, "headers": variable("${UNSET}")}],
        ["http.get", {"url": format!("http://localhost:{port}/"), "headers": []}],
        ["http.get", {"url": "file:///etc/passwd", "headers": []}],
    ]);
    let config = format!(
        "\
[[tools.probe.access.net]]
host = '127.0.0.1'
port = {port}
allow = true
[[tools.probe.access.env]]
name = 'TOKEN'
header = true
[[tools.probe.access.env]]
name = 'UNSET'
header = true
"
    );
    let probe = Probe::with(&script_of(&requests), &config);
    // Exactly two requests arrive; the others are refused before anything is sent.
    let echo = |request: &str| match request.contains("Bearer hunter2-hunter2") {
        true => b"you sent hunter2-hunter2".to_vec(),
        false => b"\xff\x00".to_vec(),
    };
    let server = serve(listener, 2, echo);
    let mut jig = probe.jig();
    jig.env("TOKEN", "hunter2-hunter2").env("OTHER", "other");
    let answers = probe.call_as(&mut jig).result();
    let seen = server.join().unwrap();

    assert_eq!(
        answers[0],
        json!({"status": 200, "body": "you sent [REDACTED]"})
    );
    assert_eq!(
        answers[1],
        json!({"status": 200, "body": "/wA=", "encoding": "base64"})
    );
    for (number, code) in [(2, -32001), (3, -32002), (4, -32001), (5, -32602)] {
        let answer = &answers[number];
        assert_eq!(answer["error"]["code"], code, "{answer}");
    }
    assert!(seen[0].starts_with("GET /api "), "{seen:?}");
    assert!(seen[1].starts_with("POST /api ") && seen[1].ends_with("sent"));
    let trace = std::fs::read_to_string(probe.trace_path()).unwrap();
    assert!(!trace.contains("hunter2"), "{trace}");
}

/// Answers so many requests, and gives what they were.
fn serve(
    listener: TcpListener,
    count: usize,
    body: impl Fn(&str) -> Vec<u8> + Send + 'static,
) -> JoinHandle<Vec<String>> {
    thread::spawn(move || {
        let mut seen = Vec::new();
        for _ in 0..count {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            let mut buffer = [0; 4096];
            let is_whole = |request: &[u8]| {
                let text = String::from_utf8_lossy(request);
                let Some((head, rest)) = text.split_once("\r\n\r\n") else {
                    return false;
                };
                !head.starts_with("POST") || rest == "sent"
            };
            while !is_whole(&request) {
                let count = stream.read(&mut buffer).unwrap();
                assert!(count > 0, "the request is cut");
                request.extend_from_slice(&buffer[..count]);
            }
            let request = String::from_utf8(request).unwrap();
            let body = body(&request);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            stream
                .write_all(&[head.as_bytes(), &body].concat())
                .unwrap();
            seen.push(request);
        }
        seen
    })
}
