//! What package managers and programs said when they failed, and what a host is to show of it.

use std::time::Duration;

use mcpwire_supervisor::{Cause, ErrorCode, Evidence, Failure, PackageKind, Retry, Stage};

use ErrorCode::{NetworkError, NotFound, ServiceUnavailable, ValidationError};
use PackageKind::{Binary, Docker, Http, Npm, Pypi};

/// Recorded: npm 11.19 with Node.js 20, uv 0.13, Docker 28.2, dash, Python 3; the names of registries are made up.
const NPM_404: &str = "npm warn Unknown user config \"nodedir\". This will stop working in the next major version of npm.
npm error code E404
npm error 404 Not Found - GET https://registry.example/@mcpwire-tests%2fno-such-package
npm error 404
npm error 404  The requested resource '@mcpwire-tests/no-such-package@*' could not be found or you do not have permission to access it.
npm error 404
npm error 404 Note that you can also install from a
npm error 404 tarball, folder, http url, or git url.
npm error A complete log of this run can be found in: /home/u/.npm/_logs/debug-0.log
";
const NPM_9_404: &str = "npm ERR! code E404
npm ERR! 404 Not Found - GET https://registry.example/nope - Not found
npm ERR! 404  'nope@*' is not in this registry.
";
const NPM_VERSION: &str = "npm error code ETARGET
npm error notarget No matching version found for is-odd@99.0.0.
npm error notarget In most cases you or one of your dependencies are requesting a package version that doesn't exist.
";
const NPM_NO_BIN: &str = "npm error could not determine executable to run
npm error A complete log of this run can be found in: /home/u/.npm/_logs/debug-0.log
";
const NPM_NAME: &str = "npm error code EINVALIDTAGNAME
npm error Invalid tag name \"Not A Name!\" of package \"Not A Name!\": Tags may not have any characters that encodeURIComponent encodes.
";
const NPM_UNDERSCORE: &str = "npm error code EINVALIDPACKAGENAME
npm error Invalid package name \"_x\" of package \"_x@1.0.0\": name cannot start with an underscore.
";
const NPM_REFUSED: &str = "npm error code ECONNREFUSED
npm error syscall connect
npm error errno ECONNREFUSED
npm error FetchError: request to http://127.0.0.1:9/is-odd failed, reason: connect ECONNREFUSED 127.0.0.1:9
npm error     at ClientRequest.<anonymous> (/usr/lib/node_modules/npm/node_modules/minipass-fetch/lib/index.js:130:14)
npm error   type: 'system'
npm error }
";
const NPM_DNS: &str = "npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to http://registry.invalid/is-odd failed, reason: getaddrinfo ENOTFOUND registry.invalid
npm error network This is a problem related to network connectivity.
";
const UVX_404: &str = "error: No solution found when resolving tool dependencies
  cause: Because mcpwire-no-such-package-zz was not found in the package registry and you require mcpwire-no-such-package-zz, we can conclude that your requirements are unsatisfiable.
";
const UVX_VERSION: &str = "error: No solution found when resolving tool dependencies
  cause: Because there is no version of mcp==99.0.0 and you require mcp==99.0.0, we can conclude that your requirements are unsatisfiable.
";
const UVX_NO_BIN: &str = "An executable named `nope` is not provided by package `idna`.
The following executables are available:
- idna
";
const UVX_NAME: &str = "error: Failed to parse: `Not A Name!`
  cause: Expected one of `@`, `(`, `<`, `=`, `>`, `~`, `!`, `;`, found `A`
";
const UVX_DNS: &str = "error: Failed to fetch: http://index.invalid/simple/idna/
  cause: error sending request for url (http://index.invalid/simple/idna/)
  cause: client error (Connect)
  cause: dns error
";
const UVX_REFUSED: &str = "error: Failed to fetch: http://127.0.0.1:9/simple/idna/
  cause: error sending request for url (http://127.0.0.1:9/simple/idna/)
  cause: client error (Connect)
  cause: tcp connect error
  cause: Connection refused (os error 111)
";
const UVX_PYTHON: &str = "error: No interpreter found for Python 3.99 in managed installations or search path

hint: uv embeds available Python downloads and may require an update to install new versions.
";
const DOCKER_DAEMON: &str =
    "docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?

Run 'docker run --help' for more information
";
const DOCKER_REFERENCE: &str = "docker: invalid reference format: repository name (Case) must be lowercase

Run 'docker run --help' for more information
";
const DOCKER_FLAG: &str = "unknown flag: --nope

Usage:  docker run [OPTIONS] IMAGE [COMMAND] [ARG...]
";
/// As Docker words them to our knowledge; only those about the daemon, the reference and the flags were recorded.
const DOCKER_PULL: &str = "Unable to find image 'nosuch/image:latest' locally
docker: Error response from daemon: pull access denied for nosuch/image, repository does not exist or may require 'docker login': denied: requested access to the resource is denied.
";
const DOCKER_TAG: &str = "Unable to find image 'alpine:nosuchtag' locally
docker: Error response from daemon: manifest for alpine:nosuchtag not found: manifest unknown: manifest unknown.
";
const DOCKER_NAME: &str = "docker: Error response from daemon: Conflict. The container name \"/mcp-1\" is already in use by container \"4f1c\". You have to remove (or rename) that container to be able to reuse that name.
";
const DOCKER_COMMAND: &str = "docker: Error response from daemon: failed to create task for container: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"serve\": executable file not found in $PATH: unknown.
";
const DOCKER_NOT_ALLOWED: &str = "docker: permission denied while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get \"http://%2Fvar%2Frun%2Fdocker.sock/v1.24/info\": dial unix /var/run/docker.sock: connect: permission denied.
";
const NODE_THROW: &str = "[eval]:1
throw new Error(\"no configuration\")
^

Error: no configuration
    at [eval]:1:7
    at runScriptInThisContext (node:internal/vm:209:10)

Node.js v20.20.2
";
const NODE_MODULE: &str = "node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module '/srv/server.js'
Require stack:
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15) {
  code: 'MODULE_NOT_FOUND',
}

Node.js v20.20.2
";
const NODE_PORT: &str = "node:events:502
      throw er; // Unhandled 'error' event
      ^

Error: listen EADDRINUSE: address already in use :::45335
    at Server.setupListenHandle [as _listen2] (node:net:1908:16)
";
const NODE_TOKEN: &str = "[eval]:1
throw new Error(\"GITHUB_TOKEN is required\")
^

Error: GITHUB_TOKEN is required
    at [eval]:1:7

Node.js v20.20.2
";
const PYTHON_THROW: &str = "Traceback (most recent call last):
  File \"<string>\", line 1, in <module>
RuntimeError: no database
";
const PYTHON_MODULE: &str = "Traceback (most recent call last):
  File \"<string>\", line 1, in <module>
ModuleNotFoundError: No module named 'nope_nope'
";

fn at_start(kind: PackageKind, code: i32, stderr: &str) -> Failure {
    Evidence::new(kind, Stage::Negotiate, Cause::Exit { code: Some(code), signal: None }).stderr(stderr).classify()
}

#[test]
fn a_process_that_ends_before_it_runs() {
    use ErrorCode::{ServiceUnavailable as Unavailable, ValidationError as Invalid};
    use Retry::{Backoff, Input, Never};
    let package = "package.identifier";
    let runner = "package.package_type";
    for (kind, exit, stderr, code, field, starts, retry) in [
        (Npm, 1, NPM_404, NotFound, package, "Package not found: npm error 404 Not Found - GET", Never),
        (Npm, 1, NPM_9_404, NotFound, package, "Package not found", Never),
        (Npm, 1, NPM_VERSION, NotFound, package, "Package not found: npm error notarget No matching", Never),
        (Npm, 1, NPM_NO_BIN, Invalid, package, "the package has no program", Never),
        (Npm, 1, NPM_NAME, Invalid, package, "invalid package name", Never),
        (Npm, 1, NPM_UNDERSCORE, Invalid, package, "invalid package name; correct it: npm", Never),
        (Npm, 1, NPM_REFUSED, NetworkError, "", "the package registry cannot be reached", Backoff),
        (Npm, 1, NPM_DNS, NetworkError, "", "the package registry cannot be reached", Backoff),
        (Npm, 127, "sh: 1: some-server: not found\n", NotFound, package, "Package not found", Never),
        (Npm, 1, NODE_TOKEN, Invalid, "env_vars.GITHUB_TOKEN", "Missing required credentials", Input),
        (Npm, 1, NODE_PORT, Unavailable, "", "the MCP server's port is in use", Backoff),
        (Pypi, 1, UVX_404, NotFound, package, "Package not found", Never),
        (Pypi, 1, UVX_VERSION, NotFound, package, "Package not found", Never),
        (Pypi, 1, UVX_NO_BIN, Invalid, package, "the package has no program", Never),
        (Pypi, 2, UVX_NAME, Invalid, package, "invalid package name", Never),
        (Pypi, 2, UVX_DNS, NetworkError, "", "the package registry cannot be reached", Backoff),
        (Pypi, 2, UVX_REFUSED, NetworkError, "", "the package registry cannot be reached", Backoff),
        (Pypi, 2, UVX_PYTHON, NotFound, runner, "the required Python version", Never),
        (Docker, 125, DOCKER_DAEMON, Unavailable, runner, "Docker not running", Backoff),
        (Docker, 126, DOCKER_NOT_ALLOWED, Unavailable, runner, "this user has no permission", Never),
        (Docker, 125, DOCKER_REFERENCE, Invalid, package, "invalid image name", Never),
        (Docker, 125, DOCKER_FLAG, Invalid, "package.runtime_arguments", "docker rejects", Never),
        (Docker, 125, DOCKER_PULL, NotFound, package, "Package not found", Never),
        (Docker, 125, DOCKER_TAG, NotFound, package, "Package not found", Never),
        (Docker, 125, DOCKER_NAME, Unavailable, "", "a container from an earlier run", Backoff),
        (Docker, 127, DOCKER_COMMAND, NotFound, package, "Package not found", Never),
        (Binary, 1, NODE_THROW, Unavailable, "", "MCP server exited (code 1): Error: no configuration", Backoff),
        (Binary, 1, NODE_MODULE, NotFound, package, "Package not found: Error: Cannot find module", Never),
        (Binary, 1, PYTHON_THROW, Unavailable, "", "MCP server exited (code 1): RuntimeError: no database", Backoff),
        (Binary, 1, PYTHON_MODULE, NotFound, package, "Package not found", Never),
        (Binary, 127, "sh: 1: nothing: not found\n", NotFound, package, "Package not found", Never),
        (Binary, 126, "sh: 1: /x: Permission denied\n", Invalid, package, "MCP server exited (code 126)", Never),
        (Binary, 0, "", Unavailable, "", "MCP server exited (code 0): no stderr captured", Backoff),
        (Npm, 1, "\n \n", Unavailable, "", "MCP server exited (code 1): no stderr captured", Backoff),
    ] {
        let failure = at_start(kind, exit, stderr);
        let error = &failure.error;
        assert_eq!((error.code(), error.field(), failure.retry), (code, field, retry), "{failure} of {stderr}");
        assert!(error.message().starts_with(starts) && error.message().len() < 450, "{failure}");
    }
}

#[test]
fn what_one_package_manager_says_means_nothing_from_another() {
    assert_eq!(at_start(Binary, 1, NPM_404).error.code(), ServiceUnavailable);
    assert_eq!(at_start(Npm, 1, DOCKER_TAG).error.code(), ServiceUnavailable);
}

#[test]
fn a_process_that_ran_has_crashed_whatever_it_says() {
    let crash = |cause| Evidence::new(Npm, Stage::Run, cause).stderr(NPM_404).classify();
    let killed = crash(Cause::Exit { code: None, signal: Some(9) });
    assert_eq!((killed.error.code(), killed.retry), (ServiceUnavailable, Retry::Backoff));
    assert!(killed.error.message().starts_with("MCP server exited (signal 9): "), "{killed}");
    assert!(crash(Cause::Closed).error.message().starts_with("the MCP server closed the connection"));
}

#[test]
fn time_runs_out() {
    for (stage, text, is_retryable) in [
        (Stage::Negotiate, "Handshake timed out after 60 s", true),
        (Stage::Call, "Tool call timed out after 60 s", false),
        (Stage::List, "Listing tools timed out after 60 s", true),
    ] {
        let failure = Evidence::new(Npm, stage, Cause::Timeout(Duration::from_secs(60))).classify();
        assert_eq!((failure.error.code(), failure.error.field()), (NetworkError, "timeout"));
        assert_eq!((failure.error.message(), failure.error.is_retryable()), (text, is_retryable));
    }
}

/// A call is repeated only if the server did not process it, and a start also if it may have.
#[test]
fn what_a_server_may_have_processed_is_not_repeated() {
    for (stage, status, seconds, is_retryable) in [
        (Stage::Call, 500, None, false),
        (Stage::Call, 502, Some(7), true),
        (Stage::Call, 503, None, true),
        (Stage::Call, 429, None, true),
        (Stage::Negotiate, 500, None, true),
        (Stage::Negotiate, 404, Some(7), false),
    ] {
        let cause = Cause::Http { status, retry_after: seconds.map(Duration::from_secs) };
        let error = Evidence::new(Http, stage, cause).classify().error;
        assert_eq!(error.is_retryable(), is_retryable, "{stage:?}: {error}");
    }
    for cause in [Cause::Closed, Cause::Exit { code: Some(1), signal: None }, Cause::Network("broken pipe".into())] {
        assert!(!Evidence::new(Binary, Stage::Call, cause).classify().error.is_retryable());
    }
}

#[test]
fn statuses_of_http() {
    for (status, code, field, retry) in [
        (401, ValidationError, "authorization", Retry::Login),
        (403, ValidationError, "authorization", Retry::Login),
        (404, NotFound, "package.identifier", Retry::Never),
        (405, ValidationError, "transport", Retry::Never),
        (429, ServiceUnavailable, "", Retry::After(Duration::from_secs(7))),
        (503, ServiceUnavailable, "", Retry::After(Duration::from_secs(7))),
    ] {
        let cause = Cause::Http { status, retry_after: Some(Duration::from_secs(7)) };
        let failure = Evidence::new(Http, Stage::Negotiate, cause).classify();
        assert_eq!((failure.error.code(), failure.error.field(), failure.retry), (code, field, retry), "{status}");
        let says_when = failure.error.message().contains("try again after 7 s");
        assert_eq!(says_when, matches!(retry, Retry::After(_)), "{}", failure.error);
    }
    let refused = Cause::Network("connection refused".into());
    let failure = Evidence::new(Http, Stage::Launch, refused).classify();
    let shown = (failure.error.code(), failure.error.field(), failure.retry);
    assert_eq!(shown, (NetworkError, "transport", Retry::Backoff));
}

#[test]
fn answers_that_are_errors() {
    let rpc = |stage, code, message: &'static str| {
        Evidence::new(Binary, stage, Cause::Rpc { code, message: message.into() }).classify()
    };
    let arguments = rpc(Stage::Call, -32_602, "`path` is required");
    assert_eq!((arguments.error.code(), arguments.error.field()), (ValidationError, "arguments"));
    let internal = rpc(Stage::Call, -32_603, "boom");
    assert_eq!((internal.error.code(), internal.error.field()), (ServiceUnavailable, ""));
    let version = rpc(Stage::Negotiate, -32_022, "no");
    assert_eq!((version.error.field(), version.retry), ("protocol_version", Retry::Never));
    let nameless = rpc(Stage::Call, -32_000, "");
    assert!(nameless.error.message().contains("-32000"), "{nameless}");
}

#[test]
fn nothing_that_a_server_says_drives_a_terminal() {
    let failure = at_start(Binary, 1, "Error: \u{1b}[2J\u{1b}]0;title\u{7}bad\u{202e}\n");
    assert!(!failure.error.message().contains(['\u{1b}', '\u{202e}', '\n']), "{:?}", failure.error.message());
    let long = at_start(Binary, 1, &format!("Error: {}", "ä".repeat(10_000)));
    assert!(long.error.message().len() < 400);
}
