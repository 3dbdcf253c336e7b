//! The launcher: a keeper, or a zygote that makes keepers, as a program of its own.
//!
//! It is built by `build.rs`, carried inside the library, and executed from memory. It needs neither the C
//! library nor an allocator. What it is to be is its name; its one argument is the number of a
//! descriptor: of a keeper's order, or of the channel on which a zygote hears its host. Under any other
//! name it is a shim, which stands for a program of that name in a tool's sandbox.
#![no_std]
#![no_main]

mod memory;
mod shim;
#[path = "../stage/mod.rs"]
mod stage;
mod zygote;

use core::ffi::CStr;
use core::panic::PanicInfo;

use stage::calls;
use stage::keeper;
use stage::order::{self, OrderBlock};
use stage::raw::RawErrno;

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "mov rdi, rsp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym main,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "mov x0, sp",
    "bl {main}",
    "brk 1",
    main = sym main,
);

/// `stack` is what the kernel left on it: the number of arguments, and pointers to them.
unsafe extern "C" fn main(stack: *const usize) -> ! {
    // SAFETY: the kernel wrote the count, so many pointers, and a null pointer.
    let (count, first, second) = unsafe {
        let strings = stack.add(1).cast::<*mut u8>();
        (*stack, *strings, *strings.add(1))
    };
    if count == 0 {
        calls::exit(1);
    }
    // SAFETY: it is a C string, which lives as long as the process.
    let name = unsafe { CStr::from_ptr(first.cast()) };
    if name != keeper::NAME && name != zygote::NAME {
        // SAFETY: all of it is as the kernel left it.
        unsafe { shim::run(stack) }
    }
    if count != 2 {
        calls::exit(1);
    }
    // SAFETY: it is a C string, which lives as long as the process.
    let number = unsafe { CStr::from_ptr(second.cast()) };
    let Some(fd) = parse(number.to_bytes()) else {
        calls::exit(1);
    };
    let length = number.count_bytes();
    // SAFETY: the string is writable, and not used any more. Now the command line is the name alone.
    unsafe { second.write_bytes(0, length) };
    if name == zygote::NAME {
        zygote::run(fd, first)
    }
    match order_of(fd) {
        Ok(order) => {
            settle_capabilities(&order);
            keeper::run(&order)
        }
        Err(_) => calls::exit(1),
    }
}

/// The order that a file holds.
fn order_of(fd: i32) -> Result<OrderBlock, RawErrno> {
    let length = calls::facts(fd, c"")?.size as usize;
    let start = calls::map(length, fd)?;
    // SAFETY: the memory is new, writable and aligned to pages.
    unsafe { OrderBlock::new(start, length) }
}

/// The host let this program keep capabilities in its new namespace. The tool must not have them for that.
///
/// And as the memory of a program belongs to the user namespace that it was executed in, a tool that is
/// root in there could look into its keeper. So no tool gets the capability for that.
fn settle_capabilities(order: &OrderBlock) {
    const SYS_PTRACE: usize = 19;
    if !order.has(order::NAMESPACES) {
        return;
    }
    let settled = calls::capabilities().and_then(|[effective, permitted, _]| {
        calls::clear_ambient()?;
        calls::set_capabilities([effective, permitted, 0])?;
        calls::drop_from_bounding_set(SYS_PTRACE)
    });
    if settled.is_err() {
        calls::exit(1);
    }
}

fn parse(digits: &[u8]) -> Option<i32> {
    let mut sum = 0_i32;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        sum = sum.checked_mul(10)?.checked_add(digit.into())?;
    }
    Some(sum)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    calls::exit(2)
}

/// What the core library names and nothing calls: panics end the process.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
