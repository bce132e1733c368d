"""What a layer found."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Report:
    """`observed` is what a layer saw and says, `problems` what blocks, a line each; `checked` if it could."""

    observed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    checked: bool = True

    @property
    def holds(self) -> bool:
        """Whether nothing blocks."""
        return not self.problems

    @property
    def standing(self) -> str:
        """What became of the layer, in words."""
        return "DOES NOT HOLD" if self.problems else "holds" if self.checked else "not checked"

    def lines(self) -> list[str]:
        """Everything, the problems last and marked."""
        return [*self.observed, *(f"PROBLEM {line}" for line in self.problems)]
