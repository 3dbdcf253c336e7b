//! How much may be used.

use super::{Mistake, Way};

pub(crate) fn memory() -> Mistake {
    Mistake {
        name: "more memory than is allowed",
        config: "[tools.check.sandbox.limits]\nmemory = \"64MiB\"\n",
        way: Way::Tool(
            "/usr/bin/python3 -c 'import time; x = b\"x\" * (80 << 20); time.sleep(3); print(len(x))'",
        ),
        works: "83886080",
        ..Mistake::default()
    }
}

pub(crate) fn time() -> Mistake {
    Mistake {
        name: "more time than is allowed",
        // The second run must end in twice that, on a machine that is very busy.
        config: "[tools.check.sandbox.limits]\ntime = \"5s\"\n",
        way: Way::Tool("sleep 6; echo awake"),
        works: "awake",
        ..Mistake::default()
    }
}

pub(crate) fn file_size() -> Mistake {
    Mistake {
        name: "a larger file than is allowed",
        config: "[tools.check.sandbox.limits]\nfile_size = \"1MiB\"\n",
        way: Way::Tool("head -c 1500000 /dev/zero > big && echo written"),
        works: "written",
        ..Mistake::default()
    }
}

pub(crate) fn output() -> Mistake {
    Mistake {
        name: "more output than is allowed",
        config: "[tools.check.sandbox.limits]\noutput = \"1KiB\"\n",
        way: Way::Tool("seq 400"),
        works: "399",
        ..Mistake::default()
    }
}

pub(crate) fn descriptors() -> Mistake {
    Mistake {
        name: "more open files than are allowed",
        config: "[tools.check.sandbox.limits]\ndescriptors = 16\n",
        way: Way::Tool(
            "/usr/bin/python3 -c 'all = [open(\"/dev/null\") for _ in range(20)]; print(len(all))'",
        ),
        works: "20",
        ..Mistake::default()
    }
}
