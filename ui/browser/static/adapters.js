// The panel of adapters. What it shows is written by Python; here is only who is asked what.
const EVENTS = ["list", "show", "ask", "agree"];

const show = panel("list", (button) => {
  const {action, adapter, change, shown} = button.dataset;
  if (!EVENTS.includes(action)) return;
  button.disabled = true;
  trigger(action, {adapter, change, shown: Number(shown) || null});
});
follow((value) => show(value.html));
