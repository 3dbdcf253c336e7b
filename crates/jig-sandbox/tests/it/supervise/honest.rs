//! That ordinary work does not notice.

use super::*;

/// Runs a script with and without a supervisor. Output, errors, the end and all files must be the same.
#[track_caller]
fn check(script: &str) {
    let runs = [false, true].map(|guarded| {
        let workspace = Workspace::new();
        let ran = run(request(&workspace, guarded, "/bin/sh", &["-c", script]));
        assert!(ran.refused.names.is_empty(), "{script}: {:?}", ran.refused);
        let path = workspace.path().display().to_string();
        let texts = [ran.output, ran.errors].map(|text| text.replace(&path, "WORKSPACE"));
        (ran.exit, texts, listing(workspace.path()))
    });
    let [plain, supervised] = runs;
    assert_eq!(plain, supervised, "{script}");
}

#[test]
fn scripts_do_the_same() {
    if is_elsewhere() {
        return;
    }
    for script in [
        "echo a > f; echo b >> f; cat f; echo > f/x; echo > missing/x; mkdir f; mkdir d; mkdir d; mkdir d/e/g",
        "umask; umask 077; echo > f; mkdir d; (umask 0; echo > g; mkdir e); echo > h; mkfifo p; ls -l | cut -c1-10",
        "echo x > /dev/null; echo y > /dev/stdout; echo z > /dev/stderr; echo w > /proc/self/fd/1; echo v > /dev/fd/1",
        "exec 3> f; echo a >&3; echo b > /dev/fd/3; cat f; echo c > /proc/$$/fd/3; cat f",
        "ln -s nowhere l; cat l; echo x > l; cat nowhere; ln -s l l2; echo y > l2; cat nowhere; ln -s loop loop; echo > loop",
        "ln -s missing/x l; echo > l; ln -s /proc/self/fd/1 m; echo hello > m",
        "mkdir d; chmod 555 d; id -u; echo > d/x; mkdir d/y; ln -s x d/z",
        "echo a > f; ln f g; ln f g; ln -s f s; ln s t; ln -L s u; ls -l | wc -l; mv f h; mv nothing h; mv -n g h; mv d h",
        "mkdir -p a/b x/y; mv a/b x/; mv a x/y; mv x x/y; ls -R; rmdir x; mv x/y/a/ z/; ls -R",
        "mkdir d; cd d; echo > ../f; echo > \"$PWD/g\"; mkdir ./h/; echo > h/; echo > ''; mkdir ''; mkdir .; mkdir ..; mkdir /",
        "echo > /etc/new; mkdir /usr/new; ln -s x /new; echo > /dev/new; echo 5 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj",
        "mkfifo p; (echo through > p) & cat p; wait; (cat < p) & echo again > p; wait",
        "for i in 1 2 3 4 5 6 7 8; do mkfifo p$i; (echo $i > p$i) & done; echo > q; for i in 8 7 6 5 4 3 2 1; do cat p$i; done; wait",
        "mkdir old; cd old; rmdir ../old; echo > x; mkdir y",
        "n=$(printf '%0255d' 0); echo > $n; mkdir d$n; echo > $n/x; ls | wc -c",
        "p=/tmp/very; mkdir -p $p/deep; echo > $p/deep/f; cp -a $p .; tar cf t.tar very; mkdir u; tar xf t.tar -C u; diff -r very u/very; rm t.tar",
        "cat > prog.sh <<'X'\n#!/bin/sh\necho run\nX\nchmod +x prog.sh; ./prog.sh; cp prog.sh two; ./two",
        "mkdir d; exec 7<d; perl -e 'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un(\"/proc/self/fd/7/s\")) or print $!'; ls d; perl -e 'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); bind(S,sockaddr_un(\"/proc/self/cwd/t\")) or print $!'; ls",
        "trap 'echo term' TERM; (kill -TERM $$); i=0; while [ $i -lt 50 ]; do echo $i > f$i; i=$((i+1)); done; ls | wc -l",
        "for i in 1 2 3 4 5 6; do (j=0; while [ $j -lt 40 ]; do echo $i.$j > t$i; mv t$i u$i.$j; j=$((j+1)); done) & done; wait; ls | wc -l",
        "echo a > f; exec 5> f; (flock 5; echo locked) ; flock -n f echo free",
        "perl -e 'use Socket; socket(S,AF_UNIX,SOCK_STREAM,0); mkdir \"d\"; bind(S,sockaddr_un(\"d/s\")) or print $!; print unpack_sockaddr_un(getsockname(S)),\"\\n\"; bind(S,sockaddr_un(\"d/s2\")) or print \"$!\\n\"; socket(T,AF_UNIX,SOCK_STREAM,0); bind(T,sockaddr_un(\"d/s\")) or print \"$!\\n\"; bind(T,pack(\"Sa*\",1,\"\\0abstract\")) or print \"$!\\n\"; listen(T,5); socket(U,AF_INET,SOCK_STREAM,0); bind(U,sockaddr_in(0,INADDR_LOOPBACK)) or print \"$!\\n\"; print listen(U,5)'",
        "perl -e 'use Fcntl; sysopen(F,\"f\",O_RDWR|O_CREAT|O_EXCL,0640) or print $!; printf \"%o\\n\",fcntl(F,F_GETFL,0); print fcntl(F,F_GETFD,0); sysopen(F,\"f\",O_RDWR|O_CREAT|O_EXCL,0640) or print $!; sysopen(F,\"f\",O_WRONLY|O_CREAT|O_APPEND,0640) or print $!; printf \"%o\\n\",fcntl(F,F_GETFL,0); sysopen(F,\".\",O_RDONLY|O_CREAT) or print $!; sysopen(F,\"new/\",O_RDWR|O_CREAT) or print $!; symlink \"f\",\"l\"; sysopen(F,\"l\",O_RDWR|O_CREAT|O_NOFOLLOW) or print $!; symlink \"n\",\"m\"; sysopen(F,\"m\",O_RDWR|O_CREAT|O_EXCL) or print $!'",
        "perl -e 'syscall(83,0); print $!+0; $x=\"x\"; syscall(258,99,$x,0755); print $!+0; mkdir \"x\" x 300 or print $!+0; mkdir \"x/\" x 3000 or print $!+0; rename(\"a\",\"\") or print $!+0; symlink(\"\",\"q\") or print $!+0; link(\"\",\"q\") or print $!+0'",
    ] {
        check(script);
    }
}
