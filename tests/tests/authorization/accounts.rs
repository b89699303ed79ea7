//! Accounts: several on one server, each with its own token.

use mcpwire_authorization::RevocationOutcome;
use mcpwire_driver::ErrorKind;
use mcpwire_testkit::HttpAnswer;
use mcpwire_testkit::authorization::Endpoint;
use mcpwire_tests::authorization::Web;
use mcpwire_tests::watched;

#[test]
fn o18_each_account_has_its_own_token() {
    watched(|| {
        let web = Web::new();
        let account = |name: &str| web.build(web.oauth_after_login_of(name));
        let (home, work) = (account("home"), account("work"));
        web.time.run(async {
            for oauth in [&home, &work] {
                web.client(oauth).initialize().await.expect("the account has a token");
            }
            assert_eq!(home.status().await.unwrap().unwrap().account, "home");
            home.logout(false).await.expect("the token is deleted");
            let error = web.client(&home).initialize().await.map(drop).expect_err("the account has logged out");
            assert_eq!(error.kind(), ErrorKind::LoginRequired);
            web.client(&work).initialize().await.expect("the other account has not");
        });
        let tokens: std::collections::BTreeSet<_> = web
            .server
            .requests()
            .iter()
            .filter_map(|request| request.header("Authorization").map(str::to_owned))
            .collect();
        assert_eq!(tokens.len(), 2);
        assert_eq!((web.logins().len(), web.count(Endpoint::Registration)), (2, 1), "the client is the same");
    });
}

#[test]
fn a_logout_revokes_the_login_and_deletes_it_even_if_that_fails() {
    watched(|| {
        for fails in [false, true] {
            let web = Web::new();
            let oauth = web.build(web.oauth_after_login());
            if fails {
                web.authorization.answer_next(Endpoint::Revocation, HttpAnswer::status(503));
            }
            web.time.run(async {
                let logged_out = oauth.logout(true).await.expect("the token is deleted");
                assert!(logged_out.had_token);
                assert_eq!(matches!(logged_out.revocation, RevocationOutcome::Failed(_)), fails);
                assert_eq!(logged_out.revocation == RevocationOutcome::Revoked, !fails);
                assert_eq!(oauth.status().await.unwrap(), None);
            });
            let refresh_token =
                web.authorization.secrets().into_iter().find(|secret| secret.starts_with("refresh-token"));
            assert_eq!(web.authorization.is_refresh_token_valid(&refresh_token.unwrap()), fails);
        }
    });
}
