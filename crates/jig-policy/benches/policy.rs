//! Decisions per second with 10, 1,000 and 100,000 rules, interleaved.
//!
//! Run with `cargo bench -p jig-policy`. Targets are random: about half match one of the rules and
//! half none, at every size. Rounds of the three sizes alternate, so that a noisy machine slows all
//! of them alike; the ratio is taken between the fastest rounds.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::hint::black_box;
use std::io;
use std::time::{Duration, Instant};

use jig_policy::{
    Capability, DeclaredAccess, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule, DefaultAccess,
    EnvUse, FileCapabilities, Guards, Lookup, LookupEntry, NetTarget, Policy, ResolvedPath,
    RuleOrigin, Workspace,
};
use jig_proto::ProjectPath;

const SIZES: [usize; 3] = [10, 1_000, 100_000];
const TARGETS: usize = 8_192;
const ROUNDS: usize = 60;

fn main() {
    println!(
        "{:<5} {:>12} {:>12} {:>12} {:>9}",
        "", "10", "1,000", "100,000", "ratio"
    );
    let mut worst: f64 = 0.0;
    for (name, measure) in [
        ("fs", measure_fs as fn() -> [Duration; 3]),
        ("net", measure_net),
        ("env", measure_env),
    ] {
        let fastest = measure();
        let nanos = fastest.map(|time| time.as_nanos() as f64 / TARGETS as f64);
        let ratio = nanos[2] / nanos[0];
        worst = worst.max(ratio);
        println!(
            "{name:<5} {:>9.0} ns {:>9.0} ns {:>9.0} ns {ratio:>8.2}x",
            nanos[0], nanos[1], nanos[2]
        );
    }
    println!("largest against smallest at worst: {worst:.2}x (at most 2x is wanted)");
}

fn measure_fs() -> [Duration; 3] {
    let mut random = Random(1);
    let cases = SIZES.map(|size| {
        let paths: Vec<String> = (0..size).map(|_| random.path()).collect();
        let rules = paths.iter().map(|path| DeclaredFsRule {
            path: path.clone(),
            capabilities: FileCapabilities::just(Capability::Read),
            origin: RuleOrigin::named("bench"),
        });
        let access = DeclaredAccess {
            fs: rules.collect(),
            ..DeclaredAccess::default()
        };
        let targets: Vec<ResolvedPath> = (0..TARGETS)
            .map(|number| {
                let start = if number % 2 == 0 {
                    random.pick(&paths).clone()
                } else {
                    random.path()
                };
                let text = format!("{start}/{}", random.word());
                ProjectPath::normalize(&text).map(ResolvedPath::from_handle)
            })
            .collect::<Result<_, _>>()
            .unwrap_or_default();
        (compile(&access), targets)
    });
    interleaved(&cases, |policy, target| {
        policy.decide_fs(Capability::Read, target).is_allowed()
    })
}

fn measure_net() -> [Duration; 3] {
    let mut random = Random(2);
    let cases = SIZES.map(|size| {
        let rules: Vec<DeclaredNetRule> = (0..size)
            .map(|number| DeclaredNetRule {
                host: format!("{}.{}.example", random.word(), random.word()),
                scheme: (number % 2 == 0).then(|| "https".to_owned()),
                port: None,
                path_prefix: (number % 3 == 0).then(|| format!("/{}", random.word())),
                methods: None,
                allow: true,
                origin: RuleOrigin::named("bench"),
            })
            .collect();
        let targets: Vec<NetTarget> = (0..TARGETS)
            .map(|number| {
                let host = if number % 2 == 0 {
                    random.pick(&rules).host.clone()
                } else {
                    format!("{}.{}.example", random.word(), random.word())
                };
                let url = format!("https://{host}/{}/{}", random.word(), random.word());
                NetTarget::parse(&url)
            })
            .collect::<Result<_, _>>()
            .unwrap_or_default();
        (
            compile(&DeclaredAccess {
                net: rules,
                ..DeclaredAccess::default()
            }),
            targets,
        )
    });
    interleaved(&cases, |policy, target| {
        policy.decide_net(target).is_allowed()
    })
}

fn measure_env() -> [Duration; 3] {
    let mut random = Random(3);
    let cases = SIZES.map(|size| {
        let names: Vec<String> = (0..size).map(|_| random.variable()).collect();
        let rules = names
            .iter()
            .enumerate()
            .map(|(number, name)| DeclaredEnvRule {
                name: if number % 2 == 0 {
                    format!("{name}*")
                } else {
                    name.clone()
                },
                read: true,
                header: false,
                origin: RuleOrigin::named("bench"),
            });
        let access = DeclaredAccess {
            env: rules.collect(),
            ..DeclaredAccess::default()
        };
        let targets: Vec<String> = (0..TARGETS)
            .map(|number| match number % 4 {
                0 => random.pick(&names).clone(),
                1 => format!("{}_{}", random.pick(&names).clone(), random.word()),
                _ => random.variable(),
            })
            .collect();
        (compile(&access), targets)
    });
    interleaved(&cases, |policy, name| {
        policy.decide_env(EnvUse::Read, name).is_allowed()
    })
}

/// The fastest round of each size, rounds alternating between the sizes.
fn interleaved<T>(
    cases: &[(Policy, Vec<T>); 3],
    decide: impl Fn(&Policy, &T) -> bool,
) -> [Duration; 3] {
    let mut fastest = [Duration::MAX; 3];
    for _ in 0..ROUNDS {
        for ((policy, targets), fastest) in cases.iter().zip(&mut fastest) {
            assert_eq!(targets.len(), TARGETS, "every generated target is valid");
            let start = Instant::now();
            let mut allowed = 0;
            for target in targets {
                allowed += usize::from(decide(black_box(policy), black_box(target)));
            }
            *fastest = start.elapsed().min(*fastest);
            assert!(allowed >= TARGETS / 5, "the targets reach the rules");
        }
    }
    fastest
}

fn compile(access: &DeclaredAccess) -> Policy {
    let workspace = Workspace::new("/workspace", NoLinks);
    match Policy::compile(
        access,
        DefaultAccess::NOTHING,
        &Guards::of_workspace(),
        &workspace,
    ) {
        Ok(policy) => policy,
        Err(errors) => panic!("the generated rules compile: {errors}"),
    }
}

struct NoLinks;

impl Lookup for NoLinks {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}

/// A small generator (xorshift*): the same targets in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 33) as usize % limit
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn word(&mut self) -> String {
        let letters = 3 + self.below(8);
        (0..letters)
            .map(|_| char::from(b'a' + self.below(26) as u8))
            .collect()
    }

    fn path(&mut self) -> String {
        let depth = 1 + self.below(5);
        let words: Vec<String> = (0..depth).map(|_| self.word()).collect();
        words.join("/")
    }

    fn variable(&mut self) -> String {
        format!("{}_{}", self.word(), self.word()).to_uppercase()
    }
}
