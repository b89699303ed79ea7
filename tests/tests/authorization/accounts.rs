//! Accounts: several on one server, each with its own token.

use mcpwire_driver::ErrorKind;
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
