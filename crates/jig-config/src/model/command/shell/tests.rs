use super::check;
use crate::model::CommandSyntaxError;

#[test]
fn templates_where_a_variable_is_only_text_j_004() {
    for line in [
        "make",
        "echo $((1 + 2)) $[3] [[ 1 -gt 2 ]]",
        "grep -r {{tool.arguments.pattern}} src | wc -l",
        "grep -r \"{{ tool.arguments.pattern | default('') }}\" 'src {{x}}'",
        "cat <<E\n{{x}}\nE",
        "{% if x %}ls {{x}}{% endif %}",
        "echo $(( (1 + 2) * 3 )) {{x}}",
        "echo $(((1 + 2) * 3)) {{x}}",
        "(cd a && (cat {{x}}))",
        "grep '[[:space:]_]*' {{x}}",
        "[ {{x}} -gt 2 ]",
        "[[ a = b ]] && echo {{x}}",
    ] {
        assert_eq!(check(line), Ok(()), "{line}");
    }
}

#[test]
fn templates_that_a_shell_would_calculate_with_j_004() {
    for line in [
        "echo $(({{x}}))",
        "echo \"$(( 1 + {{x}} ))\"",
        "echo $(((1 + {{x}}) * 2))",
        "(({{x}} > 1)) && ls",
        "echo $[{{x}}]",
        "[[ {{x}} -gt 1 ]]",
        "[[ -n a && {{x}} -eq 1 ]]",
    ] {
        let expected = CommandSyntaxError::Arithmetic("{{x}}".to_owned());
        assert_eq!(check(line), Err(expected), "{line}");
    }
}

/// What is refused is refused for a reason: bash runs what is in the variable.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the claim is about what a shell does"
)]
fn bash_runs_code_while_it_calculates_j_004() {
    for line in [
        "echo $((\"{{x}}\"))",
        "echo $(( 1 + {{x}} ))",
        "(({{x}} > 1))",
        "echo $[{{x}}]",
        "[[ {{x}} -gt 1 ]]",
    ] {
        let folder = tempfile::tempdir().expect("a folder");
        let line_with_variable = line.replace("{{x}}", "$x");
        let output = std::process::Command::new("bash")
            .args(["-c", &line_with_variable])
            .env("x", "a[$(touch ran)]")
            .current_dir(folder.path())
            .output()
            .expect("bash");
        let ran = folder.path().join("ran").exists();
        assert!(ran && check(line).is_err(), "{line}: {output:?}");
    }
}
