use std::sync::mpsc::{Sender, channel};
use std::thread::{self, ThreadId};

use super::BackgroundDrop;

/// Tells which thread drops it.
struct Tells(Sender<ThreadId>);

impl Drop for Tells {
    fn drop(&mut self) {
        let _ = self.0.send(thread::current().id());
    }
}

/// On the only thread that serves, it would hold up every other call.
#[tokio::test]
async fn what_is_given_up_is_dropped_elsewhere() {
    let (tell, told) = channel();
    let waits = async {
        let _downloading = BackgroundDrop(Some(Tells(tell)));
        std::future::pending::<()>().await;
    };
    tokio::select! {
        biased;
        () = waits => {}
        () = std::future::ready(()) => {}
    }
    let dropped = tokio::task::spawn_blocking(move || told.recv()).await;
    let dropped = dropped.expect("it is told").expect("it is dropped");
    assert_ne!(dropped, thread::current().id());
}

#[test]
fn without_tasks_it_is_dropped_all_the_same() {
    let (tell, told) = channel();
    drop(BackgroundDrop(Some(Tells(tell))));
    assert_eq!(told.recv(), Ok(thread::current().id()));
}
