use super::raw::number;

/// The C library's word for each number.
#[test]
fn numbers_are_the_kernels() {
    let pairs = [(number::OPENAT2, libc::SYS_openat2)];
    for (ours, theirs) in pairs {
        assert_eq!(ours as i64, theirs);
    }
}
