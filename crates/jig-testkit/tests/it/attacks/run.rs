//! [`Suite`]: runs attacks, free and confined, several at a time.

use std::fs;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use jig_sandbox::{
    Child, Enforce, Exit, Launch, Layers, Program, SpawnError, SpawnRequest, minimal_environment,
    spawn,
};
use jig_testkit::{Arena, Attack, Class, Host, Judge, Outcome, attacks};
use jig_testkit::{ended_within, let_pass, within};

use crate::attacks::profile::{HOME, LIMITS, gateway, profile};
use crate::attacks::stage::Terminal;

/// A host, and the ways to attack it.
pub(crate) struct Suite {
    host: Arc<Host>,
    _orphans: Orphans,
}

/// How an attack is run.
pub(crate) struct Manner {
    pub(crate) layers: Layers,
    pub(crate) launch: Launch,
    /// Whether it has a terminal, instead of streams.
    pub(crate) on_terminal: bool,
    /// Whether its connections end at a gateway, which answers none of them. It lists the ports of the host's
    /// own listeners, too.
    pub(crate) gateway: bool,
}

impl Manner {
    /// With streams, started as it is best.
    pub(crate) fn new(layers: Layers) -> Self {
        Self {
            layers,
            launch: Launch::Auto,
            on_terminal: false,
            gateway: false,
        }
    }
}

/// An attack that was run.
pub(crate) struct Tried {
    pub(crate) attack: &'static Attack,
    pub(crate) outcome: Outcome,
    pub(crate) took: Duration,
}

/// Most attacks wait for something, so there may be more of them than processors.
const AT_ONCE: usize = 6;

/// How often an attack is run once more.
const TRIES: usize = 3;

/// What passes before: enough for others to give back what they hold.
const PAUSE: Duration = Duration::from_millis(500);

/// Longer than any attack takes by itself, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The most output that is kept: the verdict is at its end.
const KEPT: usize = 1 << 16;

impl Suite {
    pub(crate) fn start(hostile: &Path) -> Self {
        let orphans = Orphans::adopt();
        let host = Host::start(hostile).expect("a host to be attacked");
        Self {
            host,
            _orphans: orphans,
        }
    }

    /// Runs every attack that is `wanted`; what came of each, in the order of the table.
    ///
    /// Outcomes that are to be tried `again` are, a few times, with nothing of the suite beside them.
    pub(crate) fn run(
        &self,
        wanted: impl Fn(&Attack) -> bool,
        how: impl Fn(&Self, &Attack) -> Outcome + Sync,
        again: impl Fn(&Attack, &Outcome) -> bool,
    ) -> Vec<Tried> {
        let all: Vec<&'static Attack> = attacks().filter(|attack| wanted(attack)).collect();
        let next = AtomicUsize::new(0);
        let tried: Mutex<Vec<(usize, Tried)>> = Mutex::default();
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    loop {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        let Some(attack) = all.get(at).copied() else {
                            return;
                        };
                        let start = Instant::now();
                        let outcome = how(self, attack);
                        let took = start.elapsed();
                        let one = Tried {
                            attack,
                            outcome,
                            took,
                        };
                        tried.lock().expect("nobody panics with it").push((at, one));
                    }
                });
            }
        });
        let mut tried = tried.into_inner().expect("nobody panics with it");
        tried.sort_by_key(|(at, _)| *at);
        let mut tried: Vec<Tried> = tried.into_iter().map(|(_, one)| one).collect();
        for one in &mut tried {
            for _ in 0..TRIES {
                if !again(one.attack, &one.outcome) {
                    break;
                }
                let (word, detail) = one.outcome.parts();
                println!("tried again: {}: {word}: {detail}", one.attack.name);
                let_pass(PAUSE);
                one.outcome = how(self, one.attack);
            }
        }
        tried
    }

    /// Runs an attack with the rights of this process.
    pub(crate) fn unconfined(&self, attack: &Attack) -> Outcome {
        let arena = self.host.arena().expect("an arena");
        if let Some(before) = attack.before {
            let ran = Free::start(&arena, &before(&arena)).and_then(Free::finish);
            drop(ran);
        }
        match Free::start(&arena, &command(attack, &arena)) {
            Ok(free) => {
                meanwhile(attack, &arena);
                judge_free(attack, &arena, free)
            }
            Err(error) => Outcome::Silent(format!("it did not start: {error}")),
        }
    }

    /// Runs an attack confined by these layers.
    pub(crate) fn confined(&self, attack: &Attack, layers: Layers) -> Outcome {
        self.confined_as(attack, &Manner::new(layers))
    }

    /// The same, in that manner.
    pub(crate) fn confined_as(&self, attack: &Attack, manner: &Manner) -> Outcome {
        let arena = self.host.arena().expect("an arena");
        if let Some(before) = attack.before {
            let _ = confined_call(&arena, &before(&arena), manner, None);
        }
        let words = command(attack, &arena);
        let outcome = confined_call(&arena, &words, manner, Some(attack));
        // A program that lies, or does not know, is found out by what it left behind.
        match arena.damage().first() {
            Some(damage) if attack.class != Class::Work => Outcome::Escaped(damage.clone()),
            Some(damage) => Outcome::Held(damage.clone()),
            None => outcome,
        }
    }
}

/// The adoption of what attacks leave behind, so that nothing outlives the suite.
struct Orphans;

impl Orphans {
    fn adopt() -> Self {
        // SAFETY: the call takes numbers only.
        unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) };
        Self
    }
}

/// By now everybody else has waited for their children. What is left ends by itself within seconds.
impl Drop for Orphans {
    fn drop(&mut self) {
        // SAFETY: a null status is allowed.
        while unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) } > 0 {}
    }
}

/// Whether this process has what root has. Inside a container root may have little.
pub(crate) fn is_privileged() -> bool {
    const SYS_ADMIN: u64 = 1 << 21;
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let held = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok());
    held.is_some_and(|held| held & SYS_ADMIN != 0)
}

fn command(attack: &Attack, arena: &Arena) -> Vec<String> {
    let mut words = vec![attack.program.to_owned()];
    words.extend((attack.args)(arena));
    words
}

/// An attack without confinement.
struct Free {
    process: std::process::Child,
    output: Tail,
}

impl Free {
    fn start(arena: &Arena, words: &[String]) -> io::Result<Self> {
        let mut process = Command::new(arena.host().hostile())
            .args(words)
            .current_dir(arena.workspace(""))
            .stdin(arena.given()?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = process.stdout.take().map(Tail::of).unwrap_or_default();
        Ok(Self { process, output })
    }

    fn finish(mut self) -> io::Result<Outcome> {
        let Some(status) = ended_within(&mut self.process, PATIENCE) else {
            self.process.kill()?;
            self.process.wait()?;
            return Ok(Outcome::Silent("it did not end".to_owned()));
        };
        Ok(Outcome::parse(status.code(), &self.output.text()))
    }
}

fn judge_free(attack: &Attack, arena: &Arena, mut free: Free) -> Outcome {
    if let Judge::Ended = attack.judge {
        await_heart(arena);
        let goes_on = arena.is_beating();
        arena.stop_heart();
        // It may be stopped, or gone by itself now that its heart has stopped.
        let _ = free.process.kill();
        let _ = free.process.wait();
        return beating(goes_on);
    }
    let outcome = match free.finish() {
        Ok(outcome) => outcome,
        Err(error) => Outcome::Silent(error.to_string()),
    };
    judge(attack, arena, outcome)
}

fn judge(attack: &Attack, arena: &Arena, outcome: Outcome) -> Outcome {
    match attack.judge {
        Judge::Program => outcome,
        Judge::Host(find) => match find(arena) {
            Some(trace) => Outcome::Escaped(trace),
            None => Outcome::Held("the host finds nothing".to_owned()),
        },
        Judge::Heartbeat | Judge::Ended => {
            let goes_on = arena.is_beating();
            arena.stop_heart();
            match (goes_on, outcome) {
                (false, Outcome::Silent(how)) => Outcome::Silent(how),
                (goes_on, _) => beating(goes_on),
            }
        }
    }
}

fn beating(goes_on: bool) -> Outcome {
    if goes_on {
        Outcome::Escaped("its heart beats".to_owned())
    } else {
        Outcome::Held("its heart has stopped".to_owned())
    }
}

/// What the host does while the program runs. A moment before, the program has tried without it.
fn meanwhile(attack: &Attack, arena: &Arena) {
    if let Some(act) = attack.meanwhile {
        let_pass(Duration::from_millis(150));
        act(arena).expect("the host may do what it likes");
    }
}

fn await_heart(arena: &Arena) {
    within(Duration::from_secs(5), || {
        fs::metadata(arena.heart()).is_ok()
    });
}

/// Starts `hostile` confined, and gives back the host's end of its terminal if it has one.
fn start(
    arena: &Arena,
    words: &[String],
    manner: &Manner,
) -> Result<(Child, Option<fs::File>), SpawnError> {
    let program = Program::parse(arena.host().hostile()).expect("an absolute path");
    let mut request = SpawnRequest::new(program, arena.workspace(""));
    request.args = words.iter().map(Into::into).collect();
    request.env = minimal_environment(HOME.as_ref());
    let given = arena.given().expect("the host can read its own file");
    request.stdin = jig_sandbox::Stdio::Given(given);
    request.stderr = jig_sandbox::Stdio::Null;
    request.limits = LIMITS;
    request.launch = manner.launch.clone();
    let mut profile = profile(arena, manner.layers);
    if manner.gateway {
        profile.network = gateway(arena);
        if !manner.layers.namespaces {
            // Names and addresses cannot be told apart there.
            profile.enforce = Enforce::BestEffort;
        }
    }
    request.profile = Some(Arc::new(profile));
    let mut screen = None;
    if manner.on_terminal {
        let terminal = Terminal::open().expect("a terminal");
        request.terminal = Some(terminal.slave);
        screen = Some(fs::File::from(terminal.master));
    }
    Ok((spawn(request)?, screen))
}

/// One confined call of `hostile`. Without an attack to be judged, its own word counts.
fn confined_call(
    arena: &Arena,
    words: &[String],
    manner: &Manner,
    attack: Option<&Attack>,
) -> Outcome {
    let mut started = start(arena, words, manner);
    for _ in 0..2 {
        if let Err(error) = &started {
            // Attacks run beside each other, and what one moves another may be about to close. That is
            // refused, as it must be; what is tried here is what comes after a start.
            println!("started again: {}", chain(error));
            started = start(arena, words, manner);
        }
    }
    let (mut child, screen) = match started {
        Ok(started) => started,
        Err(error) => return Outcome::Silent(format!("it did not start: {}", chain(&error))),
    };
    let output = match screen {
        Some(screen) => Tail::of(screen),
        None => child.stdout.take().map(Tail::of).unwrap_or_default(),
    };
    if let Some(attack) = attack {
        meanwhile(attack, arena);
    }
    if let Some(Judge::Ended) = attack.map(|attack| attack.judge) {
        await_heart(arena);
        let start = Instant::now();
        let ended = child.end(Duration::from_millis(100));
        let took = start.elapsed();
        let goes_on = arena.is_beating();
        arena.stop_heart();
        return match ended {
            Ok(_) if took > Duration::from_secs(10) => {
                Outcome::Escaped(format!("it took {took:?} to end it"))
            }
            Ok(_) => beating(goes_on),
            Err(error) => Outcome::Silent(error.to_string()),
        };
    }
    let exit = match child.wait_timeout(PATIENCE) {
        Ok(Some(exit)) => exit,
        Ok(None) => {
            child.kill();
            return Outcome::Silent("it did not end".to_owned());
        }
        Err(error) => return Outcome::Silent(error.to_string()),
    };
    let code = match exit {
        Exit::Exited { code } => Some(code),
        Exit::Killed { .. } => None,
    };
    let outcome = match (Outcome::parse(code, &output.text()), child.reached()) {
        // A program that a limit ended has no last word.
        (Outcome::Silent(_), reached) if !reached.is_empty() => {
            Outcome::Held(format!("ended for {reached:?}"))
        }
        (outcome, _) => outcome,
    };
    match attack {
        Some(attack) => judge(attack, arena, outcome),
        None => outcome,
    }
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// The end of what a program writes, read while it runs, so that it never waits.
#[derive(Clone, Default)]
struct Tail(Arc<Mutex<(Vec<u8>, bool)>>);

impl Tail {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let tail = Self::default();
        let shared = tail.clone();
        thread::spawn(move || {
            let mut block = vec![0; KEPT];
            loop {
                let length = pipe.read(&mut block).unwrap_or(0);
                let mut kept = shared.0.lock().expect("nobody panics with it");
                kept.0.extend(&block[..length]);
                let surplus = kept.0.len().saturating_sub(KEPT);
                kept.0.drain(..surplus);
                if length == 0 {
                    kept.1 = true;
                    return;
                }
            }
        });
        tail
    }

    /// What there is now that the program has ended. What it left behind may keep the pipe open, so its
    /// end is waited for only a moment.
    fn text(&self) -> String {
        let kept = || self.0.lock().expect("nobody panics with it");
        within(Duration::from_secs(1), || kept().1);
        String::from_utf8_lossy(&kept().0).into_owned()
    }
}
