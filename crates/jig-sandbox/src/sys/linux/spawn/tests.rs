use std::ffi::OsString;

use super::*;
use crate::process::{Exit, Program};
use crate::sys::linux::stage::raw;
use crate::sys::linux::stage::record::StartStep;

#[test]
fn maps_keep_every_number() {
    #[track_caller]
    fn check(map: &str, expected: Option<&str>) {
        assert_eq!(maps::identity(map).as_deref(), expected);
    }
    let all = "         0          0 4294967295\n";
    check(all, Some("0 0 4294967295\n"));
    // Inside a container: the numbers inside count, not those of the host around it.
    let rootless = "0 1000 1\n1 100000 65536\n";
    check(rootless, Some("0 0 1\n1 1 65536\n"));
    check("", None);
    check("0 0", None);
}

#[test]
fn the_traces_of_the_host_are_found() {
    #[track_caller]
    fn check(stat: &str, expected: Option<std::ops::Range<usize>>) {
        assert_eq!(plan::parse_traces(stat), expected);
    }
    let stat = |start: &str, end: &str| {
        let fields: Vec<String> = (3..=52)
            .map(|number| match number {
                48 => start.to_owned(),
                51 => end.to_owned(),
                _ => number.to_string(),
            })
            .collect();
        format!("1 (odd) name)) {}", fields.join(" "))
    };
    check(&stat("4096", "8192"), Some(4096..8192));
    check(&stat("0", "0"), None);
    check(&stat("8192", "4096"), None);
    check(&stat("1", "99999999999"), None);
    check(&stat("x", "1"), None);
    check("1 (sh) S 1 1", None);
    check("", None);
    assert!(plan::parse_traces(&procfs::read("/proc/self/stat").unwrap()).is_some());
}

#[test]
fn interpreters_are_read_from_the_first_line() {
    #[track_caller]
    fn check(start: &str, expected: Option<&str>) {
        assert_eq!(failure::interpreter(start).as_deref(), expected);
    }
    check("#!/bin/sh\nx", Some("/bin/sh"));
    check("#! /usr/bin/env python3\n", Some("/usr/bin/env"));
    check("#!/bin/sh\r\n", Some("/bin/sh\\r"));
    check("#!", None);
    check("#!\n/bin/sh", None);
    check("\u{7f}ELF", None);
}

#[test]
fn a_status_is_decoded() {
    #[track_caller]
    fn check(status: i32, expected: Exit) {
        assert_eq!(process::exit(status), expected);
    }
    check(0, Exit::Exited { code: 0 });
    check(0xff00, Exit::Exited { code: 255 });
    check(
        9,
        Exit::Killed {
            signal: 9,
            core: false,
        },
    );
    check(
        0x8b,
        Exit::Killed {
            signal: 11,
            core: true,
        },
    );
}

/// Only what speaks of namespaces may lead to a start without them.
#[test]
fn a_lack_of_processes_is_no_lack_of_namespaces() {
    #[track_caller]
    fn check(step: StartStep, errno: i32, expected: bool) {
        let refusal = StepFailure::at(step)(raw::RawErrno(errno));
        assert_eq!(failure::is_about_namespaces(refusal), expected);
    }
    check(StartStep::Fork, libc::EPERM, true);
    check(StartStep::Fork, libc::ENOSPC, true);
    check(StartStep::Fork, libc::EUSERS, true);
    check(StartStep::Fork, libc::EINVAL, true);
    check(StartStep::Map, libc::EPERM, true);
    check(StartStep::Fork, libc::EAGAIN, false);
    check(StartStep::Fork, libc::ENOMEM, false);
    check(StartStep::Directory, libc::EPERM, false);
    check(StartStep::Execute, libc::EPERM, false);
}

#[test]
fn numbers_are_given_once_and_kept_in_order() {
    let request = SpawnRequest::new(Program::parse(OsString::from("sh")).unwrap(), "/");
    let mut plan = SpawnPlan::new(&request).unwrap();
    let (one, other) = (null().unwrap(), null().unwrap());
    assert!(plan.pass(&one, 9) && plan.pass(&other, 4) && plan.pass(&one, 5));
    assert!(!plan.pass(&one, 4) && !plan.pass(&one, -1));
    assert_eq!(plan.targets[1..], [4, 5, 9]);
}
