//! Grants for programs that get a token without a login in a browser, as defined by extensions of the specification.
//!
//! Client credentials are the extension `io.modelcontextprotocol/oauth-client-credentials`.

mod enterprise;
mod workload;

use alloc::string::String;

pub use enterprise::{IdJag, IdJagRequest};
pub use workload::WorkloadGrant;

use crate::{
    AuthMethod, ClientAuthentication, Entropy, Error, ErrorKind, Grant, Scopes, Step, TokenEndpoint, TokenRequest,
};

impl TokenRequest {
    /// Creates the token request of a program that acts without a user, with the credentials of a registered client.
    ///
    /// The client must authenticate, preferably by `private_key_jwt`. Fails for a public client.
    pub fn client_credentials(
        endpoint: TokenEndpoint,
        client: ClientAuthentication,
        resource: Option<String>,
        scopes: Scopes,
        entropy: Entropy,
    ) -> Result<Self, Error> {
        if client.method() == AuthMethod::None {
            let reason = "the client has neither a secret nor a key that the authorization server takes";
            return Err(Error::new(ErrorKind::Misconfigured, Step::Token, reason)
                .at(&endpoint.url)
                .with_advice("configure the secret or the key of the client"));
        }
        Ok(TokenRequest::new(endpoint, client, &Grant::ClientCredentials, entropy).resource(resource).scopes(scopes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::tests::read;
    use crate::testing::{
        ISSUER, NOW, RESOURCE, endpoint, entropy, header, map, parameters, public_client, response, run,
    };
    use crate::{ClientKey, Input, Secret, SigningAlgorithm};

    fn request(client: ClientAuthentication) -> crate::http::Request {
        let scopes = Scopes::parse("mcp:read");
        let mut flow =
            TokenRequest::client_credentials(endpoint(), client, Some(RESOURCE.into()), scopes, entropy()).unwrap();
        let mut sent = None;
        run(&mut flow, NOW, |request| {
            sent = Some(request);
            Input::Response(response(200, r#"{"access_token":"a"}"#))
        })
        .unwrap();
        sent.unwrap()
    }

    #[test]
    fn cc1_cc2_a_client_with_a_key_sends_an_assertion_the_resource_and_the_scopes() {
        let key = ClientKey::new(SigningAlgorithm::Es256);
        let mut form = parameters(&request(ClientAuthentication::private_key_jwt("robot", key)));
        let assertion = form.remove("client_assertion").unwrap();
        assert_eq!(
            form,
            map(&[
                ("grant_type", "client_credentials"),
                ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
                ("resource", RESOURCE),
                ("scope", "mcp:read"),
            ]),
            "no client_id"
        );
        let (_, claims, _) = read(&assertion);
        assert_eq!(
            (&claims["iss"], &claims["sub"], &claims["aud"]),
            (&"robot".into(), &"robot".into(), &ISSUER.into())
        );
    }

    #[test]
    fn cc1_cc2_a_client_with_a_secret_sends_it() {
        let request = request(ClientAuthentication::client_secret_basic("robot", Secret::new("s")));
        assert_eq!(header(&request, "authorization"), Some("Basic cm9ib3Q6cw=="));
        let expected = [
            ("grant_type", "client_credentials"),
            ("client_id", "robot"),
            ("resource", RESOURCE),
            ("scope", "mcp:read"),
        ];
        assert_eq!(parameters(&request), map(&expected));
    }

    #[test]
    fn cc1_a_public_client_is_an_error_before_anything_is_sent() {
        let result =
            TokenRequest::client_credentials(endpoint(), public_client(), None, Scopes::new(), entropy()).map(|_| ());
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Misconfigured);
    }
}
