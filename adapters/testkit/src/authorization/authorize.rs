//! The authorization endpoint (RFC 6749, section 4.1).

use std::time::Duration;

use super::Form;
use super::answers::redirect;
use super::client::Client;
use super::deviation::Deviation;
use super::pages::{self, Question};
use super::state::State;
use super::tokens::{Code, Permission};
use super::url::{query, split_origin, with_parameters};
use crate::http::{HttpAnswer, HttpRequest};

/// How long a code is valid.
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// An authorization request whose client and redirect URI are known, so that errors can be sent there.
struct Authorization {
    client: Client,
    redirect_uri: String,
    parameters: Form,
}

impl State {
    /// Answers a `GET`: with the page that asks the user, or at once.
    pub(super) fn authorization_page(&mut self, request: &HttpRequest, now: Duration) -> HttpAnswer {
        let authorization = match self.authorization(request) {
            Ok(authorization) => authorization,
            Err(answer) => return answer,
        };
        if !self.asks_users {
            return self.decide(&authorization, true, now);
        }
        let parameter = |name| authorization.parameters.get(name).unwrap_or_default();
        pages::consent(&Question {
            client: &authorization.client.name,
            resource: parameter("resource"),
            scopes: parameter("scope"),
            leads_to: split_origin(&authorization.redirect_uri).0,
        })
    }

    /// Answers a `POST`: the form of the page.
    pub(super) fn authorization_answer(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> HttpAnswer {
        match self.authorization(request) {
            Ok(authorization) => self.decide(&authorization, form.get("decision") == Some("allow"), now),
            Err(answer) => answer,
        }
    }

    fn authorization(&self, request: &HttpRequest) -> Result<Authorization, HttpAnswer> {
        let refused = |reason: &str| pages::message(400, reason);
        let parameters = Form::parse(query(&request.url));
        let client = parameters.get("client_id").and_then(|id| self.client(id));
        let client = client.ok_or_else(|| refused("The client is unknown."))?;
        let redirect_uri = parameters.get("redirect_uri").unwrap_or_default().to_owned();
        if !client.has_redirect_uri(&redirect_uri, self.deviates(&Deviation::AnyLoopbackPort)) {
            return Err(refused("The redirect URI is not registered."));
        }
        Ok(Authorization { client, redirect_uri, parameters })
    }

    /// Returns the redirect with the code or the error.
    fn decide(&mut self, authorization: &Authorization, allows: bool, now: Duration) -> HttpAnswer {
        let parameters = &authorization.parameters;
        let refusal = self.deviation(|deviation| match deviation {
            Deviation::RefuseLogins(error) => Some(error.clone()),
            _ => None,
        });
        let problem = refusal.or_else(|| self.problem(parameters).map(Into::into));
        let problem = problem.or_else(|| (!allows).then(|| "access_denied".into()));
        let mut answer = match problem {
            Some(error) => vec![("error", error), ("error_description", "the login was refused".to_owned())],
            None => vec![("code", self.new_code(authorization, now))],
        };
        let state = self.deviation(|deviation| match deviation {
            Deviation::State(state) => Some(state.clone()),
            _ => None,
        });
        answer.extend(state.or_else(|| parameters.get("state").map(Into::into)).map(|state| ("state", state)));
        answer.extend(self.iss().map(|iss| ("iss", iss)));
        let answer: Vec<_> = answer.iter().map(|(name, value)| (*name, value.as_str())).collect();
        redirect(&with_parameters(&authorization.redirect_uri, &answer))
    }

    /// Returns the error code for an invalid authorization request.
    fn problem(&self, parameters: &Form) -> Option<&'static str> {
        if parameters.get("response_type") != Some("code") {
            return Some("unsupported_response_type");
        }
        if parameters.get("code_challenge").is_none() || parameters.get("code_challenge_method") != Some("S256") {
            return Some("invalid_request");
        }
        (!self.accepts_resource(parameters)).then_some("invalid_target")
    }

    /// Returns whether the parameter `resource` is as it must be.
    pub(super) fn accepts_resource(&self, parameters: &Form) -> bool {
        match parameters.get("resource") {
            Some(_) if self.deviates(&Deviation::RefuseResource) => false,
            Some(resource) => self.knows_resource(resource),
            None => [Deviation::AcceptMissingResource, Deviation::RefuseResource].iter().any(|one| self.deviates(one)),
        }
    }

    fn new_code(&mut self, authorization: &Authorization, now: Duration) -> String {
        let parameters = &authorization.parameters;
        let code = Code {
            permission: Permission {
                client_id: authorization.client.id.clone(),
                resource: parameters.get("resource").map(Into::into),
                scopes: self.granted_scopes(parameters),
                key: None,
            },
            redirect_uri: authorization.redirect_uri.clone(),
            challenge: parameters.get("code_challenge").unwrap_or_default().to_owned(),
            expires_at: now + CODE_LIFETIME,
        };
        let text = self.new_secret("code");
        self.tokens.add_code(text.clone(), code);
        text
    }

    /// Returns the scopes that a user grants: those that were asked for.
    pub(super) fn granted_scopes(&self, parameters: &Form) -> Vec<String> {
        let granted = self.deviation(|deviation| match deviation {
            Deviation::GrantScopes(scopes) => Some(scopes.as_str()),
            _ => None,
        });
        let scopes = granted.or_else(|| parameters.get("scope")).unwrap_or_default();
        scopes.split_ascii_whitespace().map(Into::into).collect()
    }

    fn iss(&self) -> Option<String> {
        let iss = self.deviation(|deviation| match deviation {
            Deviation::NoIss | Deviation::OmitPromisedIss => Some(None),
            Deviation::Iss(iss) => Some(Some(iss.clone())),
            _ => None,
        });
        iss.unwrap_or_else(|| Some(self.issuer.clone()))
    }
}
