"""What every backend must do; inherit and provide `make()` and `episode(seed)`."""

import numpy as np
import pytest

from worlds.types import BUTTON_INDEX, MAX_EVENTS, ActionBatch


class BackendConformance:
    """`make()` returns a backend with two envs; `episode(seed)` an Episode it can play.

    What other engines may be excused from, by overriding: `is_realtime`, time passes between requests, so that nothing
    is equal to the byte, only near; `has_own_masks`, every view comes with instance ids; `pose_blocks`, `pose_deg`, how
    exactly the agent is put at the start.
    """

    is_realtime = False
    has_own_masks = True
    pose_blocks, pose_deg = 1e-6, 1e-6

    def make(self):
        raise NotImplementedError

    def episode(self, seed):
        raise NotImplementedError

    def started(self):
        backend = self.make()
        backend.reset([0, 1], [self.episode(1), self.episode(2)])
        return backend

    def test_tick_batch_has_the_documented_shapes_and_dtypes(self):
        backend = self.started()
        tick = backend.step(ActionBatch.noop(2))
        height, width = backend.image_px
        assert tick.image_EHWC.shape == (2, height, width, 3)
        assert tick.image_EHWC.dtype == np.uint8
        assert tick.instance_EHW.shape == (2, height, width)
        assert tick.instance_EHW.dtype == np.int32
        assert tick.target_E7.shape == (2, 7)
        assert tick.pose_E5.shape == (2, 5)
        assert tick.event_EN4.shape == (2, MAX_EVENTS, 4)
        assert tick.health_E.dtype == np.float32
        assert not tick.is_fault_E.any()

    def test_reset_puts_the_agent_at_the_start(self):
        backend = self.started()
        tick = backend.observe()
        off_5 = np.abs(tick.pose_E5[0] - np.array(self.episode(1).start, float))
        assert (off_5[:3] <= self.pose_blocks).all()
        assert (np.minimum(off_5[3:], 360.0 - off_5[3:]) <= self.pose_deg).all()

    def test_observe_lets_no_time_pass(self):
        self.skip_in_real_time()
        backend = self.started()
        first = backend.observe().image_EHWC.copy()
        assert np.array_equal(backend.observe().image_EHWC, first)

    def test_walking_forward_moves_the_agent(self):
        backend = self.started()
        before = backend.observe().pose_E5.copy()
        actions = ActionBatch.noop(2)
        actions.buttons_EB[:, BUTTON_INDEX["forward"]] = True
        actions.buttons_EB[:, BUTTON_INDEX["jump"]] = True
        for _ in range(10):
            tick = backend.step(actions, num_ticks=3)
        moved_E2 = tick.pose_E5[:, [0, 2]] - before[:, [0, 2]]
        assert (np.abs(moved_E2).max(axis=1) > 0.5).all()
        # Yaw 0 faces +z, 90 faces -x. Who slides along something still does not go backwards.
        yaw_E = np.radians(before[:, 3])
        ahead_E = (moved_E2 * np.stack([-np.sin(yaw_E), np.cos(yaw_E)], 1)).sum(1) / np.linalg.norm(moved_E2, axis=1)
        assert (ahead_E > 0).all()
        assert ahead_E.max() > 0.9

    def test_the_camera_turns_to_the_right_and_down(self):
        backend = self.started()
        before = backend.observe().pose_E5.copy()
        actions = ActionBatch.noop(2)
        down_E = np.where(before[:, 4] > 45.0, -2.0, 2.0)  # up, where there is no more below
        actions.camera_deg_E2[:] = np.stack([down_E, np.full(2, 5.0)], 1)  # a tick
        after = backend.step(actions, num_ticks=4).pose_E5
        slack_deg = max(1.0, self.pose_deg)
        assert (np.abs(after[:, 4] - before[:, 4] - 4 * down_E) < slack_deg).all()
        assert (np.abs((after[:, 3] - before[:, 3] - 20.0 + 180.0) % 360.0 - 180.0) < slack_deg).all()

    def test_same_episode_and_actions_give_the_same_bytes(self):
        self.skip_in_real_time()
        frames = []
        for _ in range(2):
            backend = self.started()
            rng = np.random.default_rng(0)
            for _ in range(5):
                camera_deg_E2 = rng.uniform(-9, 9, (2, 2)).astype(np.float32)
                tick = backend.step(
                    ActionBatch(buttons_EB=rng.random((2, 20)) < 0.3, camera_deg_E2=camera_deg_E2), num_ticks=2
                )
            frames.append((tick.image_EHWC.tobytes(), tick.instance_EHW.tobytes(), tick.pose_E5.tobytes()))
        assert frames[0] == frames[1]

    def test_resetting_one_env_leaves_the_other_where_it_was(self):
        backend = self.started()
        turn = ActionBatch.noop(2)
        turn.camera_deg_E2[:, 1] = 7.0
        before = backend.step(turn, num_ticks=3).pose_E5[1].copy()
        backend.reset([0], [self.episode(3)])
        off_5 = np.abs(backend.observe().pose_E5[1] - before)
        assert (off_5 <= (self.pose_blocks if self.is_realtime else 0.0)).all()

    def test_the_agents_own_view_rendered_from_its_eye_is_what_it_sees(self):
        backend = self.started()
        tick = backend.observe()
        eye_V5 = tick.pose_E5.copy()
        eye_V5[:, 1] += 1.62
        views = backend.render_views([0, 1], eye_V5)
        if self.is_realtime:
            # Clouds and light move on.
            off_VHWC = np.abs(views.image_VHWC.astype(int) - tick.image_EHWC)
            assert np.median(off_VHWC) <= 8
            return
        assert np.array_equal(views.image_VHWC, tick.image_EHWC)
        if self.has_own_masks:
            assert np.array_equal(views.instance_VHW, tick.instance_EHW)

    def skip_in_real_time(self):
        if self.is_realtime:
            pytest.skip("time passes in this engine whether it is asked or not")
