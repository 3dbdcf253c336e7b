use super::Method;

#[test]
fn v040_each_name_parses_to_its_method() {
    for method in Method::ALL {
        assert_eq!(Method::parse(method.name()), Some(method));
        assert!(
            ["fs.", "http.", "process."]
                .iter()
                .any(|group| method.name().starts_with(group))
        );
    }
    for other in [
        "", "fs", "fs.", "read", "FS.READ", "fs.read ", "fs.Read", "fs.chmod",
    ] {
        assert_eq!(Method::parse(other), None, "{other}");
    }
}

#[test]
fn all_lists_every_method_once_in_order() {
    assert!(Method::ALL.is_sorted());
    let mut names: Vec<&str> = Method::ALL.iter().map(|method| method.name()).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), Method::ALL.len());
}

#[test]
fn x07_bare_names_mean_the_canonical_ones() {
    let check = |name: &str, expected: Option<Method>| {
        assert_eq!(Method::meant_by(name), expected, "{name}");
    };
    check("read", Some(Method::FsRead));
    check("write", Some(Method::FsWrite));
    check("append", Some(Method::FsAppend));
    check("patch", Some(Method::FsPatch));
    check("exists", Some(Method::FsExists));
    check("list_dir", Some(Method::FsListDir));
    check("metadata", Some(Method::FsMetadata));
    check("mkdir", Some(Method::FsMkdir));
    check("delete", Some(Method::FsDelete));
    check("rename", Some(Method::FsRename));
    check("grep", Some(Method::FsGrep));
    check("http_get", Some(Method::HttpGet));
    check("http_post", Some(Method::HttpPost));
    check("run", Some(Method::ProcessRun));
    check("process_run", Some(Method::ProcessRun));
    check("start", Some(Method::ProcessStart));
    check("process_read", Some(Method::ProcessRead));
    check("process/write", Some(Method::ProcessWrite));
    check("stop", Some(Method::ProcessStop));
    check("fs_read", Some(Method::FsRead));
    check("fs/list_dir", Some(Method::FsListDir));
    check("fs.chmod", None);
    check("", None);
    check("fs_", None);
    check("result", None);
}
