//! [`port_of`]: the port that a text names together with a host.
//!
//! Whoever looks a name up does not say for which port. A rule for the usual one would be the first step, and one for
//! the port that was meant the second, so the words of the program and of its command are asked.

/// The port of a host in a text, unless a rule on the host covers it anyway: `https://x.test:8443/`, `x.test:8443`,
/// `host='x.test', port=8443`. Only the end of the text is looked at.
pub(super) fn port_of(text: &str, name: &str) -> Option<u16> {
    let start = text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT));
    let text = text[start..].to_ascii_lowercase();
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
    let ports = text.match_indices(name).filter_map(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        if before.ends_with(is_of_name) || after.starts_with(is_of_name) {
            return None;
        }
        let keyword = after.trim_start_matches(['\'', '"', ',', ' ']);
        let number = after.strip_prefix(':').or(keyword.strip_prefix("port="))?;
        let end = number.find(|c: char| !c.is_ascii_digit());
        number[..end.unwrap_or(number.len())].parse::<u16>().ok()
    });
    let mut ports = ports.filter(|port| !USUAL.contains(port));
    ports.next()
}

/// The ports that a rule without one covers; nothing is on the first.
const USUAL: [u16; 3] = [0, 80, 443];

/// How much of a text is looked at.
const LOOKED_AT: usize = 32 << 10;

#[cfg(test)]
mod tests {
    use super::port_of;

    #[test]
    fn a_port_stands_behind_its_host() {
        let check = |text: &str, port: Option<u16>| {
            assert_eq!(port_of(text, "x.test"), port, "{text}");
        };
        check("curl https://x.test:8443/path", Some(8443));
        check("GET HTTP://me:secret@X.test:8080", Some(8080));
        check(
            "HTTPSConnectionPool(host='x.test', port=8443): Max retries",
            Some(8443),
        );
        check("x.test then x.test:5432", Some(5432));
        check("https://x.test:443/ http://x.test:80/ x.test:0", None);
        check("x.test: 8443, a.x.test:1, x.test.a:2, x.test:99999", None);
        check("y.test:8443 \u{e9}x.tes", None);
        check("x.test:", None);
    }
}
