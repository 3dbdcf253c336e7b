use super::*;

fn check(word: &str, expected: Result<(), (&str, &str)>) {
    let mut parameters = IndexMap::new();
    parameters.insert("path".to_owned(), Parameter::default());
    let mut edit = Parameter::default();
    edit.properties
        .insert("old".to_owned(), Parameter::default());
    parameters.insert("edit".to_owned(), edit);
    let known = TemplateValues {
        parameters: &parameters,
        options: Map::new(),
        input: Input::Argv,
    };
    let found = known.mistake(word);
    let found = found
        .as_ref()
        .map(|one| (one.why.as_str(), one.help.text()));
    assert_eq!(found, expected.err(), "{word}");
}

#[test]
fn a_variable_that_can_never_exist_is_a_mistake() {
    check("{{tool}} {{context}} {{tool.name}}", Ok(()));
    check("{{tool.arguments.path}}", Ok(()));
    check("{{ tool.arguments['path'] }}", Ok(()));
    check("{{tool.arguments.edit.old}}", Ok(()));
    check("{{tool.answers.anything}}{{tool.options}}", Ok(()));
    check(
        "{% for i in range(3) %}{{i}}{{loop.index}}{% endfor %}",
        Ok(()),
    );
    check("{% set x = 1 %}{{x}}", Ok(()));
    check(
        "{{tool.arguments.paht}}",
        Err((
            "the tool has no parameter `paht`",
            "did you mean `{{tool.arguments.path}}`?",
        )),
    );
    check(
        "{{tool.arguments.banana}}",
        Err((
            "the tool has no parameter `banana`",
            "declare it, `parameters.banana = { type = \"string\" }`, or remove the template",
        )),
    );
    check(
        "{{tool.arguments.edit.odl}}",
        Err((
            "`tool.arguments.edit` has no `odl`",
            "did you mean `{{tool.arguments.edit.old}}`?",
        )),
    );
    check(
        "{{tool.argument.path}}",
        Err((
            "`tool` has no `argument`",
            "did you mean `{{tool.arguments}}`?",
        )),
    );
    check(
        "{{tool.path}}",
        Err(("`tool` has no `path`", "write `{{tool.arguments.path}}`")),
    );
    check(
        "{{path}}",
        Err(("there is no `path`", "write `{{tool.arguments.path}}`")),
    );
    check(
        "{{tol.name}}",
        Err(("there is no `tol`", "did you mean `tool`?")),
    );
    check(
        "{{context.roott}}",
        Err((
            "`context` has no `roott`",
            "did you mean `{{context.root}}`?",
        )),
    );
    check(
        "{{input.file}}",
        Err((
            "`input.file` has no value: the tool does not get its call as a file",
            "write `input = \"file\"`",
        )),
    );
    // What is given a default may be missing.
    check("{{tool.arguments.banana | default('')}}", Ok(()));
    check("{{ 'x' if tool.arguments.banana is defined }}", Ok(()));
}

#[test]
fn a_filter_that_does_not_exist_is_a_mistake() {
    let known = TemplateValues {
        parameters: &IndexMap::new(),
        options: Map::new(),
        input: Input::Argv,
    };
    let found = known
        .mistake("{{tool.name | defualt('')}}")
        .expect("a mistake");
    assert!(found.why.contains("defualt"), "{found:?}");
}

#[test]
fn parameters_that_reach_no_program() {
    let check = |line: &str, expected: &[&str]| {
        let command = Command::parse(line).expect("a command");
        let mut parameters = IndexMap::new();
        for name in ["a", "b-c"] {
            parameters.insert(name.to_owned(), Parameter::default());
        }
        assert_eq!(command.unused(&parameters), expected, "{line}");
    };
    check("x", &["a", "b-c"]);
    check("x {{tool.arguments.a}}", &["b-c"]);
    check("x {{tool.arguments['b-c']}}", &[]);
    check("x {{tool}}", &[]);
    check("x {{context}}", &["a", "b-c"]);
}
