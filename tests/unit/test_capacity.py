from dataclasses import replace
from types import SimpleNamespace

from hypothesis import given
from hypothesis import strategies as st

from tests.matrices import matrix
from trysquare import capacity


def plan(provider, concurrency):
    made = matrix()
    return replace(
        made,
        agent=replace(made.agent, provider=provider),
        protocol=replace(made.protocol, concurrency=concurrency),
    )


@given(st.lists(st.tuples(st.sampled_from(["openai", "my-own", "anthropic"]), st.integers(1, 50)), max_size=6))
def test_no_provider_is_asked_for_more_at_once_than_any_scenario_declares(pairs):
    plans = [plan(*pair) for pair in pairs]
    limits = capacity.limits(plans)
    for each in plans:
        assert limits[capacity.slots(each)] <= each.protocol.concurrency
    assert limits["agent_slots"] == (sum(value for name, value in limits.items() if name != "agent_slots") or 1)


def test_a_run_takes_a_slot_of_its_own_provider_and_of_no_other():
    plans = {"a_n1": plan("openai", 4), "b_n1": plan("my-own", 2), "c_n1": plan("openai", 3)}
    limits = capacity.limits(plans.values())
    assert limits == {"agent_slots": 5, "agent_slots_openai": 3, "agent_slots_my_own": 2}
    needs = capacity.needs(limits, plans.__getitem__)
    taken = {name: need if need == 1 else need(SimpleNamespace(matrix="b_n1")) for name, need in needs.items()}
    assert taken == {"agent_slots": 1, "agent_slots_openai": 0, "agent_slots_my_own": 1}


def test_the_load_a_launch_records_is_the_smallest_of_what_limits_it():
    given = {"agent_slots": 3, "agent_slots_openai": 8, "_cores": 2, "_nodes": 50}
    workflow = SimpleNamespace(global_resources=given, local_exec=True)
    assert capacity.concurrency(workflow, plan("openai", 8)) == 3
    given |= {"agent_slots": 100, "agent_slots_openai": 99}
    assert capacity.concurrency(workflow, plan("openai", 8)) == 7
    workflow.local_exec = False
    assert capacity.concurrency(workflow, plan("openai", 8)) == 50


def test_a_job_may_take_every_attempt_and_a_margin():
    made = matrix()
    made = replace(made, protocol=replace(made.protocol, timeout=90.0, attempts=3))
    assert capacity.minutes(made) == 5 + capacity.MARGIN
    [name, validator] = next(iter(made.validators.items()))
    assert capacity.minutes(made, name) == -(-validator.timeout // 60) + capacity.MARGIN
