"""Train a policy of another library in our environment, and let it play a match here.

MaskablePPO of sb3-contrib (pip install sb3-contrib) learns Tic-Tac-Toe against random moves; ten seconds.
"""

import gymnasium
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from mdplay import make, match
from mdplay.adapters.spaces import ModelAgent

ENVIRONMENT = "mdplay.adapters.gym:mdplay/TicTacToe-v0"
STEPS = 12_000


def main() -> None:
    """Train for a while, and compare before and after."""
    envs = make_vec_env(lambda: gymnasium.make(ENVIRONMENT, opponent="random"), n_envs=8, seed=1)
    model = MaskablePPO("MlpPolicy", envs, n_steps=128, batch_size=256, gamma=1.0, seed=1, device="cpu")
    game = make("tic-tac-toe")
    agent = ModelAgent(game, model)
    before = match(game, agent, "random", games=200, openings="none").tally.score
    model.learn(total_timesteps=STEPS)
    after = match(game, agent, "random", games=200, openings="none").tally.score
    print(f"Against random moves: {before:.0%} before, {after:.0%} after {STEPS:,} steps of training")


if __name__ == "__main__":
    main()
