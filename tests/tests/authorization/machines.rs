//! Programs without a user.

use mcpwire_authorization::oauth::{ClientKey, Secret, SigningAlgorithm};
use mcpwire_authorization::{MachineGrant, SigningKey};
use mcpwire_testkit::authorization::Client;
use mcpwire_tests::authorization::{Web, echo};
use mcpwire_tests::watched;

use crate::registrations::public_key;
use crate::{grants, secs};

#[test]
fn cc1_cc2_a_client_gets_tokens_with_its_secret_or_its_key() {
    watched(|| {
        for has_key in [false, true] {
            let web = Web::new();
            web.authorization.token_lifetime(secs(100));
            let client = Client::new("machine");
            let builder = if has_key {
                let (key, _) = SigningKey::generate().expect("the system has random numbers");
                web.authorization.client(client.key(public_key(&key)));
                let grant = MachineGrant::client_credentials("machine", None);
                web.oauth_without_user().machine_grant(grant).client_key(ClientKey::new(SigningAlgorithm::Es256), key)
            } else {
                web.authorization.client(client.secret("s3cret"));
                let secret = Secret::new("s3cret");
                web.oauth_without_user().machine_grant(MachineGrant::client_credentials("machine", Some(secret)))
            };
            web.run(builder, async |client| {
                echo(&client).await.expect("there is a token");
                web.time.sleep(secs(200)).await;
                echo(&client).await.expect("there is another token");
                web.authorization.revoke_access_tokens();
                echo(&client).await.expect("the refused token is replaced");
            });
            assert_eq!(
                (grants(&web.token_requests()), web.logins().len()),
                (vec!["client_credentials".to_owned(); 3], 0)
            );
            let resources =
                web.token_requests().iter().filter(|request| request.parameter("resource").is_some()).count();
            assert_eq!(resources, 3);
        }
    });
}
