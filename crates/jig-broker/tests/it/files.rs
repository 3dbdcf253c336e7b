//! Requests on files, on the disk and in memory.

use jig_broker::JudgedRequest;
use jig_files::ContentHash;
use jig_policy::{DefaultAccess, FileCapabilities};
use jig_proto::vfs::{
    DescriptorReply, Edit, Entry, EntryKind, ErrorKind, FsAppend, FsDelete, FsGrep, FsListDir,
    FsPatch, FsPath, FsRead, FsRename, FsWrite, MetadataReply, Payload, VfsReply, VfsRequest,
};

use crate::world::{World, ask, both, delete, exists, kind, read, write};

fn text(reply: VfsReply<'static>) -> (String, u64) {
    match reply {
        VfsReply::Read(read) => match read.content {
            Payload::Text(text) => (text.into_owned(), read.size),
            Payload::Bytes(bytes) => (format!("bytes {bytes:?}"), read.size),
        },
        other => panic!("{other:?}"),
    }
}

fn names(reply: VfsReply<'static>) -> Vec<String> {
    match reply {
        VfsReply::List(list) => list
            .entries
            .into_iter()
            .map(|one| one.path.into_owned())
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn list(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsListDir(FsListDir::new(path))
}

fn rename<'a>(from: &'a str, to: &'a str) -> VfsRequest<'a> {
    VfsRequest::FsRename(FsRename::new(from, to))
}

fn mkdir(path: &str) -> VfsRequest<'_> {
    VfsRequest::FsMkdir(FsPath::new(path))
}

#[test]
fn v044_v046_v048_content_is_text_or_bytes_and_has_its_size_and_version() {
    both(|world| {
        let world = world
            .with("a.txt", "fn main() {}")
            .with("b.bin", [0xff, 0, 1]);
        let Ok(VfsReply::Read(reply)) = world.ask(&read("a.txt")) else {
            panic!("it may be read");
        };
        assert_eq!(reply.content, Payload::Text("fn main() {}".into()));
        assert_eq!(reply.size, 12);
        let etag = ContentHash::of(b"fn main() {}").to_string();
        assert_eq!(reply.etag.as_deref(), Some(etag.as_str()));
        let (content, size) = text(world.ask(&read("b.bin")).unwrap());
        assert_eq!((content.as_str(), size), ("bytes [255, 0, 1]", 3));
        assert_eq!(kind(world.ask(&read("none"))), Err(ErrorKind::NotFound));
    });
}

#[test]
fn x11_paths_that_leave_are_escapes() {
    both(|world| {
        let world = world.with("src/a", "a").with_link("out", "../secret");
        let mut cases = vec![
            "/etc/passwd",
            "../x",
            "src/../src/a",
            "a/..",
            "out",
            "out/x",
        ];
        let absolute = format!("{}/src/a", world.files.display_root());
        cases.push(&absolute);
        for path in cases {
            let error = world.ask(&read(path)).unwrap_err();
            assert_eq!(
                (error.code(), error.kind()),
                (-32001, ErrorKind::Escape),
                "{path}"
            );
            assert_eq!(error.data.path.as_deref(), Some(path));
        }
        // Nothing is decoded: these are names that don't exist.
        for path in ["%2e%2e/x", "..%2fx", "..\\x", "src/%2e%2e/a"] {
            assert_eq!(
                kind(world.ask(&read(path))),
                Err(ErrorKind::NotFound),
                "{path}"
            );
        }
    });
}

#[test]
fn x24_v141_large_files_are_read_in_ranges() {
    both(|world| {
        let mut world = world.with("big", "0123456789");
        world.limits.file_bytes = 4;
        let error = world.ask(&read("big")).unwrap_err();
        assert_eq!((error.code(), error.kind()), (-32006, ErrorKind::TooLarge));
        assert!(error.data.hint.unwrap().contains("`offset`"));
        let part = |offset, length| {
            let read = FsRead {
                offset,
                length,
                ..FsRead::new("big")
            };
            world
                .ask(&VfsRequest::FsRead(read))
                .map(text)
                .map_err(|error| error.kind())
        };
        assert_eq!(part(Some(2), Some(3)), Ok(("234".to_owned(), 10)));
        assert_eq!(part(Some(8), Some(4)), Ok(("89".to_owned(), 10)));
        assert_eq!(part(Some(8), None), Ok(("89".to_owned(), 10)));
        assert_eq!(part(None, Some(2)), Ok(("01".to_owned(), 10)));
        assert_eq!(part(Some(99), Some(u64::MAX)), Ok((String::new(), 10)));
        assert_eq!(part(Some(u64::MAX), Some(1)), Ok((String::new(), 10)));
        assert_eq!(part(Some(0), Some(5)), Err(ErrorKind::TooLarge));
    });
}

#[test]
fn v050_writing_creates_or_updates_by_what_stands_there() {
    both(|world| {
        let world = world
            .with("old.txt", "old")
            .allow(".", "r")
            .allow("new", "c")
            .allow("old.txt", "u");
        let broker = world.broker();
        assert!(ask(&broker, &write("new/dir/a.txt", "a")).is_ok());
        assert_eq!(world.content("new/dir/a.txt").as_deref(), Some("a"));
        // It exists now, and `create` does not cover changing it.
        let error = ask(&broker, &write("new/dir/a.txt", "b")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeniedByRule);
        assert!(
            error
                .message
                .starts_with("access denied: update on `new/dir/a.txt`"),
            "{error}"
        );
        assert!(ask(&broker, &write("old.txt", "b")).is_ok());
        assert_eq!(world.content("old.txt").as_deref(), Some("b"));
        assert_eq!(
            kind(ask(&broker, &write("other", "x"))),
            Err(ErrorKind::DeniedByRule)
        );
        assert_eq!(world.content("other"), None);
    });
}

#[test]
fn v131_a_denial_teaches() {
    both(|world| {
        let world = world
            .with("secret/a", "a")
            .allow(".", "r")
            .allow("secret", "");
        let error = world.ask(&read("secret/a")).unwrap_err();
        assert_eq!(error.code(), -32001);
        assert_eq!(
            error.message,
            "access denied: read on `secret/a`: the most specific rule that matches does not grant \
             `read` (granted: read on `.`)"
        );
        assert_eq!(
            error.data.rule.as_deref(),
            Some("nothing on `secret` (jig.toml:2)")
        );
        assert_eq!(error.data.path.as_deref(), Some("secret/a"));
        let hint = error.data.hint.unwrap();
        assert!(
            hint.contains("[[tools.editor.access.fs]]\npath = \"secret/a\""),
            "{hint}"
        );
        assert!(!error.data.retryable);
    });
}

#[test]
fn no_error_names_a_path_of_the_host() {
    both(|world| {
        let world = world
            .with("dir/a", "a")
            .with_link("link", "/etc/passwd")
            .allow(".", "rcud");
        let root = world.files.display_root().to_string();
        let long = "x".repeat(5000);
        let requests = [
            read("none"),
            read("dir"),
            read("link"),
            read("dir/a/b"),
            write("dir", "x"),
            write("dir/a/b", "x"),
            delete("dir", false),
            rename("none", "x"),
            list("dir/a"),
            read(&long),
            mkdir("dir/a"),
            rename("dir", "dir/sub"),
        ];
        for request in requests {
            let error = world.ask(&request).unwrap_err();
            let shown = format!("{error:?}");
            assert!(
                !shown.contains(&root) && !shown.contains("os error"),
                "{shown}"
            );
            assert!(!shown.contains("/etc"), "{shown}");
        }
    });
}

#[test]
fn x57_exclusive_and_overwrite_raise_already_exists() {
    both(|world| {
        let world = world.with("a", "a").with("b", "b").allow(".", "rcud");
        let exclusive = VfsRequest::FsWrite(FsWrite {
            exclusive: true,
            ..FsWrite::new("a", "x")
        });
        assert_eq!(world.ask(&exclusive).unwrap_err().code(), -32003);
        let keep = VfsRequest::FsRename(FsRename {
            overwrite: false,
            ..FsRename::new("a", "b")
        });
        let error = world.ask(&keep).unwrap_err();
        assert_eq!(
            (error.code(), error.data.path.as_deref()),
            (-32003, Some("b"))
        );
        assert_eq!(world.content("b").as_deref(), Some("b"));
        assert!(world.ask(&rename("a", "b")).is_ok());
        assert_eq!(world.content("b").as_deref(), Some("a"));
        assert_eq!(world.content("a"), None);
    });
}

#[test]
fn etags_protect_against_lost_updates() {
    both(|world| {
        let world = world.with("a", "one").allow(".", "rcud");
        let etag = ContentHash::of(b"one").to_string();
        let write_if = |etag: &str, content: &'static str| {
            VfsRequest::FsWrite(FsWrite {
                if_match: Some(etag.to_owned().into()),
                ..FsWrite::new("a", content)
            })
        };
        let Ok(VfsReply::Done(done)) = world.ask(&write_if(&etag, "two")) else {
            panic!("the version is right");
        };
        let two = ContentHash::of(b"two").to_string();
        assert_eq!(done.etag.as_deref(), Some(two.as_str()));
        for stale in [etag.as_str(), "nonsense"] {
            let error = world.ask(&write_if(stale, "three")).unwrap_err();
            assert_eq!((error.code(), error.kind()), (-32003, ErrorKind::Stale));
        }
        let delete_if = |etag: &str| {
            VfsRequest::FsDelete(FsDelete {
                if_match: Some(etag.to_owned().into()),
                ..FsDelete::new("a")
            })
        };
        assert_eq!(kind(world.ask(&delete_if(&etag))), Err(ErrorKind::Stale));
        assert_eq!(world.content("a").as_deref(), Some("two"));
        assert!(world.ask(&delete_if(&two)).is_ok());
        assert_eq!(world.content("a"), None);
    });
}

#[test]
fn appending_and_patching() {
    both(|world| {
        let world = world.with("a", "one two two").allow(".", "rcu");
        let append = VfsRequest::FsAppend(FsAppend::new("a", "!"));
        assert!(world.ask(&append).is_ok());
        let edit = |old: &'static str, new: &'static str, all| Edit {
            old: old.into(),
            new: new.into(),
            all,
        };
        let patch = |edits| VfsRequest::FsPatch(FsPatch::new("a", edits));
        assert!(world.ask(&patch(vec![edit("one", "1", false)])).is_ok());
        let error = world.ask(&patch(vec![edit("1", "x", false), edit("two", "2", false)]));
        assert_eq!(kind(error), Err(ErrorKind::Ambiguous));
        assert_eq!(
            kind(world.ask(&patch(vec![edit("3", "", false)]))),
            Err(ErrorKind::NoMatch)
        );
        assert_eq!(world.content("a").as_deref(), Some("1 two two!"));
        assert!(world.ask(&patch(vec![edit("two", "2", true)])).is_ok());
        assert_eq!(world.content("a").as_deref(), Some("1 2 2!"));
    });
}

#[test]
fn a_patch_needs_read_because_its_answers_tell_what_is_there() {
    both(|world| {
        let world = world.with("a", "password").allow("a", "u");
        let edits = vec![Edit {
            old: "pass".into(),
            new: "pass".into(),
            all: false,
        }];
        let result = world.ask(&VfsRequest::FsPatch(FsPatch::new("a", edits)));
        assert_eq!(kind(result), Err(ErrorKind::DeniedByRule));
    });
}

#[test]
fn x51_existence_and_metadata_need_read_whether_or_not_there_is_something() {
    both(|world| {
        let world = world
            .with("secret/there", "x")
            .with_link("secret/dangling", "nowhere")
            .with("open/f", "12345")
            .allow(".", "r")
            .allow("secret", "");
        let metadata = |path: &'static str| VfsRequest::FsMetadata(FsPath::new(path));
        let paths = [
            "secret/there",
            "secret/not-there",
            "secret/there/below",
            "secret/dangling",
        ];
        let answers: Vec<String> = paths
            .iter()
            .flat_map(|path| [exists(path), metadata(path)])
            .map(|request| {
                let error = world.ask(&request).unwrap_err();
                assert_eq!(error.code(), -32001);
                let path = error.data.path.clone().unwrap();
                error.message.replace(&path, "PATH")
            })
            .collect();
        // Not even the wording tells them apart.
        assert!(
            answers.iter().all(|answer| *answer == answers[0]),
            "{answers:?}"
        );
        assert_eq!(world.ask(&exists("open/f")), Ok(VfsReply::Exists(true)));
        assert_eq!(world.ask(&exists("open/g")), Ok(VfsReply::Exists(false)));
        let reply = MetadataReply {
            kind: EntryKind::File,
            size: 5,
            etag: None,
        };
        assert_eq!(
            world.ask(&metadata("open/f")),
            Ok(VfsReply::Metadata(reply))
        );
        assert_eq!(
            kind(world.ask(&metadata("open/g"))),
            Err(ErrorKind::NotFound)
        );
    });
}

/// X-52: a link into a place that may not be read is left out, whether or not it leads to something: else a tool
/// that makes links learns by a listing which names there are.
#[test]
fn x52_a_listing_does_not_tell_where_links_lead() {
    both(|world| {
        let world = world
            .with("d/a", "")
            .with("denied/there", "")
            .with_link("d/real", "../denied/there")
            .with_link("d/missing", "../denied/nothing")
            .with_link("d/far", "near")
            .with_link("d/near", "../denied/nothing")
            .with_link("d/own", "nothing")
            .allow(".", "r")
            .allow("denied", "");
        assert_eq!(names(world.ask(&list("d")).unwrap()), ["a", "own"]);
    });
}

/// V-055, X-52: what may not be read is left out, also behind a link. A link that leads out is an entry, and no more:
/// nothing is told of what stands there.
#[test]
fn v055_x52_denied_entries_are_not_listed() {
    both(|world| {
        let world = world
            .with("d/a", "")
            .with("d/sub/x", "")
            .with("d/denied/x", "")
            .with("d/.env", "KEY=1")
            .with_link("d/alias", "denied")
            .with_link("d/out", "/etc")
            .with_link("d/good", "a")
            .allow(".", "r")
            .allow("d/denied", "");
        assert_eq!(
            names(world.ask(&list("d")).unwrap()),
            ["a", "good", "out", "sub"]
        );
        let Ok(VfsReply::List(reply)) = world.ask(&list("d")) else {
            panic!("it may be listed");
        };
        let dir = Entry {
            path: "sub".into(),
            kind: EntryKind::Dir,
        };
        assert!(reply.entries.contains(&dir));
        let out = Entry {
            path: "out".into(),
            kind: EntryKind::Other,
        };
        assert!(reply.entries.contains(&out));
        let error = world.ask(&read("d/out/passwd")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Escape);
        assert_eq!(kind(world.ask(&list("d/a"))), Err(ErrorKind::NotDir));
        assert_eq!(
            kind(world.ask(&list("d/denied"))),
            Err(ErrorKind::DeniedByRule)
        );
    });
}

#[test]
fn long_listings_come_in_pages() {
    both(|world| {
        let mut world = world;
        for name in ["a", "b", "c", "d", "e"] {
            world.put(&format!("d/{name}"), "");
        }
        let page_of = |world: &World, cursor: Option<&str>, limit| {
            let request = VfsRequest::FsListDir(FsListDir {
                cursor: cursor.map(|cursor| cursor.to_owned().into()),
                limit,
                ..FsListDir::new("d")
            });
            match world.ask(&request).unwrap() {
                VfsReply::List(reply) => {
                    let next = reply.next_cursor.clone().map(|next| next.into_owned());
                    (names(VfsReply::List(reply)).concat(), next)
                }
                other => panic!("{other:?}"),
            }
        };
        let page = |cursor, limit| page_of(&world, cursor, limit);
        assert_eq!(page(None, Some(2)), ("ab".to_owned(), Some("b".to_owned())));
        assert_eq!(
            page(Some("b"), Some(2)),
            ("cd".to_owned(), Some("d".to_owned()))
        );
        assert_eq!(page(Some("d"), Some(2)), ("e".to_owned(), None));
        assert_eq!(page(None, None), ("abcde".to_owned(), None));
        // V-055: a page has its limit; a listing that is none has all entries.
        world.limits.list_entries = 3;
        let whole = page_of(&world, None, None);
        assert_eq!(whole, ("abcde".to_owned(), None));
        let first = page_of(&world, None, Some(9));
        assert_eq!(first, ("abc".to_owned(), Some("c".to_owned())));
    });
}

#[test]
fn x49_x64_a_directory_is_deleted_only_when_asked_so() {
    both(|world| {
        let world = world
            .with("d/a", "")
            .with("f", "")
            .with_link("link", "d")
            .allow(".", "rcud");
        let error = world.ask(&delete("d", false)).unwrap_err();
        assert_eq!((error.code(), error.kind()), (-32602, ErrorKind::IsDir));
        assert!(world.ask(&delete("link", false)).is_ok());
        assert_eq!(
            world.content("d/a").as_deref(),
            Some(""),
            "the link went, not its target"
        );
        assert!(world.ask(&delete("f", false)).is_ok());
        assert_eq!(
            kind(world.ask(&delete("f", false))),
            Err(ErrorKind::NotFound)
        );
        assert!(world.ask(&delete("d", true)).is_ok());
        assert_eq!(world.ask(&exists("d")), Ok(VfsReply::Exists(false)));
        for root in [delete(".", true), rename(".", "x"), rename("x", ".")] {
            let code = world.ask(&root).unwrap_err().code();
            assert!(matches!(code, -32602 | -32001), "{code}");
        }
    });
}

#[test]
fn a_tree_with_a_denied_file_stays_whole() {
    both(|world| {
        let world = world
            .with("d/a", "a")
            .with("d/sub/keep", "k")
            .with("d/z", "z")
            .allow(".", "rcud")
            .allow("d/sub/keep", "r");
        let error = world.ask(&delete("d", true)).unwrap_err();
        assert_eq!(error.code(), -32001, "{error}");
        for path in ["d/a", "d/sub/keep", "d/z"] {
            assert!(world.content(path).is_some(), "{path} is gone");
        }
    });
}

#[test]
fn x65_the_parent_of_a_denied_path_cannot_be_moved() {
    both(|world| {
        let world = world
            .with("d/secret/key", "k")
            .with("d/a", "a")
            .with("e/x", "x")
            .allow(".", "rcud")
            .allow("d/secret", "")
            .allow("t/secret", "");
        assert_eq!(
            kind(world.ask(&rename("d", "moved"))),
            Err(ErrorKind::DeniedByRule)
        );
        assert_eq!(
            kind(world.ask(&delete("d", true))),
            Err(ErrorKind::DeniedByRule)
        );
        // Nor can a directory be moved to where a rule waits for something below it.
        assert_eq!(
            kind(world.ask(&rename("e", "t"))),
            Err(ErrorKind::DeniedByRule)
        );
        assert!(world.ask(&rename("d/a", "b")).is_ok());
        assert_eq!(world.content("d/secret/key").as_deref(), Some("k"));
    });
}

#[test]
fn x50_a_move_needs_delete_there_and_create_here() {
    let check = |from: &str, to: &str, expected: bool| {
        both(|world| {
            let world = world.with("a/f", "f").allow("a", from).allow("b", to);
            let moved = world.ask(&rename("a/f", "b/f")).is_ok();
            assert_eq!(moved, expected, "{from} to {to}");
        });
    };
    check("d", "c", true);
    check("ru", "c", false);
    check("d", "ru", false);
}

#[test]
fn v060_v064_grep_finds_lines_and_skips_what_may_not_be_read() {
    both(|world| {
        let world = world
            .with("src/main.rs", "fn main() {\n    x();\n}\n")
            .with("src/b.txt", "fn main\n")
            .with("secret/main.rs", "fn main() {}\n")
            .with("prod.env", "fn main\n")
            .allow(".", "r")
            .allow("secret", "");
        let grep = |paths: Option<Vec<&'static str>>| {
            VfsRequest::FsGrep(FsGrep {
                paths: paths.map(|paths| paths.into_iter().map(Into::into).collect()),
                extensions: Some(vec!["rs".into()]),
                context: 1,
                ..FsGrep::new("fn main")
            })
        };
        let Ok(VfsReply::Grep(reply)) = world.ask(&grep(None)) else {
            panic!("something may be searched");
        };
        assert_eq!(reply.matches.len(), 1);
        let file = &reply.matches[0];
        assert_eq!(file.path, "src/main.rs");
        let lines: Vec<(u64, &str, bool)> = file
            .lines
            .iter()
            .map(|line| (line.line_number, line.content.as_ref(), line.is_match))
            .collect();
        assert_eq!(lines, [(1, "fn main() {", true), (2, "    x();", false)]);
        assert!(reply.skipped >= 1, "{}", reply.skipped);
        assert_eq!(
            kind(world.ask(&grep(Some(vec!["secret"])))),
            Err(ErrorKind::DeniedByRule)
        );
        assert_eq!(
            kind(world.ask(&grep(Some(vec!["../x"])))),
            Err(ErrorKind::Escape)
        );
        assert_eq!(
            kind(world.ask(&grep(Some(vec!["none"])))),
            Err(ErrorKind::NotFound)
        );
        let bad = VfsRequest::FsGrep(FsGrep::new("("));
        assert_eq!(kind(world.ask(&bad)), Err(ErrorKind::InvalidParams));
    });
}

#[test]
fn grep_walks_to_what_a_rule_opens_further_down() {
    both(|world| {
        let world = world
            .with("a/open/f", "needle")
            .with("a/closed/f", "needle")
            .with("g", "needle")
            .allow("a/open", "r");
        for paths in [None, Some(vec![".".into()]), Some(vec!["a".into()])] {
            let request = VfsRequest::FsGrep(FsGrep {
                paths,
                ..FsGrep::new("needle")
            });
            let Ok(VfsReply::Grep(reply)) = world.ask(&request) else {
                panic!("something may be searched");
            };
            let found: Vec<&str> = reply
                .matches
                .iter()
                .map(|file| file.path.as_ref())
                .collect();
            assert_eq!(found, ["a/open/f"]);
        }
    });
}

#[test]
fn mkdir_makes_directories() {
    both(|world| {
        let mut world = world.with("f", "");
        world.default = DefaultAccess {
            fs: FileCapabilities::ALL,
            commands: false,
        };
        assert!(world.ask(&mkdir("a/b/c")).is_ok());
        assert!(world.ask(&mkdir("a/b/c")).is_ok());
        assert_eq!(names(world.ask(&list("a/b")).unwrap()), ["c"]);
        assert!(world.ask(&mkdir("f")).is_err());
    });
}

#[test]
fn links_are_judged_by_where_they_lead() {
    both(|world| {
        let world = world
            .with("secret/key", "k")
            .with("open/x", "x")
            .with_link("open/alias", "../secret")
            .with_link("secret/way-out", "../open")
            .allow("open", "rcud");
        assert!(world.ask(&read("open/alias/key")).is_err());
        assert!(world.ask(&write("open/alias/new", "x")).is_err());
        assert_eq!(world.content("secret/new"), None);
        assert!(world.ask(&read("secret/way-out/x")).is_ok());
    });
}

#[test]
fn x40_secrets_are_removed_from_files_names_lines_and_messages() {
    both(|world| {
        let world = world
            .with("a", "token: hunter22!")
            .with("b.bin", b"\xff hunter22")
            .with("x-hunter22", "")
            .allow(".", "r");
        world.secrets.remember("hunter22");
        let (content, size) = text(world.ask(&read("a")).unwrap());
        assert_eq!((content.as_str(), size), ("token: [REDACTED]!", 16));
        let (content, _) = text(world.ask(&read("b.bin")).unwrap());
        assert_eq!(content, format!("bytes {:?}", b"\xff [REDACTED]"));
        assert!(names(world.ask(&list(".")).unwrap()).contains(&"x-[REDACTED]".to_owned()));
        let reply = world
            .ask(&VfsRequest::FsGrep(FsGrep::new("token")))
            .unwrap();
        assert!(!format!("{reply:?}").contains("hunter22"));
        let error = world.ask(&read("none/hunter22")).unwrap_err();
        assert!(!format!("{error:?}").contains("hunter22"), "{error:?}");
        assert!(!format!("{:?}", world.log.entries()).contains("hunter22"));
        // In no two halves either.
        for cut in 0..16 {
            let part = |offset, length| {
                let read = FsRead {
                    offset: Some(offset),
                    length,
                    ..FsRead::new("a")
                };
                text(world.ask(&VfsRequest::FsRead(read)).unwrap()).0
            };
            let joined = part(0, Some(cut)) + &part(cut, None);
            for piece in ["hunt", "er22", "hu", "22"] {
                assert!(!joined.contains(piece), "{joined}");
            }
        }
    });
}

#[test]
fn what_is_quick_is_done_by_the_thread_that_asked() {
    let world = World::in_memory()
        .with("small", "x")
        .with("big", vec![b'x'; 1 << 20]);
    let broker = world.broker();
    let check = |request: VfsRequest<'_>, expected: bool| match broker.judge(&request) {
        JudgedRequest::Ready(work) => assert_eq!(work.is_quick(), expected, "{request:?}"),
        other => panic!("{other:?}"),
    };
    check(read("small"), true);
    check(exists("small"), true);
    check(read("big"), false);
    check(VfsRequest::FsGrep(FsGrep::new("x")), false);
}

#[test]
fn v157_a_cancelled_request_is_not_done() {
    both(|world| {
        let world = world.allow(".", "rcud").with("a", "a");
        for request in [write("b", "x"), delete("a", false)] {
            let JudgedRequest::Ready(work) = world.broker().judge(&request) else {
                panic!("it is allowed");
            };
            work.cancel_token().cancel();
            assert_eq!(work.perform().unwrap_err().code(), -32005);
        }
        assert_eq!(world.content("a").as_deref(), Some("a"));
        assert_eq!(world.content("b"), None);
    });
}

#[test]
fn a_file_that_appears_between_judging_and_writing_is_judged_as_an_update() {
    both(|world| {
        let world = world.allow(".", "rc");
        let JudgedRequest::Ready(work) = world.broker().judge(&write("a", "mine")) else {
            panic!("it may be created");
        };
        let mut world = world;
        world.put("a", "theirs");
        let error = work.perform().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DeniedByRule, "{error}");
        assert_eq!(world.content("a").as_deref(), Some("theirs"));
        let world = world.allow(".", "rcu");
        let JudgedRequest::Ready(work) = world.broker().judge(&write("b", "mine")) else {
            panic!("it may be created");
        };
        let mut world = world;
        world.put("b", "theirs");
        assert!(work.perform().is_ok());
        assert_eq!(world.content("b").as_deref(), Some("mine"));
    });
}

#[test]
fn an_open_file_is_handed_over_only_where_its_content_may_go_as_it_is() {
    let open = |path: &'static str| {
        VfsRequest::FsRead(FsRead {
            fd: true,
            ..FsRead::new(path)
        })
    };
    let check = |world: &World, request: &VfsRequest<'_>, reaches: bool, expected: Option<&str>| {
        let JudgedRequest::Ready(work) = world.broker().judge(request) else {
            panic!("{request:?} is allowed");
        };
        let mut seen = None;
        let handed_over = work.hand_over(|file| {
            let mut content = [0; 64];
            let length = rustix::io::read(file, &mut content).unwrap();
            let content = String::from_utf8_lossy(&content[..length]).into_owned();
            assert!(rustix::io::write(file, b"x").is_err(), "only for reading");
            assert!(rustix::fs::ftruncate(file, 0).is_err(), "only for reading");
            seen = Some(content);
            reaches
        });
        assert_eq!(seen.as_deref(), expected);
        match handed_over {
            Ok(reply) => {
                assert!(reaches && expected.is_some());
                let size = expected.map_or(0, str::len) as u64;
                let etag = None;
                assert_eq!(reply, VfsReply::Descriptor(DescriptorReply { size, etag }));
            }
            Err(work) => {
                assert!(!reaches || expected.is_none());
                text(work.perform().unwrap());
            }
        }
        let outcomes = world.log.entries().into_iter().map(|one| one.outcome);
        let outcomes: Vec<_> = outcomes.collect();
        assert_eq!(outcomes, [Some("ok".to_owned())], "it is logged once");
    };
    let disk = || World::on_disk().with("a.txt", "content");
    check(&disk(), &open("a.txt"), true, Some("content"));
    check(&disk(), &open("a.txt"), false, Some("content"));
    check(&disk(), &read("a.txt"), true, None);
    let part = FsRead {
        fd: true,
        offset: Some(1),
        ..FsRead::new("a.txt")
    };
    check(&disk(), &VfsRequest::FsRead(part), true, None);
    let secret = disk();
    secret.secrets.remember("a secret that is long enough");
    check(&secret, &open("a.txt"), true, None);
    let memory = World::in_memory().with("a.txt", "content");
    check(&memory, &open("a.txt"), true, None);

    // What is no file has nothing to hand over, and the error is that of reading.
    let world = disk().with("d/b.txt", "");
    for (path, expected) in [("d", ErrorKind::IsDir), ("none", ErrorKind::NotFound)] {
        let JudgedRequest::Ready(work) = world.broker().judge(&open(path)) else {
            panic!("{path} may be read");
        };
        let Err(work) = work.hand_over(|_| panic!("there is nothing to hand over")) else {
            panic!("{path} was handed over");
        };
        assert_eq!(kind(work.perform()), Err(expected));
    }
    let denied = disk().allow("a.txt", "");
    assert!(matches!(
        denied.broker().judge(&open("a.txt")),
        JudgedRequest::Refused(_)
    ));
}
