"""The private home and the environment one launch of the agent is given, and the secrets they hold."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trysquare.errors import AgentError

SETTINGS = "settings.json"
MODELS = "models.json"
LOGINS = "auth.json"

PUBLIC = (
    *("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "TERM"),
    *("LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"),
    *("LD_LIBRARY_PATH", "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "PYENV_ROOT", "NVM_DIR"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
)
"""What the agent and the tools it runs need to find things on this machine."""

PROXIES = tuple(
    name for upper in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY") for name in (upper, upper.lower())
)

KEYS = (
    *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_OAUTH_TOKEN", "ANTHROPIC_FEDERATION_RULE_ID"),
    *("ANTHROPIC_ORGANIZATION_ID", "ANTHROPIC_IDENTITY_TOKEN_FILE", "ANTHROPIC_SERVICE_ACCOUNT_ID"),
    *("ANTHROPIC_WORKSPACE_ID", "ANT_LING_API_KEY", "OPENAI_API_KEY", "DEEPSEEK_API_KEY", "NVIDIA_API_KEY"),
    *("GEMINI_API_KEY", "COPILOT_GITHUB_TOKEN", "MISTRAL_API_KEY", "GROQ_API_KEY", "CEREBRAS_API_KEY", "XAI_API_KEY"),
    *("OPENROUTER_API_KEY", "AI_GATEWAY_API_KEY", "ZAI_API_KEY", "ZAI_CODING_CN_API_KEY", "OPENCODE_API_KEY"),
    *("RADIUS_API_KEY", "TYPESAFE_API_KEY", "HF_TOKEN", "FIREWORKS_API_KEY", "TOGETHER_API_KEY", "BASETEN_API_KEY"),
    *("KIMI_API_KEY", "META_API_KEY", "MINIMAX_API_KEY", "MINIMAX_CN_API_KEY", "MOONSHOT_API_KEY"),
    *("QWEN_TOKEN_PLAN_API_KEY", "QWEN_TOKEN_PLAN_CN_API_KEY", "QWEN_TOKEN_PLAN_TEAM_API_KEY"),
    *("QWEN_TOKEN_PLAN_TEAM_CN_API_KEY", "QWEN_TOKEN_PLAN_INDIVIDUAL_API_KEY"),
    *("QWEN_TOKEN_PLAN_INDIVIDUAL_CN_API_KEY", "XIAOMI_API_KEY", "XIAOMI_TOKEN_PLAN_CN_API_KEY"),
    *("XIAOMI_TOKEN_PLAN_AMS_API_KEY", "XIAOMI_TOKEN_PLAN_SGP_API_KEY", "AZURE_OPENAI_API_KEY"),
    *("AZURE_OPENAI_BASE_URL", "AZURE_OPENAI_RESOURCE_NAME", "AZURE_OPENAI_API_VERSION"),
    *("AZURE_OPENAI_DEPLOYMENT_NAME_MAP", "AWS_PROFILE", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    *("AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK", "AWS_REGION", "AWS_DEFAULT_REGION"),
    *("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"),
    *("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN", "AWS_BEDROCK_SKIP_AUTH", "AWS_BEDROCK_FORCE_HTTP1"),
    *("AWS_BEDROCK_FORCE_CACHE", "CLOUDFLARE_API_KEY", "CLOUDFLARE_ACCOUNT_ID", "CLOUDFLARE_GATEWAY_ID"),
    *("GOOGLE_CLOUD_API_KEY", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
    *("GOOGLE_APPLICATION_CREDENTIALS", "PI_CACHE_RETENTION"),
)
"""The variables in which the agent itself looks for what a provider asks."""

REDACTED = "[secret]"

_REFERENCE = re.compile(r"(?<!\$)\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
_SHORTEST_SECRET = 8


def home(directory: Path, thinking: str, models: Mapping[str, Any] | None = None) -> Path:
    """Make the agent's private home (directories 0700, files 0600) and return it.

    It holds the default thinking level, which is also the one subagents run at, and copies of the operator's model and
    login files; nothing else of the operator's. With `models` given, a rehearsal, it holds these and nothing of theirs.
    """
    directory.mkdir(parents=True, exist_ok=True, mode=0o700)
    directory.chmod(0o700)
    _write(directory / SETTINGS, json.dumps({"defaultThinkingLevel": thinking}).encode())
    if models is not None:
        _write(directory / MODELS, json.dumps(models).encode())
        return directory
    for name in (MODELS, LOGINS):
        try:
            data = (operator_home() / name).read_bytes()
        except FileNotFoundError:
            continue
        _write(directory / name, data)
    return directory


def operator_home() -> Path:
    """Where the operator's own agent keeps its configuration."""
    return Path(os.environ.get("PI_CODING_AGENT_DIR") or "~/.pi/agent").expanduser()


def environment(home: Path, models: Mapping[str, Any] | None = None) -> dict[str, str]:
    """The whole environment of a launch with that home.

    Outside a rehearsal (no `models`) it has the provider variables the agent knows, and those that the home's model and
    login files refer to.
    """
    allowed = [*PUBLIC]
    if models is None:
        allowed += [*PROXIES, *KEYS, *_referenced(home)]
    env = {name: os.environ[name] for name in allowed if name in os.environ}
    return {**env, "PI_CODING_AGENT_DIR": str(home.resolve()), "PI_OFFLINE": "1", "PI_TELEMETRY": "0"}


def secrets(env: Mapping[str, str]) -> list[str]:
    """Every value of a launch's environment and home that must not be repeated, the longest first."""
    place = env.get("PI_CODING_AGENT_DIR")
    home = Path(place) if place else operator_home()
    values = {env[name] for name in (*KEYS, *_referenced(home)) if name in env}
    for name in (MODELS, LOGINS):
        values.update(value for key, value in _strings(_read(home / name)) if _telling(key))
    return sorted((value for value in values if len(value) >= _SHORTEST_SECRET), key=len, reverse=True)


def _telling(key: str) -> bool:
    return key.lower() in ("apikey", "key", "access", "refresh", "token", "authorization", "x-api-key")


def _referenced(home: Path) -> set[str]:
    texts = [text for name in (MODELS, LOGINS) for _, text in _strings(_read(home / name))]
    return {braced or bare for text in texts for braced, bare in _REFERENCE.findall(text)}


def _strings(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, inner in value.items():
            yield from _strings(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _strings(inner, key)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except ValueError:
        original = operator_home() / path.name
        raise AgentError(f"{original} is not readable JSON: correct it, the agent could not read it either.") from None


def _write(path: Path, data: bytes) -> None:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
