//! How long things may take: silence, and the way down from asking to killing.

use super::*;

impl VfsDriver {
    pub(super) fn end(&mut self, grace: Duration) {
        let terminate_at = Instant::now() + grace;
        let mut kill_grace = self.plan.timing.kill_grace;
        if self.plan.stateful && self.has_spoken {
            kill_grace = kill_grace.min(grace);
        }
        self.ending.get_or_insert(KillSchedule {
            terminate_at,
            kill_at: terminate_at + kill_grace,
            terminated: false,
            killed: false,
        });
    }

    /// Takes the steps whose time has come.
    pub(super) fn step_down(&mut self, now: Instant) {
        if let Some(hung_at) = self.hung_at().filter(|at| *at <= now) {
            let silence = hung_at.saturating_duration_since(self.active);
            let silence = match silence.as_secs() {
                0 => format!("{} ms", silence.as_millis()),
                seconds => format!("{seconds} s"),
            };
            let what = format!("the tool was silent for {silence} and was ended");
            let mut hung = ToolError::new(what);
            hung.transient = true;
            let errors = self.plan.broker.secrets().scrub_text(self.pipes.errors());
            if !errors.is_empty() {
                hung.trace.push(errors);
            }
            hung.trace
                .push("`sandbox.limits.silence` sets how long it may be".to_owned());
            self.result.get_or_insert(Err(hung));
            self.end(Duration::ZERO);
        }
        self.count_asking(now);
        if let Some(time) = self.plan.limits.time
            && self.over_at().is_some_and(|over| over <= now)
        {
            let reached = ReachedLimit::Time(time);
            self.board.reached(&[reached]);
            let mut over = ToolError::new(format!("`{}` {reached}", self.plan.name));
            over.trace
                .push(format!("`{}` sets the limit", reached.key()));
            over.denials.push(reached.denial(&self.plan.name));
            self.result.get_or_insert(Err(over));
            self.end(Duration::ZERO);
        }
        let Some(ending) = &mut self.ending else {
            return;
        };
        if !ending.terminated && ending.terminate_at <= now {
            ending.terminated = true;
            self.child.terminate();
        }
        if !ending.killed && ending.kill_at <= now {
            ending.killed = true;
            self.child.kill();
        }
    }

    /// When silence becomes hanging. The clock stands still while the host owes an answer, while
    /// somebody is asked, and while a stateful tool waits for input.
    pub(super) fn hung_at(&self) -> Option<Instant> {
        let counts = self.ending.is_none()
            && self.ledger.is_empty()
            && self.question.is_none()
            && !(self.plan.stateful && self.is_idle);
        counts.then(|| self.active + self.plan.timing.silence)
    }

    /// When the tool has run for as long as it may. The clock stands still while somebody is asked, and
    /// while a stateful tool waits for input.
    fn over_at(&self) -> Option<Instant> {
        let counts = self.ending.is_none() && !self.waits_for_somebody();
        let time = self.plan.limits.time.filter(|_| counts)?;
        self.started.checked_add(time)?.checked_add(self.asked)
    }

    fn waits_for_somebody(&self) -> bool {
        let is_idle = self.plan.stateful && self.is_idle;
        is_idle || self.question.is_some() || self.ledger.asking().is_some()
    }

    fn count_asking(&mut self, now: Instant) {
        match (self.waits_for_somebody(), self.asking_since) {
            (true, None) => self.asking_since = Some(now),
            (false, Some(since)) => {
                self.asked += now.saturating_duration_since(since);
                self.asking_since = None;
            }
            _ => {}
        }
    }

    pub(super) fn deadline(&self) -> Option<Instant> {
        match &self.ending {
            None => [self.hung_at(), self.over_at()].into_iter().flatten().min(),
            Some(ending) if !ending.terminated => Some(ending.terminate_at),
            Some(ending) if !ending.killed => Some(ending.kill_at),
            Some(_) => None,
        }
    }
}
