"""A host's API on loopback over the real starter model, loaded once, and a client of it.

No gate is in front: who may ask is not this API's affair.
"""

import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
import uvicorn
from fastapi import FastAPI
from openai import OpenAI

from app.host.service import Service
from app.openai_api import openai_router
from app.opening import open_store
from app.paths import Paths, make_home
from app.settings import Settings
from engine.store import Store
from tests.support.models import starter_base


@dataclass(frozen=True, slots=True)
class Api:
    service: Service
    store: Store
    url: str
    """With /v1."""

    @property
    def engine_pid(self) -> int | None:
        return self.service.runtime.process_id


@pytest.fixture(scope="package")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    starter_base()
    paths = Paths(tmp_path_factory.mktemp("api") / "home")
    make_home(paths)
    with open_store(paths) as store:
        service = Service(paths, store, Settings(threads=2))
        app = FastAPI()
        app.include_router(openai_router(service))
        with serving(app) as port:
            service.preload().result()
            yield Api(service, store, f"http://127.0.0.1:{port}/v1")
        service.close()


@pytest.fixture
def client(api: Api) -> Iterator[OpenAI]:
    with OpenAI(base_url=api.url, api_key="any", max_retries=0, timeout=100) as opened:
        yield opened


class serving:
    """`with serving(app) as port`: uvicorn in a thread, on a free loopback port."""

    def __init__(self, app: FastAPI) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="off"))
        self._thread = threading.Thread(target=self._server.run, args=([self._socket],), daemon=True)

    def __enter__(self) -> int:
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        return int(self._socket.getsockname()[1])

    def __exit__(self, *_: object) -> None:
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()
