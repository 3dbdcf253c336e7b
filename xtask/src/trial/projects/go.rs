//! Modules of Go.

use std::io::{BufRead as _, BufReader};
use std::net::ToSocketAddrs as _;
use std::process::{Child, Stdio};

use super::{PreparedProject, TrialStep};
use crate::trial::projects::site::{TrialSite, output};

/// A module that needs the standard library and a C compiler.
pub(super) fn alone(site: &TrialSite) -> Result<PreparedProject, String> {
    site.write("go/go.mod", "module example.test/app\n\ngo 1.18\n")?;
    site.write("go/app.go", APP)?;
    site.write("go/app_test.go", APP_TEST)?;
    Ok(PreparedProject {
        title: "a module with code in C".to_owned(),
        steps: vec![
            TrialStep::offline("go vet ./..."),
            TrialStep::offline("go test ./..."),
        ],
        ..PreparedProject::at(site.folder.join("go"))
    })
}

/// A module with a dependency. Where the mirror of Go is not reachable, a server of this machine stands in for
/// it, with the copy of the dependency that Go itself comes with.
pub(super) fn modules(site: &TrialSite) -> Result<PreparedProject, String> {
    site.write("go-modules/go.mod", MODULES)?;
    site.write("go-modules/app.go", VERSIONS)?;
    site.write("go-modules/app_test.go", VERSIONS_TEST)?;
    let mut prepared = PreparedProject {
        title: "a module that needs `golang.org/x/mod`".to_owned(),
        ..PreparedProject::at(site.folder.join("go-modules"))
    };
    let mut hosts: Vec<String> = MIRROR.iter().map(|host| (*host).to_owned()).collect();
    if ("proxy.golang.org", 443).to_socket_addrs().is_err() {
        let server = serve(site)?;
        let address = format!("127.0.0.1:{}", server.port);
        prepared.title.push_str(", from a mirror on this machine");
        prepared.env = vec![
            ("GOPROXY", format!("http://{address}")),
            ("GOSUMDB", "off".to_owned()),
        ];
        prepared.server = Some(server);
        hosts = vec![address];
    }
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    prepared.steps = vec![
        TrialStep::online(&hosts, "go mod tidy"),
        TrialStep::online(&hosts, "go test ./..."),
        TrialStep::offline("go test ./..."),
    ];
    Ok(prepared)
}

/// A mirror of one module.
fn serve(site: &TrialSite) -> Result<TrialServer, String> {
    let root = output(site.command("go").args(["env", "GOROOT"]))?;
    let vendored = format!("{}/src/cmd/vendor/golang.org/x/mod", root.trim());
    site.write("mirror/serve.py", SERVE)?;
    let mut command = site.command("python3");
    command
        .arg(site.folder.join("mirror/serve.py"))
        .arg(vendored)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let process = command.spawn().map_err(|error| error.to_string())?;
    let mut server = TrialServer { process, port: 0 };
    let mut line = String::new();
    if let Some(printed) = server.process.stdout.take() {
        let read = BufReader::new(printed).read_line(&mut line);
        read.map_err(|error| error.to_string())?;
    }
    let port = line.trim().parse();
    server.port = port.map_err(|_| "the mirror did not start".to_owned())?;
    Ok(server)
}

/// A program that ends with the project.
pub(super) struct TrialServer {
    process: Child,
    /// Where it listens.
    pub(super) port: u16,
}

impl Drop for TrialServer {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

const MIRROR: &[&str] = &["proxy.golang.org", "sum.golang.org"];

const APP: &str = "\
package app

// static int two(void) { return 2; }
import \"C\"

func Two() int { return int(C.two()) }
";

const APP_TEST: &str = "\
package app

import \"testing\"

func TestTwo(t *testing.T) {
	if Two() != 2 {
		t.Fatal()
	}
}
";

const MODULES: &str = "\
module example.test/versions

go 1.18

require golang.org/x/mod v0.5.0
";

const VERSIONS: &str = "\
package versions

import \"golang.org/x/mod/semver\"

func Newer(a, b string) bool { return semver.Compare(a, b) > 0 }
";

const VERSIONS_TEST: &str = "\
package versions

import \"testing\"

func TestNewer(t *testing.T) {
	if !Newer(\"v1.10.0\", \"v1.9.0\") {
		t.Fatal()
	}
}
";

/// Serves the folder that is its argument as `golang.org/x/mod`, and says on which port.
const SERVE: &str = "\
import http.server, io, json, os, sys, zipfile

folder, version = sys.argv[1], 'v0.5.0'
manifest = b'module golang.org/x/mod\\n\\ngo 1.17\\n'
packed = io.BytesIO()
with zipfile.ZipFile(packed, 'w') as archive:
    top = f'golang.org/x/mod@{version}/'
    archive.writestr(top + 'go.mod', manifest)
    for path in ['LICENSE', 'semver/semver.go']:
        archive.write(os.path.join(folder, path), top + path)
files = {
    'list': version.encode(),
    version + '.info': json.dumps({'Version': version, 'Time': '2021-08-10T17:02:09Z'}).encode(),
    version + '.mod': manifest,
    version + '.zip': packed.getvalue(),
}

class Mirror(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        start = '/golang.org/x/mod/@v/'
        found = files.get(self.path[len(start):]) if self.path.startswith(start) else None
        self.send_response(200 if found else 404)
        self.end_headers()
        self.wfile.write(found or b'not here')

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Mirror)
print(server.server_port, flush=True)
server.serve_forever()
";
