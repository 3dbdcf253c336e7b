use super::{LlmCmd, LlmMessage, LlmReply, LlmRole, QuotaReport, TokenUsage};

fn report(used: f64, limit: f64) -> QuotaReport {
    let is_limited = limit > 0.0;
    QuotaReport {
        used,
        limit,
        remaining: is_limited.then_some(limit - used),
        percent: is_limited.then_some(used / limit * 100.0),
        ..QuotaReport::default()
    }
}

#[test]
fn f077_x63_status() {
    for (used, limit, short, long) in [
        (
            1250.5,
            5000.0,
            "1250.5/5000 weighted tokens",
            "1250.5/5000 weighted tokens (25.0% used, 3749.5 remaining)",
        ),
        (
            1350.0,
            5000.0,
            "1350.0/5000 weighted tokens",
            "1350.0/5000 weighted tokens (27.0% used, 3650.0 remaining)",
        ),
        (
            0.25,
            0.5,
            "0.2/0.5 weighted tokens",
            "0.2/0.5 weighted tokens (50.0% used, 0.2 remaining)",
        ),
        (
            1250.5,
            0.0,
            "1250.5/unlimited weighted tokens",
            "1250.5/unlimited weighted tokens",
        ),
        (
            12.0,
            10.0,
            "12.0/10 weighted tokens",
            "12.0/10 weighted tokens (120.0% used, -2.0 remaining)",
        ),
    ] {
        let report = report(used, limit);
        assert_eq!(report.status(), short);
        assert_eq!(report.long_status(), long);
    }
}

#[test]
fn f052_report_on_the_wire() {
    let unlimited = report(1.5, 0.0);
    assert_eq!(
        serde_json::to_string(&unlimited).unwrap(),
        concat!(
            r#"{"used":1.5,"reserved":0.0,"limit":0.0,"calls":0,"#,
            r#""input_tokens":0,"cached_tokens":0,"output_tokens":0}"#
        )
    );
    let limited = report(1250.5, 5000.0);
    assert_eq!(
        serde_json::to_string(&limited).unwrap(),
        concat!(
            r#"{"used":1250.5,"reserved":0.0,"limit":5000.0,"remaining":3749.5,"#,
            r#""percent":25.009999999999998,"calls":0,"#,
            r#""input_tokens":0,"cached_tokens":0,"output_tokens":0}"#
        )
    );
    for report in [unlimited, limited] {
        let json = serde_json::to_string(&report).unwrap();
        assert_eq!(serde_json::from_str::<QuotaReport>(&json).unwrap(), report);
    }
}

#[test]
fn f053_reply_on_the_wire() {
    let reply = LlmReply {
        content: None,
        written: Some(12),
        model: "m".to_owned(),
        finish_reason: "stop".to_owned(),
        usage: TokenUsage {
            input_tokens: 10,
            cached_tokens: 4,
            output_tokens: 2,
            weighted: 15.0,
        },
        quota: report(15.0, 0.0),
    };
    let json = serde_json::to_string(&reply).unwrap();
    assert_eq!(
        json,
        concat!(
            r#"{"written":12,"model":"m","finish_reason":"stop","#,
            r#""usage":{"input_tokens":10,"cached_tokens":4,"output_tokens":2,"weighted":15.0},"#,
            r#""quota":{"used":15.0,"reserved":0.0,"limit":0.0,"calls":0,"#,
            r#""input_tokens":0,"cached_tokens":0,"output_tokens":0}}"#
        )
    );
    assert_eq!(serde_json::from_str::<LlmReply>(&json).unwrap(), reply);
}

#[test]
fn f053_a_command_says_only_what_it_needs() {
    assert_eq!(serde_json::to_string(&LlmCmd::default()).unwrap(), "{}");
    let command = LlmCmd {
        messages: vec![LlmMessage::new(LlmRole::System, "be short")],
        ..LlmCmd::default()
    };
    assert_eq!(
        serde_json::to_string(&command).unwrap(),
        r#"{"messages":[{"role":"system","content":"be short"}]}"#
    );
    for role in [LlmRole::System, LlmRole::User, LlmRole::Assistant] {
        let json = format!("\"{role}\"");
        assert_eq!(serde_json::to_string(&role).unwrap(), json);
    }
}
