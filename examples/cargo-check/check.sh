#!/bin/sh
# Runs `cargo check` or `cargo test`. What it prints on the way is what `fetch` shows.
set -eu
what=$1
package=${2:-}
exec cargo "$what" --color never ${package:+--package "$package"}
