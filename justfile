# `just ci` is the whole CI; each step can be run on its own.

pure := "-p mcpwire-text -p mcpwire-types -p mcpwire-core -p mcpwire-oauth -p mcpwire-supervisor -p mcpwire-tool-client"

# The recipes.
default:
    @just --list

# All that CI runs.
ci:
    bash .ci/run

# The tests without processes and sockets: of the pure crates, the async client and the hub's supervisor, without the longest random ones.
quick:
    cargo fmt --all --check
    cargo clippy --locked --quiet {{pure}} -- -D warnings
    cargo test --locked --quiet {{pure}} --lib
    cargo test --locked --quiet -p mcpwire-engine-tests -- --skip fuzz_targets --skip round_trips --skip json_ --skip random --skip thousand --skip hostile
    cargo test --locked --quiet -p mcpwire-driver --test virtual_time

# Format the code.
fmt:
    cargo fmt --all
    cargo fmt --manifest-path tests/no_std/Cargo.toml

# Is the code formatted?
format:
    bash .ci/run format

# The modules of the pure crates keep to their layers, without circles.
graph:
    bash .ci/run graph

# No test compares real time with an upper limit, or rests for a fixed time.
clocks:
    bash .ci/run clocks

# Clippy, warnings are errors.
lint:
    bash .ci/run lint

# The documentation, warnings are errors.
docs:
    bash .ci/run docs

# The public API is as listed in docs/public-api; `just api write` writes the listing.
api *ARGS:
    bash .ci/api {{ARGS}}

# The engine links without std.
no-std:
    bash .ci/run no_std

# Each crate builds with its features on and off.
features:
    bash .ci/run features

# The packages for crates.io: content, metadata, sizes; `just package verify` builds them.
package *ARGS:
    bash .ci/package {{ARGS}}

# The workflows of GitHub are valid.
workflows:
    bash .ci/run workflows

# The checks that CI runs once a week: packages build, minimal versions, semver, external types.
full *ARGS:
    bash .ci/full {{ARGS}}

# It compiles for macOS and Windows, and the tool runs under Wine.
platforms:
    bash .ci/run platforms

# The tests with serde_json as other crates of an application may have set it.
json:
    bash .ci/full json

# The oldest supported compiler still builds it.
msrv:
    bash .ci/run msrv

# Licences, advisories and sources of the dependencies.
deny:
    bash .ci/run deny

# The examples run.
examples:
    bash .ci/run examples

# What the README shows is what happens.
readme:
    bash .ci/run demo readme

# The command-line tool on servers that others wrote, with logins.
interop:
    bash .ci/full interop

# Hubs and commands are killed at random moments: `just faults --kills 500 --seed 7`.
faults *ARGS:
    tests/faults/run {{ARGS}}

# The official conformance suite.
conformance:
    bash .ci/run conformance

# All tests.
test *ARGS:
    cargo test --workspace {{ARGS}}

# The measurements.
bench *ARGS:
    cargo bench -p mcpwire-benches {{ARGS}}

# Fuzz one target for some seconds.
fuzz TARGET SECONDS="60":
    cargo +nightly fuzz run {{TARGET}} -- -max_total_time={{SECONDS}}

# The fuzz targets build.
fuzz-check:
    bash .ci/run fuzz
