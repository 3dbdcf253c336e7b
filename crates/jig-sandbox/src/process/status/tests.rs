use super::*;

fn partly() -> Enforcement {
    Enforcement::PartlyEnforced {
        gaps: vec!["one".to_owned(), "two".to_owned()],
    }
}

fn not() -> Enforcement {
    Enforcement::NotEnforced {
        reason: "because".to_owned(),
    }
}

#[test]
fn it_is_told_in_words_and_as_data() {
    #[track_caller]
    fn check(enforcement: &Enforcement, words: &str, json: &str) {
        assert_eq!(enforcement.to_string(), words);
        assert_eq!(serde_json::to_string(enforcement).unwrap(), json);
    }
    check(
        &Enforcement::Enforced,
        "enforced",
        r#"{"state":"enforced"}"#,
    );
    check(
        &partly(),
        "partly enforced: one; two",
        r#"{"state":"partly_enforced","gaps":["one","two"]}"#,
    );
    check(
        &not(),
        "not enforced: because",
        r#"{"state":"not_enforced","reason":"because"}"#,
    );
}

#[test]
fn one_gap_makes_it_incomplete() {
    let full = Status {
        tree: Enforcement::Enforced,
        processes: Enforcement::Enforced,
        files: Enforcement::Enforced,
        network: Enforcement::Enforced,
    };
    assert!(full.is_complete());
    for gap in [partly(), not()] {
        let broken = [
            Status {
                tree: gap.clone(),
                ..full.clone()
            },
            Status {
                processes: gap.clone(),
                ..full.clone()
            },
            Status {
                files: gap.clone(),
                ..full.clone()
            },
            Status {
                network: gap,
                ..full.clone()
            },
        ];
        assert!(broken.iter().all(|status| !status.is_complete()));
    }
}
