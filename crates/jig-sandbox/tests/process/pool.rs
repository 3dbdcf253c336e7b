//! What is special about pools: their helper, and keepers that wait.

use std::collections::BTreeSet;

use super::*;

/// The processes of this user whose parent is `parent`, and that have a name.
fn children_named(parent: u32, name: &str) -> BTreeSet<u32> {
    fs::read_dir("/proc")
        .expect("/proc is mounted")
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (start, rest) = stat.rsplit_once(") ")?;
            let mut fields = rest.split(' ');
            let is_alive = fields.next()? != "Z";
            let is_child = fields.next()?.parse::<u32>().ok()? == parent;
            (is_alive && is_child && start.ends_with(&format!("({name}"))).then_some(pid)
        })
        .collect()
}

/// The helper that this call to [`Pool::new`] starts. Nothing else starts any meanwhile.
fn new_pool(ready: usize) -> (Pool, u32) {
    let helpers = || children_named(std::process::id(), "jig-zygote");
    let before = helpers();
    let pool = Pool::new(ready).expect("the launcher is built in");
    let mut new = BTreeSet::new();
    until("the helper has its name", || {
        new = helpers().difference(&before).copied().collect();
        !new.is_empty()
    });
    (pool, new.pop_first().expect("there is one"))
}

fn by(pool: &Pool, script: &str) -> SpawnRequest {
    let mut request = shell(script);
    request.launch = Launch::Pool(pool.clone());
    request
}

#[test]
fn a_helper_that_was_killed_is_replaced() {
    if !is_alone("pool::a_helper_that_was_killed_is_replaced") {
        return;
    }
    let (pool, helper) = new_pool(2);
    for round in 0..3 {
        assert_eq!(
            run(by(&pool, "exit 3")).0,
            Exit::Exited { code: 3 },
            "{round}"
        );
    }
    // SAFETY: the helper is a child that only its pool reaps, so the number is its own.
    unsafe { libc::kill(helper.cast_signed(), libc::SIGKILL) };
    // First those that wait are used up, then another helper is started.
    for round in 0..8 {
        assert_eq!(
            run(by(&pool, "exit 4")).0,
            Exit::Exited { code: 4 },
            "{round}"
        );
    }
    assert_ne!(
        children_named(std::process::id(), "jig-zygote"),
        BTreeSet::from([helper])
    );
}

/// Keepers that wait are dead weight once nobody can ask for them.
#[test]
fn the_helper_and_those_that_wait_end_with_the_pool() {
    if !is_alone("pool::the_helper_and_those_that_wait_end_with_the_pool") {
        return;
    }
    let (pool, helper) = new_pool(3);
    assert!(run(by(&pool, "exit")).0.is_success());
    let waiting = || children_named(helper, "jig-keeper");
    until("keepers wait", || waiting().len() == 3);
    let keepers = waiting();
    let child = spawn(by(&pool, "read line; exit 5")).expect("it starts");
    // A child has its share in the pool.
    drop(pool);
    assert!(is_alive(helper));
    assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 5 });
    drop(child);
    until("the helper ends", || !is_alive(helper));
    until("keepers end", || !keepers.iter().any(|pid| is_alive(*pid)));
}

/// A keeper of one kind never starts a tool of another, and old ones make room.
#[test]
fn keepers_are_of_the_kind_that_was_asked_for_last() {
    if !is_alone("pool::keepers_are_of_the_kind_that_was_asked_for_last") {
        return;
    }
    let (pool, helper) = new_pool(2);
    for round in 0..12 {
        let mut request = by(&pool, "echo $PPID");
        request.containment = BOTH[round / 2 % 2];
        let in_namespace = request.containment == Containment::BestEffort;
        let (exit, output, errors) = run(request);
        assert!(exit.is_success(), "{errors}");
        // In a namespace of its own the keeper is the first process.
        assert_eq!(output == "1\n", in_namespace, "{round}: {output}");
    }
    until("no more wait than wanted", || {
        children_named(helper, "jig-keeper").len() <= 2
    });
}

/// A copy of the mounts of yesterday is no view of today.
#[test]
fn keepers_see_what_the_host_mounts_later() {
    if !rustix::process::geteuid().is_root()
        || !is_alone("pool::keepers_see_what_the_host_mounts_later")
    {
        return;
    }
    // In a namespace of this process alone, so that nothing stays behind.
    // SAFETY: the call takes no pointers.
    let alone = unsafe { libc::unshare(libc::CLONE_NEWNS) };
    let mount = |arguments: &[&str]| {
        let status = Command::new("mount").args(arguments).status();
        assert!(status.expect("util-linux is installed").success());
    };
    if alone != 0 {
        return;
    }
    mount(&["--make-rprivate", "/"]);
    let directory = tempfile::tempdir_in("/var/tmp").expect("there is a place for it");
    let (pool, helper) = new_pool(2);
    let look = || {
        let mut request = by(&pool, "cat file 2>/dev/null || echo nothing");
        request.cwd = directory.path().to_owned();
        run(request).1
    };
    assert_eq!(look(), "nothing\n");
    until("two keepers wait", || {
        children_named(helper, "jig-keeper").len() == 2
    });
    let target = directory.path().to_str().expect("temporary names are text");
    mount(&["-t", "tmpfs", "none", target]);
    fs::write(directory.path().join("file"), "mounted\n").expect("writable");
    assert_eq!(look(), "mounted\n");
    let status = Command::new("umount").arg(target).status();
    assert!(status.expect("util-linux is installed").success());
}
