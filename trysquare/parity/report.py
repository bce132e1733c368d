"""What a layer found."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """`observed` is what a layer saw and says, `problems` what blocks; a line each."""

    observed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing blocks."""
        return not self.problems

    def lines(self) -> list[str]:
        """Everything, the problems last and marked."""
        return [*self.observed, *(f"PROBLEM {line}" for line in self.problems)]
