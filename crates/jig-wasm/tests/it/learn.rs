//! The built-in component `learn`, with what the host tells it of a topic (W-030, W-050 to W-055).
#![expect(clippy::disallowed_types, reason = "a test makes a file of a gigabyte")]

use crate::common::{Done, On, Tried, project_path};
use jig_policy::DefaultAccess;
use jig_proto::Action;
use jig_runtime::{ComponentSource, Mount};
use serde_json::{Value, json};

/// A topic in `kb`, with a few subjects.
fn topic(on: On) -> Tried {
    empty_topic(on)
        .file("kb/errors/handling.md", "Use thiserror.\n")
        .file("kb/errors/deep/er.md", "deep\n")
        .file("kb/naming.md", "# Naming\n\nNo abbreviations.\n")
        .file("kb/script.py", "print('hi')\n")
        .file("kb/plain", "no extension\n")
        .file("kb/.secret.md", "hidden\n")
        .file("kb/.drafts/idea.md", "hidden too\n")
        .file("outside.md", "not of the topic\n")
}

fn empty_topic(on: On) -> Tried {
    let mount = Mount {
        guest: "/subjects".to_owned(),
        path: project_path("kb"),
        writable: false,
    };
    Tried::of(
        on,
        "learn",
        ComponentSource::Embedded(jig_wasm::builtin::LEARN),
    )
    .mounts(vec![mount])
    .default_access(DefaultAccess::BUILTIN)
}

/// Arguments as the engine hands them on.
fn told(subjects: Value, topic: Value) -> Value {
    let mut all = json!({
        "title": "House style",
        "description": "How we write.",
        "disabled": [],
        "learned": [],
        "directory": "kb",
    });
    for (key, value) in topic.as_object().into_iter().flatten() {
        all[key] = value.clone();
    }
    match subjects {
        Value::Null => json!({ "topic": "style", "_topic": all }),
        subjects => json!({ "topic": "style", "subjects": subjects, "_topic": all }),
    }
}

fn load(on: On, subjects: Value) -> Done {
    topic(on).arguments(told(subjects, json!({}))).run()
}

fn on_both(check: impl Fn(On)) {
    On::ALL.into_iter().for_each(check);
}

/// W-052, W-053.
#[test]
fn without_subjects_it_lists_them() {
    on_both(|on| {
        let done = topic(on)
            .arguments(told(
                Value::Null,
                json!({ "learned": ["naming"], "disabled": ["plain"] }),
            ))
            .run();
        let expected = "\
# House style

How we write.

Subjects that can be loaded, by name or by pattern (`*`, `**`):

- errors/deep/er
- errors/handling
- script

Already loaded:

- naming
";
        assert_eq!(done.text(), expected, "{on:?}");
        for nothing in [json!([]), json!(""), json!("  "), json!([""])] {
            let again = load(on, nothing.clone());
            assert!(
                again.text().starts_with("# House style\n"),
                "{on:?} {nothing}"
            );
            assert!(!again.text().contains("secret"), "{on:?} {nothing}");
            assert!(!again.text().contains("drafts"), "{on:?} {nothing}");
        }
    });
}

#[test]
fn a_topic_without_subjects_says_so() {
    on_both(|on| {
        let list = |learned: Value| {
            let arguments = told(
                Value::Null,
                json!({ "learned": learned, "description": null }),
            );
            let one = empty_topic(on)
                .file("kb/.hidden.md", "x")
                .file("kb/only.md", "x");
            let done = one.arguments(arguments).run();
            done.text().to_owned()
        };
        let expected =
            "# House style\n\nThere is nothing more to load.\n\nAlready loaded:\n\n- only\n";
        assert_eq!(list(json!(["*"])), expected);
        // A hidden one is pre-loaded only by its exact name.
        let expected = "# House style\n\nThere is nothing more to load.\n\nAlready loaded:\n\n- hidden\n- only\n";
        assert_eq!(list(json!(["**", "hidden"])), expected);
        let nothing = empty_topic(on)
            .file("kb/.x.md", "x")
            .arguments(told(Value::Null, json!({})))
            .run();
        let expected = "# House style\n\nHow we write.\n\nThis topic has no subjects yet.\n";
        assert_eq!(nothing.text(), expected);
        let missing = empty_topic(on)
            .arguments(told(Value::Null, json!({})))
            .run();
        assert_eq!(
            missing.error().message,
            "the topic `House style` has no subjects: `kb` does not exist\nhint: create the directory, or \
             correct `subjects` of the topic"
        );
    });
}

/// W-050, W-053: which names and patterns ask for which subjects, in which order.
#[test]
fn names_and_patterns() {
    let names = |done: &Done| -> Vec<String> {
        let lines = done.text().lines();
        let names =
            lines.filter_map(|line| line.strip_prefix("<subject name=\"")?.strip_suffix("\">"));
        names.map(str::to_owned).collect()
    };
    on_both(|on| {
        let check = |subjects: Value, expected: &[&str]| {
            let done = load(on, subjects.clone());
            assert_eq!(names(&done), expected, "{on:?} {subjects}");
        };
        check(json!(["naming", "plain"]), &["naming", "plain"]);
        check(json!(["plain", "naming", "plain"]), &["plain", "naming"]);
        check(json!("*"), &["naming", "plain", "script"]);
        check(json!(["*"]), &["naming", "plain", "script"]);
        check(
            json!("**"),
            &[
                "errors/deep/er",
                "errors/handling",
                "naming",
                "plain",
                "script",
            ],
        );
        check(
            json!(["script", "**"]),
            &[
                "script",
                "errors/deep/er",
                "errors/handling",
                "naming",
                "plain",
            ],
        );
        check(json!("errors/**"), &["errors/deep/er", "errors/handling"]);
        assert_eq!(load(on, json!("**/er*")).text(), "deep\n", "{on:?}");
        check(
            json!(["errors/*", "*/*/*"]),
            &["errors/handling", "errors/deep/er"],
        );
        check(
            json!("**/?*i*"),
            &["errors/handling", "naming", "plain", "script"],
        );
        check(json!(["secret", "drafts/idea"]), &["secret", "drafts/idea"]);
        // By its file, which a model may have seen.
        check(json!(["naming.md", "./script.py"]), &["naming", "script"]);
        check(json!(["*.md", "plain"]), &["naming", "plain"]);
        // A list in a string.
        check(json!("[\"naming\", \"plain\"]"), &["naming", "plain"]);
        // Patterns never reach what is hidden.
        check(
            json!([".*", "**/.*", ".drafts/*", "naming", "plain"]),
            &["naming", "plain"],
        );
    });
}

#[test]
fn one_subject_is_its_content_alone() {
    on_both(|on| {
        assert_eq!(
            load(on, json!("naming")).text(),
            "# Naming\n\nNo abbreviations.\n"
        );
        assert_eq!(
            load(on, json!(["errors/handling"])).text(),
            "Use thiserror.\n"
        );
        assert_eq!(load(on, json!("plain")).text(), "no extension\n");
        assert_eq!(load(on, json!("secret")).text(), "hidden\n");
        assert_eq!(
            load(on, json!("script")).text(),
            "```python\nprint('hi')\n```\n"
        );
    });
}

#[test]
fn several_are_wrapped_with_their_names() {
    on_both(|on| {
        let done = load(on, json!(["errors/handling", "script", "nothing"]));
        let expected = "\
<subject name=\"errors/handling\">
Use thiserror.
</subject>

<subject name=\"script\">
```python
print('hi')
```
</subject>

[no subject matches `nothing`]
";
        assert_eq!(done.text(), expected, "{on:?}");
        let odd = empty_topic(on)
            .file("kb/a.md", "one")
            .file("kb/a.txt", "two")
            .file("kb/b \"<&.md", "")
            .arguments(told(json!("*"), json!({})))
            .run();
        let expected = "\
<subject name=\"a.md\">
one
</subject>

<subject name=\"a.txt\">
two
</subject>

<subject name=\"b &quot;&lt;&amp;\">
</subject>

[`b \"<&` is empty]
";
        assert_eq!(odd.text(), expected, "{on:?}");
    });
}

/// Disabled wins over everything, in whatever spelling it was written.
#[test]
fn disabled_subjects_are_not_there() {
    on_both(|on| {
        for disabled in ["secret", ".secret", "secret.md", ".secret.md", "s*t", "**"] {
            let topic_info = json!({ "disabled": [disabled], "learned": ["secret"] });
            for subjects in [
                json!("secret"),
                json!(".secret.md"),
                json!(["secret", ".secret"]),
            ] {
                let done = topic(on)
                    .arguments(told(subjects.clone(), topic_info.clone()))
                    .run();
                let error = done.error();
                assert!(
                    error
                        .message
                        .starts_with("no subject of `House style` matches"),
                    "{on:?} {disabled} {subjects}: {}",
                    error.message
                );
            }
            let listed = topic(on).arguments(told(Value::Null, topic_info)).run();
            assert!(!listed.text().contains("secret"), "{on:?} {disabled}");
        }
        let done = topic(on)
            .arguments(told(
                json!("**"),
                json!({ "disabled": ["errors/**", "plain"] }),
            ))
            .run();
        assert!(done.text().contains("<subject name=\"naming\">"));
        assert!(!done.text().contains("thiserror") && !done.text().contains("no extension"));
    });
}

/// W-054.
#[test]
fn formats() {
    on_both(|on| {
        let check = |file: &str, content: &str, expected: &str| {
            let done = empty_topic(on)
                .file(&format!("kb/{file}"), content)
                .arguments(told(json!("x"), json!({})))
                .run();
            assert_eq!(done.text(), expected, "{on:?} {file}");
        };
        check("x.md", "```\ncode\n```", "```\ncode\n```");
        check("x.MD", "text", "text");
        check("x.txt", "text", "text");
        check("x.text", "text", "text");
        check("x", "text", "text");
        check("x.rs", "fn x() {}\n", "```rust\nfn x() {}\n```\n");
        check("x.toml", "a = 1", "```toml\na = 1\n```\n");
        check("x.yml", "a: 1\n", "```yaml\na: 1\n```\n");
        check(
            "x.rs",
            "/// ```\n/// ````\n",
            "`````rust\n/// ```\n/// ````\n`````\n",
        );
        check("x.we ird`", "a", "```weird\na\n```\n");
        check("x.json", "", "```json\n```\n");
        check(".x", "hidden\n", "hidden\n");
        check(".x.rs", "hidden\n", "```rust\nhidden\n```\n");
    });
}

#[test]
fn what_is_no_text_is_skipped_with_a_word() {
    on_both(|on| {
        let one = |content: Vec<u8>| {
            empty_topic(on)
                .file("kb/logo.png", content)
                .file("kb/a.md", "a\n")
        };
        let done = one(b"\x89PNG\0\x01".to_vec())
            .arguments(told(json!("logo"), json!({})))
            .run();
        assert_eq!(
            done.text(),
            "[`logo` (`logo.png`, 6 bytes) is binary and was not loaded]\n"
        );
        let done = one(b"\x89PNG\0\x01".to_vec())
            .arguments(told(json!("*"), json!({})))
            .run();
        let expected = "<subject name=\"a\">\na\n</subject>\n\n[`logo` (`logo.png`, 6 bytes) is binary and was not loaded]\n";
        assert_eq!(done.text(), expected);
        // The first 8,192 bytes tell.
        let mut late = vec![b'a'; 8192];
        late.push(0);
        assert!(
            one(late.clone())
                .arguments(told(json!("logo"), json!({})))
                .run()
                .text()
                .starts_with("```png\naaa")
        );
        late[8191] = 0;
        assert!(
            one(late)
                .arguments(told(json!("logo"), json!({})))
                .run()
                .text()
                .contains("is binary")
        );
        // Other encodings than UTF-8 are shown as far as that goes.
        let done = one(b"caf\xe9\n".to_vec())
            .arguments(told(json!("logo"), json!({})))
            .run();
        assert_eq!(done.text(), "```png\ncaf\u{fffd}\n```\n");
    });
}

#[test]
fn a_name_that_matches_nothing_is_answered_with_near_ones() {
    on_both(|on| {
        let check = |subjects: Value, expected: &str| {
            let done = load(on, subjects);
            assert_eq!(done.error().message, expected, "{on:?}");
            assert!(!done.error().transient);
        };
        check(
            json!("nameing"),
            "no subject of `House style` matches `nameing`\nhint: did you mean `naming`?",
        );
        check(
            json!(["handlign"]),
            "no subject of `House style` matches `handlign`\nhint: did you mean `errors/handling`?",
        );
        check(
            json!(["zzzzzz", "*/zzzzzz"]),
            "no subject of `House style` matches `zzzzzz`, `*/zzzzzz`\nhint: the 5 subjects are \
             `errors/deep/er`, `errors/handling`, `naming`, `plain`, `script`",
        );
    });
}

/// W-055.
#[test]
fn bad_arguments() {
    on_both(|on| {
        let check = |arguments: Value, expected: &str| {
            let done = topic(on).arguments(arguments).run();
            let error = done.error();
            assert_eq!(error.message, expected);
            assert!(!error.transient && error.trace.is_empty());
        };
        check(
            json!({ "subjects": 7 }),
            "Invalid arguments: invalid type: integer `7`, expected `subjects` as a string or a list of strings at line 1 column 13",
        );
        check(
            json!({ "subjects": [{}] }),
            "Invalid arguments: invalid type: map, expected a string at line 1 column 13",
        );
        check(
            json!({ "_topic": 1 }),
            "Invalid arguments: invalid type: integer `1`, expected struct TopicInfo at line 1 column 11",
        );
        let many = vec!["a"; 201];
        let done = topic(on).arguments(json!({ "subjects": many })).run();
        assert!(
            done.error()
                .message
                .starts_with("Invalid arguments: `subjects` has more than 200 items")
        );
    });
}

#[test]
fn arguments_are_shown_in_one_line() {
    let check = |arguments: Value, expected: &str| {
        let done = topic(On::Memory)
            .action(Action::FormatArguments)
            .arguments(arguments)
            .run();
        assert_eq!(done.text(), expected);
    };
    check(json!({ "topic": "style" }), "list the subjects of `style`");
    check(
        told(Value::Null, json!({})),
        "list the subjects of `House style`",
    );
    check(
        told(json!("a\nb"), json!({})),
        "load `a\\nb` of `House style`",
    );
    check(json!({}), "list the subjects of `this topic`");
    let many: Vec<String> = (0..10).map(|number| format!("s{number}")).collect();
    check(
        told(json!(many), json!({})),
        "load `s0`, `s1`, `s2`, `s3`, `s4`, `s5`, `s6`, `s7` and 2 more of `House style`",
    );
}

/// W-020, W-025: nothing outside of the topic, by no name.
#[test]
fn it_sees_the_topic_and_nothing_else() {
    on_both(|on| {
        for name in [
            "../outside",
            "../outside.md",
            "/outside",
            "..",
            ".",
            "/subjects/naming",
            "errors/../../outside",
            "a\0b",
        ] {
            let done = load(on, json!(name));
            assert!(
                done.error().message.starts_with("no subject of"),
                "{on:?} {name}"
            );
        }
        let linked = topic(on)
            .link("kb/out.md", "../outside.md")
            .link("kb/in.md", "naming.md")
            .link("kb/circle", ".")
            .link("kb/gone.md", "nowhere");
        let listed = linked.arguments(told(Value::Null, json!({}))).run();
        assert!(
            listed.text().contains("- in\n"),
            "{on:?}: {}",
            listed.text()
        );
        for absent in ["- out", "- circle", "- gone"] {
            assert!(!listed.text().contains(absent), "{on:?}: {}", listed.text());
        }
        let loaded = topic(on)
            .link("kb/out.md", "../outside.md")
            .arguments(told(json!("**"), json!({})))
            .run();
        assert!(!loaded.text().contains("not of the topic"), "{on:?}");
    });
}

/// The user's rules on `learn` narrow what it may read.
#[test]
fn rules_narrow_it() {
    on_both(|on| {
        let narrowed =
            || topic(on).rules("fs = [{ path = \"kb\", read = true }, { path = \"kb/errors\" }]");
        let listed = narrowed().arguments(told(Value::Null, json!({}))).run();
        assert!(listed.text().contains("- naming"), "{on:?}");
        assert!(
            !listed.text().contains("errors"),
            "{on:?}: {}",
            listed.text()
        );
        let loaded = narrowed()
            .arguments(told(json!("errors/handling"), json!({})))
            .run();
        assert!(
            loaded.error().message.starts_with("no subject of"),
            "{on:?}"
        );
        let loaded = narrowed().arguments(told(json!("**"), json!({}))).run();
        assert!(!loaded.text().contains("thiserror"), "{on:?}");
    });
}

#[test]
fn long_answers_are_bounded() {
    on_both(|on| {
        let with = |most: Value| {
            empty_topic(on)
                .file("kb/a.rs", "é".repeat(5000))
                .file("kb/b.md", "b".repeat(3000))
                .file("kb/c.md", "small\n")
                .arguments(told(json!("*"), json!({ "most": most })))
                .run()
        };
        let done = with(json!(8000));
        let text = done.text();
        assert!(text.len() <= 8000, "{}", text.len());
        // The fence is closed, no character is cut in half, and what is missing is named.
        assert!(text.starts_with("<subject name=\"a\">\n```rust\né"));
        assert!(text.contains("é\n```\n</subject>\n"), "{text}");
        assert!(!text.contains('\u{fffd}'));
        assert!(
            text.contains("[only the first 6912 bytes of `a` are shown, of 10000 bytes]"),
            "{text}"
        );
        assert!(
            text.contains(
                "left out, because the answer would be too long: `b`, `c`; load them apart"
            ),
            "{text}"
        );
        assert!(with(json!(u64::MAX)).text().len() > 13_000);
        assert!(with(json!(0)).text().len() <= 2048);
    });
}

/// A file that is larger than anything is read only as far as it is shown.
#[test]
fn a_file_of_a_gigabyte() {
    let load = |begin: &str| {
        let tried = empty_topic(On::Disk).file("kb/big.md", begin);
        let options = std::fs::File::options().write(true).clone();
        let file = options.open(tried.folder().join("kb/big.md")).unwrap();
        file.set_len(1 << 30).unwrap();
        tried.arguments(told(json!("big"), json!({}))).run()
    };
    // A hole reads as NUL.
    let done = load("begin\n");
    let expected = "[`big` (`big.md`, 1024 MB) is binary and was not loaded]\n";
    assert_eq!(done.text(), expected);
    let done = load(&"text ".repeat(60_000));
    assert!(done.text().len() <= 256 * 1024);
    let note = "[only the first 255 KB of `big` are shown, of 1024 MB]\n";
    assert!(done.text().ends_with(note));
}

/// A topic of this many files, a hundred in each directory at most.
fn many(count: usize) -> Tried {
    (0..count).fold(empty_topic(On::Memory), |tried, number| {
        tried.file(&format!("kb/n{:04}/s{number:06}.md", number / 100), "x\n")
    })
}

#[test]
fn a_topic_of_a_hundred_thousand_files() {
    let done = many(100_000).arguments(told(Value::Null, json!({}))).run();
    assert!(done.text().len() < 64 * 1024, "{}", done.text().len());
    let end = "- … and 99000 more: load them by pattern\n";
    assert!(done.text().ends_with(end));
    // An exact name does not need a look at everything.
    let again = done
        .tried
        .arguments(told(json!("n0999/s099999"), json!({})));
    assert_eq!(again.run().text(), "x\n");
}

#[test]
fn patterns_that_match_too_much_and_names_among_many() {
    let done = many(2000).arguments(told(json!("**"), json!({}))).run();
    let more = "[1000 more subjects match: narrow the pattern]";
    assert!(done.text().contains(more));
    let again = done
        .tried
        .arguments(told(json!("s000042"), json!({})))
        .run();
    let message = &again.error().message;
    assert!(
        message.contains("did you mean `n0000/s000042`"),
        "{message}"
    );
}

/// What the host asks for a system prompt.
#[test]
fn a_survey_is_data() {
    on_both(|on| {
        let told = told(
            Value::Null,
            json!({ "survey": true, "most": 9000, "learned": ["script", "errors/*", "secret"], "disabled": ["plain"] }),
        );
        let done = topic(on).arguments(told).run();
        let answer: Value = serde_json::from_str(done.text()).unwrap();
        let expected = json!({
            "subjects": ["errors/deep/er", "naming"],
            "more": 0,
            "learned": [
                { "name": "errors/handling", "text": "Use thiserror.\n" },
                { "name": "script", "text": "```python\nprint('hi')\n```\n" },
                { "name": "secret", "text": "hidden\n" },
            ],
            "notes": [],
        });
        assert_eq!(answer, expected, "{on:?}");
    });
}

/// Whatever a caller sends, the component answers.
#[test]
fn no_arguments_make_it_panic() {
    let long = "a".repeat(100_000);
    let stars = "*a".repeat(50_000);
    for subjects in [
        json!(long),
        json!(stars),
        json!("**/".repeat(1000)),
        json!("?".repeat(1000)),
        json!("\u{0}\u{1b}[31m"),
        json!("[1, 2]"),
        json!("[\"a\""),
        json!("🦀/**/🦀"),
        json!("////"),
        json!(vec!["**"; 200]),
    ] {
        let done = load(On::Memory, subjects.clone());
        let message = done.result.unwrap_or_else(|error| error.message);
        assert!(!message.contains("trapped"), "{subjects}: {message}");
        assert!(message.len() < 300_000);
    }
}
