//! What observing costs: the same work observed and not, in turns, as ratios from one run: the median of the
//! rounds, and that of the fastest of each.
//!
//! `cargo bench -p jig-sandbox --bench observe`
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the work is to open files, and a workspace is made"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jig_sandbox::{Program, SpawnRequest, Stdio, minimal_environment, spawn};

const ROUNDS: usize = 9;
const CALLS: usize = 20_000;

/// Names the work that this program is started for.
const WORK: &str = "JIG_BENCH_WORK";

fn main() {
    if let Ok(work) = std::env::var(WORK) {
        return toil(&work);
    }
    let workspace =
        tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a place for it");
    let own = PathBuf::from("/proc/self/exe")
        .read_link()
        .expect("/proc is mounted");
    let own = own.to_str().expect("it is text");
    println!(
        "{:22}{:>10}{:>10}{:>8}{:>8}{:>14}",
        "", "plain", "observed", "median", "fastest", "each call"
    );
    for work in [
        "open one file",
        "open many files",
        "ask about one file",
        "ask about none",
    ] {
        compare(work, workspace.path(), &[own], Some(CALLS));
    }
    fs::write(workspace.path().join("a.c"), SOURCE).expect("it is ours");
    if Path::new("/usr/bin/gcc").exists() {
        let compile = ["/usr/bin/gcc", "-O1", "-c", "a.c", "-o", "a.o"];
        compare("compile a small file", workspace.path(), &compile, None);
        // A build that opens a lot: ten units of many headers each, looked for in many places.
        for unit in 0..UNITS {
            let name = format!("unit{unit}.c");
            fs::write(workspace.path().join(name), MANY_HEADERS).expect("it is ours");
        }
        let places: String = (0..20).map(|n| format!(" -I none{n}")).collect();
        let build =
            format!("for unit in unit*.c; do gcc{places} -fsyntax-only $unit || exit 1; done");
        let build = ["/bin/sh", "-c", &build];
        compare("an open-heavy build", workspace.path(), &build, None);
    }
    let search = ["/bin/grep", "-rlq", "no such word anywhere", "/usr/include"];
    let search = ["/bin/sh", "-c", &format!("{}; true", quoted(&search))];
    compare("read all of /usr/include", workspace.path(), &search, None);
    let find = ["/usr/bin/find", "/usr/include", "-type", "f"];
    compare("find in /usr/include", workspace.path(), &find, None);
    let shell = [
        "/bin/sh",
        "-c",
        "for n in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done",
    ];
    compare("start ten programs", workspace.path(), &shell, None);
}

fn quoted(words: &[&str]) -> String {
    let words = words.iter().map(|word| format!("'{word}'"));
    words.collect::<Vec<String>>().join(" ")
}

/// Prints both times of the fastest rounds, the ratios, and what a call takes longer.
fn compare(work: &str, workspace: &Path, command: &[&str], calls: Option<usize>) {
    let mut ratios = Vec::new();
    let mut fastest = [Duration::MAX; 2];
    for round in 0..ROUNDS {
        // Each goes first equally often.
        let mut times = [Duration::ZERO; 2];
        for turn in 0..2 {
            let observe = (round + turn) % 2;
            times[observe] = time(work, workspace, command, observe == 1);
            fastest[observe] = fastest[observe].min(times[observe]);
        }
        ratios.push(times[1].as_secs_f64() / times[0].as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    let [plain, observed] = fastest.map(|time| time.as_secs_f64());
    let each = calls.map(|calls| format!("+{:.1} µs", (observed - plain) / calls as f64 * 1e6));
    println!(
        "{work:22}{:>10}{:>10}{:>8.2}{:>8.2}{:>14}",
        format!("{:.1} ms", plain * 1e3),
        format!("{:.1} ms", observed * 1e3),
        ratios[ROUNDS / 2],
        observed / plain,
        each.unwrap_or_default()
    );
}

fn time(work: &str, workspace: &Path, command: &[&str], observe: bool) -> Duration {
    let program = Program::parse(command[0]).expect("it is absolute");
    let mut request = SpawnRequest::new(program, workspace);
    request.args = command[1..].iter().map(Into::into).collect();
    request.env = minimal_environment("/nonexistent".as_ref());
    request.env.insert(WORK.into(), work.into());
    request.stdout = Stdio::Null;
    request.stderr = Stdio::Null;
    request.observe = observe;
    let start = Instant::now();
    let mut child = spawn(request).expect("it starts");
    assert!(child.wait().expect("it can be waited for").is_success());
    let took = start.elapsed();
    let observation = child.observer.take().map(|observer| observer.finish());
    assert_eq!(observation.is_some(), observe, "{:?}", child.unobserved);
    took
}

fn toil(work: &str) {
    for number in 0..CALLS {
        match work {
            "open one file" => drop(fs::File::open("/etc/passwd")),
            "open many files" => drop(fs::File::open(format!("/usr/include/none-{number}"))),
            "ask about one file" => drop(fs::metadata("/etc/passwd")),
            _ => drop(fs::metadata("none")),
        }
    }
}

/// How many units the build has.
const UNITS: usize = 10;

/// What many units of C begin with.
const MANY_HEADERS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\
    #include <sys/types.h>\n#include <sys/stat.h>\n#include <sys/socket.h>\n#include <sys/wait.h>\n\
    #include <netdb.h>\n#include <netinet/in.h>\n#include <arpa/inet.h>\n#include <fcntl.h>\n#include <errno.h>\n\
    #include <signal.h>\n#include <time.h>\n#include <math.h>\n#include <pthread.h>\n#include <poll.h>\n\
    #include <dirent.h>\n#include <limits.h>\n#include <locale.h>\n#include <wchar.h>\n#include <pwd.h>\n\
    int main(void) { return 0; }\n";

const SOURCE: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\
    int main(void) { printf(\"%s\\n\", strdup(\"hello\")); return EXIT_SUCCESS; }\n";
