"""The values of what lies beyond the steps of a ring's groups. E envs a group, N some of them."""

from collections.abc import Sequence

import numpy as np

from mcrl.dataflow.inference.stream import InferenceStream, ValueRequest
from mcrl.dataflow.rings.group import Group, Stepped


def bootstrap_values(
    inference: InferenceStream, stepped: Sequence[tuple[Group, Stepped]], *, worker_id: int, fragment_steps: int
) -> list[np.ndarray | None]:
    """Return float32 [E] for each: the value beyond the step where the world goes on unseen, 0 elsewhere.

    None where the host that could tell is gone.
    """
    values: list[np.ndarray | None] = []
    requests: dict[int, ValueRequest] = {}
    for index, (group, result) in enumerate(stepped):
        transition = result.transition
        values.append(np.zeros(len(transition.truncated_E), np.float32))
        is_last = group.num_recorded == fragment_steps - 1
        if not is_last and not transition.truncated_E.any():
            continue
        is_open_E = transition.truncated_E | (is_last & ~transition.terminated_E)
        env_N = np.flatnonzero(is_open_E & transition.is_valid_E)
        image_NHWC = transition.final_image_EHWC[env_N]
        if len(env_N):
            key = (worker_id, group.index)
            requests[index] = ValueRequest(group=key, image_NHWC=image_NHWC, env_N=env_N)
    if requests:
        answers = inference.values(list(requests.values()))
        for (index, request), value_N in zip(requests.items(), answers, strict=True):
            value_E = values[index]
            if value_N is None or value_E is None:
                values[index] = None
            else:
                value_E[request.env_N] = value_N
    return values
