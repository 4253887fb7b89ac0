// What every script of the page shares. `element`, `trigger`, `props` and `watch` are Gradio's.
const conversation = () => document.body.dataset.conversation || null;
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(`macaron:${name}`, {detail}));
const hear = (name, listener) => document.addEventListener(`macaron:${name}`, (event) => listener(event.detail || {}));
const isComposing = (event) => event.isComposing || event.keyCode === 229;
const part = (name) => element.querySelector(`[data-part="${name}"]`);
const follow = (show) => { watch("value", () => show(props.value || {})); show(props.value || {}); };
