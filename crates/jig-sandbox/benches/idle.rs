//! What children cost that do nothing: the processor time of their keepers, as the scheduler counts it,
//! and the time of asking every child what it uses.
//!
//! `cargo bench -p jig-sandbox --bench idle`; a number as argument is how many children there are.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(clippy::disallowed_methods, reason = "keepers are looked up in /proc")]

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_sandbox::{
    Child, Containment, PathRule, PrivateDirectory, ProcessLimits, Profile, Program, Rights,
    RuleSource, SpawnRequest, Stdio, minimal_environment, spawn,
};

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok());
    let count = count.unwrap_or(500);
    for (name, is_confined, containment) in [
        ("confined", true, Containment::BestEffort),
        ("without namespaces", false, Containment::WithoutNamespaces),
    ] {
        let children: Vec<Child> = (0..count)
            .map(|_| spawn(sleeper(is_confined, containment)).expect("it starts"))
            .collect();
        for seconds in [1, 5, 20] {
            let (before, start) = (spent(&children), Instant::now());
            std::thread::sleep(Duration::from_secs(seconds));
            let share = (spent(&children) - before).as_secs_f64() / start.elapsed().as_secs_f64();
            let percent = share * 100.0;
            println!("{name}: {count} children, for {seconds} s: {percent:.2} % of a processor");
        }
        let start = Instant::now();
        for child in &children {
            black_box(child.usage());
        }
        let each = start.elapsed() / count;
        println!("{name}: {each:?} to ask one child for its usage");
    }
}

fn sleeper(is_confined: bool, containment: Containment) -> SpawnRequest {
    let program = Program::parse("/bin/sh").expect("an absolute path");
    let mut request = SpawnRequest::new(program, "/");
    request.args = vec!["-c".into(), "sleep 1000; true".into()];
    request.env = minimal_environment("/nonexistent".as_ref());
    request.stdout = Stdio::Null;
    request.stderr = Stdio::Null;
    request.limits = ProcessLimits::ROOMY;
    request.containment = containment;
    request.profile = is_confined.then(|| Arc::new(profile()));
    request
}

fn profile() -> Profile {
    let mut profile = Profile::closed();
    profile.paths = ["/usr", "/etc"]
        .map(|path| PathRule {
            path: path.into(),
            rights: Rights::READ.with(Rights::EXECUTE),
            source: RuleSource::System,
        })
        .into();
    profile.private = ["/tmp", "/home/tool"]
        .map(|path| PrivateDirectory {
            path: path.into(),
            size: 16 << 20,
            executable: false,
        })
        .into();
    profile
}

/// The processor time of all keepers so far.
fn spent(children: &[Child]) -> Duration {
    let of_one = |child: &Child| {
        let text = std::fs::read_to_string(format!("/proc/{}/schedstat", child.id()));
        let text = text.unwrap_or_default();
        let nanoseconds = text.split(' ').next().and_then(|word| word.parse().ok());
        nanoseconds.unwrap_or(0)
    };
    Duration::from_nanos(children.iter().map(of_one).sum())
}
