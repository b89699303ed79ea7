//! [`ErrorCode`]: the category of an error in the JSON form of a [`HubError`](crate::HubError).

use mcpwire_core::ErrorKind;
use serde::{Deserialize, Serialize};

mcpwire_text::named_enum! {
    /// The category of an error, the member `code` of its JSON form. In JSON it is written in upper case, for example
    /// `NOT_FOUND`.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    pub enum ErrorCode {
        /// The server, tool, package or program does not exist.
        NotFound = "NOT_FOUND",
        /// The user's input is missing or invalid, or the user must log in.
        ValidationError = "VALIDATION_ERROR",
        /// The operation conflicts with the current state. For example, the server is disabled, the name is in use or
        /// the configuration has changed.
        Conflict = "CONFLICT",
        /// The server, or a service that the server requires, is temporarily not available.
        ServiceUnavailable = "SERVICE_UNAVAILABLE",
        /// The connection to the server failed or timed out.
        NetworkError = "NETWORK_ERROR",
    }

    /// Returns the category as it is spelled in JSON, such as `NOT_FOUND`.
    pub const fn as_str;
}

impl ErrorCode {
    /// All error categories, for example to document or validate the JSON form.
    pub const ALL: [ErrorCode; 5] = [
        ErrorCode::NotFound,
        ErrorCode::ValidationError,
        ErrorCode::Conflict,
        ErrorCode::ServiceUnavailable,
        ErrorCode::NetworkError,
    ];
}

impl From<ErrorKind> for ErrorCode {
    /// Returns the default category of a kind. A [`HubError`](crate::HubError) may have a more precise category. For
    /// example, a program that cannot be started because it does not exist has [`ErrorCode::NotFound`].
    fn from(kind: ErrorKind) -> Self {
        use ErrorKind as Kind;
        match kind {
            Kind::ServerNotFound
            | Kind::ToolNotFound
            | Kind::PackageNotFound
            | Kind::EndpointNotFound
            | Kind::NotFound => ErrorCode::NotFound,
            Kind::InvalidConfiguration
            | Kind::MissingValue
            | Kind::Usage
            | Kind::Unauthorized
            | Kind::LoginRequired => ErrorCode::ValidationError,
            Kind::Disabled | Kind::NeedsConsent | Kind::Denied | Kind::Cancelled | Kind::Conflict => {
                ErrorCode::Conflict
            }
            Kind::Timeout | Kind::Network => ErrorCode::NetworkError,
            _ => ErrorCode::ServiceUnavailable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{State, ToolPart};

    #[test]
    fn names_are_padded_to_a_width() {
        assert_eq!(alloc::format!("{:10}|", ErrorCode::Conflict), "CONFLICT  |");
        assert_eq!(alloc::format!("{:10}|{:>8}", State::Running, State::Failed), "running   |  failed");
        assert_eq!(alloc::format!("{:6}|", ToolPart::Title), "title |");
    }

    #[test]
    fn codes_are_spelled_as_required() {
        for code in ErrorCode::ALL {
            let json = serde_json::to_string(&code).expect("it is a string");
            assert_eq!(json, alloc::format!("\"{code}\""));
            assert_eq!(serde_json::from_str::<ErrorCode>(&json).expect("it is read"), code);
        }
        assert!(serde_json::from_str::<ErrorCode>("\"not_found\"").is_err());
    }
}
