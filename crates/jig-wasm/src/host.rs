//! What a guest can ask for beside WASI: `jp:host`, and the protocol of mediated tools by messages.
//!
//! Both are doors to the same requests. What is refused comes back in the words that every tool gets; only a
//! call that is over ends the guest.

pub(crate) mod filesystem;
pub(crate) mod http;
mod mounted_paths;
pub(crate) mod process;
pub(crate) mod vfs;

use jig_proto::vfs::{ErrorReply, Method, VfsReply, VfsRequest};
use jig_tool::vfs::HostError;

use crate::guest::Guest;

impl Guest {
    /// Does a request that speaks of the whole workspace, as far as the guest sees that.
    fn ask_within(
        &mut self,
        request: &VfsRequest<'_>,
    ) -> wasmtime::Result<Result<VfsReply<'static>, ErrorReply>> {
        let directory = match mounted_paths::directory(&self.mounts, request) {
            Ok(directory) => directory.cloned(),
            Err(error) => {
                let path = mounted_paths::paths(request).join(" ");
                let broker = &self.door.plan().broker;
                return Ok(Err(broker.refuse(request.method(), &path, error)));
            }
        };
        self.ask_by(|broker| match directory {
            Some(directory) if !directory.is_root() => broker.beneath(&directory).judge(request),
            _ => broker.judge(request),
        })
    }

    /// Does a request of `jp:host`, whose errors are texts; `read` takes the answer apart.
    fn hosted<T>(
        &mut self,
        request: &VfsRequest<'_>,
        read: impl FnOnce(VfsReply<'static>) -> Option<T>,
    ) -> wasmtime::Result<Result<T, String>> {
        if let Some(payload) = request.payload() {
            let (size, limit) = (payload.len(), self.door.plan().message_limit);
            if size > limit {
                let error = ErrorReply::too_large("the content", size as u64, limit as u64);
                return Ok(Err(explained(error)));
            }
        }
        let answer = self.ask_within(request)?;
        Ok(match answer.map(read) {
            Ok(Some(read)) => Ok(read),
            Ok(None) => Err(other_form(request.method())),
            Err(error) => Err(explained(error)),
        })
    }
}

/// An error in the words that a tool on the SDK passes on: what, the rule that decided, and what to do.
fn explained(error: ErrorReply) -> String {
    HostError::from(error).explain()
}

fn other_form(method: Method) -> String {
    let what = format!("the answer to `{method}` is of another form");
    explained(ErrorReply::internal(what))
}
