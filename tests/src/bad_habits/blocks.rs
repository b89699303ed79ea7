//! Servers whose results have shapes that the schema does not have.

use crate::server::{self, Manners};
use crate::wire::{Message, Wire};

/// Null wherever a field may be absent.
pub(crate) struct NullFields;

impl Manners for NullFields {
    fn initialize(&mut self, wire: &mut Wire, request: &Message) {
        wire.result(
            request,
            r#""protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":null},"prompts":null,"resources":null,"logging":null,"completions":null,"experimental":null},"serverInfo":{"name":"bad-habits","version":"1.0","title":null,"icons":null,"websiteUrl":null,"description":null},"instructions":null,"_meta":null"#,
        );
    }

    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        wire.result(
            request,
            r#""tools":[{"name":"echo","title":null,"description":null,"inputSchema":{"type":"object"},"outputSchema":null,"annotations":null,"icons":null,"_meta":null},{"name":"hints","inputSchema":{"type":"object"},"annotations":{"title":null,"readOnlyHint":null,"destructiveHint":null,"idempotentHint":null,"openWorldHint":null}}],"nextCursor":null,"_meta":null"#,
        );
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        let token = request.progress_token().unwrap_or("0");
        wire.notify(
            "notifications/progress",
            &format!(r#""progressToken":{token},"progress":1,"total":null,"message":null,"_meta":null"#),
        );
        wire.notify("notifications/message", r#""level":"info","logger":null,"data":null,"_meta":null"#);
        wire.result(
            request,
            r#""content":[{"type":"text","text":"not null","annotations":null,"_meta":null},{"type":"resource_link","uri":"file:///a","name":"a","title":null,"description":null,"mimeType":null,"size":null,"annotations":{"audience":null,"priority":null,"lastModified":null},"icons":null},{"type":"resource","resource":{"uri":"file:///b","mimeType":null,"text":"inside","_meta":null}}],"structuredContent":null,"isError":null,"_meta":null"#,
        );
    }
}

/// A result of the type that the tool is named after.
pub(crate) struct ResultTypes;

impl Manners for ResultTypes {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "echo" => server::call_tool(wire, request),
            kind => {
                let result = format!(r#"{{"resultType":"{kind}","requestState":"s","content":[]}}"#);
                wire.line(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id()));
            }
        }
    }
}

/// Types, enum values and members from a future or a vendor.
pub(crate) struct UnknownBlocks;

impl Manners for UnknownBlocks {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        if request.tool() != "blocks" {
            return server::call_tool(wire, request);
        }
        wire.notify("notifications/message", r#""level":"catastrophe","data":"an unknown level""#);
        wire.notify("notifications/vendor", r#""a":1"#);
        wire.result(
            request,
            r#""content":[{"type":"text","text":"first","annotations":{"audience":["user","robot"],"priority":"high"},"x-vendor":1},{"type":"hologram","depth":3,"data":{"text":"inside"}},{"type":"image","data":"AAAA","mimeType":"image/never-seen","annotations":{"audience":"everyone"}},{"type":"text","text":"last"}],"x-vendor":{"a":[1,2]},"_meta":{"com.example/trace":"abc"}"#,
        );
    }
}
