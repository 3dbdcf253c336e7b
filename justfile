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

# Builds the components of `guests`, and those of the examples with `--python` and `--js`.
guests *flags:
    cargo xtask guests {{flags}}

# The size of the program with and without `wasm-tools`.
size:
    cargo xtask size

# Fuzz targets (all by default), a minute each: `just fuzz fsproxy_text --seconds 600`. Needs a nightly
# compiler; installs cargo-fuzz below `target` if it is missing.
fuzz *words:
    cargo xtask fuzz {{words}}

# Licences, advisories, banned crates. Needs `cargo install cargo-deny`.
deny:
    cargo deny check
    cargo deny --manifest-path guests/Cargo.toml check

# Spelling. Needs `pip install typos` or `cargo install typos-cli`.
typos:
    typos
