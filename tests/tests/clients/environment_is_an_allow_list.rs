//! What a server gets to know of the process that starts it.

use mcpwire_blocking::{EnvPolicy, McpServerDef};
use mcpwire_tests::{Adapter, on_every_adapter, server};
use serde_json::json;

/// Cargo sets it for tests; no server has any business with it.
const OURS: &str = "CARGO_MANIFEST_DIR";

fn only_what_a_program_needs_is_passed_on<A: Adapter>() {
    let names = names::<A>(|def| def);
    assert!(names.contains(&"PATH".to_owned()), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("CARGO")), "{names:?}");
}

fn variables_are_given_by_value_and_by_name<A: Adapter>() {
    let lines = lines::<A>(|def| def.env("GIVEN", "a b=\"c\"").inherit(OURS).inherit("MCPWIRE_IS_NOT_SET"));
    assert!(lines.contains(&"GIVEN=a b=\"c\"".to_owned()), "{lines:?}");
    assert!(lines.contains(&format!("{OURS}={}", env!("CARGO_MANIFEST_DIR"))), "{lines:?}");
    assert!(!lines.iter().any(|line| line.starts_with("MCPWIRE_IS_NOT_SET")), "{lines:?}");
}

fn everything_is_passed_on_if_so_wished<A: Adapter>() {
    let names = names::<A>(|def| def.env_policy(EnvPolicy::Inherit).env("GIVEN", "1"));
    assert!(names.contains(&OURS.to_owned()) && names.contains(&"GIVEN".to_owned()), "{names:?}");
}

fn nothing_is_passed_on_if_so_wished<A: Adapter>() {
    let names = names::<A>(|def| def.env_policy(EnvPolicy::Clear).env("GIVEN", "1"));
    assert_eq!(names, ["GIVEN"]);
}

fn no_shell_reads_the_arguments<A: Adapter>() {
    let server = server!("well-behaved").defined(|def| def.arg("$(exit 3)").arg("; exit 3").arg("'").arg("*"));
    let mut client = server.open::<A>();
    let arguments = client.text("arguments", json!({}));
    assert!(arguments.ends_with("\n$(exit 3)\n; exit 3\n'\n*"), "{arguments:?}");
}

fn the_working_directory_is_that_of_the_definition<A: Adapter>() {
    let directory = env!("CARGO_TARGET_TMPDIR");
    let server = server!("well-behaved").defined(|def| def.cwd(directory));
    let mut client = server.open::<A>();
    assert_eq!(client.text("directory", json!({})), directory);
}

on_every_adapter!(
    only_what_a_program_needs_is_passed_on,
    variables_are_given_by_value_and_by_name,
    everything_is_passed_on_if_so_wished,
    nothing_is_passed_on_if_so_wished,
    no_shell_reads_the_arguments,
    the_working_directory_is_that_of_the_definition,
);

fn lines<A: Adapter>(change: impl FnOnce(McpServerDef) -> McpServerDef) -> Vec<String> {
    let server = server!("well-behaved").defined(change);
    let mut client = server.open::<A>();
    client.text("environment", json!({})).lines().map(str::to_owned).collect()
}

fn names<A: Adapter>(change: impl FnOnce(McpServerDef) -> McpServerDef) -> Vec<String> {
    let name = |line: String| line.split_once('=').map_or(line.clone(), |(name, _)| name.to_owned());
    lines::<A>(change).into_iter().map(name).collect()
}
