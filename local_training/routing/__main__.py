"""Write the training file of the starter's router: `python -m local_training.routing PROFILE BASE FILE`.

PROFILE is the starter's folder, BASE its GGUF, whose tokens decide what is shown of a long request.
"""

import sys
from pathlib import Path

from engine.adapters.files import put
from engine.router_model import shown_request
from engine.routing.profile import load_profile
from engine.runtime.child import ChildRuntime
from engine.runtime.protocol import LoadPlan, Runtime
from local_training.routing.examples import EXAMPLES, SEED, example_line, route_examples


def training_file(profile_folder: Path, runtime: Runtime, count: int = EXAMPLES, seed: int = SEED) -> bytes:
    """The whole file. `runtime` has the starter's base loaded."""
    profile = load_profile(profile_folder)

    def shown(text: str) -> str:
        return shown_request(text, runtime, profile.route.request_tokens)

    return "".join(map(example_line, route_examples(profile, shown, count, seed))).encode()


def main(profile: Path, base: Path, target: Path) -> None:
    runtime = ChildRuntime()
    try:
        runtime.load(LoadPlan(str(base), context_tokens=1024, pool_tokens=1024, threads=1, max_views=1))
        put(target, [training_file(profile, runtime)])
    finally:
        runtime.close()


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
