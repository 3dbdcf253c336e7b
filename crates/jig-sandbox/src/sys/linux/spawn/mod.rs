//! [`spawn`]: forks a keeper, which starts the tool.
//!
//! Everything that allocates happens here, before the fork. Between host and keeper there is one socket,
//! the line: the keeper says that the tool runs, or which step failed, and later how it ended; the host
//! passes signals on. The end of the keeper, seen by its process descriptor, is the end of the tree.
//!
//! The keeper does not ask to be killed with its parent, because that parent would be the thread that
//! calls [`spawn`]. It watches a process descriptor of the host instead, and the line.

mod failure;
mod keeper;
mod maps;
mod plan;
mod process;
mod record;
mod tool;

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::PidfdFlags;

use self::maps::Maps;
use self::plan::{Hold, Plan};
use self::process::Handle;
pub(crate) use self::process::Process;
use self::record::{Record, Refusal, Step};
use super::uapi::{self, BlockedSignals, Fork};
use crate::machine::Errno;
use crate::process::{Containment, Enforcement, SpawnError, SpawnRequest, Started, Status, Stdio};

#[cfg(test)]
mod tests;

/// Starts a program. Returns when it runs.
pub(crate) fn spawn(mut request: SpawnRequest) -> Result<Started, SpawnError> {
    let mut plan = Plan::new(&request)?;
    let streams = Streams::open(&mut request)?;
    for (number, source) in streams.tool_ends.iter().enumerate() {
        plan.pass(source, number as i32);
    }
    for (number, source) in &request.descriptors {
        if !plan.pass(source, *number) {
            return Err(SpawnError::Descriptor {
                program: failure::name(&request),
                number: *number,
                source: io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the number is taken or negative",
                ),
            });
        }
    }
    let (keeper, status) = start(&request, &mut plan)?;
    let in_namespace = matches!(plan.hold, Hold::Namespaces(_));
    Ok(Started {
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        status,
        process: Process::new(keeper, in_namespace),
    })
}

/// Starts a keeper: in namespaces if that is wanted and can be had, else without.
fn start(request: &SpawnRequest, plan: &mut Plan) -> Result<(Handle, Status), SpawnError> {
    let why_not = if request.containment == Containment::WithoutNamespaces {
        "no namespaces were asked for".to_owned()
    } else {
        plan.hold = Hold::Namespaces(Maps::widest());
        match launch(request, plan)? {
            Ok((keeper, proc)) => return Ok((keeper, in_namespaces(proc))),
            Err(refusal) if failure::is_about_namespaces(refusal) => format!(
                "new namespaces are refused here: {} failed with {}",
                refusal.step.name(),
                refusal.errno
            ),
            Err(refusal) => return Err(failure::error(request, plan, refusal)),
        }
    };
    if request.containment == Containment::Required {
        return Err(SpawnError::Containment {
            program: failure::name(request),
            reason: why_not,
        });
    }
    plan.hold = Hold::Adoption;
    match launch(request, plan)? {
        Ok((keeper, _)) => Ok((keeper, by_adoption(why_not))),
        Err(refusal) => Err(failure::error(request, plan, refusal)),
    }
}

/// A keeper whose tool runs, with the reason for which it has no `/proc` of its own; or the refusal.
type Launched = Result<(Handle, Option<Errno>), Refusal>;

/// Forks a keeper and waits until its tool runs.
fn launch(request: &SpawnRequest, plan: &mut Plan) -> Result<Launched, SpawnError> {
    let (ours, theirs) = rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|errno| failure::step(request, "making a line to its keeper", errno))?;
    let host = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())
        .map_err(|errno| failure::step(request, "opening a process descriptor", errno))?;
    plan.line = theirs.as_raw_fd();
    plan.host = host.as_raw_fd();
    let namespaces = match plan.hold {
        Hold::Namespaces(_) => libc::CLONE_NEWUSER | libc::CLONE_NEWPID | libc::CLONE_NEWNS,
        Hold::Adoption => 0,
    };
    let kept = plan.kept();

    let signals = BlockedSignals::all();
    #[expect(unsafe_code, reason = "forks a keeper")]
    // SAFETY: the child's branch is the keeper, which keeps to async-signal-safe calls and exits.
    let forked = unsafe { uapi::fork_into(namespaces) };
    let pid = match forked {
        Ok(Fork::Child) => keeper::run(plan, &kept),
        Ok(Fork::Parent(pid)) => pid,
        Err(errno) => return Ok(Err(Refusal::at(Step::Fork)(errno))),
    };
    drop(signals);
    drop(theirs);

    let broken = |error| failure::step(request, "talking to its keeper", error);
    let keeper = Handle::new(pid, ours)
        .map_err(|error| failure::step(request, "opening a process descriptor", error))?;
    if let Hold::Namespaces(maps) = &plan.hold {
        let told = maps.write_for(keeper.pid()).map(|mapped| {
            if mapped {
                keeper.tell(record::GO);
            }
        });
        if let Err(refusal) = told {
            // A keeper that has ended cannot be mapped. Its own reason is the one that counts.
            return Ok(Err(match keeper.received_record() {
                Some(Record::Refused(earlier)) => earlier,
                _ => refusal,
            }));
        }
    }
    match keeper.next_record().map_err(broken)? {
        Some(Record::Started { proc }) => Ok(Ok((keeper, proc))),
        Some(Record::Refused(refusal)) => Ok(Err(refusal)),
        Some(Record::Ended { .. }) | None => Err(broken(io::ErrorKind::UnexpectedEof.into())),
    }
}

fn in_namespaces(proc: Option<Errno>) -> Status {
    let processes = match proc {
        None => Enforcement::Enforced,
        Some(errno) => Enforcement::PartlyEnforced {
            gaps: vec![format!(
                "/proc shows the processes of the host, because mounting a new one failed with {errno}"
            )],
        },
    };
    unconfined(Enforcement::Enforced, processes)
}

fn by_adoption(why_not: String) -> Status {
    let tree = Enforcement::PartlyEnforced {
        gaps: vec![
            why_not.clone(),
            "a tool that stops or kills its keeper, or that starts processes faster than they are \
             found, can leave some behind"
                .to_owned(),
            "processes that run as another user are not ended".to_owned(),
        ],
    };
    unconfined(tree, Enforcement::NotEnforced { reason: why_not })
}

fn unconfined(tree: Enforcement, processes: Enforcement) -> Status {
    let not_yet = || Enforcement::NotEnforced {
        reason: "the confinement is not built in yet".to_owned(),
    };
    Status {
        tree,
        processes,
        files: not_yet(),
        network: not_yet(),
    }
}

/// The standard streams: the tool's ends, by number, and the host's ends of those that are piped.
struct Streams {
    tool_ends: [OwnedFd; 3],
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
}

impl Streams {
    /// Takes given descriptors out of the request.
    fn open(request: &mut SpawnRequest) -> Result<Self, SpawnError> {
        let mut open = |stream: fn(&mut SpawnRequest) -> &mut Stdio, tool_reads: bool| {
            match std::mem::replace(stream(request), Stdio::Null) {
                Stdio::Given(fd) => Ok((fd, None)),
                Stdio::Null => null()
                    .map(|fd| (fd, None))
                    .map_err(|errno| failure::step(request, "opening `/dev/null`", errno)),
                Stdio::Piped => rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
                    .map(|(reader, writer)| {
                        if tool_reads {
                            (reader, Some(writer))
                        } else {
                            (writer, Some(reader))
                        }
                    })
                    .map_err(|errno| failure::step(request, "making a pipe", errno)),
            }
        };
        let (input, stdin) = open(|request| &mut request.stdin, true)?;
        let (output, stdout) = open(|request| &mut request.stdout, false)?;
        let (error, stderr) = open(|request| &mut request.stderr, false)?;
        Ok(Self {
            tool_ends: [input, output, error],
            stdin: stdin.map(PipeWriter::from),
            stdout: stdout.map(PipeReader::from),
            stderr: stderr.map(PipeReader::from),
        })
    }
}

fn null() -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
    rustix::fs::open("/dev/null", flags, Mode::empty())
}
