//! Declares the one `cfg` that this crate knows besides the usual ones.

fn main() {
    // `RUSTFLAGS='--cfg jig_racy_asserts'` checks the quick way of locating a path against the
    // plain one, every time. It is racy: another process can change the tree between the two.
    println!("cargo::rustc-check-cfg=cfg(jig_racy_asserts)");
    println!("cargo::rerun-if-changed=build.rs");
}
