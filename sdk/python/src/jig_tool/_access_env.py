"""Rules on variables of the environment."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple


class EnvRules:
    """The longest name or prefix decides; a name before a prefix, and of equal ones the last."""

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        self._rules: Dict[Tuple[str, bool], bool] = {}
        self._order: List[str] = []
        for rule in rules:
            name = rule.get("name")
            if not isinstance(name, str):
                raise ValueError("a rule on variables has no `name`")
            is_prefix = name.endswith("*")
            literal = name[:-1] if is_prefix else name
            if "*" in literal or "=" in literal or "\0" in literal or not (literal or is_prefix):
                raise ValueError(f"`{name}` is no name of a variable, and no prefix such as `AWS_*`")
            self._rules[literal, is_prefix] = rule.get("read") is True
            self._order.append(name)

    def allows(self, name: str) -> bool:
        """Whether a variable may be read."""
        if (name, False) in self._rules:
            return self._rules[name, False]
        prefix = self._longest(name)
        return prefix is not None and self._rules[prefix, True] and not is_loader(name)

    def grants(self) -> List[str]:
        """The names and prefixes that may be read."""
        return [
            name
            for name in self._order
            if self._rules[name[:-1] if name.endswith("*") else name, name.endswith("*")]
        ]

    def _longest(self, name: str) -> Optional[str]:
        for length in range(len(name), -1, -1):
            if (name[:length], True) in self._rules:
                return name[:length]
        return None


def is_loader(name: str) -> bool:
    """Whether a variable makes programs run other code: no prefix gives it away."""
    upper = name.upper()
    return upper in LOADERS or upper.startswith(LOADER_PREFIXES)


LOADERS = frozenset(
    {
        "GCONV_PATH",
        "GLIBC_TUNABLES",
        "LOCPATH",
        "NLSPATH",
        "GETCONF_DIR",
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
        "SVN_SSH",
        "SVN_EDITOR",
        "CVS_RSH",
        "CVSEDITOR",
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
        "CARGO",
        "CARGO_HOME",
        "RUSTFLAGS",
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
        "TERMCAP",
        "TERMINFO",
        "TERMINFO_DIRS",
    }
)

LOADER_PREFIXES = (
    "LD_", "DYLD_", "BASH_FUNC_", "PYTHON", "PERL5", "RUBY", "LUA_", "GUILE_", "JULIA_", "ERL_",
    "R_", "TS_NODE_", "GEM_", "BUNDLE_", "DOTNET_", "CORECLR_", "COR_", "COMPLUS_", "GIT_", "HG",
    "LESS", "RUSTC", "RUSTDOC", "RUSTUP_", "CARGO_ALIAS_", "CARGO_BUILD_", "CARGO_TARGET_",
    "CARGO_HOST_", "CARGO_REGISTRY_", "CARGO_REGISTRIES_", "CARGO_CREDENTIAL_", "CARGO_ENCODED_",
    "CGO_", "CMAKE_", "PKG_CONFIG", "NPM_CONFIG_", "YARN_", "PNPM_", "PIP_", "UV_", "PYTEST_",
    "GST_PLUGIN", "VK_",
)
