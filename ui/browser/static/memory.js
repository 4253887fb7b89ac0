// The panel of memories. What it shows is written by Python; here is only who is asked what, and with which words.
const EVENTS = ["list", "show", "ask", "decide", "keep", "rest", "report"];

const show = panel("list", (button) => {
  const {action, memory, change, state, shown, paused} = button.dataset;
  if (!EVENTS.includes(action)) return;
  button.disabled = true;
  const field = button.form ? button.form.querySelector("input") : null;
  const text = field ? field.value : null;
  trigger(action, {memory: Number(memory) || null, change, state, shown: Number(shown) || null, paused: paused === "1", text});
});
// Enter in a field presses the button beside it and does nothing else.
part("dialog").addEventListener("submit", (event) => event.preventDefault());
follow((value) => show(value.html));
