use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::CancelToken;

fn counter() -> (Arc<AtomicUsize>, impl Fn() + Send + Sync + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let inner = Arc::clone(&count);
    (count, move || {
        inner.fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn a_hook_runs_once_however_often_it_is_cancelled() {
    let token = CancelToken::new();
    let same = token.clone();
    let (count, hook) = counter();
    let _hook = token.on_cancel(hook);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    same.cancel();
    token.cancel();
    assert!(token.is_cancelled() && same.is_cancelled());
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_hook_on_a_cancelled_token_runs_at_once() {
    let token = CancelToken::new();
    token.cancel();
    let (count, hook) = counter();
    let _hook = token.on_cancel(hook);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn a_dropped_hook_never_runs() {
    let token = CancelToken::new();
    let (count, hook) = counter();
    drop(token.on_cancel(hook));
    token.cancel();
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn a_hook_may_use_its_own_token() {
    let token = CancelToken::new();
    let inner = token.clone();
    let (count, seen) = counter();
    let seen = Arc::new(seen);
    let _hook = token.on_cancel(move || {
        let seen = Arc::clone(&seen);
        drop(inner.on_cancel(move || seen()));
    });
    token.cancel();
    assert_eq!(count.load(Ordering::SeqCst), 1);
}
