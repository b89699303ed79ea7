//! Servers that answer as the input says: correctly, nearly so, or with any bytes. They know what they were sent, and repeat it.

use std::fmt::Debug;
use std::net::{Ipv4Addr, Ipv6Addr};

use mcpwire_oauth::{Dpop, Error, FetchError, Input, PublicKey, Request, Response, Secret, Step, UnixTime};
use serde_json::{Map, Value, json};

use crate::fuzz::trace::Bytes;

pub(super) const SERVER: &str = "https://mcp.example/mcp";
pub(super) const LOCAL_SERVER: &str = "http://127.0.0.1:8080/mcp";
pub(super) const ISSUER: &str = "https://as.example";
pub(super) const REDIRECT: &str = "http://127.0.0.1:4711/callback";

/// URLs that servers name, good and bad.
const URLS: [&str; 22] = [
    ISSUER,
    SERVER,
    "https://as.example/",
    "https://other.example",
    "https://mcp.example",
    "https://MCP.example:443/mcp/",
    "https://as.example/tenant",
    "http://as.example/token",
    "http://127.0.0.1:8080",
    "http://localhost/token",
    "http://[::1]:80/",
    "http://2130706433/",
    "https://10.0.0.1/token",
    "https://169.254.169.254/latest",
    "javascript:alert(1)",
    "data:text/html,x",
    "file:///etc/passwd",
    "https://mcp.example@attack.example/",
    "https://as.example\\@attack.example/",
    "https://as.example/\u{1b}[2J",
    "https://as.example/?state=x#code",
    "//as.example",
];

const MEMBERS: [&str; 32] = [
    "issuer",
    "resource",
    "authorization_servers",
    "token_endpoint",
    "authorization_endpoint",
    "registration_endpoint",
    "device_authorization_endpoint",
    "revocation_endpoint",
    "scopes_supported",
    "code_challenge_methods_supported",
    "token_endpoint_auth_methods_supported",
    "authorization_response_iss_parameter_supported",
    "client_id_metadata_document_supported",
    "grant_types_supported",
    "client_id",
    "client_secret",
    "client_secret_expires_at",
    "token_endpoint_auth_method",
    "registration_access_token",
    "redirect_uris",
    "access_token",
    "token_type",
    "expires_in",
    "refresh_token",
    "scope",
    "id_token",
    "issued_token_type",
    "device_code",
    "user_code",
    "verification_uri",
    "interval",
    "error",
];

const CODES: [&str; 14] = [
    "invalid_grant",
    "invalid_client",
    "use_dpop_nonce",
    "authorization_pending",
    "slow_down",
    "expired_token",
    "access_denied",
    "invalid_scope",
    "invalid_target",
    "invalid_client_metadata",
    "invalid_redirect_uri",
    "temporarily_unavailable",
    "invalid_request",
    "\u{1b}]0;title\u{7}",
];

/// All servers that a flow talks to.
pub(super) struct Web<'a> {
    pub(super) input: Bytes<'a>,
    mark: String,
    pub(super) server_url: &'static str,
    pub(super) uses_dpop: bool,
    pub(super) now: UnixTime,
    pub(super) requests: Vec<(Step, String)>,
    /// The body of the last response, if it was JSON.
    pub(super) last: Value,
    /// Values of the header `Authorization`, whose secret is encoded.
    credentials: Vec<String>,
    /// Whether the last response is repeated for ever.
    is_stuck: bool,
    /// Whether `Debug` output is checked at each step, which takes most of the time.
    checks_debug: bool,
}

impl<'a> Web<'a> {
    pub(super) fn new(data: &'a [u8], mark: String) -> Self {
        let mut input = Bytes::new(data);
        // The selector of the flow stays the first byte of the rest.
        let flags = input.byte();
        Web {
            input,
            mark,
            server_url: if flags & 1 == 0 { SERVER } else { LOCAL_SERVER },
            uses_dpop: flags & 2 != 0,
            now: UnixTime::from_secs([1_800_000_000, 0, u64::MAX - 60, u64::MAX][usize::from(flags >> 6)]),
            requests: Vec::new(),
            last: Value::Null,
            credentials: Vec::new(),
            is_stuck: false,
            checks_debug: flags & 0b1100 == 0,
        }
    }

    /// Returns a secret. It contains characters that forms encode.
    pub(super) fn secret(&self, name: &str) -> Secret {
        Secret::new(format!("{name}/{}+=", self.mark))
    }

    pub(super) fn dpop(&self) -> Option<Dpop> {
        self.uses_dpop.then(|| Dpop::new(PublicKey::P256 { x: [1; 32], y: [2; 32] }))
    }

    /// Fails if a text for people or logs contains a secret.
    pub(super) fn check_shown(&self, text: &str) {
        assert!(!text.contains(&self.mark), "a secret is shown: {text}");
        assert!(self.credentials.iter().all(|credential| !text.contains(credential)), "credentials are shown: {text}");
    }

    /// Fails if the `Debug` output of a value contains a secret.
    pub(super) fn check_debug(&self, value: &dyn Debug) {
        if self.checks_debug {
            self.check_shown(&format!("{value:?}"));
        }
    }

    /// Fails if a text of an error can control a terminal.
    pub(super) fn check_error(&self, error: &Error) {
        let text = error.to_string();
        self.check_shown(&text);
        self.check_debug(error);
        assert!(!text.chars().any(|c| c.is_control() && c != '\n' && c != '\t'), "control characters: {text:?}");
        assert!(text.len() < 4000, "{} bytes: {text}", text.len());
    }

    fn check_request(&self, request: &Request) {
        let is_local = self.server_url == LOCAL_SERVER;
        assert!(is_allowed(&request.url, is_local), "asks {}", request.url);
        assert!(!request.url.contains(&self.mark), "a secret is in the URL {}", request.url);
        self.check_debug(request);
        for (name, value) in &request.headers {
            assert!(value.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{name}: {value:?}");
        }
        let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default());
        let is_get = matches!(request.step, Step::ResourceMetadata | Step::ServerMetadata);
        assert_eq!(request.body.is_none(), is_get, "{request:?}");
        assert!(!is_get || request.headers.iter().all(|(name, _)| name != "authorization"), "{request:?}");
        assert!(request.step != Step::Registration || !body.contains(&self.mark), "a secret is in the registration");
    }

    /// Answers a request, or returns another input than the flow has asked for.
    pub(super) fn answer(&mut self, request: &Request) -> Input {
        self.check_request(request);
        self.requests.push((request.step, request.url.clone()));
        let authorization = request.headers.iter().find(|(name, _)| name == "authorization");
        let credentials = authorization.and_then(|(_, value)| Some(value.split_once(' ')?.1.to_string()));
        self.credentials.extend(credentials.clone());
        if self.is_stuck {
            return Input::Response(self.response(400, self.last.to_string().into_bytes()));
        }
        let mut status = 200;
        let body = match self.input.byte() {
            0..=169 => self.document(request).into_bytes(),
            170..=199 => {
                status = self.input.pick(&[400, 401, 200, 403, 429, 500, 302]);
                let code = self.input.pick(&CODES);
                let repeated = self.repeated(request, credentials);
                self.is_stuck = self.input.byte() == 255;
                json!({ "error": code, "error_description": repeated }).to_string().into_bytes()
            }
            200..=209 => return Input::FetchFailed(self.failure()),
            210..=219 => {
                let size = self.input.pick(&[100, 5_000, Request::MAX_RESPONSE, Request::MAX_RESPONSE + 1]);
                let piece = self.input.piece();
                piece.iter().copied().cycle().take(if piece.is_empty() { 0 } else { size }).collect()
            }
            220..=249 => {
                status = self.input.pick(&[200, 201, 204, 302, 400, 404, 500, 101, 0, 999]);
                self.input.piece().to_vec()
            }
            _ => return Input::Signature(self.input.piece().to_vec()),
        };
        self.last = serde_json::from_slice(&body).unwrap_or_default();
        Input::Response(self.response(status, body))
    }

    fn response(&mut self, status: u16, body: Vec<u8>) -> Response {
        let mut headers = Vec::new();
        for name in ["dpop-nonce", "retry-after", "location"] {
            let value = match self.input.byte() {
                200..=219 => self.input.pick(&["nonce-1", "nonce-2", "0", "5", "99999999999999999999"]).to_string(),
                220..=239 => String::from_utf8_lossy(self.input.piece()).into_owned(),
                240..=255 => self.input.pick(&URLS).to_string(),
                _ => continue,
            };
            headers.push((name.to_string(), value));
        }
        Response { status, headers, body }
    }

    fn failure(&mut self) -> FetchError {
        match self.input.byte() % 3 {
            0 => FetchError::Failed("reset".into()),
            1 => FetchError::Refused("10.0.0.1 is a private address".into()),
            _ => FetchError::TooLarge,
        }
    }

    /// What an authorization server repeats of a request.
    fn repeated(&mut self, request: &Request, credentials: Option<String>) -> String {
        let body = String::from_utf8_lossy(request.body.as_deref().unwrap_or_default()).into_owned();
        let decoded = parameters(&format!("?{body}")).unwrap_or_default();
        let decoded = decoded.into_iter().map(|(name, value)| name + " " + &value).collect::<Vec<_>>().join(", ");
        match self.input.byte() % 4 {
            0 => decoded,
            1 => body,
            2 => credentials.unwrap_or_default(),
            _ => String::from_utf8_lossy(self.input.piece()).into_owned(),
        }
    }

    /// Returns the right document for a request, with up to three members that the input changes.
    fn document(&mut self, request: &Request) -> String {
        let mut document = self.right_document(request);
        for _ in 0..self.input.byte() % 4 {
            self.change(&mut document);
        }
        Value::Object(document).to_string()
    }

    /// Changes a member of a document.
    pub(super) fn change(&mut self, document: &mut Map<String, Value>) {
        let name = self.input.pick(&MEMBERS);
        let value = self.value();
        document.insert(name.into(), value);
    }

    fn right_document(&self, request: &Request) -> Map<String, Value> {
        let issuer = request.url.replace("/.well-known/oauth-authorization-server", "");
        let issuer = issuer.replace("/.well-known/openid-configuration", "");
        let document = match request.step {
            Step::ResourceMetadata => json!({"resource": self.server_url, "authorization_servers": [ISSUER],
                "scopes_supported": ["a", "b"]}),
            Step::ServerMetadata => json!({"issuer": issuer, "authorization_endpoint": format!("{issuer}/authorize"),
                "token_endpoint": format!("{issuer}/token"), "registration_endpoint": format!("{issuer}/register"),
                "revocation_endpoint": format!("{issuer}/revoke"), "code_challenge_methods_supported": ["S256"],
                "device_authorization_endpoint": format!("{issuer}/device")}),
            Step::Registration => json!({"client_id": "client", "client_secret": self.secret("registered").expose()}),
            Step::DeviceAuthorization => json!({"device_code": self.secret("device").expose(), "user_code": "ABCD",
                "verification_uri": "https://as.example/device", "interval": 5, "expires_in": 600}),
            Step::Revocation => json!({}),
            _ => json!({"access_token": self.secret("access").expose(), "expires_in": 3600, "scope": "a b",
                "token_type": if self.uses_dpop { "DPoP" } else { "Bearer" },
                "refresh_token": self.secret("refreshed").expose()}),
        };
        let Value::Object(document) = document else { unreachable!("an object") };
        document
    }

    fn value(&mut self) -> Value {
        match self.input.byte() % 16 {
            0..=3 => self.input.pick(&URLS).into(),
            4 => Value::Null,
            5 => json!(self.input.byte() & 1 == 0),
            6 => json!(self.input.pick(&[0_i64, -1, 1, 3600, i64::MIN, i64::MAX])),
            7 => json!(self.input.pick(&[0.5, 1e300, -1e300, 1e-300])),
            8 => json!(self.input.pick(&["3600", "1e3", "inf", "nan", "-1", ""])),
            9 => json!(self.input.pick(&["Bearer", "DPoP", "N_A", "S256", "plain", "none", "client_secret_basic"])),
            10 => json!(self.input.pick(&CODES)),
            11 => json!([self.input.pick(&URLS), self.input.pick(&URLS), 1, null]),
            12 => vec![self.input.pick(&URLS); usize::from(self.input.byte())].into(),
            13 => {
                (0..u32::from(self.input.byte()) * 4).map(|number| format!("scope{number}")).collect::<Vec<_>>().into()
            }
            14 => json!({"a": [{"b": null}]}),
            _ => String::from_utf8_lossy(self.input.piece()).into(),
        }
    }
}

/// Returns the authority of a URL and what precedes it: `https`.
fn split(url: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = url.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
    Some((scheme, &rest[..end]))
}

/// Returns the scheme, the host and the port of a URL in lower case.
pub(super) fn origin(url: &str) -> Option<(String, String, u16)> {
    let (scheme, authority) = split(url)?;
    let scheme = scheme.to_ascii_lowercase();
    let port_at = match authority.rfind(']') {
        Some(bracket) => bracket + 1,
        None => authority.find(':').unwrap_or(authority.len()),
    };
    let (host, port) = authority.split_at(port_at);
    let port = match port.trim_start_matches(':') {
        "" if scheme == "https" => 443,
        "" => 80,
        port => port.parse().ok()?,
    };
    Some((scheme, host.to_ascii_lowercase(), port))
}

/// Returns whether an OAuth request may go to the URL, or a browser open it. `is_local`: the MCP server is on this machine.
pub(super) fn is_allowed(url: &str, is_local: bool) -> bool {
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
    let Some((scheme, authority)) = split(url) else { return false };
    let Some((_, host, _)) = origin(url) else { return false };
    let is_https = scheme.eq_ignore_ascii_case("https");
    let is_loopback = scheme.eq_ignore_ascii_case("http") && is_local && is_this_machine(&host);
    is_plain && !authority.contains('@') && !host.is_empty() && (is_https || is_loopback)
}

fn is_this_machine(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
        || (host != address && address.parse::<Ipv6Addr>().is_ok_and(|address| address.is_loopback()))
}

/// Returns the values of a parameter of a callback, decoded. `None` if the address has no query.
pub(super) fn parameters(callback: &str) -> Option<Vec<(String, String)>> {
    let address = callback.trim().split('#').next()?;
    let (_, query) = address.split_once('?')?;
    let pairs = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decode(name), decode(value))
    });
    Some(pairs.collect())
}

fn decode(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut decoded = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let escaped =
            bytes.get(at + 1..at + 3).filter(|digits| bytes[at] == b'%' && digits.iter().all(u8::is_ascii_hexdigit));
        if let Some(digits) = escaped {
            let digits = std::str::from_utf8(digits).expect("hexadecimal digits");
            decoded.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits"));
            at += 3;
        } else {
            decoded.push(if bytes[at] == b'+' { b' ' } else { bytes[at] });
            at += 1;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}
