# Everything here is also reachable without `just`, through `cargo xtask`.

# Lists the recipes.
default:
    @just --list

# What CI checks: formatting, lints, tests, documentation, generated files.
check:
    cargo xtask check

# All tests.
test:
    cargo xtask test

# Benchmarks, each with ratios taken in one interleaved run.
bench *names:
    cargo xtask bench {{names}}

# Writes the generated files again: the JSON Schema and the list of keys.
generate:
    cargo xtask generate

# Licences, advisories, banned crates. Needs `cargo install cargo-deny`.
deny:
    cargo deny check

# Spelling. Needs `pip install typos` or `cargo install typos-cli`.
typos:
    typos
