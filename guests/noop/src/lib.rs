//! Does nothing: what is left of a call then is what a call costs. For the benchmark.

wit_bindgen::generate!({
    path: "../../crates/jig-proto/wit/jp-tool",
    world: "jp:tool/tool",
});

struct Noop;

impl Guest for Noop {
    fn run(_context: Context, _name: String, _arguments: String, _answers: String) -> Outcome {
        Outcome::Success(String::new())
    }
}

export!(Noop);
