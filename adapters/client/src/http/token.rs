//! [`TokenProvider`]: provides the access token for the `Authorization` header of HTTP requests.

use std::env;
use std::error::Error;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;

/// Provides the access token that the requests to a server carry. Set by
/// [`HttpOptions::token`](super::HttpOptions::token).
///
/// The client calls the provider before each request, so the provider may renew the token at any time. When the token changes,
/// the client no longer uses the private responses that it has cached.
///
/// The client notices another token only when it sends the next request. If the user can change while a connection is open,
/// implement [`Authorizer`](super::Authorizer) with a [`context`](super::Authorizer::context) instead, which reports the change
/// at once.
///
/// Closures, `Arc<T>` and `Box<dyn TokenProvider>` implement this trait:
///
/// ```
/// # mod mcpwire { pub mod http { pub use mcpwire_client::http::{HttpOptions, TokenFuture, TokenProvider}; } }
/// use mcpwire::http::{HttpOptions, TokenFuture, TokenProvider};
///
/// async fn login() -> std::io::Result<String> {
///     Ok("t0ken".to_owned())
/// }
///
/// let options = HttpOptions::default().token(|| async { login().await.map(Some) });
///
/// struct Login;
///
/// impl TokenProvider for Login {
///     fn token(&self) -> TokenFuture<'_> {
///         Box::pin(async { Ok(Some(login().await?)) })
///     }
/// }
///
/// let options = HttpOptions::default().token(Login);
/// ```
pub trait TokenProvider: Send + Sync + 'static {
    /// Returns the token for the `Authorization: Bearer` header of the next request. With `None`, the request is sent without a
    /// token.
    ///
    /// # Errors
    /// Return an error if a token is required and missing. The request fails. The error and its sources must not contain secrets,
    /// because the user sees them. If this method panics, the request fails with the message of the panic.
    fn token(&self) -> TokenFuture<'_>;
}

/// A future that resolves to an access token, or to `None` to send none. Returned by [`TokenProvider::token`].
pub type TokenFuture<'a> = Pin<Box<dyn Future<Output = Result<Option<String>, TokenError>> + Send + 'a>>;

/// The error of a [`TokenProvider`] or [`Authorizer`](super::Authorizer). Texts and errors convert into it with `into()` or `?`.
pub type TokenError = Box<dyn Error + Send + Sync>;

impl<T: TokenProvider + ?Sized> TokenProvider for Arc<T> {
    fn token(&self) -> TokenFuture<'_> {
        (**self).token()
    }
}

impl TokenProvider for Box<dyn TokenProvider> {
    fn token(&self) -> TokenFuture<'_> {
        (**self).token()
    }
}

impl<F, Fut, E> TokenProvider for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Option<String>, E>> + Send + 'static,
    E: Into<TokenError>,
{
    fn token(&self) -> TokenFuture<'_> {
        let token = self();
        Box::pin(async { token.await.map_err(Into::into) })
    }
}

/// A [`TokenProvider`] that returns the same token for all requests. The field is the token.
#[derive(Clone)]
pub struct StaticToken(pub String);

impl TokenProvider for StaticToken {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(ready(Ok(Some(self.0.clone()))))
    }
}

impl fmt::Debug for StaticToken {
    /// Omits the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StaticToken(..)")
    }
}

/// A [`TokenProvider`] that reads the token from an environment variable before each request. The field is the name of the
/// variable.
#[derive(Clone, Debug)]
pub struct EnvToken(pub String);

impl EnvToken {
    fn read(&self) -> Result<Option<String>, TokenError> {
        let name = &self.0;
        match env::var(name) {
            Ok(token) if !token.trim().is_empty() => Ok(Some(token.trim().to_owned())),
            Ok(_) => Err(format!("the environment variable `{name}` is empty. Set it to the access token").into()),
            Err(env::VarError::NotPresent) => {
                Err(format!("the environment variable `{name}` is not set. Set it to the access token").into())
            }
            Err(env::VarError::NotUnicode(_)) => {
                Err(format!("the environment variable `{name}` is not valid UTF-8").into())
            }
        }
    }
}

impl TokenProvider for EnvToken {
    fn token(&self) -> TokenFuture<'_> {
        Box::pin(ready(self.read()))
    }
}
