use std::io::{self, Write as _};

use anyhow::{Context as _, anyhow};
use jig_sandbox::SpawnError;

use super::way_out;

#[test]
fn every_file_that_cannot_be_run_has_a_way_out() {
    let check = |error: SpawnError, expected: Option<&str>| {
        let error = anyhow!(error).context("the program of the tool could not be started");
        let hint = way_out(&error).map(|hint| hint.to_string());
        assert_eq!(hint.as_deref(), expected);
    };
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    check(
        SpawnError::NotExecutable {
            program: path.clone(),
            source: io::Error::from_raw_os_error(13),
        },
        Some(&format!("hint: make it a program: chmod +x {path}")),
    );
    // It can be run, so something else is the reason.
    check(
        SpawnError::NotExecutable {
            program: "/bin/sh".to_owned(),
            source: io::Error::from_raw_os_error(13),
        },
        None,
    );
    check(
        SpawnError::MissingInterpreter {
            program: "/ws/my tool".to_owned(),
            interpreter: Some("/bin/sh\\r".to_owned()),
        },
        Some(
            "hint: its lines end with CRLF, as on Windows; take the CR away: sed -i 's/\\r$//' '/ws/my tool'",
        ),
    );
    let text =
        format!("hint: a script says in its first line what runs it: sed -i '1i #!/bin/sh' {path}");
    let program = path.clone();
    check(SpawnError::ExecFormat { program }, Some(&text));
    // No line helps a program of another machine.
    file.write_all(b"\x7fELF\x02\x01\x00").unwrap();
    check(SpawnError::ExecFormat { program: path }, None);
}

#[test]
fn other_errors_have_none() {
    let error: anyhow::Result<()> = Err(anyhow!("no")).context("it failed");
    assert_eq!(way_out(&error.unwrap_err()), None);
}
