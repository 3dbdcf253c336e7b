//! Names: those that a server can have in jig.

use std::collections::BTreeSet;

/// The name of a server in jig, as near to the client's as can be, which none of `taken` has.
pub fn fit(name: &str, taken: &BTreeSet<String>) -> String {
    let mut fitted = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '-' || c == '_' => fitted.push(c),
            // Several in a row say no more than one.
            _ if fitted.ends_with('_') => {}
            _ => fitted.push('_'),
        }
        if fitted.len() >= LONGEST {
            break;
        }
    }
    if fitted != name {
        fitted = fitted.trim_matches('_').to_owned();
    }
    if !fitted.starts_with(|c: char| c.is_ascii_alphabetic()) {
        fitted.insert_str(0, "server_");
        fitted.truncate(LONGEST);
        fitted = fitted.trim_end_matches('_').to_owned();
    }
    let base = fitted.clone();
    let mut number = 2_usize;
    while taken.contains(&fitted) {
        let ending = format!("_{number}");
        let room = base.len().min(LONGEST - ending.len());
        fitted = format!("{}{ending}", &base[..room]);
        number += 1;
    }
    fitted
}

/// The longest name of a server.
const LONGEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_jig_can_have() {
        let check = |name: &str, fitted: &str| {
            assert_eq!(fit(name, &BTreeSet::new()), fitted, "{name:?}");
        };
        check("github", "github");
        check("My-Server_2", "My-Server_2");
        check("my server", "my_server");
        check("io.github.user/weather", "io_github_user_weather");
        check("7zip", "server_7zip");
        check("-x", "server_-x");
        check("_x", "server__x");
        check(" x", "x");
        check("x_", "x_");
        check("", "server");
        check("日本", "server");
        check("a\u{1b}[31m\n\0b", "a_31m_b");
        check(&"x".repeat(1000), &"x".repeat(32));
        check(&"7".repeat(1000), &format!("server_{}", "7".repeat(25)));
    }

    #[test]
    fn two_that_become_one_get_numbers() {
        let mut taken = BTreeSet::new();
        for expected in ["a_b", "a_b_2", "a_b_3"] {
            let name = fit("a b", &taken);
            assert_eq!(name, expected);
            taken.insert(name);
        }
        let long = "x".repeat(40);
        taken.insert("x".repeat(32));
        assert_eq!(fit(&long, &taken), format!("{}_2", "x".repeat(30)));
    }
}
