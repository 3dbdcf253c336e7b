//! `jp:host/process`: programs, as far as `access.commands` allows them.

use jig_proto::vfs::{ProcessRun, VfsReply, VfsRequest};
use wasmtime::component::{HasSelf, Linker};

use crate::bindings::jp::host::process::{self, Host, Output};
use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    process::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl Host for Guest {
    fn run(
        &mut self,
        program: String,
        args: Vec<String>,
        cwd: Option<String>,
        envs: Vec<String>,
    ) -> wasmtime::Result<Result<Output, String>> {
        let run = ProcessRun {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            envs: envs.into_iter().map(Into::into).collect(),
            cwd: cwd.map(Into::into),
        };
        self.hosted(&VfsRequest::ProcessRun(run), output)
    }
}

fn output(reply: VfsReply<'static>) -> Option<Output> {
    match reply {
        VfsReply::Process(ended) => Some(Output {
            stdout: ended.stdout.into_owned().into_bytes(),
            stderr: ended.stderr.into_owned().into_bytes(),
            exit_code: ended.exit_code,
        }),
        _ => None,
    }
}
