// The panel of teaching, above everything else, and a line below its button. Python writes what it shows; while a lesson
// runs it is asked every second where that is.
const EVENTS = ["status", "look", "propose", "learn", "stop", "use", "undo"];
const dialog = part("dialog"), body = part("body"), bar = part("bar");
let timer = null;

part("opener").addEventListener("click", () => {
  dialog.showModal();
  trigger("look", {});
});
part("close").addEventListener("click", () => dialog.close());
// Esc closes the panel and nothing else: below it, the same key would stop an answer.
dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") event.stopPropagation(); });

follow((value) => {
  if (value.html && body.html !== value.html) {
    body.innerHTML = body.html = value.html;
    if (dialog.open) dialog.focus();
  }
  const isRunning = Boolean(value.running);
  for (const line of [part("line"), part("progress")]) line.textContent = value.line || "";
  part("progress").hidden = bar.hidden = !isRunning;
  if (value.total) Object.assign(bar, {max: value.total, value: value.done});
  else bar.removeAttribute("value");
  if (isRunning && !timer) timer = setInterval(() => trigger("status", {}), 1000);
  if (!isRunning && timer) timer = clearInterval(timer);
});
// Another tab may have begun one, or this one before it was loaded again.
trigger("status", {});

dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
  const button = event.target.closest("[data-action]");
  if (!button) return;
  const {action, lesson} = button.dataset;
  if (action === "close") dialog.close();
  const asked = action === "again" ? "propose" : action;
  if (EVENTS.includes(asked)) trigger(asked, {lesson});
});
