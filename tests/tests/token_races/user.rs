//! [`AgreeingUser`]: a user who logs in at once.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_authorization::{LoginPrompt, LoginWindow};
use mcpwire_tokio::http::{HttpClient, TokenError};
use mcpwire_tokio::protocol::http::{Exchange, Verb};

/// A user who logs in at once.
pub(crate) struct AgreeingUser(pub(crate) Arc<dyn HttpClient>);

impl LoginPrompt for AgreeingUser {
    fn prepare(&self, _: Option<&str>) -> Result<Box<dyn LoginWindow>, TokenError> {
        Ok(Box::new(AgreeingWindow(Arc::clone(&self.0))))
    }
}

struct AgreeingWindow(Arc<dyn HttpClient>);

impl LoginWindow for AgreeingWindow {
    fn redirect_uri(&self) -> &'static str {
        "http://127.0.0.1:33418/callback"
    }

    fn show(self: Box<Self>, url: String) -> Pin<Box<dyn Future<Output = Result<String, TokenError>> + Send>> {
        Box::pin(async move {
            let response = self.0.send(Exchange::new(Verb::Get, url)).await?;
            let location = response.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("location"));
            let (_, location) = location.ok_or("the authorization server did not redirect")?;
            Ok(String::from_utf8_lossy(location).into_owned())
        })
    }
}
