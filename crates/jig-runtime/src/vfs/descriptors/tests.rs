use std::os::fd::AsFd;

use super::DescriptorSender;

#[test]
fn a_tool_that_takes_nothing_does_not_hold_up_the_host() {
    let (ours, theirs) = DescriptorSender::pair().unwrap();
    let (file, _writer) = std::io::pipe().unwrap();
    let sent = (0..100_000).take_while(|_| ours.send(file.as_fd())).count();
    // Enough for all requests that a tool may have open, and an end.
    assert!((64..1_000).contains(&sent), "{sent} were sent");
    drop(theirs);
    assert!(!ours.send(file.as_fd()));
}
