//! The rows of the table, each played from the start of a handshake.

use alloc::string::ToString;

use super::*;
use mcpwire_text::json::Json;

use Negotiate::{Auto, Legacy, Modern, Version};
use ProtocolVersion as V;

/// A state of the table at the beginning of the file, by its name.
#[derive(Debug, PartialEq, Eq)]
enum Stage {
    New,
    Probing,
    Racing,
    Discovered,
    Discovering,
    Initializing,
    Done,
}

impl From<&HandshakeState> for Stage {
    fn from(state: &HandshakeState) -> Self {
        match state {
            HandshakeState::New => Stage::New,
            HandshakeState::Probing => Stage::Probing,
            HandshakeState::Racing { .. } => Stage::Racing,
            HandshakeState::Discovered(_) => Stage::Discovered,
            HandshakeState::Discovering { .. } => Stage::Discovering,
            HandshakeState::Initializing { .. } => Stage::Initializing,
            HandshakeState::Done => Stage::Done,
        }
    }
}

#[derive(Debug)]
enum Input {
    Start,
    Silence,
    Discovered(HandshakeReply<DiscoverResult>),
    Initialized(HandshakeReply<InitializeResult>),
    End,
    Cancel,
}

use Input::{Cancel, End, Silence, Start};

/// A result of `server/discover` that names these versions.
fn versions(text: &str) -> Input {
    let result = alloc::format!(r#"{{"supportedVersions":{text}}}"#);
    Input::Discovered(Ok(from_json::from_str(&result).expect("a result")))
}

fn error(code: i64, data: Option<&str>) -> RequestFault {
    let mut error = RpcError::new(code, "no");
    error.data = data.map(|text| Json::parse(text).expect("JSON"));
    RequestFault::Server(error)
}

/// An error as the answer to `server/discover`.
fn refused(code: i64, data: &str) -> Input {
    Input::Discovered(Err(error(code, Some(data).filter(|data| !data.is_empty()))))
}

/// An answer to `initialize`, with this version.
fn initialized(version: &str) -> Input {
    Input::Initialized(Ok(from_json::from_str(version).expect("a result")))
}

fn not_initialized() -> Input {
    Input::Initialized(Err(error(RpcError::METHOD_NOT_FOUND, None)))
}

/// Plays the inputs, and returns the state and the last action in words.
fn play(negotiate: Negotiate, inputs: Vec<Input>) -> (Stage, String) {
    let mut handshake = Handshake::new(negotiate);
    let mut last = HandshakeAction::Nothing;
    for input in inputs {
        last = match input {
            Start => handshake.start(),
            Silence => handshake.silence(),
            Input::Discovered(outcome) => handshake.discovered(outcome),
            Input::Initialized(outcome) => handshake.initialized(outcome),
            End => handshake.ended(),
            Cancel => handshake.fail(ConnectError::Cancelled),
        };
    }
    let action = match last {
        HandshakeAction::Nothing => "nothing".into(),
        HandshakeAction::SendDiscover(version) => alloc::format!("discover {version}"),
        HandshakeAction::SendInitialize(version) => alloc::format!("initialize {version}"),
        HandshakeAction::Open(server) => match server.era {
            Era::Modern => alloc::format!("modern {}", server.protocol_version),
            Era::Legacy => alloc::format!("legacy {}", server.protocol_version),
        },
        HandshakeAction::Fail(error) => error.to_string(),
        HandshakeAction::Restart => "restart".into(),
    };
    (Stage::from(&handshake.state), action)
}

#[track_caller]
fn row(negotiate: Negotiate, inputs: impl Into<Vec<Input>>, state: Stage, action: &str) {
    assert_eq!(play(negotiate, inputs.into()), (state, action.into()));
}

const MODERN: &str = r#"["2025-11-25","2026-07-28"]"#;
const ONLY_LEGACY: &str = r#"["2024-11-05","2025-03-26","1999-01-01"]"#;
const NONE: &str = r#"["1999-01-01"]"#;
const SUPPORTS_MODERN: &str = r#"{"supported":["2025-11-25","2026-07-28"]}"#;
const SUPPORTS_LEGACY: &str = r#"{"supported":["2025-06-18"]}"#;
const SUPPORTS_NONE: &str = r#"{"supported":["1999-01-01"]}"#;
const NO_VERSION: &str = "unsupported protocol version: the server speaks 1999-01-01; the client accepts 2024-11-05, \
                          2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28";
const REFUSED: &str = "the server refused `initialize`: no (code -32601)";
const UNSUPPORTED: i64 = RpcError::UNSUPPORTED_PROTOCOL_VERSION;

#[test]
fn the_start() {
    row(Auto, [Start], Stage::Probing, "discover 2026-07-28");
    row(Modern, [Start], Stage::Discovering, "discover 2026-07-28");
    row(Version(V::V2026_07_28), [Start], Stage::Discovering, "discover 2026-07-28");
    row(Legacy, [Start], Stage::Initializing, "initialize 2025-11-25");
    row(Version(V::V2024_11_05), [Start], Stage::Initializing, "initialize 2024-11-05");
}

#[test]
fn answers_to_the_probe() {
    row(Auto, [Start, versions(MODERN)], Stage::Done, "modern 2026-07-28");
    row(Auto, [Start, versions(ONLY_LEGACY)], Stage::Initializing, "initialize 2025-03-26");
    row(Auto, [Start, versions(NONE)], Stage::Done, NO_VERSION);
    row(Auto, [Start, refused(UNSUPPORTED, SUPPORTS_NONE)], Stage::Done, NO_VERSION);
    row(Auto, [Start, refused(UNSUPPORTED, SUPPORTS_LEGACY)], Stage::Initializing, "initialize 2025-06-18");
    row(Auto, [Start, refused(UNSUPPORTED, SUPPORTS_MODERN)], Stage::Discovering, "discover 2026-07-28");
    for code in [RpcError::HEADER_MISMATCH, RpcError::MISSING_REQUIRED_CLIENT_CAPABILITY] {
        let says = alloc::format!("the server refused `server/discover`: no (code {code}): {{}}");
        row(Auto, [Start, refused(code, "{}")], Stage::Done, &says);
        row(Auto, [Start, refused(code, "")], Stage::Initializing, "initialize 2025-11-25");
    }
    for other in [
        refused(UNSUPPORTED, ""),
        refused(RpcError::METHOD_NOT_FOUND, SUPPORTS_MODERN),
        Input::Discovered(Err(RequestFault::Invalid(crate::rpc::peer_error::too_long(1, b"x")))),
    ] {
        row(Auto, [Start, other], Stage::Initializing, "initialize 2025-11-25");
    }
    row(Auto, [Start, Silence], Stage::Racing, "initialize 2025-11-25");
}

#[cfg(feature = "http")]
#[test]
fn http_errors_as_answers_to_the_probe() {
    use crate::transport_error::HttpError;

    let answer = |status| {
        Input::Discovered(Err(RequestFault::Http(HttpError::Status {
            status,
            excerpt: String::new(),
            retry_after: None,
        })))
    };
    row(Auto, [Start, answer(404)], Stage::Initializing, "initialize 2025-11-25");
    row(Auto, [Start, answer(307)], Stage::Done, "`server/discover` failed: the server answered with HTTP 307");
}

#[test]
fn a_race() {
    row(Auto, [Start, Silence, versions(MODERN)], Stage::Discovered, "nothing");
    row(Auto, [Start, Silence, versions(MODERN), not_initialized()], Stage::Done, "modern 2026-07-28");
    row(Auto, [Start, Silence, versions(MODERN), End], Stage::Done, "the connection ended before the server answered");
    row(Auto, [Start, Silence, versions(ONLY_LEGACY)], Stage::Initializing, "nothing");
    row(Auto, [Start, Silence, versions(NONE)], Stage::Done, NO_VERSION);
    row(Auto, [Start, Silence, refused(UNSUPPORTED, SUPPORTS_MODERN)], Stage::Racing, "discover 2026-07-28");
    row(Auto, [Start, Silence, refused(UNSUPPORTED, SUPPORTS_LEGACY)], Stage::Initializing, "nothing");
    row(Auto, [Start, Silence, refused(RpcError::METHOD_NOT_FOUND, "")], Stage::Initializing, "nothing");
    row(Auto, [Start, Silence, initialized("{}")], Stage::Done, "legacy 2025-11-25");
    row(Auto, [Start, Silence, initialized("{}"), versions(MODERN)], Stage::Done, "nothing");
    row(Auto, [Start, Silence, versions(MODERN), initialized("{}")], Stage::Done, "legacy 2025-11-25");
    let late = refused(UNSUPPORTED, SUPPORTS_MODERN);
    row(Auto, [Start, Silence, initialized("{}"), late], Stage::Done, "nothing");
    row(Auto, [Start, Silence, not_initialized()], Stage::Discovering, "nothing");
    let unknown = initialized(r#"{"protocolVersion":"1999-01-01"}"#);
    row(Auto, [Start, Silence, unknown], Stage::Discovering, "nothing");
}

#[test]
fn discovering() {
    row(Modern, [Start, versions(MODERN)], Stage::Done, "modern 2026-07-28");
    row(Modern, [Start, refused(UNSUPPORTED, SUPPORTS_MODERN)], Stage::Discovering, "discover 2026-07-28");
    let only_modern = "unsupported protocol version: the server speaks 2025-06-18; the client accepts 2026-07-28";
    row(Modern, [Start, versions(r#"["2025-06-18"]"#)], Stage::Done, only_modern);
    row(Modern, [Start, refused(UNSUPPORTED, SUPPORTS_LEGACY)], Stage::Done, only_modern);
    row(
        Modern,
        [Start, refused(RpcError::METHOD_NOT_FOUND, "")],
        Stage::Done,
        "the server refused `server/discover`: no (code -32601)",
    );
}

#[test]
fn a_legacy_version_is_discovered_after_a_modern_one_was_refused() {
    let again = || [Start, refused(UNSUPPORTED, SUPPORTS_MODERN)].into_iter();
    row(Auto, again().chain([versions(ONLY_LEGACY)]).collect::<Vec<_>>(), Stage::Initializing, "initialize 2025-03-26");
    row(Auto, again().chain([versions(NONE)]).collect::<Vec<_>>(), Stage::Done, NO_VERSION);
    let says = "unsupported protocol version: the server speaks 2025-11-25, 2026-07-28; the client accepts 2024-11-05, \
                2025-03-26, 2025-06-18, 2025-11-25, 2026-07-28";
    let twice = again().chain([refused(UNSUPPORTED, SUPPORTS_MODERN)]);
    row(Auto, twice.collect::<Vec<_>>(), Stage::Done, says);
}

#[test]
fn a_legacy_version_is_discovered_after_initialize_was_refused() {
    let refused_first = || [Start, Silence, not_initialized()].into_iter();
    let legacy = refused_first().chain([versions(ONLY_LEGACY)]);
    row(Auto, legacy.collect::<Vec<_>>(), Stage::Initializing, "initialize 2025-03-26");
    let refused_twice = refused_first().chain([versions(ONLY_LEGACY), not_initialized()]);
    row(Auto, refused_twice.collect::<Vec<_>>(), Stage::Done, REFUSED);
    let neither = refused_first().chain([refused(RpcError::METHOD_NOT_FOUND, "")]);
    row(Auto, neither.collect::<Vec<_>>(), Stage::Done, REFUSED);
}

#[test]
fn initializing() {
    row(Legacy, [Start, initialized("{}")], Stage::Done, "legacy 2025-11-25");
    row(Legacy, [Start, initialized(r#"{"protocolVersion":"2024-11-05"}"#)], Stage::Done, "legacy 2024-11-05");
    row(Legacy, [Start, not_initialized()], Stage::Done, REFUSED);
    row(
        Legacy,
        [Start, initialized(r#"{"protocolVersion":"2026-07-28"}"#)],
        Stage::Done,
        "unsupported protocol version: the server speaks 2026-07-28; the client accepts 2024-11-05, 2025-03-26, 2025-06-18, \
         2025-11-25",
    );
}

#[test]
fn the_end_of_the_stream() {
    const ENDED: &str = "the connection ended before the server answered";
    row(Auto, [Start, End], Stage::Done, "restart");
    row(Auto, [Start, Silence, End], Stage::Done, "restart");
    row(Auto, [Start, versions(ONLY_LEGACY), End], Stage::Done, "restart");
    row(Auto, [Start, Silence, not_initialized(), End], Stage::Done, ENDED);
    row(Auto, [Start, refused(UNSUPPORTED, SUPPORTS_MODERN), End], Stage::Done, ENDED);
    row(Modern, [Start, End], Stage::Done, ENDED);
    row(Legacy, [Start, End], Stage::Done, ENDED);
    row(Auto, [Start, versions(MODERN), End], Stage::Done, "nothing");
}

#[test]
fn a_cancel() {
    for inputs in [alloc::vec![Start, Cancel], alloc::vec![Start, Silence, Cancel]] {
        row(Auto, inputs, Stage::Done, "the opening of the connection was cancelled");
    }
}
