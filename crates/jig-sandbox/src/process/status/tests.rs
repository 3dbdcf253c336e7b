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
        tier: Tier::A,
        tree: Enforcement::Enforced,
        processes: Enforcement::Enforced,
        files: Enforcement::Enforced,
        network: Enforcement::Enforced,
        ipc: Enforcement::Enforced,
        privileges: Enforcement::Enforced,
        limits: Enforcement::Enforced,
        unheld: Vec::new(),
        guarded_names: None,
    };
    assert!(full.is_complete());
    let set: [fn(&mut Status, Enforcement); 7] = [
        |status, gap| status.tree = gap,
        |status, gap| status.processes = gap,
        |status, gap| status.files = gap,
        |status, gap| status.network = gap,
        |status, gap| status.ipc = gap,
        |status, gap| status.privileges = gap,
        |status, gap| status.limits = gap,
    ];
    for (place, set) in set.into_iter().enumerate() {
        for gap in [partly(), not()] {
            let mut broken = full.clone();
            set(&mut broken, gap.clone());
            assert!(!broken.is_complete());
            assert_eq!(*broken.parts()[place].1, gap);
        }
    }
}
