//! Tests of the messages, kinds and parts of errors.

use std::io;
use std::time::Duration;

use mcpwire_core::{
    CallError, CallToolResult, CloseReason, ConnectError, Deadline, InputError, Json, PeerError, ProtocolVersion,
    Requirement, RpcError, SendError, TaskError,
};
use mcpwire_text::json::peer_error;

use super::*;
use crate::{CallbackPanic, Exit, McpServerDef, PanicSource};

/// Returns a unique word, to count its occurrences in messages.
fn mark(number: usize) -> String {
    format!("mark{number:03}")
}

fn rpc(number: usize) -> Arc<RpcError> {
    Arc::new(RpcError::new(-32_000, mark(number)))
}

fn peer(number: usize) -> Arc<PeerError> {
    let error = Json::parse(format!(r#"{{"{}":1}}"#, mark(number))).unwrap().decode::<String>().unwrap_err();
    Arc::new(peer_error::malformed(format!("{} {error}", mark(number + 1)), "at"))
}

fn structured(text: &str) -> CallError {
    let result: CallToolResult = Json::parse(text).unwrap().decode().unwrap();
    let error = result.structured::<u8>().unwrap_err().of_tool(mark(0));
    CallError::Structured { error: error.into() }
}

fn closed(reason: CloseReason) -> CallError {
    CallError::Closed { method: "tools/call".into(), reason }
}

fn task(fault: TaskError) -> CallError {
    CallError::Task { method: "tools/call".into(), task: mark(0), fault }
}

fn input(error: InputError) -> CallError {
    CallError::Input { method: "tools/call".into(), error: error.into() }
}

/// Returns one error of each variant. Each text that an error contains is a mark.
fn call_errors() -> Vec<CallError> {
    let method = || "tools/call".into();
    let after = Duration::from_secs(30);
    let lost = CallError::Timeout { method: "tasks/get".into(), after, deadline: Deadline::Idle };
    let not_opened = ConnectError::Refused { method: "initialize", error: rpc(1) };
    let (name, asked) = (mark(2), mark(3));
    vec![
        CallError::Server { method: method(), error: rpc(1) },
        CallError::ToolNotFound { tool: mark(0), error: Some(rpc(1)) },
        CallError::ToolNotFound { tool: mark(0), error: None },
        CallError::Invalid { method: method(), error: peer(1) },
        structured(r#"{"content":[{"type":"text","text":"mark001"}],"isError":true}"#),
        structured(r#"{"content":[],"structuredContent":{"mark001":1},"isError":true}"#),
        structured(r#"{"content":[{"type":"text","text":"mark001"}]}"#),
        structured(r#"{"content":[],"structuredContent":{"mark001":1}}"#),
        CallError::Timeout { method: method(), after, deadline: Deadline::Idle },
        CallError::Timeout { method: method(), after, deadline: Deadline::Total },
        CallError::Cancelled { method: method() },
        closed(CloseReason::ByServer),
        closed(CloseReason::ByClient),
        closed(CloseReason::NotOpened(not_opened.into())),
        closed(CloseReason::Failed(mark(1).into())),
        input(InputError::NotOffered { name: name.clone(), asked: asked.clone() }),
        input(InputError::Refused { name: name.clone(), asked: asked.clone(), error: (*rpc(1)).clone() }),
        input(InputError::Panicked { name, asked, message: mark(1) }),
        input(InputError::TooManyInputs { limit: 1 }),
        input(InputError::TooManyInputRounds { limit: 1 }),
        input(InputError::RetryTooLarge { limit: 1 }),
        input(InputError::NotSent(SendError::Params { method: mark(2), reason: mark(1) })),
        task(TaskError::Cancelled { message: Some(mark(1)) }),
        task(TaskError::Failed { message: Some(mark(1)) }),
        task(TaskError::NoResult { message: Some(mark(1)) }),
        task(TaskError::Unknown { error: rpc(1) }),
        task(TaskError::AnswersRefused { error: rpc(1) }),
        task(TaskError::Lost { error: lost.into() }),
        task(TaskError::TooMany { limit: 1 }),
        CallError::WrongTicket { method: method() },
    ]
}

fn connect_errors() -> Vec<ConnectError> {
    vec![
        ConnectError::UnsupportedVersion { server: vec![mark(1)], client: vec![mark(2)] },
        ConnectError::Refused { method: "initialize", error: rpc(1) },
        ConnectError::Invalid { method: "initialize", error: peer(1) },
        ConnectError::Timeout { after: Duration::from_secs(30) },
        ConnectError::Closed,
        ConnectError::Cancelled,
        ConnectError::Failed(mark(1).into()),
    ]
}

fn send_errors() -> Vec<SendError> {
    let method = "prompts/list";
    vec![
        SendError::NotInitialized,
        SendError::AlreadyInitialized,
        SendError::Closed,
        SendError::Params { method: "tools/call".into(), reason: mark(1) },
        SendError::NotAnObject { method: "tools/call".into() },
        SendError::NotInRevision {
            method: "ping",
            version: ProtocolVersion::V2026_07_28,
            instead: "`server/discover`",
        },
        SendError::NotOffered { method, requires: Requirement::Prompts },
        SendError::NoLogging,
        SendError::UnknownLogLevel { level: mark(0) },
        SendError::TaskRequired { tool: mark(0) },
        SendError::TooManyInFlight { limit: 1 },
        SendError::TransmitFull { limit: 1 },
    ]
}

fn spawn_errors() -> Vec<SpawnError> {
    use SpawnErrorKind::{
        DirectoryNotFound, InterpreterNotFound, Invalid, NotExecutable, NotFound, NotPermitted, Other,
    };
    let kinds = [NotFound, InterpreterNotFound, DirectoryNotFound, NotExecutable, NotPermitted, Invalid, Other];
    let error = || Arc::new(io::Error::other(mark(1)));
    let def = McpServerDef::new(mark(2)).cwd(mark(3));
    kinds.map(|kind| SpawnError::new(&def, kind, error())).into()
}

#[cfg(feature = "http")]
fn http_errors() -> Vec<HttpError> {
    use mcpwire_core::http::{Failure, FailureKind};

    let (excerpt, retry_after) = (mark(1), Some(Duration::from_secs(7)));
    let failed = |kind| HttpError::Failed(Failure::new(kind, mark(1)));
    vec![
        failed(FailureKind::Unreachable),
        failed(FailureKind::Tls),
        failed(FailureKind::Broken),
        failed(FailureKind::Invalid),
        failed(FailureKind::Redirect),
        failed(FailureKind::NotMade),
        HttpError::Status { status: 503, excerpt: excerpt.clone(), retry_after },
        HttpError::Unauthorized { status: 401, challenges: vec![mark(2)], excerpt: excerpt.clone(), retry_after },
        HttpError::ContentType { status: 200, found: mark(2), excerpt },
        HttpError::NoAnswer { status: 200, attempts: 0 },
        HttpError::NoAnswer { status: 200, attempts: 5 },
        HttpError::SessionLost,
        HttpError::NotRenewed { reason: mark(1) },
        HttpError::Endpoint { uri: mark(1) },
    ]
}

fn causes() -> Vec<Cause> {
    let mut causes: Vec<Cause> = call_errors().into_iter().map(Cause::from).collect();
    causes.extend(connect_errors().into_iter().map(Cause::from));
    causes.extend(send_errors().into_iter().map(Cause::from));
    causes.extend(spawn_errors().into_iter().map(Cause::from));
    causes.push(HttpSetupError::Missing.into());
    causes.push(HttpSetupError::Client(mark(1)).into());
    causes.push(io::Error::other(mark(1)).into());
    causes.push(io::Error::from_raw_os_error(2).into());
    #[cfg(feature = "http")]
    {
        let settings = mcpwire_core::http::Settings::new("ftp://mark001").unwrap_err();
        causes.push(HttpSetupError::Settings(settings).into());
        causes.push(HttpSetupError::SettingNotApplied("proxy").into());
        for error in http_errors() {
            let error = Arc::new(error);
            causes.push(CallError::Http { method: "tools/call".into(), error: Arc::clone(&error) }.into());
            causes.push(ConnectError::Http { method: "initialize", error }.into());
        }
    }
    causes
}

/// Returns the messages of an error and of its sources.
fn chain(error: &(dyn StdError + 'static)) -> Vec<String> {
    let mut messages = vec![error.to_string()];
    let mut next = error.source();
    while let Some(error) = next {
        messages.push(error.to_string());
        next = error.source();
    }
    messages
}

#[track_caller]
fn assert_each_text_occurs_once(error: &(dyn StdError + 'static)) {
    let messages = chain(error);
    for (index, outer) in messages.iter().enumerate() {
        assert!(!outer.is_empty() && !outer.ends_with(": "), "{outer:?}");
        for inner in &messages[index + 1..] {
            assert!(!outer.contains(inner.as_str()), "{outer:?} contains {inner:?}");
        }
    }
    let all = messages.join("\n");
    for number in 0..6 {
        assert!(all.matches(&mark(number)).count() <= 1, "{} occurs twice: {all}", mark(number));
    }
}

#[test]
fn a_chain_of_sources_repeats_no_text() {
    for cause in causes() {
        assert_each_text_occurs_once(&cause);
        assert_each_text_occurs_once(&Error::new("here", cause.clone()));
        let report = ProcessReport::new(Some(Exit::new(Some(1), None)), mark(5));
        assert_each_text_occurs_once(&Error::new("here", cause).with_process(Some(report.into())));
    }
    for error in call_errors() {
        assert_each_text_occurs_once(&error);
    }
    let panic = CallbackPanic { source: PanicSource::Trace, message: mark(1) };
    assert_each_text_occurs_once(&panic);
}

/// The sources of an error that a stream of the program reports are sources of the client's error.
#[test]
fn the_sources_of_an_error_of_the_program_are_preserved() {
    #[derive(Debug, thiserror::Error)]
    #[error("the tunnel broke")]
    struct Tunnel(#[source] io::Error);

    let error = Error::new("here", io::Error::other(Tunnel(io::Error::other("the cable is cut"))));
    assert_eq!(chain(&error), ["server `here`: the connection failed: the tunnel broke", "the cable is cut"]);
}

/// `with_tool` does not repeat the name of the tool in messages that already contain the name.
#[test]
fn the_message_contains_the_name_of_the_tool_once() {
    for cause in call_errors().into_iter().map(Cause::from).chain(send_errors().into_iter().map(Cause::from)) {
        let is_wrong_ticket = matches!(cause, Cause::Call(CallError::WrongTicket { .. }));
        let error = Error::new("here", cause).with_tool(&mark(0).replace("mark", "tool"));
        let text = error.to_string();
        let count = text.matches("tool000").count();
        let cause_contains_tool = matches!(
            error.cause(),
            Cause::Call(CallError::ToolNotFound { .. } | CallError::Structured { .. })
                | Cause::Send(SendError::TaskRequired { .. })
        );
        assert_eq!(count, usize::from(!cause_contains_tool && !is_wrong_ticket), "{text}");
        assert!(text.starts_with("server `here`: "), "{text}");
        assert!(error.tool().is_some());
    }
}

#[test]
fn messages_contain_the_server_the_method_the_tool_and_the_reason() {
    let timeout =
        |deadline| CallError::Timeout { method: "tools/call".into(), after: Duration::from_secs(30), deadline };
    let of_tool = |cause: Cause| Error::new("github", cause).with_tool("create_issue").to_string();
    assert_eq!(
        of_tool(timeout(Deadline::Idle).into()),
        "server `github`: `tools/call` of `create_issue` timed out after 30 s without an answer or progress"
    );
    assert_eq!(
        of_tool(timeout(Deadline::Total).into()),
        "server `github`: `tools/call` of `create_issue` timed out after 30 s"
    );
    assert_eq!(
        of_tool(SendError::Closed.into()),
        "server `github`: `tools/call` of `create_issue` was not sent: the connection has ended"
    );
    assert_eq!(
        of_tool(task(TaskError::Cancelled { message: None }).into()),
        "server `github`: the task \"mark000\" of `tools/call` of `create_issue` was cancelled by the server"
    );
    let ended = Error::new("git\x1b[31mhub", closed(CloseReason::ByServer))
        .with_tool("a\x07b")
        .with_process(Some(ProcessReport::new(Some(Exit::new(Some(7), None)), "one\ntwo\n").into()));
    assert_eq!(
        ended.to_string(),
        "server `github`: `tools/call` of `a\u{fffd}b` got no answer: the server closed the connection; its process exited \
         with code 7; its last lines on standard error:\n  one\n  two"
    );
    assert_eq!(
        ended.message().to_string(),
        "server `github`: `tools/call` of `a\u{fffd}b` got no answer: the server closed the connection"
    );
    assert_eq!(format!("server `github`: {}", ended.without_server()), ended.to_string());
    let failed = structured(r#"{"content":[{"type":"text","text":"no such label"}],"isError":true}"#);
    assert_eq!(Error::new("x", failed).to_string(), "server `x`: tool `mark000`: the tool failed: no such label");
}

#[test]
fn debug_output_contains_the_parts_by_name() {
    let error = Error::new("github", closed(CloseReason::ByServer)).with_tool("a");
    assert_eq!(
        format!("{error:?}"),
        "Error { message: server `github`: `tools/call` of `a` got no answer: the server closed the connection, \
         kind: closed, server: \"github\", method: \"tools/call\", tool: \"a\", .. }"
    );
    let exit = Some(Exit::new(Some(7), None));
    let error = Error::new("x", ConnectError::Closed).with_process(Some(ProcessReport::new(exit, "one\ntwo").into()));
    assert_eq!(
        format!("{error:#?}"),
        "Error {\n    message: server `x`: the connection ended before the server answered,\n    kind: connect,\n    \
         server: \"x\",\n    process: exited with code 7,\n    stderr_tail: \"one\\ntwo\",\n    ..\n}"
    );
}

#[test]
fn an_error_is_one_pointer_and_shares_its_content() {
    fn is_shared<T: Clone + Send + Sync + 'static>() {}

    assert!(size_of::<Error>() <= 64);
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Error>>(), size_of::<usize>());
    is_shared::<Error>();
    let error = Error::new("a", SendError::Closed);
    let named = error.clone().with_tool("t");
    assert_eq!((error.tool(), named.tool()), (None, Some("t")), "changing a clone does not change the original");
    assert_eq!((error.method(), named.method()), (None, Some("tools/call")));
}

#[test]
fn kinds_have_names_in_snake_case() {
    let names = [
        (ErrorKind::ToolNotFound, "tool_not_found"),
        (ErrorKind::RateLimited, "rate_limited"),
        (ErrorKind::EndpointNotFound, "endpoint_not_found"),
        (ErrorKind::Tool, "tool"),
    ];
    for (kind, name) in names {
        assert_eq!(kind.to_string(), name);
        assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{name}\""));
    }
}

#[test]
fn a_failed_tool_is_not_a_protocol_error() {
    let kind = |text| Error::new("a", structured(text)).kind();
    assert_eq!(kind(r#"{"content":[],"isError":true}"#), ErrorKind::Tool);
    assert_eq!(kind(r#"{"content":[],"structuredContent":7,"isError":true}"#), ErrorKind::Tool);
    assert_eq!(kind(r#"{"content":[]}"#), ErrorKind::Protocol);
    assert_eq!(kind(r#"{"content":[],"structuredContent":"x"}"#), ErrorKind::Protocol);
}

#[cfg(feature = "http")]
#[test]
fn http_statuses_have_kinds() {
    use mcpwire_core::http::HttpError;

    let wait = Some(Duration::from_secs(9));
    let cases = [
        (400, ErrorKind::Server, ErrorKind::Connect),
        (401, ErrorKind::Unauthorized, ErrorKind::Unauthorized),
        (403, ErrorKind::Unauthorized, ErrorKind::Unauthorized),
        (404, ErrorKind::EndpointNotFound, ErrorKind::EndpointNotFound),
        (405, ErrorKind::EndpointNotFound, ErrorKind::EndpointNotFound),
        (429, ErrorKind::RateLimited, ErrorKind::RateLimited),
        (500, ErrorKind::Unavailable, ErrorKind::Unavailable),
        (503, ErrorKind::Unavailable, ErrorKind::Unavailable),
        (302, ErrorKind::Protocol, ErrorKind::Connect),
    ];
    for (status, calling, connecting) in cases {
        let error = Arc::new(HttpError::Status { status, excerpt: String::new(), retry_after: wait });
        let call = CallError::Http { method: "tools/call".into(), error: Arc::clone(&error) };
        let call = Error::new("a", call);
        assert_eq!((call.kind(), call.http_status(), call.retry_after()), (calling, Some(status), wait));
        assert!(call.is_retryable() && !call.is_connecting(), "the response has a Retry-After header");
        let connect = Error::new("a", ConnectError::Http { method: "initialize", error });
        assert_eq!((connect.kind(), connect.http_status()), (connecting, Some(status)));
        assert_eq!((connect.method(), connect.is_connecting()), (Some("initialize"), true));
    }
}

#[cfg(feature = "http")]
#[test]
fn errors_of_an_authorizer_have_kinds_and_occur_once_in_the_chain() {
    use mcpwire_core::http::{Failure, FailureKind, HttpError};

    let cases = [
        (FailureKind::Unauthorized, ErrorKind::Unauthorized, false),
        (FailureKind::LoginRequired, ErrorKind::LoginRequired, false),
        (FailureKind::TokenUnavailable, ErrorKind::Unavailable, true),
    ];
    for (failure, kind, is_retryable) in cases {
        let cause = io::Error::other("nobody is there");
        let failure = Failure::new(failure, cause.to_string()).with_cause(cause.into());
        let error = Arc::new(HttpError::Failed(failure));
        let call = Error::new("a", CallError::Http { method: "tools/call".into(), error: Arc::clone(&error) });
        let connect = Error::new("a", ConnectError::Http { method: "initialize", error });
        for error in [call, connect] {
            assert_eq!((error.kind(), error.is_retryable()), (kind, is_retryable));
            assert!(error.to_string().contains("nobody is there"), "{error}");
            assert!(error.authorization_error().unwrap().is::<io::Error>());
            assert_each_text_occurs_once(&error);
        }
    }
    let without = Error::new("a", ConnectError::Http { method: "initialize", error: HttpError::SessionLost.into() });
    assert!(without.authorization_error().is_none());
}
