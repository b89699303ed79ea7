//! [`TokenProvider`]: who gives the token that requests are sent with.

use std::env;
use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use crate::catch_panic;
use mcpwire_core::http::{Exchange, Failure, FailureKind};

use super::{Begun, HttpClient};

/// Gives the bearer token of a server. It is asked before each request, so that a token may be renewed meanwhile.
pub trait TokenProvider: Send + Sync + 'static {
    /// The token that the next request is sent with, as `Authorization: Bearer` has it; `None` for none.
    ///
    /// # Errors
    /// If there is none and should be: the request fails with these words, which must not hold secrets. It fails with the
    /// message of a panic as well.
    fn token(&self) -> impl Future<Output = Result<Option<String>, String>> + Send;
}

pub(super) type Token = Pin<Box<dyn Future<Output = Result<Option<String>, String>> + Send>>;

/// Any [`TokenProvider`].
pub(super) trait AnyToken: Send + Sync {
    fn begin(self: Arc<Self>) -> Token;
}

impl<T: TokenProvider> AnyToken for T {
    fn begin(self: Arc<Self>) -> Token {
        Box::pin(async move { self.token().await })
    }
}

/// An HTTP client that makes its requests with a token.
pub(super) struct Authorized {
    pub(super) tokens: Arc<dyn AnyToken>,
    pub(super) client: Arc<dyn HttpClient>,
}

impl HttpClient for Authorized {
    fn begin(&self, mut exchange: Exchange) -> Begun {
        let (tokens, client) = (Arc::clone(&self.tokens), Arc::clone(&self.client));
        Box::pin(async move {
            let mut token = tokens.begin();
            let token = poll_fn(|cx| match catch_panic(|| token.as_mut().poll(cx)) {
                Ok(token) => token,
                Err(message) => Poll::Ready(Err(format!("the token provider panicked: {message}"))),
            });
            match token.await {
                Ok(None) => {}
                // Nothing that would end the header, or be another one.
                Ok(Some(token)) if !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                    exchange.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
                    exchange.headers.push(("Authorization".into(), format!("Bearer {token}")));
                }
                Ok(Some(_)) => {
                    let detail = "the token has characters that tokens do not have";
                    return Err(Failure::new(FailureKind::NotMade, detail));
                }
                Err(why) => return Err(Failure::new(FailureKind::NotMade, why)),
            }
            client.begin(exchange).await
        })
    }

    fn capacity(&self) -> usize {
        self.client.capacity()
    }
}

/// Always the same token.
#[derive(Clone)]
pub struct StaticToken(pub String);

impl TokenProvider for StaticToken {
    async fn token(&self) -> Result<Option<String>, String> {
        Ok(Some(self.0.clone()))
    }
}

impl fmt::Debug for StaticToken {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaticToken(..)")
    }
}

/// The token that a variable of this process has.
#[derive(Clone, Debug)]
pub struct EnvToken(pub String);

impl TokenProvider for EnvToken {
    async fn token(&self) -> Result<Option<String>, String> {
        match env::var(&self.0) {
            Ok(token) if !token.trim().is_empty() => Ok(Some(token.trim().to_owned())),
            Ok(_) => Err(format!("the variable `{}`, which is to have the token, is empty", self.0)),
            Err(env::VarError::NotPresent) => {
                Err(format!("the variable `{}`, which is to have the token, is not set", self.0))
            }
            Err(env::VarError::NotUnicode(_)) => Err(format!("the variable `{}` is no text", self.0)),
        }
    }
}
