//! The pace of progress.

use std::sync::Arc;

use tokio::time::Instant;

use super::{INTERVAL, ProgressPace};

#[test]
fn the_latest_is_told_and_not_too_often() {
    let mut pace = ProgressPace::default();
    let now = Instant::now();
    assert_eq!(pace.due(), None, "there is nothing to tell");
    assert_eq!(pace.take(now), None);
    let one: Arc<str> = "one".into();
    pace.note(Arc::clone(&one));
    assert_eq!(pace.due(), Some(None), "the first is told at once");
    assert_eq!(pace.take(now), Some((1, Arc::clone(&one))));
    pace.note(one);
    assert_eq!(pace.due(), None, "it was told already");
    for text in ["two", "three", "four"] {
        pace.note(text.into());
    }
    assert_eq!(pace.due(), Some(Some(now + INTERVAL)));
    assert_eq!(pace.take(now + INTERVAL), Some((2, "four".into())));
    assert_eq!(pace.due(), None);
}
