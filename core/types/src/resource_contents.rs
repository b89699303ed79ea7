//! The contents of a resource: text or binary data (`TextResourceContents`, `BlobResourceContents`).

use alloc::string::String;

use mcpwire_text::json::Json;
use mcpwire_text::object;

object! {
    /// The contents of a resource: text or binary data (`TextResourceContents`, `BlobResourceContents`).
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    #[doc(alias("TextResourceContents", "BlobResourceContents"))]
    pub struct ResourceContents("the contents of a resource") {
        /// URI of the resource. Empty if the server sent none.
        [kept] always uri: String = "uri",
        /// MIME type of the contents. `None` if the server sent none.
        [kept] optional mime_type: String = "mimeType",
        /// The contents as text. `None` if the server sent no text.
        [kept] optional text: String = "text",
        /// The contents as binary data, encoded in base64. `None` if the server sent no binary data.
        [kept] optional blob: String = "blob",
        /// Additional metadata of the contents (`_meta`).
        [kept] optional meta: Json = "_meta",
    }
}
