// The turns that are over. Only turns whose HTML changed are touched, so that what is selected or open stays so.
const EVENTS = ["ready", "again", "rate", "pick", "select", "earlier", "export"];
const head = part("head"), turns = part("turns"), earlier = part("earlier");
const shown = new Map();

function place(view, index) {
  let box = shown.get(view.turn_id);
  if (!box) {
    box = Object.assign(document.createElement("article"), {className: "turn"});
    box.dataset.turn = view.turn_id;
    shown.set(view.turn_id, box);
  }
  if (box.html !== view.html) {
    const focused = box.contains(document.activeElement) ? document.activeElement.dataset : null;
    box.innerHTML = box.html = view.html;
    if (focused && focused.action) {
      const again = box.querySelector(`[data-action="${focused.action}"][data-icon="${focused.icon}"]`);
      if (again) again.focus();
    }
  }
  box.text = view.text;
  box.answer = view.answer;
  if (turns.children[index] !== box) turns.insertBefore(box, turns.children[index] || null);
}

follow((value) => {
  if (!value.turns) return;
  if (value.conversation) {
    document.body.dataset.conversation = value.conversation;
    sessionStorage.setItem("macaron.conversation", value.conversation);
  } else {
    delete document.body.dataset.conversation;
    sessionStorage.removeItem("macaron.conversation");
  }
  if (head.html !== value.head) head.innerHTML = head.html = value.head;
  if (earlier.html !== value.earlier) earlier.innerHTML = earlier.html = value.earlier;
  const wanted = new Set(value.turns.map((view) => view.turn_id));
  for (const [id, box] of shown) if (!wanted.has(id)) { box.remove(); shown.delete(id); }
  value.turns.forEach(place);
  tell("shown", {turns: value.turns.length});
});

async function copy(text, button) {
  await navigator.clipboard.writeText(text);
  button.classList.add("done");
  setTimeout(() => button.classList.remove("done"), 1500);
}

element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (!button || button.disabled) return;
  const {action, turn} = button.dataset;
  const box = button.closest("article");
  const answer = box && box.querySelector(".answer");
  if (action === "copy-code") copy(button.closest(".code").querySelector("code").textContent, button);
  else if (action === "copy") copy(answer ? answer.innerText : box.text, button);
  else if (action === "edit") tell("edit", {turn, text: box.text});
  else if (action === "better") tell("correct", {turn, text: box.answer});
  else if (action === "rate") trigger("rate", {turn, rating: Number(button.dataset.rating), conversation: conversation()});
  else if (EVENTS.includes(action)) {
    const shown = Number(button.dataset.shown) || null;
    trigger(action, {turn, shown, format: button.dataset.format, conversation: conversation()});
  }
});

trigger("ready", {conversation: sessionStorage.getItem("macaron.conversation")});
