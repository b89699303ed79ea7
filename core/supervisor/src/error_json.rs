//! The JSON form of a [`HubError`]: how an error is serialized and deserialized.

use alloc::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{ErrorCode, ErrorKind, HubError};

/// The serialized form of a [`HubError`], which is a contract with other programs.
#[derive(Serialize, Deserialize)]
struct Contract<'a> {
    code: ErrorCode,
    message: Cow<'a, str>,
    #[serde(default)]
    field: Cow<'a, str>,
}

impl Serialize for HubError {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (message, field) = (Cow::Borrowed(self.message()), Cow::Borrowed(self.field()));
        Contract { code: self.code(), message, field }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for HubError {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Contract { code, message, field } = Contract::deserialize(deserializer)?;
        Ok(HubError::new(kind_of_contract(code, &field), message).with_code(code).at(field))
    }
}

/// Derives the kind of a deserialized error from its `code` and `field`. Several kinds can have the same code and field,
/// so the result may differ from the kind of the original error.
fn kind_of_contract(code: ErrorCode, field: &str) -> ErrorKind {
    match (code, field) {
        (ErrorCode::NotFound, "mcp_id") => ErrorKind::ServerNotFound,
        (ErrorCode::NotFound, "tool_name") => ErrorKind::ToolNotFound,
        (ErrorCode::NotFound, "package.identifier") => ErrorKind::PackageNotFound,
        (ErrorCode::NotFound, "package.package_type") => ErrorKind::Start,
        (ErrorCode::NotFound, _) => ErrorKind::NotFound,
        (ErrorCode::ValidationError, "arguments") => ErrorKind::Server,
        (ErrorCode::ValidationError, "authorization") => ErrorKind::Unauthorized,
        (ErrorCode::ValidationError, "login") => ErrorKind::LoginRequired,
        (ErrorCode::ValidationError, _) => ErrorKind::InvalidConfiguration,
        (ErrorCode::Conflict, "enabled") => ErrorKind::Disabled,
        (ErrorCode::Conflict, "consent") => ErrorKind::NeedsConsent,
        (ErrorCode::Conflict, _) => ErrorKind::Conflict,
        (ErrorCode::ServiceUnavailable, _) => ErrorKind::Unavailable,
        (ErrorCode::NetworkError, "timeout") => ErrorKind::Timeout,
        (ErrorCode::NetworkError, _) => ErrorKind::Network,
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::ServerId;

    #[test]
    fn a_serialized_error_has_three_strings_and_is_read_as_its_code_and_field_tell() {
        let error = HubError::new(ErrorKind::RateLimited, "later").with_retry_after(Duration::from_secs(3));
        let json = serde_json::to_string(&error).expect("it is written");
        assert_eq!(json, r#"{"code":"SERVICE_UNAVAILABLE","message":"later","field":""}"#);
        let read = serde_json::from_str::<HubError>(&json).expect("it is read");
        assert_eq!(read, HubError::unavailable("later"));
        assert!(
            error.is_retryable() && !read.is_retryable(),
            "the JSON does not say whether the operation had an effect"
        );
        let id = ServerId::from_random(1);
        for error in [HubError::unknown_server(id), HubError::login_required("x"), HubError::disabled()] {
            let json = serde_json::to_string(&error).expect("it is written");
            assert_eq!(serde_json::from_str::<HubError>(&json).expect("it is read"), error);
        }
        let rejected = r#"{"code":"VALIDATION_ERROR","message":"no","field":"arguments"}"#;
        let read = serde_json::from_str::<HubError>(rejected).expect("it is read");
        assert_eq!((read.kind(), read.code()), (ErrorKind::Server, ErrorCode::ValidationError));
    }
}
