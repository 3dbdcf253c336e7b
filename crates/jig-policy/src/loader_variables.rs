//! Variables that make programs run other code: no prefix of a rule gives them away.
//!
//! Whoever writes `GIT_*` or `*` means settings, not a command that the next program will run. The
//! value comes from the host's environment, where any directory that somebody entered may have set it.

/// Whether a variable makes a linker, an interpreter or a common program run code that it names.
///
/// Such a variable is granted only by a rule with its exact name. Case does not count, because some
/// programs don't look at it either.
pub fn is_loader_variable(name: &str) -> bool {
    loader(name).is_some()
}

/// Whether every variable that begins with `literal` is one of these, so that a rule on the prefix
/// grants nothing.
pub fn is_loader_prefix(literal: &str) -> bool {
    GROUPS
        .iter()
        .flat_map(|group| group.prefixes)
        .any(|prefix| starts_with(literal, prefix))
}

/// What the variable does, as it follows "the variable".
pub(crate) fn loader(name: &str) -> Option<&'static str> {
    let is_it = |group: &&LoaderVariables| {
        let named = group.names.iter().any(|one| one.eq_ignore_ascii_case(name));
        named || group.prefixes.iter().any(|one| starts_with(name, one))
    };
    GROUPS.iter().find(is_it).map(|group| group.does)
}

fn starts_with(name: &str, prefix: &str) -> bool {
    let start = name.as_bytes().get(..prefix.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

struct LoaderVariables {
    does: &'static str,
    names: &'static [&'static str],
    prefixes: &'static [&'static str],
}

const GROUPS: [LoaderVariables; 11] = [
    LoaderVariables {
        does: "tells the linker of the system what to load into every program",
        names: &[
            "GCONV_PATH",
            "GLIBC_TUNABLES",
            "LOCPATH",
            "NLSPATH",
            "GETCONF_DIR",
        ],
        prefixes: &["LD_", "DYLD_"],
    },
    LoaderVariables {
        does: "makes a shell run code when it starts, or read words in another way",
        names: &[
            "BASH_ENV",
            "ENV",
            "KSHENV",
            "ZDOTDIR",
            "FPATH",
            "CDPATH",
            "IFS",
            "INPUTRC",
            "PROMPT_COMMAND",
            "PS0",
            "PS1",
            "PS2",
            "PS4",
            "SHELL",
            "SHELLOPTS",
            "BASHOPTS",
        ],
        prefixes: &["BASH_FUNC_"],
    },
    LoaderVariables {
        does: "tells an interpreter what to load before the program",
        names: &[
            "NODE_OPTIONS",
            "NODE_PATH",
            "NODE_REPL_EXTERNAL_MODULE",
            "NODE_EXTRA_CA_CERTS",
            "BUN_OPTIONS",
            "ELECTRON_RUN_AS_NODE",
            "PERLLIB",
            "PHPRC",
            "PHP_INI_SCAN_DIR",
            "AWKPATH",
            "AWKLIBPATH",
            "TCLLIBPATH",
            "OCAMLPATH",
            "OCAMLRUNPARAM",
            "CAML_LD_LIBRARY_PATH",
            "GHCRTS",
            "GHC_PACKAGE_PATH",
            "GHC_ENVIRONMENT",
            "ELIXIR_ERL_OPTIONS",
        ],
        prefixes: &[
            "PYTHON", "PERL5", "RUBY", "LUA_", "GUILE_", "JULIA_", "ERL_", "R_", "TS_NODE_",
            "GEM_", "BUNDLE_",
        ],
    },
    LoaderVariables {
        does: "hands options to every program of a virtual machine",
        names: &[
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "JDK_JAVAC_OPTIONS",
            "JAVA_OPTS",
            "CLASSPATH",
            "MAVEN_OPTS",
            "MAVEN_ARGS",
            "GRADLE_OPTS",
            "ANT_OPTS",
            "SBT_OPTS",
        ],
        prefixes: &["DOTNET_", "CORECLR_", "COR_", "COMPLUS_"],
    },
    LoaderVariables {
        does: "tells git, or another keeper of versions, which programs to run and what to obey",
        names: &["SVN_SSH", "SVN_EDITOR", "CVS_RSH", "CVSEDITOR"],
        prefixes: &["GIT_", "HG"],
    },
    LoaderVariables {
        does: "names a program that others run",
        names: &[
            "EDITOR",
            "VISUAL",
            "FCEDIT",
            "PAGER",
            "MANPAGER",
            "BROWSER",
            "SYSTEMD_PAGER",
            "SYSTEMD_EDITOR",
            "SUDO_ASKPASS",
            "SSH_ASKPASS",
            "RSYNC_RSH",
            "RSYNC_CONNECT_PROG",
            "TAR_OPTIONS",
            "VIMINIT",
            "GVIMINIT",
            "EXINIT",
            "VIMRUNTIME",
            "EMACSLOADPATH",
        ],
        prefixes: &["LESS"],
    },
    LoaderVariables {
        does: "tells the Rust toolchain which programs to run",
        names: &["CARGO", "CARGO_HOME", "RUSTFLAGS"],
        prefixes: &[
            "RUSTC",
            "RUSTDOC",
            "RUSTUP_",
            "CARGO_ALIAS_",
            "CARGO_BUILD_",
            "CARGO_TARGET_",
            "CARGO_HOST_",
            "CARGO_REGISTRY_",
            "CARGO_REGISTRIES_",
            "CARGO_CREDENTIAL_",
            "CARGO_ENCODED_",
        ],
    },
    LoaderVariables {
        does: "tells a compiler or a build which programs and plugins to run",
        names: &[
            "CC",
            "CXX",
            "CPP",
            "AR",
            "AS",
            "LD",
            "NM",
            "FC",
            "CFLAGS",
            "CXXFLAGS",
            "CPPFLAGS",
            "LDFLAGS",
            "COMPILER_PATH",
            "GCC_EXEC_PREFIX",
            "CPATH",
            "LIBRARY_PATH",
            "C_INCLUDE_PATH",
            "CPLUS_INCLUDE_PATH",
            "MAKEFLAGS",
            "MFLAGS",
            "GNUMAKEFLAGS",
            "MAKEFILES",
            "M4",
            "YACC",
            "LEX",
            "GOFLAGS",
            "GOENV",
            "GOROOT",
            "GOTOOLDIR",
            "GOTOOLCHAIN",
        ],
        prefixes: &["CGO_", "CMAKE_", "PKG_CONFIG"],
    },
    LoaderVariables {
        does: "tells a package manager where code comes from and what to run",
        names: &[],
        prefixes: &["NPM_CONFIG_", "YARN_", "PNPM_", "PIP_", "UV_", "PYTEST_"],
    },
    LoaderVariables {
        does: "names libraries that programs load",
        names: &[
            "OPENSSL_CONF",
            "OPENSSL_ENGINES",
            "OPENSSL_MODULES",
            "SASL_PATH",
            "GTK_MODULES",
            "GTK_PATH",
            "GIO_EXTRA_MODULES",
            "GIO_MODULE_DIR",
            "QT_PLUGIN_PATH",
            "QT_QPA_PLATFORM_PLUGIN_PATH",
            "LIBGL_DRIVERS_PATH",
            "LIBVA_DRIVERS_PATH",
            "OCL_ICD_VENDORS",
            "MAGICK_CODER_MODULE_PATH",
            "MAGICK_CONFIGURE_PATH",
        ],
        prefixes: &["GST_PLUGIN", "VK_"],
    },
    LoaderVariables {
        does: "names a file that every program at a terminal obeys",
        names: &["TERMCAP", "TERMINFO", "TERMINFO_DIRS"],
        prefixes: &[],
    },
];

#[cfg(test)]
mod tests;
