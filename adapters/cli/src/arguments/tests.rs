//! Tests of arguments that are given as words.

use mcpwire_tokio::protocol::{Json, Tool};

use super::{Arguments, check, usage};
use crate::schema::{Node, Parameters};

const SCHEMA: &str = r##"{"type":"object",
    "properties":{
        "text":{"type":"string"},"count":{"type":"integer","minimum":2},"ratio":{"type":["number","null"]},"deep":{"type":"boolean"},
        "tags":{"type":"array","items":{"type":"string"}},"ids":{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]},
        "filter":{"type":"object","properties":{"a":{"type":"integer"}},"required":["a"]},"mode":{"enum":["on","off"]},
        "level":{"enum":[1,2]},"place":{"$ref":"#/$defs/place"},"either":{"type":["string","integer"]},"free":{}},
    "required":["text","count"],
    "$defs":{"place":{"type":"object"}}}"##;

fn tool(schema: &str) -> Tool {
    let tool = format!(r#"{{"name":"paint","inputSchema":{schema}}}"#);
    Json::parse(&tool).unwrap().decode().unwrap()
}

/// Reads words, and returns the arguments as JSON, or the error.
fn given(words: &[&str], schema: &str) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let root = Node::of_schema(schema).unwrap();
    let read = Arguments::read(&words).and_then(|arguments| arguments.to_object(Some(&Parameters::new(&root))));
    read.map(|json| json.get().to_owned()).map_err(|failure| failure.message().to_owned())
}

#[test]
fn the_schema_says_what_a_text_means() {
    for (word, json) in [
        ("text=hi", r#"{"text":"hi"}"#),
        ("text=5", r#"{"text":"5"}"#),
        ("text=", r#"{"text":""}"#),
        ("text=a=b", r#"{"text":"a=b"}"#),
        ("text=say \"hi\"\n", r#"{"text":"say \"hi\"\n"}"#),
        ("count=5", r#"{"count":5}"#),
        ("count=-5", r#"{"count":-5}"#),
        ("ratio=0.50", r#"{"ratio":0.50}"#),
        ("ratio=null", r#"{"ratio":null}"#),
        ("deep=true", r#"{"deep":true}"#),
        ("tags=a", r#"{"tags":["a"]}"#),
        ("tags=[\"a\",\"b\"]", r#"{"tags":["a","b"]}"#),
        ("ids=7", r#"{"ids":[7]}"#),
        ("ids=null", r#"{"ids":null}"#),
        ("filter={\"a\":1}", r#"{"filter":{"a":1}}"#),
        ("place={}", r#"{"place":{}}"#),
        ("mode=on", r#"{"mode":"on"}"#),
        ("level=2", r#"{"level":2}"#),
        ("either=2", r#"{"either":"2"}"#),
        ("either:=2", r#"{"either":2}"#),
        ("free=2", r#"{"free":"2"}"#),
        ("other=2", r#"{"other":"2"}"#),
        ("other:=[2]", r#"{"other":[2]}"#),
        ("text:=\"@x\"", r#"{"text":"@x"}"#),
    ] {
        assert_eq!(given(&[word], SCHEMA).as_deref(), Ok(json), "{word}");
    }
    assert_eq!(given(&["tags=a", "count=2", "tags=[x"], SCHEMA).as_deref(), Ok(r#"{"tags":["a","[x"],"count":2}"#));
    assert_eq!(given(&["ids=1", "ids:=2"], SCHEMA).as_deref(), Ok(r#"{"ids":[1,2]}"#));
    assert_eq!(given(&[], SCHEMA).as_deref(), Ok("{}"));
    assert_eq!(given(&[r#" {"a" : 1}"#], SCHEMA).as_deref(), Ok(r#"{"a" : 1}"#));
}

#[test]
fn words_that_cannot_be_read_are_named() {
    for (words, error) in [
        (&["count=five"][..], "the argument `count` must be an integer, not `five`"),
        (&["count=1.5"], "the argument `count` must be an integer, not `1.5`"),
        (&["ratio=x"], "the argument `ratio` must be a number or null, not `x`"),
        (&["deep=yes"], "the argument `deep` must be true or false, not `yes`"),
        (&["ids=x"], "the argument `ids` must be an integer, not `x`"),
        (&["text=a", "text=b"], "the argument `text` is given twice, but it is no list"),
        (&["hi"], "the argument `hi` has no value: it must be hi=VALUE"),
        (&["=hi"], "the argument `=hi` must be NAME=VALUE"),
        (&[":=1"], "the argument `:=1` must be NAME=VALUE"),
        (&["a:=x"], "the value of `a` is not JSON: not a value"),
        (&["[1]"], "the argument `[1]` must be NAME=VALUE"),
        (&["{}", "a=1"], "the argument `{}` must be NAME=VALUE"),
        (&["{\"a\":}"], "the arguments: invalid JSON: not a value"),
    ] {
        let read = given(words, SCHEMA).unwrap_err();
        assert!(read.starts_with(error), "{words:?}: {read}");
    }
    let missing = given(&["text=@/no/such/file"], SCHEMA).unwrap_err();
    assert!(missing.contains("/no/such/file"), "{missing}");
}

fn checked(schema: &str, arguments: &str) -> Result<(), String> {
    let root = Node::of_schema(schema).unwrap();
    check(&tool(schema), &Parameters::new(&root), &Json::parse(arguments).unwrap())
}

#[test]
fn missing_unknown_and_wrong_arguments_are_found() {
    for (arguments, problem) in [
        ("{}", "missing arguments: text, count"),
        (r#"{"text":"a"}"#, "missing argument: count"),
        (r#"{"text":"a","count":2,"cuont":3}"#, "unknown argument: cuont"),
        (r#"{"text":"a","conut":2}"#, "missing argument: count; unknown argument: conut (did you mean count?)"),
        (r#"{"text":"a","count":1}"#, "wrong argument: count: 1 is less than the minimum of 2"),
        (r#"{"text":"a","count":2,"filter":{"a":"x"}}"#, "wrong argument: filter.a: "),
    ] {
        let found = checked(SCHEMA, arguments).unwrap_err();
        assert!(found.starts_with(problem), "{arguments}: {found}");
    }
    assert_eq!(checked(SCHEMA, r#"{"text":"a","count":2}"#), Ok(()));
}

#[test]
fn a_schema_that_does_not_name_all_arguments_allows_others() {
    for schema in [
        "{}",
        r#"{"type":"object"}"#,
        r#"{"type":"object","properties":{}}"#,
        r#"{"properties":{"a":{}},"additionalProperties":true}"#,
        r#"{"properties":{"a":{}},"additionalProperties":{"type":"integer"}}"#,
        r#"{"properties":{"a":{}},"patternProperties":{"^x":{}}}"#,
        r#"{"properties":{"a":{}},"anyOf":[{"required":["a"]},{"required":["x"]}]}"#,
        r#"{"allOf":[{"properties":{"a":{}}},{"$ref":"https://example.com/x"}]}"#,
    ] {
        assert_eq!(checked(schema, r#"{"x":1}"#), Ok(()), "{schema}");
    }
    assert!(checked(r#"{"type":"object","properties":{},"additionalProperties":false}"#, r#"{"x":1}"#).is_err());
}

#[test]
fn an_example_of_a_call_passes_the_check() {
    for (schema, words) in [
        (SCHEMA, "text=TEXT count=2"),
        (r#"{"properties":{"a":{"type":"number"},"b":{"type":"boolean"}},"required":["a","b"]}"#, "a=1 b=true"),
        (r#"{"properties":{"u":{"type":"string","format":"uri"}},"required":["u"]}"#, "u=https://example.com"),
        (r#"{"properties":{"l":{"type":"array","items":{"type":"string"}}},"required":["l"]}"#, r#"'l=["TEXT"]'"#),
        (
            r##"{"properties":{"o":{"$ref":"#/$defs/o"}},"required":["o"],"$defs":{"o":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}}"##,
            r#"'o={"n":1}'"#,
        ),
        (
            r#"{"properties":{"e":{"type":"string","enum":["x","y"]},"d":{"type":"integer","default":9}},"required":["e","d"]}"#,
            "e=x d=9",
        ),
        (r#"{"properties":{"z":{"anyOf":[{"type":"null"},{"type":"integer","minimum":4}]}},"required":["z"]}"#, "z=4"),
        (r#"{"properties":{"s":{"type":"string","examples":["two words"]}},"required":["s"]}"#, "'s=two words'"),
        ("{}", ""),
    ] {
        let root = Node::of_schema(schema).unwrap();
        let parameters = Parameters::new(&root);
        let page = usage(&tool(schema), &parameters, None, "x__paint", "");
        let command = page.lines().nth(1).unwrap().trim();
        assert_eq!(command, format!("mcpwire call x__paint {words}").trim());
        let words: Vec<String> = if words.starts_with('\'') {
            vec![words.trim_matches('\'').to_owned()]
        } else {
            words.split_whitespace().map(str::to_owned).collect()
        };
        let arguments = Arguments::read(&words).unwrap().to_object(Some(&parameters)).unwrap();
        assert_eq!(check(&tool(schema), &parameters, &arguments), Ok(()), "{schema}");
    }
}

#[test]
fn an_example_of_a_call_repeats_what_was_given() {
    let root = Node::of_schema(SCHEMA).unwrap();
    let given = Json::parse(r#"{"count":1,"deep":true,"free":"@f","mode":"of","oops":1}"#).unwrap();
    let page = usage(&tool(SCHEMA), &Parameters::new(&root), Some(&given), "paint", "--demo");
    assert!(page.starts_with("  paint(text: string, count: integer<2..>, ratio?: "), "{page}");
    assert!(page.ends_with("\n  mcpwire call paint text=TEXT count=2 deep=true 'free:=\"@f\"' --demo"), "{page}");
}
