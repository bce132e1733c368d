"""What the agent is told when it answers one question with one tool, and nothing else can happen."""

from pathlib import Path

from trysquare.agent.arguments import PI


def ask(
    question: Path, instructions: str, model: tuple[str, str, str], session_dir: Path, tool: tuple[str, Path]
) -> list[str]:
    """The whole argument list of a question; `run` puts the installed agent in the place of `pi`.

    Parameters
    ----------
    question
        The file that holds it, of any length.
    instructions
        What stands in the place of the agent's own system prompt.
    model
        Provider, model pattern and thinking level.
    tool
        The name of the one tool the model has, and the extension that registers it.
    """
    provider, pattern, thinking = model
    name, extension = tool
    told = ["-p", "--mode", "json", "--provider", provider, "--model", pattern, "--thinking", thinking]
    told += ["--session-dir", str(session_dir.absolute()), "-na", "-ns", "-np", "-ne", "-nc", "--no-mcp"]
    told += ["--no-builtin-tools", "--tools", name, "-e", str(extension), "--system-prompt", instructions]
    return [PI, *told, f"@{question.absolute()}"]
