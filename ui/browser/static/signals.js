// The list of what was said of answers, above everything else. Python writes what it shows.
const EVENTS = ["list", "erase", "confirm"];
const dialog = part("dialog"), body = part("body");

part("opener").addEventListener("click", () => {
  dialog.showModal();
  trigger("list", {});
});
part("close").addEventListener("click", () => dialog.close());
// Esc closes the list and nothing else: below it, the same key would stop an answer.
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
  button.disabled = true;
  trigger(button.dataset.action, {
    signal: Number(button.dataset.signal) || null,
    shown: Number(button.dataset.shown) || null,
    conversation: conversation(),
  });
});
