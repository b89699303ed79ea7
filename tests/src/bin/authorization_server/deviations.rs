//! The names of deviations.

use std::time::Duration;

use mcpwire_testkit::authorization::{AuthorizationServer, Deviation, Endpoint, ProtectedServer, ResourceDeviation};
use serde_json::Value;

const HELP: &str = "\
Authorization server: omit-code-challenge-methods, issuer-in-metadata=ISSUER, advertise-confidential-methods-only,
  ENDPOINT-url=URL (authorization, token, registration, revocation, device), metadata=MEMBER=JSON, no-iss, omit-promised-iss,
  unpromised-iss, iss=ISSUER, state=STATE, refuse-logins=ERROR, any-loopback-port, refuse-redirect-uris, refuse-other-grants,
  register-with-secret, secret-lifetime=SECONDS, refuse-resource, refuse-resource-on-refresh, refuse-scope-on-refresh,
  accept-missing-resource, errors-with-status-200, no-refresh-tokens, keep-refresh-tokens, accept-last-refresh-token,
  omit-expires-in, token-type=TYPE, ignore-proofs, grant-scopes=SCOPES, omit-scope
MCP server: omit-challenge, omit-metadata-url, challenge=VALUE, challenge-before=VALUE, metadata-at-root, no-metadata,
  resource-metadata=MEMBER=JSON, missing-scopes-as-401, omit-missing-scopes, refuse-all-tokens, want-more-scopes";

/// Lets a server deviate as `NAME` or `NAME=VALUE` says.
pub(crate) fn deviate(text: &str, authorization: &AuthorizationServer, server: &ProtectedServer) -> Result<(), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if let Some(deviation) = of_authorization_server(name, value)? {
        authorization.deviate(deviation);
    } else if let Some(deviation) = of_server(name, value)? {
        server.deviate(deviation);
    } else {
        return Err(HELP.into());
    }
    Ok(())
}

fn of_authorization_server(name: &str, value: &str) -> Result<Option<Deviation>, String> {
    let text = || value.to_owned();
    Ok(Some(match name {
        "omit-code-challenge-methods" => Deviation::OmitCodeChallengeMethods,
        "issuer-in-metadata" => Deviation::IssuerInMetadata(text()),
        "advertise-confidential-methods-only" => Deviation::AdvertiseConfidentialMethodsOnly,
        "authorization-url" => Deviation::EndpointUrl(Endpoint::Authorization, text()),
        "token-url" => Deviation::EndpointUrl(Endpoint::Token, text()),
        "registration-url" => Deviation::EndpointUrl(Endpoint::Registration, text()),
        "revocation-url" => Deviation::EndpointUrl(Endpoint::Revocation, text()),
        "device-url" => Deviation::EndpointUrl(Endpoint::DeviceAuthorization, text()),
        "metadata" => {
            let (member, value) = member(value)?;
            Deviation::MetadataMember(member, value)
        }
        "no-iss" => Deviation::NoIss,
        "omit-promised-iss" => Deviation::OmitPromisedIss,
        "unpromised-iss" => Deviation::UnpromisedIss,
        "iss" => Deviation::Iss(text()),
        "state" => Deviation::State(text()),
        "refuse-logins" => Deviation::RefuseLogins(text()),
        "any-loopback-port" => Deviation::AnyLoopbackPort,
        "refuse-redirect-uris" => Deviation::RefuseRedirectUris,
        "refuse-other-grants" => Deviation::RefuseOtherGrants,
        "register-with-secret" => Deviation::RegisterWithSecret,
        "secret-lifetime" => {
            let seconds = value.parse().map_err(|_| format!("`{value}` is not a number of seconds"))?;
            Deviation::SecretLifetime(Duration::from_secs(seconds))
        }
        "refuse-resource" => Deviation::RefuseResource,
        "refuse-resource-on-refresh" => Deviation::RefuseResourceOnRefresh,
        "refuse-scope-on-refresh" => Deviation::RefuseScopeOnRefresh,
        "accept-missing-resource" => Deviation::AcceptMissingResource,
        "errors-with-status-200" => Deviation::ErrorsWithStatus200,
        "no-refresh-tokens" => Deviation::NoRefreshTokens,
        "keep-refresh-tokens" => Deviation::KeepRefreshTokens,
        "accept-last-refresh-token" => Deviation::AcceptLastRefreshToken,
        "omit-expires-in" => Deviation::OmitExpiresIn,
        "token-type" => Deviation::TokenType(text()),
        "ignore-proofs" => Deviation::IgnoreProofs,
        "grant-scopes" => Deviation::GrantScopes(text()),
        "omit-scope" => Deviation::OmitScope,
        _ => return Ok(None),
    }))
}

fn of_server(name: &str, value: &str) -> Result<Option<ResourceDeviation>, String> {
    Ok(Some(match name {
        "omit-challenge" => ResourceDeviation::OmitChallenge,
        "omit-metadata-url" => ResourceDeviation::OmitMetadataUrl,
        "challenge" => ResourceDeviation::Challenge(value.to_owned()),
        "challenge-before" => ResourceDeviation::ChallengeBefore(value.to_owned()),
        "metadata-at-root" => ResourceDeviation::MetadataAtRoot,
        "no-metadata" => ResourceDeviation::NoMetadata,
        "resource-metadata" => {
            let (member, value) = member(value)?;
            ResourceDeviation::MetadataMember(member, value)
        }
        "missing-scopes-as-401" => ResourceDeviation::MissingScopesAs401,
        "omit-missing-scopes" => ResourceDeviation::OmitMissingScopes,
        "refuse-all-tokens" => ResourceDeviation::RefuseAllTokens,
        "want-more-scopes" => ResourceDeviation::WantMoreScopes,
        _ => return Ok(None),
    }))
}

/// Reads `MEMBER=JSON`.
fn member(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("give MEMBER=JSON")?;
    let value = serde_json::from_str(value).map_err(|error| format!("`{value}` is not JSON: {error}"))?;
    Ok((name.to_owned(), value))
}
