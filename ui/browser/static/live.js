// The turn under way, and staying at the end of the conversation while the reader is there.
// Parts are drawn in no certain order, so what is around this one is looked for only when it is needed.
const body = part("body"), line = part("line");
let isAtEnd = true;

function toEnd() {
  const scroller = document.getElementById("conversation");
  if (isAtEnd && scroller) scroller.scrollTop = scroller.scrollHeight;
}

document.addEventListener("scroll", ({target}) => {
  if (target.id === "conversation") isAtEnd = target.scrollHeight - target.scrollTop - target.clientHeight < 60;
}, {capture: true, passive: true});
new ResizeObserver(toEnd).observe(element);
hear("shown", toEnd);

follow((value) => {
  const open = [...body.querySelectorAll("details")].map((details) => details.open);
  if (body.html !== value.html) {
    body.innerHTML = body.html = value.html || "";
    body.querySelectorAll("details").forEach((details, index) => { details.open = Boolean(open[index]); });
  }
  if (line.html !== value.line) line.innerHTML = line.html = value.line || "";
  part("root").classList.toggle("running", Boolean(value.running));
  tell("running", {running: Boolean(value.running), refused: Boolean(value.refused)});
  toEnd();
});
element.addEventListener("click", (event) => {
  const button = event.target.closest('[data-action="reply"]');
  if (!button || button.disabled) return;
  const {approval, answer} = button.dataset;
  button.closest(".question").querySelectorAll("button").forEach((one) => { one.disabled = true; });
  trigger("reply", {approval, answer});
});
hear("sent", () => { isAtEnd = true; toEnd(); });
