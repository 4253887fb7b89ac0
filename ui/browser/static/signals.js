// The list of what was said of answers. Python writes what it shows.
const EVENTS = ["list", "erase", "confirm"];

const show = panel("list", (button) => {
  const {action, signal, shown} = button.dataset;
  if (!EVENTS.includes(action)) return;
  button.disabled = true;
  trigger(action, {signal: Number(signal) || null, shown: Number(shown) || null, conversation: conversation()});
});
follow((value) => show(value.html));
