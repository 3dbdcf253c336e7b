use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use super::{MOST_IDLE, idle, spawn};

const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_thread_that_is_done_does_the_next_job() {
    let (tell, told) = channel();
    let mut threads = HashSet::new();
    for _ in 0..200 {
        let tell = tell.clone();
        spawn(move || tell.send(thread::current().id()).expect("the test waits"))
            .expect("a thread");
        threads.insert(told.recv_timeout(LIMIT).expect("it is done"));
    }
    // It may be told before the thread is back among the idle ones.
    assert!(threads.len() < 100, "{} threads", threads.len());
}

#[test]
fn jobs_that_wait_for_each_other_all_run() {
    let (tell, told) = channel();
    let (release, released): (Vec<_>, Vec<_>) = (0..3 * MOST_IDLE).map(|_| channel::<()>()).unzip();
    for released in released {
        let tell = tell.clone();
        spawn(move || {
            tell.send(()).expect("the test waits");
            released.recv_timeout(LIMIT).expect("it is released");
            tell.send(()).expect("the test waits");
        })
        .expect("a thread");
    }
    for _ in 0..release.len() {
        told.recv_timeout(LIMIT).expect("every job runs at once");
    }
    for release in &release {
        release.send(()).expect("it waits");
    }
    for _ in 0..release.len() {
        told.recv_timeout(LIMIT).expect("every job ends");
    }
    assert!(idle().len() <= MOST_IDLE);
}
