//! [`HttpSetupError`]: why a client cannot make HTTP requests.

#[cfg(feature = "http")]
use mcpwire_core::http::SettingsError;

/// The reason why a client cannot make HTTP requests.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HttpSetupError {
    /// The client was built without HTTP.
    #[error(
        "the server has a URL, and this client was built without HTTP; enable the feature `http` of \
         `mcpwire`, or set an HTTP client of the program"
    )]
    Missing,
    /// The URL of the server or a header is invalid.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The HTTP client could not be created. Contains the reason.
    #[error("the HTTP client could not be created: {0}")]
    Client(String),
    /// The HTTP client does not apply a setting of the server's definition. Contains the name of the setting.
    #[cfg(feature = "http")]
    #[error(
        "the HTTP client does not apply `{0}` of the server's definition; use the HTTP client of the runtime or one made with \
         `mcpwire::http::ClientOptions::of`, or configure the HTTP client of the program and remove `{0}` from the definition"
    )]
    SettingNotApplied(&'static str),
}
