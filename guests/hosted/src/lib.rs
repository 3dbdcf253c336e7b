//! Asks its host for files, servers and programs by `jp:host`, and for the rest by messages: for tests.
//!
//! `arguments` is `{"calls": [[NAME, …], …]}`: each call is made, and what came of it is a line of the result. Once a
//! question was answered, the calls are those of `"answered"`, and the first line is all answers.

use serde_json::{Value, json};

wit_bindgen::generate!({
    inline: "
        package jig:hosted;

        world guest {
            include jig:tool/hosted@0.1.0;
            import jig:tool/vfs@0.1.0;
        }
    ",
    path: [
        "../../crates/jig-proto/wit/jp-tool",
        "../../crates/jig-proto/wit/jp-host",
        "../../crates/jig-proto/wit/jig-tool",
    ],
    world: "jig:hosted/guest",
    generate_all,
});

use jig::tool::vfs;
use jp::host::filesystem::{self, Kind};
use jp::host::http::{self, Header, Response};
use jp::host::process;
use jp::tool::types::ErrorInfo;

struct Tool;

impl Guest for Tool {
    fn run(_: Context, _: String, arguments: String, answers: String) -> Outcome {
        let arguments: Value = match serde_json::from_str(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => return failed(format!("Invalid arguments: {error}")),
        };
        let answered = arguments["answered"].as_array();
        let (first, calls) = match answered.filter(|_| answers != "{}") {
            Some(calls) => (Some(answers), Some(calls)),
            None => (None, arguments["calls"].as_array()),
        };
        let lines = calls.into_iter().flatten().map(line);
        let lines: Vec<String> = first.into_iter().chain(lines).collect();
        Outcome::Success(lines.join("\n"))
    }
}

fn failed(message: String) -> Outcome {
    Outcome::Error(ErrorInfo {
        message,
        trace: Vec::new(),
        transient: false,
    })
}

fn line(call: &Value) -> String {
    let name = call[0].as_str().unwrap_or_default();
    match files(name, call).or_else(|| others(name, call)) {
        Some(Ok(line)) => line,
        Some(Err(error)) => format!("error: {error}"),
        None => format!("there is no call `{name}`"),
    }
}

type Came = Result<String, String>;

fn files(name: &str, call: &Value) -> Option<Came> {
    let path = text(&call[1]);
    let done = |came: Result<(), String>| came.map(|()| "done".to_owned());
    Some(match name {
        "read" => filesystem::read(&path).map(shown),
        "read-range" => {
            filesystem::read_range(&path, number(&call[2]), number(&call[3])).map(shown)
        }
        "exists" => filesystem::exists(&path).map(|there| there.to_string()),
        "metadata" => filesystem::metadata(&path)
            .map(|found| format!("{} of {} bytes", kind(found.kind), found.size)),
        "list-dir" => filesystem::list_dir(&path).map(|entries| {
            let entries = entries
                .into_iter()
                .map(|entry| format!("{} {}", kind(entry.kind), entry.name));
            entries.collect::<Vec<_>>().join(", ")
        }),
        "count-dir" => filesystem::list_dir(&path).map(|entries| entries.len().to_string()),
        "write" => done(filesystem::write(&path, &bytes(&call[2]))),
        "write-many" => done(filesystem::write(&path, &vec![b'x'; length(&call[2])])),
        "append" => done(filesystem::append(&path, &bytes(&call[2]))),
        "create-dir" => done(filesystem::create_dir(&path)),
        "delete" => done(filesystem::delete(&path, call[2] == true)),
        "rename" => done(filesystem::rename(&path, &text(&call[2]))),
        _ => return None,
    })
}

fn others(name: &str, call: &Value) -> Option<Came> {
    Some(match name {
        "get" => http::get(&text(&call[1]), &headers(&call[2])).map(response),
        "post" => http::post(&text(&call[1]), &headers(&call[2]), &bytes(&call[3])).map(response),
        "run" => {
            let cwd = call[3].as_str();
            process::run(&text(&call[1]), &texts(&call[2]), cwd, &texts(&call[4])).map(|output| {
                let (stdout, stderr) = (shown(output.stdout), shown(output.stderr));
                format!("{} {stdout:?} {stderr:?}", output.exit_code)
            })
        }
        // `["message", TEXT, BLOB?]`: whatever it is.
        "message" => {
            let answer = vfs::request(&vfs::Message {
                text: text(&call[1]),
                blob: call[2].as_str().map(|blob| blob.as_bytes().to_vec()),
            });
            Ok(match answer.blob {
                Some(blob) => format!("{} + {:?}", answer.text, shown(blob)),
                None => answer.text,
            })
        }
        "long-message" => {
            let answer = vfs::request(&vfs::Message {
                text: " ".repeat(length(&call[1])),
                blob: None,
            });
            Ok(answer.text)
        }
        "long-blob" => {
            let blob = vec![b'x'; length(&call[2])];
            let mut request = call[1].clone();
            request["blob"] = json!(blob.len());
            let answer = vfs::request(&vfs::Message {
                text: request.to_string(),
                blob: Some(blob),
            });
            Ok(answer.text)
        }
        "init" => Ok(vfs::init()),
        "notify" => {
            vfs::notify(&text(&call[1]));
            Ok("told".to_owned())
        }
        "wait" => vfs::wait(call[1].as_str(), call[2].as_u64())
            .map(|given| given.unwrap_or_else(|| "nothing".to_owned())),
        _ => return None,
    })
}

/// A text, or an object as the JSON of it.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(text).collect()
}

/// A text, or a list of bytes.
fn bytes(value: &Value) -> Vec<u8> {
    match value {
        Value::Array(bytes) => bytes.iter().map(|byte| number(byte) as u8).collect(),
        other => text(other).into_bytes(),
    }
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

fn length(value: &Value) -> usize {
    usize::try_from(number(value)).unwrap_or(usize::MAX)
}

fn headers(value: &Value) -> Vec<Header> {
    let headers = value.as_object().into_iter().flatten();
    headers
        .map(|(name, value)| Header {
            name: name.clone(),
            value: text(value),
        })
        .collect()
}

fn response(response: Response) -> String {
    format!("{} {}", response.status, shown(response.body))
}

fn shown(bytes: Vec<u8>) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(odd) => format!("{:?}", odd.as_bytes()),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::File => "file",
        Kind::Directory => "directory",
        Kind::Other => "other",
    }
}

export!(Tool);
