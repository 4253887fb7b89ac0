"""`macaron serve` and `macaron key`: run the host, and the key for other programs."""

import os

from app.gate.secrets import Secrets
from app.host.address import HostAddress
from app.host.process import HostOptions, run_host, run_in_background
from app.host.service import Service
from app.output import print_json, print_note, print_text
from app.paths import Paths, make_home
from app.settings import screen_language
from engine.errors import UsageProblem
from ui.strings import say


def serve(
    paths: Paths, *, profile: str | None, port: int | None, lan: str | None, background: bool, as_json: bool
) -> int:
    """Blocks until the host ends. Raises: HomeBusy when one runs already, and as `run_host`."""
    options = HostOptions(profile, port, _lan_address(lan) if lan else None, is_wanted=not background)
    if background:
        return run_in_background(paths, options)

    def report(address: HostAddress, service: Service) -> None:
        if as_json:
            print_json({"port": address.port, "pid": address.pid, "api": f"{address.url}/v1"})
            return
        language = screen_language(service.settings, os.environ)
        print_text(say("serve.listening", language, address=f"{address.url}/v1"))
        if service.settings.port not in (0, address.port) and port is None:
            print_note(say("serve.port_taken", language, wanted=service.settings.port, port=address.port))
        if options.lan is not None:
            print_text(say("serve.lan", language, address=f"http://{lan}/v1"))
        print_text(say("serve.how", language))

    run_host(paths, options, report)
    return 0


def show_key(paths: Paths, *, rotate: bool) -> str:
    """The API key; with `rotate` a new one, and a new secret of the faces too."""
    make_home(paths)
    secrets = Secrets(paths)
    if not rotate:
        return secrets.api_key.create()
    secrets.face_token.rotate()
    return secrets.api_key.rotate()


def _lan_address(text: str) -> tuple[str, int]:
    """Raises: UsageProblem."""
    address, _, port = text.rpartition(":")
    if not address or not port.isdecimal() or not 0 < int(port) < 65536:
        raise UsageProblem(f"--lan {text} is no address and port.", "Such as 192.168.1.20:7727.")
    return address.strip("[]"), int(port)
