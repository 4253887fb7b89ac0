"""Forgetting in a host that runs: `ui.forgetting.Forgetter` over HTTP."""

from typing import cast

from app.host.connection import HostConnection
from engine.forgetting import Forgotten, Wanted
from engine.runtime import wire


class RemoteForgetting:
    """Who opened the connection closes it."""

    def __init__(self, connection: HostConnection) -> None:
        self._connection = connection

    def preview_forgetting(self, wanted: Wanted) -> Forgotten:
        return cast(Forgotten, self._connection.call("preview_forgetting", wanted=wire.to_plain(wanted)))

    def forget(self, wanted: Wanted) -> Forgotten:
        return cast(Forgotten, self._connection.call("forget", wanted=wire.to_plain(wanted)))
