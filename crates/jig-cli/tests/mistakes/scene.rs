//! [`Scene`]: where a mistake is made, by whom, and what came of it.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use camino::{Utf8Path, Utf8PathBuf};

use super::cases::{Listens, Mistake, Way};
use super::fixture::http::Server;
use super::fixture::site::Site;

/// A workspace with all that a mistake needs: files, a server, a socket.
pub(crate) struct Scene<'a> {
    site: &'a Site,
    server: Server,
    config: String,
}

/// How a command went.
pub(crate) struct Ran {
    pub(crate) success: bool,
    /// Both streams.
    pub(crate) said: String,
}

impl<'a> Scene<'a> {
    /// Makes everything ready. `None` if this machine or user lacks a program or the port that it takes.
    pub(crate) fn set(site: &'a Site, mistake: &Mistake) -> Option<Self> {
        let words = format!("{}\n{}", mistake.setup, mistake.way.shown());
        let programs = ["curl", "git", "/usr/bin/python3"];
        let needed = programs.iter().filter(|program| words.contains(**program));
        if !needed
            .into_iter()
            .all(|program| site.has(&[program, "--version"]))
        {
            return None;
        }
        let address = match mistake.server {
            Listens::WebPort => SocketAddr::from((own_address(), 80)),
            Listens::Anywhere | Listens::Tls | Listens::Socket => {
                SocketAddr::from(([127, 0, 0, 1], 0))
            }
        };
        if mistake.server == Listens::Socket {
            listen(&site.beside("service.sock"));
        }
        let tls = site.authority.server(&["api.test"]);
        let tls = (mistake.server == Listens::Tls).then_some(&tls);
        let mut scene = Self {
            site,
            server: match Server::at(address, tls) {
                Ok(server) => server,
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    jig_testkit::skipped_here("port 80 is not for this user");
                    return None;
                }
                Err(error) => panic!("{address}: {error}"),
            },
            config: String::new(),
        };
        for name in ["api.test", "files.test"] {
            site.names
                .put(name, &[&scene.server.address.ip().to_string()]);
        }
        for (path, content) in mistake.files {
            let path = match path.split_once('/') {
                Some(("~", rest)) => site.beside("home").join(rest),
                Some(("..", rest)) => site.beside(rest),
                _ => site.root.join(path),
            };
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
            let mode = if content.starts_with("#!") {
                0o755
            } else {
                0o644
            };
            let mode = PermissionsExt::from_mode(mode);
            std::fs::set_permissions(&path, mode).unwrap();
        }
        std::fs::create_dir_all(site.beside("bin")).unwrap();
        let program = site.jig(&[]).get_program().to_owned();
        std::os::unix::fs::symlink(program, site.beside("bin/jig")).unwrap();
        let resolver = site.names.address;
        let head = match mistake.way {
            Way::Tool(does) => {
                site.write("tool.sh", scene.filled(does));
                TOOL
            }
            Way::Asks(method, params) => {
                if !site.has(&["/usr/bin/python3", "--version"]) {
                    return None;
                }
                let script = ASKING.replace("METHOD", method).replace("PARAMS", params);
                site.write("tool.py", scene.filled(&script));
                ASKS
            }
            Way::Run(_) | Way::Builtin(_) | Way::Shell(_) => "",
        };
        let config = format!(
            "{head}{}\n[network]\nresolver = \"{resolver}\"\n",
            mistake.config
        );
        scene.configure(&scene.filled(&config));
        let ready = scene.run(&format!("set -e\n{}", mistake.setup));
        assert!(ready.success, "{}: {}", mistake.setup, ready.said);
        // A file that does not load cannot be accepted, and mending it comes first.
        let accepted = scene.run("jig trust --yes");
        let loads = || scene.run("jig config check").success;
        assert!(accepted.success || !loads(), "{}", accepted.said);
        Some(scene)
    }

    pub(crate) fn configure(&mut self, config: &str) {
        self.site.write("jig.toml", config);
        config.clone_into(&mut self.config);
    }

    /// Whether the files of the workspace that this flag chooses allow something that the person has not accepted.
    pub(crate) fn waits(&self, workspace: &str) -> bool {
        let told = self
            .run(&format!("jig {workspace} trust --json 2>/dev/null"))
            .said;
        let told: serde_json::Value = serde_json::from_str(&told).unwrap();
        told["accepted"] == false
    }

    pub(crate) fn config(&self) -> &str {
        &self.config
    }

    /// Runs the words of a shell, for a person who accepts nothing by a variable.
    pub(crate) fn run(&self, command: &str) -> Ran {
        let home = self.site.beside("home");
        let path = format!(
            "{}:{home}/.cargo/bin:{home}/bin:{PATH}",
            self.site.beside("bin")
        );
        let output = self
            .site
            .command("/bin/sh".as_ref())
            .args(["-c", &self.filled(command)])
            .env_remove("JIG_TRUST")
            .env("PATH", path)
            .env("API_TOKEN", "of the user")
            .output()
            .unwrap();
        Ran::of(&output)
    }

    /// What the text means here.
    pub(crate) fn filled(&self, text: &str) -> String {
        text.replace("{port}", &self.server.port().to_string())
            .replace("{address}", &self.server.address.ip().to_string())
            .replace("{beside}", self.beside().as_str())
    }

    /// The text without what differs from run to run.
    pub(crate) fn stable(&self, text: &str) -> String {
        text.replace(self.site.root.as_str(), "/project")
            .replace(self.site.beside("home").as_str(), "~")
            .replace(self.beside().as_str(), "/tmp/elsewhere")
            .replace(&format!(":{}", self.server.port()), ":8000")
            .replace(&format!("port = {}", self.server.port()), "port = 8000")
    }

    fn beside(&self) -> Utf8PathBuf {
        self.site.root.parent().unwrap().to_owned()
    }
}

impl Ran {
    fn of(output: &Output) -> Self {
        let streams = [&output.stdout, &output.stderr];
        Self {
            success: output.status.success(),
            said: streams
                .map(|stream| String::from_utf8_lossy(stream))
                .concat(),
        }
    }
}

/// Somebody listens at a path of the machine, and answers whoever asks.
fn listen(path: &Utf8Path) {
    let listener = UnixListener::bind(path).unwrap();
    // Everybody may ask.
    let everybody = PermissionsExt::from_mode(0o777);
    std::fs::set_permissions(path, everybody).unwrap();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nhello from the service\n");
        }
    });
}

/// An address of the loopback that no other test has: everybody wants port 80.
fn own_address() -> [u8; 4] {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let [_, high, middle, low] = (std::process::id() << 6 | count & 63).to_be_bytes();
    [127, high | 64, middle, low.max(1)]
}

/// Where the system has its programs, without those of the user.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

const TOOL: &str = "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\nrepeatable = true\n\
                    command = \"sh tool.sh\"\n";

const ASKS: &str = "[tools.check]\nsource = \"local\"\nrun = \"unattended\"\nruntime = \"vfs\"\n\
                    command = \"/usr/bin/python3 tool.py\"\n";

/// A tool that asks for one thing, and says what it was told.
const ASKING: &str = r#"
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

sys.stdin.readline()
send(id=1, method="METHOD", params=PARAMS)
answer = json.loads(sys.stdin.readline())
if "error" in answer:
    error = answer["error"]
    send(method="error", params={"message": error["message"]})
else:
    send(method="result", params={"content": "got " + json.dumps(answer["result"])})
"#;
