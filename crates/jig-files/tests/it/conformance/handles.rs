//! Files that are open: what operating systems promise, on every backend.

use super::check_all;
use super::support::{Bench, check, path};

scripts! {
    a_file_is_read_in_parts: "
        put f hello
        open h r f
        :path h => f
        :read h 0 100 => hello
        :read h 1 3 => ell
        :read h 4 100 => o
        :read h 5 100 => -
        :read h 6 1 => -
        :read h 18446744073709551615 10 => -
        :read h 0 0 => -
        :size h => 5
        :write h 0 x => NotOpened
        :append h x => NotOpened
        :resize h 0 => NotOpened
        read f => hello
    ";
    it_is_written_in_place: "
        put f hello
        open h rw f
        open other r f
        same h other => true
        :write h 1 EY
        :read other 0 9 => hEYlo
        read f => hEYlo
        :write h 4 OOO
        read f => hEYlOOO
        :write h 9 !
        read f => hEYlOOO00!
        :resize h 3
        read f => hEY
        :resize h 5
        :read h 0 9 => hEY00
        :append h x
        :append h yz
        :read h 3 9 => 00xyz
        :sync h
        :write h 99 -
        :size h => 8
    ";
    a_write_only_one_is_not_read: "
        put f hello
        open h w f
        :read h 0 1 => NotOpened
        :write h 0 H
        :size h => 5
        read f => Hello
    ";
    for_nothing: "
        put f hello
        open h - f
        :read h 0 1 => NotOpened
        :write h 0 x => NotOpened
        :size h => 5
    ";
    missing_files_are_created_if_that_is_asked_for: "
        open h r f => NotFound
        open h rw f => NotFound
        open h wt f => NotFound
        locate f => missing
        open h rwc f
        locate f => file 0
        :write h 0 new
        read f => new
        open again rwc f
        :read again 0 9 => new
        open only-created c g
        locate g => file 0
        :write only-created 0 x => NotOpened
    ";
    parents_are_not_made: "
        open h wc d/f => NotFound
        locate d => missing
        put f x
        open h wc f/g => NotADirectory
        open h r f/g => NotFound
    ";
    exclusive_means_new: "
        open h wcx f
        :write h 0 mine
        open k wcx f => AlreadyExists
        open k rcx f => AlreadyExists
        read f => mine
        mkdir d
        open k wcx d => AlreadyExists
        link l f
        open k wcx l => AlreadyExists
        link dangling nowhere
        open k wcx dangling => AlreadyExists
        locate nowhere => missing
        open k wx f
        :write k 0 M
        read f => Mine
    ";
    to_empty_a_file_is_to_change_it: "
        put f hello
        open reader r f
        open h wt f
        :size reader => 0
        :write h 0 x
        :read reader 0 9 => x
        put g hello
        open h rt g
        :read h 0 9 => -
        :write h 0 x => NotOpened
        read g => -
        put i hello
        open h t i
        read i => -
        open h wct new
        read new => -
    ";
    only_files_are_opened: "
        mkdir d
        open h r d => IsDirectory
        open h rw d => IsDirectory
        open h wc d => IsDirectory
        open h wct d => IsDirectory
        open h r . => IsDirectory
    ";
    links_are_followed_to_what_is_judged: "
        put d/f hello
        link l d/f
        link up d
        open h rw l
        :path h => d/f
        :write h 0 J
        open k r up/f
        :path k => d/f
        :read k 0 9 => Jello
        same h k => true
        link out /etc/passwd
        open h r out => Escape
        open h wc out => Escape
        link dangling nowhere
        open h wc dangling => Escape
    ";
    it_is_the_file_and_not_its_name: "
        put f hello
        open h rw f
        rename f g
        :write h 0 J
        read g => Jello
        put g other
        :read h 0 9 => Jello
        :write h 0 x
        read g => other
        open h rw g
        delete g
        :write h 0 O
        :read h 0 9 => Other
        locate g => missing
        open k wc g
        same h k => false
        read g => -
    ";
    an_addition_reaches_who_has_it_open: "
        put f a
        open h rw f
        append f b => updated
        :read h 0 9 => ab
        :append h c
        read f => abc
    ";
    what_was_judged_is_what_is_opened: "
        hold new f
        put f hello
        open h wc @new => Changed
        open h wcx @new => AlreadyExists
        hold old f
        put f other
        open h w @old => Changed
        open h rt @old => Changed
        read f => other
        hold old f
        delete f
        open h rw @old => Changed
        open h wc @old => Changed
        locate f => missing
        put f hello
        hold old f
        rename f g
        open h wt @old => Changed
        link f g
        open h wt @old => Changed
        read g => hello
        hold new n
        mkdir n
        open h wc @new => Changed
        hold new m
        link m g
        open h wct @new => Changed
        open h wcx @new => AlreadyExists
        read g => hello
        put d/f hello
        put e/f other
        hold old d/f
        rename d x
        link d e
        open h wt @old => Changed
        read x/f => hello
        read e/f => other
    ";
    sizes_that_no_file_can_have: "
        open h rwc f
        :write h 18446744073709551615 -
        :write h 18446744073709551615 x => TooLong
        :write h 18446744073709551614 xxxx => TooLong
        :write h 9223372036854775807 x => TooLong
        :resize h 18446744073709551615 => TooLong
        :size h => 0
        :read h 9223372036854775807 9 => -
    ";
    empty_directories_are_removed: "
        mkdir d
        rmdir d
        locate d => missing
        rmdir d => NotFound
        put d/f x
        rmdir d => NotEmpty
        rmdir d/f => NotADirectory
        delete d/f
        link l d
        rmdir l => NotADirectory
        rmdir d
        entry l => link
        mkdir d
        hold-entry old d
        rename d x
        mkdir d
        rmdir @old => Changed
        rmdir x
        rmdir @old => Changed
        rmdir d
        mkdir d/e => NotFound
        mkdirs d/e
        rmdir d => NotEmpty
        rmdir d/e
        rmdir d
    ";
}

#[test]
fn a_gap_does_not_fill_the_memory_of_the_host() {
    check(
        &mut Bench::memory(),
        "
        open h rwc f
        :write h 1000000000000 x => TooLong
        :resize h 268435457 => TooLong
        :append h x
        :size h => 1
        ",
    );
}

#[test]
fn a_place_keeps_what_it_was_located_with_in_memory() {
    check(
        &mut Bench::memory(),
        "
        put f hello
        hold seen f
        open h rw f
        :write h 0 J
        :resize h 3
        read @seen => hello
        read f => Jel
        ",
    );
}

#[test]
fn those_who_append_at_the_same_time_do_not_overwrite_each_other() {
    for bench in Bench::all() {
        let place = bench.files.locate(&path("log")).unwrap();
        let options = jig_files::OpenOptions {
            write: true,
            create: true,
            ..Default::default()
        };
        bench.files.open_file(&place, &options).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let place = bench.files.locate(&path("log")).unwrap();
                    let file = bench.files.open_file(&place, &options).unwrap();
                    for _ in 0..100 {
                        file.append(b"line\n").unwrap();
                    }
                });
            }
        });
        let place = bench.files.locate(&path("log")).unwrap();
        let content = bench.files.read(&place, u64::MAX).unwrap();
        assert_eq!(content, "line\n".repeat(400), "{}", bench.name);
    }
}

#[test]
fn the_time_of_the_last_change_is_known() {
    for mut bench in Bench::all() {
        let start = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
        check(&mut bench, "put f hello");
        check(&mut bench, "mkdir d");
        for directory in ["d", "."] {
            let place = bench.files.locate(&path(directory)).unwrap();
            assert!(place.modified().unwrap() > start, "{}", bench.name);
        }
        let place = bench.files.locate(&path("f")).unwrap();
        let located = place.modified().unwrap();
        assert!(located > start, "{}", bench.name);
        let options = jig_files::OpenOptions {
            write: true,
            ..Default::default()
        };
        let file = bench.files.open_file(&place, &options).unwrap();
        assert_eq!(file.state().unwrap(), (5, Some(located)), "{}", bench.name);
        // A clock may stand still for some milliseconds.
        let limit = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while file.state().unwrap().1 == Some(located) {
            assert!(std::time::Instant::now() < limit, "{}", bench.name);
            file.write_at(0, b"J").unwrap();
        }
        assert!(file.state().unwrap().1 > Some(located), "{}", bench.name);
    }
}
