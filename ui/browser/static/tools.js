// Light or dark: the reader's choice, else the settings', else the system's. And downloads, which no server serves.
const button = part("theme");
const system = window.matchMedia("(prefers-color-scheme: dark)");
const wanted = () => localStorage.getItem("macaron.theme") || button.dataset.theme || (system.matches ? "dark" : "light");
const dress = () => document.body.classList.toggle("dark", wanted() === "dark");

document.documentElement.lang = button.dataset.language === "zh" ? "zh-CN" : "en";
dress();
system.addEventListener("change", dress);
button.addEventListener("click", () => {
  localStorage.setItem("macaron.theme", wanted() === "dark" ? "light" : "dark");
  dress();
});
// On a phone the sidebar would cover everything. Parts of the page are drawn in no certain order, so it may come later.
function fold(tries) {
  const toggle = document.querySelector(".sidebar.open .toggle-button");
  if (toggle) toggle.click();
  else if (tries) setTimeout(fold, 50, tries - 1);
}
if (window.innerWidth < 768) fold(40);

let downloaded = 0;
follow((value) => {
  if (!value.serial || value.serial === downloaded) return;
  downloaded = value.serial;
  const address = URL.createObjectURL(new Blob([value.text], {type: value.type}));
  const link = Object.assign(document.createElement("a"), {href: address, download: value.name});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
});
