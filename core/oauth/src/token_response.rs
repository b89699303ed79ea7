//! [`TokenResponse`]: a token from a token endpoint. This module also classifies the errors of token endpoints.

use alloc::format;
use alloc::string::String;
use core::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use zeroize::Zeroize;

use crate::{Error, ErrorKind, FetchError, Request, Response, Scopes, Secret, Setting, Step, UnixTime};

/// Maximum length of an access token in bytes. The token must fit into the header of a request.
const MAX_TOKEN: usize = 16 * 1024;

/// Maximum delay that a server can request with `Retry-After`, in seconds. Longer delays are shortened to one hour.
const MAX_RETRY_AFTER: u64 = 60 * 60;

/// How a client presents an access token to the MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TokenType {
    /// A bearer token, which anybody who has it can use (RFC 6750).
    Bearer,
    /// A token that is bound to a DPoP key (RFC 9449). Requests need a proof.
    #[serde(rename = "DPoP")]
    Dpop,
    /// A token that cannot be sent to an MCP server, such as an ID-JAG with the type `N_A`. Contains the name of the
    /// type.
    #[serde(untagged)]
    Other(String),
}

impl TokenType {
    fn from_name(name: &str) -> Self {
        if name.eq_ignore_ascii_case("bearer") {
            TokenType::Bearer
        } else if name.eq_ignore_ascii_case("dpop") {
            TokenType::Dpop
        } else {
            TokenType::Other(name.into())
        }
    }
}

/// The successful response of a token endpoint, with the issued token (RFC 6749, section 5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenResponse {
    /// The access token. It consists of visible ASCII characters.
    pub access_token: Secret,
    /// How the client presents the token to the MCP server. `Bearer` if the response does not say.
    pub token_type: TokenType,
    /// When the response arrived.
    pub obtained_at: UnixTime,
    /// When the token expires. `None` if the server did not say.
    pub expires_at: Option<UnixTime>,
    /// The refresh token. `None` if the server issued none.
    pub refresh_token: Option<Secret>,
    /// The granted scopes. `None` if they are the requested scopes.
    pub scopes: Option<Scopes>,
    /// The ID token of OpenID Connect, without verification. `None` if the server issued none.
    pub id_token: Option<Secret>,
    /// The type of the token that a token exchange issued (RFC 8693). `None` for other grants.
    pub issued_token_type: Option<String>,
    /// The thumbprint of the DPoP key to which the token is bound. `None` if the token is not bound.
    pub dpop_key: Option<String>,
}

/// Parses the response of a token endpoint. Optional members of a wrong type count as absent.
pub(crate) fn read(response: &Response, step: Step, url: &str, now: UnixTime) -> Result<TokenResponse, Error> {
    let body = read_object(response, step, url)?;
    let text = |name| body.text(name);
    let secret = |name| text(name).map(Secret::new);
    let Some(token) = text("access_token") else {
        return Err(temporary(step, "the response contains neither a token nor an error", url, response));
    };
    if token.len() > MAX_TOKEN || !can_be_sent(token) {
        let reason = "the token is too long, or contains characters that a header must not contain";
        return Err(Error::new(ErrorKind::Misconfigured, step, reason).at(url).with_status(response.status));
    }
    Ok(TokenResponse {
        access_token: Secret::new(token),
        token_type: text("token_type").map_or(TokenType::Bearer, TokenType::from_name),
        obtained_at: now,
        // Some servers send a lifetime of 0 if they do not know it. It is ignored, because the token would be renewed
        // without end.
        expires_at: body.seconds("expires_in").filter(|life| life.as_secs() > 0).map(|life| now + life),
        refresh_token: secret("refresh_token"),
        scopes: text("scope").map(Scopes::parse),
        id_token: secret("id_token"),
        issued_token_type: text("issued_token_type").map(Into::into),
        dpop_key: None,
    })
}

/// Returns whether a token consists only of characters that a header may contain.
pub(crate) fn can_be_sent(token: &str) -> bool {
    !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The members of a JSON response. Their strings are erased from memory when this value is dropped.
#[derive(Default)]
pub(crate) struct ResponseObject(Map<String, Value>);

impl ResponseObject {
    /// Parses the body of a response. Returns `None` if the body is too large, or is not a JSON object.
    pub(crate) fn read(response: &Response) -> Option<Self> {
        let is_small = response.body.len() <= Request::MAX_RESPONSE;
        is_small.then(|| serde_json::from_slice(&response.body).ok()).flatten().map(ResponseObject)
    }

    /// Returns a member of any type, or `None` if it is missing.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    /// Returns a string member. `None` if the member is missing, empty or of another type.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// Returns the error code, the member `error` (RFC 6749, section 5.2). `None` if it is missing.
    pub(crate) fn code(&self) -> Option<&str> {
        self.get("error")?.as_str()
    }

    /// Returns the server's explanation of the error, the member `error_description`. `None` if it is missing.
    pub(crate) fn description(&self) -> Option<&str> {
        self.get("error_description")?.as_str()
    }

    /// Returns a member that is a number of seconds. `None` if it is missing or not a number.
    pub(crate) fn seconds(&self, name: &str) -> Option<Duration> {
        self.get(name).and_then(seconds)
    }
}

impl Drop for ResponseObject {
    fn drop(&mut self) {
        for value in self.0.values_mut() {
            if let Value::String(text) = value {
                text.zeroize();
            }
        }
    }
}

/// Returns the JSON object of a successful response of an authorization server, or the error that the response reports.
pub(crate) fn read_object(response: &Response, step: Step, url: &str) -> Result<ResponseObject, Error> {
    let status = response.status;
    let body = match status {
        // The status of an overloaded or broken server says nothing about the grant, whatever the body contains.
        408 | 429 | 500.. => Err("the authorization server cannot answer now"),
        300..400 => Err("the authorization server redirects, and redirects are not followed"),
        _ => ResponseObject::read(response).ok_or("the response cannot be read"),
    };
    let body = body.map_err(|reason| temporary(step, reason, url, response))?;
    // Some servers report errors with a success status, so the members decide.
    let succeeded = (200..300).contains(&status) && (body.get("access_token").is_some() || body.get("error").is_none());
    if succeeded { Ok(body) } else { Err(refusal(&body, step, url, response)) }
}

/// The reason why a server refused a DPoP proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProofRefusal {
    /// The proof must contain a nonce of the server (RFC 9449, section 8).
    Nonce,
    /// The server considers the proof invalid, for example because of its time.
    Invalid,
}

impl ProofRefusal {
    /// Returns the reason for an error code of a server. `None` if the code does not concern the proof.
    pub(crate) fn from_code(code: Option<&str>) -> Option<Self> {
        match code {
            Some("use_dpop_nonce") => Some(ProofRefusal::Nonce),
            Some("invalid_dpop_proof") => Some(ProofRefusal::Invalid),
            _ => None,
        }
    }

    /// Returns the reason that the response of a token endpoint reports. `None` if the response does not concern the
    /// proof.
    pub(crate) fn from_response(response: &Response) -> Option<Self> {
        Self::from_code(read_object(response, Step::Token, "").err()?.code())
    }
}

/// Converts an error response (RFC 6749, section 5.2) to an error, whose kind depends on the error code.
fn refusal(body: &ResponseObject, step: Step, url: &str, response: &Response) -> Error {
    let Some(code) = body.code() else {
        return temporary(step, "the response contains no error code", url, response);
    };
    let error = |kind, reason| {
        let error = Error::new(kind, step, format!("the authorization server {reason}"));
        error.at(url).with_status(response.status).with_code(code, body.description())
    };
    let refused = error(ErrorKind::Refused, "refuses the request");
    match code {
        "invalid_grant" => error(ErrorKind::LoginRequired, "does not accept the grant").with_advice("log in again"),
        "invalid_client" => {
            error(ErrorKind::Misconfigured, "does not accept the client").with_advice("check its identifier and secret")
        }
        "temporarily_unavailable" | "server_error" | "use_dpop_nonce" => {
            error(ErrorKind::Temporary, "cannot answer now").with_advice("try again later")
        }
        "access_denied" | "invalid_scope" | "expired_token" => refused,
        "invalid_target" => error(ErrorKind::Misconfigured, "does not accept the resource").with_omit_resource(),
        "invalid_request" | "unauthorized_client" | "unsupported_grant_type" => {
            error(ErrorKind::Misconfigured, "does not accept this kind of request")
        }
        "invalid_dpop_proof" => {
            error(ErrorKind::Misconfigured, "does not accept the proof").with_advice("check the clock of this machine")
        }
        // Some servers have their own error codes for a refresh token that they do not accept.
        _ if step == Step::Refresh => refused.with_advice("log in again if this goes on"),
        _ => refused,
    }
}

fn temporary(step: Step, reason: &str, url: &str, response: &Response) -> Error {
    let delay = response.header("retry-after").find_map(|value| value.trim().parse::<u64>().ok());
    Error::new(ErrorKind::Temporary, step, reason)
        .at(url)
        .with_status(response.status)
        .with_retry_after(delay.map(|delay| Duration::from_secs(delay.min(MAX_RETRY_AFTER))))
}

/// Converts the failure of a request that got no response to an error of the flow.
pub(crate) fn fetch_failed(error: FetchError, step: Step, url: &str) -> Error {
    match error {
        FetchError::Failed(reason) => Error::new(ErrorKind::Temporary, step, reason),
        FetchError::TooLarge => Error::new(ErrorKind::Temporary, step, "the response is larger than 64 KiB"),
        FetchError::Refused(reason) => Error::new(ErrorKind::Misconfigured, step, reason).with_setting(
            "if the address is private and you trust the server, the setting ",
            Setting::AllowPrivateAddresses,
            " allows it",
        ),
        FetchError::NotSent(reason) => Error::new(ErrorKind::Misconfigured, step, reason),
    }
    .at(url)
}

/// Reads a number of seconds, also from a string or with a fraction, as some servers send it. `None` if the value is
/// not such a number.
pub(crate) fn seconds(value: &Value) -> Option<Duration> {
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    // Longer times are shortened to 136 years (`u32::MAX` seconds), so that the conversion cannot overflow.
    let max = f64::from(u32::MAX);
    number.filter(|seconds| *seconds >= 0.0).map(|seconds| Duration::from_secs_f64(seconds.min(max)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::response;
    use alloc::format;
    use alloc::string::ToString;
    use serde_json::json;

    const NOW: UnixTime = UnixTime::from_secs(1_000_000);
    const URL: &str = "https://auth.example.com/token?tenant=secret";

    fn read(status: u16, body: &str) -> Result<TokenResponse, Error> {
        super::read(&response(status, body), Step::Refresh, URL, NOW)
    }

    fn refused(status: u16, body: &Value) -> Error {
        read(status, &body.to_string()).unwrap_err()
    }

    #[test]
    fn a_complete_response_is_read() {
        let body = json!({"access_token": "a", "token_type": "bEARER", "expires_in": 3600, "refresh_token": "r",
            "scope": "x y", "id_token": "i", "issued_token_type": "t", "other": []});
        let token = read(200, &body.to_string()).unwrap();
        assert_eq!(token.access_token.expose(), "a");
        assert_eq!(token.token_type, TokenType::Bearer);
        assert_eq!((token.obtained_at, token.expires_at), (NOW, Some(UnixTime::from_secs(1_003_600))));
        assert_eq!(token.refresh_token.unwrap().expose(), "r");
        assert_eq!(token.id_token.unwrap().expose(), "i");
        assert_eq!((token.scopes, token.issued_token_type.as_deref()), (Some(Scopes::parse("x y")), Some("t")));
    }

    #[test]
    fn t5_a_response_without_a_refresh_token_is_fine() {
        let token = read(200, r#"{"access_token":"a"}"#).unwrap();
        assert_eq!((token.refresh_token, token.expires_at, token.scopes), (None, None, None));
        assert_eq!(token.token_type, TokenType::Bearer);
    }

    #[test]
    fn optional_members_of_a_wrong_type_count_as_absent() {
        let body = json!({"access_token": "a", "token_type": 1, "expires_in": [], "refresh_token": {}, "scope": ["a"],
            "id_token": "", "error": "ignored, there is a token"});
        let token = read(200, &body.to_string()).unwrap();
        assert_eq!((token.refresh_token, token.expires_at, token.scopes, token.id_token), (None, None, None, None));
    }

    #[test]
    fn o8_the_time_of_expiry_is_absolute_and_read_in_every_form() {
        let life = |value: Value| {
            let token = read(200, &json!({"access_token": "a", "expires_in": value}).to_string()).unwrap();
            token.expires_at.map(|at| at.duration_since(NOW).as_secs())
        };
        assert_eq!(life(json!(60)), Some(60));
        assert_eq!(life(json!("3600")), Some(3600));
        assert_eq!(life(json!(" 59.9 ")), Some(59));
        for bad in [json!(0), json!("0"), json!(0.5), json!(-1), json!("soon"), json!(null), json!("NaN"), json!(true)]
        {
            assert_eq!(life(bad.clone()), None, "{bad}");
        }
        for long in [json!(1e300), json!(u64::MAX), json!("inf")] {
            assert_eq!(life(long), Some(u64::from(u32::MAX)));
        }
    }

    #[test]
    fn o3_only_invalid_grant_asks_for_a_login() {
        let kind = |code: &str| refused(400, &json!({"error": code})).kind();
        assert_eq!(kind("invalid_grant"), ErrorKind::LoginRequired);
        assert_eq!(kind("invalid_client"), ErrorKind::Misconfigured);
        for code in ["temporarily_unavailable", "server_error", "use_dpop_nonce"] {
            assert_eq!(kind(code), ErrorKind::Temporary);
        }
        for code in ["access_denied", "invalid_scope", "expired_token", "something_new"] {
            assert_eq!(kind(code), ErrorKind::Refused);
        }
        for code in
            ["invalid_request", "unauthorized_client", "unsupported_grant_type", "invalid_target", "invalid_dpop_proof"]
        {
            assert_eq!(kind(code), ErrorKind::Misconfigured);
        }
        for status in [500, 502, 503, 408, 429] {
            let error = refused(status, &json!({"error": "invalid_grant"}));
            assert_eq!(error.kind(), ErrorKind::Temporary, "status {status} says nothing about the grant");
        }
    }

    #[test]
    fn o4_a_response_that_cannot_be_read_is_a_temporary_error() {
        let page = "<!doctype html><title>Sign in to the Wi-Fi</title>";
        for (status, body) in [
            (200, page),
            (400, page),
            (401, ""),
            (404, "null"),
            (200, "{}"),
            (400, "{}"),
            (302, ""),
            (200, r#"{"access_token":""}"#),
            (200, r#"{"access_token":7}"#),
            (400, r#"{"error":{"code":1}}"#),
        ] {
            let error = read(status, body).unwrap_err();
            assert_eq!((error.kind(), error.http_status()), (ErrorKind::Temporary, Some(status)), "{status} {body}");
        }
        let huge = format!(r#"{{"access_token":"a","pad":"{}"}}"#, "x".repeat(Request::MAX_RESPONSE));
        assert_eq!(read(200, &huge).unwrap_err().kind(), ErrorKind::Temporary);
    }

    #[test]
    fn o4_requests_without_a_response_leave_everything_as_it_is() {
        let kind = |error| fetch_failed(error, Step::Refresh, URL).kind();
        assert_eq!(kind(FetchError::Failed("timed out".into())), ErrorKind::Temporary);
        assert_eq!(kind(FetchError::TooLarge), ErrorKind::Temporary);
        assert_eq!(kind(FetchError::Refused("private address".into())), ErrorKind::Misconfigured);
    }

    #[test]
    fn an_error_with_status_200_is_an_error() {
        let error = refused(200, &json!({"ok": false, "error": "invalid_grant"}));
        assert_eq!((error.kind(), error.code()), (ErrorKind::LoginRequired, Some("invalid_grant")));
        assert_eq!(refused(200, &json!({"error": 5})).kind(), ErrorKind::Temporary);
    }

    #[test]
    fn o21_o7_an_error_names_step_url_status_code_and_what_to_do() {
        let error = refused(400, &json!({"error": "invalid_grant", "error_description": "token\x1b[31m revoked"}));
        assert_eq!(
            error.to_string(),
            "the refresh of the token failed: the authorization server does not accept the grant \
             (https://auth.example.com/token, HTTP status 400): invalid_grant: token revoked; log in again"
        );
        for (status, code, kind, advice) in [
            (200, "invalid_refresh_token", ErrorKind::Refused, ": invalid_refresh_token; log in again if this goes on"),
            (400, "invalid_target", ErrorKind::Misconfigured, "use the setting `omit_resource`"),
        ] {
            let error = refused(status, &json!({"error": code}));
            assert_eq!(error.kind(), kind);
            assert!(error.to_string().ends_with(advice), "{error}");
        }
    }

    #[test]
    fn a_server_says_when_to_try_again() {
        let after = |value: &str| {
            let mut response = response(429, "slow down");
            response.headers.push(("retry-after".into(), value.into()));
            super::read(&response, Step::Token, URL, NOW).unwrap_err().retry_after().map(|delay| delay.as_secs())
        };
        assert_eq!(after("30"), Some(30));
        assert_eq!(after("99999999"), Some(MAX_RETRY_AFTER));
        assert_eq!(after("Wed, 21 Oct 2026 07:28:00 GMT"), None);
        assert_eq!(refused(503, &json!({})).retry_after(), None);
    }

    #[test]
    fn a_token_that_would_break_a_header_is_refused() {
        for token in ["a\r\nx-evil: 1", "a b", "ä", &"x".repeat(MAX_TOKEN + 1)] {
            let error = read(200, &json!({"access_token": token}).to_string()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Misconfigured);
            assert!(!error.to_string().contains("evil"));
        }
    }

    #[test]
    fn token_types_keep_their_name_in_the_store() {
        for (name, stored, kind) in [
            ("BEARER", "Bearer", TokenType::Bearer),
            ("dpop", "DPoP", TokenType::Dpop),
            ("N_A", "N_A", TokenType::Other("N_A".into())),
        ] {
            assert_eq!(TokenType::from_name(name), kind);
            assert_eq!(serde_json::to_value(&kind).unwrap(), json!(stored));
            assert_eq!(serde_json::from_value::<TokenType>(json!(stored)).unwrap(), kind);
        }
    }
}
