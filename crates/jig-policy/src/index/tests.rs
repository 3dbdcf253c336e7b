use super::{Index, IndexEntry, IndexHit, Levels, SEED, absorb, absorb_byte, finish};

fn entry(hash: u64, key: &str, value: u32) -> IndexEntry {
    IndexEntry {
        hash,
        key: key.as_bytes().to_vec(),
        value,
        bits: value as u8,
    }
}

fn find(index: &Index, hash: u64, key: &str) -> Option<u32> {
    let hit = index.find(hash, |found| found == key.as_bytes())?;
    assert_eq!(hit.bits, hit.value as u8);
    Some(hit.value)
}

/// A hash only nominates: with one hash for all, every key still leads to its own value.
#[test]
fn equal_hashes_are_not_confused() {
    for hash in [0, 1, SEED, u64::MAX, u64::MAX << 40] {
        let keys: Vec<String> = (0..100).map(|n| format!("key {n}")).collect();
        let index = Index::build((0..).zip(&keys).map(|(n, key)| entry(hash, key, n)));
        for (n, key) in (0..).zip(&keys) {
            assert_eq!(find(&index, hash, key), Some(n));
        }
        assert_eq!(find(&index, hash, "other"), None);
        assert_eq!(find(&index, !hash, "key 1"), None);
    }
}

#[test]
fn the_last_of_equal_keys_counts() {
    let index = Index::build([entry(7, "a", 1), entry(7, "b", 2), entry(7, "a", 3)]);
    assert_eq!(find(&index, 7, "a"), Some(3));
    assert_eq!(find(&index, 7, "b"), Some(2));
}

#[test]
fn an_empty_table_holds_nothing() {
    let index = Index::build([]);
    assert_eq!(index.find(SEED, |_| true), None);
    let one = Index::build([entry(SEED, "", 5)]);
    assert_eq!(
        one.find(SEED, <[u8]>::is_empty),
        Some(IndexHit { value: 5, bits: 5 })
    );
}

#[test]
fn many_keys() {
    let hash = |key: &str| absorb(SEED, key.as_bytes());
    let keys: Vec<String> = (0..20_000).map(|n| format!("component-{n}")).collect();
    let index = Index::build((0..).zip(&keys).map(|(n, key)| entry(hash(key), key, n)));
    for (n, key) in (0..).zip(&keys) {
        assert_eq!(find(&index, hash(key), key), Some(n));
        let absent = format!("{key}x");
        assert_eq!(find(&index, hash(&absent), &absent), None);
    }
}

/// Where components end is part of the hash, and so is every byte of them.
#[test]
fn hashes_tell_keys_apart() {
    let hash = |names: &[&str]| {
        let bytes = names.iter().map(|name| name.as_bytes());
        bytes.fold(SEED, absorb)
    };
    let keys: [&[&str]; 12] = [
        &[],
        &[""],
        &["a"],
        &["a", ""],
        &["a\0"],
        &["ab", "c"],
        &["a", "bc"],
        &["abc"],
        &["abcdefgh"],
        &["abcdefgh", ""],
        &["abcdefghi"],
        &["abcdefgh", "i"],
    ];
    for (n, one) in keys.iter().enumerate() {
        for other in &keys[n + 1..] {
            assert_ne!(hash(one), hash(other), "{one:?} {other:?}");
        }
    }
    let bytewise = |text: &str| finish(text.bytes().fold(SEED, absorb_byte));
    assert_ne!(bytewise("AB"), bytewise("BA"));
    assert_ne!(bytewise(""), bytewise("\0"));
}

#[test]
fn levels_beyond_the_last_count_as_one() {
    let mut levels = Levels::default();
    assert!(levels.is_empty());
    levels.insert(0);
    levels.insert(62);
    assert!(levels.may_hold(0) && levels.may_hold(62));
    assert!(!levels.may_hold(1) && !levels.may_hold(61) && !levels.may_hold(63));
    levels.insert(usize::MAX);
    assert!(levels.may_hold(63) && levels.may_hold(64) && levels.may_hold(100_000));
    assert!(!levels.is_empty());
}
