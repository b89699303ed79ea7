//! Known error messages of package managers and interpreters, and the failures that they indicate.
//!
//! The messages come from npm 11, uv and docker 28, and include the wording of older versions.

use alloc::format;

use super::stderr::quote;
use crate::ErrorKind::{InvalidConfiguration, Network, PackageNotFound, RateLimited, Start, Unauthorized, Unavailable};
use crate::{ErrorCode, ErrorKind, Failure, PackageKind, Retry};

/// The configuration field with the name of the package, program or image, or with the address of the server.
pub(super) const IDENTIFIER: &str = "package.identifier";

/// The configuration field with the kind of the package, which determines the program that starts it.
const RUNNER: &str = "package.package_type";

/// The failure that a known error message indicates.
struct KnownFailure {
    kind: ErrorKind,
    field: &'static str,
    /// The error message for the user. A colon and the matching line of the server's output are appended.
    text: &'static str,
    retry: Retry,
}

/// Substrings of an error message in lower case, and the failure that the message indicates. A rule matches a line of
/// output that contains all substrings, ignoring case.
type Rule = (&'static [&'static str], KnownFailure);

const fn permanent(kind: ErrorKind, field: &'static str, text: &'static str) -> KnownFailure {
    KnownFailure { kind, field, text, retry: Retry::Never }
}

const fn temporary(kind: ErrorKind, field: &'static str, text: &'static str) -> KnownFailure {
    KnownFailure { kind, field, text, retry: Retry::Backoff }
}

const NO_PACKAGE: KnownFailure = permanent(PackageNotFound, IDENTIFIER, "Package not found");
const NO_PROGRAM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the package has no program to run; choose another package");
const BAD_NAME: KnownFailure = permanent(InvalidConfiguration, IDENTIFIER, "invalid package name; correct it");
const WRONG_SYSTEM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the package does not support this system; choose another package");
const REGISTRY_LOGIN: KnownFailure =
    permanent(Unauthorized, IDENTIFIER, "the package registry requires a login; log in with the package manager");
const REGISTRY_DENIES: KnownFailure = permanent(
    Unauthorized,
    IDENTIFIER,
    "the package registry denies access to the package; log in with another account",
);
const NO_REGISTRY: KnownFailure = temporary(Network, "", "the package registry cannot be reached; check the network");
const DISK_FULL: KnownFailure = temporary(Unavailable, "", "the disk is full; free some space");
const NPM_CACHE: KnownFailure =
    permanent(Unavailable, "", "npm has no write permission for its cache; change the owner of the cache folder");
const CORRUPT: KnownFailure =
    temporary(Unavailable, "", "the downloaded package is corrupt; clean the cache with `npm cache clean --force`");
const NO_PYTHON: KnownFailure = permanent(Start, RUNNER, "the required Python version is not installed; install it");
const NOT_INSTALLABLE: KnownFailure =
    permanent(Unavailable, IDENTIFIER, "the package cannot be installed; check its name and version");
const DOCKER_DENIED: KnownFailure =
    permanent(Unavailable, RUNNER, "this user has no permission to use Docker; add the user to the group `docker`");
const NO_DOCKER: KnownFailure = temporary(Unavailable, RUNNER, "Docker not running; start Docker");
const WRONG_IMAGE_SYSTEM: KnownFailure =
    permanent(InvalidConfiguration, IDENTIFIER, "the image does not support this system; choose another image");
const BAD_IMAGE_NAME: KnownFailure = permanent(InvalidConfiguration, IDENTIFIER, "invalid image name; correct it");
const NOT_IN_IMAGE: KnownFailure =
    permanent(PackageNotFound, IDENTIFIER, "Package not found: the program is not in the image");
const OLD_CONTAINER: KnownFailure =
    temporary(Unavailable, "", "a container from an earlier run still exists; remove it with `docker rm`");
const IMAGE_RATE_LIMIT: KnownFailure = temporary(
    RateLimited,
    "",
    "the rate limit of the image registry is reached; log in to the registry, or try again later",
);
const NO_IMAGE_REGISTRY: KnownFailure =
    temporary(Network, "", "the image registry cannot be reached; check the network");
const BAD_ARGUMENTS: KnownFailure =
    permanent(InvalidConfiguration, "package.runtime_arguments", "docker rejects the runtime arguments; correct them");
const PORT_IN_USE: KnownFailure = temporary(
    Unavailable,
    "",
    "the MCP server's port is in use; stop the program that uses it, or choose another port",
);

/// Rules for messages of npm. The messages start with `npm error`, or with `npm ERR!` up to npm 9.
const NPM: &[Rule] = &[
    (&["npm err", "404 not found"], NO_PACKAGE),
    (&["npm err", "code e404"], NO_PACKAGE),
    (&["npm err", "notarget no matching version"], NO_PACKAGE),
    (&["npm err", "code etarget"], NO_PACKAGE),
    (&["npm err", "could not determine executable"], NO_PROGRAM),
    (&["npm err", "invalid tag name"], BAD_NAME),
    (&["npm err", "invalid package name"], BAD_NAME),
    (&["npm err", "unsupported url type"], BAD_NAME),
    (&["npm err", "code ebadplatform"], WRONG_SYSTEM),
    (&["npm err", "code e401"], REGISTRY_LOGIN),
    (&["npm err", "code e403"], REGISTRY_DENIES),
    (&["npm err", "code enotfound"], NO_REGISTRY),
    (&["npm err", "eai_again"], NO_REGISTRY),
    (&["npm err", "econnrefused"], NO_REGISTRY),
    (&["npm err", "econnreset"], NO_REGISTRY),
    (&["npm err", "etimedout"], NO_REGISTRY),
    (&["npm err", "err_socket_timeout"], NO_REGISTRY),
    (&["npm err", "code enospc"], DISK_FULL),
    (&["npm err", "code eacces"], NPM_CACHE),
    (&["npm err", "code eintegrity"], CORRUPT),
];

const PYPI: &[Rule] = &[
    (&["was not found in the package registry"], NO_PACKAGE),
    (&["was not found in the provided package locations"], NO_PACKAGE),
    (&["there is no version of"], NO_PACKAGE),
    (&["is not provided by package"], NO_PROGRAM),
    (&["provides no executables"], NO_PROGRAM),
    (&["error: failed to parse"], BAD_NAME),
    (&["not a valid package"], BAD_NAME),
    (&["no interpreter found for python"], NO_PYTHON),
    (&["no solution found"], NOT_INSTALLABLE),
    (&["error: failed to fetch"], NO_REGISTRY),
    (&["cause: dns error"], NO_REGISTRY),
    (&["error: failed to download"], NO_REGISTRY),
    (&["no space left on device"], DISK_FULL),
];

const DOCKER: &[Rule] = &[
    (&["permission denied", "docker daemon"], DOCKER_DENIED),
    (&["permission denied", "docker api"], DOCKER_DENIED),
    (&["cannot connect to the docker daemon"], NO_DOCKER),
    (&["is the docker daemon running"], NO_DOCKER),
    (&["error during connect"], NO_DOCKER),
    (&["failed to connect to the docker api"], NO_DOCKER),
    (&["manifest unknown"], NO_PACKAGE),
    (&["pull access denied"], NO_PACKAGE),
    (&["repository does not exist"], NO_PACKAGE),
    (&["no such image"], NO_PACKAGE),
    (&["no matching manifest for"], WRONG_IMAGE_SYSTEM),
    (&["invalid reference format"], BAD_IMAGE_NAME),
    (&["executable file not found in"], NOT_IN_IMAGE),
    (&["is already in use by container"], OLD_CONTAINER),
    (&["toomanyrequests"], IMAGE_RATE_LIMIT),
    (&["error response from daemon", "no such host"], NO_IMAGE_REGISTRY),
    (&["error response from daemon", "timeout"], NO_IMAGE_REGISTRY),
    (&["error response from daemon", "connection refused"], NO_IMAGE_REGISTRY),
    (&["no space left on device"], DISK_FULL),
    (&["unknown flag:"], BAD_ARGUMENTS),
    (&["unknown shorthand flag:"], BAD_ARGUMENTS),
];

/// Rules for messages of interpreters that do not find a script or module.
const BINARY: &[Rule] = &[
    (&["can't open file"], NO_PACKAGE),
    (&["error: cannot find module"], NO_PACKAGE),
    (&["no module named"], NO_PACKAGE),
];

/// Rules for messages that servers of every package kind write.
const COMMON: &[Rule] = &[(&["eaddrinuse"], PORT_IN_USE), (&["address already in use"], PORT_IN_USE)];

/// Searches `stderr` for the known error messages of this package kind. Returns the failure of the first rule that
/// matches a line, or `None` if no rule matches.
pub(super) fn find_failure(kind: PackageKind, stderr: &str) -> Option<Failure> {
    let rules = match kind {
        PackageKind::Npm => NPM,
        PackageKind::Pypi => PYPI,
        PackageKind::Docker => DOCKER,
        PackageKind::Binary => BINARY,
        PackageKind::Http => &[],
    };
    let lower = stderr.to_ascii_lowercase();
    // Rules for causes precede rules for their consequences, so the order of the lines does not matter.
    rules.iter().chain(COMMON).find_map(|(contains, known)| {
        // Conversion to ASCII lower case preserves the lines.
        let line =
            lower.lines().zip(stderr.lines()).find(|(line, _)| contains.iter().all(|part| line.contains(part)))?.1;
        let text = format!("{}: {}", known.text, quote(line));
        let failure = Failure::at_field(known.kind, known.field, text, known.retry);
        // Package managers use these messages if a program that the package needs does not exist.
        Some(if known.kind == Start { failure.with_code(ErrorCode::NotFound) } else { failure })
    })
}
