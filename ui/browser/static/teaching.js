// The panel of teaching, and a line below its button. Python writes what it shows; while a lesson runs it is asked every
// second where that is.
const EVENTS = ["status", "look", "propose", "learn", "stop", "use", "undo"];
const bar = part("bar");
let timer = null;

const show = panel("look", (button, dialog) => {
  const {action, lesson} = button.dataset;
  if (action === "close") dialog.close();
  const asked = action === "again" ? "propose" : action;
  if (EVENTS.includes(asked)) trigger(asked, {lesson});
});

follow((value) => {
  show(value.html);
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
