"""What every policy must do; inherit and provide `make()`. E envs, T steps, G goals."""

from dataclasses import dataclass

import torch

from policies import action_codec
from policies.interface import EncodedGoals, Evaluation, Memory, Policy

NUM_ENVS, NUM_STEPS, NUM_GOALS = 3, 21, 5
TOLERANCE = 1e-4


@dataclass
class Play:
    """What NUM_ENVS envs showed and did over NUM_STEPS steps, episodes ending at random."""

    image_ETHWC: torch.Tensor
    goal_image_GHWC: torch.Tensor
    goal_mask_GHW: torch.Tensor
    interaction_G: torch.Tensor
    goal_index_ET: torch.Tensor
    first_ET: torch.Tensor
    previous_action_ETA: torch.Tensor


def random_play(image_px: int, seed: int = 0) -> Play:
    generator = torch.Generator().manual_seed(seed)

    def integers(high, *shape):
        return torch.randint(0, high, shape, generator=generator)

    shape = (NUM_ENVS, NUM_STEPS)
    first_ET = torch.rand(shape, generator=generator) < 0.15
    first_ET[0, 0], first_ET[1, 0] = True, False
    # Env 2 plays one long episode, longer than any test policy's window.
    first_ET[2] = False
    return Play(
        image_ETHWC=integers(256, *shape, image_px, image_px, 3).to(torch.uint8),
        goal_image_GHWC=integers(256, NUM_GOALS, image_px, image_px, 3).to(torch.uint8),
        goal_mask_GHW=torch.rand(NUM_GOALS, image_px, image_px, generator=generator) < 0.2,
        interaction_G=integers(10, NUM_GOALS) - 1,
        goal_index_ET=(first_ET.long().cumsum(1) + torch.arange(NUM_ENVS)[:, None]) % NUM_GOALS,
        first_ET=first_ET,
        previous_action_ETA=torch.stack([integers(size, *shape) for size in action_codec.FACTOR_SIZES], -1),
    )


def awaken(policy: Policy, seed: int = 0, *, scale: float = 0.1) -> Policy:
    """Add noise to every weight: what starts at zero (heads, memory) must not hide from a test."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(scale * torch.randn(parameter.shape, generator=generator))
    return policy.eval()


def encode(policy: Policy, play: Play) -> EncodedGoals:
    return policy.encode_goals(play.goal_image_GHWC, play.goal_mask_GHW, play.interaction_G)


def evaluate(policy: Policy, play: Play, memory: Memory, start: int = 0, stop: int = NUM_STEPS) -> Evaluation:
    return policy.evaluate(
        play.image_ETHWC[:, start:stop],
        encode(policy, play),
        play.goal_index_ET[:, start:stop],
        play.first_ET[:, start:stop],
        play.previous_action_ETA[:, start:stop],
        memory,
    )


def arguments(play: Play, t: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return play.goal_index_ET[:, t], play.first_ET[:, t], play.previous_action_ETA[:, t]


def acted(policy: Policy, play: Play, memory: Memory, start: int = 0, stop: int = NUM_STEPS):
    """Act along the play; return logits [E, T, L], values [E, T], log-probs [E, T], actions and the memory after."""
    generator = torch.Generator().manual_seed(7)
    steps = []
    goals = encode(policy, play)
    for t in range(start, stop):
        step = policy.act(play.image_ETHWC[:, t], goals, *arguments(play, t), memory, generator=generator)
        memory = step.memory
        steps.append(step)
    return (
        torch.stack([step.logits_EL for step in steps], 1),
        torch.stack([step.value_E for step in steps], 1),
        torch.stack([step.log_prob_E for step in steps], 1),
        torch.stack([step.action_EA for step in steps], 1),
        memory,
    )


def copied(memory: Memory) -> Memory:
    return {name: tensor.clone() for name, tensor in memory.items()}


class PolicyConformance:
    """`make()` returns a policy in eval mode whose weights have been awakened."""

    def make(self) -> Policy:
        raise NotImplementedError

    def play(self, policy: Policy) -> Play:
        return random_play(policy.image_px)

    def test_the_value_has_a_module_of_its_own_for_ppo_to_train_first(self):
        names = [name.split(".") for name, parameter in self.make().named_parameters() if parameter.requires_grad]
        assert any("value" in parts for parts in names)
        assert not all("value" in parts for parts in names)

    def test_the_parts_of_goals_have_their_shapes_also_where_they_are_empty(self):
        policy = self.make()
        with torch.no_grad():
            goals = encode(policy, self.play(policy))
        shapes = [part.shape for part in (goals.token_GKD, goals.vector_GD, goals.color_GN3, goals.look_GE)]
        assert [len(shape) for shape in shapes] == [3, 2, 3, 2]
        assert {shape[0] for shape in shapes} == {NUM_GOALS}
        assert goals.color_GN3.shape[2] == 3

    def test_the_heads_have_the_name_by_which_muon_leaves_them_to_adam(self):
        assert any(name.startswith("heads.") for name, _ in self.make().named_parameters())

    def test_acting_gives_the_log_probs_and_values_of_evaluating_across_episode_ends(self):
        policy = self.make()
        play = self.play(policy)
        logits, value, log_prob, action, _ = acted(policy, play, policy.initial_memory(NUM_ENVS))
        with torch.no_grad():
            evaluation = evaluate(policy, play, policy.initial_memory(NUM_ENVS))
        assert logits.std() > 0.05, "the policy answers the same to everything: this test would prove nothing"
        learner_log_prob = action_codec.log_prob(evaluation.logits_BTL, action)
        assert (learner_log_prob - log_prob).abs().max() < TOLERANCE
        assert (evaluation.value_BT - value).abs().max() < TOLERANCE

    def test_two_fragments_with_memory_handed_over_equal_one_long_fragment(self):
        policy = self.make()
        play = self.play(policy)
        *_, memory = acted(policy, play, policy.initial_memory(NUM_ENVS), 0, 10)
        # Fragments keep the memory env by env, as arrays; the learner stacks it again.
        rows = [{name: tensor[env].numpy().copy() for name, tensor in memory.items()} for env in range(NUM_ENVS)]
        stacked = {name: torch.stack([torch.from_numpy(row[name]) for row in rows]) for name in memory}
        with torch.no_grad():
            whole = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).logits_BTL[:, 10:]
            second = evaluate(policy, play, stacked, 10).logits_BTL
        assert (whole - second).abs().max() < TOLERANCE

    def test_memory_matters_within_an_episode(self):
        policy = self.make()
        play = self.play(policy)
        with torch.no_grad():
            before = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).logits_BTL
            play.image_ETHWC[2, -2] = 255 - play.image_ETHWC[2, -2]
            after = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).logits_BTL
        assert (before[2, -1] - after[2, -1]).abs().max() > 1e-4

    def test_memory_never_crosses_the_first_step_of_an_episode(self):
        policy = self.make()
        play = self.play(policy)
        play.first_ET[:, 10] = True
        memory = acted(policy, play, policy.initial_memory(NUM_ENVS), 0, 5)[-1]
        with torch.no_grad():
            before = evaluate(policy, play, copied(memory), 5)
            acted_before = acted(policy, play, copied(memory), 5)[0]
            play.image_ETHWC[:, 5:10] = 255 - play.image_ETHWC[:, 5:10]
            play.previous_action_ETA[:, 10] = 0
            scrambled = {name: tensor.flip(0) for name, tensor in memory.items()}
            after = evaluate(policy, play, scrambled, 5)
            acted_after = acted(policy, play, copied(scrambled), 5)[0]
        assert torch.equal(before.logits_BTL[:, 5:], after.logits_BTL[:, 5:])
        assert torch.equal(before.value_BT[:, 5:], after.value_BT[:, 5:])
        assert torch.equal(acted_before[:, 5:], acted_after[:, 5:])

    def test_act_and_value_leave_the_memory_they_are_given_unchanged(self):
        policy = self.make()
        play = self.play(policy)
        logits, value, _, _, memory = acted(policy, play, policy.initial_memory(NUM_ENVS), 0, 4)
        kept = copied(memory)
        goals = encode(policy, play)
        step = policy.act(play.image_ETHWC[:, 4], goals, *arguments(play, 4), memory)
        peeked_E = policy.value(play.image_ETHWC[:, 4], goals, *arguments(play, 4), memory)
        assert all(torch.equal(memory[name], kept[name]) for name in kept)
        torch.testing.assert_close(peeked_E, step.value_E)

    def test_every_goal_part_changes_the_logits_and_gets_a_gradient(self):
        policy = self.make()
        play = self.play(policy)
        memory = policy.initial_memory(NUM_ENVS)
        goals = encode(policy, play)
        parts = [part for part in (goals.token_GKD, goals.vector_GD) if part.numel()]  # empty: not used
        for part in parts:
            part.retain_grad()
        before = policy.evaluate(
            play.image_ETHWC, goals, play.goal_index_ET, play.first_ET, play.previous_action_ETA, memory
        ).logits_BTL
        before.square().sum().backward()
        assert parts
        assert all(part.grad.abs().max() > 0 for part in parts)
        for part in ("goal_image_GHWC", "goal_mask_GHW", "interaction_G"):
            changed = self.play(policy)
            setattr(changed, part, getattr(changed, part).roll(1, 0))
            with torch.no_grad():
                assert (evaluate(policy, changed, memory).logits_BTL - before).abs().max() > 1e-4, part

    def test_what_the_policy_looked_at_stands_for_the_views(self):
        policy = self.make()
        play = self.play(policy)
        memory, goals = policy.initial_memory(NUM_ENVS), encode(policy, play)
        with torch.no_grad():
            before = evaluate(policy, play, memory).logits_BTL
            valued_E = policy.value(play.image_ETHWC[:, 0], goals, *arguments(play, 0), memory)
            play.image_ETHWC = policy.look(play.image_ETHWC.flatten(0, 1)).unflatten(0, (NUM_ENVS, NUM_STEPS))
            assert (evaluate(policy, play, memory).logits_BTL - before).abs().max() < TOLERANCE
            looked_E = policy.value(play.image_ETHWC[:, 0], goals, *arguments(play, 0), memory)
        assert (looked_E - valued_E).abs().max() < TOLERANCE

    def test_goals_put_into_other_rows_count_like_goals_encoded_there(self):
        policy = self.make()
        play = self.play(policy)
        with torch.no_grad():
            goals = encode(policy, play)
            fresh = policy.encode_goals(
                play.goal_image_GHWC[[4, 0]], play.goal_mask_GHW[[4, 0]], play.interaction_G[[4, 0]]
            )
            goals.put(torch.tensor([1, 2]), fresh)
        torch.testing.assert_close(goals.vector_GD[[1, 2]], goals.vector_GD[[4, 0]], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(goals.token_GKD[[1, 2]], goals.token_GKD[[4, 0]], atol=1e-5, rtol=1e-5)

    def test_one_generator_seed_gives_one_sequence_of_actions(self):
        policy = self.make()
        play = self.play(policy)
        first = acted(policy, play, policy.initial_memory(NUM_ENVS))[3]
        assert torch.equal(first, acted(policy, play, policy.initial_memory(NUM_ENVS))[3])

    def test_an_env_does_not_depend_on_the_others_in_the_batch(self):
        policy = self.make()
        play = self.play(policy)
        with torch.no_grad():
            together = evaluate(policy, play, policy.initial_memory(NUM_ENVS))
            for name in ("image_ETHWC", "goal_index_ET", "first_ET", "previous_action_ETA"):
                setattr(play, name, getattr(play, name)[1:2])
            alone = evaluate(policy, play, policy.initial_memory(1))
        assert (together.logits_BTL[1:2] - alone.logits_BTL).abs().max() < TOLERANCE

    def test_temperature_zero_takes_the_likeliest_actions_whatever_the_generator(self):
        policy = self.make()
        play = self.play(policy)
        goals, memory = encode(policy, play), policy.initial_memory(NUM_ENVS)
        actions = [
            policy.act(
                play.image_ETHWC[:, 0],
                goals,
                *arguments(play, 0),
                memory,
                generator=torch.Generator().manual_seed(seed),
                temperature=0.0,
            ).action_EA
            for seed in (1, 2)
        ]
        assert torch.equal(actions[0], actions[1])

    def test_predictions_of_places_lie_inside_the_picture(self):
        policy = self.make()
        play = self.play(policy)
        with torch.no_grad():
            place = evaluate(policy, play, policy.initial_memory(NUM_ENVS)).auxiliary_BT7[..., 1:]
        assert place.min() >= 0
        assert place.max() <= 1
