use std::collections::BTreeSet;

use super::{TABLES, attacks};
use crate::attack::Class;

#[test]
fn names_are_unique_and_plain() {
    let mut seen = BTreeSet::new();
    for attack in attacks() {
        let name = attack.name;
        assert!(seen.insert(name), "`{name}` is there twice");
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(name.bytes().all(is_plain), "`{name}`");
        assert!(
            !attack.about.is_empty() && !attack.about.ends_with('.'),
            "`{name}`"
        );
    }
}

#[test]
fn there_are_as_many_as_promised() {
    let hostile = attacks().filter(|attack| attack.class != Class::Work);
    assert!(hostile.count() >= 150);
}

#[test]
fn every_table_is_of_one_class() {
    for table in TABLES {
        let classes: BTreeSet<Class> = table.iter().map(|attack| attack.class).collect();
        assert_eq!(classes.len(), 1, "{classes:?}");
    }
}
