use jig_policy::Capability;
use jig_proto::vfs::{Init, ToolInput, VfsReply, VfsRequest};
use jig_proto::{Access, Action, Context};
use serde_json::{Value, json};

use crate::vfs::{Host, Notification, RequestError, Transport};

/// A host that must not be asked.
struct Silent;

impl Transport for Silent {
    fn request(&mut self, request: &VfsRequest<'_>) -> Result<VfsReply<'static>, RequestError> {
        panic!("{request:?}")
    }

    fn notify(&mut self, notification: &Notification<'_>) -> Result<(), RequestError> {
        panic!("{notification:?}")
    }

    fn wait_apply(&mut self) -> Result<Value, RequestError> {
        panic!("nothing is waited for")
    }

    fn is_cancelled(&self) -> bool {
        false
    }
}

fn host(access: Option<Value>) -> Host {
    let context = Context::new("/project", Action::Run);
    let context = match access {
        Some(access) => {
            let access: Access = serde_json::from_value(access).unwrap();
            context.with_access(access)
        }
        None => context,
    };
    let init = Init {
        context: Some(context),
        ..Init::new(ToolInput::default())
    };
    Host::over(init, Silent).unwrap()
}

#[test]
fn the_told_rules_are_asked() {
    let rules = json!({"fs": [
        {"path": "src", "read": true, "update": true},
        {"path": "src/secret"},
    ]});
    let host = host(Some(rules));
    let check = |capability, path: &str, expected: bool| {
        assert_eq!(host.may(capability, path), expected, "{capability} {path}");
    };
    check(Capability::Read, "src/main.rs", true);
    check(Capability::Read, "/project/src/main.rs", true);
    check(Capability::Read, "docs/../src/main.rs", true);
    check(Capability::Update, "src/main.rs", true);
    check(Capability::Delete, "src/main.rs", false);
    check(Capability::Read, "src/secret/a", false);
    check(Capability::Read, "docs", false);
    check(Capability::Read, "../src", false);
    check(Capability::Read, "/etc/passwd", false);
}

#[test]
fn without_rules_everything_may_be_tried() {
    for access in [None, Some(json!({})), Some(json!({"fs": []}))] {
        assert!(host(access).may(Capability::Delete, "src"));
    }
}
