//! Which methods a policy leaves open, so that a tool need not try the others.

use jig_policy::{Capability, Policy};
use jig_proto::vfs::Method;

/// The methods that may succeed for some target. With `asks`, what no rule covers may be approved,
/// so every method is open.
pub(crate) fn open(policy: &Policy, asks: bool) -> Vec<Method> {
    if asks {
        return Method::ALL.to_vec();
    }
    let grants = |capability| {
        let rules = policy.fs_rules().iter();
        rules
            .into_iter()
            .any(|rule| rule.capabilities().has(capability))
    };
    let net = policy.net_rules().iter().any(|rule| rule.allow());
    let programs = policy.any_command()
        || policy
            .command_rules()
            .is_some_and(|rules| !rules.is_empty());
    let writes = grants(Capability::Create) || grants(Capability::Update);
    let open = |method: &Method| match method {
        Method::FsRead
        | Method::FsExists
        | Method::FsListDir
        | Method::FsMetadata
        | Method::FsGrep => grants(Capability::Read),
        Method::FsWrite | Method::FsAppend => writes,
        Method::FsPatch => grants(Capability::Update),
        Method::FsMkdir => grants(Capability::Create),
        Method::FsDelete => grants(Capability::Delete),
        Method::FsRename => grants(Capability::Delete) && writes,
        Method::HttpGet | Method::HttpPost => net,
        Method::ProcessRun
        | Method::ProcessStart
        | Method::ProcessRead
        | Method::ProcessWrite
        | Method::ProcessStop => programs,
    };
    Method::ALL.into_iter().filter(open).collect()
}
