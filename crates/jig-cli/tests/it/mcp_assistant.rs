//! Questions of tools that the assistant answers (S-074, J-016): by the client's model, by a form of the client, by the
//! model of `[llm]`, or else by a person; and never what the policy asks.

use jig_testkit::provider::{Answer, Provider};
use jig_testkit::until;
use serde_json::{Value as Json, json};

use super::Workspace;
use super::mcp_client::{Client, text};
use super::terminal_user::Seat;
use super::workspace_user::for_each_user;

/// A one-shot tool that asks which version, of the assistant, and whether it is sure, of the person.
fn workspace(target: &str, run: &str) -> Workspace {
    let workspace = Workspace::new();
    declare(&workspace, target, run);
    workspace
}

fn declare(workspace: &Workspace, target: &str, run: &str) {
    let config = format!(
        "[tools.release]\nsource = \"local\"\ncommand = \"sh tool.sh {{{{tool.answers}}}}\"\nrun = {run:?}\n\
         description = \"Releases\"\n\n[tools.release.questions.version]\ntarget = {target:?}\n"
    );
    workspace.write("jig.toml", config);
    let script = r#"case "$1" in
*version*) echo "released $1" ;;
*) echo '{"type":"needs_input","question":{"id":"version","text":"Which version?","answer_type":{"Select":{"options":["1.1.0","2.0.0"]}}}}' ;;
esac
"#;
    workspace.write("tool.sh", script);
}

fn begin(client: &mut Client) -> u64 {
    client.ask("tools/call", json!({ "name": "release", "arguments": {} }))
}

/// What a client is asked next.
fn asked(client: &mut Client) -> Json {
    client.until(|message| message.get("method").is_some() && message.get("id").is_some())
}

fn sampled(text: &str) -> Json {
    json!({ "role": "assistant", "content": { "type": "text", "text": text }, "model": "m" })
}

fn respond(client: &mut Client, request: &Json, result: Json) {
    client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "result": result }));
}

const RELEASED: &str = "released {\"version\":\"2.0.0\"}";

/// S-074: the client's model is asked; an answer that does not fit is asked for again.
#[test]
fn s074_the_clients_model_answers() {
    let workspace = workspace("assistant", "unattended");
    let mut client = Client::connect(&workspace, json!({ "sampling": {}, "elicitation": {} }));
    let call = begin(&mut client);
    let request = asked(&mut client);
    assert_eq!(request["method"], "sampling/createMessage", "{request}");
    let prompt = request["params"]["messages"][0]["content"]["text"].as_str();
    assert!(prompt.unwrap().contains("Which version?"), "{request}");
    respond(&mut client, &request, sampled("3.0.0"));
    let request = asked(&mut client);
    let prompt = request["params"]["messages"][0]["content"]["text"].as_str();
    assert!(prompt.unwrap().contains("was not usable"), "{request}");
    respond(&mut client, &request, sampled("2.0.0"));
    let result = client.answer(call)["result"].clone();
    assert_eq!(text(&result).trim(), RELEASED, "{result}");
}

/// S-074: a client of the newer protocol comes back with what its model said.
#[test]
fn s074_a_client_that_retries_samples_too() {
    let workspace = workspace("assistant", "unattended");
    let mut client = Client::start(&workspace, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "sampling": {} },
    });
    let params = json!({ "_meta": meta, "name": "release", "arguments": {} });
    let parked = client.request("tools/call", params.clone())["result"].clone();
    let request = &parked["inputRequests"]["version"];
    assert_eq!(request["method"], "sampling/createMessage", "{parked}");
    let mut again = params;
    again["requestState"] = parked["requestState"].clone();
    again["inputResponses"] = json!({ "version": sampled("\"2.0.0\"") });
    let result = client.request("tools/call", again)["result"].clone();
    assert_eq!(text(&result).trim(), RELEASED, "{result}");
}

/// S-074: a client whose model does not answer is asked by its form, and so is one that has no model.
#[test]
fn s074_a_form_comes_after_the_model() {
    for capabilities in [
        json!({ "sampling": {}, "elicitation": {} }),
        json!({ "elicitation": {} }),
    ] {
        let workspace = workspace("assistant", "unattended");
        let mut client = Client::connect(&workspace, capabilities.clone());
        let call = begin(&mut client);
        if capabilities.get("sampling").is_some() {
            let request = asked(&mut client);
            assert_eq!(request["method"], "sampling/createMessage", "{request}");
            let refused = json!({ "code": -1, "message": "User rejected sampling request" });
            client.send(&json!({ "jsonrpc": "2.0", "id": request["id"], "error": refused }));
        }
        let request = asked(&mut client);
        assert_eq!(request["method"], "elicitation/create", "{request}");
        let accepted = json!({ "action": "accept", "content": { "answer": "2.0.0" } });
        respond(&mut client, &request, accepted);
        let result = client.answer(call)["result"].clone();
        assert_eq!(text(&result).trim(), RELEASED, "{result}");
    }
}

/// S-074: without a way to the client's model, the model of `[llm]` is asked; its key stays in jig. Without that a person
/// would have to answer, and there is none. A question that is the person's is put to no model.
#[test]
fn s074_the_model_of_the_configuration_answers() {
    let provider = Provider::start();
    provider.always(Answer::text("2.0.0").usage(10, 0, 5));
    let sets = [
        format!("--set=llm.base_url={}", provider.url()),
        "--set=llm.model=large".to_owned(),
        "--set=llm.key_env=PROVIDER_KEY".to_owned(),
    ];
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let call = |target: &str, sets: &[&str]| {
        let workspace = workspace(target, "unattended");
        let mut command = workspace.jig(&[&["mcp"], sets].concat());
        command.env("PROVIDER_KEY", "sk-test-0123456789abcdef");
        let mut client = Client::of(command);
        client.initialize(json!({}));
        let result = client.call("release", json!({}));
        (client.aside.clone(), result)
    };
    let (aside, result) = call("assistant", &sets);
    assert_eq!(text(&result).trim(), RELEASED, "{result}");
    assert!(aside.iter().all(|message| message.get("id").is_none()));
    let requests = provider.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].json().to_string().contains("Which version?"));

    let (_, result) = call("assistant", &[]);
    assert_eq!(result["isError"], true, "{result}");
    let (_, result) = call("user", &sets);
    assert_eq!(result["isError"], true, "{result}");
    assert_eq!(provider.requests().len(), 1);
}

/// S-074: where no client and no model can answer, the person at the terminal does.
#[test]
fn s074_a_person_at_the_terminal_answers() {
    for_each_user(|desk| {
        declare(&desk.workspace, "assistant", "unattended");
        let mut seat = Seat::new(desk, &["call", "release"]);
        seat.sees_text("Which version?");
        seat.sees_text("2.0.0");
        seat.types("2\r");
        let (status, screen) = seat.ends();
        assert!(status.success() && screen.contains(RELEASED), "{screen}");
    });
}

/// S-074: the same over MCP, where the client can be asked nothing: the call waits for `jig approve`.
#[test]
fn s074_a_person_answers_by_jig_approve() {
    for_each_user(|desk| {
        declare(&desk.workspace, "assistant", "unattended");
        let mut client = Client::of(desk.jig(&["mcp", "--set=mcp.ask=board"]));
        client.initialize(json!({}));
        let call = begin(&mut client);
        let mut waiting = Json::Null;
        until("the question is on the board", || {
            let listed: Json = serde_json::from_str(&desk.ok(&["approve", "--json"])).unwrap();
            waiting = listed[0].clone();
            !waiting.is_null()
        });
        assert!(waiting.to_string().contains("Which version?"), "{waiting}");
        let id = waiting["id"].as_str().unwrap();
        desk.ok(&["approve", id, "--answer", "2.0.0"]);
        let result = client.answer(call)["result"].clone();
        assert_eq!(text(&result).trim(), RELEASED, "{result}");
    });
}

/// J-016: `jig call` asks the model, too, and one that gives no answer that fits is as good as none.
#[test]
fn j016_jig_call_asks_the_model() {
    let provider = Provider::start();
    let workspace = workspace("assistant", "unattended");
    let url = format!("--set=llm.base_url={}", provider.url());
    let call = || {
        let mut jig = workspace.jig(&["call", "release", "--no-interaction", &url]);
        jig.args(["--set=llm.model=large", "--set=llm.key_env="]);
        jig.output().unwrap()
    };
    provider.always(Answer::text("```json\n\"2.0.0\"\n```").usage(10, 0, 5));
    let output = call();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(told.trim(), RELEASED, "{output:?}");
    provider.always(Answer::text("whatever you like").usage(10, 0, 5));
    let output = call();
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(told.contains("gave no answer that fits"), "{told}");
}

/// S-074: what the policy wants to know, and whether a tool may run, is asked of no model.
#[test]
fn s074_no_model_is_asked_about_the_policy() {
    let provider = Provider::start();
    provider.always(Answer::text("yes").usage(10, 0, 5));
    let url = format!("--set=llm.base_url={}", provider.url());
    let sets = [&url, "--set=llm.model=large", "--set=llm.key_env="];
    let workspace = workspace("assistant", "ask");
    let command = workspace.jig(&[&["mcp"], &sets[..]].concat());
    let mut client = Client::of(command);
    client.initialize(json!({ "sampling": {} }));
    let result = client.call("release", json!({}));
    assert_eq!(result["isError"], true, "{result}");
    assert!(
        client
            .aside
            .iter()
            .all(|message| message.get("id").is_none())
    );
    assert_eq!(provider.requests().len(), 0);
}
