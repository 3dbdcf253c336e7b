use super::*;

#[test]
fn rights_are_a_set() {
    let read_update = Rights::READ.with(Rights::UPDATE);
    assert!(read_update.has(Rights::READ) && read_update.has(Rights::NONE));
    assert!(!read_update.has(Rights::WRITE) && read_update.has_any(Rights::WRITE));
    assert!(!read_update.has_any(Rights::NONE));
    assert_eq!(read_update.without(Rights::WRITE), Rights::READ);
    assert_eq!(
        Rights::WRITE.with(Rights::READ).with(Rights::EXECUTE),
        Rights::ALL
    );
}

#[test]
fn rights_are_told_in_words_and_as_data() {
    #[track_caller]
    fn check(rights: Rights, words: &str, json: &str) {
        assert_eq!(rights.to_string(), words);
        assert_eq!(format!("{rights:?}"), words);
        assert_eq!(serde_json::to_string(&rights).unwrap(), json);
    }
    check(Rights::NONE, "nothing", "[]");
    check(
        Rights::READ.with(Rights::UPDATE),
        "read, update",
        r#"["read","update"]"#,
    );
    check(
        Rights::ALL,
        "read, create, update, delete, execute",
        r#"["read","create","update","delete","execute"]"#,
    );
}

/// What starts closed allows nothing, and says so whole.
#[test]
fn a_closed_profile_allows_nothing() {
    let profile = Profile::closed();
    assert_eq!(
        serde_json::to_string(&profile).unwrap(),
        r#"{"paths":[],"private":[],"files":[],"sealed":[],"pins":[],"replaced":[],"overlays":[],"network":"none","door":null,"enforce":"required","layers":{"namespaces":true,"landlock":255,"seccomp":true,"supervisor":true}}"#
    );
}

/// The content of private files may be secret, and is no part of what is told.
#[test]
fn contents_are_not_told() {
    for content in [
        PrivateContent::Text(b"secret".to_vec()),
        PrivateContent::Program(b"secret".to_vec()),
    ] {
        let json = serde_json::to_string(&content).unwrap();
        assert!(!json.contains("115") && !json.contains("secret"), "{json}");
        assert!(format!("{content:?}").ends_with("(6 bytes)"));
    }
}
