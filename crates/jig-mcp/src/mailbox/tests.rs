use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::*;

/// How long to wait for what must come.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_that_is_told_is_heard_in_order() {
    let (tell, mut hear) = mailbox();
    let telling = tokio::spawn(async move {
        for number in 0..1000 {
            tell.send(number).unwrap();
            if number % 7 == 0 {
                tokio::task::yield_now().await;
            }
        }
    });
    for number in 0..1000 {
        let heard = timeout(SOON, hear.recv()).await.unwrap();
        assert_eq!(heard, Some(number));
    }
    telling.await.unwrap();
    assert_eq!(timeout(SOON, hear.recv()).await.unwrap(), None);
}

#[tokio::test]
async fn what_was_told_before_the_sender_went_is_heard() {
    let (tell, mut hear) = mailbox();
    tell.send("last words").unwrap();
    drop(tell);
    assert_eq!(hear.recv().await, Some("last words"));
    assert_eq!(hear.recv().await, None);
    assert_eq!(hear.recv().await, None);
}

#[tokio::test]
async fn nothing_is_lost_by_giving_up() {
    let (tell, mut hear) = mailbox();
    {
        let mut given_up = std::pin::pin!(hear.recv());
        tokio::select! {
            biased;
            _ = &mut given_up => panic!("nothing was told yet"),
            () = tokio::task::yield_now() => {}
        }
        // It has been woken, and goes without looking.
        tell.send(1).unwrap();
    }
    assert_eq!(timeout(SOON, hear.recv()).await.unwrap(), Some(1));
}

#[tokio::test]
async fn whoever_tells_learns_that_nobody_hears() {
    let (tell, hear) = mailbox();
    let letter = Arc::new(());
    tell.send(Arc::clone(&letter)).unwrap();
    let mut closed = std::pin::pin!(tell.closed());
    tokio::select! {
        biased;
        () = &mut closed => panic!("somebody does"),
        () = tokio::task::yield_now() => {}
    }
    drop(hear);
    timeout(SOON, closed).await.unwrap();
    timeout(SOON, tell.closed()).await.unwrap();
    assert_eq!(Arc::strong_count(&letter), 1);
    tell.send(letter).unwrap_err();
}

/// A task that has waited, and is over, is not kept.
#[tokio::test]
async fn whoever_waits_no_more_is_forgotten() {
    struct Woken;
    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {}
    }
    let (tell, mut hear) = mailbox::<()>();
    let tasks: Vec<Arc<Woken>> = (0..100).map(|_| Arc::new(Woken)).collect();
    for task in &tasks {
        let waker = Waker::from(Arc::clone(task));
        let mut context = Context::from_waker(&waker);
        assert!(
            std::pin::pin!(tell.closed())
                .poll(&mut context)
                .is_pending()
        );
        assert!(std::pin::pin!(hear.recv()).poll(&mut context).is_pending());
    }
    let kept = tasks.iter().filter(|task| Arc::strong_count(task) > 1);
    assert_eq!(kept.count(), 1);
}
