//! [`take`]: one step of a confinement, as the host ordered it.

use core::ffi::CStr;

use super::bounds;
use super::calls::{self, O_CREAT, O_EXCL, O_PATH, O_WRONLY, WORKING_DIRECTORY};
use super::mounts::{self, MountRestrictions};
use super::network::NetworkNamespace;
use super::order::{self, OrderBlock, OrderSpan, PackedStep};
use super::overlay::{self, OverlayDirectories};
use super::raw::RawErrno;
use super::record::{KeeperMessage, KeeperReport, StartStep, StepFailure};
use super::root::{self, NewRoot, PathPart};
use super::sockets;

/// What steps are taken in.
pub(crate) struct StepContext<'a> {
    /// The new root; without namespaces there is none.
    pub(crate) root: Option<NewRoot>,
    /// The ruleset of Landlock, or -1.
    pub(crate) ruleset: i32,
    /// The network namespace that is being made.
    pub(crate) network: Option<NetworkNamespace>,
    /// The line to the host.
    pub(crate) line: i32,
    pub(crate) report: &'a mut KeeperReport,
}

impl StepContext<'_> {
    /// Takes the acts of a span, of which the first has the number `first`.
    pub(crate) fn take_all(
        &mut self,
        order: &OrderBlock,
        acts: OrderSpan,
        first: u32,
    ) -> Result<(), StepFailure> {
        for number in 0..acts.count {
            let place = first + number;
            let refuse = StepFailure::one_of(StartStep::Act, place as usize);
            let act: PackedStep = order.item(acts, number).map_err(&refuse)?;
            let taken = match act.kind {
                // Whoever makes the namespace also does that. Without the namespace nothing goes on,
                // whether the loopback is needed or not.
                order::LOOPBACK => self.enter_network()?,
                _ => take(order, &act, self),
            };
            match taken {
                Ok(()) => {}
                Err(errno) if act.flags & order::OPTIONAL != 0 => self.report.note(place, errno),
                Err(errno) => return Err(refuse(errno)),
            }
        }
        Ok(())
    }

    /// Enters the network namespace when it is made. With it, whether its loopback is up.
    pub(crate) fn enter_network(&mut self) -> Result<Result<(), RawErrno>, StepFailure> {
        match self.network.take() {
            Some(network) => network.enter().map_err(StepFailure::at(StartStep::Network)),
            None => Ok(Ok(())),
        }
    }

    fn root(&self) -> Result<&NewRoot, RawErrno> {
        self.root.as_ref().ok_or(RawErrno::INVAL)
    }
}

fn take(order: &OrderBlock, act: &PackedStep, site: &mut StepContext<'_>) -> Result<(), RawErrno> {
    let target = order.string(act.target)?;
    let attributes = MountRestrictions {
        read_only: act.flags & order::READ_ONLY != 0,
        no_exec: act.flags & order::NO_EXEC != 0,
        dev: act.flags & order::DEV != 0,
    };
    match act.kind {
        order::DIRECTORY => site.root()?.make_directory(target, act.mode),
        order::FILE => make_file(site.root()?, target, act.mode, order.bytes(act.content)?),
        order::SYMLINK => site.root()?.make_link(target, order.string(act.other)?),
        order::BIND => {
            let source = site.root()?.source(order.string(act.other)?)?;
            bind(site.root()?, source, target, attributes)
        }
        order::AGAIN => {
            let source = site.root()?.target(target)?;
            bind(site.root()?, source, target, attributes)
        }
        order::MASK => {
            let root = site.root()?;
            let place = root.target(target)?;
            let mask = root.mask(calls::facts(place, c"")?.is_directory)?;
            let attached = mounts::attach(mask, place);
            calls::close(mask);
            calls::close(place);
            attached
        }
        order::MOUNT_TMPFS => {
            let (mut size, mut mode, mut inodes) = (
                DecimalDigits::new(),
                DecimalDigits::new(),
                DecimalDigits::new(),
            );
            let parameters = [
                (c"size", size.set(act.number, 10)),
                (c"mode", mode.set(act.mode.into(), 8)),
                (c"nr_inodes", inodes.set(inodes_for(act.number), 10)),
            ];
            let mount = mounts::new(c"tmpfs", &parameters, attributes)?;
            let root = site.root.as_mut().ok_or(RawErrno::INVAL)?;
            place(root, mount, target)?;
            root.remember(mount);
            Ok(())
        }
        order::MOUNT_PROC => {
            let writable = MountRestrictions {
                read_only: false,
                ..attributes
            };
            let mount = mounts::new(c"proc", &[], writable)?;
            let root = site.root.as_mut().ok_or(RawErrno::INVAL)?;
            place(root, mount, target)?;
            // The keeper looks at its tree through a mount of its own, and sets limits there.
            root.proc = mounts::copy(mount)?;
            let restricted = mounts::restrict(mount, attributes);
            calls::close(mount);
            restricted
        }
        order::MOUNT_DEVPTS => {
            let parameters = [(c"ptmxmode", c"0666"), (c"mode", c"0600")];
            let mount = mounts::new(c"devpts", &parameters, attributes)?;
            place(site.root()?, mount, target)?;
            calls::close(mount);
            Ok(())
        }
        order::LISTEN => {
            let mut name = PathPart::new();
            let parent = site.root()?.parent(target, &mut name)?;
            // By its name alone: the path of a socket has little room.
            calls::enter_directory(parent)?;
            site.root()?.leave(parent);
            let socket = calls::listen_here(name.get()?)?;
            let sent = calls::send(site.line, &KeeperMessage::Door.encode(), &[socket]);
            calls::close(socket);
            sent
        }
        order::OVERLAY => {
            let parts = OverlayDirectories {
                lower: order.string(act.other)?,
                upper: order.string(act.mode)?,
                work: order.string(act.unused)?,
            };
            let root = site.root.as_mut().ok_or(RawErrno::INVAL)?;
            let mount = overlay::new(root, &parts, attributes)?;
            root.remember_layer(mount)?;
            place(root, mount, target)?;
            calls::close(mount);
            Ok(())
        }
        order::ANEW => {
            let root = site.root()?;
            let source = root.target(target)?;
            let mount = mounts::copy(source)?;
            calls::close(source);
            mounts::renew(mount, attributes)?;
            place(root, mount, target)?;
            calls::close(mount);
            Ok(())
        }
        order::BIND_OF_LAYER => {
            let root = site.root()?;
            let source = root.in_layer(act.number, order.string(act.other)?)?;
            let mount = mounts::copy(source)?;
            calls::close(source);
            mounts::renew(mount, attributes)?;
            place(root, mount, target)?;
            calls::close(mount);
            Ok(())
        }
        order::HOST_NAME => calls::set_host_name(order.string(act.other)?.to_bytes()),
        order::ALLOW => allow(site, target, act.number),
        order::LOCAL => sockets::make_local(order.bytes(act.content)?, act.mode),
        order::SOCKETS => sockets::make(order, act.content, site.line),
        order::REPLACE => replace(site.root()?, target, order.bytes(act.content)?),
        order::ALLOW_PORT => bounds::add_port_rule(site.ruleset, act.mode, act.number),
        _ => Err(RawErrno::BADMSG),
    }
}

fn make_file(root: &NewRoot, target: &CStr, mode: u32, content: &[u8]) -> Result<(), RawErrno> {
    let fd = root.open(target, O_WRONLY | O_CREAT | O_EXCL, mode)?;
    let mut rest = content;
    while !rest.is_empty() {
        match calls::write(fd, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(RawErrno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    calls::close(fd);
    Ok(())
}

/// Puts a read-only file in the place of the one at the target. Nothing of it is left in the new root but
/// the mount: its own name there is gone when this returns.
fn replace(root: &NewRoot, target: &CStr, content: &[u8]) -> Result<(), RawErrno> {
    const NAME: &CStr = c".replaced";
    make_file(root, NAME, 0o444, content)?;
    let source = root.target(NAME)?;
    let attributes = MountRestrictions {
        read_only: true,
        no_exec: true,
        dev: false,
    };
    let shown = bind(root, source, target, attributes);
    root.remove(NAME)?;
    shown
}

/// Shows `source`, which is closed, at the target.
fn bind(
    root: &NewRoot,
    source: i32,
    target: &CStr,
    attributes: MountRestrictions,
) -> Result<(), RawErrno> {
    let mount = mounts::copy(source)?;
    calls::close(source);
    mounts::restrict(mount, attributes)?;
    place(root, mount, target)?;
    calls::close(mount);
    Ok(())
}

fn place(root: &NewRoot, mount: i32, target: &CStr) -> Result<(), RawErrno> {
    let place = root.target(target)?;
    let attached = mounts::attach(mount, place);
    calls::close(place);
    attached
}

/// Without a new root the target is a path of the host.
fn allow(site: &StepContext<'_>, target: &CStr, rights: u64) -> Result<(), RawErrno> {
    let fd = match &site.root {
        Some(root) => root.target(target)?,
        None => calls::open_strictly(WORKING_DIRECTORY, target, O_PATH, 0, root::RESOLVE_STRICTLY)?,
    };
    let mut added = bounds::add_rule(site.ruleset, fd, rights);
    // Rights that only directories have are refused for other things.
    if added == Err(RawErrno::INVAL) && !calls::facts(fd, c"")?.is_directory {
        added = bounds::add_rule(site.ruleset, fd, rights & RIGHTS_OF_FILES);
    }
    calls::close(fd);
    added
}

/// A number as text.
struct DecimalDigits([u8; 24]);

impl DecimalDigits {
    fn new() -> Self {
        Self([0; 24])
    }

    fn set(&mut self, mut number: u64, base: u64) -> &CStr {
        let mut at = self.0.len() - 1;
        while at > 0 {
            at -= 1;
            self.0[at] = b'0' + (number % base) as u8;
            number /= base;
            if number == 0 {
                break;
            }
        }
        CStr::from_bytes_until_nul(&self.0[at..]).unwrap_or(c"0")
    }
}

/// Enough for files of half a page on average. Empty ones take memory too, which nobody counts.
fn inodes_for(size: u64) -> u64 {
    1024 + size / 2048
}

/// Execute, write, read, truncate, and device control.
const RIGHTS_OF_FILES: u64 = 1 | 1 << 1 | 1 << 2 | 1 << 14 | 1 << 15;
