use super::*;

#[test]
fn what_looks_like_a_secret() {
    let secret = [
        ("TOKEN", "hunter22"),
        ("GITHUB_PERSONAL_ACCESS_TOKEN", "abcdefgh"),
        ("apiKey", "abcdefgh"),
        ("X-Api-Key", "abcdefgh"),
        ("Authorization", "abcdefgh"),
        ("--api-key", "abcdefgh"),
        ("ANY", "ghp_0123456789abcdefghij"),
        ("ANY", "token=github_pat_0123456789abcdef"),
        ("ANY", "sk-0123456789abcdefghij"),
        ("ANY", "Bearer abcdefghijkl"),
        ("ANY", "AKIA0123456789ABCDEF"),
        ("ANY", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"),
        ("ANY", "postgres://me:pass@db/x"),
        ("ANY", "-----BEGIN RSA PRIVATE KEY-----"),
        ("PASSWORD", "${A:-ghp_0123456789abcdefghij}"),
    ];
    for (name, value) in secret {
        assert!(looks_secret(name, value), "{name} {value}");
    }
    let plain = [
        ("TOKEN", ""),
        ("TOKEN", "${TOKEN}"),
        ("TOKEN", "/run/secrets/token"),
        ("TOKEN", "true"),
        ("MAX_TOKENS", "100000"),
        ("KEYBOARD", "english"),
        ("TOKEN_FILE", "token.txt"),
        ("Authorization", "Bearer ${TOKEN}"),
        ("MODE", "read-only"),
        ("ANY", "sk-short"),
        ("ANY", "https://api.example/v1"),
        ("ANY", "task-0123456789abcdefghij"),
    ];
    for (name, value) in plain {
        assert!(!looks_secret(name, value), "{name} {value}");
    }
}
