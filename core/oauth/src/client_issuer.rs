//! Decides whether the credentials of a pre-registered client may be sent to an authorization server.

use alloc::format;

use crate::error::quoted;
use crate::{Error, ErrorKind, OAuthSettings, Step};

impl OAuthSettings {
    /// Returns the identifier of the client that is registered already, and whether it has a secret.
    pub fn configured_client(&self) -> Option<(&str, bool)> {
        Some((self.client_id.as_deref()?, self.client_secret.is_some()))
    }

    /// Returns the issuer of [`client_issuer`](OAuthSettings::client_issuer).
    pub fn issuer_of_client(&self) -> Option<&str> {
        self.client_issuer.as_deref()
    }

    /// Checks that the credentials of a client that somebody has registered may be sent to the authorization server `issuer`
    /// (basic/authorization/client-registration, "Authorization Server Binding").
    ///
    /// The client belongs to the issuer of the settings. Without one, it belongs to `used_before`, the issuer at which the client
    /// was used before. `has_secret` says whether the client authenticates with a secret, which the authorization server learns.
    ///
    /// # Errors
    /// If the client belongs to another authorization server. If it has a secret and its authorization server is not known, with
    /// the kind [`ErrorKind::ClientIssuerRequired`], unless the settings
    /// [trust the first issuer](OAuthSettings::trust_first_issuer).
    pub fn check_client_issuer(
        &self,
        client_id: &str,
        has_secret: bool,
        used_before: Option<&str>,
        issuer: &str,
    ) -> Result<(), Error> {
        match self.client_issuer.as_deref().or(used_before) {
            Some(expected) if expected == issuer => Ok(()),
            Some(expected) => {
                let reason = format!(
                    "the client `{client_id}` is registered at `{expected}`, but the server now names `{}`",
                    quoted(issuer)
                );
                Err(Error::new(ErrorKind::Misconfigured, Step::Registration, reason).with_advice(
                    "if the change is right, register a client there, and set its identifier and `client_issuer`",
                ))
            }
            None if has_secret && !self.trusts_first_issuer => {
                let reason = format!(
                    "the secret of the client `{client_id}` was not sent to `{}`: no setting says that the client is \
                     registered there",
                    quoted(issuer)
                );
                Err(Error::new(ErrorKind::ClientIssuerRequired, Step::Registration, reason)
                    .with_advice("set `client_issuer` to the authorization server that has issued the secret"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ISSUER;
    use alloc::string::ToString;

    const OTHER: &str = "https://other.example";

    fn check(settings: &OAuthSettings, has_secret: bool, used_before: Option<&str>) -> Result<(), ErrorKind> {
        settings.check_client_issuer("mine", has_secret, used_before, ISSUER).map_err(|error| error.kind())
    }

    #[test]
    fn a_secret_goes_only_to_the_configured_issuer_or_to_the_one_of_an_earlier_use() {
        let none = OAuthSettings::new("name", "");
        assert_eq!(check(&none, true, None), Err(ErrorKind::ClientIssuerRequired));
        assert_eq!(check(&none, true, Some(ISSUER)), Ok(()));
        assert_eq!(check(&none, true, Some(OTHER)), Err(ErrorKind::Misconfigured));
        let configured = none.clone().client_issuer(ISSUER);
        assert_eq!(check(&configured, true, None), Ok(()));
        assert_eq!(check(&configured, true, Some(OTHER)), Ok(()), "the settings say more than an earlier use");
        assert_eq!(check(&none.client_issuer(OTHER), true, Some(ISSUER)), Err(ErrorKind::Misconfigured));
    }

    #[test]
    fn the_first_issuer_is_trusted_only_by_name_and_only_until_another_is_known() {
        let trusting = OAuthSettings::new("name", "").trust_first_issuer(true);
        assert_eq!(check(&trusting, true, None), Ok(()));
        assert_eq!(check(&trusting, true, Some(OTHER)), Err(ErrorKind::Misconfigured));
    }

    #[test]
    fn a_client_without_a_secret_is_used_at_one_issuer_too() {
        let none = OAuthSettings::new("name", "");
        assert_eq!(check(&none, false, None), Ok(()));
        assert_eq!(check(&none, false, Some(OTHER)), Err(ErrorKind::Misconfigured));
    }

    #[test]
    fn an_issuer_differs_from_its_parts() {
        let none = OAuthSettings::new("name", "");
        for other in [&ISSUER[..ISSUER.len() - 1], &format!("{ISSUER}/"), &ISSUER.to_uppercase(), ""] {
            assert_eq!(check(&none.clone().client_issuer(other), true, None), Err(ErrorKind::Misconfigured), "{other}");
        }
    }

    #[test]
    fn the_error_names_the_client_the_issuer_and_the_setting() {
        let error = OAuthSettings::new("name", "").check_client_issuer("mine", true, None, ISSUER).unwrap_err();
        let text = error.to_string();
        for part in ["`mine`", ISSUER, "`client_issuer`"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
