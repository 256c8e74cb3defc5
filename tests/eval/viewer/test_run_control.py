"""Playing: the same bytes as everywhere else, and calls in any order that never break an episode."""

import numpy as np
import pytest

from eval.viewer.run import Run
from eval.viewer.session import ViewerSession
from mcrl.rollout.episodes import TaskListSource
from policies.action_codec import decode, encode
from policies.decoding import Decoding
from policies.expert import ExpertAgent
from task_synthesis.playing.task_env import Outcome, TaskEnv
from tests.eval.viewer.made_goals import WORLD, mark_ground, place_cow
from worlds.types import BUTTON_INDEX
from worlds.voxel.backend import VoxelBackend


def to_the_end(session: ViewerSession) -> None:
    while not session.run.run.is_over:
        session.run.step()


@pytest.fixture
def marked(session: ViewerSession) -> ViewerSession:
    """A session with a goal."""
    mark_ground(session)
    return session


@pytest.mark.parametrize("skill", ["break", "approach"])
def test_a_run_is_the_episode_that_a_task_env_plays(marked, skill):
    """Tick by tick here, four ticks at once there: goal, views, actions, outcome and age are the same bytes."""
    marked.goal.choose_skill(skill)
    marked.run.choose_player("expert")
    marked.run.reset()
    run = marked.run.run
    backend = VoxelBackend(1, size_blocks=WORLD.size_blocks, image_px=(128, 128))
    env = TaskEnv(backend, TaskListSource([marked.goal.task()]), action_repeat=4)
    agent = ExpertAgent(env)
    observation = env.reset()
    np.testing.assert_array_equal(observation.goals[0].image_HWC, run.goal.image_HWC)
    np.testing.assert_array_equal(observation.goals[0].mask_HW, run.goal.mask_HW)
    outcome = Outcome.RUNNING
    while outcome == Outcome.RUNNING:
        np.testing.assert_array_equal(observation.image_EHWC, run.last.image_EHWC)
        actions = agent.act(observation)
        transition = env.step(actions)
        marked.run.step()
        np.testing.assert_array_equal(actions.buttons_EB, run.actions.buttons_EB)
        np.testing.assert_array_equal(actions.camera_deg_E2, run.actions.camera_deg_E2)
        np.testing.assert_array_equal(transition.final_image_EHWC, run.last.image_EHWC)
        observation, outcome = transition.observation, Outcome(int(transition.outcome_E[0]))
    assert run.outcome == outcome == Outcome.SUCCESS
    assert run.ticks == transition.episode_ticks_E[0]


def test_the_world_stands_where_the_episode_ended_and_changes_tell_the_broken_block(marked):
    marked.run.choose_player("expert")
    marked.run.reset()
    assert marked.changes().is_new_world
    target = marked.goal.draft.target.position
    to_the_end(marked)
    changes = marked.changes()
    assert [tuple(cell) for cell in changes.cell_N3.tolist()] == [target]
    assert changes.state_N.tolist() == [0]
    frame = marked.run.frame()
    assert frame.outcome == "success"
    assert "break grass block" in frame.reason
    assert all(frame.milestones.values())
    assert len(marked.scene().path) == frame.ticks + 1
    marked.run.leave()
    assert [tuple(cell) for cell in marked.changes().cell_N3.tolist()] == [target]


def test_time_passes_as_the_speed_says_and_stands_still_in_a_pause(marked):
    marked.run.choose_player("noop")
    marked.run.play()
    assert sum(marked.tick(0.05 * index) for index in range(21)) == 21
    marked.run.set_speed(2.0)
    assert sum(marked.tick(2.0 + 0.05 * index) for index in range(21)) == 41
    marked.run.pause()
    assert marked.tick(100.0) == 0
    marked.run.play()
    assert marked.tick(1000.0) == 1
    assert marked.tick(2000.0) <= 20


def test_a_policy_shows_what_it_believes_and_the_same_seed_plays_the_same(marked):
    marked.run.choose_player("small")
    ends = []
    for _ in range(2):
        marked.run.reset(seed=5)
        for _ in range(6):
            marked.run.step()
        frame = marked.run.frame()
        assert len(frame.values) == 6
        assert 0 <= frame.belief.visibility <= 1
        assert all(0 <= part <= 1 for part in (*frame.belief.centre, *frame.belief.box))
        ends.append(frame.image_HWC)
    np.testing.assert_array_equal(*ends)


def test_showing_what_a_policy_believes_changes_nothing_of_what_it_does(marked):
    from policies.agent import PolicyAgent
    from task_synthesis.playing.task_env import Observation

    marked.run.choose_player("small")
    marked.run.reset(seed=3)
    run: Run = marked.run.run
    loaded = run.casting.loaded
    agent = PolicyAgent(loaded.policy, 1, seed=3, precision=loaded.config.precision)
    for step in range(8):
        observation = Observation(
            image_EHWC=run.last.image_EHWC.copy(),
            first_E=np.array([step == 0]),
            goals=[run.goal],
            tasks=[run.plan.task],
            target_E7=run.last.target_E7,
        )
        actions = agent.act(observation)
        marked.run.step()
        np.testing.assert_array_equal(actions.buttons_EB, run.actions.buttons_EB)
        np.testing.assert_array_equal(actions.camera_deg_E2, run.actions.camera_deg_E2)


def test_a_person_takes_over_and_the_policy_remembers_what_was_done(marked):
    marked.run.choose_player("small")
    marked.run.reset(seed=1)
    marked.run.step()
    marked.run.take_over()
    marked.run.hold(["forward", "sprint"])
    marked.run.turn(8.0, 2.0)
    marked.run.step()
    run = marked.run.run
    assert run.is_by_hand
    assert run.actions.buttons_EB[0, BUTTON_INDEX["forward"]]
    carried_out = encode(run.actions)
    np.testing.assert_array_equal(run.player._agent.previous_action_EA, carried_out)
    np.testing.assert_array_equal(decode(carried_out).camera_deg_E2, run.actions.camera_deg_E2)
    marked.run.hand_back()
    marked.run.step()
    assert not marked.run.frame().is_by_hand
    assert run.trace.is_by_hand == [False, True, False]


def test_a_person_alone_plays_tick_by_tick_and_a_tap_between_two_ticks_counts(marked):
    marked.run.choose_player("human")
    marked.run.reset()
    marked.run.hold(["hotbar.3"])
    marked.run.hold([])
    marked.run.step()
    assert marked.run.frame().ticks == 1
    assert marked.run.frame().selected == 2
    marked.run.step()
    assert marked.run.frame().buttons == ()
    with pytest.raises(ValueError, match="nobody to hand back to"):
        marked.run.hand_back()
    with pytest.raises(ValueError, match="'jmp' is no button"):
        marked.run.hold(["jmp"])
    with pytest.raises(ValueError, match="within 180"):
        marked.run.turn(float("nan"), 0.0)


def test_the_goal_is_exchanged_in_the_middle_of_an_episode(marked):
    marked.run.choose_player("expert")
    marked.run.reset()
    for _ in range(3):
        marked.run.step()
    first = marked.goal.draft.target.position
    marked.goal.click_goal(170, 100)
    second = marked.goal.draft.target.position
    assert second != first
    marked.run.send_goal()
    frame = marked.run.frame()
    np.testing.assert_array_equal(frame.goal.mask_HW, marked.goal.view(128).mask_HW)
    to_the_end(marked)
    assert marked.run.frame().outcome == "success"
    block_XZY = marked.run.run.engine.state.terrain.block_EXZY[0]
    assert block_XZY[second[0], second[2], second[1]] == 0
    assert block_XZY[first[0], first[2], first[1]] >> 12 == 0


def test_a_goal_of_another_world_cannot_be_sent_into_a_run(marked):
    marked.run.choose_player("noop")
    marked.run.reset()
    marked.run.step()
    marked.goal.open_world(marked.goal.draft.world.__class__(seed=3, size_blocks=(64, 64, 64), detail="plain"))
    mark_ground(marked)
    with pytest.raises(ValueError, match="of another world"):
        marked.run.send_goal()
    marked.run.step()


def test_clearing_the_memory_makes_a_policy_start_afresh(marked):
    marked.run.choose_player("small")
    marked.run.reset(seed=1)
    for _ in range(3):
        marked.run.step()
    marked.run.clear_memory()
    assert marked.run.run._observation().first_E[0]
    marked.run.step()
    assert not marked.run.run._observation().first_E[0]


def test_decoding_is_for_policies_and_plays(marked):
    decoding = Decoding(temperature=0.0, guidance=1.5)
    marked.run.choose_player("small", decoding=decoding)
    assert marked.run.decoding == decoding
    marked.run.step()
    assert marked.run.frame().ticks == 4
    with pytest.raises(ValueError, match="temperature is for policies, expert is none"):
        marked.run.choose_player("expert", decoding=decoding)
    assert marked.run.player == "small"


def test_a_hunt_is_played_to_its_end(session):
    place_cow(session)
    session.click((32.0, 60.0, 32.0), (0.0, -1.0, 0.0))
    session.goal.choose_target(
        next(
            hit
            for row in range(100, 180, 4)
            for hit in [session.goal.desk.hit_in_view(session.goal.draft.goal_view, row, 128, 256)]
            if hit.kind == "cow"
        )
    )
    session.run.choose_player("expert")
    session.run.reset()
    to_the_end(session)
    assert session.run.frame().outcome == "success"
    assert session.scene().target_feet is None


def test_two_players_play_the_same_goal_side_by_side(marked):
    marked.run.choose_player("expert")
    marked.rival.choose_player("small")
    marked.run.reset()
    marked.rival.reset()
    np.testing.assert_array_equal(
        marked.run.run.engine.state.terrain.block_EXZY, marked.rival.run.engine.state.terrain.block_EXZY
    )
    marked.run.play()
    marked.rival.play()
    for index in range(60):
        marked.tick(0.05 * index)
    scene = marked.scene()
    assert scene.rival != scene.agent
    assert len(scene.rival_path) > 10  # a policy may end its episode sooner than the expert does


def test_nobody_takes_over_an_episode_that_is_over(marked):
    marked.run.play()
    for index in range(10_000):
        marked.tick(0.05 * index)
        if marked.run.run.is_over:
            break
    with pytest.raises(ValueError, match="the episode is over; reset to begin again"):
        marked.run.take_over()


@pytest.mark.parametrize("name", ["step", "frame", "take_over", "hand_back", "clear_memory", "send_goal"])
def test_without_a_goal_nothing_can_be_played_and_the_sentence_says_so(session, name):
    with pytest.raises(ValueError, match="goal|nothing has been begun"):
        getattr(session.run, name)()
    assert session.run.run is None
    assert session.tick(1.0) == 0


def test_a_checkpoint_that_is_none_leaves_the_player_as_it_was(marked, tmp_path):
    (tmp_path / "state.json").write_text("{}")
    for place in ("nobody", str(tmp_path)):
        with pytest.raises(ValueError, match=r"no such checkpoint|not the state of an mcrl checkpoint"):
            marked.run.choose_player(place)
    assert marked.run.player == "human"


def test_beginning_again_in_the_same_engine_is_the_same_episode_and_a_refused_one_changes_nothing(marked):
    marked.run.choose_player("random")
    ends = []
    for is_left in (False, False, True, False, True):
        marked.run.reset(seed=2)
        for _ in range(5):
            marked.run.step()
        ends.append((marked.run.frame().image_HWC, marked.run.run.engine.state.bodies.position_E3.copy()))
        if is_left:
            marked.leave()
    for image_HWC, place_13 in ends[1:]:
        np.testing.assert_array_equal(image_HWC, ends[0][0])
        np.testing.assert_array_equal(place_13, ends[0][1])
    marked.run.reset(seed=2)
    marked.run.step()
    before, run = marked.run.frame(), marked.run.run
    with pytest.raises(ValueError, match="must not be negative"):
        marked.run.reset(seed=-1)
    marked.goal.open_world(WORLD)
    with pytest.raises(ValueError, match="goal"):
        marked.run.reset()
    assert marked.run.run is run
    np.testing.assert_array_equal(marked.run.frame().image_HWC, before.image_HWC)
    marked.run.step()
