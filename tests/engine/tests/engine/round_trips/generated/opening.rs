//! What both sides say of themselves when a connection is opened, and what a server wants before it answers.

use mcpwire_core::internal::{DiscoverResult, InitializeParams, InitializeResult, InputRequest, InputRequiredResult};
use mcpwire_core::{ClientCapabilities, Json, ListCapability, ResourcesCapability, ServerCapabilities};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::{complete, extra, implementation, meta, tasks_capability, text, whole, word};

pub(crate) fn client_capabilities() -> impl Strategy<Value = ClientCapabilities> {
    made!(ClientCapabilities {
        roots: meta(),
        sampling: meta(),
        elicitation: meta(),
        tasks: meta(),
        extensions: meta(),
        experimental: meta(),
        extra: extra(),
    })
}

fn list_capability() -> impl Strategy<Value = ListCapability> {
    made!(ListCapability { list_changed: any::<bool>(), extra: extra() })
}

pub(crate) fn server_capabilities() -> impl Strategy<Value = ServerCapabilities> {
    let resources =
        made!(ResourcesCapability { list_changed: any::<bool>(), subscribe: any::<bool>(), extra: extra() });
    made!(ServerCapabilities {
        tools: option::of(list_capability()),
        resources: option::of(resources),
        prompts: option::of(list_capability()),
        completions: meta(),
        logging: meta(),
        tasks: option::of(tasks_capability()),
        extensions: meta(),
        experimental: meta(),
        extra: extra(),
    })
}

pub(crate) fn initialize_params() -> impl Strategy<Value = InitializeParams> {
    made!(InitializeParams {
        protocol_version: text(),
        capabilities: client_capabilities(),
        client_info: implementation(),
        extra: extra(),
    })
}

pub(crate) fn initialize_result() -> impl Strategy<Value = InitializeResult> {
    made!(InitializeResult {
        protocol_version: word(),
        capabilities: option::of(server_capabilities()),
        server_info: option::of(implementation()),
        instructions: word(),
        meta: meta(),
        extra: extra(),
    })
}

pub(crate) fn discover_result() -> impl Strategy<Value = DiscoverResult> {
    made!(DiscoverResult {
        supported_versions: vec(text(), 0..3),
        capabilities: option::of(server_capabilities()),
        instructions: word(),
        server_info: option::of(implementation()),
        result_type: complete(),
        ttl_ms: whole(),
        cache_scope: word(),
        meta: meta(),
        extra: extra(),
    })
}

pub(crate) fn input_required_result() -> impl Strategy<Value = InputRequiredResult> {
    let input = (select(vec!["roots/list", "elicitation/create", "x-new"]), meta());
    let state = option::of(text().prop_map(|text| Json::from_value(&text).expect("it is JSON")));
    let made = made!(InputRequiredResult {
        input_requests: btree_map(text(), input, 0..3).prop_map(|inputs| {
            let input = |(name, (method, params)): (String, (&str, Option<Json>))| {
                let mut input = InputRequest::default();
                (input.name, input.method, input.params) = (name, method.into(), params);
                input
            };
            inputs.into_iter().map(input).collect::<Vec<_>>()
        }),
        request_state: state,
        meta: meta(),
        extra: extra(),
    });
    made.prop_filter("nothing is wished for", |result| {
        !result.input_requests.is_empty() || result.request_state.is_some()
    })
}
