// The list of conversations: opening one, and giving it another name in place.
const EVENTS = ["open", "rename", "more"];
const list = part("list");

function mark() {
  for (const item of list.querySelectorAll("li")) {
    const isOpen = item.dataset.conversation === conversation();
    item.classList.toggle("open", isOpen);
    item.firstElementChild.setAttribute("aria-current", String(isOpen));
  }
}

function rename(item) {
  const title = item.querySelector(".title");
  const field = Object.assign(document.createElement("input"), {className: "renaming", value: title.textContent});
  field.setAttribute("aria-label", list.dataset.rename);
  item.replaceChildren(field);
  let isDone = false;
  const done = (wanted) => {
    if (isDone) return;
    isDone = true;
    list.innerHTML = list.html;
    mark();
    if (wanted) {
      trigger("rename", {conversation: item.dataset.conversation, title: field.value, current: conversation()});
    }
  };
  field.addEventListener("keydown", (event) => {
    if (isComposing(event)) return;
    if (event.key === "Enter") done(field.value.trim() !== "");
    if (event.key === "Escape") { event.stopPropagation(); done(false); }
  });
  field.addEventListener("blur", () => done(false));
  field.focus();
  field.select();
}

follow((value) => {
  if (list.html !== value.html) list.innerHTML = list.html = value.html || "";
  mark();
});
hear("shown", mark);

element.addEventListener("click", (event) => {
  const button = event.target.closest("[data-action]");
  if (!button) return;
  const item = button.closest("li");
  const {action} = button.dataset;
  if (action === "open") {
    trigger("open", {conversation: item.dataset.conversation, turn: item.dataset.turn || null});
    tell("opened");
    if (window.innerWidth < 768) document.querySelector(".sidebar .toggle-button")?.click();
  } else if (action === "rename") rename(item);
  else if (EVENTS.includes(action)) trigger(action, {shown: Number(button.dataset.shown)});
});
