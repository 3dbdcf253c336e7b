//! Programs that stay, over a transport that is written down beforehand.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use jig_proto::vfs::{
    ErrorKind, ErrorReply, Id, Init, ProcessOutput, StartedProcess, ToolInput, VfsReply,
    VfsRequest, tool,
};
use jig_proto::{Action, Context};
use serde_json::{Value, json};

use super::{Process, ReadOptions};
use crate::vfs::{Host, Notification, RequestError, Transport};

/// Starts every program as number 7, and answers what it was told to answer.
#[derive(Clone, Default)]
struct Script(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    reads: VecDeque<Result<VfsReply<'static>, RequestError>>,
    inputs: VecDeque<Value>,
    sent: Vec<String>,
}

impl Script {
    fn sent(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap().sent)
    }

    fn read(&self, answer: Result<VfsReply<'static>, RequestError>) {
        self.0.lock().unwrap().reads.push_back(answer);
    }
}

impl Transport for Script {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        let mut line = Vec::new();
        tool::write_request(&mut line, &Id::from(1), request);
        let line: Value = serde_json::from_slice(&line).unwrap();
        let mut inside = self.0.lock().unwrap();
        inside.sent.push(format!(
            "{} {}",
            line["method"].as_str().unwrap(),
            line["params"]
        ));
        match request {
            VfsRequest::ProcessStart(start) if start.program == "rm" => {
                let error = ErrorReply::denied_by_rule("run `rm`", "commands");
                Err(RequestError::Refused(error))
            }
            VfsRequest::ProcessStart(_) => Ok(VfsReply::Started(StartedProcess { process: 7 })),
            VfsRequest::ProcessRead(_) => match inside.reads.pop_front() {
                Some(answer) => answer,
                None => Ok(output(true, "")),
            },
            VfsRequest::ProcessStop(_) => Ok(output(false, "bye")),
            _ => Ok(VfsReply::DONE),
        }
    }

    fn notify(&mut self, _: &Notification<'_>) -> Result<(), RequestError> {
        Ok(())
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        Err(RequestError::Cancelled)
    }

    fn wait_apply_for(&mut self, _: Duration) -> Result<Option<Value>, RequestError> {
        Ok(self.0.lock().unwrap().inputs.pop_front())
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn output(running: bool, content: &str) -> VfsReply<'static> {
    VfsReply::Output(ProcessOutput {
        running,
        content: content.to_owned().into(),
        seq: 1,
        ..ProcessOutput::default()
    })
}

fn host() -> (Host, Script) {
    let script = Script::default();
    let init = Init {
        context: Some(Context::new("/project", Action::Run)),
        ..Init::new(ToolInput::default())
    };
    (Host::over(init, script.clone()).unwrap(), script)
}

fn started() -> (Host, Process, Script) {
    let (mut host, script) = host();
    let process = host.start_process("python3").start().unwrap();
    script.sent();
    (host, process, script)
}

#[test]
fn a_program_is_started_as_it_is_described() {
    let (mut host, script) = host();
    let plain = host.start_process("cat").start().unwrap();
    assert_eq!(
        script.sent(),
        [r#"process.start {"program":"cat","args":[],"envs":[]}"#]
    );
    let full = host
        .start_process("git")
        .arg("add")
        .args(["--patch"])
        .env("LANG")
        .in_dir("/project/a/../sub")
        .on_terminal(40, 120)
        .start();
    assert_eq!(
        script.sent(),
        [
            r#"process.start {"program":"git","args":["add","--patch"],"envs":["LANG"],"cwd":"sub","terminal":{"rows":40,"cols":120}}"#
        ]
    );
    let denied = host.start_process("rm").start().unwrap_err();
    assert_eq!(denied.kind, ErrorKind::DeniedByRule);
    drop((plain, full));
}

#[test]
fn every_request_has_its_call() {
    let check = |ask: &dyn Fn(&mut Process), expected: &str| {
        let (_host, mut process, script) = started();
        ask(&mut process);
        assert_eq!(script.sent(), [expected]);
    };
    check(
        &|process| drop(process.read(&ReadOptions::default()).unwrap()),
        r#"process.read {"process":7}"#,
    );
    let wait = Duration::from_secs(30);
    check(
        &|process| drop(process.read(&ReadOptions::waiting(wait)).unwrap()),
        r#"process.read {"process":7,"wait_ms":30000}"#,
    );
    check(
        &|process| drop(process.read(&ReadOptions::settled(wait).screen()).unwrap()),
        r#"process.read {"process":7,"view":"screen","wait_ms":30000,"settle":true}"#,
    );
    // A wait that is too short for the wire is still a wait.
    check(
        &|process| {
            let read = ReadOptions {
                after_seq: Some(3),
                max_bytes: Some(100),
                ..ReadOptions::waiting(Duration::from_micros(1))
            };
            drop(process.read(&read).unwrap());
        },
        r#"process.read {"process":7,"after_seq":3,"max_bytes":100,"wait_ms":1}"#,
    );
    check(
        &|process| process.write("y").unwrap(),
        r#"process.write {"process":7,"input":"y"}"#,
    );
    check(
        &|process| process.write(json!([{"text": "a"}, null])).unwrap(),
        r#"process.write {"process":7,"input":[{"text":"a"},null]}"#,
    );
    check(
        &|process| process.line("1 + 1").unwrap(),
        r#"process.write {"process":7,"input":{"line":"1 + 1"}}"#,
    );
    check(
        &|process| process.keys(&["ctrl-c", "up"]).unwrap(),
        r#"process.write {"process":7,"input":{"keys":["ctrl-c","up"]}}"#,
    );
    check(
        &|process| process.resize(24, 80).unwrap(),
        r#"process.write {"process":7,"input":{"resize":{"rows":24,"cols":80}}}"#,
    );
    check(
        &|process| process.end_input().unwrap(),
        r#"process.write {"process":7,"input":{"end":true}}"#,
    );
}

#[test]
fn a_program_is_stopped_once() {
    let stop = r#"process.stop {"process":7}"#;
    let (_host, process, script) = started();
    let last = process.stop().unwrap();
    assert_eq!((last.running, last.content.as_ref()), (false, "bye"));
    assert_eq!(script.sent(), [stop]);

    let (_host, process, script) = started();
    drop(process);
    assert_eq!(script.sent(), [stop]);

    let (host, process, script) = started();
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
        let _process = process;
        let _host = host;
        panic!("the tool's own mistake");
    }));
    assert!(died.is_err());
    assert_eq!(script.sent(), [stop]);
}

#[test]
fn a_cancelled_tool_does_not_ask_and_leaves_its_programs_to_the_host() {
    let (mut host, mut process, script) = started();
    script.read(Err(RequestError::Cancelled));
    let read = ReadOptions::default();
    assert!(process.read(&read).unwrap_err().is_cancelled());
    assert!(host.is_cancelled());
    script.sent();
    assert!(process.line("x").unwrap_err().is_cancelled());
    assert!(host.try_apply().unwrap_err().is_cancelled());
    drop(process);
    assert!(script.sent().is_empty(), "the host is not asked");
    assert!(host.start_process("cat").start().is_err());
    assert!(script.sent().is_empty(), "the host is not asked");
}

#[test]
fn output_and_input_at_once() {
    let (mut host, mut process, script) = started();
    script.read(Ok(output(true, ">>> ")));
    script.read(Ok(output(false, "2\n")));
    script.0.lock().unwrap().inputs.push_back(json!("1 + 1\n"));
    let mut shown = String::new();
    loop {
        let output = process
            .read(&ReadOptions::waiting(Duration::from_secs(30)))
            .unwrap();
        shown += &output.content;
        if !output.running {
            break;
        }
        while let Some(input) = host.try_apply().unwrap() {
            process.write(input).unwrap();
        }
    }
    assert_eq!(shown, ">>> 2\n");
    assert_eq!(
        script.sent()[1],
        r#"process.write {"process":7,"input":"1 + 1\n"}"#
    );
}

/// To wait for the answer would be to wait for oneself.
#[test]
fn a_program_that_is_asked_amid_many_requests_is_an_error_and_no_standstill() {
    let (mut host, mut process, _) = started();
    let mut asked = 0;
    let read = host.read_each(&["a", "b"], |_, _| {
        asked += 1;
        let error = process.read(&ReadOptions::default()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Internal);
    });
    read.unwrap();
    assert_eq!(asked, 2);
    assert!(process.read(&ReadOptions::default()).is_ok());
}

#[test]
fn an_answer_of_another_form_is_an_error() {
    let (_host, mut process, script) = started();
    script.read(Ok(VfsReply::DONE));
    let error = process.read(&ReadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the host's answer to `process.read` is of another form"
    );
}
