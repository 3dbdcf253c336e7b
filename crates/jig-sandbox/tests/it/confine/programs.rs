//! Ordinary programs work in the sandbox.

use super::*;

/// Runs a shell script in a workspace where it may do everything; its output must be this.
#[track_caller]
fn check(script: &str, expected: &str) {
    if has_namespaces() {
        check_under(Layers::ALL, script, expected);
    }
}

/// The same also without namespaces, for what needs neither sockets nor shared memory.
#[track_caller]
fn check_everywhere(script: &str, expected: &str) {
    for layers in tiers() {
        check_under(layers, script, expected);
    }
}

#[track_caller]
fn check_under(layers: Layers, script: &str, expected: &str) {
    let workspace = Workspace::of("");
    let mut profile = system();
    profile.layers = layers;
    profile.paths.push(rule(workspace.path(), Rights::ALL));
    let mut request = request("/bin/sh", &["-c", script], workspace.path(), profile);
    if !layers.namespaces {
        // Nothing is private there: temporary files go where the tool may write.
        for name in ["HOME", "TMPDIR"] {
            request.env.insert(name.into(), workspace.path().into());
        }
    }
    let ran = run(request);
    assert_eq!(ran.output, expected, "{layers:?} {}", ran.errors);
}

/// Whether the system has a program, where a sandboxed one would find it too.
fn has(program: &str) -> bool {
    ["/usr/bin", "/bin"]
        .iter()
        .any(|directory| Path::new(directory).join(program).exists())
}

#[test]
fn shells_pipes_and_temporary_files() {
    check_everywhere(
        "echo one | tr a-z A-Z; f=$(mktemp); echo two > $f; cat $f; cat <<END
three
END
(sleep 0.01; echo four) & wait",
        "ONE\ntwo\nthree\nfour\n",
    );
}

#[test]
fn git() {
    if has("git") {
        check_everywhere(
            "git init -q . && echo x > f && git add f && \
             git -c user.name=a -c user.email=a@b commit -q -m m && git log --format=%s && \
             git clone -q . ../$(basename $PWD)/copy && git -C copy status --short && rm -rf copy && \
             git gc -q && git status --short && echo done",
            "m\ndone\n",
        );
    }
}

/// Pools of processes, threads, pairs of sockets, a server on its own loopback, shared memory.
#[test]
fn python() {
    if !has("python3") {
        return;
    }
    check(
        "cat > t.py <<'END'
import asyncio, multiprocessing, socket, subprocess, threading
from multiprocessing import shared_memory
def square(x): return x * x
def main():
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, [2, 3]))
    print(multiprocessing.Manager().list([1])[0])
    server = socket.create_server(('127.0.0.1', 0))
    client = socket.create_connection(server.getsockname())
    print(client.send(b'x'))
    memory = shared_memory.SharedMemory(create=True, size=64)
    memory.close(); memory.unlink()
    thread = threading.Thread(target=print, args=('thread',)); thread.start(); thread.join()
    print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())
    asyncio.run(asyncio.sleep(0))
    try:
        socket.create_connection(('192.0.2.1', 80), timeout=5)
    except OSError as error:
        print('no network')
main()
END
/usr/bin/python3 t.py",
        "[4, 9]\n1\n1\nthread\nchild\nno network\n",
    );
}

#[test]
fn a_compiler() {
    if has("cc") {
        check_everywhere(
            "printf '#include <stdio.h>\\nint main(){puts(\"hi\");}' > t.c && cc t.c -o t && ./t",
            "hi\n",
        );
    }
}

#[test]
fn node() {
    if has("node") {
        check(
            "node -e 'const {execSync}=require(\"child_process\");\
             process.stdout.write(execSync(\"echo child\"));\
             const s=require(\"http\").createServer((q,r)=>r.end(\"x\")).listen(0,\"127.0.0.1\",()=>{\
             require(\"http\").get({port:s.address().port,host:\"127.0.0.1\"},r=>{\
             console.log(r.statusCode);process.exit()})})'",
            "child\n200\n",
        );
    }
}

#[test]
fn java() {
    if has("java") && has("javac") {
        check(
            "cat > T.java <<'END'
class T {
  public static void main(String[] a) throws Exception {
    Thread t = new Thread(() -> System.out.println(\"thread\"));
    t.start(); t.join();
    try (var s = new java.net.ServerSocket(0)) { System.out.println(s.getLocalPort() > 0); }
  }
}
END
java T.java",
            "thread\ntrue\n",
        );
    }
}
