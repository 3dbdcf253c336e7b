use super::*;

#[test]
fn packages_that_are_gone_are_no_lasting_failure() {
    let gone = lasting(&CallError::PackagesGone("srv".to_owned()));
    assert!(!gone.lasts);
    let expected = "its packages were taken away while it was started; try again";
    assert_eq!(gone.why, expected);
    let other = CallError::Server {
        server: "srv".to_owned(),
        why: "a variable is missing".to_owned(),
    };
    assert!(lasting(&other).lasts);
}
