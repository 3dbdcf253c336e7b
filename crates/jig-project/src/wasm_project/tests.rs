use super::*;

#[test]
fn names_are_taken_or_another_is_suggested() {
    let check = |text: &str, expected: Result<&str, Option<&str>>| {
        let name = ProjectName::parse(text);
        match expected {
            Ok(kebab) => assert_eq!(name.unwrap().kebab(), kebab, "{text}"),
            Err(other) => {
                assert!(name.is_err(), "{text}");
                let suggested = suggestion(text);
                assert_eq!(suggested.as_deref(), other, "{text}");
                // What is suggested must be taken.
                if let Some(other) = other {
                    assert!(ProjectName::parse(other).is_ok(), "{other}");
                }
            }
        }
    };
    check("count", Ok("count"));
    check("word-count", Ok("word-count"));
    check("word_count", Ok("word-count"));
    check("a1-b2", Ok("a1-b2"));
    check("", Err(None));
    check("-", Err(None));
    check("word-", Err(Some("word")));
    check("Word Count!", Err(Some("word-count")));
    check("wordCount", Err(Some("word-count")));
    check("../../etc/passwd", Err(Some("etc-passwd")));
    check("word--count", Err(Some("word-count")));
    check("2words", Err(Some("words")));
    check("word-2", Err(Some("word")));
    check("std", Err(Some("std-tool")));
    check("Test", Err(Some("test-tool")));
    check("serde-json", Err(Some("serde-json-tool")));
    check("日本語", Err(None));
    check(&"a".repeat(51), Err(Some(&"a".repeat(50))));
    check("\u{1b}[31mred", Err(Some("mred")));
}

#[test]
fn a_name_takes_the_place_of_the_templates_own() {
    let name = ProjectName::parse("word-count").unwrap();
    assert_eq!(
        name.put_into("my-tool my_tool tools"),
        "word-count word_count tools"
    );
}

/// Every template is whole: the name of none is left over, and what is printed names files that are there.
#[test]
fn templates_are_whole() {
    let name = ProjectName::parse("word-count").unwrap();
    for template in [&RUST, &PYTHON, &JS] {
        let paths: Vec<&str> = template.files.iter().map(|(path, _)| *path).collect();
        for (path, text) in template.files {
            let text = name.put_into(text);
            assert!(
                !text.contains("my-tool") && !text.contains("my_tool"),
                "{path}"
            );
            assert!(text.ends_with('\n'), "{path}");
        }
        assert!(paths.contains(&template.main), "{paths:?}");
        for path in ["README.md", "jig.toml", "wit/world.wit", ".gitignore"] {
            assert!(paths.contains(&path), "{} has no {path}", template.language);
        }
        let config = template.files.iter().find(|(path, _)| *path == "jig.toml");
        let wasm = format!("wasm = \"{}\"", template.component);
        assert!(config.unwrap().1.contains(&wasm), "{wasm}");
        let readme = template.files.iter().find(|(path, _)| *path == "README.md");
        for step in template.build.split(" && ") {
            assert!(readme.unwrap().1.contains(step), "README: {step}");
        }
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let files = [("a/b.txt", "new".to_owned()), ("c.txt", "new".to_owned())];
    let names = || {
        let mut names: Vec<_> = std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    make(&root.join("fresh"), &files).unwrap();
    assert_eq!(
        std::fs::read_to_string(root.join("fresh/a/b.txt")).unwrap(),
        "new"
    );
    // What is there stays, whatever it is.
    std::fs::write(root.join("fresh/c.txt"), "mine").unwrap();
    std::fs::write(root.join("file"), "mine").unwrap();
    for taken in ["fresh", "file"] {
        let error = make(&root.join(taken), &files).unwrap_err();
        assert!(
            format!("{error}").contains("already something"),
            "{error:#}"
        );
    }
    assert_eq!(
        std::fs::read_to_string(root.join("fresh/c.txt")).unwrap(),
        "mine"
    );
    // An empty folder is nothing to lose.
    std::fs::create_dir(root.join("empty")).unwrap();
    make(&root.join("empty"), &files).unwrap();
    make(&root.join("deep/er/one"), &files).unwrap();
    assert_eq!(
        names(),
        ["deep", "empty", "file", "fresh"],
        "nothing is left over"
    );
}
