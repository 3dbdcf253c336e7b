//! Which filled values are kept out of what is shown.

use super::{credentials, is_secret};

#[test]
fn settings_and_places_are_no_secrets() {
    let check = |name, value, expected| {
        assert_eq!(is_secret(name, value), expected, "{name}={value}");
    };
    check("GITHUB_TOKEN", "ghp_0123456789", true);
    check("PASSWORD", "hunter2", true);
    check("PIN", "123456", true);
    check("HOME", "/home/u", false);
    check("XDG_CONFIG_HOME", "/home/u/.config", false);
    check("LC_ALL", "C.UTF-8", false);
    check("VERBOSE", "True", false);
    check("PORT", "8080", false);
    check("LEVEL", "debug", false);
    // A name that only begins like one of those is not one.
    check("HOMEASSISTANT_TOKEN", "abcdef", true);
}

#[test]
fn credentials_are_known_without_their_scheme() {
    assert_eq!(credentials("Bearer abc"), Some("abc"));
    assert_eq!(credentials(" basic  dXNlcjpwYXNz "), Some("dXNlcjpwYXNz"));
    for whole in ["abc", "my own words", "Bearer", "bearerabc x"] {
        assert_eq!(credentials(whole), None, "{whole}");
    }
}
