//! Tokens without a browser: for a client without a user, and for a login on another device.

use mcpwire_oauth::{
    ClientAuthentication, ClientKey, DeviceAction, DeviceInput, DeviceLogin, IdJagRequest, Scopes, Secret,
    SigningAlgorithm, SubjectToken, TokenEndpoint, TokenRequest, WorkloadGrant,
};

use super::login::check_sent_to;
use super::web::{ISSUER, Web, is_allowed};
use super::{drive, entropy, sign};

const TOKEN_URL: &str = "https://as.example/token";
const PROVIDER_URL: &str = "https://provider.example/token";

pub(super) fn request_without_a_user(web: &mut Web<'_>) {
    let endpoint = TokenEndpoint::new(ISSUER, TOKEN_URL);
    let kind = web.input.byte();
    let client = match kind >> 6 {
        0 => ClientAuthentication::client_secret_basic("client", web.secret("client")),
        1 => ClientAuthentication::client_secret_post("client", web.secret("client")),
        2 => ClientAuthentication::private_key_jwt("client", ClientKey::new(SigningAlgorithm::Es256)),
        _ => ClientAuthentication::public("client"),
    };
    let resource = web.server_url.to_string();
    let scopes = Scopes::parse(&String::from_utf8_lossy(web.input.piece()));
    match kind % 3 {
        0 => {
            let request = TokenRequest::client_credentials(endpoint, client, Some(resource), scopes, entropy());
            match request {
                Ok(request) => {
                    drive(&mut request.dpop(web.dpop()), web);
                }
                Err(error) => web.check_error(&error),
            }
            check_sent_to(web, 0, TOKEN_URL);
        }
        1 => {
            let jwt = workload_jwt(web);
            let mut flow = WorkloadGrant::new(endpoint, jwt, Some(resource), entropy()).scopes(scopes).dpop(web.dpop());
            drive(&mut flow, web);
            check_sent_to(web, 0, TOKEN_URL);
        }
        _ => {
            let provider = TokenEndpoint::new("https://provider.example", PROVIDER_URL);
            let subject = if kind & 8 == 0 {
                SubjectToken::IdToken(web.secret("id"))
            } else {
                SubjectToken::RefreshToken(web.secret("id"))
            };
            let issuer = endpoint.issuer.clone();
            let exchange = IdJagRequest::new(provider, client.clone(), subject, issuer, resource, entropy());
            if let Some(id_jag) = drive(&mut exchange.scopes(scopes), web) {
                web.check_debug(&id_jag);
                drive(&mut id_jag.token_request(endpoint, client, entropy()).dpop(web.dpop()), web);
            }
            let elsewhere = web.requests.iter().find(|(_, url)| url != TOKEN_URL && url != PROVIDER_URL);
            assert_eq!(elsewhere, None);
        }
    }
}

/// A JWT for the token endpoint whose signature is a secret, or something else.
fn workload_jwt(web: &mut Web<'_>) -> Secret {
    // {"aud":"https://as.example/token"}
    let claims = "eyJhdWQiOiJodHRwczovL2FzLmV4YW1wbGUvdG9rZW4ifQ";
    match web.input.byte() {
        0..=199 => Secret::new(format!("e30.{claims}.{}", web.secret("signature").expose())),
        _ => Secret::new(String::from_utf8_lossy(web.input.piece())),
    }
}

/// With the shortest interval and the longest life there are 3,600 waits, each with two requests and two proofs.
const MAX_ACTIONS: usize = 3_600 * 5 + 10;

pub(super) fn log_in_on_a_device(web: &mut Web<'_>) {
    let (url, token_url) = ("https://as.example/device", "https://as.example/token");
    let client = ClientAuthentication::client_secret_post("client", web.secret("client"));
    let endpoint = TokenEndpoint::new(ISSUER, token_url);
    let resource = Some(web.server_url.to_string());
    let mut login = DeviceLogin::new(url, endpoint, client, resource, Scopes::parse("a b"), entropy()).dpop(web.dpop());
    let begun = web.now;
    let mut codes = 0;
    let mut action = login.start(web.now);
    for number in 0..MAX_ACTIONS {
        if number < 100 {
            web.check_debug(&(&login, &action));
        }
        let input = match action {
            Ok(DeviceAction::Fetch(request)) => {
                let before = web.requests.len();
                let answer = web.answer(&request);
                check_sent_to(web, before, if codes == 0 { url } else { token_url });
                DeviceInput::Network(answer)
            }
            Ok(DeviceAction::Sign { .. }) => DeviceInput::Network(sign(web)),
            Ok(DeviceAction::ShowCode(code)) => {
                codes += 1;
                assert!(code.user_code.chars().all(|c| !c.is_control()) && code.user_code.chars().count() <= 64);
                let complete = code.verification_uri_complete.iter();
                assert!(complete.chain([&code.verification_uri]).all(|url| is_allowed(url, false)), "{code:?}");
                assert!(code.expires_at.duration_since(begun).as_secs() <= 3_600);
                DeviceInput::Done
            }
            Ok(DeviceAction::Wait(until)) => {
                assert!(until > web.now && until.duration_since(web.now).as_secs() <= 300, "waits until {until:?}");
                web.now = until;
                DeviceInput::Done
            }
            Ok(DeviceAction::Done(token)) => {
                web.check_debug(&token);
                return;
            }
            Err(error) => {
                web.check_error(&error);
                assert!(login.resume(DeviceInput::Done, web.now).is_err(), "it goes on after its end");
                return;
            }
            Ok(other) => panic!("an unknown action: {other:?}"),
        };
        action = login.resume(input, web.now);
    }
    panic!("the login does not end");
}
