"""Every command with its line of help, by what one wants to do."""

GROUPS = {
    "Solve": {
        "solve": "Solve a game exactly: values of positions and moves.",
        "respond": "Alternate best responses until both players stand still.",
        "plan": "Plan in an MDP file: the best value and action of every state.",
        "prove": "Prove a game's result and write the strategy as a book.",
        "verify": "Check a book independently of the prover.",
        "book": "Prove all positions after some plies: an opening book.",
        "encode": "Turn a player's states and the opponent's policy into an MDP file.",
        "decode": "Turn a plan into an Anti-Tic-Tac-Toe policy file.",
    },
    "Search": {
        "search": "Find a good move by tree search or by depth-limited search.",
        "playouts": "Play random games at full speed.",
        "bandits": "Compare exploration policies on multi-armed bandits.",
    },
    "Learn": {
        "learn": "Learn a game by playing it, with a curve and checkpoints.",
    },
    "Play": {
        "play": "Play in the terminal.",
        "serve": "Serve the page: play, and see what every move is worth.",
        "match": "Play a match of two agents: the score with an interval.",
        "tournament": "Play every agent against every other: cross table and Elo.",
        "evaluate": "Let an agent play a game for one: mean and distribution.",
        "engine": "Be an engine: lines of JSON on stdin and stdout.",
        "convert": "Convert files of games to and from what others use.",
        "accuracy": "Count how often an agent's moves keep the exact value.",
    },
    "Look at a game, or write one": {
        "games": "List the games, their parameters and what they know.",
        "show": "Draw a position and list its moves.",
        "new": "Write a starter file for a game of your own.",
        "check": "Check that a game keeps its contract.",
        "perft": "Count paths and positions by depth.",
        "states": "List the states of a game in which a player moves, or count all.",
    },
    "The rest": {
        "reproduce": "Reproduce the five systems: tables, plots, one HTML page.",
        "bench": "Measure speed beside other libraries that are installed.",
        "cache": "Show or clear the folder of compiled kernels.",
    },
}
COMMANDS = {name: line for commands in GROUPS.values() for name, line in commands.items()}
