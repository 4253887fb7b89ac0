// What every script of the page shares. `element`, `trigger`, `props` and `watch` are Gradio's.
const conversation = () => document.body.dataset.conversation || null;
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`macaron:${name}`, {detail}));
const hear = (name, listener) => document.addEventListener(`macaron:${name}`, (event) => listener(event.detail || {}));
const isComposing = (event) => event.isComposing || event.keyCode === 229;
const part = (name) => element.querySelector(`[data-part="${name}"]`);
const follow = (show) => { watch("value", () => show(props.value || {})); show(props.value || {}); };
// A panel above everything else. Its button opens it and asks for `first`; Esc, its own button and a click beside it close
// it. `press` is told of buttons in it. What is returned shows text that Python wrote.
const panel = (first, press) => {
  const dialog = part("dialog"), body = part("body");
  part("opener").addEventListener("click", () => {
    dialog.showModal();
    trigger(first, {});
  });
  part("close").addEventListener("click", () => dialog.close());
  // Esc closes the panel and nothing else: below it, the same key would stop an answer.
  dialog.addEventListener("keydown", (event) => { if (event.key === "Escape") event.stopPropagation(); });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
    const button = event.target.closest("[data-action]");
    if (button) press(button, dialog);
  });
  return (html) => {
    if (!html || body.html === html) return;
    body.innerHTML = body.html = html;
    if (dialog.open) dialog.focus();
  };
};
