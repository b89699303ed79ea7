//! The authorization endpoint, at which a user allows or denies a login (RFC 6749, section 4.1).

use std::time::Duration;

use super::client::Client;
use super::deviation::Deviation;
use super::pages;
use super::state::State;
use super::tokens::Code;
use super::url::{Form, origin, query, with_parameters};
use crate::http::{HttpAnswer, HttpRequest};

/// The lifetime of an authorization code. 60 s are enough, because the client redeems the code at once.
const CODE_LIFETIME: Duration = Duration::from_secs(60);

/// An authorization request with a known client and a valid redirect URI, to which errors can be sent.
struct Authorization {
    client: Client,
    redirect_uri: String,
    parameters: Form,
}

impl State {
    /// Answers a `GET` request of a browser: shows the page that asks the user, or accepts the login at once.
    pub(super) fn authorization_page(&mut self, request: &HttpRequest, now: Duration) -> HttpAnswer {
        let authorization = match self.authorization(request) {
            Ok(authorization) => authorization,
            Err(reason) => return pages::message(400, reason),
        };
        if !self.asks_users {
            return self.decide(&authorization, true, now);
        }
        let parameter = |name| authorization.parameters.get(name).unwrap_or_default();
        pages::consent(&[
            ("Program", &authorization.client.name),
            ("Server", parameter("resource")),
            ("Scopes", parameter("scope")),
            ("Leads to", origin(&authorization.redirect_uri)),
        ])
    }

    /// Answers the `POST` request by which the page sends the user's decision.
    pub(super) fn authorization_answer(&mut self, request: &HttpRequest, form: &Form, now: Duration) -> HttpAnswer {
        match self.authorization(request) {
            Ok(authorization) => self.decide(&authorization, form.get("decision") == Some("allow"), now),
            Err(reason) => pages::message(400, reason),
        }
    }

    /// Reads an authorization request from the URL. The error is a sentence for the user, because no redirect URI is known then.
    fn authorization(&self, request: &HttpRequest) -> Result<Authorization, &'static str> {
        let parameters = Form::parse(query(&request.url));
        let client = parameters.get("client_id").and_then(|id| self.client(id)).ok_or("The client is unknown.")?;
        let redirect_uri = parameters.get("redirect_uri").unwrap_or_default().to_owned();
        if !client.has_redirect_uri(&redirect_uri, self.deviates(&Deviation::AnyLoopbackPort)) {
            return Err("The redirect URI is not registered.");
        }
        Ok(Authorization { client, redirect_uri, parameters })
    }

    /// Returns the redirect to the client, with an authorization code or an error.
    fn decide(&mut self, authorization: &Authorization, is_allowed: bool, now: Duration) -> HttpAnswer {
        let Authorization { client, redirect_uri, parameters } = authorization;
        let refusal = self.deviation(|deviation| match deviation {
            Deviation::RefuseLogins(error) => Some(error.clone()),
            _ => None,
        });
        let error = refusal.or_else(|| self.invalid_request(parameters).map(Into::into));
        let error = error.or_else(|| (!is_allowed).then(|| "access_denied".into()));
        let mut answer = match error {
            Some(error) => vec![("error", error), ("error_description", "the login was refused".to_owned())],
            None => vec![("code", self.new_code(client, redirect_uri, parameters, now))],
        };
        let state = self.deviation(|deviation| match deviation {
            Deviation::State(state) => Some(state.as_str()),
            _ => None,
        });
        answer.extend(state.or_else(|| parameters.get("state")).map(|state| ("state", state.to_owned())));
        answer.extend(self.iss().map(|iss| ("iss", iss.to_owned())));
        pages::redirect(&with_parameters(redirect_uri, &answer))
    }

    /// Returns the error code for an invalid authorization request, or `None` if the request is valid.
    fn invalid_request(&self, parameters: &Form) -> Option<&'static str> {
        if parameters.get("response_type") != Some("code") {
            return Some("unsupported_response_type");
        }
        if parameters.get("code_challenge").is_none() || parameters.get("code_challenge_method") != Some("S256") {
            return Some("invalid_request");
        }
        (!self.accepts_resource(parameters)).then_some("invalid_target")
    }

    /// Returns whether the parameter `resource` is valid: it must name a known MCP server, unless a deviation changes the rule.
    pub(super) fn accepts_resource(&self, parameters: &Form) -> bool {
        let refuses = self.deviates(&Deviation::RefuseResource);
        match parameters.get("resource") {
            Some(resource) => !refuses && self.knows_resource(resource),
            None => refuses || self.deviates(&Deviation::AcceptMissingResource),
        }
    }

    fn new_code(&mut self, client: &Client, redirect_uri: &str, parameters: &Form, now: Duration) -> String {
        let code = Code {
            permission: self.permission(client, parameters, None),
            redirect_uri: redirect_uri.to_owned(),
            challenge: parameters.get("code_challenge").unwrap_or_default().to_owned(),
            expires_at: now + CODE_LIFETIME,
        };
        let text = self.new_secret("code");
        self.tokens.codes.insert(text.clone(), code);
        text
    }

    /// Returns the value of the parameter `iss` of a redirect, or `None` if the redirect has no `iss`.
    fn iss(&self) -> Option<&str> {
        let iss = self.deviation(|deviation| match deviation {
            Deviation::NoIss | Deviation::OmitPromisedIss => Some(None),
            Deviation::Iss(iss) => Some(Some(iss.as_str())),
            _ => None,
        });
        iss.unwrap_or(Some(&self.issuer))
    }
}
