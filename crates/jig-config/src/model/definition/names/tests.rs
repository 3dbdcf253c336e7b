use super::*;

fn named(wanted: &[(usize, &str, &str)], taken: &[&str]) -> Vec<String> {
    let servers: Vec<String> = wanted.iter().map(|(rank, ..)| format!("s{rank}")).collect();
    let wanted: Vec<UnnamedTool<'_>> = wanted
        .iter()
        .zip(&servers)
        .map(|((rank, prefix, tool), server)| UnnamedTool {
            rank: *rank,
            server,
            prefix,
            tool,
        })
        .collect();
    let names = names(&wanted, |name| taken.contains(&name));
    let names = names
        .into_iter()
        .map(|name| name.expect("a name").to_string());
    names.collect()
}

#[test]
fn plain_names_stay() {
    assert_eq!(
        named(&[(0, "a_", "x"), (1, "b_", "x")], &[]),
        ["a_x", "b_x"]
    );
}

#[test]
fn a_long_name_is_cut() {
    let long = "x".repeat(100);
    let names = named(&[(0, "", &long)], &[]);
    assert_eq!(names[0].len(), ToolName::MAX_LENGTH);
    assert!(names[0].starts_with(&"x".repeat(57)), "{names:?}");
    let other = "x".repeat(101);
    let both = named(&[(0, "", &long), (0, "", &other)], &[]);
    assert_eq!(both[0], names[0], "another tool changes nothing");
    assert_ne!(both[0], both[1]);
}

/// Whoever knows how names are made cannot take one by it.
#[test]
fn a_name_made_to_collide_takes_nothing() {
    let spaced = named(&[(0, "", "a b"), (0, "", "a_b")], &[]);
    assert_eq!(spaced[1], "a_b");
    // A tool that is called as the other was renamed keeps its own name.
    let both = named(&[(0, "", "a b"), (0, "", "a_b"), (0, "", &spaced[0])], &[]);
    assert_eq!((both[1].as_str(), &both[2]), ("a_b", &spaced[0]));
    assert!(
        both[0].starts_with("a_b_") && both[0] != spaced[0],
        "{both:?}"
    );
    // The name that a person declared is nobody else's, nor what comes of it.
    let longer = named(&[(0, "", "a b")], &["a_b", &spaced[0]]);
    assert_eq!(longer[0].len(), "a_b_".len() + 12);
}

#[test]
fn the_first_server_that_spells_it_so_has_the_name() {
    let names = named(&[(1, "", "x_y"), (0, "x_", "y")], &[]);
    assert_eq!(names[1], "x_y");
    assert!(names[0].starts_with("x_y_"), "{names:?}");
}

#[test]
fn a_name_of_nothing_but_foreign_characters() {
    assert_eq!(named(&[(0, "", "é")], &[]), ["_"]);
    assert_eq!(named(&[(0, "", "é"), (0, "", "ö")], &[]).len(), 2);
}
