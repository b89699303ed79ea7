//! Tests of the candidates for command lines.

use mcpwire_tokio::protocol::Json;

use super::*;
use crate::args::Args;

struct Fixed;

impl Known for Fixed {
    fn servers(&self) -> Vec<(String, String)> {
        vec![("calc".into(), String::new()), ("notes".into(), "disabled".into())]
    }

    fn tools(&self, server: &str) -> Vec<Tool> {
        let tools = r#"[
            {"name":"add","description":"Adds numbers. Fast.","inputSchema":{"type":"object","required":["a"],"properties":{
                "a":{"type":"integer","description":"First number."},"mode":{"enum":["exact","fast"]},"sign":{"type":"boolean"}}}},
            {"name":"echo","inputSchema":{"type":"object"}}]"#;
        if server == "calc" { Json::parse(tools).unwrap().decode().unwrap() } else { Vec::new() }
    }
}

/// Returns the candidates for the last word of a line, joined with spaces.
fn complete(line: &str) -> String {
    let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    let found = candidates(Args::definition(), &words, &Fixed);
    found.iter().map(|candidate| candidate.word.as_str()).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_word_of_a_line_is_completed() {
    for (line, words) in [
        ("pi", "ping"),
        ("server en", "enable"),
        ("server enable ", "calc notes"),
        ("server enable calc n", "notes"),
        ("server show ", "calc notes"),
        ("server show calc ", ""),
        ("server add ", ""),
        ("secret set ", "calc notes"),
        ("login n", "notes"),
        ("info ", "calc notes"),
        ("info calc ", ""),
        ("info --demo ", ""),
        ("generate ", "rust"),
        ("generate rust ", "calc notes"),
        ("tools ", "calc notes"),
        ("tools calc ", "add echo"),
        ("call c", "calc"),
        ("call calc a", "add"),
        ("call calc add ", "a= mode= sign="),
        ("call calc add a=1 ", "mode= sign="),
        ("call calc add a:=1 m", "mode="),
        ("call calc add mode=", "mode=exact mode=fast"),
        ("call calc add mode=f", "mode=fast"),
        ("call calc add sign=", "sign=false sign=true"),
        ("call calc add a=", ""),
        ("call calc__", "calc__add calc__echo"),
        ("call calc__add ", "a= mode= sign="),
        ("call --server calc ", "add echo"),
        ("call --server=calc e", "echo"),
        ("call --json calc e", "echo"),
        ("call --timeout 3s calc e", "echo"),
        ("call --server ", "calc notes"),
        ("call unknown ", ""),
        ("call calc -- ", ""),
        ("call -- serv", ""),
        ("complete calc ", "prompt resource"),
        ("task calc ", "cancel get result"),
        ("tools --stderr ", "hide show tail"),
        ("test n", "notes"),
        ("test calc --se", "--seed --server"),
        ("info --de", "--demo"),
        ("info --js", "--json"),
        ("hub ru", "run"),
        ("completions f", "fish"),
        ("nonesuch ", ""),
    ] {
        assert_eq!(complete(line), words, "{line}");
    }
    assert!(complete("").contains("call") && !complete("").contains("demo-server"));
}

#[test]
fn candidates_are_described() {
    let line: Vec<String> = ["call", "calc", ""].map(str::to_owned).into();
    let found = candidates(Args::definition(), &line, &Fixed);
    assert_eq!(found[0], Candidate { word: "add".into(), help: "Adds numbers.".into() });
    let line: Vec<String> = ["call", "calc", "add", "m"].map(str::to_owned).into();
    assert_eq!(candidates(Args::definition(), &line, &Fixed)[0].help, "optional");
}
