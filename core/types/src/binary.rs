//! Images, audio and binary resources as bytes instead of base64 (RFC 4648, section 4), and as `data:` URLs (RFC 2397).

use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::{AudioContent, ImageContent, ResourceContents};

/// Writes padding, but does not require it: some servers omit it.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Media type of data whose media type is unknown.
const UNKNOWN: &str = "application/octet-stream";

/// The error for data that is not valid base64.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the data is not base64: {reason}")]
pub struct Base64Error {
    reason: base64::DecodeError,
}

macro_rules! media {
    ($( $Name:ident, $data:literal, $the_data:literal; )*) => { $(
        impl $Name {
            #[doc = concat!("Creates a content block from the bytes of ", $data, " and the MIME type.")]
            pub fn from_bytes(bytes: impl AsRef<[u8]>, mime_type: impl Into<String>) -> Self {
                Self::new(BASE64.encode(bytes), mime_type)
            }

            #[doc = concat!("Returns the bytes of ", $the_data, ".")]
            ///
            /// Tolerates line breaks, missing padding and the URL-safe alphabet.
            ///
            /// # Errors
            /// Returns an error if the data is not base64.
            pub fn bytes(&self) -> Result<Vec<u8>, Base64Error> {
                decode(&self.data)
            }

            /// Returns a `data:` URL of the content, as language models and web pages accept it.
            ///
            /// The URL is safe even if the server is not: it contains canonical base64 and a MIME type without special
            /// characters. The type of data without a valid MIME type is `application/octet-stream`.
            ///
            /// # Errors
            /// Returns an error if the data is not base64.
            pub fn data_url(&self) -> Result<String, Base64Error> {
                self.bytes().map(|bytes| data_url(&self.mime_type, &bytes))
            }
        }
    )* };
}

media! {
    ImageContent, "an image", "the image";
    AudioContent, "audio data", "the audio data";
}

impl ResourceContents {
    /// Creates binary contents of the resource `uri` from bytes. The MIME type is `None`.
    pub fn from_bytes(uri: impl Into<String>, bytes: impl AsRef<[u8]>) -> Self {
        ResourceContents { uri: uri.into(), blob: Some(BASE64.encode(bytes)), ..ResourceContents::default() }
    }

    /// Returns the bytes of binary contents, or of the text. Returns no bytes if the server sent neither.
    ///
    /// Tolerates line breaks, missing padding and the URL-safe alphabet.
    ///
    /// # Errors
    /// Returns an error if the binary contents are not base64.
    pub fn bytes(&self) -> Result<Vec<u8>, Base64Error> {
        match (&self.blob, &self.text) {
            (Some(blob), _) => decode(blob),
            (None, Some(text)) => Ok(text.clone().into_bytes()),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Returns a `data:` URL of the contents, as language models and web pages accept it.
    ///
    /// The URL is safe even if the server is not: it contains canonical base64 and a MIME type without special
    /// characters. The type of contents without a valid MIME type is `application/octet-stream`.
    ///
    /// # Errors
    /// Returns an error if the binary contents are not base64.
    pub fn data_url(&self) -> Result<String, Base64Error> {
        self.bytes().map(|bytes| data_url(self.mime_type.as_deref().unwrap_or_default(), &bytes))
    }
}

fn decode(text: &str) -> Result<Vec<u8>, Base64Error> {
    BASE64.decode(text).or_else(|_| {
        let symbols = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            _ => byte,
        });
        BASE64.decode(symbols.collect::<Vec<u8>>()).map_err(|reason| Base64Error { reason })
    })
}

fn data_url(mime_type: &str, bytes: &[u8]) -> String {
    let mut url = String::from("data:");
    let start = url.len();
    url.extend(mime_type.chars().filter(|c| *c != ' '));
    // Other characters could end the URL early, or change what it means.
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || b"/+-._;=".contains(&byte);
    if !url[start..].contains('/') || !url[start..].bytes().all(is_safe) {
        url.truncate(start);
        url.push_str(UNKNOWN);
    }
    url.push_str(";base64,");
    BASE64.encode_string(bytes, &mut url);
    url
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn bytes_become_base64_and_come_back() {
        for (bytes, base64) in
            [(&b""[..], ""), (b"f", "Zg=="), (b"fo", "Zm8="), (b"foo", "Zm9v"), (b"\xff\xef\x00", "/+8A")]
        {
            let image = ImageContent::from_bytes(bytes, "image/png");
            assert_eq!((&*image.data, &*image.mime_type), (base64, "image/png"));
            assert_eq!(image.bytes().as_deref(), Ok(bytes));
            let audio = AudioContent::from_bytes(bytes, "audio/wav");
            assert_eq!(audio.bytes().as_deref(), Ok(bytes));
            let resource = ResourceContents::from_bytes("file:///a", bytes);
            assert_eq!((resource.blob.as_deref(), resource.bytes().as_deref()), (Some(base64), Ok(bytes)));
        }
    }

    #[test]
    fn base64_of_careless_servers_is_read() {
        for (base64, bytes) in
            [("Zm9vYg", &b"foob"[..]), ("Zm9v\r\nYmE=\n", b"fooba"), ("_-8A", b"\xff\xef\x00"), ("Zh==", b"f")]
        {
            assert_eq!(ImageContent::new(base64, "").bytes().as_deref(), Ok(bytes), "{base64:?}");
        }
    }

    #[test]
    fn data_that_is_not_base64_is_refused() {
        for text in ["Z", "Zg=g", "Zm9v!", "\u{e4}AAA", "====", "data:image/png;base64,Zg=="] {
            let error = ImageContent::new(text, "image/png").data_url().unwrap_err().to_string();
            assert!(error.starts_with("the data is not base64: "), "{error}");
        }
    }

    #[test]
    fn a_resource_has_bytes_whatever_it_contains() {
        let mut resource = ResourceContents::default();
        assert_eq!(resource.bytes(), Ok(Vec::new()));
        resource.text = Some("ä".into());
        assert_eq!(resource.bytes().as_deref(), Ok("ä".as_bytes()));
        assert_eq!(resource.data_url().unwrap(), "data:application/octet-stream;base64,w6Q=");
        resource.mime_type = Some("text/plain; charset=utf-8".into());
        assert_eq!(resource.data_url().unwrap(), "data:text/plain;charset=utf-8;base64,w6Q=");
    }

    #[test]
    fn a_data_url_contains_nothing_but_a_type_and_base64() {
        assert_eq!(ImageContent::new("Z\ng", "image/png").data_url().unwrap(), "data:image/png;base64,Zg==");
        for hostile in ["", "text/html,<script>//", "image/png\"onload=x", "image/png#", "a/b\n", "png", "a/\u{e4}"] {
            let url = AudioContent::new("Zg==", hostile).data_url().unwrap();
            assert_eq!(url, "data:application/octet-stream;base64,Zg==", "{hostile:?}");
        }
    }
}
