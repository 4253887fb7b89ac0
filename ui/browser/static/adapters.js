// The panel of adapters, above everything else. What it shows is written by Python; here is only who is asked what.
const EVENTS = ["list", "show", "ask", "agree"];
const dialog = part("dialog"), body = part("body");

part("opener").addEventListener("click", () => {
  dialog.showModal();
  trigger("list", {});
});
part("close").addEventListener("click", () => dialog.close());
// Esc closes the panel and nothing else: below it, the same key would stop an answer.
dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") event.stopPropagation(); });

follow((value) => {
  if (!value.html || body.html === value.html) return;
  body.innerHTML = body.html = value.html;
  if (dialog.open) dialog.focus();
});

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
  const button = event.target.closest("[data-action]");
  if (!button || !EVENTS.includes(button.dataset.action)) return;
  const {action, adapter, change} = button.dataset;
  button.disabled = true;
  trigger(action, {adapter, change, shown: Number(button.dataset.shown) || null});
});
