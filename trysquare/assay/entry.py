"""A plain function as the whole of a validator."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from functools import update_wrapper
from pathlib import Path
from typing import Any

from trysquare.assay.metrics import CannotJudge, report
from trysquare.assay.run import Assay
from trysquare.errors import TrysquareError
from trysquare.refusals import misspelt

CANNOT_JUDGE = 1
DEFECT = 2


class Evaluation:
    """A validator: still the function it was made of, and with `cli` a program."""

    def __init__(self, function: Callable[[Assay], Mapping[str, Any]]) -> None:
        self.function = function
        update_wrapper(self, function)

    def __call__(self, run: Assay) -> Mapping[str, Any]:
        """What the function returns for a run, untouched."""
        return self.function(run)

    def cli(self, argv: Sequence[str] | None = None) -> int:
        """Score the run whose context file is the one argument, print the payload, and return the exit status.

        1 with one sentence when the run cannot be judged, 2 with a traceback when the validator is at fault. What the
        function prints goes to the standard error: the standard output holds the payload and nothing else.
        """
        arguments = sys.argv[1:] if argv is None else list(argv)
        if len(arguments) != 1:
            print("usage: one argument, the context file of a run", file=sys.stderr)
            return DEFECT
        try:
            with redirect_stdout(sys.stderr):
                payload = self._payload(_read(Path(arguments[0])))
        except TrysquareError as error:
            print(f"cannot judge this run: {error}", file=sys.stderr)
            return CANNOT_JUDGE
        except Exception:
            import traceback

            traceback.print_exc()
            return DEFECT
        print(json.dumps(payload, allow_nan=False))
        return 0

    def _payload(self, context: Mapping[str, Any]) -> Mapping[str, Any]:
        payload = report(self(Assay(context)))
        metrics, unjudged = payload["metrics"], payload.get("unjudged", {})
        declared = context.get("declared", ())
        for name in declared:
            if metrics.get(name) is None and name not in unjudged:
                answered = ", ".join(sorted({*metrics, *unjudged})) or "nothing"
                wrong = "returned None for" if name in metrics else "did not return"
                meant = misspelt([name], [*metrics, *unjudged], declared)
                raise CannotJudge(
                    f"the validator {wrong} the declared metric '{name}'{meant} (it answered: {answered})"
                )
        return payload


def validator(fn: Callable[[Assay], Mapping[str, Any]]) -> Evaluation:
    """Make a function from a run to its metrics a validator: `raise SystemExit(fn.cli())` is its whole main program."""
    return Evaluation(fn)


def _read(path: Path) -> Mapping[str, Any]:
    try:
        context = json.loads(path.read_bytes())
    except OSError as error:
        raise CannotJudge(f"the context {path} cannot be read ({error.strerror})") from None
    except ValueError as error:
        raise CannotJudge(f"the context {path} is not JSON ({error})") from None
    if not isinstance(context, dict):
        raise CannotJudge(f"the context {path} is not a JSON object")
    return context
