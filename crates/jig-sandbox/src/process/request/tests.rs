use super::*;

#[test]
fn programs_are_absolute_or_bare() {
    #[track_caller]
    fn check(text: &str, expected: bool) {
        let parsed = Program::parse(text);
        assert_eq!(parsed.is_ok(), expected, "{text:?}");
        if let Ok(program) = parsed {
            assert_eq!(program.as_os_str(), text);
        }
    }
    check("sh", true);
    check("a b", true);
    check("..x", true);
    for text in ["", ".", "..", "./sh", "bin/sh", "../sh", "sh/"] {
        check(text, false);
    }
    #[cfg(unix)]
    check("/bin/sh", true);
}

#[cfg(unix)]
#[test]
fn only_absolute_entries_are_searched() {
    #[track_caller]
    fn check(program: &str, path: Option<&str>, expected: &[&str]) {
        let program = Program::parse(program).unwrap();
        let mut env = ProgramEnvironment::new();
        env.extend(path.map(|path| ("PATH".into(), path.into())));
        let expected: Vec<PathBuf> = expected.iter().map(PathBuf::from).collect();
        assert_eq!(program.candidates(&env), expected);
    }
    check("sh", Some("/usr/bin:/bin"), &["/usr/bin/sh", "/bin/sh"]);
    check("sh", Some(":.:relative:/bin:"), &["/bin/sh"]);
    check("sh", Some(""), &[]);
    check("sh", None, &[]);
    check("/opt/sh", Some("/bin"), &["/opt/sh"]);
    check("/opt/sh", None, &["/opt/sh"]);
}
