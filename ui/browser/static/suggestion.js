// What the agent suggests by itself. It is asked for at the start and after a turn, never within one.
const EVENTS = ["look", "answer"];
const WAIT_MS = 2000;
const body = part("body");
let waiting = 0, wasRunning = false;

const lookSoon = () => { clearTimeout(waiting); waiting = setTimeout(() => trigger("look", {}), WAIT_MS); };

follow((value) => {
  if (body.html !== value.html) body.innerHTML = body.html = value.html || "";
});
hear("running", ({running}) => {
  part("root").hidden = Boolean(running);
  if (running) clearTimeout(waiting);
  else if (wasRunning) lookSoon();
  wasRunning = Boolean(running);
});
element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-suggestion]");
  if (!button || button.disabled) return;
  body.querySelectorAll("button").forEach((one) => { one.disabled = true; });
  trigger("answer", {suggestion: Number(button.dataset.suggestion), accepts: button.dataset.accepts === "true"});
});
lookSoon();
