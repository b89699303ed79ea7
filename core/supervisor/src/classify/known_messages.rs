//! Tables of known error messages of package managers and programs, with their meaning.
//!
//! Recorded from npm 11, uv and docker 28, with the spellings of older versions.

use alloc::format;

use super::failure::{failure_at, quote};
use crate::ErrorCode::{NetworkError, NotFound, ServiceUnavailable, ValidationError};
use crate::{ErrorCode, Failure, PackageKind, Retry};

const IDENTIFIER: &str = "package.identifier";
const RUNNER: &str = "package.package_type";

struct Rule {
    /// Substrings that one line must contain, in lower case. The comparison ignores case.
    contains: &'static [&'static str],
    code: ErrorCode,
    field: &'static str,
    /// The message for the user. The matching line is appended after a colon.
    text: &'static str,
    retry: Retry,
}

const fn rule(
    contains: &'static [&'static str],
    code: ErrorCode,
    field: &'static str,
    text: &'static str,
    retry: Retry,
) -> Rule {
    Rule { contains, code, field, text, retry }
}

const NO_PACKAGE: &str = "Package not found";
const NO_REGISTRY: &str = "the package registry cannot be reached";

/// Messages of npm, which start with `npm error`, or with `npm ERR!` up to version 9.
const NPM: &[Rule] = &[
    rule(&["npm err", "404 not found"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "code e404"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "notarget no matching version"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["npm err", "code etarget"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["npm err", "could not determine executable"],
        ValidationError,
        IDENTIFIER,
        "the package has no program to run",
        Retry::Never,
    ),
    rule(&["npm err", "invalid tag name"], ValidationError, IDENTIFIER, "invalid package name", Retry::Never),
    rule(&["npm err", "invalid package name"], ValidationError, IDENTIFIER, "invalid package name", Retry::Never),
    rule(&["npm err", "unsupported url type"], ValidationError, IDENTIFIER, "invalid package name", Retry::Never),
    rule(
        &["npm err", "code ebadplatform"],
        ValidationError,
        IDENTIFIER,
        "the package does not support this system",
        Retry::Never,
    ),
    rule(&["npm err", "code e401"], ValidationError, IDENTIFIER, "the package registry requires a login", Retry::Never),
    rule(
        &["npm err", "code e403"],
        ValidationError,
        IDENTIFIER,
        "the package registry denies access to the package",
        Retry::Never,
    ),
    rule(&["npm err", "code enotfound"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "eai_again"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "econnrefused"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "econnreset"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "etimedout"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "err_socket_timeout"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["npm err", "code enospc"], ServiceUnavailable, "", "the disk is full", Retry::Backoff),
    rule(
        &["npm err", "code eacces"],
        ServiceUnavailable,
        "",
        "npm has no write permission for its cache",
        Retry::Never,
    ),
    rule(&["npm err", "code eintegrity"], ServiceUnavailable, "", "the downloaded package is corrupt", Retry::Backoff),
];

const PYPI: &[Rule] = &[
    rule(&["was not found in the package registry"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["was not found in the provided package locations"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["there is no version of"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["is not provided by package"],
        ValidationError,
        IDENTIFIER,
        "the package has no program to run",
        Retry::Never,
    ),
    rule(&["provides no executables"], ValidationError, IDENTIFIER, "the package has no program to run", Retry::Never),
    rule(&["error: failed to parse"], ValidationError, IDENTIFIER, "invalid package name", Retry::Never),
    rule(&["not a valid package"], ValidationError, IDENTIFIER, "invalid package name", Retry::Never),
    rule(
        &["no interpreter found for python"],
        NotFound,
        RUNNER,
        "the required Python version is not installed",
        Retry::Never,
    ),
    rule(&["no solution found"], ServiceUnavailable, IDENTIFIER, "the package cannot be installed", Retry::Never),
    rule(&["error: failed to fetch"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["cause: dns error"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["error: failed to download"], NetworkError, "", NO_REGISTRY, Retry::Backoff),
    rule(&["no space left on device"], ServiceUnavailable, "", "the disk is full", Retry::Backoff),
];

const DOCKER: &[Rule] = &[
    rule(
        &["permission denied", "docker daemon"],
        ServiceUnavailable,
        RUNNER,
        "this user has no permission to use Docker",
        Retry::Never,
    ),
    rule(
        &["permission denied", "docker api"],
        ServiceUnavailable,
        RUNNER,
        "this user has no permission to use Docker",
        Retry::Never,
    ),
    rule(&["cannot connect to the docker daemon"], ServiceUnavailable, RUNNER, "Docker not running", Retry::Backoff),
    rule(&["is the docker daemon running"], ServiceUnavailable, RUNNER, "Docker not running", Retry::Backoff),
    rule(&["error during connect"], ServiceUnavailable, RUNNER, "Docker not running", Retry::Backoff),
    rule(&["failed to connect to the docker api"], ServiceUnavailable, RUNNER, "Docker not running", Retry::Backoff),
    rule(&["manifest unknown"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["pull access denied"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["repository does not exist"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["no such image"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(
        &["no matching manifest for"],
        ValidationError,
        IDENTIFIER,
        "the image does not support this system",
        Retry::Never,
    ),
    rule(&["invalid reference format"], ValidationError, IDENTIFIER, "invalid image name", Retry::Never),
    rule(
        &["executable file not found in"],
        NotFound,
        IDENTIFIER,
        "Package not found: the program is not in the image",
        Retry::Never,
    ),
    rule(
        &["is already in use by container"],
        ServiceUnavailable,
        "",
        "a container from an earlier run still exists",
        Retry::Backoff,
    ),
    rule(
        &["toomanyrequests"],
        ServiceUnavailable,
        "",
        "the rate limit of the image registry is reached",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "no such host"],
        NetworkError,
        "",
        "the image registry cannot be reached",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "timeout"],
        NetworkError,
        "",
        "the image registry cannot be reached",
        Retry::Backoff,
    ),
    rule(
        &["error response from daemon", "connection refused"],
        NetworkError,
        "",
        "the image registry cannot be reached",
        Retry::Backoff,
    ),
    rule(&["no space left on device"], ServiceUnavailable, "", "the disk is full", Retry::Backoff),
    rule(
        &["unknown flag:"],
        ValidationError,
        "package.runtime_arguments",
        "docker rejects the runtime arguments",
        Retry::Never,
    ),
    rule(
        &["unknown shorthand flag:"],
        ValidationError,
        "package.runtime_arguments",
        "docker rejects the runtime arguments",
        Retry::Never,
    ),
];

/// Messages of interpreters whose script or module does not exist.
const BINARY: &[Rule] = &[
    rule(&["can't open file"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["error: cannot find module"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
    rule(&["no module named"], NotFound, IDENTIFIER, NO_PACKAGE, Retry::Never),
];

const ANY: &[Rule] = &[
    rule(&["eaddrinuse"], ServiceUnavailable, "", "the MCP server's port is in use", Retry::Backoff),
    rule(&["address already in use"], ServiceUnavailable, "", "the MCP server's port is in use", Retry::Backoff),
];

/// Returns the failure of the first rule that matches a line. Rules are ordered by meaning, causes before consequences,
/// so the order of the lines does not matter.
pub(super) fn look_up(kind: PackageKind, stderr: &str) -> Option<Failure> {
    let own = match kind {
        PackageKind::Npm => NPM,
        PackageKind::Pypi => PYPI,
        PackageKind::Docker => DOCKER,
        PackageKind::Binary => BINARY,
        PackageKind::Http => &[],
    };
    let lower = stderr.to_ascii_lowercase();
    own.iter().chain(ANY).find_map(|rule| {
        // ASCII lower case keeps the byte length.
        let line =
            lower.lines().zip(stderr.lines()).find(|(line, _)| rule.contains.iter().all(|part| line.contains(part)))?.1;
        Some(failure_at(rule.code, rule.field, format!("{}: {}", rule.text, quote(line)), rule.retry))
    })
}
