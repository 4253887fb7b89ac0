// Where messages are written. Enter sends, Shift+Enter starts a new line, an input method's Enter does neither.
const EVENTS = ["send", "better", "stop", "refuse"];
const text = part("text"), files = part("files"), editing = part("editing"), picker = part("picker");
const send = part("send"), stop = part("stop"), lost = part("lost");
const LOOK_EVERY_MS = 4000;
let attached = [], pasted = [], edits = null, corrects = null, sent = null;
let isRunning = false, hasBegun = false, looking = null;

function grow() {
  text.style.height = "auto";
  text.style.height = `${Math.min(text.scrollHeight, 0.4 * window.innerHeight)}px`;
}

function put(value) { text.value = value; grow(); text.focus(); }

function drawFiles() {
  files.replaceChildren(...attached.map((file, index) => {
    const chip = Object.assign(document.createElement("button"), {type: "button", className: "file"});
    chip.textContent = `${file.name} ×`;
    chip.setAttribute("aria-label", `${files.dataset.remove} ${file.name}`);
    chip.addEventListener("click", () => { attached.splice(index, 1); drawFiles(); });
    return chip;
  }));
}

// `turn`: whose message is written anew; `answered`: whose answer is, to be noted and not sent.
function edit(turn, value, answered = null) {
  edits = turn;
  corrects = answered;
  editing.hidden = !turn && !answered;
  part("aim").textContent = answered ? editing.dataset.answer : editing.dataset.message;
  put(value);
}

function submit() {
  if (isRunning || (!text.value.trim() && !attached.length)) return;
  if (corrects && !text.value.trim()) return;
  sent = {text: text.value, files: attached, edits, turn: corrects, pasted, conversation: conversation()};
  hasBegun = false;
  lost.hidden = true;
  setRunning(true);
  tell("sent");
  trigger(corrects ? "better" : "send", sent);
  attached = [];
  drawFiles();
  edit(null, "");
}

function setRunning(running) {
  isRunning = running;
  send.hidden = running;
  stop.hidden = !running;
  if (running && !looking) looking = setInterval(look, LOOK_EVERY_MS);
  if (!running) looking = clearInterval(looking);
}

function giveBack() {
  if (!sent || text.value) return;
  attached = sent.files;
  drawFiles();
  edit(sent.edits, sent.text, sent.turn);
}

// Whether the page's own program still answers; where it does not, no event will ever say so.
async function look() {
  const answers = await fetch("gradio_api/app_id", {cache: "no-store"}).then((answer) => answer.ok, () => false);
  if (answers || !isRunning) return;
  setRunning(false);
  lost.hidden = false;
  if (!hasBegun) giveBack();
}

async function attach(list) {
  const limit = Number(files.dataset.maxBytes);
  for (const file of list) {
    try {
      if (file.size > limit) throw new RangeError("size");
      const read = new TextDecoder("utf-8", {fatal: true}).decode(await file.arrayBuffer());
      if (read.includes("\0")) throw new TypeError("binary");
      attached.push({name: file.name, text: read});
    } catch (error) {
      trigger("refuse", {name: file.name, reason: error instanceof RangeError ? "size" : "kind"});
    }
  }
  drawFiles();
}

text.addEventListener("input", grow);
text.addEventListener("paste", (event) => pasted.push(event.clipboardData.getData("text/plain")));
text.addEventListener("drop", (event) => {
  if (event.dataTransfer.files.length) { event.preventDefault(); attach(event.dataTransfer.files); }
  else pasted.push(event.dataTransfer.getData("text/plain"));
});
text.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
  event.preventDefault();
  submit();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || isComposing(event)) return;
  if (edits || corrects) edit(null, "");
  else if (isRunning) trigger("stop", {});
});
send.addEventListener("click", submit);
stop.addEventListener("click", () => trigger("stop", {}));
part("attach").addEventListener("click", () => picker.click());
part("cancel").addEventListener("click", () => edit(null, ""));
picker.addEventListener("change", () => { attach(picker.files); picker.value = ""; });

hear("edit", ({turn, text: value}) => edit(turn, value));
hear("correct", ({turn, text: value}) => edit(null, value, turn));
hear("opened", () => edit(null, text.value));
hear("running", ({running, refused}) => {
  setRunning(running);
  hasBegun ||= running;
  if (refused) giveBack();
  if (!running) sent = null;
});
