use std::sync::{Arc, Mutex};

use super::*;

/// What takes long is told once, however often it is looked at; what does not is never told.
#[test]
fn everything_slow_is_told_once() {
    let (tell, told) = mpsc::channel();
    let slow = Arc::new(Mutex::new(Vec::new()));
    let (looked, looks) = mpsc::channel();
    let seen = Arc::clone(&slow);
    let watch = CompileWatch::of(
        move || {
            let _ = looked.send(());
            seen.lock().unwrap().clone()
        },
        move |text| tell.send(text.to_owned()).unwrap(),
    );
    let look = || looks.recv_timeout(Duration::from_secs(60)).unwrap();
    look();
    look();
    assert!(told.try_recv().is_err(), "nothing takes long");
    let name = || "a.wasm".to_owned();
    *slow.lock().unwrap() = vec![(name(), 18 << 20)];
    let text = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert_eq!(
        text,
        "jig: compiling a.wasm (18.0 MiB), once for every version of it …"
    );
    slow.lock().unwrap().push(("b.wasm".to_owned(), 1));
    let text = told.recv_timeout(Duration::from_secs(60)).unwrap();
    assert!(text.contains("b.wasm (1 B)"), "{text}");
    while looks.try_recv().is_ok() {}
    look();
    look();
    assert!(told.try_recv().is_err(), "once is enough");
    // When it is gone, so is its thread, and with that the other ends.
    drop(watch);
    assert!(told.recv().is_err());
}
