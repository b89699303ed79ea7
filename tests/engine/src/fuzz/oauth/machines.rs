//! Tokens without a user.

use mcpwire_oauth::{
    ClientAuthentication, ClientKey, IdJagRequest, Scopes, Secret, SigningAlgorithm, SubjectToken, TokenEndpoint,
    TokenRequest, WorkloadGrant,
};

use super::driver::{drive, entropy};
use super::login::check_sent_to;
use super::web::{ISSUER, Web};

const TOKEN_URL: &str = "https://as.example/token";
const PROVIDER_URL: &str = "https://provider.example/token";

pub(super) fn run(web: &mut Web<'_>) {
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
