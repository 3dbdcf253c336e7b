use super::{ProxyError, ProxyErrorCode};

#[test]
fn f024_the_seven_codes() {
    let names = ProxyErrorCode::ALL.map(ProxyErrorCode::name);
    assert_eq!(
        names,
        [
            "E_ARG",
            "E_NOENT",
            "E_PERM",
            "E_IO",
            "E_CLOSED",
            "E_UNSUPPORTED",
            "E_RANGE"
        ]
    );
    for code in ProxyErrorCode::ALL {
        assert_eq!(ProxyErrorCode::parse(code.name()), Some(code));
    }
    for name in ["", "ARG", "e_arg", "E_ARG ", "E_BADF"] {
        assert_eq!(ProxyErrorCode::parse(name), None, "{name:?}");
    }
}

#[test]
fn f022_f037_on_the_wire() {
    for (error, expected) in [
        (
            ProxyError::arg("missing path"),
            r#"{"code":"E_ARG","message":"missing path"}"#,
        ),
        (
            ProxyError::no_ent("a \"b\""),
            r#"{"code":"E_NOENT","message":"a \"b\""}"#,
        ),
        (ProxyError::perm("p"), r#"{"code":"E_PERM","message":"p"}"#),
        (ProxyError::io("i"), r#"{"code":"E_IO","message":"i"}"#),
        (
            ProxyError::closed(7),
            r#"{"code":"E_CLOSED","message":"handle 7 is not open"}"#,
        ),
        (
            ProxyError::unsupported("stat"),
            r#"{"code":"E_UNSUPPORTED","message":"stat"}"#,
        ),
        (
            ProxyError::range("r"),
            r#"{"code":"E_RANGE","message":"r"}"#,
        ),
    ] {
        assert_eq!(serde_json::to_string(&error).unwrap(), expected);
        assert_eq!(serde_json::from_str::<ProxyError>(expected).unwrap(), error);
    }
}

#[test]
fn a_code_of_a_newer_server_is_a_failure() {
    let json = r#"{"code":"E_BUSY","message":"come again"}"#;
    let error: ProxyError = serde_json::from_str(json).unwrap();
    assert_eq!(error, ProxyError::io("come again"));
}
