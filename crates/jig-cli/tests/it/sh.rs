//! `jig sh`: a shell whose commands are functions, and whose files are handles of descriptor 3 (F-008).

use std::io::Write as _;
use std::process::Stdio;

use jig_testkit::provider::{Answer, Provider};

use super::workspace_user::{Desk, Ran, for_each_user};

impl Desk {
    /// Runs `jig sh OPTIONS -c LINE`.
    fn shell(&self, options: &[&str], line: &str) -> Ran {
        let mut words = vec!["sh"];
        words.extend(options);
        words.extend(["-c", line]);
        self.run(&words)
    }

    /// The same, which ends well: what it prints.
    #[track_caller]
    fn lines(&self, options: &[&str], line: &str) -> String {
        let ran = self.shell(options, line);
        assert_eq!(
            (ran.code, ran.err.as_str()),
            (Some(0), ""),
            "{line}: {ran:?}"
        );
        ran.out
    }

    fn put_texts(&self) {
        for (path, content) in TEXTS {
            self.workspace.write(path, content);
        }
    }
}

const TEXTS: [(&str, &str); 8] = [
    (
        "notes.txt",
        "TODO buy milk\nread a book\nTODO sleep\n\nTodo later\n",
    ),
    ("numbers.txt", "10\n9\n-1\n100\n9\n2.5\n"),
    ("table.csv", "ann,3,x\nbob,20,y\ncyd,3,z\n"),
    ("words.txt", "b a\na b\n  c  d\na\tb\n"),
    ("no-end.txt", "one\ntwo"),
    ("empty.txt", ""),
    ("src/a.rs", "fn main() {}\n// TODO\n"),
    ("src/deep/b.rs", "fn b(x: u8) -> u8 { x }\n"),
];

/// F-008, F-076: each line does what it does in `sh` with the programs of the system, and starts none of them.
#[test]
fn f008_lines_do_what_they_do_elsewhere() {
    let desk = Desk::new();
    desk.put_texts();
    let script = |lines: &[&str]| {
        let lines = lines.iter().enumerate();
        let lines = lines.map(|(number, line)| format!("{line}\necho \"== {number}: $?\"\n"));
        lines.collect::<String>()
    };
    let mut sh = desk.command("sh");
    sh.env("LC_ALL", "C").args(["-c", &script(LINES)]);
    let expected = Ran::of(sh.output().unwrap());
    for made in ["out.txt", "more.txt"] {
        std::fs::remove_file(desk.path(made)).unwrap();
    }
    let ours = desk.shell(&["-i", ".", "-o", "out.txt", "more.txt"], &script(LINES));
    for (number, line) in LINES.iter().enumerate() {
        let of = |ran: &Ran| {
            let start = match number {
                0 => 0,
                number => ran
                    .out
                    .find(&format!("== {}: ", number - 1))
                    .unwrap_or(ran.out.len()),
            };
            let end = ran
                .out
                .find(&format!("== {number}: "))
                .unwrap_or(ran.out.len());
            let rest = &ran.out[end..];
            let status = rest.lines().next().unwrap_or_default();
            let printed = ran.out.get(start..end).unwrap_or_default();
            // The line of the status before is not part of it.
            let printed = match number {
                0 => printed,
                _ => printed.split_once('\n').map_or("", |(_, printed)| printed),
            };
            (printed.to_owned(), status.to_owned())
        };
        assert_eq!(of(&ours), of(&expected), "{line}\n{ours:?}");
    }
    assert_eq!(ours.out, expected.out);
    assert_eq!(ours.code, expected.code);
}

/// Lines that mean the same here and elsewhere.
const LINES: &[&str] = &[
    "cat notes.txt",
    "cat notes.txt no-end.txt empty.txt",
    "cat < notes.txt | cat - no-end.txt",
    "cat -n notes.txt",
    "cat none.txt 2> /dev/null",
    "head -n 2 notes.txt",
    "head -2 notes.txt; head -c 7 notes.txt",
    "head -n 1 notes.txt no-end.txt",
    "tail -n 2 notes.txt",
    "tail -n +3 notes.txt; tail -c 5 notes.txt",
    "tail -n 1 no-end.txt",
    "wc -l < notes.txt; wc -w < notes.txt; wc -c < notes.txt",
    "grep TODO notes.txt",
    "grep -i todo notes.txt | grep -v sleep",
    "grep -n -c TODO notes.txt",
    "grep -n o notes.txt no-end.txt",
    "grep nothing notes.txt",
    "grep -E '^(TODO|read) [a-z]+' notes.txt",
    "grep -F 'a.b' words.txt; grep -F 'a b' words.txt",
    "grep -o '[0-9]' numbers.txt | sort -u",
    "grep -w a words.txt; grep -x 'a b' words.txt",
    "grep -l TODO notes.txt no-end.txt; grep -q TODO notes.txt",
    "grep -A 1 -B 1 sleep notes.txt",
    "grep -e milk -e book notes.txt",
    "grep -r TODO src | sort",
    "grep 'a\\|c' words.txt; grep 'b *a' words.txt",
    "sed 's/TODO/DONE/' notes.txt",
    "sed -n '2p' notes.txt; sed -n '$p' notes.txt; sed -n '2,3p' notes.txt",
    "sed '/^$/d' notes.txt; sed '2,$d' notes.txt; sed '1!d' notes.txt",
    "sed -n '/book/,/sleep/p' notes.txt",
    "sed 's/o/0/g; s/a/A/2' notes.txt",
    "sed -E 's/([a-z]+) ([a-z]+)/\\2 \\1/' notes.txt",
    "sed 's/\\(TODO\\) \\(.*\\)/\\2: \\1/' notes.txt",
    "sed 's|a|[&]|g' words.txt",
    "sed -n 's/TODO/x/p' notes.txt; sed 2q notes.txt; sed = no-end.txt",
    "sed 'y/abc/xyz/' words.txt; sed -e 1d -e 's/b/B/' words.txt",
    "sed '2a after' words.txt; sed '1i before' words.txt; sed '2c instead' words.txt",
    "tr a-z A-Z < notes.txt; tr -d 'aeiou\\n' < notes.txt; echo",
    "tr -s ' ' < words.txt; tr '[:lower:]' '[:upper:]' < words.txt",
    "tr -cd '[:digit:]\\n' < numbers.txt; echo a,b | tr , '\\n'",
    "sort notes.txt; sort -r notes.txt; sort -u numbers.txt",
    "sort -n numbers.txt; sort -rn numbers.txt",
    "sort -t , -k 2 -n table.csv; sort -t, -k2,2n -k3r table.csv",
    "sort -k 2 words.txt; sort -f notes.txt",
    "sort numbers.txt | uniq -c; sort numbers.txt | uniq -d; sort numbers.txt | uniq -u",
    "cut -d , -f 1,3 table.csv; cut -d, -f2- table.csv; cut -c 1-3 notes.txt",
    "cut -f 2 words.txt; cut -s -f 1 words.txt; cut -b 2 no-end.txt",
    "echo a | tee out.txt; echo b | tee -a out.txt more.txt; cat out.txt more.txt",
    "echo c > out.txt; echo d >> out.txt; cat out.txt",
    "cat none.txt > out.txt 2>&1 || wc -l < out.txt",
    "echo 'a  b' \"c d\" e\\ f; echo -n x; echo '' ''",
    "echo 'don'\\''t' \"q\\\"q\" '$x' \"5$\"",
    "true && echo yes || echo no; false && echo yes || echo no",
    "false; echo $?; ! false; echo $?; ! true",
    "cat notes.txt | grep TODO | sort -r | head -n 1",
    "cat numbers.txt | head -n 1 | cat",
    "ls src; ls; ls -d src; ls notes.txt",
    "ls *.txt; ls src/*.rs; cat n*.txt | wc -l; echo src/*/b.[rs]s none*",
    "echo '*.txt' \"*.txt\" \\*.txt",
    "exit 3",
];

/// F-008, F-090: it opens nothing by itself, and what the rules do not give, it does not get.
#[test]
fn f008_files_are_those_of_the_proxy() {
    for_each_user(|desk| {
        desk.put_texts();
        desk.workspace.write(".env", "SECRET=1");
        // The default: the workspace, read-only.
        assert_eq!(desk.lines(&[], "grep -c TODO notes.txt"), "2\n");
        let changed = desk.shell(&[], "echo x > notes.txt");
        assert_eq!(changed.code, Some(1), "{changed:?}");
        assert!(
            changed.err.contains("may be read, not written"),
            "{changed:?}"
        );
        assert!(desk.read("notes.txt").starts_with("TODO buy"));
        // Sensitive and outside.
        for path in [".env", "/etc/passwd"] {
            let ran = desk.shell(&[], &format!("cat {path}"));
            assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        }
        // What is listed, and nothing else.
        let options = ["-i", "notes.txt", "-o", "found.txt"];
        assert_eq!(
            desk.lines(&options, "grep TODO notes.txt | sort > found.txt"),
            ""
        );
        assert_eq!(desk.read("found.txt"), "TODO buy milk\nTODO sleep\n");
        let ran = desk.shell(&options, "cat numbers.txt found.txt");
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.err.contains("-i found.txt"), "{ran:?}");
        // A file that nobody can keep is said.
        let ran = desk.shell(&[], "echo x > new.txt; cat new.txt; ls new.txt");
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (Some(0), "x\nnew.txt\n"),
            "{ran:?}"
        );
        assert_eq!(
            ran.err,
            "jig: `new.txt` was only in memory and is gone; to keep it, add: -i . -o new.txt\n"
        );
        assert!(!desk.path("new.txt").exists());
        assert_eq!(
            desk.lines(&["-i", ".", "-o", "new.txt"], "echo x > new.txt"),
            ""
        );
        assert_eq!(desk.read("new.txt"), "x\n");
    });
}

/// A client chooses the name of a file that is gone. What is said about it can be pasted, and is one line.
#[test]
fn the_name_of_a_file_that_is_gone_is_quoted() {
    let desk = Desk::new();
    let check = |name: &str, shown: &str, how: &str| {
        let word = format!("'{}'", name.replace('\'', r"'\''"));
        let ran = desk.shell(&[], &format!("echo x > {word}"));
        let expected = format!("jig: `{shown}` was only in memory and is gone; {how}\n");
        assert_eq!((ran.code, ran.err), (Some(0), expected), "{name:?}");
    };
    let same = |name: &str, word: &str| {
        check(name, name, &format!("to keep it, add: -i . -o {word}"));
    };
    same("a;touch pwned", "'a;touch pwned'");
    same("$(touch pwned)", "'$(touch pwned)'");
    same("it's", r"'it'\''s'");
    let how = "write to a name without control characters to keep it";
    check("a\njig: all is well", "a jig: all is well", how);
    check("a\u{1b}[2Jb", "a\\u{1b}[2Jb", how);
    check("a\u{202e}b", "a\\u{202e}b", how);
}

/// The rules of a tool decide, also about what a folder shows (X-52).
#[test]
fn f008_x52_a_listing_shows_what_may_be_read() {
    let desk = Desk::with(
        "[tools.look]\nsource='local'\ncommand='true'\n\
         [[tools.look.access.fs]]\npath='src'\nread=true\n\
         [[tools.look.access.fs]]\npath='src/deep'\nread=false\n",
    );
    desk.put_texts();
    assert_eq!(desk.lines(&["--tool", "look"], "ls -p src"), "a.rs\n");
    assert_eq!(
        desk.lines(&["--tool", "look"], "grep -r fn src"),
        "src/a.rs:fn main() {}\n"
    );
    for path in ["src/deep", ".", "none"] {
        let ran = desk.shell(&["--tool", "look"], &format!("ls {path}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    }
    // Virtual files are names, too.
    let line = "echo x > /pipe/a/b; ls /pipe; ls /pipe/a; cat /pipe/a/*";
    assert_eq!(desk.lines(&["--tool", "look"], line), "a\nb\nx\n");
}

/// What it does not know is said before anything runs, and commands that do not exist are named.
#[test]
fn f008_what_is_not_known_is_an_error() {
    let desk = Desk::new();
    desk.put_texts();
    for (line, code, message) in [
        ("cat 'a", 2, "this quote has no end"),
        ("echo x > out.txt; echo $HOME", 2, "there are no variables"),
        ("for i in a; do echo; done", 2, "there are no loops"),
        ("curl example.com", 127, "there is no command `curl`"),
        ("ls -l", 2, "sizes and times are not known"),
        (
            "sed -i s/a/b/ notes.txt",
            2,
            "write the result to another file",
        ),
        ("grep -P x notes.txt", 2, "`-P` is not known here"),
        (
            "sort --parallel=2 notes.txt",
            2,
            "`--parallel=2` is not known here",
        ),
        ("grep '[' notes.txt", 2, "a `[` has no `]`"),
        ("cat none.txt", 1, "cat: \"none.txt\" does not exist\n"),
        ("llm hello", 1, "LLM not available"),
    ] {
        let ran = desk.shell(&[], line);
        assert_eq!(ran.code, Some(code), "{line}: {ran:?}");
        assert!(ran.err.contains(message), "{line}: {ran:?}");
        assert_eq!(ran.out, "", "{line}");
    }
}

/// A pipeline holds a few chunks, and a reader that has seen enough ends what comes before it.
#[test]
fn f008_streams_are_not_held() {
    let desk = Desk::new();
    let line = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    desk.workspace.write("large.txt", line.repeat(1 << 18));
    let memory = ["-i", "large.txt", "-o", "copy.txt", "--memory", "512MiB"];
    let ran = desk.lines(
        &memory,
        "cat large.txt | head -n 1 | wc -c; cat large.txt | tr a-f A-F | tee copy.txt | grep -c ABC; \
         sed -n '$=' large.txt; tail -n 1 large.txt | wc -c",
    );
    assert_eq!(ran, "64\n262144\n262144\n64\n");
    assert_eq!(desk.read("copy.txt").len(), 64 << 18);
}

/// Lines from standard input; as the command of a proxy, and of a proxy in a proxy.
#[test]
fn f008_the_shell_runs_wherever_there_is_a_descriptor_3() {
    for_each_user(|desk| {
        desk.put_texts();
        let mut jig = desk.jig(&["sh"]);
        let jig = jig
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = jig.spawn().unwrap();
        let script = b"# a script\nhead -n 1 notes.txt |\n  tr a-z A-Z\n\ncat\nfalse\n";
        child.stdin.take().unwrap().write_all(script).unwrap();
        let ran = Ran::of(child.wait_with_output().unwrap());
        assert_eq!(
            (ran.code, ran.out.as_str()),
            (Some(1), "TODO BUY MILK\n"),
            "{ran:?}"
        );

        let jig = desk.jig(&[]).get_program().to_owned();
        let jig = jig.to_str().unwrap();
        let line = "sort -n numbers.txt | head -n 1";
        assert_eq!(desk.ok(&["proxy", "--", jig, "sh", "-c", line]), "-1\n");
        let nested = ["proxy", "--", jig, "proxy", "--", jig, "sh", "-c", line];
        assert_eq!(desk.ok(&nested), "-1\n");
        let options = desk.run(&["proxy", "--", jig, "sh", "-i", ".", "-c", line]);
        assert_eq!(options.code, Some(125), "{options:?}");
        assert!(options.err.contains("-i is for the proxy"), "{options:?}");
    });
}

/// F-008, F-053, F-073, F-074: a model is asked in the middle of a pipeline. Its inputs are handles of the shell,
/// its answer goes to one, and both are under the same rules and the same quota as everything else.
#[test]
fn f053_f074_a_model_is_a_stage_of_a_pipeline() {
    let desk = Desk::new();
    desk.put_texts();
    desk.workspace.write("private.txt", "geheim");
    let provider = Provider::start();
    provider.always(Answer::text("Sleep first.").usage(100, 0, 50));
    let mut options: Vec<String> = ["--llm", "-i", "notes.txt", "table.csv", "-o", "answer.txt"]
        .map(str::to_owned)
        .to_vec();
    options.extend([
        format!("--set=llm.base_url={}", provider.url()),
        "--set=llm.model=large".to_owned(),
        "--set=llm.quota=1000".to_owned(),
    ]);
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    // Its input is what comes from the left, its output goes on to the right.
    let line = "grep TODO notes.txt | llm 'What first?' table.csv | tr a-z A-Z";
    assert_eq!(desk.lines(&options, line), "SLEEP FIRST.\n");
    // Input and output are files that the model's caller never touches.
    assert_eq!(
        desk.lines(&options, "llm -s Kurz 'And now?' < notes.txt > answer.txt"),
        ""
    );
    assert_eq!(desk.read("answer.txt"), "Sleep first.\n");
    // No way round the rules.
    let ran = desk.shell(&options, "llm 'Tell me' private.txt");
    assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
    assert!(ran.err.contains("private.txt"), "{ran:?}");
    let requests = provider.requests();
    assert_eq!(requests.len(), 2);
    let [first, second] = [0, 1].map(|at| requests[at].json().to_string());
    assert!(
        first.contains("TODO sleep") && first.contains("ann,3,x"),
        "{first}"
    );
    assert!(!first.contains("read a book"), "{first}");
    assert!(
        second.contains("read a book") && second.contains("Kurz"),
        "{second}"
    );
    // One quota for the whole of a run: 100 + 4 × 50 each, of 1000.
    let ran = desk.shell(&options, "llm a; llm b; llm c; llm d; llm e");
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.starts_with("Sleep first.\n"), "{ran:?}");
    assert!(
        ran.err.contains("quota exceeded: cannot make LLM call"),
        "{ran:?}"
    );
}

/// F-053, F-074, F-076: a session. The model's lines run in the shell itself: its files are those of the shell, over
/// the same descriptor 3, under the same rules and the same quota, and it starts no program.
#[test]
fn f053_f074_f076_a_model_runs_lines_of_the_shell() {
    let desk = Desk::new();
    desk.put_texts();
    desk.workspace.write("private.txt", "geheim");
    let provider = Provider::start();
    let answers = [
        "I look first.\n```sh\ngrep -c TODO notes.txt; cat private.txt\n```",
        "```sh\ngrep TODO notes.txt > answer.txt; curl x; llm -x again\n```",
        "There are two.",
    ];
    provider.script(answers.map(|said| Answer::text(said).usage(10, 0, 5)));
    let base = format!("--set=llm.base_url={}", provider.url());
    let options = [
        "--llm",
        "-i",
        "notes.txt",
        "-o",
        "answer.txt",
        &base,
        "--set=llm.model=large",
    ];
    let ran = desk.shell(&options, "llm -x 'How many?' < notes.txt | tr a-z A-Z");
    assert_eq!(
        (ran.code, ran.out.as_str()),
        (Some(0), "THERE ARE TWO.\n"),
        "{ran:?}"
    );
    assert!(ran.err.contains("llm: $ grep -c TODO notes.txt"), "{ran:?}");
    assert_eq!(desk.read("answer.txt"), "TODO buy milk\nTODO sleep\n");
    let requests = provider.requests();
    let told: Vec<String> = requests
        .iter()
        .map(|request| request.json().to_string())
        .collect();
    assert_eq!(told.len(), 3);
    assert!(
        told[0].contains("How many?") && told[0].contains("read a book"),
        "{}",
        told[0]
    );
    assert!(
        told[1].contains("(exit code 1)") && told[1].contains("private.txt"),
        "{}",
        told[1]
    );
    assert!(
        told[2].contains("there is no command `curl`"),
        "{}",
        told[2]
    );
    assert!(
        told[2].contains("a session cannot begin another one"),
        "{}",
        told[2]
    );
    assert!(!told.concat().contains("geheim"));
}
