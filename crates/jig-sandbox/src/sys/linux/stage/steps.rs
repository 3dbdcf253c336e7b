//! [`take`]: one step of a confinement, as the host ordered it.

use core::ffi::CStr;

use super::bounds;
use super::calls::{self, O_CREAT, O_EXCL, O_PATH, O_WRONLY, WORKING_DIRECTORY};
use super::mounts::{self, Attributes};
use super::network::Network;
use super::order::{self, Act, Order, Span};
use super::overlay::{self, Parts};
use super::raw::Errno;
use super::record::{Record, Refusal, Report, Step};
use super::root::{self, Name, Root};
use super::sockets;

/// What steps are taken in.
pub(crate) struct Site<'a> {
    /// The new root; without namespaces there is none.
    pub(crate) root: Option<Root>,
    /// The ruleset of Landlock, or -1.
    pub(crate) ruleset: i32,
    /// The network namespace that is being made.
    pub(crate) network: Option<Network>,
    /// The line to the host.
    pub(crate) line: i32,
    pub(crate) report: &'a mut Report,
}

impl Site<'_> {
    /// Takes the acts of a span, of which the first has the number `first`.
    pub(crate) fn take_all(
        &mut self,
        order: &Order,
        acts: Span,
        first: u32,
    ) -> Result<(), Refusal> {
        for number in 0..acts.count {
            let place = first + number;
            let refuse = Refusal::one_of(Step::Act, place as usize);
            let act: Act = order.item(acts, number).map_err(&refuse)?;
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
    pub(crate) fn enter_network(&mut self) -> Result<Result<(), Errno>, Refusal> {
        match self.network.take() {
            Some(network) => network.enter().map_err(Refusal::at(Step::Network)),
            None => Ok(Ok(())),
        }
    }

    fn root(&self) -> Result<&Root, Errno> {
        self.root.as_ref().ok_or(Errno::INVAL)
    }
}

fn take(order: &Order, act: &Act, site: &mut Site<'_>) -> Result<(), Errno> {
    let target = order.string(act.target)?;
    let attributes = Attributes {
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
            let (mut size, mut mode, mut inodes) = (Digits::new(), Digits::new(), Digits::new());
            let parameters = [
                (c"size", size.set(act.number, 10)),
                (c"mode", mode.set(act.mode.into(), 8)),
                (c"nr_inodes", inodes.set(inodes_for(act.number), 10)),
            ];
            let mount = mounts::new(c"tmpfs", &parameters, attributes)?;
            let root = site.root.as_mut().ok_or(Errno::INVAL)?;
            place(root, mount, target)?;
            root.remember(mount);
            Ok(())
        }
        order::MOUNT_PROC => {
            let writable = Attributes {
                read_only: false,
                ..attributes
            };
            let mount = mounts::new(c"proc", &[], writable)?;
            let root = site.root.as_mut().ok_or(Errno::INVAL)?;
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
            let mut name = Name::new();
            let parent = site.root()?.parent(target, &mut name)?;
            // By its name alone: the path of a socket has little room.
            calls::enter_directory(parent)?;
            site.root()?.leave(parent);
            let socket = calls::listen_here(name.get()?)?;
            let sent = calls::send(site.line, &Record::Door.encode(), &[socket]);
            calls::close(socket);
            sent
        }
        order::OVERLAY => {
            let parts = Parts {
                lower: order.string(act.other)?,
                upper: order.string(act.mode)?,
                work: order.string(act.unused)?,
            };
            let root = site.root.as_mut().ok_or(Errno::INVAL)?;
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
        _ => Err(Errno::BADMSG),
    }
}

fn make_file(root: &Root, target: &CStr, mode: u32, content: &[u8]) -> Result<(), Errno> {
    let fd = root.open(target, O_WRONLY | O_CREAT | O_EXCL, mode)?;
    let mut rest = content;
    while !rest.is_empty() {
        match calls::write(fd, rest) {
            Ok(count) => rest = rest.get(count..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    calls::close(fd);
    Ok(())
}

/// Puts a read-only file in the place of the one at the target. Nothing of it is left in the new root but
/// the mount: its own name there is gone when this returns.
fn replace(root: &Root, target: &CStr, content: &[u8]) -> Result<(), Errno> {
    const NAME: &CStr = c".replaced";
    make_file(root, NAME, 0o444, content)?;
    let source = root.target(NAME)?;
    let attributes = Attributes {
        read_only: true,
        no_exec: true,
        dev: false,
    };
    let shown = bind(root, source, target, attributes);
    root.remove(NAME)?;
    shown
}

/// Shows `source`, which is closed, at the target.
fn bind(root: &Root, source: i32, target: &CStr, attributes: Attributes) -> Result<(), Errno> {
    let mount = mounts::copy(source)?;
    calls::close(source);
    mounts::restrict(mount, attributes)?;
    place(root, mount, target)?;
    calls::close(mount);
    Ok(())
}

fn place(root: &Root, mount: i32, target: &CStr) -> Result<(), Errno> {
    let place = root.target(target)?;
    let attached = mounts::attach(mount, place);
    calls::close(place);
    attached
}

/// Without a new root the target is a path of the host.
fn allow(site: &Site<'_>, target: &CStr, rights: u64) -> Result<(), Errno> {
    let fd = match &site.root {
        Some(root) => root.target(target)?,
        None => calls::open_strictly(WORKING_DIRECTORY, target, O_PATH, 0, root::RESOLVE_STRICTLY)?,
    };
    let mut added = bounds::add_rule(site.ruleset, fd, rights);
    // Rights that only directories have are refused for other things.
    if added == Err(Errno::INVAL) && !calls::facts(fd, c"")?.is_directory {
        added = bounds::add_rule(site.ruleset, fd, rights & RIGHTS_OF_FILES);
    }
    calls::close(fd);
    added
}

/// A number as text.
struct Digits([u8; 24]);

impl Digits {
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
