"""A server over standard input and output that does what it is told, and nothing of what the SDK would keep it to.

Run as `python raw_server.py PLAN`, where PLAN is JSON. `tools` is a list of names or of whole tools; a call of a tool
does what `does` says under its name, and without that repeats its arguments. No module of ours is imported.
"""

import json
import os
import subprocess
import sys
import time


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


class Server:
    def __init__(self, plan):
        self.plan = plan
        listed = plan.get("tools", ["echo"])
        if os.path.exists("died"):
            listed = plan.get("after_death", listed)
        self.tools = [self.tool(one) for one in listed]

    def tool(self, one):
        return (
            {"name": one, "description": f"It does {one}.", "inputSchema": {"type": "object"}}
            if isinstance(one, str)
            else one
        )

    def answer(self, message):
        number, params = message["id"], message.get("params", {})
        match message["method"]:
            case "initialize":
                if self.plan.get("silent"):
                    return
                send({"id": number, "result": self.greeting(params)})
            case "tools/list":
                self.list(number, params)
            case "tools/call":
                self.call(number, params)
            case _:
                send({"id": number, "error": {"code": -32601, "message": "Method not found"}})

    def greeting(self, params):
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "raw", "version": "1"},
        }

    def list(self, number, params):
        if self.plan.get("deaf_to_lists") and self.listed_once():
            return
        size = self.plan.get("page", 10**9)
        start = int(params.get("cursor") or 0)
        result = {"tools": self.tools[start : start + size]}
        if start + size < len(self.tools):
            result["nextCursor"] = str(start + size)
        send({"id": number, "result": result})

    def listed_once(self):
        before, self.was_listed = getattr(self, "was_listed", False), True
        return before

    def call(self, number, params):
        name, arguments = params["name"], params.get("arguments", {})
        match self.plan.get("does", {}).get(name):
            case None:
                send({"id": number, "result": text(json.dumps(arguments, ensure_ascii=False))})
            case "die":
                print("about to fall over", file=sys.stderr, flush=True)
                with open("died", "w", encoding="utf-8"):
                    os._exit(7)
            case "hang":
                self.hung = number
            case "progress":
                for step in range(1, 7):
                    time.sleep(0.5)
                    token = params["_meta"]["progressToken"]
                    told = {"progressToken": token, "progress": step, "total": 6, "message": f"step {step}"}
                    send({"method": "notifications/progress", "params": told})
                send({"id": number, "result": text("done")})
            case "huge":
                send({"id": number, "result": text("x" * arguments["size"])})
            case "huge_with_the_id_last":
                result = json.dumps(text("x" * arguments["size"]))
                sys.stdout.write('{"result":' + result + ',"jsonrpc":"2.0","id":' + str(number) + "}\n")
                sys.stdout.flush()
            case "environment":
                send({"id": number, "result": text(json.dumps(dict(os.environ)))})
            case "complain":
                sys.stderr.write("oh no\n" * 100_000)
                sys.stderr.flush()
                send({"id": number, "result": text("complained")})
            case "babble":
                print("Welcome to the server!", flush=True)
                print('{"half": ', flush=True)
                send({"id": number, "result": text("fine")})
            case "babble_for_ever":
                while True:
                    print("la " * 1000, flush=True)
            case "change":
                self.tools = [self.tool(one) for one in self.plan["then"]]
                if self.plan.get("tells", True):
                    send({"method": "notifications/tools/list_changed"})
                send({"id": number, "result": text("changed")})
            case "not_a_result":
                send({"id": number, "result": {"content": 5}})
            case "refuse":
                send({"id": number, "error": {"code": -32602, "message": "no such city"}})
            case "have_a_child":
                child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
                send({"id": number, "result": text(str(child.pid))})
            case result:
                send({"id": number, "result": result})

    def heard(self, message):
        if message["method"] == "notifications/cancelled":
            with open("cancelled", "w", encoding="utf-8") as file:
                file.write(str(message["params"]["requestId"] == getattr(self, "hung", None)))


def main():
    server = Server(json.loads(sys.argv[1]))
    print("the server is up", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            server.answer(message)
        elif "method" in message:
            server.heard(message)
    while server.plan.get("stubborn"):
        time.sleep(1)


if __name__ == "__main__":
    if json.loads(sys.argv[1]).get("stubborn"):
        import signal

        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    main()
