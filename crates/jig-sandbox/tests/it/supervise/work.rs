//! Real programs at real work: what they leave behind is the same, byte for byte.

use jig_testkit::has_program;

use super::*;

/// Runs a script with and without a supervisor, where only names that the work does not make are guarded. Both must
/// come to the same end, and leave the same behind. Times and numbers of processes do not count.
#[track_caller]
fn check(programs: &[&str], script: &str) {
    let is_again = std::env::var_os(LAUNCH).is_some() && !way().starts_with("direct");
    if is_elsewhere() || is_again || !programs.iter().all(|name| has_program(name)) {
        return;
    }
    let runs = [false, true].map(|guarded| {
        let workspace = Workspace::new();
        let mut request = request(&workspace, false, "/bin/bash", &["-c", script]);
        let mut profile = profile(&workspace);
        if guarded {
            profile.guarded_names = guards(workspace.path());
            let is_of_git = |name: &GuardedName| name.pattern.starts_with(".git");
            profile.guarded_names.retain(|name| !is_of_git(name));
        }
        request.profile = Some(Arc::new(profile));
        request
            .env
            .insert("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        let ran = run(request);
        assert!(
            ran.exit.is_success(),
            "supervised: {guarded}: {:?}\n{}{}",
            ran.exit,
            ran.output,
            ran.errors
        );
        let path = workspace.path().display().to_string();
        let output = ran.output.replace(&path, "WORKSPACE");
        (output, listing(workspace.path()))
    });
    let [(plain, left), (supervised, also_left)] = runs;
    assert_eq!(plain, supervised);
    for (one, other) in left.iter().zip(&also_left) {
        assert_eq!(one, other);
    }
    assert_eq!(left.len(), also_left.len());
}

#[test]
fn archives_are_unpacked() {
    check(
        &["tar", "gzip"],
        "set -e; mkdir tree; mkdir tree/linux; cp -r /usr/include/linux/[f-n]* tree/linux/; tar czf a.tgz --sort=name --mtime=@0 tree; rm -r tree; \
         umask 027; tar xzf a.tgz; rm a.tgz; mkdir -m 700 other; cp -a tree other/; ln -s tree link; ln tree/linux/fs.h hard; \
         find . -name '*.h' | wc -l",
    );
}

#[test]
fn git_works() {
    check(
        &["git"],
        "set -e; export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000' GIT_CONFIG_GLOBAL=/dev/null \
         GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
         git init -q -b main r; cd r; for i in $(seq 200); do echo $i > f$i; done; git add .; git commit -qm one; \
         git checkout -qb side; echo side > f1; git commit -qam side; git checkout -q main; echo main > f2; \
         git commit -qam main; git rebase -q side; git log --format=%s; git gc -q; git fsck; git checkout -q side; \
         git worktree add -q ../w main; git clone -q . ../c; git stash list; git status --short; cd ..; \
         find . -name index -delete; find . -path '*/logs/*' -delete; find . -name '*.pack' -o -name '*.idx' -o -name '*.rev' | \
         xargs rm -f; find . -name '*.mtimes' -o -name 'packs' -o -name 'commit-graph' -o -name '*.graph' | xargs rm -f; rm -f r/.git/gc.log",
    );
}

#[test]
fn databases_and_editors_work() {
    check(
        &["sqlite3", "vim"],
        "set -e; echo 'pragma journal_mode=wal; create table t(a); insert into t values(1); insert into t values(2); \
         select sum(a) from t; vacuum;' | sqlite3 d.db; echo 'select * from t' | sqlite3 d.db; rm -f d.db*; \
         echo text > v.txt; vim -u NONE -es -c '%s/text/changed/' -c wq v.txt; cat v.txt; ls -a; \
         (vim -u NONE -es -c 'set directory=.' -c 'normal ix' -c 'wq' w.txt); cat w.txt",
    );
}

#[test]
fn compilers_work() {
    check(
        &["gcc", "perl", "make"],
        "set -e; printf 'int f(int a){return a+1;}' > f.c; printf 'int f(int);int main(){return f(-1);}' > m.c; \
         printf 'm: f.o m.o\\n\\tgcc -o m f.o m.o\\n%%.o: %%.c\\n\\tgcc -O2 -c $<\\n' > Makefile; make -s -j4; ./m; \
         ar rc libf.a f.o; rm -f m libf.a",
    );
}

#[test]
fn python_compiles_all() {
    check(&["/usr/bin/python3"], PYTHON);
}

const PYTHON: &str = r#"set -e; mkdir p; for i in 1 2 3; do echo "x = $i" > p/m$i.py; done; export SOURCE_DATE_EPOCH=0
/usr/bin/python3 -m compileall -q --invalidation-mode unchecked-hash p; /usr/bin/python3 - <<'X'
import multiprocessing as m, os, socketserver, tempfile, threading
def work(n):
    for i in range(60):
        t = f'q{n}.{i}.tmp'
        open(t, 'w').write(str(i)); os.replace(t, f'q{n}.{i}')
ts = [threading.Thread(target=work, args=(n,)) for n in range(8)]
[t.start() for t in ts]; [t.join() for t in ts]
with m.Manager() as g:
    l = g.list([1]); l.append(2); print(list(l))
with m.Pool(3) as p: print(p.map(len, ['a', 'bb']))
with tempfile.TemporaryDirectory(dir='.') as d: open(d + '/x', 'x').close()
s = socketserver.UnixStreamServer('sock', None); print(s.server_address); s.server_close(); os.unlink('sock')
f = tempfile.TemporaryFile(dir='.'); f.write(b'x')
fd = os.open('.', os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b'whole')
os.link(f'/proc/self/fd/{fd}', 'linked', dst_dir_fd=os.open('.', os.O_RDONLY), follow_symlinks=True); print(open('linked').read())
X
"#;

/// Signals come while calls are performed, to handlers that have calls restarted and to those that do not. No call
/// is done twice.
#[test]
fn signals_do_not_repeat_a_call() {
    check(
        &["perl"],
        "perl -e 'use POSIX; use Time::HiRes qw(setitimer ITIMER_REAL); my $n = 0; \
         for my $flags (0, SA_RESTART) { \
           sigaction(SIGALRM, POSIX::SigAction->new(sub { $n++ }, POSIX::SigSet->new, $flags)); \
           setitimer(ITIMER_REAL, 0.001, 0.001); \
           for my $i (1..200) { \
             1 until mkdir(\"d$flags.$i\") or $! != EINTR and die \"mkdir $i: $!\"; \
             my $f; 1 until sysopen($f, \"f$flags.$i\", O_CREAT|O_EXCL|O_WRONLY) or $! != EINTR and die \"open $i: $!\"; \
           } setitimer(ITIMER_REAL, 0, 0); } die \"no signal came\" unless $n > 0'",
    );
}
